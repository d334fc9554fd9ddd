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

"""OS::Heat::DeployedServer: a server that somebody else has made."""

from __future__ import annotations

from typing import Any

from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import server_agent


class DeployedServer(server_agent.PolledServer):
    """A machine that is there already, for software deployments.

    Nothing is made. The agent of the machine finds its deployments in the
    metadata of this resource.
    """

    # A machine is where it is; nothing could be made anew.
    always_replace_on_check_failed = False

    NAME, METADATA, CONFIG = "name", "metadata", "os_collect_config"

    properties_schema = notation.properties("""
        deployment_swift_data map{
            container string (len 1..None) -- Container of the object.
            object string (len 1..None) -- Object that metadata is put into.
        } (update, ={}) -- Where software deployments are polled from.
        metadata map (update, deprecated) -- Keys and values that are kept
        -- with it.
        name string (update) -- What it is called; made up when left out.
        software_config_transport string (update, ="POLL_SERVER_CFN", in
            ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL",
            "ZAQAR_MESSAGE"]) -- How it learns of software deployments.
    """)
    attributes_schema = notation.attributes("""
        name string -- What it is called.
        os_collect_config map -- What the machine's agent is configured with.
    """)

    def handle_create(self) -> None:
        # Deployments name it by this id.
        self.resource_id_set(self.uuid)
        self.configure_agent(self.properties)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        """The name is read when it is asked for."""
        if server_agent.AGENT_PROPERTIES & prop_diff.keys():
            self.configure_agent(self.properties_of(json_snippet))

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == self.NAME:
            return self.properties[self.NAME] or self.physical_resource_name()
        found = self.metadata_get().get(server_agent.AGENT)
        return found if isinstance(found, dict) else {}


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::DeployedServer": DeployedServer}
