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

"""AWS::EC2::VPC and Subnet."""

from __future__ import annotations

import contextlib
from typing import Any

from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.aws.ec2 import network


class VPC(network.Ec2Network):
    """A network, and a router of the same name that serves its subnets."""

    entity = "network"
    properties_schema = notation.properties("""
        CidrBlock string -- Block that the blocks of its subnets should be
            -- in; without effect.
        Tags list -- Tags of the network.
    """)
    not_sent = frozenset({"CidrBlock", "Tags"})

    def finish_create(self, properties: Any) -> None:
        super().finish_create(properties)
        name = self.physical_resource_name()
        self.collection("router").create({"name": name})

    def remove_object(self) -> None:
        try:
            name = self.shown()["name"]
        except errors.NotFound:
            # It went without its router, which has the name made up for it.
            name = self.physical_resource_name()
        router = network.named_router(self, name)
        if router is not None:
            with contextlib.suppress(errors.NotFound):
                self.collection("router").delete(router["id"])
        super().remove_object()

    def handle_check(self) -> None:
        super().handle_check()
        network.needed_router(self, str(self.resource_id))


class Subnet(network.Ec2Network):
    """A block of addresses in a VPC, served by the VPC's router."""

    entity = "subnet"
    status_key = None
    properties_schema = notation.properties("""
        AvailabilityZone string -- Without effect: a subnet is in all zones.
        CidrBlock string (required) -- The block, such as 10.0.0.0/24.
        Tags list -- Tags of the subnet.
        VpcId string (required) -- The VPC.
    """)
    attributes_schema = notation.attributes("""
        AvailabilityZone string -- What the property says.
    """)
    body_keys = {"CidrBlock": "cidr", "VpcId": "network_id"}
    not_sent = frozenset({"AvailabilityZone", "Tags"})
    finds = {"VpcId": "neutron.network"}

    def create_body(self, properties: Any) -> dict[str, Any]:
        version = 6 if ":" in properties["CidrBlock"] else 4
        return {**super().create_body(properties), "ip_version": version}

    def finish_create(self, properties: Any) -> None:
        super().finish_create(properties)
        router = network.needed_router(self, properties["VpcId"])
        network.put_on(self, str(self.resource_id), router["id"])

    def remove_object(self) -> None:
        subnet = str(self.resource_id)
        for router in network.routers_at(self, subnet):
            network.take_off(self, subnet, router)
        super().remove_object()

    def _resolve_attribute(self, name: str) -> Any:
        return self.properties[name]


def resource_mapping() -> dict[str, Any]:
    return {"AWS::EC2::Subnet": Subnet, "AWS::EC2::VPC": VPC}
