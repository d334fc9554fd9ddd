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

"""OS::Cinder::Volume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import notation, outcomes, rest

#: what a volume is made from
_SOURCES = ("backup_id", "image", "imageRef", "snapshot_id", "source_volid")
#: key of the metadata with the mark of the row, where a user chose both name
#: and description
_MARK = "made_by"


class Volume(rest.RestResource):
    """A disk that can be attached to a server."""

    default_client_name = "cinder"
    entity = "volumes"
    mark_key = "description"
    properties_schema = notation.properties("""
        availability_zone string -- Zone that it is in.
        backup_id string (update, is cinder.backup) -- Backup to make it from.
        description string (update) -- What it is for.
        image string (is glance.image) -- Name or id of the image to make it
            -- from.
        imageRef string (hidden) -- Old name of image.
        metadata map (update, ={}) -- Keys and values that are kept with it.
        multiattach boolean (hidden, =false) -- Without effect: a volume type
            -- says so.
        name string (update) -- What it is called; made up when left out.
        read_only boolean (update) -- It can't be written to.
        scheduler_hints map -- Hints for placing it.
        size integer (update, range 1..None) -- Size in GiB; needed unless it
            -- is made from something. It can grow in place.
        snapshot_id string (is cinder.snapshot) -- Snapshot to make it from.
        source_volid string (is cinder.volume) -- Volume to copy.
        volume_type string (update, is cinder.vtype) -- Name or id of its
            -- type.
    """)
    attributes_schema = notation.attributes("""
        attachments string -- Where it is attached, as JSON.
        attachments_list list -- Where it is attached.
        availability_zone string -- Zone that it is in.
        bootable string -- Whether a server can boot from it.
        created_at string -- When it was made.
        display_description string -- What it is for.
        display_name string -- What it is called.
        encrypted string -- Whether it is encrypted.
        metadata string -- Its keys and values, as JSON.
        metadata_values map -- Its keys and values.
        multiattach boolean -- Whether several servers may have it.
        size string -- Size in GiB.
        snapshot_id string -- Snapshot that it was made from.
        source_volid string -- Volume that it was copied from.
        status string -- Its state.
        volume_type string -- Its type.
    """)
    body_keys = {
        "image": "imageRef",
        "scheduler_hints": "OS-SCH-HNT:scheduler_hints",
    }
    not_sent = frozenset({"backup_id", "multiattach", "read_only"})
    finds = {
        "backup_id": "cinder.backup",
        "image": "glance.image",
        "snapshot_id": "cinder.snapshot",
        "source_volid": "cinder.volume",
        "volume_type": "cinder.volume_type",
    }
    renamed = {"imageRef": "image"}
    attribute_keys = {
        "attachments_list": "attachments",
        "display_description": "description",
        "display_name": "name",
        "metadata_values": "metadata",
    }
    status_key = "status"
    pending = frozenset(
        {
            "CREATING",
            "DOWNLOADING",
            "RESTORING-BACKUP",
            "EXTENDING",
            "RETYPING",
            "ATTACHING",
            "DETACHING",
            "RESERVED",
            "UPLOADING",
            "BACKING-UP",
        }
    )
    bad = frozenset(
        {"ERROR", "ERROR_EXTENDING", "ERROR_RESTORING", "ERROR_DELETING"}
    )
    creating = "creating"
    deleting = "deleting"
    deleted_at_once = False
    #: the property that names the backup it is made from
    backup_property: ClassVar[str] = "backup_id"

    def validate(self) -> None:
        super().validate()
        given = self.properties.data.get
        sources = [name for name in _SOURCES if given(name) is not None]
        if len(sources) > 1:
            raise exception.ResourcePropertyConflict(*sources)
        if given("size") is None and not set(sources) & {
            "backup_id",
            "snapshot_id",
            "source_volid",
        }:
            raise exception.StackValidationFailed(
                path=["properties", "size"],
                message=_(
                    "It is needed, unless the volume is made from a snapshot, "
                    "a volume or a backup."
                ),
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        if body.get("metadata"):
            body["metadata"] = _texts(body["metadata"])
        return body

    def marked(self, body: dict[str, Any]) -> dict[str, Any]:
        body = super().marked(body)
        if self.properties["name"] and self.properties["description"]:
            metadata = body.get("metadata") or {}
            body["metadata"] = {**metadata, _MARK: self.mark()}
        return body

    def find_made(self) -> str | None:
        found = super().find_made()
        if found is not None or self.uuid is None:
            return found
        for each in self.listed():
            if (each.get("metadata") or {}).get(_MARK) == self.mark():
                return str(each["id"])
        return None

    def make(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make it, or have a backup restored into a new one."""
        backup = self.properties[self.backup_property]
        if not backup:
            return super().make(body)
        found = self.collection("backup").request(
            "POST",
            f"/{backup}/restore",
            json={"restore": {"name": body["name"]}},
        )
        ident = str(found["restore"]["volume_id"])
        self.resource_id_set(ident)
        more = {
            key: body[key]
            for key in ("description", "metadata")
            if key in body
        }
        self.collection().update(ident, {"name": body["name"], **more})
        return {"id": ident}

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        # The plain list has no descriptions, and none can ask for one.
        filters.pop("description", None)
        found = self.collection().request("GET", "/detail", params=filters)
        return [dict(each) for each in found["volumes"]]

    def finish_create(self, properties: Any) -> None:
        """The rest waits until the volume is there."""

    def is_whole_when_found(self) -> bool:
        # What a backup is restored into gets its name in a second call.
        return not self.properties[self.backup_property]

    def is_ready(self) -> bool:
        ready = super().is_ready()
        if ready and self.action == self.CREATE:
            self.finish_ready()
        return ready

    def finish_ready(self) -> None:
        """What can be done to a new volume when it is there.

        :raises PollDelay: that takes time
        """
        if self.properties["read_only"]:
            self._set_read_only(True)

    def _set_read_only(self, value: bool) -> None:
        self.collection().act(
            self.resource_id,
            "os-update_readonly_flag",
            {"readonly": bool(value)},
        )

    # -- update --------------------------------------------------------------

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        if "backup_id" in changed_properties_set:
            return True
        if "size" not in changed_properties_set:
            return False
        old, new = before_props["size"], after_props["size"]
        # A disk can't shrink.
        return old is not None and new is not None and new < old

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if not prop_diff:
            return None
        after = self.properties_of(json_snippet)
        plain = {"name", "description"} & prop_diff.keys()
        volumes = self.collection()
        if plain:
            volumes.update(self.resource_id, self.update_body(plain, after))
        if "metadata" in prop_diff:
            volumes.request(
                "PUT",
                f"/{self.resource_id}/metadata",
                json={"metadata": _texts(after["metadata"] or {})},
            )
        if "read_only" in prop_diff:
            self._set_read_only(after["read_only"])
        todo = [key for key in ("volume_type", "size") if key in prop_diff]
        return {"todo": todo, "after": after}

    def check_update_complete(self, token: Any) -> bool:
        if not token:
            return True
        while self.is_ready():
            if not token["todo"]:
                return True
            self._grow_or_move(token["todo"].pop(0), token["after"])
        return False

    def _grow_or_move(self, what: str, after: Any) -> None:
        volumes = self.collection()
        if what == "size":
            shown = self.shown()
            if after["size"] and after["size"] > int(shown["size"]):
                volumes.act(
                    self.resource_id,
                    "os-extend",
                    {"new_size": after["size"]},
                )
        elif after["volume_type"]:
            volumes.act(
                self.resource_id,
                "os-retype",
                {
                    "new_type": after["volume_type"],
                    "migration_policy": "on-demand",
                },
            )

    # -- delete, snapshot ----------------------------------------------------

    def judge_deleting(self, shown: Mapping[str, Any]) -> None:
        status = str(shown.get("status") or "").upper()
        if status == "ERROR_DELETING":
            raise exception.ResourceInError(
                resource_status=status, status_reason=self.fault(shown)
            )

    def handle_snapshot(self) -> Any:
        made = self.collection("backup").create(
            {"volume_id": self.resource_id, "force": True}
        )
        self.data_set("backup_id", made["id"])
        return made["id"]

    def check_snapshot_complete(self, token: Any) -> bool:
        backup = self.collection("backup").get(token)
        if backup["status"] == "creating":
            raise outcomes.PollDelay(rest.POLL_SECONDS)
        if backup["status"] != "available":
            raise exception.ResourceInError(
                resource_status=backup["status"],
                status_reason=backup.get("fail_reason")
                or _("no reason given"),
            )
        return True

    def handle_delete_snapshot(self, snapshot: Any) -> Any:
        ident = (snapshot.get("resource_data") or {}).get("backup_id")
        if ident:
            try:
                self.collection("backup").delete(ident)
            except Exception as exc:
                self.client_plugin().ignore_not_found(exc)
        return ident

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        """The definition that brings the volume back: made from the backup
        that the snapshot is, in the place of its own source."""
        backup = (restore_data.get("resource_data") or {}).get("backup_id")
        if not backup:
            return defn
        given = {
            key: value
            for key, value in (defn.section("properties") or {}).items()
            if key not in _SOURCES
        }
        return defn.freeze(properties={**given, self.backup_property: backup})

    # -- look ----------------------------------------------------------------

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What the service keeps in the metadata for itself is left out."""
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        metadata = dict(resource_data.get("metadata") or {})
        read_only = metadata.pop("readonly", None)
        metadata.pop("attached_mode", None)
        metadata.pop(_MARK, None)
        found["metadata"] = metadata
        if read_only is not None:
            found["read_only"] = read_only == "True"
        return found

    def _resolve_attribute(self, name: str) -> Any:
        value = super()._resolve_attribute(name)
        if name in ("attachments", "metadata"):
            return json.dumps(value)
        return value


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items()}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Cinder::Volume": Volume}
