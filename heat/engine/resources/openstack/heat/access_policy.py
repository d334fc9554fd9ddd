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

"""OS::Heat::AccessPolicy: what users of a stack may look at."""

from __future__ import annotations

from heat.common.i18n import _
from heat.engine import properties, resource


class AccessPolicy(resource.Resource):
    """Names the resources whose metadata a user may read.

    An ``AWS::IAM::User`` names its policies; each of them has to allow a
    resource. Whoever has no policy may read those of the whole stack.
    """

    PROPERTIES = (ALLOWED_RESOURCES,) = ("AllowedResources",)

    properties_schema = {
        ALLOWED_RESOURCES: properties.Schema(
            properties.Schema.LIST,
            _("Names of the resources that may be looked at."),
            required=True,
        ),
    }

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def handle_delete(self) -> None:
        """There is nothing but the row."""

    def get_reference_id(self) -> str:
        """Its name: that is how users name their policies."""
        return self.name

    def access_allowed(self, resource_name: str) -> bool:
        """Whether the policy allows a resource of the stack."""
        return resource_name in self.properties[self.ALLOWED_RESOURCES]


def resource_mapping() -> dict[str, type[AccessPolicy]]:
    return {"OS::Heat::AccessPolicy": AccessPolicy}
