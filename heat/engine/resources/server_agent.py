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
again and again, as a user that is made for that; or, where it can't reach the
API, a copy of them in an object store or in a queue. Where, and as whom, is
told in these metadata too, which the server gets at its first boot.
"""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import (
    message_queue,
    settings,
    stack_domain,
)
from heat.engine.resources import signal_box, stack_user
from heat.engine.software import deployments

#: key of the metadata
AGENT = "os-collect-config"

#: the key under which the agent finds what it has to deploy
DEPLOYMENTS = deployments.METADATA_KEY

TRANSPORT, WHERE = "software_config_transport", "deployment_swift_data"
#: What the agent is configured by.
AGENT_PROPERTIES = frozenset({TRANSPORT, WHERE})
BY_CFN, BY_HEAT = "POLL_SERVER_CFN", "POLL_SERVER_HEAT"
BY_URL, BY_QUEUE = "POLL_TEMP_URL", "ZAQAR_MESSAGE"
_COLLECTORS = {
    BY_CFN: "cfn",
    BY_HEAT: "heat",
    BY_URL: "request",
    BY_QUEUE: "zaqar",
}

# Keys of the data: where the copy of the metadata is.
_CONTAINER, _OBJECT = "metadata_container", "metadata_object"


class PolledServer(stack_user.StackUser):
    """A server whose agent asks for its metadata."""

    def asks_services(self) -> bool:
        return super().asks_services() or self._is_copied()

    def _is_copied(self) -> bool:
        """Whether its metadata are put into an object store, as far as its
        properties say; what is wrong with them their check tells."""
        if TRANSPORT not in self.properties_schema:
            return False
        try:
            return bool(self.properties[TRANSPORT] == BY_URL)
        except (exception.HeatException, ValueError):
            return False

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
        told = self._agent_told(properties)
        if told:
            before = metadata.get(AGENT)
            if not isinstance(before, dict):
                before = {}
            others = _COLLECTORS.values()
            metadata[AGENT] = {
                **{k: v for k, v in before.items() if k not in others},
                "collectors": ["ec2", *told, "local"],
                **told,
            }
        self.metadata_set({**metadata, DEPLOYMENTS: listed})
        return metadata

    def _agent_told(self, properties: Any) -> dict[str, Any]:
        """Where the agent asks, and as whom, by the name of its collector.

        :raises heat.common.exception.Error: the transport can't be had
        """
        transport = properties[TRANSPORT]
        if transport == BY_URL and signal_box.is_available(self):
            return {_COLLECTORS[BY_URL]: self._by_url(properties[WHERE] or {})}
        if not self.has_stack_domain():
            return {}
        ways = {BY_CFN: self._by_cfn, BY_HEAT: self._by_heat}
        if transport == BY_QUEUE and message_queue.endpoint():
            ways[BY_QUEUE] = self._by_queue
        if transport not in ways:
            raise exception.Error(
                _(
                    "The transport %(given)s is not available here; use one "
                    "of %(known)s."
                )
                % {"given": transport, "known": ", ".join(sorted(ways))}
            )
        return {_COLLECTORS[transport]: ways[transport]()}

    # -- by messages ---------------------------------------------------------

    def _by_queue(self) -> dict[str, Any]:
        """What the agent needs to read the queue, as its user."""
        place = message_queue.Place(
            self.user_name(),
            self.stack_user_project_id() or "",
            self.create_user(),
            self.password or "",
        )
        message_queue.Queue(place).make()
        self.data_set(deployments.METADATA_QUEUE, place.text())
        return {
            "user_id": place.user_id,
            "password": place.password,
            "auth_url": stack_domain.auth_url(),
            "project_id": place.project_id,
            "queue_id": place.name,
            "region_name": settings.option("region_name_for_services"),
        }

    # -- the copy in an object store -----------------------------------------

    def metadata_set(self, metadata: Any, merge_metadata: Any = None) -> None:
        super().metadata_set(metadata, merge_metadata)
        deployments.tell(self.data(), self.metadata_get())

    def _by_url(self, where: dict[str, Any]) -> dict[str, Any]:
        """What the agent needs to read the copy."""
        container = signal_box.container(self, where.get("container"))
        name = where.get("object") or str(self.uuid)
        before = self.data()
        if _OBJECT in before and (container.name, name) != (
            before[_CONTAINER],
            before[_OBJECT],
        ):
            self._drop_copy()
        key = container.own_key()
        self.data_set(_CONTAINER, container.name)
        self.data_set(_OBJECT, name)
        url = container.url(name, "PUT", key)
        self.data_set(deployments.METADATA_URL, url, redact=True)
        return {"metadata_url": container.url(name, "GET", key)}

    def _drop_copy(self) -> None:
        """Delete the copy; of a container that the user has named, no more
        than that."""
        data = self.data()
        if _OBJECT not in data:
            return
        own = signal_box.container(self)
        if data[_CONTAINER] == own.name:
            own.delete()
        else:
            signal_box.container(self, data[_CONTAINER]).remove(data[_OBJECT])
        for key in (_CONTAINER, _OBJECT, deployments.METADATA_URL):
            self.data_delete(key)

    def delete_user(self) -> None:
        signal_box.drop_queue(self, deployments.METADATA_QUEUE)
        super().delete_user()
        self._drop_copy()

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
