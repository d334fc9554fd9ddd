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
"""OS::Neutron::QoSPolicy and the rules of one."""

from __future__ import annotations

from typing import Any

from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class QoSPolicy(neutron.NeutronResource):
    """A set of rules of how well networks and ports are served."""

    required_service_extension = "qos"
    entity = "qos_policy"
    status_key = None
    mark_key = "description"
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        name string (update) -- What it is called; made up when left out.
        shared boolean (update, =false) -- Whether all projects may use it.
        tenant_id string -- Project that owns it.
    """)
    attributes_schema = notation.attributes("""
        rules list -- Its rules.
    """)


# What every rule has.
_OF_A_POLICY = """
        policy string (required, is neutron.qos_policy) -- Name or id of the
            -- policy.
        tenant_id string -- Project that owns it.
    """


class QoSRule(neutron.NeutronResource):
    """A rule of one policy, which it goes with."""

    required_service_extension = "qos"
    status_key = None
    name_property = None
    not_sent = frozenset({"policy"})
    finds = {"policy": "neutron.qos_policy"}

    def collection(self, entity: str | None = None) -> Any:
        """The rules of this kind that the policy has."""
        if entity is not None:
            return super().collection(entity)
        policy = self.owner("policy", "rules", "qos_policy")
        return self.client_plugin().rules_of(policy, self.entity)


class QoSBandwidthLimitRule(QoSRule):
    """The most that may pass."""

    entity = "bandwidth_limit_rule"
    properties_schema = notation.properties(
        """
        direction string (update, ="egress", in ["egress", "ingress"])
            -- Which traffic it is about, as the guest sees it.
        max_burst_kbps integer (update, =0, range 0..None) -- How much more
            -- for a moment, in kbit; 0: the service chooses.
        max_kbps integer (required, update, range 0..None) -- The most, in
            -- kbit/s.
    """
        + _OF_A_POLICY
    )


class QoSDscpMarkingRule(QoSRule):
    """How packets are marked."""

    entity = "dscp_marking_rule"
    properties_schema = notation.properties(
        """
        dscp_mark integer (required, update, in [0, 8, 10, 12, 14, 16, 18, 20,
            22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 46, 48, 56]) -- The mark.
    """
        + _OF_A_POLICY
    )


class QoSMinimumBandwidthRule(QoSRule):
    """The least that is to be had."""

    entity = "minimum_bandwidth_rule"
    properties_schema = notation.properties(
        """
        direction string (update, ="egress", in ["egress", "ingress"])
            -- Which traffic it is about, as the guest sees it.
        min_kbps integer (required, update, range 0..None) -- The least, in
            -- kbit/s.
    """
        + _OF_A_POLICY
    )


class QoSMinimumPacketRateRule(QoSRule):
    """The fewest packets that are to be had."""

    entity = "minimum_packet_rate_rule"
    properties_schema = notation.properties(
        """
        direction string (update, ="egress", in ["any", "egress", "ingress"])
            -- Which traffic it is about, as the guest sees it.
        min_kpps integer (required, update, range 0..None) -- The fewest, in
            -- thousand packets/s.
    """
        + _OF_A_POLICY
    )


def resource_mapping() -> dict[str, Any]:
    return {
        f"OS::Neutron::{cls.__name__}": cls
        for cls in (
            QoSPolicy,
            QoSBandwidthLimitRule,
            QoSDscpMarkingRule,
            QoSMinimumBandwidthRule,
            QoSMinimumPacketRateRule,
        )
    }
