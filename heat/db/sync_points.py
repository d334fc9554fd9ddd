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
"""Rows of the ``sync_point`` table.

One row a node and traversal carries a counter (``remaining``: inputs still
missing) and a mark (``done``: its action was recorded). Both move by
conditional UPDATEs whose row counts are the answer, so N producers and one
consumer cost O(N). What a node tells its dependants is not copied here: it
is what its resource row says, written in the transaction that set the mark.

Keys are ``(row id, is_update)``; row 0 is the stack itself and is stored
under the stack's id.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, models

NodeKey = tuple[int, bool]

_points = models.sync_point

_FORGET = sa.delete(_points).where(
    _points.c.stack_id == sa.bindparam("the_id")
)


@dataclasses.dataclass(frozen=True, slots=True)
class Traversal:
    """Whose SyncPoints are meant."""

    stack_id: str
    traversal_id: str


def insert_many(
    conn: sa.Connection,
    traversal: Traversal,
    remaining: Mapping[NodeKey, int],
) -> None:
    """Insert the SyncPoints of a new traversal."""
    rows = [
        {
            "entity_id": _entity(traversal, key),
            "traversal_id": traversal.traversal_id,
            "is_update": key[1],
            "stack_id": traversal.stack_id,
            "atomic_key": 0,
            "remaining": count,
            "done": False,
        }
        for key, count in remaining.items()
    ]
    for chunk in bulk.chunks(rows):
        conn.execute(bulk.inserting(_points), chunk)


def delete_for_stack(conn: sa.Connection, stack_id: str) -> None:
    """Forget every traversal of a stack: nothing of them starts any more."""
    conn.execute(_FORGET, {"the_id": stack_id})


def fence(
    conn: sa.Connection, traversal: Traversal, keys: Collection[NodeKey]
) -> set[NodeKey]:
    """Hold the rows of nodes that may act until the transaction ends.

    :returns: those of ``keys`` that have all inputs and are not done; a key
        whose row is gone belongs to a superseded traversal
    """
    return _advance(conn, traversal, keys, {}, ready=True)


def mark_done(
    conn: sa.Connection,
    traversal: Traversal,
    keys: Collection[NodeKey],
    *,
    ready: bool = True,
) -> set[NodeKey]:
    """Set the mark that makes a node's action once.

    :param ready: False also takes nodes that still miss inputs (skipped
        because something below them failed)
    :returns: the keys that *this call* marked
    """
    return _advance(conn, traversal, keys, {"done": True}, ready=ready)


def mark_at_zero(
    conn: sa.Connection, traversal: Traversal, missing: Mapping[NodeKey, int]
) -> bool:
    """Bring nodes their last inputs and mark them done, in one go.

    :param missing: how many inputs each still misses; the caller's own
        transaction has marked those done
    :returns: False: one of them was not as expected. Some are marked then:
        the transaction must not commit.
    """
    alike: dict[tuple[int, bool], list[NodeKey]] = defaultdict(list)
    for key, count in sorted(missing.items()):
        alike[(count, key[1])].append(key)
    for (count, half), keys in sorted(alike.items()):
        for chunk in bulk.chunks(keys):
            marked = _run(
                conn, _filling(half), traversal, chunk, count=count
            ).rowcount
            if marked != len(chunk):
                return False
    return True


def decrement(
    conn: sa.Connection,
    traversal: Traversal,
    counts: Counter[NodeKey],
    complete: Collection[NodeKey] = (),
    waiting: Collection[NodeKey] = (),
) -> list[NodeKey]:
    """Take off inputs that have arrived.

    :param complete: keys of ``counts`` that get all their inputs at once,
        so that nobody has to look what is left
    :param waiting: keys of ``counts`` that are known to miss others
    :returns: the keys that now have all inputs: the caller fires them after
        its commit. The rows stay locked till then, so no other transaction
        can see them reach zero too.
    """
    by_amount: dict[tuple[int, bool], list[NodeKey]] = defaultdict(list)
    for key, amount in sorted(counts.items()):
        by_amount[(amount, key[1])].append(key)
    for (amount, half), keys in sorted(by_amount.items()):
        for chunk in bulk.chunks(keys):
            _run(conn, _taking_off(half), traversal, chunk, amount=amount)
    done = set(complete)
    open_ = counts.keys() - done - set(waiting)
    return sorted(done | ready_among(conn, traversal, open_))


def ready_among(
    conn: sa.Connection, traversal: Traversal, keys: Collection[NodeKey]
) -> set[NodeKey]:
    """Those of some nodes that may act now and have not acted."""
    found: set[NodeKey] = set()
    for half in (True, False):
        for chunk in bulk.chunks(sorted(k for k in keys if k[1] is half)):
            ready = _run(conn, _ready_of(half), traversal, chunk)
            found |= _keys(traversal, ready)
    return found


@functools.cache
def _ready_of(half: bool) -> bulk.Among:
    columns = (_points.c.entity_id, _points.c.is_update)
    return _named(half, sa.select(*columns).where(_open(ready=True)))


def _open(*, ready: bool) -> sa.ColumnElement[bool]:
    not_done = _points.c.done.is_(False)
    return sa.and_(_points.c.remaining == 0, not_done) if ready else not_done


_READY = sa.select(
    _points.c.stack_id,
    _points.c.traversal_id,
    _points.c.entity_id,
    _points.c.is_update,
).where(
    _points.c.stack_id.in_(sa.bindparam("stacks", expanding=True)),
    _open(ready=True),
)


def ready(
    conn: sa.Connection, traversals: Collection[Traversal]
) -> dict[Traversal, list[NodeKey]]:
    """Every node of some traversals that may act now and has not acted."""
    found: dict[Traversal, list[NodeKey]] = {each: [] for each in traversals}
    for chunk in bulk.chunks(sorted({each.stack_id for each in traversals})):
        for row in conn.execute(_READY, {"stacks": chunk}):
            of = Traversal(row.stack_id, row.traversal_id)
            if of in found:
                found[of].append(_key(of, row.entity_id, row.is_update))
    return {of: sorted(keys) for of, keys in found.items()}


def marks(conn: sa.Connection, traversal: Traversal) -> dict[NodeKey, bool]:
    """Every node of a traversal, and whether its action was recorded."""
    rows = conn.execute(
        sa.select(
            _points.c.entity_id, _points.c.is_update, _points.c.done
        ).where(
            _points.c.stack_id == traversal.stack_id,
            _points.c.traversal_id == traversal.traversal_id,
        )
    )
    return {
        _key(traversal, row.entity_id, row.is_update): bool(row.done)
        for row in rows
    }


def keep_open(
    conn: sa.Connection, traversal: Traversal, remaining: Mapping[NodeKey, int]
) -> None:
    """Mark a traversal's clean-up nodes done, but these, and set theirs.

    :param remaining: inputs that each of the others is still to await; the
        stack's own node is among them
    """
    whose = {
        "the_stack": traversal.stack_id,
        "traversal": traversal.traversal_id,
    }
    kept = sorted(_entity(traversal, key) for key in remaining)
    few = len(kept) <= bulk.CHUNK
    conn.execute(_DONE_BUT, {**whose, "entities": kept if few else []})
    for names in bulk.chunks([] if few else kept):
        conn.execute(_REOPEN, {**whose, "entities": names})
    by_count: dict[int, list[NodeKey]] = defaultdict(list)
    for key, count in sorted(remaining.items()):
        by_count[count].append(key)
    for count, keys in sorted(by_count.items()):
        for chunk in bulk.chunks(keys):
            _run(conn, _awaiting(), traversal, chunk, count=count)


def _advance(
    conn: sa.Connection,
    traversal: Traversal,
    keys: Collection[NodeKey],
    values: Mapping[str, Any],
    *,
    ready: bool,
) -> set[NodeKey]:
    """One conditional UPDATE a half; the row count is the answer.

    Each call writes a token of its own, so that when the count is short
    (superseded, or done by another) the rows that moved can be named.
    """
    token = random.getrandbits(31)  # noqa: S311 - not a secret
    moved: set[NodeKey] = set()
    for half in (True, False):
        for chunk in bulk.chunks(sorted(k for k in keys if k[1] is half)):
            query = _advancing(half, ready, tuple(values.items()))
            count = _run(conn, query, traversal, chunk, token=token).rowcount
            if count == len(chunk):
                moved.update(chunk)
            elif count:
                written = _run(
                    conn, _moved(half), traversal, chunk, token=token
                )
                moved |= _keys(traversal, written)
    return moved


@functools.cache
def _advancing(
    half: bool, ready: bool, values: tuple[tuple[str, Any], ...]
) -> bulk.Among:
    written = {"atomic_key": sa.bindparam("token"), **dict(values)}
    query = sa.update(_points).where(_open(ready=ready)).values(**written)
    return _named(half, query)


@functools.cache
def _taking_off(half: bool) -> bulk.Among:
    left = _points.c.remaining - sa.bindparam("amount")
    return _named(half, sa.update(_points).values(remaining=left))


@functools.cache
def _filling(half: bool) -> bulk.Among:
    missing = _points.c.remaining == sa.bindparam("count")
    query = sa.update(_points).where(missing, _open(ready=False))
    return _named(half, query.values(remaining=0, done=True))


@functools.cache
def _moved(half: bool) -> bulk.Among:
    """The rows that one call of :func:`_advance` wrote."""
    columns = (_points.c.entity_id, _points.c.is_update)
    by_it = _points.c.atomic_key == sa.bindparam("token")
    return _named(half, sa.select(*columns).where(by_it))


@functools.cache
def _awaiting() -> bulk.Among:
    count: sa.BindParameter[Any] = sa.bindparam("count")
    return _named(False, sa.update(_points).values(remaining=count))


def _named(half: bool, query: sa.Select[Any] | sa.Update) -> bulk.Among:
    """Of the rows that are named when it runs, which are of one half."""
    whose = _points.c.traversal_id == sa.bindparam("traversal")
    query = query.where(whose, _points.c.is_update.is_(half))
    return bulk.Among(_points.c.entity_id, query.where)


def _run(
    conn: sa.Connection,
    query: bulk.Among,
    traversal: Traversal,
    keys: Collection[NodeKey],
    **given: Any,
) -> sa.CursorResult[Any]:
    """Run a statement about nodes of one half."""
    given["traversal"] = traversal.traversal_id
    entities = sorted(_entity(traversal, key) for key in keys)
    return query.run(conn, entities, **given)


def _entity(traversal: Traversal, key: NodeKey) -> str:
    return str(key[0]) if key[0] else traversal.stack_id


def _keys(traversal: Traversal, rows: sa.CursorResult[Any]) -> set[NodeKey]:
    return {_key(traversal, row.entity_id, row.is_update) for row in rows}


def _key(traversal: Traversal, entity_id: str, is_update: bool) -> NodeKey:
    if entity_id == traversal.stack_id:
        return (0, bool(is_update))
    return (int(entity_id), bool(is_update))


_CLEANUP = sa.and_(
    _points.c.stack_id == sa.bindparam("the_stack"),
    _points.c.traversal_id == sa.bindparam("traversal"),
    _points.c.is_update.is_(False),
)
_ENTITIES: sa.BindParameter[Any]
_ENTITIES = sa.bindparam("entities", expanding=True)
_DONE_BUT = (
    sa.update(_points)
    .where(_CLEANUP, _points.c.entity_id.not_in(_ENTITIES))
    .values(done=True)
)
_REOPEN = (
    sa.update(_points)
    .where(_CLEANUP, _points.c.entity_id.in_(_ENTITIES))
    .values(done=False)
)
