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
"""Rows of the ``resource`` table.

A claim is one conditional UPDATE: a row is held by whoever wrote
``claim_id``, and every later write of an operation asks for that claim.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, models, plural, resource_rows, stacks

_table = models.resource

ResourceRecord = resource_rows.ResourceRecord
# Made once: a statement of forty columns takes longer to put together than
# to run.
_ROWS = sa.select(*resource_rows.COLUMNS)
_record = resource_rows.record
# Made once: to put a statement together takes longer than to run it.
_IN_STACK = _table.c.stack_id == sa.bindparam("the_stack")
_OF_STACK = _ROWS.where(_IN_STACK).order_by(_table.c.id)
_OF_NAME = _OF_STACK.where(_table.c.name == sa.bindparam("the_name"))
_NAMES = sa.select(_table.c.id, _table.c.name).where(_IN_STACK)
_THESE = _table.c.id.in_(sa.bindparam("the_ids", expanding=True))
_ONLY_THESE = bulk.Among(_table.c.id, _ROWS.where)
_EXISTING = sa.select(_table.c.id).where(_THESE)
_IS_FREE = _table.c.claim_id.is_(None)
_FREE = _EXISTING.where(_IS_FREE).with_for_update()
_OURS = _EXISTING.where(_table.c.claim_id == sa.bindparam("the_claim"))
_CLAIMED = _ROWS.where(_table.c.claim_id.is_not(None))
_CLAIMED_OF = _CLAIMED.where(_IN_STACK)
_FAILED = _ROWS.where(
    _IN_STACK,
    _table.c.action.in_(sa.bindparam("the_actions", expanding=True)),
    _table.c.status == "FAILED",
    _table.c.stray.is_(False),
)
_MADE = sa.select(_table.c.uuid, _table.c.id).where(
    _IN_STACK, _table.c.uuid.in_(sa.bindparam("the_uuids", expanding=True))
)
_WRITE = sa.update(_table).where(_THESE)
_WRITE_FREE = _WRITE.where(_IS_FREE)
_LINK = sa.update(_table).where(
    _table.c.id == sa.bindparam("the_id"),
    _table.c.claim_id.is_not_distinct_from(
        sa.bindparam("the_claim", type_=_table.c.claim_id.type)
    ),
    _table.c.replaced_by.is_not_distinct_from(
        sa.bindparam("the_old", type_=_table.c.replaced_by.type)
    ),
)
_REMOVE = sa.delete(_table).where(_THESE)
_REMOVE_DATA = sa.delete(models.resource_data).where(
    models.resource_data.c.resource_id.in_(
        sa.bindparam("the_ids", expanding=True)
    )
)

# Where a record's field and its column have different names.
_COLUMN_OF = {"physical_id": "nova_instance", "metadata": "rsrc_metadata"}


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_COLUMN_OF.get(key, key): value for key, value in values.items()}


def insert_many(
    conn: sa.Connection, rows: Sequence[Mapping[str, Any]]
) -> list[int]:
    """Insert rows and return their ids, in the order given.

    Keys are field names of :class:`ResourceRecord`; all rows must have the
    same keys. The ids of several are read back by uuid, one query a chunk,
    which every database does alike.
    """
    if not rows:
        return []
    if len(rows) == 1:
        return [bulk.insert_one(conn, _table, _columns(rows[0]))]
    for chunk in bulk.chunks(rows):
        conn.execute(bulk.inserting(_table), [_columns(row) for row in chunk])
    ids: dict[str, int] = {}
    for chunk in bulk.chunks(rows):
        which = {
            "the_stack": rows[0]["stack_id"],
            "the_uuids": [row["uuid"] for row in chunk],
        }
        ids.update((row.uuid, row.id) for row in conn.execute(_MADE, which))
    return [ids[row["uuid"]] for row in rows]


def list_for_stack(conn: sa.Connection, stack_id: str) -> list[ResourceRecord]:
    """Every row of a stack, old versions included, by id."""
    rows = conn.execute(_OF_STACK, {"the_stack": stack_id})
    return [_record(row) for row in rows]


def versions(
    conn: sa.Connection, stack_id: str, name: str
) -> list[ResourceRecord]:
    """Every row of a resource of a stack, old versions included, by id."""
    which = {"the_stack": stack_id, "the_name": name}
    return [_record(row) for row in conn.execute(_OF_NAME, which)]


def list_for_stacks(
    conn: sa.Connection, stack_ids: Collection[str]
) -> list[ResourceRecord]:
    """Every row of several stacks, by id."""
    found: list[ResourceRecord] = []
    for chunk in bulk.chunks(sorted(stack_ids)):
        rows = conn.execute(
            _ROWS.where(_table.c.stack_id.in_(chunk)).order_by(_table.c.id)
        )
        found.extend(_record(row) for row in rows)
    return found


def names(conn: sa.Connection, stack_id: str) -> dict[int, str]:
    """The name of every row of a stack, by id."""
    rows = conn.execute(_NAMES, {"the_stack": stack_id})
    return {row.id: row.name for row in rows}


def get_many(
    conn: sa.Connection, ids: Iterable[int]
) -> dict[int, ResourceRecord]:
    """The rows with these ids, by id; missing ones are left out."""
    found: dict[int, ResourceRecord] = {}
    for chunk in bulk.chunks(sorted(set(ids))):
        rows = _ONLY_THESE.run(conn, chunk)
        found.update((row[0], _record(row)) for row in rows)
    return found


_HOLDERS = (
    sa.select(
        _table.c.nova_instance,
        _table.c.name,
        models.stack.c.name.label("stack_name"),
    )
    .join(models.stack, models.stack.c.id == _table.c.stack_id)
    .where(
        _table.c.nova_instance.in_(sa.bindparam("ids", expanding=True)),
        _table.c.external.is_(True),
        models.stack.c.tenant == sa.bindparam("tenant"),
        models.stack.c.deleted_at.is_(None),
    )
    .order_by(models.stack.c.name, _table.c.id)
)
# The database may take two ids for one; whoever asks knows his own.
plural.ask_for_all(
    _HOLDERS,
    _HOLDERS.add_columns(_table.c.nova_instance.label(plural.WHOSE)),
    "ids",
    listed=True,
)

_BEING_DELETED = (
    sa.select(_table.c.nova_instance)
    .join(models.stack, models.stack.c.id == _table.c.stack_id)
    .where(
        _table.c.nova_instance.in_(sa.bindparam("ids", expanding=True)),
        _table.c.action == "DELETE",
        _table.c.claim_id.is_not(None),
        models.stack.c.tenant == sa.bindparam("tenant"),
    )
)


def held_external(
    conn: sa.Connection, tenant: str | None, physical_ids: Collection[str]
) -> dict[str, list[str]]:
    """Those of some objects that rows of a project hold as the user's.

    The type is no part of the question: the same object may stand under
    another name of its type, and what is wrongly let go can be deleted by
    hand, what is wrongly deleted is gone.

    :returns: physical id -> who holds it, for people
    """
    found: dict[str, list[str]] = {}
    for chunk in bulk.chunks(sorted(physical_ids)):
        for row in conn.execute(_HOLDERS, {"ids": chunk, "tenant": tenant}):
            reader = f"{row.name} of stack {row.stack_name}"
            found.setdefault(row.nova_instance, []).append(reader)
    return found


def being_deleted(
    conn: sa.Connection, tenant: str | None, physical_ids: Collection[str]
) -> set[str]:
    """Those of some objects that an engine is deleting for a project."""
    found: set[str] = set()
    for chunk in bulk.chunks(sorted(physical_ids)):
        which = {"ids": chunk, "tenant": tenant}
        found.update(conn.execute(_BEING_DELETED, which).scalars())
    return found


def find_physical(
    conn: sa.Connection, physical_id: str
) -> list[ResourceRecord]:
    """Rows that hold an object of this id, in any stack."""
    rows = conn.execute(_ROWS.where(_table.c.nova_instance == physical_id))
    return [_record(row) for row in rows]


def claim(
    conn: sa.Connection,
    ids: Collection[int],
    claim_id: str,
    engine_id: str,
    action: str,
    now: datetime.datetime,
    *,
    atomic_key: int,
    replaced: bool,
    resumes: bool = False,
    requires: Mapping[int, Sequence[int]] | None = None,
) -> set[int]:
    """Take rows that nobody holds and show their action in progress.

    Doing it again with the same ``claim_id`` takes nothing more and gives
    the same answer, as nobody can tell whether a commit without an answer
    took place.

    :param atomic_key: of these rows as they were read; one that has moved
        on is left alone
    :param replaced: whether a row that has a replacement may be taken (to
        clean it up) or not (a late message must not update the old version)
    :param resumes: a create goes on that was begun
    :param requires: what rows will require from now on, where that differs:
        an operation that ends badly may have used it all the same
    :returns: the ids that are ours now
    """
    done: set[int] = set()
    requires = requires or {}
    taking, with_requires = _taking(action, replaced, resumes)
    told = {
        "the_claim": claim_id,
        "the_engine": engine_id,
        "the_key": atomic_key,
        "the_time": now,
    }
    for chunk in bulk.chunks(sorted(ids)):
        query, given = taking, told
        news = {key: requires[key] for key in chunk if key in requires}
        if news and len(chunk) == 1:
            query = with_requires
            given = {**told, "the_requires": list(news[chunk[0]])}
        elif news:
            query = _claiming(action, replaced, resumes, _by_id(news))
        count = query.run(conn, chunk, **given).rowcount
        if count == len(chunk):
            done.update(chunk)
        elif count:
            done |= held_by(conn, chunk, claim_id)
    return done


def held_by(
    conn: sa.Connection, ids: Collection[int], claim_id: str
) -> set[int]:
    """Those of some rows that a claim holds."""
    which = {"the_ids": sorted(ids), "the_claim": claim_id}
    return set(conn.execute(_OURS, which).scalars())


@functools.cache
def _taking(
    action: str, replaced: bool, resumes: bool
) -> tuple[bulk.Among, bulk.Among]:
    """To claim rows as they are, and to claim one with new requirements."""
    given = sa.bindparam("the_requires", type_=_table.c.requires.type)
    return (
        _claiming(action, replaced, resumes),
        _claiming(action, replaced, resumes, given),
    )


def _claiming(
    action: str,
    replaced: bool,
    resumes: bool,
    requires: sa.ColumnElement[Any] | None = None,
) -> bulk.Among:
    """To write rows that may be claimed, see :func:`claim`."""
    columns = list(_held(action).items())
    if requires is not None:
        columns.append(("requires", requires))
    key = sa.func.coalesce(_table.c.atomic_key, 0)
    free = [_IS_FREE, key == sa.bindparam("the_key")]
    if not replaced:
        free.append(_table.c.replaced_by.is_(None))
    if action in ("CREATE", "ADOPT") and not resumes:
        # Only what was never begun: a create is not run twice blind.
        free.append(_table.c.action == "INIT")
    ours = _table.c.claim_id == sa.bindparam("the_claim")
    query = sa.update(_table).where(sa.or_(ours, sa.and_(*free)))
    return bulk.Among(_table.c.id, query.ordered_values(*columns).where)


def _held(action: str) -> dict[str, Any]:
    """The columns of a row in somebody's hands, in the order to set them."""
    base = stacks.base_columns(_table) if action in stacks.LOCKING else {}
    return {
        **base,
        "claim_id": sa.bindparam("the_claim"),
        "engine_id": sa.bindparam("the_engine"),
        "action": action,
        "status": "IN_PROGRESS",
        "status_reason": "state changed",
        "atomic_key": sa.func.coalesce(_table.c.atomic_key, 0) + 1,
        "updated_at": sa.bindparam("the_time"),
        **({"external": True} if action == "ADOPT" else {}),
    }


def _by_id(requires: Mapping[int, Sequence[int]]) -> sa.ColumnElement[Any]:
    """An expression for ``requires`` that gives each row its own."""
    column = _table.c.requires
    return sa.case(
        *(
            (_table.c.id == key, sa.literal(list(rows), column.type))
            for key, rows in sorted(requires.items())
        ),
        else_=column,
    )


def update_claimed(
    conn: sa.Connection,
    row_id: int,
    claim_id: str,
    values: Mapping[str, Any],
    *,
    release: bool = True,
    atomic_key: int | None = None,
) -> bool:
    """Write a row that this claim holds; False when the claim was lost.

    :param atomic_key: of the row as it is known: one that a signal has
        written meanwhile is left alone, too
    """
    columns = _columns(values)
    if release:
        columns.update(claim_id=None, engine_id=None)
    query = _write_claimed(tuple(columns), atomic_key is not None)
    given = {f"new_{name}": value for name, value in columns.items()}
    given.update(the_id=row_id, the_claim=claim_id)
    if atomic_key is not None:
        given["the_key"] = atomic_key
    return bool(conn.execute(query, given).rowcount)


def give_back(
    conn: sa.Connection, row: ResourceRecord, claim_id: str, **more: Any
) -> bool:
    """Let go of a claimed row in the state in which it was read.

    :param more: further columns to write
    """
    state = {
        "action": row.action,
        "status": row.status,
        "status_reason": row.status_reason,
    }
    return update_claimed(conn, row.id, claim_id, {**state, **more})


@functools.lru_cache(maxsize=128)
def _write_claimed(names: tuple[str, ...], keyed: bool) -> sa.Update:
    """Made once for all that write the same columns."""
    values: dict[str, Any] = {n: sa.bindparam(f"new_{n}") for n in names}
    key = sa.func.coalesce(_table.c.atomic_key, 0)
    values["atomic_key"] = key + 1
    query = (
        sa.update(_table)
        .where(_table.c.id == sa.bindparam("the_id"))
        .where(_table.c.claim_id == sa.bindparam("the_claim"))
    )
    if keyed:
        query = query.where(key == sa.bindparam("the_key"))
    return query.values(**values)


def update_unclaimed(
    conn: sa.Connection, ids: Collection[int], values: Mapping[str, Any]
) -> int:
    """Write rows that nobody holds; how many that were."""
    count = 0
    for chunk in bulk.chunks(sorted(ids)):
        given = {**_columns(values), "the_ids": chunk}
        count += conn.execute(_WRITE_FREE, given).rowcount
    return count


def failed(
    conn: sa.Connection, stack_id: str, actions: Collection[str]
) -> list[ResourceRecord]:
    """The rows on which one of some actions failed."""
    which = {"the_stack": stack_id, "the_actions": sorted(actions)}
    return [_record(row) for row in conn.execute(_FAILED, which)]


def delete_unclaimed(conn: sa.Connection, ids: Collection[int]) -> None:
    """Remove rows that nobody holds."""
    for chunk in bulk.chunks(sorted(ids)):
        free = conn.execute(_FREE, {"the_ids": chunk}).scalars().all()
        delete_many(conn, free)


def set_values(
    conn: sa.Connection, ids: Collection[int], values: Mapping[str, Any]
) -> None:
    """Write rows whoever holds them (links between versions only)."""
    for chunk in bulk.chunks(sorted(ids)):
        conn.execute(_WRITE, {**_columns(values), "the_ids": chunk})


def set_replaced_by(
    conn: sa.Connection,
    row_id: int,
    new_id: int,
    *,
    expect: int | None,
    claim_id: str | None,
) -> bool:
    """Link a row to its replacement.

    :param expect: ``replaced_by`` as it was read, when the caller saw that
        it was empty or led to a row of another template
    :param claim_id: the claim that holds the row; None: nobody may hold it
    """
    which = {"the_id": row_id, "the_claim": claim_id, "the_old": expect}
    return bool(conn.execute(_LINK, {**which, "replaced_by": new_id}).rowcount)


def claimed(
    conn: sa.Connection, stack_id: str | None = None
) -> list[ResourceRecord]:
    """Every row that some engine holds, of one stack if it is named."""
    if stack_id is None:
        return [_record(row) for row in conn.execute(_CLAIMED)]
    rows = conn.execute(_CLAIMED_OF, {"the_stack": stack_id})
    return [_record(row) for row in rows]


_STRAYS = _ROWS.join(
    models.stack, models.stack.c.id == _table.c.stack_id
).where(
    _table.c.stray.is_(True),
    _table.c.claim_id.is_(None),
    sa.not_(
        sa.and_(_table.c.action == "DELETE", _table.c.status == "COMPLETE")
    ),
    models.stack.c.status != "IN_PROGRESS",
    models.stack.c.lock_level.is_(None),
)


def strays_at_rest(conn: sa.Connection) -> list[ResourceRecord]:
    """Strays that nobody holds, of stacks that no traversal works on."""
    return [_record(row) for row in conn.execute(_STRAYS)]


def existing(conn: sa.Connection, ids: Collection[int]) -> set[int]:
    """Those of some row ids that are there."""
    found: set[int] = set()
    for chunk in bulk.chunks(sorted(ids)):
        found.update(conn.execute(_EXISTING, {"the_ids": chunk}).scalars())
    return found


def delete_many(conn: sa.Connection, ids: Collection[int]) -> None:
    """Remove rows and what only they refer to."""
    for chunk in bulk.chunks(sorted(ids)):
        conn.execute(_REMOVE_DATA, {"the_ids": chunk})
        conn.execute(_REMOVE, {"the_ids": chunk})
