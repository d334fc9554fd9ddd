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

"""OS::Neutron::ExtraRouteSet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import implied, neutron


class ExtraRouteSet(neutron.NeutronResource):
    """Static routes of a router, beside those that others gave it."""

    required_service_extension = "extraroute-atomic"
    entity = "router"
    name_property = None
    status_key = None
    properties_schema = notation.properties("""
        router string (required, is neutron.router) -- Name or id of the
            -- router.
        routes list{* map{
            destination string (required, is net_cidr) -- Where to.
            nexthop string (required, is ip_addr) -- By which address.
        }} (update, =[]) -- The routes.
    """)
    finds = {"router": "neutron.router"}
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

    def handle_create(self) -> Any:
        self.resource_id_set(self.properties["router"])
        self._ask("add", self._routes(self.properties))
        return None

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if prop_diff:
            before = self._routes(self.properties)
            after = self._routes(self.properties_of(json_snippet))
            self._ask("remove", [each for each in before if each not in after])
            # To add one that is there already is no error.
            self._ask("add", after)
        return None

    def delete_object(self) -> bool:
        try:
            self._ask("remove", self._routes(self.properties))
        except errors.NotFound:
            return True
        return True

    def handle_check(self) -> None:
        missing = [
            f"{each['destination']} by {each['nexthop']}"
            for each in self._routes(self.properties)
            if each not in self.shown().get("routes", ())
        ]
        if missing:
            raise exception.EntityNotFound(
                entity="Route", name=", ".join(missing)
            )

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The routes of the set: the router's others are not its business."""
        live = resource_data.get("routes") or []
        wanted = self._routes(resource_properties)
        return {"routes": [each for each in wanted if each in live]}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::ExtraRouteSet": ExtraRouteSet}
