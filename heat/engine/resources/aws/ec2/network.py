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

"""What EC2's networks are, in objects of the networking service.

A VPC is a network and a router of the same name: the VPC's main route
table. A route table is one more router, which says in its description whose
it is. A subnet is one on that network, on exactly one of these routers. The
internet is the external network that is the default one, or else the first
by id; an internet gateway leads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heat.common import exception
from heat.engine.clients import errors
from heat.engine.resources.openstack.neutron import neutron
from heat.engine.resources.openstack.neutron import router as neutron_router

_EXTERNAL = {"router:external": True}
#: what owns the ports by which routers are on subnets: plain, distributed,
#: highly available ones
_INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)


class Ec2Network(neutron.NeutronResource):
    """An object of the networking service, in the words of EC2.

    Its name is always made up, as these words have none. Its tags are tags
    there, as ``Key=Value``.
    """

    def finish_create(self, properties: Any) -> None:
        if properties["Tags"]:
            self.set_tags([_tag(each) for each in properties["Tags"]])


def _tag(given: Any) -> str:
    if isinstance(given, Mapping):
        return f"{given.get('Key')}={given.get('Value')}"
    return str(given)


# -- routers ------------------------------------------------------------------


def main_router(rsrc: Any, vpc: str) -> dict[str, Any] | None:
    """The router of a VPC, None when there is none (any more).

    :param vpc: id of its network
    :raises heat.common.exception.PhysicalResourceNameAmbiguity: several
        routers have the network's name
    """
    name = rsrc.collection("network").get(vpc)["name"]
    return named_router(rsrc, name)


def named_router(rsrc: Any, name: str) -> dict[str, Any] | None:
    """The router of a VPC whose network has, or had, a name."""
    found = rsrc.collection("router").list(name=name)
    if len(found) > 1:
        raise exception.PhysicalResourceNameAmbiguity(name=name)
    return dict(found[0]) if found else None


def needed_router(rsrc: Any, vpc: str) -> dict[str, Any]:
    """The router of a VPC.

    :raises heat.common.exception.EntityNotFound: there is none
    """
    found = main_router(rsrc, vpc)
    if found is None:
        raise exception.EntityNotFound(entity="Router of the VPC", name=vpc)
    return found


def table_of(vpc: str) -> str:
    """The description of the routers that are a VPC's route tables."""
    return f"Route table of VPC {vpc}"


def route_tables(rsrc: Any, vpc: str) -> list[dict[str, Any]]:
    """The routers that are a VPC's route tables, without the main one."""
    found = rsrc.collection("router").list(description=table_of(vpc))
    return [dict(each) for each in found]


# -- subnets on routers -------------------------------------------------------


def routers_at(rsrc: Any, subnet: str) -> set[str]:
    """The ids of the routers that a subnet is on.

    :raises heat.engine.clients.errors.NotFound: there is no such subnet
    """
    return _routers_of(_ports_on(rsrc, subnet))


def _ports_on(rsrc: Any, subnet: str) -> list[Mapping[str, Any]]:
    network = rsrc.collection("subnet").get(subnet)["network_id"]
    return [
        port
        for port in rsrc.collection("port").list(network_id=network)
        if any(each["subnet_id"] == subnet for each in port["fixed_ips"])
    ]


def _routers_of(ports: Iterable[Mapping[str, Any]]) -> set[str]:
    return {
        port["device_id"]
        for port in ports
        if port.get("device_owner") in _INTERFACES
    }


def move(rsrc: Any, subnet: str, router: str) -> None:
    """Let a router serve a subnet, and no other one.

    Addresses that lead into the subnet are taken off meanwhile: as long as
    they lead there, no router can be.
    """
    ports = _ports_on(rsrc, subnet)
    now = _routers_of(ports)
    addresses = rsrc.collection("floatingip")
    known = {port["id"] for port in ports}
    led = [
        address
        for other in sorted(now - {router})
        for address in addresses.list(router_id=other)
        if address["port_id"] in known
    ]
    for each in led:
        addresses.update(each["id"], {"port_id": None})
    for other in sorted(now - {router}):
        take_off(rsrc, subnet, other)
    if router not in now:
        put_on(rsrc, subnet, router)
    for each in led:
        addresses.update(
            each["id"],
            {key: each[key] for key in ("port_id", "fixed_ip_address")},
        )


def put_on(rsrc: Any, subnet: str, router: str) -> None:
    """Let a router serve a subnet."""
    neutron_router.add_interface(rsrc, router, {"subnet_id": subnet})


def take_off(rsrc: Any, subnet: str, router: str) -> None:
    """Let a router serve a subnet no more; that it doesn't is no error."""
    try:
        neutron_router.remove_interface(rsrc, router, {"subnet_id": subnet})
    except errors.NotFound:
        return


# -- outside ------------------------------------------------------------------


def outside(rsrc: Any) -> str:
    """The id of the network that is the internet.

    :raises heat.common.exception.EntityNotFound: there is none
    """
    networks = rsrc.client_plugin("neutron").collection("network")
    found = min(
        networks.list(**_EXTERNAL),
        key=lambda each: (not each.get("is_default"), each["id"]),
        default=None,
    )
    if found is None:
        raise exception.EntityNotFound(entity="Network", name="external")
    return str(found["id"])
