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

"""OS::Neutron::Router and RouterInterface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine.resource import link, notation
from heat.engine.resources.openstack.neutron import implied, neutron


class Router(neutron.NeutronResource):
    """Forwards packets between subnets, and to an external network."""

    entity = "router"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it forwards.
        availability_zone_hints list (update) -- Zones it should be in.
        distributed boolean -- Whether every compute node forwards for
            -- itself; usually only an administrator may say so.
        external_gateway_info map{
            enable_snat boolean (update) -- Whether inner addresses are
                -- hidden behind the router's.
            external_fixed_ips list{* map{
                ip_address string (is ip_addr) -- The address wanted.
                subnet string (is neutron.subnet) -- Name or id of the subnet
                    -- that it is taken from.
            }} (update) -- Its addresses outside.
            network string (required, update) -- Name or id of the external
                -- network.
        } (update) -- Its way out.
        ha boolean -- Whether it stands by on several nodes; usually only an
            -- administrator may say so.
        l3_agent_id string (update, hidden) -- Old form of l3_agent_ids.
        l3_agent_ids list{* string} (update) -- Agents that carry it; only an
            -- administrator may say so.
        name string (update) -- What it is called; made up when left out.
        tags list{* string} (update) -- Tags of the router.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
        value_specs map (update, ={}) -- Further attributes, as the service
            -- takes them.
    """)
    attributes_schema = notation.attributes("""
        admin_state_up string -- Whether it forwards.
        external_gateway_info map -- Its way out.
        name string -- What it is called.
        status string -- Its state.
        tenant_id string -- Project that owns it.
    """)
    body_keys = {
        "external_gateway_info.network": "network_id",
        "external_gateway_info.external_fixed_ips.subnet": "subnet_id",
    }
    not_sent = frozenset({"tags", "l3_agent_id", "l3_agent_ids"})
    finds = {
        "external_gateway_info.network": "neutron.network",
        "external_gateway_info.external_fixed_ips.subnet": "neutron.subnet",
    }
    extra_property = "value_specs"

    implicit_dependencies = staticmethod(implied.of_router)

    def finish_create(self, properties: Any) -> None:
        super().finish_create(properties)
        self._carry_by(properties)

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        super().finish_update(changed, properties)
        if "l3_agent_ids" in changed or "l3_agent_id" in changed:
            self._carry_by(properties)

    def _carry_by(self, properties: Any) -> None:
        """Let exactly the named agents carry the router."""
        wanted = set(properties["l3_agent_ids"] or ())
        if properties["l3_agent_id"]:
            wanted.add(properties["l3_agent_id"])
        if not wanted:
            return
        found = self.collection().request(
            "GET", f"/{self.resource_id}/l3-agents"
        )
        now = {each["id"] for each in found["agents"]}
        agents = self.collection("agent")
        for agent in sorted(now - wanted):
            agents.request("DELETE", f"/{agent}/l3-routers/{self.resource_id}")
        for agent in sorted(wanted - now):
            agents.request(
                "POST",
                f"/{agent}/l3-routers",
                json={"router_id": self.resource_id},
            )


def add_interface(rsrc: Any, router: str, place: Mapping[str, str]) -> None:
    """Let a router serve a subnet.

    :param place: ``subnet_id`` or ``port_id``
    """
    rsrc.collection("router").request(
        "PUT",
        f"/{router}/add_router_interface",
        json=dict(place),
        idempotent=False,
    )


def remove_interface(rsrc: Any, router: str, place: Mapping[str, str]) -> None:
    """Let a router serve a subnet no more.

    :param place: what it was made with
    :raises heat.engine.clients.errors.NotFound: it doesn't
    """
    rsrc.collection("router").request(
        "PUT", f"/{router}/remove_router_interface", json=dict(place)
    )


class RouterInterface(link.Link, neutron.NeutronResource):
    """Connects a router to a subnet, or to the subnet of a port."""

    entity = "router"
    properties_schema = notation.properties("""
        port string (is neutron.port) -- Name or id of the port to take;
            -- either this or subnet.
        port_id string (hidden, is neutron.port) -- Old name of port.
        router string (required, is neutron.router) -- Name or id of the
            -- router.
        router_id string (hidden, is neutron.router) -- Old name of router.
        subnet string (is neutron.subnet) -- Name or id of the subnet, whose
            -- gateway address the router takes; either this or port.
        subnet_id string (hidden, is neutron.subnet) -- Old name of subnet.
    """)
    finds = {
        "port": "neutron.port",
        "router": "neutron.router",
        "subnet": "neutron.subnet",
    }
    renamed = {"port_id": "port", "router_id": "router", "subnet_id": "subnet"}

    def validate(self) -> None:
        super().validate()
        given = [
            name
            for name in ("port", "port_id", "subnet", "subnet_id")
            if self.properties.data.get(name) is not None
        ]
        if not given:
            raise exception.PropertyUnspecifiedError("subnet", "port")
        if len({name.removesuffix("_id") for name in given}) > 1:
            raise exception.ResourcePropertyConflict("subnet", "port")

    def connect(self, properties: Any) -> None:
        router = properties["router"]
        key = "port" if properties["port"] else "subnet"
        other = properties[key]
        # What is to be undone is known before it is done: a repeated
        # deletion finds nothing, which is no error.
        self.resource_id_set(f"{router}:{key}_id={other}")
        add_interface(self, router, {f"{key}_id": other})

    def _parts(self) -> tuple[str, str, str]:
        """Router, key and value of the request that made it."""
        router, _colon, rest = (self.resource_id or "").partition(":")
        key, _equals, value = rest.partition("=")
        return router, key or "subnet_id", value or rest

    def remove_object(self) -> None:
        router, key, value = self._parts()
        remove_interface(self, router, {key: value})

    def shown(self) -> dict[str, Any]:
        """The router's port that is the interface."""
        router, key, value = self._parts()
        found = self.collection("port").list(device_id=router)
        for port in found:
            if key == "port_id" and port["id"] == value:
                return dict(port)
            subnets = [each["subnet_id"] for each in port["fixed_ips"]]
            if key == "subnet_id" and value in subnets:
                return dict(port)
        raise exception.EntityNotFound(
            entity="Router interface", name=self.resource_id
        )


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::Router": Router,
        "OS::Neutron::RouterInterface": RouterInterface,
    }
