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

"""OS::Neutron::FloatingIP and FloatingIPAssociation."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine.resource import link, notation
from heat.engine.resources.openstack.neutron import implied, neutron


class FloatingIP(neutron.NeutronResource):
    """An address outside that leads to a port inside."""

    entity = "floatingip"
    name_property = None
    mark_key = "description"
    # It is DOWN until a router carries it: no state to wait for.
    status_key = None
    properties_schema = notation.properties("""
        dns_domain string (update, is dns_domain) -- Domain of its DNS name,
            -- with the dot at the end.
        dns_name string (update, is rel_dns_name) -- Its name in DNS.
        fixed_ip_address string (update, is ip_addr) -- Which of the port's
            -- addresses it leads to.
        floating_ip_address string (is ip_addr) -- The address wanted.
        floating_network string (required, is neutron.network) -- Name or id
            -- of the external network.
        floating_network_id string (hidden, is neutron.network) -- Old name
            -- of floating_network.
        floating_subnet string (is neutron.subnet) -- Name or id of the
            -- subnet that it is taken from.
        port_id string (update, is neutron.port) -- Name or id of the port it
            -- leads to.
        value_specs map (={}) -- Further attributes, as the service takes
            -- them.
    """)
    attributes_schema = notation.attributes("""
        fixed_ip_address string -- The port's address that it leads to.
        floating_ip_address string -- The address outside.
        floating_network_id string -- The external network.
        port_id string -- The port that it leads to.
        router_id string -- The router that carries it.
        tenant_id string -- Project that owns it.
    """)
    body_keys = {
        "floating_network": "floating_network_id",
        "floating_subnet": "subnet_id",
    }
    finds = {
        "floating_network": "neutron.network",
        "floating_subnet": "neutron.subnet",
        "port_id": "neutron.port",
    }
    renamed = {"floating_network_id": "floating_network"}
    cleared = {"fixed_ip_address": None}
    extra_property = "value_specs"

    implicit_dependencies = staticmethod(implied.of_floating_ip)

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        # An address is one of a port: the service wants both.
        if "fixed_ip_address" in body and properties["port_id"]:
            body.setdefault("port_id", properties["port_id"])
        return body


class FloatingIPAssociation(link.Link, neutron.NeutronResource):
    """Lets a floating IP lead to a port."""

    entity = "floatingip"
    properties_schema = notation.properties("""
        fixed_ip_address string (update, is ip_addr) -- Which of the port's
            -- addresses it leads to.
        floatingip_id string (required, update) -- Id of the floating IP.
        port_id string (required, update, is neutron.port) -- Name or id of
            -- the port.
    """)
    finds = {"port_id": "neutron.port"}

    implicit_dependencies = staticmethod(implied.of_floating_ip)

    def connect(self, properties: Any) -> None:
        floating_ip = properties["floatingip_id"]
        if self.resource_id not in (None, floating_ip):
            self.delete_object()
        body = {"port_id": properties["port_id"]}
        if properties["fixed_ip_address"]:
            body["fixed_ip_address"] = properties["fixed_ip_address"]
        self.resource_id_set(floating_ip)
        self.collection().update(floating_ip, body)

    def remove_object(self) -> None:
        """Take the port away, unless somebody gave it another meanwhile."""
        self.shown()
        self.collection().update(self.resource_id, {"port_id": None})

    def shown(self) -> dict[str, Any]:
        """The floating IP, which leads to the port."""
        found = super().shown()
        if found.get("port_id") != self.properties["port_id"]:
            raise exception.EntityNotFound(
                entity="Floating IP association", name=self.resource_id
            )
        return found


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::FloatingIP": FloatingIP,
        "OS::Neutron::FloatingIPAssociation": FloatingIPAssociation,
    }
