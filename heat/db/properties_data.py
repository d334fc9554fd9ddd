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

"""Rows of the ``resource_properties_data`` table.

Values that a resource or an event had at some time. A row is never
changed: events and resources share it, and a change is a new row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models

_table = models.resource_properties_data

# Made once: to put a statement together takes longer than to run it.
_PUT = sa.insert(_table).returning(_table.c.id, sort_by_parameter_order=True)
_GET = bulk.Among(_table.c.id, sa.select(_table.c.id, _table.c.data).where)

# Rows in one statement; their values may be long, and MariaDB limits the
# length of a statement.
_CHUNK = 100


def put_many(
    conn: sa.Connection,
    datas: Sequence[dict[str, Any]],
    *,
    encrypted: bool = False,
) -> list[int]:
    """Store values and return their ids, in the order given."""
    now = clock.utcnow()
    rows = [
        {"data": data, "encrypted": encrypted, "created_at": now}
        for data in datas
    ]
    ids: list[int] = []
    if not conn.dialect.insert_executemany_returning:
        # MySQL proper has no RETURNING.
        return [bulk.insert_one(conn, _table, row) for row in rows]
    for chunk in bulk.chunks(rows, _CHUNK):
        ids.extend(conn.execute(_PUT, list(chunk)).scalars())
    return ids


def get_many(
    conn: sa.Connection, ids: Iterable[int | None]
) -> dict[int, dict[str, Any]]:
    """The values with these ids, by id; None and missing are left out."""
    wanted = sorted({each for each in ids if each is not None})
    found: dict[int, dict[str, Any]] = {}
    for chunk in bulk.chunks(wanted):
        for row in _GET.run(conn, chunk):
            found[row.id] = row.data or {}
    return found


def delete_unreferenced(
    conn: sa.Connection, stack_id: str, ids: Iterable[int | None]
) -> int:
    """Delete those of ``ids`` that nothing of this stack refers to.

    Only a stack's own resources and events refer to its values.
    """
    resource, event = models.resource, models.event
    wanted = sorted({each for each in ids if each is not None})
    count = 0
    for chunk in bulk.chunks(wanted):
        used: set[int] = set()
        for column, owner in (
            (resource.c.rsrc_prop_data_id, resource.c.stack_id),
            (resource.c.attr_data_id, resource.c.stack_id),
            (event.c.rsrc_prop_data_id, event.c.stack_id),
        ):
            used.update(
                conn.execute(
                    sa.select(column).where(
                        owner == stack_id, column.in_(chunk)
                    )
                ).scalars()
            )
        unused = [each for each in chunk if each not in used]
        if unused:
            count += conn.execute(
                sa.delete(_table).where(_table.c.id.in_(unused))
            ).rowcount
    return count
