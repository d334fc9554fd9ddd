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

"""AWS::EC2::NetworkInterface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine.resource import notation
from heat.engine.resources.aws.ec2 import network
from heat.engine.resources.openstack.neutron import neutron, port


class NetworkInterface(network.Ec2Network, port.Port):
    """A place on a subnet where an instance is plugged in."""

    properties_schema = notation.properties("""
        Description string -- What it is for.
        GroupSet list (update) -- Names or ids of its security groups; the
            -- project's default one when left out.
        PrivateIpAddress string -- The address wanted; one is chosen when
            -- left out.
        SubnetId string (required, is neutron.subnet) -- Name or id of the
            -- subnet of its address.
        Tags list -- Tags of the port.
    """)
    attributes_schema = notation.attributes("""
        PrivateIpAddress string -- Its address.
    """)
    body_keys = {"Description": "description", "GroupSet": "security_groups"}
    not_sent = frozenset({"PrivateIpAddress", "SubnetId", "Tags"})
    finds = {
        "GroupSet": "neutron.security_group",
        "SubnetId": "neutron.subnet",
    }
    renamed = {}
    extra_property = None

    def validate(self) -> None:
        # What a port checks is about words that an interface has not.
        neutron.NeutronResource.validate(self)

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = neutron.NeutronResource.create_body(self, properties)
        subnet = properties["SubnetId"]
        body["network_id"] = self.collection("subnet").get(subnet)[
            "network_id"
        ]
        fixed = {"subnet_id": subnet}
        if properties["PrivateIpAddress"]:
            fixed["ip_address"] = properties["PrivateIpAddress"]
        return {**body, "fixed_ips": [fixed]}

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = neutron.NeutronResource.update_body(self, changed, properties)
        if "GroupSet" in changed and properties["GroupSet"] is None:
            body["security_groups"] = self.default_groups()
        return body

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        held = self.shown().get("fixed_ips") or ()
        return next((each["ip_address"] for each in held), None)

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"GroupSet": resource_data.get("security_groups")}


def resource_mapping() -> dict[str, Any]:
    return {"AWS::EC2::NetworkInterface": NetworkInterface}
