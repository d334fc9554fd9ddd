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

"""Rows of the ``event`` table: what happened, in the order it did."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import (
    bulk,
    clock,
    models,
    pagination,
    properties_data,
    resource_rows,
    session,
)

_event = models.event
_data = models.resource_properties_data


@dataclasses.dataclass(frozen=True, slots=True)
class EventRecord:
    """One event. ``resource_properties`` is None when not asked for."""

    id: int
    uuid: str
    stack_id: str
    created_at: datetime.datetime | None
    resource_action: str | None
    resource_status: str | None
    resource_name: str | None
    physical_resource_id: str | None
    resource_status_reason: str | None
    resource_type: str | None
    rsrc_prop_data_id: int | None
    resource_properties: dict[str, Any] | None = None


_COLUMNS = tuple(
    _event.c[field.name]
    for field in dataclasses.fields(EventRecord)
    if field.name != "resource_properties"
)

_FILTERS = {
    name: _event.c[name]
    for name in (
        "resource_action",
        "resource_status",
        "resource_name",
        "resource_type",
        "physical_resource_id",
        "uuid",
    )
}

_SORT_KEYS = {
    name: _event.c[name]
    for name in (
        "id",
        "uuid",
        "created_at",
        "resource_action",
        "resource_status",
        "resource_name",
        "resource_type",
    )
}


def of_resource(
    row: resource_rows.ResourceRecord,
    action: str,
    status: str,
    reason: str,
    now: datetime.datetime | None = None,
) -> dict[str, Any]:
    """The event row of what happens to a resource between operations."""
    return {
        "stack_id": row.stack_id,
        "created_at": now or clock.utcnow(),
        "resource_action": action,
        "resource_status": status,
        "resource_name": row.name,
        "physical_resource_id": row.physical_id,
        "resource_status_reason": reason,
        "resource_type": row.resource_type,
        "rsrc_prop_data_id": row.rsrc_prop_data_id,
    }


def insert_many(
    conn: sa.Connection, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Insert events and return their uuids, in the order given.

    Those of one transaction are inserted together, at its end.

    :param rows: columns each; ``uuid`` is made when absent
    """
    made = [
        {**row, "uuid": row.get("uuid") or str(uuid.uuid4())} for row in rows
    ]
    session.at_end(conn, _insert, made)
    session.note(conn, made)
    return [row["uuid"] for row in made]


def _insert(conn: sa.Connection, rows: list[dict[str, Any]]) -> None:
    bulk.insert(conn, _event, rows)


def list_(
    conn: sa.Connection,
    stack_ids: Collection[str],
    *,
    filters: Mapping[str, Any] | None = None,
    limit: int | None = None,
    marker: str | None = None,
    sort_keys: Sequence[str] | None = None,
    sort_dir: str | None = None,
    with_properties: bool = True,
) -> list[EventRecord]:
    """One page of the events of stacks, the oldest first by default.

    :param filters: column name -> value, or list of values
    :param marker: uuid of the last event of the page before
    :raises Invalid: an unknown filter, sort key, direction or marker
    """
    stack_ids = sorted(set(stack_ids))
    if not stack_ids:
        return []
    keys = pagination.order(
        _SORT_KEYS, sort_keys, sort_dir, ("created_at", "asc"), _event.c.id
    )
    query = pagination.page(
        conn,
        _query(with_properties).where(
            _event.c.stack_id.in_(stack_ids),
            *pagination.matches(_FILTERS, filters),
        ),
        keys,
        None if marker is None else _event.c.uuid == marker,
        limit,
    )
    return [EventRecord(*row) for row in conn.execute(query)]


def get(
    conn: sa.Connection, stack_id: str, event_uuid: str
) -> EventRecord | None:
    """One event of a stack with its properties, or None."""
    row = conn.execute(
        _query(True).where(
            _event.c.stack_id == stack_id, _event.c.uuid == event_uuid
        )
    ).first()
    return None if row is None else EventRecord(*row)


def last_properties(
    conn: sa.Connection, stack_id: str, name: str, action: str, status: str
) -> int | None:
    """The properties told by the last event of a kind of a resource."""
    value: int | None = conn.execute(
        sa.select(_event.c.rsrc_prop_data_id)
        .where(
            _event.c.stack_id == stack_id,
            _event.c.resource_name == name,
            _event.c.resource_action == action,
            _event.c.resource_status == status,
        )
        .order_by(_event.c.id.desc())
        .limit(1)
    ).scalar()
    return value


def count(conn: sa.Connection, stack_id: str) -> int:
    """How many events a stack has."""
    return int(
        conn.execute(
            sa.select(sa.func.count())
            .select_from(_event)
            .where(_event.c.stack_id == stack_id)
        ).scalar_one()
    )


def purge(conn: sa.Connection, stack_id: str, most: int, batch: int) -> int:
    """Delete the oldest events of a stack that has more than ``most``.

    :param batch: how many to delete at least, so that not every new event
        costs a purge; never more than half of ``most``
    :returns: how many were deleted
    """
    excess = count(conn, stack_id) - most
    if most < 0 or excess <= 0:
        return 0
    doomed = conn.execute(
        sa.select(_event.c.id, _event.c.rsrc_prop_data_id)
        .where(_event.c.stack_id == stack_id)
        .order_by(_event.c.id)
        .limit(max(excess, min(batch, most // 2)))
    ).all()
    conn.execute(
        sa.delete(_event).where(
            _event.c.stack_id == stack_id, _event.c.id <= doomed[-1].id
        )
    )
    properties_data.delete_unreferenced(
        conn, stack_id, (row.rsrc_prop_data_id for row in doomed)
    )
    return len(doomed)


def _query(with_properties: bool) -> sa.Select[Any]:
    if not with_properties:
        return sa.select(*_COLUMNS)
    return sa.select(*_COLUMNS, _data.c.data).outerjoin(
        _data, _data.c.id == _event.c.rsrc_prop_data_id
    )
