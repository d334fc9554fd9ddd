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

"""OS::Neutron::Port."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import implied, neutron


class Port(neutron.NeutronResource):
    """A place on a network where one thing is plugged in."""

    entity = "port"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it carries traffic.
        allowed_address_pairs list{* map{
            ip_address string (required, is ip_or_cidr) -- Address or block.
            mac_address string (is mac_addr) -- MAC address; the port's own
                -- when left out.
        }} (update) -- Further addresses that traffic may come from.
        binding:vnic_type string (update, ="normal", in ["normal", "direct",
            "macvtap", "direct-physical", "baremetal", "virtio-forwarder",
            "smart-nic"]) -- Kind of the virtual network card.
        device_id string (update, ="") -- What is plugged in.
        device_owner string (update, ="") -- What kind of thing that is.
        dns_name string (update, is dns_name) -- Its name in DNS.
        fixed_ips list{* map{
            ip_address string (is ip_addr) -- The address wanted.
            subnet string (is neutron.subnet) -- Name or id of the subnet
                -- that it is taken from.
            subnet_id string (hidden, is neutron.subnet) -- Old name of subnet.
        }} (update) -- Its addresses; one is chosen when left out.
        mac_address string (is mac_addr) -- Its MAC address; made up when
            -- left out.
        name string (update) -- What it is called; made up when left out.
        network string (required, is neutron.network) -- Name or id of its
            -- network.
        network_id string (hidden, is neutron.network) -- Old name of network.
        no_fixed_ips boolean (update, =false) -- It gets no address at all.
        port_security_enabled boolean (update) -- Whether security groups and
            -- anti-spoofing apply.
        propagate_uplink_status boolean (update) -- Whether the state of the
            -- uplink is passed on.
        qos_policy string (update, is neutron.qos_policy) -- Name or id of
            -- the QoS policy.
        replacement_policy string (update, hidden, ="AUTO", in
            ["REPLACE_ALWAYS", "AUTO"]) -- Without effect.
        security_groups list (update) -- Names or ids of its security groups;
            -- the project's default one when left out.
        tags list{* string} (update) -- Tags of the port.
        value_specs map (update, ={}) -- Further attributes, as the service
            -- takes them.
    """)
    attributes_schema = notation.attributes("""
        admin_state_up string -- Whether it carries traffic.
        allowed_address_pairs list -- Further addresses it may send from.
        device_id string -- What is plugged in.
        device_owner string -- What kind of thing that is.
        dns_assignment map -- Its names in DNS.
        fixed_ips list -- Its addresses, each with its subnet.
        mac_address string -- Its MAC address.
        name string -- What it is called.
        network map -- Its network, as the service shows it.
        network_id string -- Id of its network.
        port_security_enabled boolean -- Whether security groups apply.
        propagate_uplink_status boolean -- Whether the uplink's state is
            -- passed on.
        qos_policy_id string -- Its QoS policy.
        security_groups list -- Ids of its security groups.
        status string -- Its state.
        subnets list -- The subnets of its addresses, as the service shows
            -- them.
        tenant_id string -- Project that owns it.
    """)
    body_keys = {
        "network": "network_id",
        "qos_policy": "qos_policy_id",
        "fixed_ips.subnet": "subnet_id",
    }
    not_sent = frozenset({"tags", "no_fixed_ips", "replacement_policy"})
    finds = {
        "network": "neutron.network",
        "fixed_ips.subnet": "neutron.subnet",
        "qos_policy": "neutron.qos_policy",
        "security_groups": "neutron.security_group",
    }
    renamed = {"network_id": "network", "fixed_ips.subnet_id": "subnet"}
    extra_property: ClassVar[str | None] = "value_specs"

    implicit_dependencies = staticmethod(implied.of_port)

    def validate(self) -> None:
        super().validate()
        if self.properties["no_fixed_ips"] and self.properties["fixed_ips"]:
            raise exception.ResourcePropertyConflict(
                "no_fixed_ips", "fixed_ips"
            )
        if (
            self.properties["port_security_enabled"] is False
            and self.properties["security_groups"]
        ):
            raise exception.StackValidationFailed(
                path=["properties", "security_groups"],
                message=_(
                    "A port without port security has no security groups: "
                    "leave them out, or set port_security_enabled."
                ),
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        if properties["no_fixed_ips"]:
            body["fixed_ips"] = []
        # Empty means "nobody", which is what leaving them out means too.
        for key in ("device_id", "device_owner"):
            if not body.get(key):
                body.pop(key, None)
        return body

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        if "no_fixed_ips" in changed and properties["no_fixed_ips"]:
            body["fixed_ips"] = []
        elif body.get("fixed_ips") == []:
            # None wanted in particular: those it has will do.
            del body["fixed_ips"]
        if "security_groups" in changed and (
            properties["security_groups"] is None
        ):
            secured = self.properties["port_security_enabled"] is not False
            body["security_groups"] = self.default_groups() if secured else []
        return body

    def default_groups(self) -> list[str]:
        """The security groups of a port of which none are named."""
        owner = self.shown().get("tenant_id")
        found = self.collection("security_group").list(
            name="default", tenant_id=owner
        )
        return [each["id"] for each in found]

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        shown = self.shown()
        if name == "network":
            return self.collection("network").get(shown["network_id"])
        if name == "subnets":
            subnets = self.collection("subnet")
            return [
                subnets.get(each["subnet_id"])
                for each in shown.get("fixed_ips", ())
            ]
        return shown.get(name)

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        found["fixed_ips"] = [
            {"subnet": each["subnet_id"], "ip_address": each["ip_address"]}
            for each in resource_data.get("fixed_ips", ())
        ]
        return found

    def prepare_for_replace(self) -> None:
        """Give up the addresses, so that the new port can have them."""
        if self.resource_id is None:
            return
        if self.given_up in self.data():
            return
        held = self.shown().get("fixed_ips") or []
        floating = self.collection("floatingip").list(port_id=self.resource_id)
        self.data_set(
            self.given_up,
            json.dumps(
                {
                    "fixed_ips": held,
                    "floating": [
                        [each["id"], each.get("fixed_ip_address")]
                        for each in floating
                    ],
                }
            ),
        )
        # An address that a floating IP leads to can't be given up.
        for each in floating:
            self.collection("floatingip").update(each["id"], {"port_id": None})
        self.collection().update(self.resource_id, {"fixed_ips": []})

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take the addresses back."""
        held = self.data().get(self.given_up)
        if not held or self.resource_id is None:
            return
        told = json.loads(held)
        self.collection().update(
            self.resource_id, {"fixed_ips": told["fixed_ips"]}
        )
        for ident, address in told["floating"]:
            try:
                self.collection("floatingip").update(
                    ident,
                    {
                        "port_id": self.resource_id,
                        "fixed_ip_address": address,
                    },
                )
            except errors.NotFound:
                continue


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Port": Port}
