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

"""OS::Cinder::VolumeType."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import notation, rest


class VolumeType(rest.RestResource):
    """A kind of volumes. Usually only an administrator may make one."""

    default_client_name = "cinder"
    entity = "volume_type"
    mark_key = "description"
    finishes_again = True
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        is_public boolean (update, =true) -- Whether all projects may use it.
        metadata map (update) -- Keys for the scheduler and the driver.
        name string (required, update) -- What it is called.
        projects list{* string (is keystone.project)} (update, =[]) -- Names
            -- or ids of the projects that may use it when it isn't public.
    """)
    body_keys = {"is_public": "os-volume-type-access:is_public"}
    not_sent = frozenset({"metadata", "projects"})
    finds = {"projects": "keystone.project"}

    def validate(self) -> None:
        super().validate()
        if self.properties["is_public"] and self.properties["projects"]:
            raise exception.StackValidationFailed(
                path=["properties", "projects"],
                message=_(
                    "A public type is for all projects: set is_public to "
                    "false to name some."
                ),
            )

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        if "is_public" in changed:
            body["is_public"] = body.pop(self.body_key("is_public"))
        return body

    def finish_create(self, properties: Any) -> None:
        self._set_specs({}, properties["metadata"] or {})
        self._set_access(set(properties["projects"] or ()))

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "metadata" in changed:
            self._set_specs(
                self.properties["metadata"] or {}, properties["metadata"] or {}
            )
        if "projects" in changed or "is_public" in changed:
            if not properties["is_public"]:
                self._set_access(set(properties["projects"] or ()))

    def _set_specs(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> None:
        types, path = self.collection(), f"/{self.resource_id}/extra_specs"
        for key in old:
            if key not in new:
                types.request("DELETE", f"{path}/{key}")
        if new:
            types.request("POST", path, json={"extra_specs": dict(new)})

    def _set_access(self, wanted: set[str]) -> None:
        if not wanted and self.action == self.CREATE:
            return
        types = self.collection()
        found = types.request(
            "GET", f"/{self.resource_id}/os-volume-type-access"
        )
        now = {each["project_id"] for each in found["volume_type_access"]}
        for project in sorted(wanted - now):
            types.act(
                self.resource_id, "addProjectAccess", {"project": project}
            )
        for project in sorted(now - wanted):
            types.act(
                self.resource_id, "removeProjectAccess", {"project": project}
            )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Cinder::VolumeType": VolumeType}
