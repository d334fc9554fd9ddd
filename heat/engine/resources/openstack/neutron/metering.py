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

"""OS::Neutron::MeteringLabel and MeteringRule."""

from __future__ import annotations

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class MeteringLabel(neutron.NeutronResource):
    """A name under which traffic of a project's routers is counted.

    Usually only an administrator may make one.
    """

    support_status = support.SupportStatus(version="2014.1")

    required_service_extension = "metering"
    entity = "metering_label"
    mark_key = "description"
    status_key = None
    properties_schema = notation.properties("""
        description string -- What is counted.
        name string -- What it is called; made up when left out.
        shared boolean (=false) -- Whether traffic of all projects is counted.
    """)
    attributes_schema = notation.attributes("""
        description string -- What is counted.
        name string -- What it is called.
        shared string -- Whether traffic of all projects is counted.
    """)


class MeteringRule(neutron.NeutronResource):
    """Which traffic is counted under a label."""

    support_status = support.SupportStatus(version="2014.1")

    required_service_extension = "metering"
    entity = "metering_label_rule"
    name_property = None
    status_key = None
    properties_schema = notation.properties("""
        direction string (="ingress", in ["ingress", "egress"]) -- Into the
            -- project's networks or out of them.
        excluded boolean (="False") -- The addresses are left out, and not
            -- counted.
        metering_label_id string (required) -- Name or id of the label.
        remote_ip_prefix string (required) -- The other side's addresses.
    """)
    attributes_schema = notation.attributes("""
        direction string -- Into the project's networks or out of them.
        excluded string -- Whether the addresses are left out.
        metering_label_id string -- The label.
        remote_ip_prefix string -- The other side's addresses.
    """)
    finds = {"metering_label_id": "neutron.metering_label"}


def resource_mapping() -> dict[str, type[neutron.NeutronResource]]:
    return {
        "OS::Neutron::MeteringLabel": MeteringLabel,
        "OS::Neutron::MeteringRule": MeteringRule,
    }
