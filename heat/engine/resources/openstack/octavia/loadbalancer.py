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

"""OS::Octavia::LoadBalancer."""

from __future__ import annotations

from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.octavia import octavia


class LoadBalancer(octavia.BalancerPart):
    """An address whose traffic is shared out to servers."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "loadbalancer"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it forwards.
        availability_zone string (is octavia.availabilityzone) -- Zone that
            -- it is in.
        description string (update, ="") -- What it is for.
        flavor string (is octavia.flavor) -- Name or id of its flavor.
        name string (update) -- What it is called; made up when left out.
        provider string -- Who makes it.
        tenant_id string (is keystone.project) -- Name or id of the project
            -- that owns it; only an administrator may name another one.
        vip_address string (is ip_addr) -- Its address; one of the subnet
            -- when left out.
        vip_subnet string (required, is neutron.subnet) -- Name or id of the
            -- subnet that its address is in.
    """)
    attributes_schema = {
        **notation.attributes("""
            flavor_id string -- Id of its flavor.
            vip_address string -- Its address.
            vip_port_id string -- Id of the port that has the address.
            vip_subnet_id string -- Id of the subnet that the address is in.
        """),
        **octavia.changing("pools list -- Its pools."),
    }
    body_keys = {
        "flavor": "flavor_id",
        "tenant_id": "project_id",
        "vip_subnet": "vip_subnet_id",
    }
    finds = {
        "availability_zone": "octavia.availability_zone",
        "flavor": "octavia.flavor",
        "tenant_id": "keystone.project",
        "vip_subnet": "neutron.subnet",
    }


def resource_mapping() -> dict[str, Any]:
    return {"OS::Octavia::LoadBalancer": LoadBalancer}
