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

"""How the agent of a server learns what it has to deploy.

The agent (``os-collect-config``) reads the metadata of the server's resource,
again and again, as a user that is made for that. Where, and as whom, stands
in these metadata too, which the server is told at its first boot.
"""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import settings, stack_domain
from heat.engine.resources import stack_user
from heat.engine.software import deployments

#: key of the metadata
AGENT = "os-collect-config"

#: the key under which the agent finds what it has to deploy
DEPLOYMENTS = deployments.METADATA_KEY

TRANSPORT = "software_config_transport"
BY_CFN, BY_HEAT = "POLL_SERVER_CFN", "POLL_SERVER_HEAT"
_COLLECTORS = {BY_CFN: "cfn", BY_HEAT: "heat"}


class PolledServer(stack_user.StackUser):
    """A server whose agent asks for its metadata."""

    def configure_agent(self, properties: Any) -> dict[str, Any]:
        """Make the agent's user, and the metadata that tell of it.

        Without a domain for users of stacks there is no such user. That
        there are no deployments is told, too: whoever looks for them finds
        a list, from the beginning.

        :param properties: typed values by name
        :returns: the metadata, without the deployments
        :raises heat.common.exception.Error: the transport can't be had
        """
        metadata = self.metadata_get()
        listed = metadata.pop(DEPLOYMENTS, [])
        if self.has_stack_domain():
            self._tell_agent(metadata, properties[TRANSPORT])
        self.metadata_set({**metadata, DEPLOYMENTS: listed})
        return metadata

    def _tell_agent(self, metadata: dict[str, Any], transport: str) -> None:
        """Put into metadata where the agent asks, and as whom.

        :raises heat.common.exception.Error: the transport can't be had
        """
        if transport not in _COLLECTORS:
            raise exception.Error(
                _(
                    "The transport %(given)s is not available here; use one "
                    "of %(known)s."
                )
                % {
                    "given": transport,
                    "known": ", ".join(sorted(_COLLECTORS)),
                }
            )
        name = _COLLECTORS[transport]
        told = self._by_cfn() if transport == BY_CFN else self._by_heat()
        before = metadata.get(AGENT)
        if not isinstance(before, dict):
            before = {}
        others = _COLLECTORS.values()
        metadata[AGENT] = {
            **{k: v for k, v in before.items() if k not in others},
            "collectors": ["ec2", name, "local"],
            name: told,
        }

    def updated_metadata(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """The template's, and what the agent needs beside these."""
        now = self.metadata_get()
        kept = {key: now[key] for key in (AGENT, DEPLOYMENTS) if key in now}
        return {**wanted, **kept}

    def _by_cfn(self) -> dict[str, Any]:
        """What the agent needs to ask by signed requests."""
        url = self.cfn_url("", needed=True)
        self.create_keypair()
        data = self.data()
        return {
            "metadata_url": url,
            "access_key_id": data[self.ACCESS_KEY],
            "secret_access_key": data[self.SECRET_KEY],
            "stack_name": self.stack.name,
            "path": f"{self.name}.Metadata",
        }

    def _by_heat(self) -> dict[str, Any]:
        """What the agent needs to log in at Keystone."""
        return {
            "user_id": self.create_user(),
            "password": self.password,
            "auth_url": stack_domain.auth_url(),
            "project_id": self.stack_user_project_id(),
            "stack_id": f"{self.stack.name}/{self.stack.id}",
            "resource_name": self.name,
            "region_name": settings.option("region_name_for_services"),
        }
