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
"""OS::Neutron::Segment."""

from __future__ import annotations

from typing import Any

from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class Segment(neutron.NeutronResource):
    """A part of a network on which everything reaches everything."""

    required_service_extension = "segment"
    entity = "segment"
    status_key = None
    mark_key = "description"
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        name string (update) -- What it is called; made up when left out.
        network string (required, is neutron.network) -- Name or id of the
            -- network that it is a part of.
        network_type string (required, in ["local", "vlan", "vxlan", "gre",
            "geneve", "flat"]) -- How its packets travel.
        physical_network string -- The wires that they travel on.
        segmentation_id integer (range 1..None) -- What tells them from those
            -- of others there.
    """)
    body_keys = {"network": "network_id"}
    finds = {"network": "neutron.network"}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Segment": Segment}
