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

"""OS::Neutron::Quota."""

from __future__ import annotations

from typing import Any

from heat.engine.resource import notation
from heat.engine.resources import quota


class Quota(quota.Quota):
    """How many objects of the networking service a project may have.

    Usually only an administrator may say so. -1 is no limit; what is left
    out stays at the service's default.
    """

    default_client_name = "neutron"
    required_service_extension = "quotas"
    entity = "quota"
    properties_schema = notation.properties("""
        floatingip integer (update, range -1..None) -- Floating IPs.
        network integer (update, range -1..None) -- Networks.
        port integer (update, range -1..None) -- Ports.
        project string (required, is keystone.project) -- Name or id of the
            -- project.
        rbac_policy integer (update, range -1..None) -- Policies that share
            -- objects.
        router integer (update, range -1..None) -- Routers.
        security_group integer (update, range -1..None) -- Security groups.
        security_group_rule integer (update, range -1..None) -- Rules of all
            -- security groups together.
        subnet integer (update, range -1..None) -- Subnets.
        subnetpool integer (update, range -1..None) -- Subnet pools.
    """)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Quota": Quota}
