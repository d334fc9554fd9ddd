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
"""Begins a traversal: one transaction, compare-and-set first.

The order of the statements is the protection: the compare-and-set on the
stack row comes before anything is read, so whoever loses the race undoes
nothing; then the SyncPoints of the traversal before go, so nothing of it
starts any more; only then are the rows read that the graph is built from.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.db import (
    events,
    going,
    locks,
    resources,
    stacks,
    sync_points,
)
from heat.engine.definition import StackDefinition
from heat.engine.graph import build
from heat.engine.ports import NodeKey
from heat.engine.traversal import wanted

# A traversal of these actions that ends well makes its template the one
# that a later failure rolls back to.
COMPLETING_ACTIONS = frozenset(
    {"CREATE", "ADOPT", "UPDATE", "RESTORE", "ROLLBACK"}
)

# Actions that walk over what is there and leave the template alone; True:
# what requires others goes first.
WALKS = {
    "SUSPEND": True,
    "RESUME": False,
    "CHECK": False,
    "SNAPSHOT": False,
    # These begin in .locking.
    "LOCK": True,
    "UNLOCK": True,
}


# Actions that ``updated_time`` does not tell of.
_CHANGE_NOTHING = frozenset({"CREATE", "LOCK", "UNLOCK"})

# What the action before LOCK and UNLOCK was counts no more.
_NO_BASE: Mapping[str, None] = dict.fromkeys(
    ("base_action", "base_status", "base_status_reason")
)


@dataclasses.dataclass(frozen=True)
class Order:
    """What a traversal is to reach.

    :param traversal_id: made by the caller, outside of the transaction, so
        that a repeated transaction recognises its own work
    :param template_id: the raw_template row that becomes the stack's
    :param definition: what is wanted; None: nothing (DELETE)
    :param stack_values: further columns of the stack row to set with it
    :param cancels: running operations of earlier traversals end at their
        next poll, in place of running to their end
    :param abandons: clean-up lets every object go; nothing is deleted
    :param observes: live objects are looked at before they are updated
    :param given: the objects that resources take over, by resource name
    :param releases: the stack's lock, which had failed, ends with it
    :param holds: what the update replaces is kept until the stack above is
        updated, too
    :param cleans: only what was kept so is deleted
    :param also: written with its beginning, once the stack is ours and
        before its rows are read; what it raises undoes everything
    """

    action: str
    template_id: int
    definition: StackDefinition | None
    reason: str
    stack_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    traversal_id: str = dataclasses.field(
        default_factory=lambda: str(uuid.uuid4())
    )
    cancels: bool = False
    abandons: bool = False
    observes: bool = False
    given: Mapping[str, wanted.Given] = dataclasses.field(default_factory=dict)
    releases: bool = False
    holds: bool = False
    cleans: bool = False
    also: Callable[[sa.Connection], None] | None = None

    def of_version(self, template_id: int) -> Order:
        """The same, once the version that it wants is stored."""
        return dataclasses.replace(self, template_id=template_id)

    def wishes(self) -> wanted.Wishes:
        """The resources that it wants."""
        wishes = (
            self.definition.resource_definitions if self.definition else {}
        )
        types = {name: each.resource_type for name, each in wishes.items()}
        return wanted.Wishes(types, self.template_id, self.given)


@dataclasses.dataclass(frozen=True)
class Opening:
    """A traversal of which everything is known to who has begun it.

    :ivar stack: the record of its stack
    :ivar rows: the records of its resources
    """

    stack: stacks.StackRecord
    graph: build.TraversalGraph
    rows: tuple[resources.ResourceRecord, ...]


@dataclasses.dataclass(frozen=True)
class Begun:
    """A traversal that is in the database; send its ready nodes now.

    :ivar graph: its graph; None: this engine has not drawn it
    :ivar rows: the records of its resources, if they are as they were read
    :ivar opening: what this engine need not read to work on it
    """

    stack_id: str
    traversal_id: str
    ready: tuple[NodeKey, ...]
    graph: build.TraversalGraph | None = None
    rows: tuple[resources.ResourceRecord, ...] | None = None
    opening: Opening | None = None


def at_hand(conn: sa.Connection, begun: Begun) -> Begun:
    """What was just begun, with all that is to be known to work on it.

    Nobody writes the stack before this transaction ends, nor a row that is
    not held: what would have claimed it meets no SyncPoint any more.
    """
    stack = stacks.get(conn, begun.stack_id)
    if begun.graph is None or stack is None:
        return begun
    rows = begun.rows
    if rows is None:
        rows = tuple(resources.list_for_stack(conn, begun.stack_id))
    opening = Opening(stack, begun.graph, rows)
    return dataclasses.replace(begun, opening=opening)


def begin(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    order: Order,
    now: datetime.datetime,
) -> Begun:
    """Begin a traversal on the stack as the caller read it.

    :raises ActionInProgress: another traversal began since it was read
    :raises StackLocked: it is locked
    :raises EntityNotFound: it is gone
    """
    if not stacks.compare_and_set(
        conn,
        stack.id,
        stack.current_traversal,
        {
            **_begun_values(order, now),
            "prev_raw_template_id": stack.raw_template_id,
            **_NO_BASE,
            **(locks.NO_LOCK if order.releases else {}),
        },
        statuses=[stack.status] if order.releases else None,
        not_locked=not order.releases,
    ):
        return _lost(conn, stack, order)
    if order.releases:
        locks.lay_open(conn, stack.id)
    sync_points.delete_for_stack(conn, stack.id)
    if order.also is not None:
        # Rows after SyncPoints, as whoever finishes a node takes them.
        order.also(conn)
    return _walk(conn, stack, order, now, _extant(conn, stack.id))


def begin_new(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    values: Mapping[str, Any],
    order: Order,
    now: datetime.datetime,
) -> Begun:
    """Insert a stack, and begin its first traversal.

    Nobody can know it yet, so there is nothing to compare nor to clear.

    :param values: its columns, and ``tags``
    :raises StackExists: there is one of this name
    """
    begun = _begun_values(order, now)
    stacks.insert(conn, {**values, **begun})
    known = {"user_creds_id": values.get("user_creds_id"), **begun}
    stack = dataclasses.replace(stack, **known)
    rows = wanted.insert_rows(conn, stack, order.wishes(), now)
    graph = build.build(
        {name: row.id for name, row in rows.items()},
        order.definition.dependencies() if order.definition else {},
        [],
        cancels=order.cancels,
    )
    return dataclasses.replace(
        _open(conn, stack, order, now, graph),
        opening=None
        if order.given
        else Opening(stack, graph, tuple(rows.values())),
    )


def _begun_values(order: Order, now: datetime.datetime) -> dict[str, Any]:
    """The columns of a stack that say what begins."""
    # Who walks over what is there leaves alone what is kept for later.
    held = {} if order.action in WALKS else {"holds_cleanup": order.holds}
    changed = {} if order.action in _CHANGE_NOTHING else {"updated_at": now}
    return {
        **held,
        **changed,
        **order.stack_values,
        "current_traversal": order.traversal_id,
        "action": order.action,
        "status": "IN_PROGRESS",
        "status_reason": order.reason,
        "raw_template_id": order.template_id,
        "traversal_started": now,
    }


def _walk(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    order: Order,
    now: datetime.datetime,
    rows: list[resources.ResourceRecord],
) -> Begun:
    """Draw the graph, and store it; the stack's row is ours.

    :param rows: those of the stack that still count
    """
    graph, same = _graph(conn, stack, order, now, rows)
    begun = _open(conn, stack, order, now, graph)
    return dataclasses.replace(begun, rows=tuple(rows) if same else None)


def _open(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    order: Order,
    now: datetime.datetime,
    graph: build.TraversalGraph,
) -> Begun:
    """Store a graph and its SyncPoints, and say so."""
    traversal = sync_points.Traversal(stack.id, order.traversal_id)
    graph.abandons = order.abandons
    graph.observes = order.observes
    graph.cleans = order.cleans
    stacks.update(conn, stack.id, current_deps=graph.to_json())
    sync_points.insert_many(
        conn,
        traversal,
        {key: len(graph.requires(key)) for key in graph.nodes()},
    )
    events.insert_many(
        conn,
        [stack_event(stack, order.action, "IN_PROGRESS", order.reason, now)],
    )
    return Begun(stack.id, order.traversal_id, tuple(graph.ready()), graph)


def _graph(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    order: Order,
    now: datetime.datetime,
    rows: list[resources.ResourceRecord],
) -> tuple[build.TraversalGraph, bool]:
    """Insert the rows that are missing, draw the graph.

    :returns: whether the rows are as they were beside it
    """
    if order.cleans:
        kept = _as_extant(_kept(conn, stack, order, rows))
        return build.build({}, {}, kept, cancels=order.cancels), False
    extant = _as_extant(rows)
    if order.action in WALKS:
        there = {row.id for row in rows if _is_there(row)}
        walk = build.walk(
            [each for each in extant if each.row_id in there],
            down=WALKS[order.action],
            cancels=order.cancels,
        )
        return walk, True
    chosen = wanted.find_rows(conn, stack, order.wishes(), rows, now)
    passed = passed_on(rows, set(chosen.values()))
    if passed:
        resources.set_values(conn, sorted(passed), {"external": True})
    graph = build.build(
        chosen,
        order.definition.dependencies() if order.definition else {},
        extant,
        cancels=order.cancels,
        deletes=order.action == "DELETE",
    )
    made = {row.id for row in rows if _is_there(row)}
    return graph, not passed and made.issuperset(chosen.values())


def _as_extant(
    rows: Sequence[resources.ResourceRecord],
) -> list[build.Extant]:
    return [build.Extant(row.id, frozenset(row.requires)) for row in rows]


def _kept(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    order: Order,
    rows: Sequence[resources.ResourceRecord],
) -> list[resources.ResourceRecord]:
    """The rows that an update has left for later to clean up."""
    wishes = order.wishes()
    for row_id, successor in _superseded(rows, wishes).items():
        resources.set_values(conn, [row_id], {"replaced_by": successor})
    found = going.rows(conn, stack.id, everything=False)
    old = {each.id for each in found}
    return [
        row
        for row in rows
        if row.id in old
        or row.name not in wishes.types
        or row.current_template_id != wishes.template_id
    ]


def _superseded(
    rows: Sequence[resources.ResourceRecord], wishes: wanted.Wishes
) -> dict[int, int]:
    """Rows that an update has passed over -> the row that it has made.

    The same version may have been tried before: what that had planned, or
    could not make, is of this version as well.
    """
    tried: dict[str, list[resources.ResourceRecord]] = {}
    for row in rows:
        if row.replaced_by is None and not row.stray:
            tried.setdefault(row.name, []).append(row)
    found: dict[int, int] = {}
    for versions in tried.values():
        best = wanted.best_existing(versions, wishes.template_id, None)
        found |= {
            row.id: best.id for row in versions if best and row is not best
        }
    return found


def _is_there(row: resources.ResourceRecord) -> bool:
    """Whether a walk visits a row: made once, and not on its way out."""
    return (
        row.action not in ("INIT", "DELETE")
        and row.replaced_by is None
        and not row.stray
    )


def passed_on(
    rows: Sequence[resources.ResourceRecord], wanted: Collection[int]
) -> set[int]:
    """Rows whose object became the user's under another name that goes now.

    The going row lets the object go. So must these: else it would hang on
    the order of clean-up whether one of them deletes it, and one that is
    wanted would own it again without being handed back.

    :param wanted: ids of the rows that the traversal wants
    """
    theirs = {
        row.physical_id
        for row in rows
        if row.external
        and row.id not in wanted
        and row.action not in ("INIT", "ADOPT")
    }
    return {
        row.id
        for row in rows
        if row.physical_id is not None
        and row.physical_id in theirs
        and not row.external
    }


def _begun_before(
    conn: sa.Connection, stack_id: str, traversal_id: str
) -> Begun | None:
    """The traversal, if an earlier try of this very work has begun it.

    So it is when the commit took place and its answer got lost.
    """
    if stacks.current_traversal(conn, stack_id) != traversal_id:
        return None
    graph = build.TraversalGraph.from_json(stacks.get_deps(conn, stack_id))
    return Begun(stack_id, traversal_id, tuple(graph.ready()))


def stack_event(
    stack: stacks.StackRecord,
    action: str,
    status: str,
    reason: str,
    now: datetime.datetime,
) -> dict[str, Any]:
    """The event row of a stack's own change of state."""
    return {
        "stack_id": stack.id,
        "created_at": now,
        "resource_action": action,
        "resource_status": status,
        "resource_name": stack.name,
        "physical_resource_id": stack.id,
        "resource_status_reason": reason,
        "resource_type": "OS::Heat::Stack",
        "rsrc_prop_data_id": None,
    }


def _lost(
    conn: sa.Connection, stack: stacks.StackRecord, order: Order
) -> Begun:
    """The compare-and-set failed: was it an earlier try of this very work?"""
    now = stacks.get(conn, stack.id, show_deleted=True)
    if now is None or now.deleted_at is not None:
        raise exception.EntityNotFound(entity="Stack", name=stack.name)
    earlier = _begun_before(conn, stack.id, order.traversal_id)
    if earlier is not None:
        return earlier
    if now.lock_level is not None:
        raise locks.refusal(now, order.action.lower())
    raise exception.ActionInProgress(stack_name=stack.name, action=now.action)


def _extant(
    conn: sa.Connection, stack_id: str
) -> list[resources.ResourceRecord]:
    """Every row that still counts; what was deleted before goes now."""
    rows = resources.list_for_stack(conn, stack_id)
    gone = [
        row.id
        for row in rows
        if (row.action, row.status) == ("DELETE", "COMPLETE")
        and row.claim_id is None
    ]
    if gone:
        resources.delete_many(conn, gone)
        rows = [row for row in rows if row.id not in set(gone)]
    return rows
