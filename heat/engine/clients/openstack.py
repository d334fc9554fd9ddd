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

"""All services at once: an openstacksdk connection, for plug-ins."""

from __future__ import annotations

from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import client_plugin, sdk


class OpenStackPlugin(client_plugin.ClientPlugin):
    """Gives a connection, with a proxy for every service."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = []
    needs_credentials: ClassVar[bool] = True

    def _create(self, version: str | None = None) -> Any:
        return sdk.connection(self, "openstack")
