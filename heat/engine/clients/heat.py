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

"""The orchestration service itself, here or elsewhere, by plain REST."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import keystoneauth1.adapter
import keystoneauth1.loading
import keystoneauth1.session
from openstack import exceptions as sdk_exceptions

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import (
    barbican,
    client_plugin,
    collection,
    errors,
)

_AGENT = "heat"


class Stacks(collection.Rest):
    """Stacks of a project; bodies have no key around what is sent."""

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._inner(self.request("POST", json=dict(body)))

    def update(
        self, ident: str, body: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        self.request("PUT", f"/{ident}", json=dict(body))
        return None


class HeatPlugin(client_plugin.ClientPlugin):
    """Stacks, as any user of the service sees them."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["orchestration"]
    service: ClassVar[str] = "heat"

    def _create(self, version: str | None = None) -> Any:
        return self.elsewhere()

    def does_endpoint_exist(
        self, service_type: str, service_name: str
    ) -> bool:
        """Tell whether any region of the catalogue has the service."""
        try:
            self.url_for(service_type=service_type, region_name=None)
        except Exception:
            return False
        return True

    def elsewhere(
        self,
        region: str | None = None,
        credential: str | None = None,
        ca_cert: str | None = None,
        insecure: bool = False,
    ) -> Any:
        """An adapter of the service of a region, or of another cloud.

        :param region: None: the one that this service uses
        :param credential: id or reference of a secret of the key manager
            that says how to log in to another cloud:
            ``{"auth_type": ..., "auth": {...}}``
        :param ca_cert: file of certificates to trust; None: as configured
        :param insecure: trust any certificate
        :raises heat.common.exception.AuthorizationFailure: the secret says
            nothing of use
        """
        if credential is None and ca_cert is None and not insecure:
            made = self.keystone_session(self.service)
        else:
            verify: Any = False if insecure else ca_cert or True
            auth = (
                self.keystone_session(self.service).auth
                if credential is None
                else self._login(credential)
            )
            made = keystoneauth1.session.Session(
                auth=auth, verify=verify, app_name=_AGENT
            )
        return keystoneauth1.adapter.Adapter(
            made,
            service_type=self.service_types[0],
            interface=self.interface(self.service),
            region_name=region or self.region_name(),
        )

    def _login(self, credential: str) -> Any:
        """The keystoneauth plug-in that a stored credential describes."""
        text = errors.call(
            self.service,
            lambda: (
                self.keystone_session(self.service)
                .get(
                    f"/v1/secrets/{barbican.plain_id(credential)}/payload",
                    endpoint_filter={
                        "service_type": "key-manager",
                        "interface": self.interface(self.service),
                        "region_name": self.region_name(),
                    },
                    headers={"Accept": "text/plain"},
                )
                .text
            ),
            idempotent=True,
        )
        try:
            told = json.loads(text)
            loader: Any = keystoneauth1.loading.get_plugin_loader(
                told["auth_type"]
            )
            return loader.load_from_options(**told["auth"])
        except Exception as exc:
            # What was wrong with it might tell of the secret.
            raise exception.AuthorizationFailure(
                _(
                    "The secret %s is no credential: it must be a map with "
                    "auth_type and auth, in JSON."
                )
                % credential
            ) from exc

    def collection(self, entity: str) -> Stacks:
        """The stacks of the user's project.

        :param entity: ``stacks``
        """
        return self.stacks(self.client())

    def stacks(self, adapter: Any) -> Stacks:
        """The stacks that an adapter of the service leads to."""
        return Stacks(self.service, lambda: adapter, "stack", "stacks")

    def validate(self, adapter: Any, body: Mapping[str, Any]) -> None:
        """Have a template checked by the service an adapter leads to.

        :raises ServiceError: with what is wrong with it
        """
        collection.Rest(
            self.service,
            lambda: adapter,
            "template",
            "templates",
            path="/validate",
        ).request("POST", json=dict(body), idempotent=True)
