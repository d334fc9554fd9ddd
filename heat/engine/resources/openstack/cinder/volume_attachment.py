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

"""OS::Cinder::VolumeAttachment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import link, notation, outcomes, rest

#: keys of the resource's data: what it is attached to now
_SERVER, _VOLUME = "server_id", "volume_id"


class VolumeAttachment(link.Link):
    """Attaches a volume to a server."""

    default_client_name = "cinder"
    entity = "volumes"
    properties_schema = notation.properties("""
        instance_uuid string (required, update) -- Id of the server.
        mountpoint string (update) -- Device that the volume should be, such
            -- as /dev/vdb; the hypervisor may choose another.
        volume_id string (required, update, is cinder.volume) -- Name or id of
            -- the volume.
    """)
    finds = {"volume_id": "cinder.volume"}
    #: the properties that name server, device and volume
    server_property: ClassVar[str] = "instance_uuid"
    device_property: ClassVar[str] = "mountpoint"
    volume_property: ClassVar[str] = "volume_id"

    def get_reference_id(self) -> str:
        return str(self.resource_id or self.name)

    def _attachments(self) -> Any:
        return self.client_plugin("nova").collection("volume")

    def connect(self, properties: Any) -> None:
        server = properties[self.server_property]
        volume = properties[self.volume_property]
        self.data_set(_SERVER, server)
        self.data_set(_VOLUME, volume)
        self.resource_id_set(volume)
        try:
            self._attachments().call(
                "create_server_volume",
                server_id=server,
                volume_id=volume,
                device=properties[self.device_property] or None,
                idempotent=False,
            )
        except errors.ServiceError as exc:
            if not errors.is_transient(exc):
                # There is nothing to detach: another one may be attached.
                self.resource_id_set(None)
            raise

    def _detach(self) -> None:
        data = self.data()
        server = data.get(_SERVER) or self.properties[self.server_property]
        volume = data.get(_VOLUME) or self.properties[self.volume_property]
        try:
            self._attachments().call("delete_server_volume", server, volume)
        except errors.ServiceError as exc:
            # Gone, or being detached already.
            said = errors.words(exc).lower()
            if not errors.is_not_found(exc) and "detach" not in said:
                raise

    def _is(self, *wanted: str) -> bool:
        """Whether the volume has come to a state.

        :raises heat.common.exception.ResourceInError: it went to a bad one
        :raises PollDelay: it is on its way
        """
        volume = (
            self.data().get(_VOLUME) or self.properties[self.volume_property]
        )
        shown = self.collection().get(volume)
        status = str(shown["status"])
        if status in wanted:
            return True
        if status in (
            "available",
            "in-use",
            "attaching",
            "detaching",
            "reserved",
        ):
            raise outcomes.PollDelay(rest.POLL_SECONDS)
        raise exception.ResourceInError(
            resource_status=status,
            status_reason=_("the volume could not be attached or detached"),
        )

    def check_create_complete(self, token: Any) -> bool:
        return self._is("in-use")

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if prop_diff:
            self._detach()
        elif self.is_connected():
            return None
        return {"after": self.properties_of(json_snippet), "attached": False}

    def check_update_complete(self, token: Any) -> bool:
        if token is None:
            return True
        if not token["attached"]:
            self._is("available")
            self.connect(token["after"])
            token["attached"] = True
        return self._is("in-use")

    def handle_delete(self) -> Any:
        if self.resource_id is None:
            return None
        self._detach()
        return self.resource_id

    def check_delete_complete(self, token: Any) -> bool:
        if token is None:
            return True
        try:
            return self._is("available", "error", "deleting")
        except Exception as exc:
            if errors.is_not_found(exc):
                return True
            raise

    def shown(self) -> dict[str, Any]:
        """The volume, which is attached to the server."""
        found = super().shown()
        data = self.data()
        server = data.get(_SERVER) or self.properties[self.server_property]
        if server not in [each["server_id"] for each in found["attachments"]]:
            raise exception.EntityNotFound(
                entity="Volume attachment", name=self.resource_id
            )
        return found


def resource_mapping() -> dict[str, Any]:
    return {"OS::Cinder::VolumeAttachment": VolumeAttachment}
