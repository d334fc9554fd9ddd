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

"""OS::Neutron::ProviderNet."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron


class ProviderNet(neutron.NeutronResource):
    """A network whose place in the data centre is said.

    Usually only an administrator may make one.
    """

    required_service_extension = "provider"
    entity = "network"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it carries traffic.
        availability_zone_hints list (update) -- Zones that its agents should
            -- be in.
        dns_domain string (update, is dns_domain) -- Domain of its ports'
            -- DNS names, with the dot at the end.
        name string (update) -- What it is called; made up when left out.
        network_type string (required, update, in ["local", "vlan", "vxlan",
            "gre", "geneve", "flat"]) -- How it is separated from others.
        physical_network string (update) -- Name of the physical network that
            -- it is on.
        port_security_enabled boolean (update) -- Default of its ports:
            -- whether security groups and anti-spoofing apply.
        router_external boolean (update, =false) -- Whether routers may have
            -- their way out here.
        segmentation_id string (update) -- VLAN or tunnel that it is.
        shared boolean (update, =true) -- Whether all projects may use it.
        tags list{* string} (update) -- Tags of the network.
        tenant_id string -- Project that owns it.
    """)
    attributes_schema = notation.attributes("""
        segments list -- Its segments, with type, network and id.
        status string -- Its state.
        subnets list -- Ids of its subnets.
    """)
    body_keys = {
        "network_type": "provider:network_type",
        "physical_network": "provider:physical_network",
        "router_external": "router:external",
        "segmentation_id": "provider:segmentation_id",
    }
    not_sent = frozenset({"tags"})
    cleared = {"physical_network": None, "segmentation_id": None}

    def validate(self) -> None:
        super().validate()
        kind = self.properties["network_type"]
        given = self.properties.data.get
        if kind in ("flat", "local") and given("segmentation_id") is not None:
            raise exception.StackValidationFailed(
                path=["properties", "segmentation_id"],
                message=_("A network of the type %s has none.") % kind,
            )
        if kind in ("flat", "vlan") and given("physical_network") is None:
            raise exception.StackValidationFailed(
                path=["properties", "physical_network"],
                message=_("A network of the type %s needs it.") % kind,
            )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::ProviderNet": ProviderNet}
