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

"""AWS::EC2::InternetGateway and VPCGatewayAttachment."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine import resource
from heat.engine.resource import link, notation
from heat.engine.resources.aws.ec2 import network
from heat.engine.resources.openstack.neutron import implied, neutron


class InternetGateway(resource.Resource):
    """A way to the internet. No object stands for it: what it leads to is
    there, and by what is said when it is attached to a VPC."""

    properties_schema = notation.properties("""
        Tags list -- Without effect: there is nothing to tag.
    """)

    def handle_create(self) -> Any:
        self.resource_id_set(self.physical_resource_name())
        return None


class VPCGatewayAttachment(link.Link, neutron.NeutronResource):
    """Lets the routers of a VPC lead outside."""

    entity = "router"
    properties_schema = notation.properties("""
        InternetGatewayId string -- The internet gateway.
        VpcId string (required) -- The VPC.
    """)
    finds = {"VpcId": "neutron.network"}

    implicit_dependencies = staticmethod(implied.of_gateway_attachment)

    def connect(self, properties: Any) -> None:
        vpc = properties["VpcId"]
        # Nobody else's: the VPC's router tells by it who opened it last.
        self.resource_id_set(f"{vpc}:{self.short_id()}")
        self._open()

    def _vpc(self) -> str:
        return (self.resource_id or "").partition(":")[0]

    def _open(self) -> None:
        out = {"external_gateway_info": {"network_id": network.outside(self)}}
        main = network.needed_router(self, self._vpc())
        self.collection().update(
            main["id"], {**out, "description": self.resource_id}
        )
        for each in network.route_tables(self, self._vpc()):
            self.collection().update(each["id"], out)

    def remove_object(self) -> None:
        """Close the ways out, unless another attachment needs them now."""
        main = network.main_router(self, self._vpc())
        if main is None or main.get("description") != self.resource_id:
            return
        closed: dict[str, Any] = {"external_gateway_info": {}}
        for each in network.route_tables(self, self._vpc()):
            self.collection().update(each["id"], closed)
        self.collection().update(main["id"], {**closed, "description": ""})

    def prepare_for_replace(self) -> None:
        """Note that another may take the ways out over."""
        if self.resource_id is not None:
            self.data_set(self.given_up, "1")

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take them back."""
        self._open()

    def shown(self) -> dict[str, Any]:
        """The router of the VPC, which leads outside."""
        main = network.needed_router(self, self._vpc())
        if not main.get("external_gateway_info"):
            raise exception.EntityNotFound(
                entity="Gateway attachment", name=self.resource_id
            )
        return main


def resource_mapping() -> dict[str, Any]:
    return {
        "AWS::EC2::InternetGateway": InternetGateway,
        "AWS::EC2::VPCGatewayAttachment": VPCGatewayAttachment,
    }
