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
_stack = models.stack
_ROWS = sa.select(*resource_rows.COLUMNS)


@dataclasses.dataclass(frozen=True, slots=True)
class GoingRecord:
    """A row that is not to stay.

    :ivar is_held: somebody works on it
    :ivar is_old: it was replaced, or is a stray
    :ivar holds: it is a nested stack that has kept what it replaced
    """

    id: int
    action: str
    status: str
    is_held: bool
    is_old: bool
    holds: bool = False

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

# What has kept until now what its own update replaced; see
# :mod:`heat.engine.traversal.closing`.
_HOLDING = _table.c.nova_instance.in_(
    sa.select(_stack.c.id).where(
        _stack.c.owner_id == _table.c.stack_id,
        _stack.c.holds_cleanup.is_(True),
    )
)


# Old versions, strays, and what a DELETE visited.
_IS_GOING = sa.or_(
    _table.c.stray.is_(True),
    _table.c.replaced_by.is_not(None),
    _table.c.action == "DELETE",
)
_EVERYTHING = _GOING.where(
    _table.c.stack_id == sa.bindparam("the_id")
).order_by(_table.c.id)
# Where all goes, nobody asks of each row what it has kept.
_NOT_TO_STAY = _EVERYTHING.add_columns(_HOLDING.label("holds")).where(
    sa.or_(_IS_GOING, _HOLDING, _table.c.status == "FAILED")
)

_IS_LEFT = (
    _table.c.stack_id == sa.bindparam("the_id"),
    sa.not_(
        sa.and_(_table.c.action == "DELETE", _table.c.status == "COMPLETE")
    ),
    _IS_GOING,
)
# Mostly there are none: to look takes a fifth of the time of reading them.
_ANY_LEFT = sa.select(_table.c.id).where(*_IS_LEFT).limit(1)
_LEFT = _ROWS.where(*_IS_LEFT)


def leftovers(
    conn: sa.Connection, stack_id: str
) -> list[resource_rows.ResourceRecord]:
    """Rows of a stack that are not to stay, and whose objects are there."""
    whose = {"the_id": stack_id}
    if conn.execute(_ANY_LEFT, whose).first() is None:
        return []
    return [resource_rows.record(row) for row in conn.execute(_LEFT, whose)]


def rows(
    conn: sa.Connection, stack_id: str, *, everything: bool
) -> list[GoingRecord]:
    """The rows of a stack that are not to stay, by id.

    :param everything: nothing at all is (DELETE); else only old versions,
        strays, what a DELETE visited, nested stacks that have kept what
        they replaced, and those that failed when they were to give it up
    """
    query = _EVERYTHING if everything else _NOT_TO_STAY
    return [
        GoingRecord(
            row.id,
            row.action,
            row.status,
            row.claim_id is not None,
            bool(row.stray) or row.replaced_by is not None,
            not everything and bool(row.holds),
        )
        for row in conn.execute(query, {"the_id": stack_id})
    ]
