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

"""OS::Neutron::SubnetPool and AddressScope."""

from __future__ import annotations

from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class AddressScope(neutron.NeutronResource):
    """Where addresses mean one thing only: routers route within it."""

    support_status = support.SupportStatus(version="6.0.0")

    required_service_extension = "address-scope"
    entity = "address_scope"
    status_key = None
    properties_schema = notation.properties("""
        ip_version integer (=4, in [4, 6]) -- 4 or 6.
        name string (update) -- What it is called; made up when left out.
        shared boolean (update, =false) -- Whether all projects may use it;
            -- usually only an administrator may say so, and for good.
        tenant_id string (is keystone.project) -- Name or id of the project
            -- that owns it; only an administrator may name another one.
    """)
    finds = {"tenant_id": "keystone.project"}


#: shortest and longest prefix, by version of the protocol
_BOUNDS = {4: (8, 32), 6: (64, 128)}


class SubnetPool(neutron.NeutronResource):
    """Blocks of addresses that subnets are cut from."""

    support_status = support.SupportStatus(version="6.0.0")

    required_service_extension = "subnet_allocation"
    entity = "subnetpool"
    status_key = None
    mark_key = "description"
    properties_schema = notation.properties("""
        address_scope string (update, is neutron.address_scope) -- Name or id
            -- of the address scope that it is in.
        default_prefixlen integer (update, range 0..None) -- Length of the
            -- prefix of a subnet that asks for none.
        default_quota integer (update, range 0..None) -- How much a project
            -- may take: addresses of IPv4, /64 blocks of IPv6.
        is_default boolean (update, =false) -- Whether it is the default for
            -- its version of IP; only an administrator may say so.
        max_prefixlen integer (update, range 0..None) -- Longest prefix.
        min_prefixlen integer (update, range 0..None) -- Shortest prefix.
        name string (update) -- What it is called; made up when left out.
        prefixes list{* string (is net_cidr)} (required, update, len 1..None)
            -- Its blocks. They may only become more.
        shared boolean (=false) -- Whether all projects may use it; usually
            -- only an administrator may say so.
        tags list{* string} (update) -- Tags of the subnet pool.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
    """)
    body_keys = {"address_scope": "address_scope_id"}
    not_sent = frozenset({"tags"})
    finds = {"address_scope": "neutron.address_scope"}

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        # The service has no word for "as when it was left out".
        low, high = _BOUNDS[6 if ":" in properties["prefixes"][0] else 4]
        usual = {
            "min_prefixlen": low,
            "max_prefixlen": high,
            "default_prefixlen": properties["min_prefixlen"] or low,
        }
        for key, value in usual.items():
            if key in body and body[key] is None:
                body[key] = value
        return body


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::AddressScope": AddressScope,
        "OS::Neutron::SubnetPool": SubnetPool,
    }
