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

"""OS::Neutron::RouterGateway, which templates of the first years name."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import link, notation
from heat.engine.resources.openstack.neutron import implied, neutron


class RouterGateway(link.Link, neutron.NeutronResource):
    """A router's way out; external_gateway_info of the router says more."""

    support_status = support.SupportStatus(
        support.HIDDEN,
        message=_("Use the property external_gateway_info of the router."),
    )
    entity = "router"
    properties_schema = notation.properties("""
        network string (is neutron.network) -- Name or id of the external
            -- network.
        network_id string (hidden, is neutron.network) -- Old name of network.
        router_id string (required, is neutron.router) -- Name or id of the
            -- router.
    """)
    finds = {"network": "neutron.network", "router_id": "neutron.router"}
    renamed = {"network_id": "network"}

    implicit_dependencies = staticmethod(implied.of_router_gateway)

    def validate(self) -> None:
        super().validate()
        given = self.properties.data.get
        if given("network") is None and given("network_id") is None:
            raise exception.PropertyUnspecifiedError("network", "network_id")

    def _parts(self) -> tuple[str, str]:
        """The router and the network."""
        router, _colon, network = (self.resource_id or "").partition(":")
        return router, network

    def connect(self, properties: Any) -> None:
        router = properties["router_id"]
        network = properties["network"]
        self.resource_id_set(f"{router}:{network}")
        self.collection().update(
            router, {"external_gateway_info": {"network_id": network}}
        )

    def remove_object(self) -> None:
        """Close the way out, unless another leads elsewhere meanwhile."""
        router, network = self._parts()
        info = self.collection().get(router).get("external_gateway_info")
        if info and info.get("network_id") == network:
            self.collection().update(router, {"external_gateway_info": {}})

    def shown(self) -> dict[str, Any]:
        """The router's way out."""
        router, network = self._parts()
        info = self.collection().get(router).get("external_gateway_info")
        if not info or info.get("network_id") != network:
            raise exception.EntityNotFound(
                entity="Router gateway", name=self.resource_id
            )
        return dict(info)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::RouterGateway": RouterGateway}
