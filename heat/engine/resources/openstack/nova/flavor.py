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

"""OS::Nova::Flavor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine.clients import errors
from heat.engine.resource import notation, rest


class Flavor(rest.RestResource):
    """A size of servers. Usually only an administrator may make one."""

    default_client_name = "nova"
    entity = "flavors"
    properties_schema = notation.properties("""
        disk integer (=0) -- Size of the root disk in GiB; 0 for the image's.
        ephemeral integer (=0) -- Size of a second disk in GiB.
        extra_specs map (update) -- Keys for the scheduler and the hypervisor.
        flavorid string -- Its id; made up when left out.
        is_public boolean (=true) -- Whether all projects may use it.
        name string -- What it is called; made up when left out.
        ram integer (required) -- Memory in MiB.
        rxtx_factor number (=1.0) -- Share of the network's bandwidth.
        swap integer (=0) -- Swap space in MiB.
        tenants list{* string (is keystone.project)} (update, =[]) -- Names
            -- or ids of the projects that may use it when it isn't public.
        vcpus integer (required) -- Number of processors.
    """)
    attributes_schema = notation.attributes("""
        extra_specs map -- Keys for the scheduler and the hypervisor.
        is_public boolean -- Whether all projects may use it.
    """)
    not_sent = frozenset({"extra_specs", "tenants"})
    finds = {"tenants": "keystone.project"}
    attribute_keys = {"is_public": "os-flavor-access:is_public"}

    def _object(self) -> Any:
        return self.collection().call("get", self.resource_id)

    def finish_create(self, properties: Any) -> None:
        self._set_specs({}, properties["extra_specs"] or {})
        self._set_access(set(), set(properties["tenants"] or ()))

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "extra_specs" in changed:
            self._set_specs(
                self._object().get_keys(), properties["extra_specs"] or {}
            )
        if "tenants" in changed:
            now = self.client().flavor_access.list(flavor=self.resource_id)
            self._set_access(
                {each.tenant_id for each in now},
                set(properties["tenants"] or ()),
            )

    def _set_specs(
        self, now: Mapping[str, Any], wanted: Mapping[str, Any]
    ) -> None:
        gone = [key for key in now if key not in wanted]
        if gone:
            self._object().unset_keys(gone)
        if wanted:
            self._object().set_keys(
                {key: str(value) for key, value in wanted.items()}
            )

    def _set_access(self, now: set[str], wanted: set[str]) -> None:
        if self.properties["is_public"]:
            return
        access = self.client().flavor_access
        for project in sorted(wanted - now):
            errors.call(
                "nova",
                lambda project=project: access.add_tenant_access(  # type: ignore[misc]
                    self.resource_id, project
                ),
                idempotent=False,
            )
        for project in sorted(now - wanted):
            errors.call(
                "nova",
                lambda project=project: access.remove_tenant_access(  # type: ignore[misc]
                    self.resource_id, project
                ),
                idempotent=False,
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        body["flavorid"] = body.get("flavorid") or "auto"
        return body

    def _resolve_attribute(self, name: str) -> Any:
        if name == "extra_specs" and self.resource_id is not None:
            return self._object().get_keys()
        return super()._resolve_attribute(name)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::Flavor": Flavor}
