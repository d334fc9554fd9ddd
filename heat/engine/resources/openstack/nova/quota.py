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

"""OS::Nova::Quota."""

from __future__ import annotations

from typing import Any

from heat.engine.resource import notation
from heat.engine.resources import quota

#: Limits that newer versions of the API refuse, and the newest that takes
#: all of them.
_OLD_VERSION = "2.35"
_OF_OLD = frozenset(
    {
        "fixed_ips",
        "floating_ips",
        "injected_file_content_bytes",
        "injected_file_path_bytes",
        "injected_files",
        "security_group_rules",
        "security_groups",
    }
)


class Quota(quota.Quota):
    """How much a project may have in the compute service.

    Usually only an administrator may say so. -1 is no limit; what is left
    out stays at the service's default.
    """

    default_client_name = "nova"
    entity = "quotas"
    properties_schema = notation.properties("""
        cores integer (update, range -1..None) -- Processors of all servers
            -- together.
        fixed_ips integer (update, range -1..None) -- Addresses of servers;
            -- without effect where networks are Neutron's.
        floating_ips integer (update, range -1..None) -- Floating IPs;
            -- without effect where networks are Neutron's.
        injected_file_content_bytes integer (update, deprecated,
            range -1..None) -- Bytes of a file that is written into a server.
        injected_file_path_bytes integer (update, deprecated,
            range -1..None) -- Bytes of such a file's path.
        injected_files integer (update, deprecated, range -1..None) -- Such
            -- files.
        instances integer (update, range -1..None) -- Servers.
        key_pairs integer (update, range -1..None) -- Key pairs.
        metadata_items integer (update, range -1..None) -- Keys in the
            -- metadata of one server.
        project string (required, is keystone.project) -- Name or id of the
            -- project.
        ram integer (update, range -1..None) -- MiB of memory of all servers
            -- together.
        security_group_rules integer (update, range -1..None) -- Rules of a
            -- security group; without effect where networks are Neutron's.
        security_groups integer (update, range -1..None) -- Security groups;
            -- without effect where networks are Neutron's.
        server_group_members integer (update, range -1..None) -- Servers in
            -- one server group.
        server_groups integer (update, range -1..None) -- Server groups.
    """)

    def collection(self, entity: str | None = None) -> Any:
        given = self.properties_of(self.target).given()
        old = _OF_OLD.intersection(given)
        return self.client_plugin().collection(
            entity or self.entity, _OLD_VERSION if old else None
        )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::Quota": Quota}
