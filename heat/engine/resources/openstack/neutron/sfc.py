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

"""OS::Neutron::FlowClassifier and PortPair, parts of service chains."""

from __future__ import annotations

from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class FlowClassifier(neutron.NeutronResource):
    """Which traffic goes through a chain of services."""

    support_status = support.SupportStatus(
        support.UNSUPPORTED, version="8.0.0"
    )
    required_service_extension = "flow_classifier"
    entity = "flow_classifier"
    mark_key = "description"
    status_key = None
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        destination_ip_prefix string (is net_cidr) -- Where the traffic goes.
        destination_port_range_max integer (range 1..65535) -- Highest port
            -- that it goes to.
        destination_port_range_min integer (range 1..65535) -- Lowest port
            -- that it goes to.
        ethertype string (="IPv4", in ["IPv4", "IPv6"]) -- IPv4 or IPv6.
        l7_parameters map (unsupported) -- Further attributes, as the service
            -- takes them.
        logical_destination_port string (is neutron.port) -- Name or id of the
            -- port that it goes to.
        logical_source_port string (is neutron.port) -- Name or id of the port
            -- that it comes from.
        name string (update) -- What it is called; made up when left out.
        protocol string (in ["tcp", "udp", "icmp"]) -- Its protocol; any when
            -- left out.
        source_ip_prefix string (is net_cidr) -- Where the traffic comes from.
        source_port_range_max integer (range 1..65535) -- Highest port that it
            -- comes from.
        source_port_range_min integer (range 1..65535) -- Lowest port that it
            -- comes from.
    """)
    finds = {
        "logical_destination_port": "neutron.port",
        "logical_source_port": "neutron.port",
    }


class PortPair(neutron.NeutronResource):
    """The way into a service of a chain, and out of it."""

    support_status = support.SupportStatus(
        support.UNSUPPORTED, version="7.0.0"
    )
    required_service_extension = "sfc"
    entity = "port_pair"
    mark_key = "description"
    status_key = None
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        egress string (required, is neutron.port) -- Name or id of the port
            -- that traffic comes out of.
        ingress string (required, is neutron.port) -- Name or id of the port
            -- that traffic goes into; it may be the same.
        name string (update) -- What it is called; made up when left out.
        service_function_parameters map (={"correlation": null}) -- What the
            -- service understands of chains.
    """)
    finds = {"egress": "neutron.port", "ingress": "neutron.port"}


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::FlowClassifier": FlowClassifier,
        "OS::Neutron::PortPair": PortPair,
    }
