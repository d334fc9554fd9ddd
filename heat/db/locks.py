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

"""LOCK and UNLOCK as statements: trees of stacks, and what rows show.

One UPDATE takes the root as its caller read it; everything below follows in
the same transaction, set by set. What is shown changes, the base stays.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.i18n import _
from heat.db import bulk, models, resource_rows, stacks, trees
from heat.db.stacks import StackRecord

_stack = models.stack
_resource = models.resource

LOCKING = stacks.LOCKING

#: What a stack has no more when it is unlocked.
NO_LOCK: Mapping[str, None] = dict.fromkeys(
    (
        "lock_level",
        "lock_wanted",
        "lock_root",
        "lock_reason",
        "locked_by",
        "locked_at",
        "lock_expires_at",
        "lock_request_id",
        "lock_blocked",
    )
)

# Made once: they take longer to put together than to run.
_THE_IDS: sa.BindParameter[Any] = sa.bindparam("the_ids", expanding=True)
_THESE = _stack.c.id.in_(_THE_IDS)
_WRITE = sa.update(_stack).where(_THESE)
_HELD = (
    sa.select(_stack.c.id)
    .where(_THESE)
    .order_by(_stack.c.id)
    .with_for_update()
)
_OPEN_WALKS = (
    sa.update(_stack)
    .where(_stack.c.id == sa.bindparam("the_stack"))
    .values(
        current_traversal=sa.bindparam("traversal"),
        current_deps=sa.bindparam("deps", type_=_stack.c.current_deps.type),
    )
)
_TREE = sa.select(_stack.c.id).where(
    _stack.c.lock_root == sa.bindparam("the_root"),
    _stack.c.deleted_at.is_(None),
)
_BELOW_ROOT = sa.and_(
    _stack.c.lock_root == sa.bindparam("the_root"),
    _stack.c.id != sa.bindparam("the_root"),
)
_ROWS = sa.select(*resource_rows.COLUMNS).where(
    _resource.c.stack_id.in_(_THE_IDS)
)
_FORGET_WALKS = sa.delete(models.sync_point).where(
    models.sync_point.c.stack_id.in_(_THE_IDS)
)
_LAY_OPEN = (
    sa.update(_stack)
    .where(_BELOW_ROOT)
    .values(
        action=sa.func.coalesce(_stack.c.base_action, _stack.c.action),
        status=sa.func.coalesce(_stack.c.base_status, _stack.c.status),
        status_reason=_stack.c.base_status_reason,
        **NO_LOCK,
    )
)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """What LOCK and UNLOCK ask of a resource before they visit it.

    :ivar action: of the base; ``shown`` is what users see
    :ivar held: we hold a lock on the object
    """

    id: int
    stack_id: str
    name: str
    resource_type: str
    physical_id: str | None
    action: str
    shown: tuple[str, str]
    claimed: bool
    is_current: bool
    external: bool
    held: bool


def refusal(stack: StackRecord, kind: str) -> exception.StackLocked:
    """The error for whoever may not do something because of a lock.

    :param kind: what was refused, for the counters
    """
    return exception.StackLocked(
        stack_name=stack.name,
        record=describe(stack),
        stack_id=stack.id,
        kind=kind,
    )


def describe(stack: StackRecord) -> str:
    """The record of a lock as a sentence."""
    parts = [
        f"{stack.action}_{stack.status}",
        _("level %s") % stack.lock_level,
        _("locked by %(who)s at %(when)s")
        % {"who": stack.locked_by or "?", "when": _time(stack.locked_at)},
    ]
    if stack.lock_request_id:
        parts.append(_("request %s") % stack.lock_request_id)
    if stack.lock_expires_at:
        parts.append(_("expires at %s") % _time(stack.lock_expires_at))
    if stack.lock_root not in (None, stack.id):
        parts.append(
            _("together with stack %s: unlock that one") % stack.lock_root
        )
    parts.append(_("reason: %s") % (stack.lock_reason or _("none given")))
    return ", ".join(parts)


def _time(when: datetime.datetime | None) -> str:
    return when.replace(microsecond=0).isoformat() + "Z" if when else "?"


# -- the tree -----------------------------------------------------------------

# What must be as it was read when a lock is taken or ended.
_AS_READ = (
    "action",
    "status",
    "current_traversal",
    "lock_level",
    "lock_root",
)


def take(
    conn: sa.Connection, stack: StackRecord, values: Mapping[str, Any]
) -> bool:
    """Write the root if it is as it was read: the lock is taken, or not.

    The base is kept beside what ``values`` shows.
    """
    which = {f"old_{name}": getattr(stack, name) for name in _AS_READ}
    query = _taking(tuple(values))
    given = {**which, **_new(values), "the_id": stack.id}
    return bool(conn.execute(query, given).rowcount)


@functools.cache
def _taking(names: tuple[str, ...]) -> sa.Update:
    """Made once for all that write the same columns."""
    query = sa.update(_stack).where(
        _stack.c.id == sa.bindparam("the_id"),
        _stack.c.deleted_at.is_(None),
        *(
            _stack.c[name].is_not_distinct_from(
                sa.bindparam(f"old_{name}", type_=_stack.c[name].type)
            )
            for name in _AS_READ
        ),
    )
    return _showing(query, names)


def hold_below(conn: sa.Connection, stack_id: str) -> list[StackRecord]:
    """The living stacks below one, by id; nobody else writes them till the
    transaction ends."""
    ids = trees.descendants(conn, stack_id)
    for chunk in bulk.chunks(ids):
        conn.execute(_HELD, {"the_ids": chunk}).all()
    found = stacks.get_many(conn, ids)
    return [found[each] for each in ids if each in found]


def show(
    conn: sa.Connection,
    ids: Collection[str],
    values: Mapping[str, Any],
    *,
    root: str | None = None,
) -> int:
    """Show LOCK or UNLOCK on stacks at rest; how many they were.

    :param root: only those that are unlocked, or were locked with it
    """
    count = 0
    query = _showing_at_rest(tuple(values), of_root=root is not None)
    given = _new(values) if root is None else {**_new(values), "root": root}
    for chunk in bulk.chunks(sorted(ids)):
        count += conn.execute(query, {**given, "the_ids": chunk}).rowcount
    return count


@functools.cache
def _showing_at_rest(names: tuple[str, ...], *, of_root: bool) -> sa.Update:
    query = sa.update(_stack).where(_THESE, _stack.c.status != "IN_PROGRESS")
    if of_root:
        with_it = _stack.c.lock_root == sa.bindparam("root")
        query = query.where(sa.or_(_stack.c.lock_level.is_(None), with_it))
    return _showing(query, names)


def _showing(query: sa.Update, names: tuple[str, ...]) -> sa.Update:
    """Write columns, whose values :func:`_new` gives, and the base."""
    return query.ordered_values(
        *stacks.base_columns(_stack).items(),
        *(
            (name, sa.bindparam(f"new_{name}", type_=_stack.c[name].type))
            for name in names
        ),
    )


def _new(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in values.items()}


def update(
    conn: sa.Connection, ids: Collection[str], values: Mapping[str, Any]
) -> None:
    """Write columns of some stacks."""
    for chunk in bulk.chunks(sorted(ids)):
        conn.execute(_WRITE, {**values, "the_ids": chunk})


def open_walks(
    conn: sa.Connection, walks: Mapping[str, tuple[str, Mapping[str, Any]]]
) -> None:
    """Set traversals and graphs of stacks, in one round trip.

    :param walks: id of the stack -> id of the traversal, graph
    """
    rows = [
        {"the_stack": stack_id, "traversal": traversal, "deps": dict(deps)}
        for stack_id, (traversal, deps) in sorted(walks.items())
    ]
    if not rows:
        return
    conn.execute(_OPEN_WALKS, rows)


def tree(conn: sa.Connection, root: str) -> list[str]:
    """Ids of the stacks that are locked with a root, itself among them."""
    return sorted(conn.execute(_TREE, {"the_root": root}).scalars())


def lay_open(conn: sa.Connection, root: str) -> None:
    """End the lock of a tree without a walk: its stacks show their base.

    For a delete, which releases each object before it deletes it.
    """
    conn.execute(_LAY_OPEN, {"the_root": root})


def refuse_locked_below(
    conn: sa.Connection, stack: StackRecord, kind: str
) -> None:
    """Check that nothing below a stack is locked.

    :raises StackLocked: naming the nested stack
    """
    found = trees.locked_below(conn, stack.id)
    if found is not None:
        raise refusal(found, kind)


def refuse_locked_above(
    conn: sa.Connection, stack: StackRecord, kind: str
) -> None:
    """Check that a stack does not stand in one that is locked.

    :raises StackLocked: naming the outer stack
    """
    owner_id = stack.owner_id
    while owner_id is not None:
        owner = stacks.get(conn, owner_id)
        if owner is None:
            return
        if owner.lock_level is not None:
            raise refusal(owner, kind)
        owner_id = owner.owner_id


_SHARED = (
    sa.select(_stack.c.lock_level)
    .where(_stack.c.id == sa.bindparam("the_id"))
    .with_for_update(read=True)
)


def share_unlocked(conn: sa.Connection, stack_id: str, kind: str) -> None:
    """Keep a stack from being locked until the transaction ends; others may
    do so too.

    :raises StackLocked: it is locked
    """
    level = conn.execute(_SHARED, {"the_id": stack_id}).scalar()
    found = stacks.get(conn, stack_id) if level is not None else None
    if found is not None:
        raise refusal(found, kind)


def hold_unlocked(
    conn: sa.Connection, stack_id: str, kind: str
) -> StackRecord | None:
    """The stack, which nobody locks until the transaction ends; None when
    there is none any more.

    For every write that begins no traversal: ask first, in its transaction.

    :raises StackLocked: it is locked
    """
    conn.execute(_HELD, {"the_ids": [stack_id]}).all()
    found = stacks.get(conn, stack_id)
    if found is not None and found.lock_level is not None:
        raise refusal(found, kind)
    return found


_EXPIRED = sa.select(_stack.c.id).where(
    _stack.c.lock_expires_at <= sa.bindparam("now"),
    _stack.c.lock_root == _stack.c.id,
    _stack.c.status != "IN_PROGRESS",
    _stack.c.deleted_at.is_(None),
)


def expired(conn: sa.Connection, now: datetime.datetime) -> list[StackRecord]:
    """Stacks whose lock has had its time and that nothing works on."""
    rows = conn.execute(_EXPIRED, {"now": now})
    found = stacks.get_many(conn, [row.id for row in rows])
    return [found[key] for key in sorted(found)]


def count_blocked(
    conn: sa.Connection, stack_id: str, kind: str, attempt: Mapping[str, Any]
) -> None:
    """Count an attempt that a lock refused; nothing if it is unlocked.

    :param attempt: who, when, which request
    """
    query = sa.select(_stack.c.lock_blocked).where(
        _stack.c.id == stack_id, _stack.c.lock_level.is_not(None)
    )
    row = conn.execute(query.with_for_update()).one_or_none()
    if row is None:
        return
    known = dict(row.lock_blocked or {})
    before = known.get(kind) or {}
    known[kind] = {"count": before.get("count", 0) + 1, **attempt}
    stacks.update(conn, stack_id, lock_blocked=known)


# -- rows ---------------------------------------------------------------------


def rows(conn: sa.Connection, stack_ids: Collection[str]) -> list[Row]:
    """Every row of some stacks, by id."""
    found: list[Row] = []
    for chunk in bulk.chunks(sorted(stack_ids)):
        stored = conn.execute(_ROWS, {"the_ids": chunk})
        for each in map(resource_rows.record, stored):
            found.append(
                Row(
                    each.id,
                    each.stack_id,
                    each.name,
                    each.resource_type or "",
                    each.physical_id,
                    each.action,
                    each.shown,
                    each.claim_id is not None,
                    each.replaced_by is None and not each.stray,
                    each.external,
                    each.lock_found is not None,
                )
            )
    return sorted(found, key=lambda each: each.id)


def show_locked(conn: sa.Connection, stack_ids: Collection[str]) -> None:
    """The resources of stacks are LOCK_COMPLETE: those that are there, are
    ours, and are in nobody's hands."""
    _show_rows(conn, _SHOW_LOCKED, stack_ids)


def show_nested(
    conn: sa.Connection, stack_ids: Collection[str], root: str
) -> None:
    """So are those that are stacks locked with this root."""
    _show_rows(conn, _SHOW_NESTED, stack_ids, the_root=root)


def show_unlocked(conn: sa.Connection, stack_ids: Collection[str]) -> None:
    """Whatever shows a lock, or one half released, is UNLOCK_COMPLETE."""
    _show_rows(conn, _SHOW_UNLOCKED, stack_ids)


def _show_rows(
    conn: sa.Connection,
    query: sa.Update,
    stack_ids: Collection[str],
    **which: str,
) -> None:
    for chunk in bulk.chunks(sorted(stack_ids)):
        conn.execute(query, {"the_ids": chunk, **which})


def _there() -> sa.ColumnElement[bool]:
    base = sa.case(
        (_resource.c.action.in_(sorted(LOCKING)), _resource.c.base_action),
        else_=_resource.c.action,
    )
    return sa.and_(
        base.not_in(("INIT", "DELETE")),
        _resource.c.replaced_by.is_(None),
        _resource.c.stray.is_(False),
        _resource.c.external.is_(False),
    )


def _showing_rows(action: str, *which: sa.ColumnElement[bool]) -> sa.Update:
    return (
        sa.update(_resource)
        .where(
            _resource.c.stack_id.in_(_THE_IDS),
            _resource.c.claim_id.is_(None),
            *which,
        )
        .ordered_values(
            *stacks.base_columns(_resource).items(),
            ("action", action),
            ("status", "COMPLETE"),
            ("status_reason", "state changed"),
        )
    )


_SHOW_LOCKED = _showing_rows("LOCK", _there())
_SHOW_NESTED = _showing_rows(
    "LOCK",
    _there(),
    _resource.c.nova_instance.in_(sa.select(_stack.c.id).where(_BELOW_ROOT)),
)
_SHOW_UNLOCKED = _showing_rows("UNLOCK", _resource.c.action.in_(LOCKING))


def forget_walks(conn: sa.Connection, stack_ids: Iterable[str]) -> None:
    """Nothing of what ran on these stacks starts any more."""
    for chunk in bulk.chunks(sorted(stack_ids)):
        conn.execute(_FORGET_WALKS, {"the_ids": chunk})
