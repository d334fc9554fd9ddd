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

"""OS::Octavia::HealthMonitor."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.octavia import octavia

_OF_HTTP = ("expected_codes", "http_method", "url_path")


class HealthMonitor(octavia.Leaf):
    """Asks the members of a pool whether they are well."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "healthmonitor"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it asks.
        delay integer (required, update, range 0..None) -- Seconds from one
            -- question to the next.
        expected_codes string (update) -- HTTP statuses of who is well, such
            -- as 200-204.
        http_method string (update, in ["GET", "HEAD", "POST", "PUT",
            "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH"]) -- The HTTP
            -- method of a question.
        max_retries integer (required, update, range 1..10) -- Good answers
            -- in a row that show that a member is well again.
        pool string (required, is octavia.pool) -- Name or id of the pool.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
        timeout integer (required, update, range 0..None) -- Seconds that a
            -- member has to answer.
        type string (required, in ["PING", "TCP", "HTTP", "HTTPS",
            "UDP-CONNECT"]) -- How it asks.
        url_path string (update) -- What is asked for by HTTP.
    """)
    attributes_schema = notation.attributes("""
        pools list -- The pool: id.
    """)
    body_keys = {"pool": "pool_id", "tenant_id": "project_id"}
    finds = {"pool": "octavia.pool"}
    cleared = dict.fromkeys(_OF_HTTP)

    def validate(self) -> None:
        super().validate()
        if self.properties["type"] in ("HTTP", "HTTPS"):
            return
        for name in _OF_HTTP:
            if self.properties[name] is not None:
                raise rest.refused(
                    name, _("Only the types HTTP and HTTPS have it.")
                )

    def in_its_place(self) -> list[dict[str, Any]]:
        pool = self.collection("pool").get(self.properties["pool"])
        other = pool.get("healthmonitor_id")
        return [] if other is None else [self.collection().get(other)]


def resource_mapping() -> dict[str, Any]:
    return {"OS::Octavia::HealthMonitor": HealthMonitor}
