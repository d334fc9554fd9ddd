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

"""OS::Neutron::Net."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class Net(neutron.NeutronResource):
    """A network: a segment that ports are on.

    A server reaches others through a port on a network; a network gets its
    addresses from its subnets.
    """

    entity = "network"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it carries traffic.
        availability_zone_hints list -- Zones that its agents should be in.
        dhcp_agent_ids list (update) -- DHCP agents that serve it; only an
            -- administrator may say so.
        dns_domain string (update, is dns_domain) -- Domain of its ports'
            -- DNS names, with the dot at the end.
        name string (update) -- What it is called; made up when left out.
        port_security_enabled boolean (update) -- Default of its ports:
            -- whether security groups and anti-spoofing apply.
        qos_policy string (update, is neutron.qos_policy) -- Name or id of
            -- the QoS policy.
        shared boolean (update, =false) -- Whether all projects may use it;
            -- usually only an administrator may say so.
        tags list{* string} (update) -- Tags of the network.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
        value_specs map (update, ={}) -- Further attributes, as the service
            -- takes them.
    """)
    attributes_schema = notation.attributes("""
        admin_state_up string -- Whether it carries traffic.
        l2_adjacency boolean -- Whether its ports reach one another on layer 2.
        mtu integer -- Largest packet, in bytes.
        name string -- What it is called.
        port_security_enabled boolean -- Default of its ports.
        qos_policy_id string -- Its QoS policy.
        segments list -- Its segments, with type, network and id.
        status string -- Its state.
        subnets list -- Ids of its subnets.
        tenant_id string -- Project that owns it.
    """)
    body_keys = {"qos_policy": "qos_policy_id"}
    not_sent = frozenset({"tags", "dhcp_agent_ids"})
    finds = {"qos_policy": "neutron.qos_policy"}
    extra_property = "value_specs"

    def finish_create(self, properties: Any) -> None:
        super().finish_create(properties)
        if properties["dhcp_agent_ids"]:
            self._serve_by(properties["dhcp_agent_ids"])

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        super().finish_update(changed, properties)
        if "dhcp_agent_ids" in changed:
            self._serve_by(properties["dhcp_agent_ids"] or [])

    def _serve_by(self, wanted: list[str]) -> None:
        """Let exactly these DHCP agents serve the network."""
        found = self.collection().request(
            "GET", f"/{self.resource_id}/dhcp-agents"
        )
        now = {each["id"] for each in found["agents"]}
        agents = self.collection("agent")
        for agent in sorted(now - set(wanted)):
            agents.request(
                "DELETE", f"/{agent}/dhcp-networks/{self.resource_id}"
            )
        for agent in sorted(set(wanted) - now):
            agents.request(
                "POST",
                f"/{agent}/dhcp-networks",
                json={"network_id": self.resource_id},
            )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::Net": Net}
