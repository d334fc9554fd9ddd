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

"""AWS::EC2::RouteTable and SubnetRouteTableAssociation."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine import support
from heat.engine.resource import link, notation
from heat.engine.resources.aws.ec2 import network
from heat.engine.resources.openstack.neutron import neutron


class RouteTable(network.Ec2Network):
    """One more router in a VPC, with the same way out as the first."""

    support_status = support.SupportStatus(version="2014.1")

    entity = "router"
    properties_schema = notation.properties("""
        Tags list -- Tags of the router.
        VpcId string (required) -- The VPC.
    """)
    not_sent = frozenset({"Tags", "VpcId"})
    finds = {"VpcId": "neutron.network"}

    def create_body(self, properties: Any) -> dict[str, Any]:
        vpc = properties["VpcId"]
        body = super().create_body(properties)
        body["description"] = network.table_of(vpc)
        main = network.needed_router(self, vpc)
        out = (main.get("external_gateway_info") or {}).get("network_id")
        if out:
            body["external_gateway_info"] = {"network_id": out}
        return body


class SubnetRouteTableAssociation(link.Link, neutron.NeutronResource):
    """Moves a subnet from the main router of its VPC to a route table."""

    entity = "router"
    properties_schema = notation.properties("""
        RouteTableId string (required) -- The route table.
        SubnetId string (required, is neutron.subnet) -- Name or id of the
            -- subnet.
    """)
    finds = {"RouteTableId": "neutron.router", "SubnetId": "neutron.subnet"}

    def connect(self, properties: Any) -> None:
        router, subnet = properties["RouteTableId"], properties["SubnetId"]
        # What is to be undone is known before it is done.
        self.resource_id_set(f"{router}:{subnet}")
        network.move(self, subnet, router)

    def _parts(self) -> tuple[str, str]:
        """The router and the subnet."""
        router, _colon, subnet = (self.resource_id or "").partition(":")
        return router, subnet

    def remove_object(self) -> None:
        """Move the subnet back, unless it is elsewhere meanwhile."""
        router, subnet = self._parts()
        now = network.routers_at(self, subnet)
        if now - {router}:
            return
        vpc = self.collection("subnet").get(subnet)["network_id"]
        main = network.main_router(self, vpc)
        if main is not None:
            network.move(self, subnet, main["id"])
        else:
            network.take_off(self, subnet, router)

    def prepare_for_replace(self) -> None:
        """Note that another may move the subnet."""
        if self.resource_id is not None:
            self.data_set(self.given_up, "1")

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Move it here again."""
        router, subnet = self._parts()
        network.move(self, subnet, router)

    def shown(self) -> dict[str, Any]:
        """The router, which the subnet is on."""
        router, subnet = self._parts()
        if router not in network.routers_at(self, subnet):
            raise exception.EntityNotFound(
                entity="Route table association", name=self.resource_id
            )
        return dict(self.collection().get(router))


def resource_mapping() -> dict[str, Any]:
    return {
        "AWS::EC2::RouteTable": RouteTable,
        "AWS::EC2::SubnetRouteTableAssociation": SubnetRouteTableAssociation,
    }
