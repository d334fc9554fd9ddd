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

"""OS::Heat::None: nothing, in the place of anything."""

from __future__ import annotations

from typing import Any, ClassVar

from heat.engine import properties, resource, support


class NoneResource(resource.Resource):
    """A resource that does nothing.

    Map another type to it in an environment to switch that type off: any
    properties are accepted, and every attribute is null.
    """

    support_status = support.SupportStatus(version="5.0.0")
    properties_schema: ClassVar[dict[str, properties.Schema]] = {}
    attributes_schema: ClassVar[dict[str, Any]] = {}
    accepts_anything = True

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def needs_replace_failed(self) -> bool:
        return False


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::None": NoneResource}
