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

"""OS::Octavia::Quota."""

from __future__ import annotations

from typing import Any

from heat.engine.resource import notation
from heat.engine.resources import quota


class Quota(quota.Quota):
    """How much a project may have of load balancing.

    Usually only an administrator may say so. -1 is no limit; what is left
    out stays at the service's default.
    """

    default_client_name = "octavia"
    entity = "quotas"
    properties_schema = notation.properties("""
        healthmonitor integer (update, range -1..None) -- Health monitors.
        listener integer (update, range -1..None) -- Listeners.
        loadbalancer integer (update, range -1..None) -- Load balancers.
        member integer (update, range -1..None) -- Members of all pools
            -- together.
        pool integer (update, range -1..None) -- Pools.
        project string (required, is keystone.project) -- Name or id of the
            -- project.
    """)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Octavia::Quota": Quota}
