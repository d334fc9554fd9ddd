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

"""AWS::EC2::EIP and EIPAssociation: floating IPs, in EC2's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine.clients import errors
from heat.engine.resource import link, notation
from heat.engine.resources.aws.ec2 import network
from heat.engine.resources.openstack.neutron import implied, neutron

_ADDRESS = "floating_ip_address"
_INSTANCE, _CARD = "InstanceId", "NetworkInterfaceId"


def lead_to_server(rsrc: Any, floating: str, server: str) -> str:
    """Let a floating IP lead to the first card of a server that it can
    lead to.

    :returns: the id of the card's port
    :raises heat.common.exception.EntityNotFound: the server has no card
    :raises heat.engine.clients.errors.ServiceError: no router is between
    """
    refused: Exception = exception.EntityNotFound(
        entity="Network interface of the server", name=server
    )
    for port in rsrc.collection("port").list(device_id=server):
        try:
            rsrc.collection().update(floating, {"port_id": port["id"]})
        except (errors.NotFound, errors.BadRequest) as exc:
            refused = exc
        else:
            return str(port["id"])
    raise refused


class EIP(neutron.NeutronResource):
    """An address on the internet; a reference to it is the address."""

    entity = "floatingip"
    name_property = None
    mark_key = "description"
    # It is DOWN until a router carries it: no state to wait for.
    status_key = None
    properties_schema = notation.properties("""
        Domain string (deprecated, in ["vpc"]) -- Without effect: an address
            -- is of use in each VPC.
        InstanceId string (update, is nova.server) -- Name or id of the
            -- instance that it leads to.
    """)
    attributes_schema = notation.attributes("""
        AllocationId string -- The id of the floating IP.
    """)
    not_sent = frozenset({"Domain", _INSTANCE})
    finds = {_INSTANCE: "nova.server"}

    implicit_dependencies = staticmethod(implied.of_elastic_ip)

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        body["floating_network_id"] = network.outside(self)
        return body

    def make(self, body: Mapping[str, Any]) -> dict[str, Any]:
        made = super().make(body)
        self.data_set(_ADDRESS, made[_ADDRESS])
        return made

    def finish_create(self, properties: Any) -> None:
        if properties[_INSTANCE]:
            lead_to_server(self, str(self.resource_id), properties[_INSTANCE])

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if _INSTANCE in prop_diff:
            self.collection().update(self.resource_id, {"port_id": None})
            self.finish_create(self.properties_of(json_snippet))
        return None

    def get_reference_id(self) -> str:
        if self.resource_id is None:
            return self.name
        return str(self.data().get(_ADDRESS) or self.shown()[_ADDRESS])

    def _resolve_attribute(self, name: str) -> Any:
        return self.resource_id

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        port = resource_data.get("port_id")
        return {_INSTANCE: _holder(self, port) if port else None}


def _holder(rsrc: Any, port: str) -> str | None:
    """What a port is plugged into."""
    return rsrc.collection("port").get(port).get("device_id") or None


class EIPAssociation(link.Link, neutron.NeutronResource):
    """Lets an address lead to an instance or to a network interface."""

    entity = "floatingip"
    properties_schema = notation.properties("""
        AllocationId string (update) -- Id of the floating IP; either this or
            -- EIP.
        EIP string (update, is ip_addr) -- The address; either this or
            -- AllocationId.
        InstanceId string (update, is nova.server) -- Name or id of the
            -- instance; either this or NetworkInterfaceId.
        NetworkInterfaceId string (update) -- Name or id of the network
            -- interface; either this or InstanceId.
    """)
    finds = {_INSTANCE: "nova.server", _CARD: "neutron.port"}

    implicit_dependencies = staticmethod(implied.of_elastic_ip)

    #: key of the resource's data: the port that it leads to
    _PORT = "port_id"

    def validate(self) -> None:
        super().validate()
        for one, other in (("EIP", "AllocationId"), (_INSTANCE, _CARD)):
            given = self.properties.data.get
            both = (given(one) is not None, given(other) is not None)
            if all(both):
                raise exception.ResourcePropertyConflict(one, other)
            if not any(both):
                raise exception.PropertyUnspecifiedError(one, other)

    def _floating(self, properties: Any) -> str:
        """The id of the floating IP."""
        if properties["AllocationId"]:
            return str(properties["AllocationId"])
        wanted = properties["EIP"]
        found = self.collection().list(**{_ADDRESS: wanted})
        if not found:
            raise exception.EntityNotFound(entity="Floating IP", name=wanted)
        return str(found[0]["id"])

    def connect(self, properties: Any) -> None:
        floating = self._floating(properties)
        if self.resource_id not in (None, floating):
            self.delete_object()
        self.resource_id_set(floating)
        port = properties[_CARD]
        if port:
            self.collection().update(floating, {"port_id": port})
        else:
            port = lead_to_server(self, floating, properties[_INSTANCE])
        self.data_set(self._PORT, port)

    def remove_object(self) -> None:
        """Take the port away, unless somebody gave it another meanwhile."""
        self.shown()
        self.collection().update(self.resource_id, {"port_id": None})

    def shown(self) -> dict[str, Any]:
        """The floating IP, which leads to the port."""
        found = super().shown()
        port = found.get("port_id")
        # Nobody has noted that of one that was adopted.
        if not port or self.data().get(self._PORT, port) != port:
            raise exception.EntityNotFound(
                entity="Association of the address", name=self.resource_id
            )
        return found


def resource_mapping() -> dict[str, Any]:
    return {"AWS::EC2::EIP": EIP, "AWS::EC2::EIPAssociation": EIPAssociation}
