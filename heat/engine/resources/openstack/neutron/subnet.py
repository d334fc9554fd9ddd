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

"""OS::Neutron::Subnet."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class Subnet(neutron.NeutronResource):
    """A block of addresses on a network, for its ports."""

    entity = "subnet"
    mark_key = "description"
    properties_schema = notation.properties("""
        allocation_pools list{* map{
            end string (required, is ip_addr) -- Last address.
            start string (required, is ip_addr) -- First address.
        }} (update) -- Ranges that addresses are given out from; all but the
            -- gateway when left out.
        cidr string (is net_cidr) -- The block, such as 10.0.0.0/24.
        dns_nameservers list (update, =[]) -- Name servers that DHCP tells.
        enable_dhcp boolean (update, =true) -- Whether DHCP is served.
        gateway_ip string (update) -- The gateway; "" for none, the first
            -- address when left out.
        host_routes list{* map{
            destination string (required, is net_cidr) -- Where to.
            nexthop string (required, is ip_addr) -- By which address.
        }} (update) -- Routes that DHCP tells.
        ip_version integer (=4, in [4, 6]) -- 4 or 6.
        ipv6_address_mode string (in ["dhcpv6-stateful", "dhcpv6-stateless",
            "slaac"]) -- How IPv6 addresses are given.
        ipv6_ra_mode string (in ["dhcpv6-stateful", "dhcpv6-stateless",
            "slaac"]) -- What routers advertise.
        name string (update) -- What it is called; made up when left out.
        network string (required, is neutron.network) -- Name or id of its
            -- network.
        network_id string (hidden, is neutron.network) -- Old name of network.
        prefixlen integer (range 0..None) -- Length of the prefix that is
            -- taken from the subnet pool.
        segment string (update, is neutron.segment) -- Name or id of the
            -- segment it is on.
        subnetpool string (is neutron.subnetpool) -- Name or id of the pool
            -- that its block is taken from.
        tags list{* string} (update) -- Tags of the subnet.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
        value_specs map (update, ={}) -- Further attributes, as the service
            -- takes them.
    """)
    attributes_schema = notation.attributes("""
        allocation_pools list -- Ranges that addresses are given out from.
        cidr string -- The block.
        dns_nameservers list -- Name servers that DHCP tells.
        enable_dhcp string -- Whether DHCP is served.
        gateway_ip string -- The gateway.
        host_routes list -- Routes that DHCP tells.
        ip_version string -- 4 or 6.
        name string -- What it is called.
        network_id string -- Its network.
        tenant_id string -- Project that owns it.
    """)
    body_keys = {
        "network": "network_id",
        "segment": "segment_id",
        "subnetpool": "subnetpool_id",
    }
    not_sent = frozenset({"tags"})
    cleared = {"gateway_ip": None}
    finds = {
        "network": "neutron.network",
        "segment": "neutron.segment",
        "subnetpool": "neutron.subnetpool",
    }
    renamed = {"network_id": "network"}
    extra_property = "value_specs"
    status_key = None

    def validate(self) -> None:
        super().validate()
        props = self.properties
        # A value that is not known before something else is made counts.
        given = props.data.get
        has_pool = given("subnetpool") is not None
        if (given("cidr") is not None) == has_pool:
            raise exception.StackValidationFailed(
                path=["properties"],
                message=_(
                    "A subnet takes its block from either cidr or subnetpool: "
                    "give one of the two."
                ),
            )
        if given("prefixlen") is not None and not has_pool:
            raise exception.ResourcePropertyDependency(
                prop1="prefixlen", prop2="subnetpool"
            )
        if props["ip_version"] == 4 and (
            props["ipv6_ra_mode"] or props["ipv6_address_mode"]
        ):
            raise exception.StackValidationFailed(
                path=["properties"],
                message=_(
                    "ipv6_ra_mode and ipv6_address_mode need ip_version 6."
                ),
            )

    def rendered(self, path: str, value: Any) -> Any:
        if path == "gateway_ip" and value == "":
            return None
        return super().rendered(path, value)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Subnet": Subnet}
