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

"""The networking service, by openstacksdk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.common.i18n import _
from heat.engine.clients import cache, collection, sdk

_VERBS = re.compile(r"(create|show|update|delete|list)_([a-z_]+)")


class NeutronClient:
    """The proxy, with the verbs that older plug-ins call beside it.

    ``create_network({"network": ...})``, ``show_network(id)``,
    ``update_network(id, body)``, ``delete_network(id)`` and
    ``list_networks(**filters)`` give bodies as the service does, for any
    kind of object. Everything else is the proxy's.
    """

    def __init__(self, plugin: NeutronPlugin, proxy: Any) -> None:
        self._plugin = plugin
        self.proxy = proxy

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = _VERBS.fullmatch(name)
        if found is None:
            return getattr(self.proxy, name)
        verb, noun = found.groups()
        return getattr(self, f"_{verb}")(noun)

    def _create(self, noun: str) -> Any:
        made = self._plugin.collection(noun)
        return lambda body: made.request("POST", json=body)

    def _show(self, noun: str) -> Any:
        made = self._plugin.collection(noun)
        return lambda ident, **_params: made.request("GET", f"/{ident}")

    def _update(self, noun: str) -> Any:
        made = self._plugin.collection(noun)
        return lambda ident, body: made.request("PUT", f"/{ident}", json=body)

    def _delete(self, noun: str) -> Any:
        return self._plugin.collection(noun).delete

    def _list(self, noun: str) -> Any:
        one = next(
            (
                key
                for key, more in self._plugin.entities.items()
                if more.get("plural") == noun
            ),
            noun.removesuffix("s"),
        )
        made = self._plugin.collection(one)
        return lambda **filters: made.request("GET", params=filters)


class NeutronPlugin(sdk.SdkPlugin):
    """Networks, subnets, ports and what belongs to them."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["network"]
    service: ClassVar[str] = "neutron"
    proxy_name: ClassVar[str] = "network"
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "security_group": {"path": "/security-groups"},
        "security_group_rule": {"path": "/security-group-rules"},
        "qos_policy": {
            "key": "policy",
            "plural": "policies",
            "path": "/qos/policies",
            "what": "QoS policy",
        },
        "address_scope": {"path": "/address-scopes"},
        "rbac_policy": {"plural": "rbac_policies", "path": "/rbac-policies"},
        "flavor": {"path": "/flavors"},
        "flow_classifier": {"path": "/sfc/flow_classifiers"},
        "metering_label": {"path": "/metering/metering-labels"},
        "metering_label_rule": {"path": "/metering/metering-label-rules"},
        "network_gateway": {"path": "/network-gateways"},
        "port_pair": {"path": "/sfc/port_pairs"},
        "floatingip": {"what": "floating IP"},
    }

    def _create(self, version: str | None = None) -> Any:
        return NeutronClient(self, super()._create(version))

    def adapter(self) -> Any:
        return self.client().proxy

    def rules_of(self, policy: str, kind: str) -> collection.Rest:
        """The rules of one kind that a QoS policy has."""
        return collection.Rest(
            self.service,
            self.adapter,
            key=kind,
            plural=f"{kind}s",
            path=f"/qos/policies/{policy}/{kind}s",
        )

    def has_extension(self, alias: str) -> bool:
        """Whether the service has an extension."""

        def ask() -> frozenset[str]:
            found = self.collection("extension").list()
            return frozenset(each["alias"] for each in found)

        return alias in cache.EXTENSIONS.get(
            (*cache.scope(self.context), "neutron"), ask
        )

    def missing_extension(self, alias: str) -> str | None:
        """Why an extension can't be used, None when it can."""
        if self.has_extension(alias):
            return None
        return _("the networking service has no extension %s") % alias
