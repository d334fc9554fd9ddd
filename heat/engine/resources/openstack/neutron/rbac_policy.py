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

"""OS::Neutron::RBACPolicy."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class RBACPolicy(neutron.NeutronResource):
    """Lets another project use an object."""

    support_status = support.SupportStatus(version="6.0.0")

    required_service_extension = "rbac-policies"
    entity = "rbac_policy"
    name_property = None
    status_key = None
    properties_schema = notation.properties("""
        action string (required, in ["access_as_shared",
            "access_as_external"]) -- What the other project may do with it.
        object_id string (required) -- Name or id of the object.
        object_type string (required, in ["network", "qos_policy",
            "security_group", "address_scope", "subnetpool"]) -- What kind of
            -- object it is.
        target_tenant string (required, update) -- Id of the other project,
            -- or * for all.
        tenant_id string -- Project that owns the policy; only an
            -- administrator may name another one.
    """)

    def validate(self) -> None:
        super().validate()
        if (
            self.properties["action"] == "access_as_external"
            and self.properties["object_type"] != "network"
        ):
            raise exception.StackValidationFailed(
                path=["properties", "action"],
                message=_("Only a network can be used as an external one."),
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        body["object_id"] = self.client_plugin().find(
            properties["object_type"], properties["object_id"]
        )
        return body

    def find_made(self) -> str | None:
        """The service has one policy at most for the same purpose."""
        return None


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::RBACPolicy": RBACPolicy}
