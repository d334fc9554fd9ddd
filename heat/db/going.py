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

"""Rows of resources that are not to stay: old versions, strays, deleted."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from heat.db import models, resource_rows

_table = models.resource
_ROWS = sa.select(*resource_rows.COLUMNS)


@dataclasses.dataclass(frozen=True, slots=True)
class GoingRecord:
    """A row that is not to stay.

    :ivar is_held: somebody works on it
    :ivar is_old: it was replaced, or is a stray
    """

    id: int
    action: str
    status: str
    is_held: bool
    is_old: bool

    @property
    def is_gone(self) -> bool:
        """Whether its object is."""
        return (self.action, self.status) == ("DELETE", "COMPLETE")


_GOING = sa.select(
    _table.c.id,
    _table.c.action,
    _table.c.status,
    _table.c.claim_id,
    _table.c.stray,
    _table.c.replaced_by,
)


# Old versions, strays, and what a DELETE visited.
_IS_GOING = sa.or_(
    _table.c.stray.is_(True),
    _table.c.replaced_by.is_not(None),
    _table.c.action == "DELETE",
)


def leftovers(
    conn: sa.Connection, stack_id: str
) -> list[resource_rows.ResourceRecord]:
    """Rows of a stack that are not to stay, and whose objects are there."""
    is_gone = sa.and_(
        _table.c.action == "DELETE", _table.c.status == "COMPLETE"
    )
    found = conn.execute(
        _ROWS.where(_table.c.stack_id == stack_id, sa.not_(is_gone), _IS_GOING)
    )
    return [resource_rows.record(row) for row in found]


def rows(
    conn: sa.Connection, stack_id: str, *, everything: bool
) -> list[GoingRecord]:
    """The rows of a stack that are not to stay, by id.

    :param everything: nothing at all is (DELETE); else only old versions,
        strays, and what a DELETE visited
    """
    query = _GOING.where(_table.c.stack_id == stack_id)
    if not everything:
        query = query.where(_IS_GOING)
    return [
        GoingRecord(
            row.id,
            row.action,
            row.status,
            row.claim_id is not None,
            bool(row.stray) or row.replaced_by is not None,
        )
        for row in conn.execute(query.order_by(_table.c.id))
    ]
