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

"""Writes to resource rows that no operation makes: signals, marks, hooks.

Every writer holds the row first, and raises its ``atomic_key``; so whoever
has read it before finds out that it has moved on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from heat.db import models, resource_data, resource_rows

_table = models.resource
_stack = models.stack

# A read that locks gives what is committed when it has the lock.
_HOLD = (
    sa.select(*resource_rows.COLUMNS)
    .where(_table.c.id == sa.bindparam("the_id"))
    .with_for_update()
)

_COLUMN_OF = {"physical_id": "nova_instance", "metadata": "rsrc_metadata"}


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """What a signal changed.

    :ivar columns: by field of the record
    :ivar data: what is new in the resource's data
    :ivar gone: keys of the data to drop
    """

    columns: Mapping[str, Any]
    data: Mapping[str, resource_data.DataRecord]
    gone: Collection[str] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.data or self.gone)


def hold(
    conn: sa.Connection, row_id: int
) -> resource_rows.ResourceRecord | None:
    """The row, which nobody else writes until the transaction ends."""
    row = conn.execute(_HOLD, {"the_id": row_id}).first()
    return None if row is None else resource_rows.record(row)


def write(conn: sa.Connection, row_id: int, change: Change) -> None:
    """Write a row that :func:`hold` has given, and its data."""
    columns = {
        _COLUMN_OF.get(key, key): value
        for key, value in change.columns.items()
    }
    columns["atomic_key"] = sa.func.coalesce(_table.c.atomic_key, 0) + 1
    conn.execute(
        sa.update(_table).where(_table.c.id == row_id).values(**columns)
    )
    dropped = {*change.gone, *change.data}
    if dropped:
        resource_data.apply_many(
            conn, {row_id: dict(change.data)}, {row_id: dropped}
        )


def find_handle(
    conn: sa.Connection, reference: str, tenant: str
) -> resource_rows.ResourceRecord | None:
    """Who is named by a reference, in any stack of a project.

    :returns: the newest version; None: nobody
    """
    return _newest(
        conn,
        sa.select(*resource_rows.COLUMNS)
        .join(_stack, _stack.c.id == _table.c.stack_id)
        .where(
            _table.c.nova_instance == reference,
            _table.c.stray.is_(False),
            _stack.c.tenant == tenant,
        ),
    )


def find_handle_of_key(
    conn: sa.Connection, stack_id: str, access_key: str, tenant: str
) -> resource_rows.ResourceRecord | None:
    """Who is signalled by requests that these keys have signed.

    :returns: as :func:`find_handle`
    """
    data = models.resource_data
    return _newest(
        conn,
        sa.select(*resource_rows.COLUMNS)
        .join(_stack, _stack.c.id == _table.c.stack_id)
        .join(data, data.c.resource_id == _table.c.id)
        .where(
            _stack.c.id == stack_id,
            _stack.c.tenant == tenant,
            data.c.key == "access_key",
            data.c.value == access_key,
            _table.c.stray.is_(False),
        ),
    )


def _newest(
    conn: sa.Connection, query: sa.Select[Any]
) -> resource_rows.ResourceRecord | None:
    row = conn.execute(query.order_by(_table.c.id.desc())).first()
    return None if row is None else resource_rows.record(row)
