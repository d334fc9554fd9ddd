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

"""The alarm service, of which openstacksdk knows no more than the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from keystoneauth1 import adapter
from openstack import exceptions as sdk_exceptions

from heat.engine.clients import client_plugin
from heat.engine.clients import collection as objects

_VERSION = "/v2"
_RULE = "_rule"


class Alarms(objects.Bare):
    """Alarms, which are changed as a whole and found by queries."""

    def key_of_id(self) -> str:
        return "alarm_id"

    def update(self, ident: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Change an alarm.

        The service takes the whole of it, and what it isn't told, such as
        the state, it sets back.

        :param body: what is to be changed; the rule, where there is one, is
            that of a whole alarm, and replaces any other
        :raises heat.engine.clients.errors.ServiceError: as it answers
        """
        whole = self.get(ident)
        del whole["id"]
        if any(key.endswith(_RULE) for key in body):
            whole = {
                key: value
                for key, value in whole.items()
                if not key.endswith(_RULE)
            }
        whole.update(body)
        return self._inner(self.request("PUT", f"/{ident}", json=whole))

    def list(self, **filters: Any) -> list[dict[str, Any]]:
        """The project's alarms that have all of these values."""
        query = {
            "q.field": [*filters],
            "q.op": ["eq"] * len(filters),
            # It guesses what isn't said: a name might be a number.
            "q.type": ["string"] * len(filters),
            "q.value": [*filters.values()],
        }
        found = self.request("GET", params=query if filters else None)
        return [self._inner(each) for each in found or ()]


class AodhPlugin(client_plugin.ClientPlugin):
    """Alarms."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["alarm"]
    service: ClassVar[str] = "aodh"

    def _create(self, version: str | None = None) -> Any:
        """An adapter of the version's address.

        The catalogue has it without the version, as a rule.
        """
        address = self.url_for(service_type=self.service_types[0])
        base = address.rstrip("/").removesuffix(_VERSION)
        return adapter.Adapter(
            self.keystone_session(), endpoint_override=f"{base}{_VERSION}"
        )

    def collection(self, entity: str) -> objects.Rest:
        """The alarms.

        :param entity: ``alarm``, there is nothing else
        """
        return Alarms(self.service, self.client, entity, f"{entity}s")
