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

"""What a resource object remembers while it is worked on.

State, data and metadata, and which of them a plug-in changed. Nothing is
written: the engine stores what :meth:`Memory.changes` tells.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import uuid
from collections.abc import Mapping
from typing import Any

from heat.common import values
from heat.common.i18n import _
from heat.engine.resource import state

# Characters; so much the column holds.
_LONGEST_ID = 255


@dataclasses.dataclass(frozen=True, slots=True)
class Changes:
    """What plug-in calls changed since the state was loaded or saved.

    :ivar physical_id_changed: ``physical_id`` is to be stored
    :ivar data: key -> (value, whether it is to be stored encrypted)
    :ivar data_deleted: keys to drop
    :ivar metadata: the whole new metadata, None for no change
    """

    physical_id_changed: bool
    physical_id: str | None
    data: Mapping[str, tuple[str, bool]]
    data_deleted: frozenset[str]
    metadata: dict[str, Any] | None

    def __bool__(self) -> bool:
        return bool(
            self.physical_id_changed
            or self.data
            or self.data_deleted
            or self.metadata is not None
        )


class Memory:
    """State, data and metadata of one resource, in memory."""

    ACTIONS = state.ACTIONS
    INIT, CREATE, DELETE, UPDATE, ROLLBACK, SUSPEND, RESUME = ACTIONS[:7]
    ADOPT, SNAPSHOT, CHECK, RESTORE, LOCK, UNLOCK = ACTIONS[7:]
    STATUSES = state.STATUSES
    IN_PROGRESS, FAILED, COMPLETE = STATUSES

    def __init__(self) -> None:
        self.resource_id: str | None = None
        self.action = self.INIT
        self.status = self.COMPLETE
        self.status_reason = ""
        self._data: dict[str, str] = {}
        self._metadata: dict[str, Any] | None = None
        self._saved_id: str | None = None
        self._set: dict[str, tuple[str, bool]] = {}
        self._dropped: set[str] = set()
        self._metadata_changed = False

    def remember(
        self,
        physical_id: str | None,
        data: Mapping[str, str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """Take over what is stored."""
        self.resource_id = self._saved_id = physical_id
        self._data = dict(data or {})
        self._metadata = None if metadata is None else dict(metadata)
        self.mark_saved()

    def changes(self) -> Changes:
        """What is to be stored."""
        return Changes(
            self.resource_id != self._saved_id,
            self.resource_id,
            dict(self._set),
            frozenset(self._dropped),
            copy.deepcopy(self._metadata) if self._metadata_changed else None,
        )

    def metadata_is_changed(self) -> bool:
        """Tell whether a plug-in set the metadata."""
        return self._metadata_changed

    def mark_saved(self) -> None:
        """All changes were stored."""
        self._saved_id = self.resource_id
        self._set = {}
        self._dropped = set()
        self._metadata_changed = False

    @property
    def state(self) -> tuple[str, str]:
        return self.action, self.status

    def state_set(
        self, action: str, status: str, reason: str = "state changed"
    ) -> None:
        """Set action, status and reason, in memory.

        :raises ValueError: for words that are none
        """
        state.check_words(action, status)
        self.action, self.status = action, status
        self.status_reason = reason

    # -- called by plug-ins -------------------------------------------------

    def resource_id_set(self, inst: str | None) -> None:
        """Tell the object's id (None: there is none any more)."""
        self.resource_id = inst

    def template_metadata(self) -> dict[str, Any]:
        """The metadata that the template gives."""
        return {}

    def data(self) -> dict[str, str]:
        """What the plug-in stored with the resource."""
        return dict(self._data)

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        """Store a value with the resource.

        :param redact: it is stored encrypted
        """
        if value is not None and not isinstance(value, str):
            value = str(value)
        self._data[key] = value
        self._set[key] = (value, redact)
        self._dropped.discard(key)

    def data_delete(self, key: str) -> bool:
        """Drop a stored value; tell whether there was one."""
        if key not in self._data:
            return False
        del self._data[key]
        self._set.pop(key, None)
        self._dropped.add(key)
        return True

    def metadata_get(self, refresh: bool = False) -> dict[str, Any]:
        """The metadata, that of the template until it was changed."""
        if self._metadata is None:
            return self.template_metadata()
        return copy.deepcopy(self._metadata)

    def metadata_set(self, metadata: Any, merge_metadata: Any = None) -> None:
        """Replace the metadata.

        :param merge_metadata: called with (new, stored) to combine them
        """
        if merge_metadata is not None:
            metadata = merge_metadata(metadata, self.metadata_get())
        self._metadata = dict(metadata or {})
        self._metadata_changed = True

    def drop_unstorable(self) -> str | None:
        """Drop what can't be stored of what a plug-in told.

        :returns: what that was, for people; None: there was nothing
        """
        wrong = []
        made = self.resource_id
        if made is not None and not isinstance(made, str):
            self.resource_id = str(made)
            if not isinstance(made, int | uuid.UUID):
                wrong.append(_("the id of its object is no text"))
        known = self.resource_id or ""
        if not values.is_storable(known) or len(known) > _LONGEST_ID:
            self.resource_id = values.cleaned(known)[:_LONGEST_ID]
            wrong.append(_("the id of its object can't be stored"))
        for key, (value, _redact) in list(self._set.items()):
            if not values.is_storable(value or ""):
                self.data_delete(key)
                wrong.append(_("its data '%s' can't be stored") % key)
        if self._metadata_changed:
            try:
                json.dumps(self._metadata)
            except (TypeError, ValueError) as exc:
                self._metadata, self._metadata_changed = None, False
                wrong.append(_("its metadata can't be stored: %s") % exc)
        return "; ".join(wrong) or None
