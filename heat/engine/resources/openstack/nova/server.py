#    Licensed under the Apache License, Version 2.0 (the "License"); you may
#    not use this file except in compliance with the License. You may obtain
#    a copy of the License at
#
#         http://www.apache.org/licenses/LICENSE-2.0
#
#    Unless required by applicable law or agreed to in writing, software
#    distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
#    WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
#    License for the specific language governing permissions and limitations
#    under the License.

"""OS::Nova::Server: making, looking at, suspending and deleting a server.

What an update does is in :mod:`.server_update`, what the guest is told in
:mod:`.user_data`, its network cards in :mod:`.server_networks`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import outcomes, rest
from heat.engine.resources.openstack.neutron import implied
from heat.engine.resources.openstack.nova import (
    server_networks,
    server_schema,
    server_update,
    user_data,
)

#: property -> argument of the client's create
_PLAIN = {
    "admin_pass": "admin_pass",
    "availability_zone": "availability_zone",
    "config_drive": "config_drive",
    "diskConfig": "disk_config",
    "flavor": "flavor",
    "image": "image",
    "key_name": "key_name",
    "reservation_id": "reservation_id",
    "scheduler_hints": "scheduler_hints",
    "security_groups": "security_groups",
    "tags": "tags",
}
_DISK_KEYS = {
    "ephemeral_format": "guest_format",
    "device_name": "device_name",
    "device_type": "device_type",
    "disk_bus": "disk_bus",
    "boot_index": "boot_index",
    "delete_on_termination": "delete_on_termination",
    "volume_type": "volume_type",
}
_SOFT_DELETED = "SOFT_DELETED"


class Server(rest.RestResource):
    """A virtual or bare machine."""

    default_client_name = "nova"
    entity = "servers"
    physical_resource_name_limit = 53
    properties_schema = server_schema.PROPERTIES
    attributes_schema = server_schema.ATTRIBUTES
    finds = {
        "block_device_mapping_v2.image": "glance.image",
        "flavor": "nova.flavor",
        "image": "glance.image",
        "networks.network": "neutron.network",
        "networks.port": "neutron.port",
        "networks.subnet": "neutron.subnet",
    }
    renamed = {
        "block_device_mapping_v2.image_id": "image",
        "networks.uuid": "network",
    }
    status_key = "status"
    pending = frozenset(
        {
            "BUILD",
            "HARD_REBOOT",
            "MIGRATING",
            "PASSWORD",
            "REBOOT",
            "REBUILD",
            "RESIZE",
            "REVERT_RESIZE",
        }
    )
    deleted_at_once = False

    implicit_dependencies = staticmethod(implied.of_server)

    # -- checks --------------------------------------------------------------

    def validate(self) -> None:
        super().validate()
        props = self.properties
        given = props.data.get
        if (
            given("block_device_mapping") is not None
            and given("block_device_mapping_v2") is not None
        ):
            raise exception.ResourcePropertyConflict(
                "block_device_mapping", "block_device_mapping_v2"
            )
        disks = given("block_device_mapping") or given(
            "block_device_mapping_v2"
        )
        if given("image") is None and not disks:
            raise exception.StackValidationFailed(
                path=["properties"],
                message=_(
                    "A server boots from something: give image, or a volume "
                    "or image in block_device_mapping_v2."
                ),
            )
        server_networks.check(props)
        for key in props["metadata"] or {}:
            if len(key) > 255:
                raise exception.StackValidationFailed(
                    path=["properties", "metadata"],
                    message=_("A key has at most 255 characters."),
                )

    # -- create --------------------------------------------------------------

    def create_body(self, properties: Any) -> dict[str, Any]:
        body: dict[str, Any] = {
            argument: properties[name]
            for name, argument in _PLAIN.items()
            if properties[name]
        }
        body["name"] = properties["name"] or self.physical_resource_name()
        body.setdefault("image", None)
        body["meta"] = {
            key: value if isinstance(value, str) else str(value)
            for key, value in (properties["metadata"] or {}).items()
        }
        told = user_data.build(self, properties)
        if told:
            body["userdata"] = told
        body["nics"] = server_networks.cards(self, properties)
        legacy = self._old_disks(properties)
        if legacy:
            body["block_device_mapping"] = legacy
        disks = [
            self._disk(each)
            for each in properties["block_device_mapping_v2"] or ()
        ]
        if disks:
            body["block_device_mapping_v2"] = disks
        return body

    @staticmethod
    def _old_disks(properties: Any) -> dict[str, str]:
        """The first form: device -> id:type:size:delete."""
        found = {}
        for each in properties["block_device_mapping"] or ():
            snapshot = each["snapshot_id"]
            parts = [
                each["volume_id"] or snapshot or "",
                "snap" if snapshot else "",
                str(each["volume_size"] or ""),
                "1" if each["delete_on_termination"] else "",
            ]
            found[each["device_name"]] = ":".join(parts).rstrip(":")
        return found

    @staticmethod
    def _disk(each: Mapping[str, Any]) -> dict[str, Any]:
        disk = {
            key: each[name]
            for name, key in _DISK_KEYS.items()
            if each[name] is not None
        }
        for name, source in (
            ("volume_id", "volume"),
            ("snapshot_id", "snapshot"),
            ("image", "image"),
        ):
            if each[name]:
                disk.update(
                    uuid=each[name],
                    source_type=source,
                    destination_type="volume",
                )
        if each["volume_size"]:
            disk["volume_size"] = each["volume_size"]
        size = each["ephemeral_size"] or each["swap_size"]
        if size:
            disk.update(
                source_type="blank",
                destination_type="local",
                volume_size=size,
                boot_index=-1,
            )
            if each["swap_size"]:
                disk["guest_format"] = "swap"
        disk.setdefault("boot_index", 0 if len(disk) == 0 else -1)
        return disk

    def handle_create(self) -> Any:
        try:
            return super().handle_create()
        except Exception:
            server_networks.forget_ports(self)
            raise

    def finish_create(self, properties: Any) -> None:
        """The server is asked for; it's ready when its status says so."""

    def check_create_complete(self, token: Any) -> bool:
        if not self.is_ready():
            return False
        server_networks.associate(self, self.properties)
        return True

    def judge(self, shown: Mapping[str, Any]) -> str:
        status = super().judge(shown)
        task = shown.get("OS-EXT-STS:task_state")
        # A task goes on where the status says that nothing does.
        if task and status not in self.pending:
            return "BUILD"
        return status

    def fault(self, shown: Mapping[str, Any]) -> str:
        fault = shown.get("fault") or {}
        return str(fault.get("message") or super().fault(shown))

    # -- update --------------------------------------------------------------

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        return server_update.needs_replace(
            changed_properties_set, after_props, before_props
        )

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        self.take_back()
        if not prop_diff:
            return None
        return server_update.plan(
            self, self.properties_of(json_snippet), prop_diff
        )

    def prepare_for_replace(self) -> None:
        """Let go of the ports that are somebody else's."""
        ports = server_networks.detach(self, self.properties)
        if ports:
            self.data_set(self.given_up, json.dumps(ports))

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take the ports again."""
        ports = json.loads(self.data().get(self.given_up, "[]"))
        server_networks.attach(self, ports)

    def check_update_complete(self, token: Any) -> bool:
        return server_update.advance(self, token)

    # -- suspend, resume -----------------------------------------------------

    def _ask(self, action: str) -> None:
        self.collection().call(action, self.resource_id, idempotent=False)

    def handle_suspend(self) -> Any:
        if self.judge(self.shown()) != "SUSPENDED":
            self._ask("suspend")
        return "SUSPENDED"

    def check_suspend_complete(self, token: Any) -> bool:
        return self._reached(token)

    def handle_resume(self) -> Any:
        if self.judge(self.shown()) != "ACTIVE":
            self._ask("resume")
        return "ACTIVE"

    def check_resume_complete(self, token: Any) -> bool:
        return self._reached(token)

    def _reached(self, wanted: str) -> bool:
        if self.judge(self.shown()) == wanted:
            return True
        raise outcomes.PollDelay(rest.POLL_SECONDS)

    # -- delete --------------------------------------------------------------

    def check_delete_complete(self, token: Any) -> bool:
        gone = super().check_delete_complete(token)
        if gone:
            server_networks.forget_ports(self)
        return gone

    def judge_deleting(self, shown: Mapping[str, Any]) -> None:
        status = str(shown.get("status") or "").upper()
        if status == "DELETED" or status == _SOFT_DELETED:
            return
        if status == "ERROR" and not shown.get("OS-EXT-STS:task_state"):
            raise exception.ResourceInError(
                resource_status=status, status_reason=self.fault(shown)
            )

    # -- look ----------------------------------------------------------------

    def handle_check(self) -> None:
        status = ""
        try:
            status = self.judge(self.shown())
        except Exception as exc:
            if not errors.is_not_found(exc):
                raise
            raise exception.EntityNotFound(
                entity="Server", name=self.resource_id
            ) from exc
        if status != "ACTIVE":
            raise exception.ResourceUnknownStatus(
                result=_("Server is not ACTIVE"), resource_status=status
            )

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == "console_urls":
            return self._consoles()
        if name == "os_collect_config":
            return user_data.agent_config(self)
        shown = self.shown()
        if name == "networks":
            return server_networks.by_name(shown)
        if name == "addresses":
            return server_networks.with_ports(self, shown)
        if name == "first_address":
            found = server_networks.by_name(shown)
            return next((each[0] for each in found.values() if each), "")
        if name == "instance_name":
            return shown.get("OS-EXT-SRV-ATTR:instance_name")
        return shown.get(name)

    def _consoles(self) -> dict[str, str]:
        """The address of each console, or why there is none."""
        found = {}
        for kind in ("novnc", "xvpvnc", "spice-html5", "rdp-html5", "serial"):
            try:
                told = self.collection().call(
                    "get_console_url", self.resource_id, kind, idempotent=True
                )
            except errors.ServiceError as exc:
                found[kind] = errors.words(exc)
            else:
                inner = told.get("remote_console") or told.get("console") or {}
                found[kind] = inner.get("url", "")
        return found

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        image = resource_data.get("image") or {}
        found = {
            "name": resource_data.get("name"),
            "metadata": resource_data.get("metadata") or {},
            "tags": resource_data.get("tags") or [],
        }
        if image:
            found["image"] = image["id"]
        flavor = (resource_data.get("flavor") or {}).get("original_name")
        if flavor:
            found["flavor"] = self.client_plugin().find("flavor", flavor)
        if not resource_properties["name"]:
            # A name that was made up isn't one that the template sets.
            del found["name"]
        return found


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::Server": Server}
