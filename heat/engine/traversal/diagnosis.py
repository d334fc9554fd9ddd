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
"""Finds out how a traversal stands, and whether it can go on at all.

Reads only, and decides nothing: recovery and operators ask. What is ready
and held by nobody is on its way, or was lost on it, and is sent again. A
traversal of which nothing is ready, or of which a node has lost its row,
will never end by itself: that is said, never left silently in progress.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from heat.common import exception
from heat.common.i18n import _
from heat.db import events, resources, stacks, sync_points
from heat.engine.graph.build import TraversalGraph
from heat.engine.ports import NodeKey
from heat.engine.traversal import begin
from heat.engine.traversal.scene import load_definition

# Actions that are traversals: others are in progress by other means.
TRAVERSALS = begin.COMPLETING_ACTIONS | begin.WALKS.keys() | {"DELETE"}


@dataclasses.dataclass(frozen=True)
class Standing:
    """How a traversal stands.

    :ivar ready: nodes that could act, have not, and whose row nobody holds
    :ivar held: rows that some engine holds
    :ivar lost: those of ``ready`` whose row is gone, and that can't do
        without
    :ivar dead_end: nothing is ready, so nothing will ever happen
    """

    ready: tuple[NodeKey, ...]
    held: tuple[resources.ResourceRecord, ...]
    lost: tuple[NodeKey, ...]
    dead_end: bool

    @property
    def broken(self) -> bool:
        return self.dead_end or bool(self.lost)


def look(conn: sa.Connection, stack: stacks.StackRecord) -> Standing:
    """See how the traversal of a stack in progress stands."""
    return look_at(conn, [stack])[stack.id]


def look_at(
    conn: sa.Connection, found: Sequence[stacks.StackRecord]
) -> dict[str, Standing]:
    """See how the traversals of stacks in progress stand, by stack id.

    Of many as of one: three statements, and more only for what is broken.

    A node stays ready until it is done, whoever runs it, and what it makes
    ready is so from the same commit on: so one statement sees a dead end.
    A traversal that has ended since the stack was read looks like one, as
    its SyncPoints went with it: only afterwards can that be told apart.
    """
    ready = sync_points.ready(conn, [_traversal(each) for each in found])
    alone = found[0].id if len(found) == 1 else None
    held = resources.claimed(conn, alone) if found else []
    busy = {row.id for row in held} | {
        row.replaces for row in held if row.replaces is not None
    }
    free = [k for keys in ready.values() for k in keys if k[0] not in busy]
    # A clean-up node without a row has nothing left to do; others have.
    updates = {key[0] for key in free if key[1] and key[0]}
    lost = updates - resources.existing(conn, updates)
    theirs: dict[str, list[resources.ResourceRecord]] = {}
    for row in held:
        theirs.setdefault(row.stack_id, []).append(row)
    standings: dict[str, Standing] = {}
    for stack in found:
        keys = ready[_traversal(stack)]
        able = tuple(key for key in keys if key[0] not in busy)
        standing = Standing(
            able,
            tuple(theirs.get(stack.id, ())),
            tuple(key for key in able if key[1] and key[0] in lost),
            not keys and stack.action in TRAVERSALS,
        )
        if standing.broken and not _is_still(conn, stack):
            standing = Standing((), (), (), dead_end=False)
        standings[stack.id] = standing
    return standings


def _is_still(conn: sa.Connection, stack: stacks.StackRecord) -> bool:
    """Whether a stack is in the traversal in which it was read."""
    known = stacks.get(conn, stack.id)
    return (
        known is not None
        and known.status == "IN_PROGRESS"
        and known.current_traversal == stack.current_traversal
    )


def _traversal(stack: stacks.StackRecord) -> sync_points.Traversal:
    return sync_points.Traversal(stack.id, stack.current_traversal or "")


def why_broken(conn: sa.Connection, stack: stacks.StackRecord) -> str | None:
    """Why a stack in progress will never come to rest; None: it may."""
    standing = look(conn, stack)
    if standing.lost:
        reason = _("the record of %s is missing from the database") % (
            _lost_names(conn, stack, standing.lost)
        )
        reason += _("; an object of it may be left over")
    elif standing.dead_end:
        reason = _dead_end(conn, stack)
    else:
        return None
    return _("Stack %(action)s can't go on: %(reason)s") % {
        "action": stack.action,
        "reason": reason,
    }


def _lost_names(
    conn: sa.Connection, stack: stacks.StackRecord, lost: Collection[NodeKey]
) -> str:
    ids = ", ".join(str(key[0]) for key in lost)
    try:
        wanted = load_definition(conn, stack, stack.raw_template_id)
        there = set(resources.names(conn, stack.id).values())
        names = [n for n in wanted.resource_definitions if n not in there]
    except (exception.HeatException, ValueError):
        names = []
    if len(names) == len(lost):
        return _("resource %(names)s (row %(ids)s)") % {
            "names": ", ".join(names),
            "ids": ids,
        }
    return _("a resource (row %s)") % ids


def _dead_end(conn: sa.Connection, stack: stacks.StackRecord) -> str:
    marks = sync_points.marks(conn, _traversal(stack))
    if not marks:
        return _("the records of its nodes (SyncPoints) are missing")
    graph = TraversalGraph.from_json(stacks.get_deps(conn, stack.id))
    gone = sorted(key for key in graph.nodes() if key not in marks)
    waiting = sum(not done for done in marks.values())
    if gone:
        return _(
            "the records of %(gone)d nodes (SyncPoints) are missing: %(ids)s; "
            "%(waiting)d others wait"
        ) % {
            "gone": len(gone),
            "ids": ", ".join(_name(key, {}) for key in gone[:10]),
            "waiting": waiting,
        }
    return _("%d nodes wait and nothing is left that could run") % waiting


# -- for operators ------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Report:
    """How the traversal of one stack stands, in words.

    :ivar last_event: when something last happened; None: never
    :ivar ready: nodes that nobody holds
    :ivar dead: rows held by an engine that is dead
    :ivar running: rows that living engines work on
    :ivar broken: why it will never end; None: it may
    """

    stack: stacks.StackRecord
    last_event: datetime.datetime | None
    ready: tuple[str, ...]
    dead: tuple[resources.ResourceRecord, ...]
    running: tuple[resources.ResourceRecord, ...]
    broken: str | None

    @property
    def stands_still(self) -> bool:
        """Whether nobody works on it, as far as that can be seen."""
        return bool(self.ready or self.dead or self.broken)


def report(
    conn: sa.Connection, stack: stacks.StackRecord, living: Collection[str]
) -> Report:
    """See how a stack in progress stands.

    :param living: ids of the engines that live
    """
    standing = look(conn, stack)
    names = resources.names(conn, stack.id)
    dead = [row for row in standing.held if row.engine_id not in living]
    last = events.list_(
        conn,
        [stack.id],
        limit=1,
        sort_keys=["created_at"],
        sort_dir="desc",
        with_properties=False,
    )
    return Report(
        stack,
        last[0].created_at if last else None,
        tuple(_name(key, names) for key in standing.ready),
        tuple(dead),
        tuple(row for row in standing.held if row not in dead),
        why_broken(conn, stack),
    )


def _name(key: NodeKey, names: dict[int, str]) -> str:
    half = _("update") if key[1] else _("clean-up")
    if not key[0]:
        return _("the stack itself (%s)") % half
    return f"{names.get(key[0], key[0])} ({half})"
