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
"""One row of the ``resource`` table as the rest of the engine sees it."""

from __future__ import annotations

import dataclasses
import datetime
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from heat.db import models, stacks

_table = models.resource


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceRecord:
    """One version of one resource. ``physical_id`` is ``nova_instance``.

    ``tried_prop_data_id`` leads to the properties that a failed update was
    about to apply: some of them may have been.

    ``action``, ``status`` and ``status_reason`` are what every rule goes
    by. What users see can differ: LOCK and UNLOCK only cover it, see
    :attr:`shown`. ``lock_found`` is what the plug-in found before it locked
    the object; None: we hold no lock on it.

    ``engine_id`` without a claim is that of an engine that stopped in the
    middle of a create, see :attr:`interrupted`.
    """

    id: int
    uuid: str
    name: str
    stack_id: str
    root_stack_id: str | None
    resource_type: str | None
    physical_id: str | None
    reference_id: str | None
    action: str
    status: str
    status_reason: str | None
    metadata: dict[str, Any]
    engine_id: str | None
    claim_id: str | None
    atomic_key: int
    requires: tuple[int, ...]
    replaces: int | None
    replaced_by: int | None
    current_template_id: int | None
    rsrc_prop_data_id: int | None
    attr_data_id: int | None
    tried_prop_data_id: int | None
    external: bool
    stray: bool
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    lock_action: str | None = None
    lock_status: str | None = None
    lock_status_reason: str | None = None
    lock_found: dict[str, Any] | None = None

    @property
    def interrupted(self) -> bool:
        """Whether the engine that was making its object has stopped."""
        return (
            self.engine_id is not None
            and self.claim_id is None
            and (self.action, self.status) == ("CREATE", "FAILED")
        )

    @property
    def shown(self) -> tuple[str, str]:
        """Action and status as users see them."""
        return self.lock_action or self.action, self.lock_status or self.status

    @property
    def shown_action(self) -> str:
        return self.shown[0]

    @property
    def shown_status(self) -> str:
        return self.shown[1]

    @property
    def shown_reason(self) -> str | None:
        if self.lock_action is not None:
            return self.lock_status_reason
        return self.status_reason


class Version(typing.Protocol):
    """What tells which of the versions of a resource counts."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def replaces(self) -> int | None: ...
    @property
    def replaced_by(self) -> int | None: ...
    @property
    def stray(self) -> bool: ...


_NOTHING: Mapping[str, Any] = dict.fromkeys(
    field.name for field in dataclasses.fields(ResourceRecord)
)


def blank(**known: Any) -> ResourceRecord:
    """A record of which only this much is known; it is of no stored row, or
    of one that was just inserted with no more than this."""
    return ResourceRecord(**{**_NOTHING, **known})


#: What a query for records selects.
COLUMNS = (
    _table.c.id,
    _table.c.uuid,
    _table.c.name,
    _table.c.stack_id,
    _table.c.root_stack_id,
    _table.c.resource_type,
    _table.c.nova_instance,
    _table.c.reference_id,
    _table.c.action,
    _table.c.status,
    _table.c.status_reason,
    _table.c.rsrc_metadata,
    _table.c.engine_id,
    _table.c.claim_id,
    _table.c.atomic_key,
    _table.c.requires,
    _table.c.replaces,
    _table.c.replaced_by,
    _table.c.current_template_id,
    _table.c.rsrc_prop_data_id,
    _table.c.attr_data_id,
    _table.c.tried_prop_data_id,
    _table.c.external,
    _table.c.stray,
    _table.c.created_at,
    _table.c.updated_at,
    _table.c.base_action,
    _table.c.base_status,
    _table.c.base_status_reason,
    _table.c.lock_found,
)


def record(row: Sequence[Any]) -> ResourceRecord:
    """The record of a row with those columns."""
    values = list(row)
    values[11] = values[11] or {}
    values[14] = values[14] or 0
    values[15] = tuple(values[15] or ())
    shown, base = values[8:11], values[26:29]
    if shown[0] in stacks.LOCKING and base[0] is not None:
        values[8:11], values[26:29] = base, shown
    else:
        values[26:29] = None, None, None
    return ResourceRecord(*values)
