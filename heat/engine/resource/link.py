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

"""What connects objects of a service, and is no object itself.

Its id says what it connects. So a replacement would have the same id, and
be undone as soon as what it replaces is deleted: what is severed is
connected again in place instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import rest


class Link(rest.RestResource):
    """A connection. Sub-classes make, show and remove it.

    ``shown`` raises :class:`heat.common.exception.EntityNotFound` for one
    that is severed.
    """

    name_property = None
    status_key: ClassVar[str | None] = None
    always_replace_on_check_failed = False
    _severed = False

    def connect(self, properties: Any) -> None:
        """Set the id, then make the connection, if it isn't there."""
        raise NotImplementedError

    def is_connected(self) -> bool:
        """Whether the connection is there."""
        try:
            self.shown()
        except Exception as exc:
            if not errors.is_not_found(exc):
                raise
            return False
        return True

    def handle_create(self) -> Any:
        self.connect(self.properties)
        return None

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        self.take_back()
        if prop_diff or not self.is_connected():
            self.connect(self.properties_of(json_snippet))
        return None

    def get_live_state(self, resource_properties: Any) -> dict[str, Any]:
        """See the base; one that is severed is told of as changed."""
        try:
            return super().get_live_state(resource_properties)
        except exception.EntityNotFound:
            self._severed = True
            return {}

    def changed_beyond(self) -> str:
        if self._severed:
            return _("it is severed")
        return super().changed_beyond()
