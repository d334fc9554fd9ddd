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

"""Rows of the ``snapshot`` and ``resource_snapshot`` tables."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models, secrets

_snapshot = models.snapshot
_resource = models.resource_snapshot


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """One snapshot of a stack; ``data`` as the stack exported itself."""

    id: str
    stack_id: str
    name: str | None
    tenant: str
    action: str | None
    status: str | None
    status_reason: str | None
    data: dict[str, Any] | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None


_COLUMNS = tuple(
    _snapshot.c[each.name] for each in dataclasses.fields(SnapshotRecord)
)


def insert(conn: sa.Connection, values: Mapping[str, Any]) -> str:
    """Insert a snapshot and return its id (made here if absent)."""
    columns = {"id": str(uuid.uuid4()), "created_at": clock.utcnow()}
    columns.update(_stored(conn, values))
    conn.execute(sa.insert(_snapshot).values(**columns))
    return str(columns["id"])


def get(conn: sa.Connection, snapshot_id: str) -> SnapshotRecord | None:
    """The snapshot with this id, or None."""
    row = conn.execute(
        sa.select(*_COLUMNS).where(_snapshot.c.id == snapshot_id)
    ).first()
    return None if row is None else _record(conn, row)


def list_(conn: sa.Connection, stack_id: str) -> list[SnapshotRecord]:
    """The snapshots of a stack, the oldest first."""
    rows = conn.execute(
        sa.select(*_COLUMNS)
        .where(_snapshot.c.stack_id == stack_id)
        .order_by(_snapshot.c.created_at, _snapshot.c.id)
    )
    return [_record(conn, row) for row in rows]


def _record(conn: sa.Connection, row: Sequence[Any]) -> SnapshotRecord:
    found = SnapshotRecord(*row)
    data = secrets.open_snapshot(conn, found.data)
    return dataclasses.replace(found, data=data)


def _stored(
    conn: sa.Connection, values: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Columns as they are stored: what plug-ins keep is sealed."""
    if values.get("data") is None:
        return values
    return {**values, "data": secrets.seal_snapshot(conn, values["data"])}


def count(conn: sa.Connection, stack_id: str) -> int:
    """How many a stack has, for ``max_snapshots_per_stack``."""
    return int(
        conn.execute(
            sa.select(sa.func.count())
            .select_from(_snapshot)
            .where(_snapshot.c.stack_id == stack_id)
        ).scalar_one()
    )


def update(conn: sa.Connection, snapshot_id: str, **values: Any) -> bool:
    """Write columns of a snapshot; False: there is none."""
    values.setdefault("updated_at", clock.utcnow())
    result = conn.execute(
        sa.update(_snapshot)
        .where(_snapshot.c.id == snapshot_id)
        .values(**_stored(conn, values))
    )
    return bool(result.rowcount)


def delete(conn: sa.Connection, snapshot_id: str) -> bool:
    """Delete a snapshot with its resources' parts; False: there is none."""
    conn.execute(
        sa.delete(_resource).where(_resource.c.snapshot_id == snapshot_id)
    )
    result = conn.execute(
        sa.delete(_snapshot).where(_snapshot.c.id == snapshot_id)
    )
    return bool(result.rowcount)


def put_resources(
    conn: sa.Connection, snapshot_id: str, datas: Mapping[str, Any]
) -> None:
    """Store the part of each resource, by the resource's name."""
    now = clock.utcnow()
    bulk.insert(
        conn,
        _resource,
        [
            {
                "id": str(uuid.uuid4()),
                "snapshot_id": snapshot_id,
                "resource_name": name,
                "data": data,
                "created_at": now,
            }
            for name, data in datas.items()
        ],
    )


def get_resources(conn: sa.Connection, snapshot_id: str) -> dict[str, Any]:
    """The parts of a snapshot by resource name."""
    rows = conn.execute(
        sa.select(_resource.c.resource_name, _resource.c.data)
        .where(_resource.c.snapshot_id == snapshot_id)
        .order_by(_resource.c.resource_name)
    )
    return {row.resource_name: row.data for row in rows}
