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
"""Rows of the ``released_object`` table: objects that were let go.

A project-wide register, so that nobody has to search a cloud for what a
deleted stack has left standing on purpose.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, models

_table = models.released_object


@dataclasses.dataclass(frozen=True, slots=True)
class ReleasedRecord:
    """One object; ``reason`` is ``external``, ``retain`` or ``abandon``."""

    id: int
    stack_id: str
    stack_name: str | None
    tenant: str | None
    resource_name: str | None
    resource_type: str | None
    physical_resource_id: str | None
    region: str | None
    reason: str | None
    created_at: datetime.datetime | None


_COLUMNS = tuple(
    _table.c[field.name] for field in dataclasses.fields(ReleasedRecord)
)


def insert_many(
    conn: sa.Connection, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Register objects; ``created_at`` is given by the caller."""
    bulk.insert(conn, _table, rows)


def is_registered(
    conn: sa.Connection, stack_id: str, physical_id: str
) -> bool:
    """Whether a stack, which may be deleted by now, let an object go."""
    found = conn.execute(
        sa.select(_table.c.id)
        .where(
            _table.c.stack_id == stack_id,
            _table.c.physical_resource_id == physical_id,
        )
        .limit(1)
    )
    return found.first() is not None


def list_(conn: sa.Connection, tenant: str) -> list[ReleasedRecord]:
    """The objects that stacks of a project let go, the newest first."""
    rows = conn.execute(
        sa.select(*_COLUMNS)
        .where(_table.c.tenant == tenant)
        .order_by(_table.c.id.desc())
    )
    return [ReleasedRecord(*row) for row in rows]
