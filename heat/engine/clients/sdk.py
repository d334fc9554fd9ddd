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

"""openstacksdk connections, and the base of plug-ins that use one.

The library is imported when the first connection is made: that takes about
a second, which a process without a cloud need not spend.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, ClassVar

from heat.engine.clients import client_plugin, collection, session

_importing = threading.Lock()


def connection(plugin: client_plugin.ClientPlugin, service: str) -> Any:
    """A connection in the name of the plug-in's user.

    :param service: whose certificate options hold, such as ``neutron``
    """
    with _importing:
        import openstack.config.cloud_region
        import openstack.connection
    types = type(plugin).service_types
    region = openstack.config.cloud_region.from_session(
        session=plugin.keystone_session(service),
        region_name=session.region(
            plugin.context, types[0] if types else service
        ),
        app_name="heat",
        interface=plugin.interface(service),
        auth={},
    )
    return openstack.connection.Connection(config=region)


class SdkPlugin(client_plugin.ClientPlugin):
    """A service that is spoken to through a proxy of openstacksdk.

    Sub-classes name the proxy and describe the service's collections.
    """

    #: as in the options [clients_<service>]
    service: ClassVar[str] = ""
    #: attribute of the connection
    proxy_name: ClassVar[str] = ""
    #: entity -> arguments of :class:`.collection.Rest`
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    #: the method that changes an object
    update_method: ClassVar[str] = "PUT"

    def _create(self, version: str | None = None) -> Any:
        """The proxy, which is a keystoneauth adapter too."""
        return getattr(connection(self, self.service), self.proxy_name)

    def adapter(self) -> Any:
        return self.client()

    def microversion(self) -> str | None:
        """What every request asks for."""
        return None

    def collection(self, entity: str) -> collection.Rest:
        """The objects of one kind.

        :param entity: as resource types name it
        """
        arguments: dict[str, Any] = {"key": entity, "plural": f"{entity}s"}
        arguments.update(self.entities.get(entity, {}))
        return collection.Rest(
            self.service,
            self.adapter,
            update=self.update_method,
            microversion=self.microversion(),
            **arguments,
        )
