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

"""Rows of the ``resource_data`` table: what a plug-in keeps for itself.

Values marked ``redact`` are sealed when they are written and plain in
records. Writers hold the claim of the resource, so no two of them meet.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models, secrets

_table = models.resource_data

# Made once: to put a statement together takes longer than to run it.
_OF_THESE = bulk.Among(
    _table.c.resource_id, sa.select(_table).order_by(_table.c.id).where
)
_REMOVE = sa.delete(_table).where(
    _table.c.resource_id == sa.bindparam("the_id"),
    _table.c.key.in_(sa.bindparam("the_keys", expanding=True)),
)


@dataclasses.dataclass(frozen=True, slots=True)
class DataRecord:
    """One value, in the clear; ``redact`` when it is a secret."""

    value: str | None
    redact: bool = False


def get_records(
    conn: sa.Connection, resource_ids: Iterable[int]
) -> dict[int, dict[str, DataRecord]]:
    """The data of resources by row id and key; {} for one without any.

    :raises InvalidEncryptionKey: a secret was sealed with another key
    """
    wanted = sorted(set(resource_ids))
    found: dict[int, dict[str, DataRecord]] = {each: {} for each in wanted}
    for chunk in bulk.chunks(wanted):
        for row in _OF_THESE.run(conn, chunk):
            found[row.resource_id][row.key] = DataRecord(
                secrets.open_value(conn, row.value, row.decrypt_method),
                bool(row.redact),
            )
    return found


def get_many(
    conn: sa.Connection, resource_ids: Iterable[int]
) -> dict[int, dict[str, str]]:
    """As :func:`get_records`, the values only."""
    return {
        resource_id: {key: each.value or "" for key, each in data.items()}
        for resource_id, data in get_records(conn, resource_ids).items()
    }


def set_(
    conn: sa.Connection,
    resource_id: int,
    key: str,
    value: str,
    redact: bool = False,
) -> None:
    """Store one value, in place of the one it had."""
    now = clock.utcnow()
    values = _stored(conn, DataRecord(value, redact))
    result = conn.execute(
        sa.update(_table)
        .where(_table.c.resource_id == resource_id, _table.c.key == key)
        .values(updated_at=now, **values)
    )
    if not result.rowcount:
        conn.execute(
            sa.insert(_table).values(
                resource_id=resource_id, key=key, created_at=now, **values
            )
        )


def delete(conn: sa.Connection, resource_id: int, key: str) -> bool:
    """Remove one value; False: there was none."""
    result = conn.execute(
        sa.delete(_table).where(
            _table.c.resource_id == resource_id, _table.c.key == key
        )
    )
    return bool(result.rowcount)


def replace_all(
    conn: sa.Connection,
    resource_id: int,
    data: Mapping[str, str | DataRecord],
) -> None:
    """Make ``data`` all that a resource has."""
    conn.execute(sa.delete(_table).where(_table.c.resource_id == resource_id))
    apply_many(conn, {resource_id: data}, {})


def apply_many(
    conn: sa.Connection,
    values: Mapping[int, Mapping[str, str | DataRecord]],
    gone: Mapping[int, Iterable[str]],
) -> None:
    """Change the data of many resources at once, by row id.

    :param values: what is new, by key
    :param gone: the keys to remove first: those dropped, and those of
        ``values`` that are there already
    """
    for resource_id, keys in sorted(gone.items()):
        which = {"the_id": resource_id, "the_keys": sorted(keys)}
        conn.execute(_REMOVE, which)
    now = clock.utcnow()
    bulk.insert(
        conn,
        _table,
        [
            _columns(conn, resource_id, key, given, now)
            for resource_id, each in sorted(values.items())
            for key, given in each.items()
        ],
    )


def _stored(conn: sa.Connection, record: DataRecord) -> dict[str, Any]:
    value, method = record.value, None
    if record.redact and value is not None:
        value, method = secrets.seal_value(conn, value)
    return {"value": value, "redact": record.redact, "decrypt_method": method}


def _columns(
    conn: sa.Connection,
    resource_id: int,
    key: str,
    given: str | DataRecord,
    now: datetime.datetime,
) -> dict[str, Any]:
    record = DataRecord(given) if isinstance(given, str) else given
    return {
        "resource_id": resource_id,
        "key": key,
        "created_at": now,
        **_stored(conn, record),
    }
