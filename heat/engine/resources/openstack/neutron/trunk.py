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
"""OS::Neutron::Trunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class Trunk(neutron.NeutronResource):
    """A port that carries the traffic of others, told apart by tags."""

    support_status = support.SupportStatus(version="9.0.0")

    required_service_extension = "trunk"
    entity = "trunk"
    mark_key = "description"
    # It works with a server on its port, which nobody may wait for.
    pending = frozenset()
    properties_schema = notation.properties("""
        admin_state_up boolean (update) -- Whether it carries traffic.
        description string (update) -- What it is for.
        name string (update) -- What it is called; made up when left out.
        port string (required, immutable, is neutron.port) -- Name or id of
            -- the port that carries the others.
        sub_ports list{* map{
            port string (required, is neutron.port) -- Name or id of a port
                -- that is carried.
            segmentation_id integer (required, range 1..4094) -- Its tag.
            segmentation_type string (required, in ["vlan"]) -- Kind of the
                -- tag.
        }} (update) -- The ports that it carries.
    """)
    attributes_schema = notation.attributes("""
        port_id string -- The port that carries the others.
    """)
    body_keys = {"port": "port_id", "sub_ports.port": "port_id"}
    finds = {"port": "neutron.port", "sub_ports.port": "neutron.port"}
    cleared = {"admin_state_up": True}

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        # They have calls of their own.
        body.pop("sub_ports", None)
        return body

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        super().finish_update(changed, properties)
        if "sub_ports" not in changed:
            return
        wanted = self.rendered("sub_ports", properties["sub_ports"] or [])
        now = self.shown()["sub_ports"]
        gone = [
            {"port_id": each["port_id"]} for each in now if each not in wanted
        ]
        more = [each for each in wanted if each not in now]
        # What leaves first: a tag, or a port, may come back otherwise.
        for call, ports in (("remove_subports", gone), ("add_subports", more)):
            if ports:
                self.collection().request(
                    "PUT",
                    f"/{self.resource_id}/{call}",
                    json={"sub_ports": ports},
                )

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        found["sub_ports"] = [
            {
                "port": each["port_id"],
                "segmentation_id": each["segmentation_id"],
                "segmentation_type": each["segmentation_type"],
            }
            for each in resource_data.get("sub_ports", ())
        ]
        return found


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Trunk": Trunk}
