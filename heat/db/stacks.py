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

"""Rows of the ``stack`` and ``stack_tag`` tables.

Every change of what a stack is doing goes through
:func:`compare_and_set`: one UPDATE whose row count says who won.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Required, TypedDict, Unpack

import sqlalchemy as sa
from oslo_db import exception as db_exc

from heat.common import exception
from heat.db import bulk, clock, models, pagination, stack_tags

_stack = models.stack
_tag = models.stack_tag

# Actions that only change what is shown.
LOCKING = frozenset({"LOCK", "UNLOCK"})


@dataclasses.dataclass(frozen=True, slots=True)
class StackRecord:
    """One stack, without its graph (see :func:`get_deps`).

    ``timeout`` is in minutes. ``action`` and ``status`` are what is shown;
    ``base_*`` is what they were before LOCK and UNLOCK. A stack is locked
    while it has a ``lock_level``; ``lock_wanted`` is the level that a LOCK
    in progress leads to, ``lock_root`` the stack that it was locked with.
    ``holds_cleanup``: what this nested stack replaces is kept until the one
    above it is updated, too.
    """

    id: str
    name: str
    tenant: str
    username: str | None
    user_creds_id: int | None
    owner_id: str | None
    raw_template_id: int
    prev_raw_template_id: int | None
    last_complete_template_id: int | None
    action: str
    status: str
    status_reason: str | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    deleted_at: datetime.datetime | None
    timeout: int | None
    disable_rollback: bool
    stack_user_project_id: str | None
    nested_depth: int | None
    parent_resource_name: str | None
    current_traversal: str | None
    traversal_started: datetime.datetime | None = None
    lock_level: str | None = None
    lock_wanted: str | None = None
    lock_root: str | None = None
    lock_reason: str | None = None
    locked_by: str | None = None
    locked_at: datetime.datetime | None = None
    lock_expires_at: datetime.datetime | None = None
    lock_request_id: str | None = None
    lock_blocked: dict[str, Any] | None = None
    base_action: str | None = None
    base_status: str | None = None
    base_status_reason: str | None = None
    holds_cleanup: bool | None = None
    tags: tuple[str, ...] = ()

    @property
    def base(self) -> tuple[str, str]:
        """The action and status by which every rule goes.

        LOCK and UNLOCK change what is shown, not what the stack is.
        """
        if self.action in LOCKING and self.base_action is not None:
            return self.base_action, self.base_status or "COMPLETE"
        return self.action, self.status


# Made once: it takes longer to put together than to run.
_ROWS = sa.select(
    *(
        _stack.c[field.name]
        for field in dataclasses.fields(StackRecord)
        if field.name != "tags"
    )
)
_IS_IT = _stack.c.id == sa.bindparam("the_id")
# One stack, a row for each of its tags.
_ONE = (
    _ROWS.add_columns(_tag.c.tag)
    .select_from(_stack.outerjoin(_tag, _tag.c.stack_id == _stack.c.id))
    .where(_IS_IT)
    .order_by(_tag.c.id)
)
_LIVES = _stack.c.deleted_at.is_(None)
_THESE = _ROWS.where(_stack.c.id.in_(sa.bindparam("the_ids", expanding=True)))
_THESE_LIVING = _THESE.where(_LIVES)
# The one above goes before nested ones.
_OF_NAME = (
    _ROWS.where(
        _stack.c.tenant == sa.bindparam("the_tenant"),
        _stack.c.name == sa.bindparam("the_name"),
        _LIVES,
    )
    .order_by(
        sa.case((_stack.c.owner_id.is_(None), 0), else_=1),
        _stack.c.created_at.desc(),
        _stack.c.id,
    )
    .limit(1)
)
_CHILDREN = _ROWS.where(
    _stack.c.owner_id == sa.bindparam("the_id"), _LIVES
).order_by(_stack.c.created_at, _stack.c.id)
_COUNT_LIVE = sa.select(sa.func.count()).where(
    _stack.c.tenant == sa.bindparam("tenant"),
    _LIVES,
    _stack.c.owner_id.is_(None),
)
_IN_PROGRESS = _ROWS.where(_stack.c.status == "IN_PROGRESS", _LIVES)
_TRAVERSAL = sa.select(_stack.c.current_traversal).where(_IS_IT)
_DEPS = sa.select(_stack.c.current_deps).where(_IS_IT)
_WRITE = sa.update(_stack).where(_IS_IT)
_WRITE_LIVING = _WRITE.where(_LIVES)

_FILTERS = {
    name: _stack.c[name]
    for name in (
        "id",
        "name",
        "action",
        "status",
        "tenant",
        "username",
        "owner_id",
        "disable_rollback",
        "timeout",
        "stack_user_project_id",
        "parent_resource_name",
        "lock_level",
    )
}

_SORT_KEYS = {
    name: _stack.c[name]
    for name in (
        "id",
        "name",
        "action",
        "status",
        "tenant",
        "username",
        "owner_id",
        "created_at",
        "updated_at",
    )
}


class Selection(TypedDict, total=False):
    """Keywords that say which stacks a list or a count is about.

    * ``tenant``: whose; None: everybody's
    * ``filters``: column name -> value, or list of values
    * ``show_deleted``, ``show_nested``: those too
    * ``show_hidden``: those with one of ``hidden_tags`` too
    * ``tags``: only those that have all of these
    * ``tags_any``: only those that have one of these
    * ``not_tags``: only those that lack one of these
    * ``not_tags_any``: only those that have none of these
    """

    tenant: Required[str | None]
    filters: Mapping[str, Any] | None
    show_deleted: bool
    show_nested: bool
    show_hidden: bool
    hidden_tags: Sequence[str] | None
    tags: Sequence[str] | None
    tags_any: Sequence[str] | None
    not_tags: Sequence[str] | None
    not_tags_any: Sequence[str] | None


def insert(conn: sa.Connection, values: Mapping[str, Any]) -> str:
    """Insert a stack and return its id (made here if absent).

    :param values: columns; ``tags`` beside them, if any
    :raises StackExists: the tenant has a living stack of this name, or of
        a nested one (with ``owner_id``), which may share one, there is or
        was this very one. Creates that race are told apart by unique keys.
    """
    columns = dict(values)
    tags = columns.pop("tags", None)
    stack_id: str = columns.setdefault("id", str(uuid.uuid4()))
    columns.setdefault("created_at", clock.utcnow())
    columns.setdefault("disable_rollback", True)
    columns.setdefault("convergence", True)
    if columns.get("owner_id") is None:
        columns["live_name_key"] = _name_key(
            columns["tenant"], columns["name"]
        )
    try:
        conn.execute(bulk.inserting(_stack), columns)
    except db_exc.DBDuplicateEntry as error:
        # The statement quotes the column in any case; the cause does not.
        cause = getattr(error.inner_exception, "orig", error)
        named = "live_name_key" in str(cause)
        if not named and columns.get("owner_id") is None:
            raise
        raise exception.StackExists(stack_name=columns["name"]) from error
    if tags:
        stack_tags.set_(conn, stack_id, tags)
    return stack_id


def get(
    conn: sa.Connection, stack_id: str, show_deleted: bool = False
) -> StackRecord | None:
    """The stack with this id, or None."""
    rows = conn.execute(_ONE, {"the_id": stack_id}).all()
    if not rows:
        return None
    tags = tuple(row.tag for row in rows if row.tag is not None)
    found = StackRecord(*(*rows[0][:-1], tags))
    return found if show_deleted or found.deleted_at is None else None


def get_many(
    conn: sa.Connection, stack_ids: Iterable[str], show_deleted: bool = False
) -> dict[str, StackRecord]:
    """The stacks with these ids, by id; missing ones are left out."""
    found: dict[str, StackRecord] = {}
    for chunk in bulk.chunks(sorted(set(stack_ids))):
        query = _THESE if show_deleted else _THESE_LIVING
        records = _records(conn, query, {"the_ids": chunk})
        found.update((each.id, each) for each in records)
    return found


def get_by_name(
    conn: sa.Connection, tenant: str, name: str
) -> StackRecord | None:
    """The living stack of this name, or None.

    A top-level stack goes before a nested one; of several nested ones the
    newest is taken.
    """
    which = {"the_tenant": tenant, "the_name": name}
    found = _records(conn, _OF_NAME, which)
    return found[0] if found else None


class Page(Selection, total=False):
    """Which part of a selection, in which order; else all, the newest first.

    ``marker`` is the id of the last stack of the page before.
    """

    limit: int | None
    marker: str | None
    sort_keys: Sequence[str] | None
    sort_dir: str | None


def list_(conn: sa.Connection, **page: Unpack[Page]) -> list[StackRecord]:
    """One page of stacks.

    :raises Invalid: an unknown filter, sort key, direction or marker
    """
    return _records(conn, page_of(conn, _ROWS, page))


def page_of(
    conn: sa.Connection, query: sa.Select[Any], page: Page
) -> sa.Select[Any]:
    """Cut a page out of a query over stacks.

    :raises Invalid: an unknown filter, sort key, direction or marker
    """
    marker = page.get("marker")
    keys = pagination.order(
        _SORT_KEYS,
        page.get("sort_keys"),
        page.get("sort_dir"),
        ("created_at", "desc"),
        _stack.c.id,
    )
    return pagination.page(
        conn,
        query.where(*_conditions(page)),
        keys,
        None if marker is None else _stack.c.id == marker,
        page.get("limit"),
    )


def count(conn: sa.Connection, **selection: Unpack[Selection]) -> int:
    """How many stacks :func:`list_` would give without a limit."""
    query = sa.select(sa.func.count()).select_from(_stack)
    return int(conn.execute(query.where(*_conditions(selection))).scalar_one())


def count_live(conn: sa.Connection, tenant: str) -> int:
    """Living top-level stacks of a tenant, for ``max_stacks_per_tenant``."""
    return int(conn.execute(_COUNT_LIVE, {"tenant": tenant}).scalar_one())


def children(conn: sa.Connection, owner_id: str) -> list[StackRecord]:
    """The living stacks directly below one, the oldest first."""
    return _records(conn, _CHILDREN, {"the_id": owner_id})


def in_progress(conn: sa.Connection) -> list[StackRecord]:
    """Every living stack that a traversal works on."""
    return _records(conn, _IN_PROGRESS)


def compare_and_set(
    conn: sa.Connection,
    stack_id: str,
    expect_traversal: str | None,
    values: Mapping[str, Any],
    statuses: Collection[str] | None = None,
    not_locked: bool = True,
) -> bool:
    """Write a living stack if it still is as the caller read it.

    :param expect_traversal: ``current_traversal`` as read; None is a value
    :param statuses: what ``status`` must be one of; None: any
    :param not_locked: refuse when the stack is locked
    :returns: False when somebody else was faster; nothing is written then
    """
    query = _as_read(not_locked, of_status=statuses is not None)
    which: dict[str, Any] = {
        "the_id": stack_id,
        "the_traversal": expect_traversal,
    }
    if statuses is not None:
        which["the_statuses"] = sorted(statuses)
    return bool(conn.execute(query, {**values, **which}).rowcount)


@functools.cache
def _as_read(not_locked: bool, *, of_status: bool) -> sa.Update:
    """Made once: it takes longer to put together than to run."""
    traversal = sa.bindparam("the_traversal", type_=sa.String())
    query = _WRITE_LIVING.where(
        _stack.c.current_traversal.is_not_distinct_from(traversal)
    )
    if of_status:
        listed: sa.BindParameter[Any]
        listed = sa.bindparam("the_statuses", expanding=True)
        query = query.where(_stack.c.status.in_(listed))
    return query.where(_stack.c.lock_level.is_(None)) if not_locked else query


def base_columns(table: sa.Table) -> dict[str, sa.ColumnElement[Any]]:
    """What LOCK and UNLOCK write beside the state they show.

    Put it before ``action`` and ``status`` (``ordered_values``): MariaDB
    evaluates from left to right.
    """
    return {
        f"base_{name}": sa.case(
            (table.c.action.in_(sorted(LOCKING)), table.c[f"base_{name}"]),
            else_=table.c[name],
        )
        for name in ("action", "status", "status_reason")
    }


def update(conn: sa.Connection, stack_id: str, **values: Any) -> bool:
    """Write columns of a stack, deleted or not; False: there is none."""
    which = {"the_id": stack_id}
    return bool(conn.execute(_WRITE, {**values, **which}).rowcount)


def soft_delete(
    conn: sa.Connection,
    stack_id: str,
    deleted_at: datetime.datetime | None = None,
    **values: Any,
) -> bool:
    """Mark a stack deleted and free its name; False: it was already.

    :param values: more columns to write
    """
    values.update(
        the_id=stack_id,
        deleted_at=deleted_at or clock.utcnow(),
        live_name_key=None,
    )
    return bool(conn.execute(_WRITE_LIVING, values).rowcount)


def get_deps(conn: sa.Connection, stack_id: str) -> Any:
    """The graph of the current traversal as it was stored, or None."""
    return conn.execute(_DEPS, {"the_id": stack_id}).scalar()


def current_traversal(conn: sa.Connection, stack_id: str) -> str | None:
    """The traversal that works, or worked last, on a stack."""
    return conn.execute(_TRAVERSAL, {"the_id": stack_id}).scalar()


def _name_key(tenant: str, name: str) -> str:
    return hashlib.sha256(f"{tenant}\0{name}".encode()).hexdigest()


def _records(
    conn: sa.Connection,
    query: sa.Select[Any],
    which: Mapping[str, Any] | None = None,
) -> list[StackRecord]:
    rows = conn.execute(query, which).all()
    tags = stack_tags.of(conn, [row[0] for row in rows])
    return [StackRecord(*(*row, tuple(tags[row[0]]))) for row in rows]


def _conditions(selection: Selection) -> list[sa.ColumnElement[bool]]:
    filters = selection.get("filters") or {}
    found = pagination.matches(_FILTERS, filters)
    tenant = selection["tenant"]
    if tenant is not None:
        found.append(_stack.c.tenant == tenant)
    if not selection.get("show_deleted"):
        found.append(_stack.c.deleted_at.is_(None))
    if not selection.get("show_nested") and "owner_id" not in filters:
        found.append(_stack.c.owner_id.is_(None))
    found += stack_tags.conditions(selection)
    return found
