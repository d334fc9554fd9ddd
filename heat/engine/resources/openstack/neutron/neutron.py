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

"""What the types of the networking service have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.engine.resource import rest


class NeutronResource(rest.RestResource):
    """An object of the networking service."""

    default_client_name = "neutron"
    status_key: ClassVar[str | None] = "status"
    pending = frozenset({"BUILD", "BUILDING"})
    finishes_again = True

    def finish_create(self, properties: Any) -> None:
        if properties.get("tags"):
            self.set_tags(properties["tags"])

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "tags" in changed:
            self.set_tags(properties["tags"])

    def set_tags(self, tags: Any) -> None:
        """Replace the object's tags."""
        self.collection().request(
            "PUT", f"/{self.resource_id}/tags", json={"tags": tags or []}
        )

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        """See the base. A policy of its own may share an object, too."""
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        if "shared" not in resource_properties.given():
            found.pop("shared", None)
        return found

    # Names that plug-ins of others call or override.

    def prepare_properties(self, properties: Any, name: str) -> dict[str, Any]:
        """Properties as the service takes them."""
        body = self.create_body(properties)
        if self.name_property is not None:
            body.setdefault(self.name_property, name)
        return body

    @staticmethod
    def is_built(attributes: Mapping[str, Any]) -> bool:
        """Tell whether a shown object is ready."""
        return attributes.get("status") in (None, "ACTIVE", "DOWN")
