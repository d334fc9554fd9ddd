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
"""What a failure, the end of the time, or a cancel makes of a stack.

A failure of the update half and the beginning of its rollback are one
transaction.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Callable

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.db import events, locks, resources, stacks, sync_points
from heat.engine.graph import build
from heat.engine.graph.build import STACK_CLEANUP, STACK_UPDATE
from heat.engine.ports import Engine
from heat.engine.traversal import (
    begin,
    finish,
    locking,
    passing,
    rows,
    snapshotting,
    tasks,
)
from heat.engine.traversal.scene import Scene, load_definition
from heat.engine.traversal.tasks import Result

LOG = logging.getLogger(__name__)

# A failure of these goes back to the template that completed last, unless
# the user disabled it.
ROLLED_BACK_ACTIONS = frozenset({"CREATE", "UPDATE", "ADOPT"})


def fail(
    engine: Engine, scene: Scene, result: Result
) -> tuple[begin.Begun | None, finish.Written]:
    """A node failed.

    In the update half that fails the stack: nothing else of the traversal
    starts, what runs runs to its end, and a rollback begins when it is
    wanted. In the clean-up half, and in SUSPEND, RESUME and CHECK, the nodes
    that had to come after it are skipped, their state untouched, and the
    others go on; the end names every failure.
    """
    now = timeutils.utcnow()
    try:
        if result.node.key[1] and scene.stack.action not in begin.WALKS:
            return engine.db.run(
                lambda conn: _fail_update(conn, scene, result, now)
            )
        return engine.db.run(
            lambda conn: (None, _fail_branch(conn, scene, result, now))
        )
    except rows.LostClaim:
        finish.record_stray(engine, result)
        return None, finish.Written()


def _fail_update(
    conn: sa.Connection, scene: Scene, result: Result, now: datetime.datetime
) -> tuple[begin.Begun | None, finish.Written]:
    action = result.task.action if result.task else "UPDATE"
    reason = f"Resource {action} failed: {result.error}"
    stack = stacks.get(conn, scene.stack.id)
    won = stack is not None and stacks.compare_and_set(
        conn,
        scene.stack.id,
        scene.traversal.traversal_id,
        {"status": "FAILED", "status_reason": reason},
        statuses={"IN_PROGRESS"},
        not_locked=False,
    )
    _write_failed_row(conn, scene, result, now)
    written = finish.Written()
    if not won or stack is None:
        written.superseded.append(result.node.row.id)
        return None, written
    rollback = not stack.disable_rollback
    return _failed_stack(conn, stack, reason, now, rollback), written


def _failed_stack(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    reason: str,
    now: datetime.datetime,
    rollback: bool,
    *,
    cancels: bool = False,
) -> begin.Begun | None:
    """The stack row is FAILED: say so, and begin what follows."""
    if stack.action == "SNAPSHOT":
        snapshotting.settle(conn, stack, "FAILED", reason)
    events.insert_many(
        conn, [begin.stack_event(stack, stack.action, "FAILED", reason, now)]
    )
    if stack.action not in ROLLED_BACK_ACTIONS or not rollback:
        sync_points.delete_for_stack(conn, stack.id)
        if stack.action in locks.LOCKING:
            locking.settle_failed(conn, stack, now)
        return None
    order = dataclasses.replace(
        _rollback(conn, stack, reason), cancels=cancels
    )
    return begin.begin(conn, stack, order, now)


def _rollback(
    conn: sa.Connection, stack: stacks.StackRecord, reason: str
) -> begin.Order:
    """Back to the template that completed last; to nothing without one."""
    reason = f"Stack ROLLBACK started ({reason})"
    target = stack.last_complete_template_id
    if target is None:
        # What could not be adopted is left as it was found.
        return begin.Order(
            "ROLLBACK",
            stack.raw_template_id,
            None,
            reason,
            abandons=stack.action == "ADOPT",
        )
    return begin.Order(
        "ROLLBACK", target, load_definition(conn, stack, target), reason
    )


def _fail_branch(
    conn: sa.Connection, scene: Scene, result: Result, now: datetime.datetime
) -> finish.Written:
    key = result.node.key
    skipped = scene.graph.all_dependants(key)
    done = sync_points.mark_done(
        conn, scene.traversal, {key, *skipped}, ready=False
    )
    _write_failed_row(conn, scene, result, now)
    written = finish.Written()
    if key not in done:
        # What began nothing holds no row that others wait for.
        if result.task is not None:
            written.superseded.append(result.node.row.id)
        return written
    # What was skipped passes nothing on, but to the stack's own node.
    gatherer = STACK_UPDATE if key[1] else STACK_CLEANUP
    ends = [each for each in done if gatherer in scene.graph.required_by(each)]
    if ends:
        written.fired = passing.arrive(conn, scene, gatherer, len(ends))
    return written


def _write_failed_row(
    conn: sa.Connection, scene: Scene, result: Result, now: datetime.datetime
) -> None:
    task = result.task
    if task is None:
        return
    prop_ids = tasks.note(conn, scene, [task])
    task.prop_data_id = prop_ids.get(result.node.row.id, task.prop_data_id)
    if not resources.update_claimed(
        conn,
        result.node.row.id,
        task.claim_id,
        rows.failed_values(result, now),
    ):
        raise rows.LostClaim(result)
    events.insert_many(conn, [tasks.ended_event(scene, result, now)])


def time_out(engine: Engine, stack: stacks.StackRecord) -> begin.Begun | None:
    """The stack's time is over: it fails, whatever its nodes do."""
    reason = f"Stack {stack.action} timed out"
    return engine.db.run(lambda conn: _interrupt(conn, stack, reason))


def cancel(
    engine: Engine,
    stack: stacks.StackRecord,
    *,
    rollback: bool,
    guard: Callable[[sa.Connection], None] | None = None,
) -> begin.Begun | None:
    """A user stops what runs: operations end at their next poll.

    :param guard: raises, in this transaction, when the caller may not stop
        it any more
    :raises ActionInProgress: it ended, or another began, meanwhile
    """

    def work(conn: sa.Connection) -> begin.Begun | None:
        if guard is not None:
            guard(conn)
        reason = f"Stack {stack.action} cancelled"
        begun = _interrupt(conn, stack, reason, rollback=rollback)
        now = stacks.get(conn, stack.id)
        if now is not None and now.status == "IN_PROGRESS" and not begun:
            raise exception.ActionInProgress(
                stack_name=stack.name, action=now.action
            )
        return begun

    return engine.db.run(work)


def give_up(
    engine: Engine,
    stack: stacks.StackRecord,
    why: Callable[[sa.Connection, stacks.StackRecord], str | None],
) -> begin.Begun | None:
    """Fail a traversal that will never end by itself.

    :param why: the reason; None: it was no more than it seemed
    """

    def work(conn: sa.Connection) -> begin.Begun | None:
        reason = why(conn, stack)
        if reason is None:
            return None
        return _interrupt(conn, stack, reason)

    return engine.db.run(work)


def _interrupt(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    reason: str,
    *,
    rollback: bool | None = None,
) -> begin.Begun | None:
    """Fail the traversal as it was read, from outside of it.

    :param rollback: whether somebody asks for one; None: as for any failure
    """
    now = timeutils.utcnow()
    idle = build.TraversalGraph({}, cancels=True)
    if not stacks.compare_and_set(
        conn,
        stack.id,
        stack.current_traversal,
        {
            "status": "FAILED",
            "status_reason": reason,
            "current_deps": idle.to_json(),
        },
        statuses={"IN_PROGRESS"},
        not_locked=False,
    ):
        return None
    # As it is by now: its update half may have ended since it was read.
    stack = stacks.get(conn, stack.id) or stack
    if rollback is None:
        rollback = not (stack.disable_rollback or _is_updated(conn, stack))
    return _failed_stack(conn, stack, reason, now, rollback, cancels=True)


def _is_updated(conn: sa.Connection, stack: stacks.StackRecord) -> bool:
    """Whether only clean-up is left: no failure rolls back any more."""
    traversal = sync_points.Traversal(stack.id, stack.current_traversal or "")
    found = sync_points.marks(conn, traversal)
    return found.get(STACK_UPDATE, bool(found))
