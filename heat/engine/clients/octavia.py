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

"""The load balancing service, by openstacksdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import collection as objects
from heat.engine.clients import sdk

_ROOT = "/lbaas"


class Zones(objects.Rest):
    """Availability zones, which have no id but their name."""

    def _inner(self, body: Any) -> dict[str, Any]:
        found = super()._inner(body)
        return {"id": found["name"], **found} if "name" in found else found


class OctaviaPlugin(sdk.SdkPlugin):
    """Load balancers and what belongs to them."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["load-balancer"]
    service: ClassVar[str] = "octavia"
    proxy_name: ClassVar[str] = "load_balancer"
    #: Those whose key and path aren't the entity.
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "availability_zone": {"path": "/availabilityzones"},
        "availability_zone_profile": {"path": "/availabilityzoneprofiles"},
        "flavorprofile": {"what": "flavor profile"},
        "healthmonitor": {"what": "health monitor"},
        "l7policy": {"plural": "l7policies", "what": "L7 policy"},
        "loadbalancer": {"what": "load balancer"},
        "quotas": {"key": "quota", "plural": "quotas"},
    }

    def collection(self, entity: str) -> objects.Rest:
        arguments: dict[str, Any] = {"key": entity, "plural": f"{entity}s"}
        arguments.update(self.entities.get(entity, {}))
        path = arguments.pop("path", f"/{arguments['plural']}")
        kind = Zones if entity == "availability_zone" else objects.Rest
        return kind(
            self.service, self.adapter, path=f"{_ROOT}{path}", **arguments
        )

    def members_of(self, pool: str) -> objects.Rest:
        """The members of a pool."""
        return objects.Rest(
            self.service,
            self.adapter,
            key="member",
            plural="members",
            path=f"{_ROOT}/pools/{pool}/members",
        )

    def rules_of(self, policy: str) -> objects.Rest:
        """The rules of an L7 policy."""
        return objects.Rest(
            self.service,
            self.adapter,
            key="rule",
            plural="rules",
            path=f"{_ROOT}/l7policies/{policy}/rules",
            what="L7 rule",
        )
