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

"""OS::Nova::ServerGroup."""

from __future__ import annotations

from typing import Any

from heat.engine import support
from heat.engine.resource import notation, rest


class ServerGroup(rest.RestResource):
    """Servers that should, or should not, share a host."""

    support_status = support.SupportStatus(version="2014.2")

    default_client_name = "nova"
    entity = "server_groups"
    properties_schema = notation.properties("""
        name string -- What it is called; made up when left out.
        policies list{* string} (=["anti-affinity"], in ["anti-affinity",
            "affinity", "soft-anti-affinity", "soft-affinity"]) -- How its
            -- servers are placed; the service takes one policy.
        rules map{
            max_server_per_host number -- Most servers on one host, for the
                -- policy anti-affinity.
        } -- Rules of the policy.
    """)
    body_keys = {"policies": "policy"}

    def rendered(self, path: str, value: Any) -> Any:
        if path == "policies":
            return value[0] if value else None
        if path == "rules":
            return {
                key: int(each) for key, each in value.items() if each
            } or None
        return super().rendered(path, value)

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        return {key: each for key, each in body.items() if each is not None}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::ServerGroup": ServerGroup}
