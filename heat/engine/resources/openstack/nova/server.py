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
from heat.engine.clients import errors, nova
from heat.engine.resources.openstack.neutron import implied
from heat.engine.resources.openstack.nova import (
    server_actions,
    server_disks,
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
    "scheduler_hints": "scheduler_hints",
    "security_groups": "security_groups",
    "tags": "tags",
}
#: The last version of Nova's API that writes files into a server.
_LAST_WITH_FILES = "2.56"


class Server(server_actions.ActingServer):
    """A virtual or bare machine."""

    default_client_name = "nova"
    entity = "servers"
    mark_key = "description"
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
    creating = "BUILD"
    deleting = nova.DELETING
    # Nova's own record goes later, after what it has to clean up; what is
    # deleted softly, in hours or days.
    gone = frozenset({"DELETED", "SOFT_DELETED"})
    deleted_at_once = False
    never_shown = frozenset(
        {
            "admin_pass",
            "deployment_swift_data",
            "flavor_update_policy",
            "image_update_policy",
            "software_config_transport",
            "user_data",
            "user_data_format",
            "user_data_update_policy",
        }
    )

    implicit_dependencies = staticmethod(implied.of_server)

    beside = (
        *server_actions.ActingServer.beside,
        server_networks.OWN_PORTS,
    )

    # -- checks --------------------------------------------------------------

    def validate(self) -> None:
        super().validate()
        props = self.properties
        server_disks.check(props)
        self._check_files(props)
        server_networks.check(props)
        if props.data.get("reservation_id") is not None:
            raise exception.StackValidationFailed(
                path=["properties", "reservation_id"],
                message=_("Nova gives reservations their ids itself."),
            )
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
        legacy = server_disks.legacy(properties)
        if legacy:
            body["block_device_mapping"] = legacy
        disks = server_disks.wanted(properties)
        if disks:
            body["block_device_mapping_v2"] = disks
        if properties["personality"]:
            body["files"] = dict(properties["personality"])
        return self.marked(body)

    def make(self, body: Mapping[str, Any]) -> dict[str, Any]:
        servers = self.client_plugin().collection(
            "servers", _LAST_WITH_FILES if "files" in body else None
        )
        return dict(servers.create(body))

    @staticmethod
    def _check_files(props: Any) -> None:
        """An old version of Nova's API writes files, a new one knows types
        of volumes: nobody can have both.

        :raises heat.common.exception.StackValidationFailed: both are wanted
        """
        disks = props.data.get("block_device_mapping_v2")
        typed = isinstance(disks, list) and any(
            isinstance(each, Mapping) and each.get("volume_type")
            for each in disks
        )
        if props.data.get("personality") and typed:
            raise exception.StackValidationFailed(
                path=["properties", "personality"],
                message=_(
                    "Nova writes no files into a server whose volumes have "
                    "a volume_type."
                ),
            )

    def guest_metadata(self, properties: Any) -> dict[str, Any]:
        """The metadata that the guest is told at its first boot.

        :param properties: typed values by name
        """
        if properties["user_data_format"] == "SOFTWARE_CONFIG":
            return self.configure_agent(properties)
        return self.template_metadata()

    def handle_create(self) -> Any:
        try:
            return super().handle_create()
        except Exception:
            server_networks.forget_ports(self)
            raise

    def check_create_complete(self, token: Any) -> bool:
        if not super().check_create_complete(token):
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
        after = self.properties_of(json_snippet)
        return server_update.plan(self, self.properties, after, prop_diff)

    def prepare_for_replace(self) -> None:
        """Let go of the ports that are somebody else's."""
        self.let_go(self.properties)

    def let_go(self, properties: Any) -> None:
        """Detach the ports that these name, and note it."""
        ports = server_networks.detach(self, properties)
        if ports:
            self.data_set(self.given_up, json.dumps(ports))

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take the ports again."""
        ports = json.loads(self.data().get(self.given_up, "[]"))
        server_networks.attach(self, ports)

    def check_update_complete(self, token: Any) -> bool:
        return server_update.advance(self, token)

    # -- delete --------------------------------------------------------------

    def check_delete_complete(self, token: Any) -> bool:
        gone = super().check_delete_complete(token)
        if gone:
            server_networks.forget_ports(self)
            self.delete_user()
        return gone

    def forget_beside(self) -> list[tuple[str, str]]:
        left = server_networks.part_with_ports(self)
        ports = [("OS::Neutron::Port", port) for port in left]
        return [*ports, *super().forget_beside()]

    def judge_deleting(self, shown: Mapping[str, Any]) -> None:
        status = str(shown.get("status") or "").upper()
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
        if status != "ACTIVE" and not self.external:
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

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = {"key_name": resource_data.get("key_name")}
        zone = resource_data.get("OS-EXT-AZ:availability_zone")
        if zone:
            found["availability_zone"] = zone
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
        if resource_properties["networks"]:
            found["networks"] = server_networks.live(self, resource_properties)
        if not resource_properties["name"]:
            # A name that was made up isn't one that the template sets.
            del found["name"]
        return found


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::Server": Server}
