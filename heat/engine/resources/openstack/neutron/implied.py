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

"""Orders that users rely on and templates do not show.

A port takes an address from a subnet of its network, yet refers to the
network only; a floating IP needs the router between, and refers to neither
router nor interface. The functions tell for a definition which others of
the stack have to be there first. They look at references and plain values
of properties only: no service, no database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heat.engine import function

Definitions = Mapping[str, Any]

SUBNET = "OS::Neutron::Subnet"
PORT = "OS::Neutron::Port"
ROUTER = "OS::Neutron::Router"
INTERFACE = "OS::Neutron::RouterInterface"
GATEWAY = "OS::Neutron::RouterGateway"
ROUTE_TABLE = "AWS::EC2::RouteTable"
#: By what of EC2's an address is reached from outside.
_EC2_WAYS = (
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCGatewayAttachment",
)
_NETWORK = ("network", "network_id")
_ROUTER = ("router", "router_id")
_VPC = ("VpcId",)
_GATEWAY = "external_gateway_info"
#: type -> the properties that name a subnet's network
_SUBNETS = {SUBNET: _NETWORK, "AWS::EC2::Subnet": _VPC}


def of_port(name: str, definitions: Definitions) -> set[str]:
    """The subnets of the port's network."""
    return set(_subnets_on(_named(definitions[name], *_NETWORK), definitions))


def of_router(name: str, definitions: Definitions) -> set[str]:
    """The subnets of the network that is the router's way out."""
    info = _properties(definitions[name]).get(_GATEWAY)
    return set(_subnets_on(_network_in(info), definitions))


def of_floating_ip(name: str, definitions: Definitions) -> set[str]:
    """What makes its port reachable from outside: the stack's router
    interfaces, and the routers and gateways to its floating network."""
    wish = definitions[name]
    outside = _named(wish, "floating_network", "floating_network_id")
    needed = {
        other
        for other, defn in _of_type(ROUTER, definitions)
        if outside & _network_in(_properties(defn).get(_GATEWAY))
    }
    needed.update(_naming(outside, GATEWAY, _NETWORK, definitions))
    needed.update(_inner_ways(definitions))
    return needed


def of_elastic_ip(name: str, definitions: Definitions) -> set[str]:
    """As :func:`of_floating_ip`, to whichever network outside."""
    needed = {
        other
        for other, defn in _of_type(ROUTER, definitions)
        if _properties(defn).get(_GATEWAY)
    }
    needed.update(other for other, _ in _of_type(GATEWAY, definitions))
    needed.update(_inner_ways(definitions))
    return needed


def _inner_ways(definitions: Definitions) -> Iterator[str]:
    """By what an address is reached, whatever network it is of."""
    for kind in (INTERFACE, *_EC2_WAYS):
        for name, _defn in _of_type(kind, definitions):
            yield name


def of_gateway_attachment(name: str, definitions: Definitions) -> set[str]:
    """The route tables of the VPC, which lead outside with it."""
    vpc = _named(definitions[name], *_VPC)
    return set(_naming(vpc, ROUTE_TABLE, _VPC, definitions))


def of_router_gateway(name: str, definitions: Definitions) -> set[str]:
    """The subnets of the network outside, and the router's interfaces: as
    long as there is a way out, none of these can be taken away."""
    defn = definitions[name]
    needed = set(_subnets_on(_named(defn, *_NETWORK), definitions))
    router = _named(defn, *_ROUTER)
    needed.update(_naming(router, INTERFACE, _ROUTER, definitions))
    return needed


def of_extra_routes(name: str, definitions: Definitions) -> set[str]:
    """The interfaces of its router: by them the next hops are reached."""
    router = _named(definitions[name], *_ROUTER)
    return set(_naming(router, INTERFACE, _ROUTER, definitions))


def of_server(name: str, definitions: Definitions) -> set[str]:
    """The subnets of the networks that the server is attached to."""
    networks = _properties(definitions[name]).get("networks")
    if not isinstance(networks, list):
        return set()
    found: set[str] = set()
    for each in networks:
        if isinstance(each, dict):
            marks = _marks(each.get("network")) | _marks(each.get("uuid"))
            found.update(_subnets_on(marks, definitions))
    return found


def _properties(defn: Any) -> Mapping[str, Any]:
    found = defn.section("properties")
    return found if isinstance(found, dict) else {}


def _named(defn: Any, *keys: str) -> frozenset[str]:
    found = _properties(defn)
    return frozenset().union(*(_marks(found.get(key)) for key in keys))


def _network_in(info: Any) -> frozenset[str]:
    return (
        _marks(info.get("network")) if isinstance(info, dict) else frozenset()
    )


def _marks(snippet: Any) -> frozenset[str]:
    """What two snippets have in common when they mean the same object: the
    resource that is referred to, or else the plain value."""
    if snippet is None:
        return frozenset()
    names = frozenset(f"@{each}" for each in function.dependencies(snippet))
    if names:
        return names
    try:
        value = function.resolve(snippet)
    except function.Unknown as unknown:
        return frozenset({f"?{unknown.source}"})
    return frozenset({f"={value}"}) if isinstance(value, str) else frozenset()


def _of_type(kind: str, definitions: Definitions) -> Iterator[tuple[str, Any]]:
    for name, defn in definitions.items():
        if defn.resource_type == kind:
            yield name, defn


def _subnets_on(
    network: frozenset[str], definitions: Definitions
) -> Iterator[str]:
    for kind, keys in _SUBNETS.items():
        yield from _naming(network, kind, keys, definitions)


def _naming(
    marks: frozenset[str],
    kind: str,
    keys: tuple[str, ...],
    definitions: Definitions,
) -> Iterator[str]:
    """The resources of a type one of whose properties means an object."""
    for name, defn in _of_type(kind, definitions):
        if marks & _named(defn, *keys):
            yield name
