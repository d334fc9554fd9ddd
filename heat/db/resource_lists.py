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

"""Resources for those who only look at them: no more than they show.

A driver in Python spends more time on a column than the server does, and a
stack may have thousands of rows.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from heat.db import bulk, models, stacks

_table = models.resource
_stack = models.stack
_data = models.resource_properties_data


class ListedResource(NamedTuple):
    """What a list shows of a version of a resource.

    ``shown_*`` is what users see; ``base_*`` is set while LOCK or UNLOCK
    covers what it is.
    """

    id: int
    uuid: str
    name: str
    stack_id: str
    resource_type: str | None
    physical_id: str | None
    shown_action: str
    shown_status: str
    shown_reason: str | None
    requires: Sequence[int] | None
    replaces: int | None
    replaced_by: int | None
    external: bool
    stray: bool
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    base_action: str | None
    base_status: str | None

    @property
    def action(self) -> str:
        """The action by which every rule goes."""
        if self._is_covered:
            return self.base_action or ""
        return self.shown_action

    @property
    def status(self) -> str:
        if self._is_covered:
            return self.base_status or ""
        return self.shown_status

    @property
    def _is_covered(self) -> bool:
        return self.base_action is not None and (
            self.shown_action in stacks.LOCKING
        )


class Link(NamedTuple):
    """Which versions of which resource there are, and what they need."""

    id: int
    name: str
    action: str
    status: str
    requires: Sequence[int] | None
    replaces: int | None
    replaced_by: int | None
    stray: bool


class Told(NamedTuple):
    """What a version of a resource tells those that refer to it.

    ``attributes`` as they were stored; None: it has told of none.
    """

    id: int
    uuid: str
    name: str
    physical_id: str | None
    reference_id: str | None
    action: str
    status: str
    replaces: int | None
    replaced_by: int | None
    stray: bool
    attributes: dict[str, Any] | None


class Child(NamedTuple):
    """The names of a nested stack."""

    id: str
    name: str
    tenant: str
    owner_id: str


# What an action was before LOCK or UNLOCK covered it.
def _base(name: str) -> sa.ColumnElement[Any]:
    return sa.case(
        (
            sa.and_(
                _table.c.action.in_(sorted(stacks.LOCKING)),
                _table.c.base_action.is_not(None),
            ),
            _table.c[f"base_{name}"],
        ),
        else_=_table.c[name],
    ).label(f"real_{name}")


_IN_ORDER = _table.c.id
_OF_STACK = _table.c.stack_id == sa.bindparam("the_id")
_LISTED: sa.Select[Any] = sa.select(
    _table.c.id,
    _table.c.uuid,
    _table.c.name,
    _table.c.stack_id,
    _table.c.resource_type,
    _table.c.nova_instance,
    _table.c.action,
    _table.c.status,
    _table.c.status_reason,
    _table.c.requires,
    _table.c.replaces,
    _table.c.replaced_by,
    _table.c.external,
    _table.c.stray,
    _table.c.created_at,
    _table.c.updated_at,
    _table.c.base_action,
    _table.c.base_status,
).order_by(_IN_ORDER)
_LISTED_IN: sa.Select[Any] = _LISTED.where(
    _table.c.stack_id.in_(sa.bindparam("the_ids", expanding=True))
)
_LINKS: sa.Select[Any] = (
    sa.select(
        _table.c.id,
        _table.c.name,
        _base("action"),
        _base("status"),
        _table.c.requires,
        _table.c.replaces,
        _table.c.replaced_by,
        _table.c.stray,
    )
    .where(_OF_STACK)
    .order_by(_IN_ORDER)
)
_TOLD: sa.Select[Any] = (
    sa.select(
        _table.c.id,
        _table.c.uuid,
        _table.c.name,
        _table.c.nova_instance,
        _table.c.reference_id,
        _base("action"),
        _base("status"),
        _table.c.replaces,
        _table.c.replaced_by,
        _table.c.stray,
        _data.c.data,
    )
    .select_from(_table.outerjoin(_data, _data.c.id == _table.c.attr_data_id))
    .where(_OF_STACK)
    .order_by(_IN_ORDER)
)
_TOLD_BY: sa.Select[Any] = _TOLD.where(
    _table.c.name.in_(sa.bindparam("the_names", expanding=True))
)
_CHILDREN: sa.Select[Any] = sa.select(
    _stack.c.id, _stack.c.name, _stack.c.tenant, _stack.c.owner_id
).where(
    _stack.c.owner_id.in_(sa.bindparam("the_ids", expanding=True)),
    _stack.c.deleted_at.is_(None),
)
_CHILD: sa.Select[Any] = _CHILDREN.where(
    _stack.c.id == sa.bindparam("the_child")
)


def of_stacks(
    conn: sa.Connection, stack_ids: Collection[str]
) -> list[ListedResource]:
    """Every row of several stacks, by id."""
    found: list[ListedResource] = []
    for chunk in bulk.chunks(sorted(stack_ids)):
        rows = conn.execute(_LISTED_IN, {"the_ids": chunk}).all()
        found.extend(ListedResource(*row) for row in rows)
    return found


def links(conn: sa.Connection, stack_id: str) -> list[Link]:
    """Every row of a stack, by id."""
    return [
        Link(*row) for row in conn.execute(_LINKS, {"the_id": stack_id}).all()
    ]


def told(
    conn: sa.Connection, stack_id: str, names: Collection[str] | None = None
) -> list[Told]:
    """What rows of a stack tell others, by id.

    :param names: of these resources; None: of all
    """
    values: dict[str, Any] = {"the_id": stack_id}
    query = _TOLD
    if names is not None:
        query, values["the_names"] = _TOLD_BY, sorted(names)
    return [Told(*row) for row in conn.execute(query, values).all()]


def children(conn: sa.Connection, stack_ids: Collection[str]) -> list[Child]:
    """The living stacks directly below some."""
    found: list[Child] = []
    for chunk in bulk.chunks(sorted(stack_ids)):
        rows = conn.execute(_CHILDREN, {"the_ids": chunk}).all()
        found.extend(Child(*row) for row in rows)
    return found


def child(
    conn: sa.Connection, stack_id: str, physical_id: str | None
) -> Child | None:
    """The living stack directly below one that has this id, if there is."""
    if not physical_id:
        return None
    values = {"the_ids": [stack_id], "the_child": physical_id}
    row = conn.execute(_CHILD, values).one_or_none()
    return None if row is None else Child(*row)
