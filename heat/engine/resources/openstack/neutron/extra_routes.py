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

"""OS::Neutron::ExtraRouteSet and ExtraRoute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import link, notation
from heat.engine.resources.openstack.neutron import implied, neutron


class ExtraRouteSet(link.Link, neutron.NeutronResource):
    """Static routes of a router, beside those that others gave it."""

    support_status = support.SupportStatus(version="14.0.0")

    required_service_extension = "extraroute-atomic"
    entity = "router"
    properties_schema = notation.properties("""
        router string (required, is neutron.router) -- Name or id of the
            -- router.
        routes list{* map{
            destination string (required, is net_cidr) -- Where to.
            nexthop string (required, is ip_addr) -- By which address.
        }} (update, =[]) -- The routes.
    """)
    finds = {"router": "neutron.router"}
    #: the property that names the router
    router_property: ClassVar[str] = "router"
    implicit_dependencies = staticmethod(implied.of_extra_routes)

    def _ask(self, verb: str, routes: list[dict[str, Any]]) -> None:
        if routes:
            self.collection().request(
                "PUT",
                f"/{self.resource_id}/{verb}_extraroutes",
                json={"router": {"routes": routes}},
            )

    @staticmethod
    def _routes(properties: Any) -> list[dict[str, Any]]:
        return [dict(each) for each in properties["routes"] or ()]

    def connect(self, properties: Any) -> None:
        self.resource_id_set(properties[self.router_property])
        # To add one that is there already is no error.
        self._ask("add", self._routes(properties))

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if prop_diff:
            before = self._routes(self.properties)
            after = self._routes(self.properties_of(json_snippet))
            self._ask("remove", [each for each in before if each not in after])
        return super().handle_update(json_snippet, tmpl_diff, prop_diff)

    def remove_object(self) -> None:
        self._ask("remove", self._routes(self.properties))

    def shown(self) -> dict[str, Any]:
        """The router, which has the routes."""
        found = super().shown()
        missing = [
            f"{each['destination']} by {each['nexthop']}"
            for each in self._routes(self.properties)
            if each not in found.get("routes", ())
        ]
        if missing:
            raise exception.EntityNotFound(
                entity="Route", name=", ".join(missing)
            )
        return found

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        # That they are there is known; the router's others don't matter.
        return {}


class ExtraRoute(ExtraRouteSet):
    """One static route of a router, beside those that others gave it."""

    support_status = support.SupportStatus(
        support.UNSUPPORTED,
        message=_("Use OS::Neutron::ExtraRouteSet."),
    )
    properties_schema = notation.properties("""
        destination string (required) -- Where to.
        nexthop string (required) -- By which address.
        router_id string (required, is neutron.router) -- Name or id of the
            -- router.
    """)
    finds = {"router_id": "neutron.router"}
    router_property = "router_id"

    @staticmethod
    def _routes(properties: Any) -> list[dict[str, Any]]:
        return [{key: properties[key] for key in ("destination", "nexthop")}]


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::ExtraRoute": ExtraRoute,
        "OS::Neutron::ExtraRouteSet": ExtraRouteSet,
    }
