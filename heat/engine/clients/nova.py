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

"""The compute service, by python-novaclient."""

from __future__ import annotations

from typing import Any, ClassVar

from novaclient import api_versions
from novaclient import client as nova_client
from novaclient import exceptions as nova_exceptions

from heat.common import exception
from heat.engine.clients import client_plugin, collection, errors, settings

#: The newest that a request asks for: types of boot volumes came with it.
MICROVERSION = "2.67"
#: The state of a server that is being deleted.
DELETING = "deleting"


def _plain(made: Any) -> dict[str, Any]:
    return dict(made.to_dict())


def _keypair(made: Any) -> dict[str, Any]:
    """A key pair has no id but its name; lists wrap each once more."""
    found = _plain(made)
    found = found.get("keypair", found)
    return {**found, "id": found["name"]}


class NovaPlugin(client_plugin.ClientPlugin):
    """Servers, flavors, key pairs and server groups."""

    exceptions_module: ClassVar[Any] = nova_exceptions
    service_types: ClassVar[list[str]] = ["compute"]
    service: ClassVar[str] = "nova"

    _MANAGERS: ClassVar[dict[str, tuple[str, str]]] = {
        "server": ("servers", "server"),
        "servers": ("servers", "server"),
        "flavor": ("flavors", "flavor"),
        "flavors": ("flavors", "flavor"),
        "keypair": ("keypairs", "key pair"),
        "keypairs": ("keypairs", "key pair"),
        "server_group": ("server_groups", "server group"),
        "server_groups": ("server_groups", "server group"),
        "volume": ("volumes", "volume attachment"),
        "aggregates": ("aggregates", "host aggregate"),
        "quotas": ("quotas", "quota"),
    }

    def _create(self, version: str | None = None) -> Any:
        return nova_client.Client(
            version or self.microversion(),
            session=self.keystone_session(self.service),
            region_name=self.region_name(),
            endpoint_type=self.interface(self.service),
            http_log_debug=bool(
                settings.option("http_log_debug", False, "clients_nova")
            ),
        )

    def microversion(self) -> str:
        limit = settings.option("max_nova_api_microversion")
        wanted = api_versions.APIVersion(MICROVERSION)
        if limit and api_versions.APIVersion(str(limit)) < wanted:
            return str(limit)
        return MICROVERSION

    def is_at_least(self, version: str) -> bool:
        """Whether requests may ask for a version newer than the usual one.

        :param version: of the API, such as ``2.73``
        """
        limit = settings.option("max_nova_api_microversion")
        wanted = api_versions.APIVersion(version)
        if limit and api_versions.APIVersion(str(limit)) < wanted:
            return False
        offered = self.client().client.get_endpoint_data()
        newest = offered.max_microversion if offered else None
        return bool(newest and (wanted.ver_major, wanted.ver_minor) <= newest)

    def collection(
        self, entity: str, version: str | None = None
    ) -> collection.Managed:
        """The objects of one kind.

        :param entity: as resource types name it
        :param version: of the API, where it must be another than the usual
        """
        name, what = self._MANAGERS[entity]
        filters: Any = {
            # A regular expression to Nova: the caller compares exactly.
            "servers": lambda given: {"search_opts": given} if given else {},
            "flavors": lambda given: {"is_public": None},
        }.get(name, lambda given: {})
        return collection.Managed(
            self.service,
            lambda: getattr(self.client(version), name),
            what,
            plain=_keypair if name == "keypairs" else _plain,
            list_filters=filters,
        )

    def look_up(self, entity: str, value: str) -> dict[str, Any]:
        """See the base. A host is known by the compute service on it."""
        if entity != "host":
            return super().look_up(entity, value)
        found = errors.call(
            self.service,
            lambda: self.client().services.list(
                host=value, binary="nova-compute"
            ),
            idempotent=True,
        )
        if not found:
            raise exception.EntityNotFound(entity="Host", name=value)
        return {"id": value, "name": value}

    def find_flavor(self, value: str) -> str:
        return str(collection.find(self.collection("flavor"), value)["id"])

    def fetch_server(self, server_id: str) -> Any:
        """The server object, None when the service hesitates to tell."""
        try:
            return self.collection("server").call("get", server_id)
        except errors.ServiceError as ex:
            if errors.is_transient(ex):
                return None
            raise

    def listed_in(self, entity: str, state: str) -> set[str]:
        """See the base. That servers are deleted is told by a task."""
        version = None
        asked = {"status": state}
        if state == DELETING:
            # Only administrators could ask older services for that.
            version = "2.83"
            if not self.is_at_least(version):
                return set()
            asked = {"task_state": state}
        listed = self.collection(entity, version).call(
            "list", detailed=False, search_opts=asked
        )
        return {str(each.id) for each in listed}
