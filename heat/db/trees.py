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

"""Walks down the trees of nested stacks."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heat.db import models, plural, stacks
from heat.db.stacks import StackRecord

_stack = models.stack


def walk(
    start: sa.ColumnElement[bool],
    *columns: sa.ColumnElement[Any],
    top: sa.ColumnElement[Any] | None = None,
) -> sa.CTE:
    """The ids of living stacks, and of those below them at any depth.

    :param start: which ones it starts from
    :param columns: of the stacks, beside their ids
    :param top: a column of those that it starts from, ``top`` of all below
    """
    living = sa.select(_stack.c.id, *columns).where(
        _stack.c.deleted_at.is_(None)
    )
    first = living if top is None else living.add_columns(top.label("top"))
    found = first.where(start).cte("walk", recursive=True)
    more = living if top is None else living.add_columns(found.c.top)
    return found.union(more.join(found, _stack.c.owner_id == found.c.id))


_BELOW = sa.select(walk(_stack.c.owner_id == sa.bindparam("the_id")).c.id)


def _locked(*, of_all: bool) -> sa.Select[Any]:
    """Those below a stack, or several, that are locked, the highest first."""
    whose: sa.BindParameter[Any]
    whose = sa.bindparam("the_id", expanding=of_all)
    owner = _stack.c.owner_id
    below = walk(
        owner.in_(whose) if of_all else owner == whose,
        _stack.c.lock_level,
        _stack.c.nested_depth,
        top=owner,
    ).c
    query = (
        sa.select(below.id)
        .where(below.lock_level.is_not(None))
        .order_by(below.nested_depth, below.id)
    )
    if of_all:
        return query.add_columns(below.top.label(plural.WHOSE))
    return query.limit(1)


_LOCKED = _locked(of_all=False)
plural.ask_for_all(_LOCKED, _locked(of_all=True), "the_id", listed=False)


def descendants(conn: sa.Connection, stack_id: str) -> list[str]:
    """Ids of the living stacks below one, at any depth, sorted."""
    rows = conn.execute(_BELOW, {"the_id": stack_id})
    return sorted(row.id for row in rows)


def locked_below(conn: sa.Connection, stack_id: str) -> StackRecord | None:
    """A stack below one that is locked on its own, if there is any."""
    found = conn.execute(_LOCKED, {"the_id": stack_id}).scalar()
    return None if found is None else stacks.get(conn, found)
