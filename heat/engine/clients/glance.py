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

"""The image service, by python-glanceclient."""

from __future__ import annotations

from typing import Any, ClassVar

import glanceclient
from glanceclient import exc as glance_exceptions

from heat.engine.clients import client_plugin, collection


class GlancePlugin(client_plugin.ClientPlugin):
    """Images."""

    exceptions_module: ClassVar[Any] = glance_exceptions
    service_types: ClassVar[list[str]] = ["image"]
    service: ClassVar[str] = "glance"

    def _create(self, version: str | None = None) -> Any:
        return glanceclient.Client(
            version or "2",
            session=self.keystone_session(self.service),
            region_name=self.region_name(),
            interface=self.interface(self.service),
        )

    def collection(self, entity: str) -> collection.Managed:
        """The images; there are no other objects.

        :param entity: ``image`` or ``images``
        """
        return collection.Managed(
            self.service,
            lambda: self.client().images,
            "image",
            plain=dict,
            list_filters=lambda given: {"filters": dict(given)},
        )
