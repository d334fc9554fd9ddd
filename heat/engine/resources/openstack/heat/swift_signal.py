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

"""OS::Heat::SwiftSignal: complete when enough signals lie in an object."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from heat.common.i18n import _
from heat.engine import attributes, resource, support
from heat.engine.clients import object_store
from heat.engine.resource import notation
from heat.engine.resources import signal_box, wait_condition


class SwiftSignal(wait_condition.BaseWaitCondition):
    """Waits for signals that an OS::Heat::SwiftSignalHandle takes.

    A signal is a JSON map with any of ``status`` (SUCCESS or FAILURE),
    ``reason``, ``data`` and ``id``; two with one id count once. It fails when
    one says so, and when time is up.
    """

    support_status = support.SupportStatus(version="2014.2")
    default_client_name = "swift"

    HANDLE, TIMEOUT, COUNT, DATA = "handle", "timeout", "count", "data"

    properties_schema = notation.properties("""
        count integer (=1, range 1..1000) -- How many signals of success are
        -- awaited.
        handle string (required) -- The URL that the handle stands for
        -- (get_resource of it).
        timeout number (required, range 1..43200) -- Seconds to wait for the
        -- signals.
    """)
    attributes_schema = {
        DATA: attributes.Schema(
            _("What the signals carried: a JSON map of id to data."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }

    _read: Mapping[str, signal_box.Posted] = types.MappingProxyType({})

    def wanted(self, props: Any) -> tuple[str, int, float]:
        return props[self.HANDLE], props[self.COUNT], props[self.TIMEOUT]

    def handle_create(self) -> dict[str, Any]:
        self._box(self.properties[self.HANDLE])
        return super().handle_create()

    def fetch(self, handle: str) -> None:
        """Nothing is kept: the signals stay where they are."""

    def received(self, handle: str) -> wait_condition.Signals:
        """The signals in the object, by their ids.

        :raises ValueError: the URL of the handle is none
        """
        # While it waits each is read once.
        posted = self._box(handle).posted(self._read)
        self._read = {**self._read, **{each.mark: each for each in posted}}
        known: dict[str, Any] = {}
        for _mark, each in sorted(self._read.items()):
            try:
                known, _said = wait_condition.BaseWaitConditionHandle.kept(
                    known, each.details()
                )
            except ValueError:
                # Whoever sent it can't be told, and may send another one.
                continue
        return known

    def _box(self, handle: str) -> signal_box.ObjectBox:
        client = self.client_plugin(object_store.SERVICE).client()
        found = object_store.located(client, handle)
        if found is None:
            raise ValueError(
                _(
                    "The handle %s is no URL of an object of the project; "
                    "use get_resource of an OS::Heat::SwiftSignalHandle."
                )
                % handle
            )
        return signal_box.ObjectBox(*found)

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None or name != self.DATA:
            return None
        return self.received_data()


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::SwiftSignal": SwiftSignal}
