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
"""Writes how nodes ended, and passes on what that makes ready.

Every transaction here updates the SyncPoints of its nodes first: no row
means that the traversal was superseded. A superseded finish still records
the row's own state, as that is what the row now is, but fires nothing; the
node is sent again on the newest traversal. A finish that lost its claim
(this engine was taken for dead) writes nothing of the row: if it holds an
object that the row doesn't know, a stray row remembers it for clean-up.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.db import (
    claims,
    released,
    resources,
    sync_points,
)
from heat.engine.ports import Engine, NodeKey
from heat.engine.resource import Resource
from heat.engine.traversal import (
    ahead,
    begin,
    check,
    closing,
    hooks,
    passing,
    replacement,
    rows,
    wanted,
)
from heat.engine.traversal.decide import Step
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import Result, Task, note

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class Written:
    """What a finishing transaction made true.

    :ivar fired: nodes of this traversal that are ready now
    :ivar again: nodes to take up again (their replacement is there now)
    :ivar superseded: row ids to send again on the newest traversal
    :ivar done: what was written and marked done in this traversal
    :ivar taken: what became of nodes that were decided ahead
    :ivar closed: the half of the stack that ended with it, if any
    """

    fired: list[NodeKey] = dataclasses.field(default_factory=list)
    again: list[NodeKey] = dataclasses.field(default_factory=list)
    superseded: list[int] = dataclasses.field(default_factory=list)
    done: list[Result] = dataclasses.field(default_factory=list)
    taken: check.TakenUp = dataclasses.field(default_factory=check.TakenUp)
    closed: closing.Closed | None = None


def finish(
    engine: Engine,
    scene: Scene,
    results: Sequence[Result],
    plan: ahead.Ahead | None = None,
) -> Written:
    """Write nodes that ended well, or need a replacement; one transaction.

    :param plan: what was decided about the nodes that this makes ready
    """
    todo = sorted(_once(results), key=lambda each: each.node.row.id)
    strays: list[Result] = []
    now = timeutils.utcnow()
    engine.probe("finishing")
    while True:
        try:
            written = _run(
                engine,
                scene,
                functools.partial(
                    _finish,
                    engine=engine,
                    scene=scene,
                    results=todo,
                    plan=plan or ahead.Ahead(),
                    now=now,
                ),
            )
            break
        except ahead.Misjudged:
            plan = None
        except rows.LostClaim as lost:
            # Each member of the group is atomic of its own: go on without.
            plan = None
            strays.append(lost.result)
            todo.remove(lost.result)
    engine.probe("finished")
    for each in written.done:
        ahead.expect(scene, each)
    if plan is not None:
        written.taken = plan.taken(engine, scene)
    for stray in strays:
        record_stray(engine, stray)
    return written


def _once(results: Iterable[Result]) -> list[Result]:
    """One result of each node, which may have been taken up twice before its
    end was written: its dependants count it once. The operation's counts."""
    found: dict[NodeKey, Result] = {}
    for each in results:
        if each.task is not None or each.node.key not in found:
            found[each.node.key] = each
    return list(found.values())


def _run(
    engine: Engine, scene: Scene, work: Callable[[sa.Connection], Written]
) -> Written:
    """Do it, together with those of other stacks where these have no say."""
    stack = scene.stack
    if stack.action in begin.WALKS:
        return engine.db.run(work)
    return engine.db.share(work, "finish", stack.id, stack.owner_id)


def _finish(
    conn: sa.Connection,
    engine: Engine,
    scene: Scene,
    results: Sequence[Result],
    plan: ahead.Ahead,
    now: datetime.datetime,
) -> Written:
    # The stack's row before all others, if that is to be written too.
    closes = plan.closes if plan.closes and closing.hold(conn, scene) else None
    ended = [each for each in results if not each.replace]
    paused = _paused(conn, scene, ended)
    count = len(ended)
    ended = [each for each in ended if each not in paused]
    done = sync_points.mark_done(
        conn, scene.traversal, [each.node.key for each in ended]
    )
    written = Written()
    _replace(conn, scene, written, results, now)
    current = [each for each in ended if each.node.key in done]
    # An operation that was superseded is still what became of its row; a
    # node that had nothing to do (or was not ready yet) is just left.
    superseded = [
        each for each in ended if each.task and each.node.key not in done
    ]
    for each in superseded:
        each.superseded = True
    passed = plan.pass_along(conn, scene) if len(current) == count else []
    rows.write(conn, scene, current + superseded + paused + passed, now)
    hooks.pause_after(
        conn,
        scene,
        [(each.node, each.task.action) for each in paused if each.task],
    )
    written.superseded += [each.node.row.id for each in superseded]
    written.done = current + passed
    along = set(plan.missing) if passed else set()
    keys = [each.node.key for each in written.done]
    # What hangs on these alone is ready without being told.
    needs = scene.graph.requires(closes) if closes else ()
    whole = bool(needs) and set(keys).issuperset(needs)
    if closes and whole:
        along.add(closes)
    fired = passing.pass_on(conn, scene, keys, along)
    if closes and (whole or closes in fired):
        written.closed = closing.close_held(conn, scene, closes, now)
        if not written.closed.ended:
            left = len(needs) if whole else 0
            sync_points.mark_at_zero(conn, scene.traversal, {closes: left})
        fired = [key for key in fired if key != closes] + written.closed.fired
    written.fired = plan.claim(conn, engine, scene, fired)
    return written


def _paused(
    conn: sa.Connection, scene: Scene, ended: Iterable[Result]
) -> list[Result]:
    """What ended well but stops at a hook before others are told."""
    stop = [
        each
        for each in ended
        if each.task and hooks.stops_after(scene, each.node, each.task.action)
    ]
    if not stop:
        return []
    keys = [each.node.key for each in stop]
    ready = sync_points.fence(conn, scene.traversal, keys)
    return [each for each in stop if each.node.key in ready]


def _replace(
    conn: sa.Connection,
    scene: Scene,
    written: Written,
    results: Iterable[Result],
    now: datetime.datetime,
) -> None:
    """The plug-in asked for a replacement while it was updating."""
    wanted = [each for each in results if each.replace and each.task]
    if not wanted:
        return
    ready = sync_points.fence(
        conn, scene.traversal, [each.node.key for each in wanted]
    )
    wishes = []
    for each in wanted:
        task = each.task
        assert task is not None  # noqa: S101 - filtered above
        row = each.node.row
        if each.node.key in ready:
            type_ = each.node.rsrc.type() if each.node.rsrc else ""
            wishes.append(
                replacement.Wish(each.node.key, row, type_, task.claim_id)
            )
            continue
        # Superseded: the row goes back to what it was.
        resources.give_back(conn, row, task.claim_id)
        written.superseded.append(row.id)
    linked = replacement.make_many(conn, scene.target_template_id, wishes, now)
    written.again.extend(linked)


# -- while it runs ------------------------------------------------------------


def checkpoint(engine: Engine, scene: Scene, tasks: Sequence[Task]) -> None:
    """Record what waiting operations have made so far.

    From here on a crash finds the object by its id; and what a signal
    needs that comes before the end, such as who may send it, is there.
    """
    fresh = [task for task in tasks if not _is_recorded(task)]
    if not fresh:
        return

    tries = itertools.count()

    def work(conn: sa.Connection) -> dict[int, int]:
        again = next(tries) > 0
        prop_ids = note(conn, scene, fresh)
        for task in sorted(fresh, key=lambda each: each.node.row.id):
            rsrc, row_id = task.node.rsrc, task.node.row.id
            if rsrc is None:
                continue
            values: dict[str, Any] = {
                "physical_id": rsrc.resource_id,
                **rows.lock_found(Result(task.node)),
            }
            if task.action in ("CREATE", "ADOPT"):
                begun_with = prop_ids.get(row_id, task.prop_data_id)
                values["rsrc_prop_data_id"] = begun_with
            if resources.update_claimed(
                conn, row_id, task.claim_id, values, release=False
            ):
                rows.save_data(conn, [Result(task.node, task)], again=again)
                if task.node.step is Step.RESUME:
                    rows.take_from_strays(conn, task.node)
            elif "lock_found" in values:
                # Not recorded, so it must not be locked.
                task.operation = None
        return prop_ids

    prop_ids = engine.db.run(work)
    for task in fresh:
        task.saved = task.noted = True
        task.checkpoints += 1
        if task.node.rsrc is not None:
            task.node.data = task.node.rsrc.data()
        task.prop_data_id = prop_ids.get(task.node.row.id, task.prop_data_id)


def _is_recorded(task: Task) -> bool:
    """Whether there is nothing to record, or whoever made it has done so."""
    rsrc = task.node.rsrc
    if not task.noted or rsrc is None:
        return task.saved
    task.saved = task.saved or rsrc.is_recorded
    # What it makes later is recorded then.
    return task.saved or _is_as_it_was(task, rsrc)


def _is_as_it_was(task: Task, rsrc: Resource) -> bool:
    """Whether the row, which was there before, says all there is to say."""
    return (
        task.action in ("UPDATE", "DELETE")
        and rsrc.resource_id == task.node.row.physical_id
        and rsrc.data() == task.node.data
        and not rows.lock_found(Result(task.node))
    )


def record_stray(engine: Engine, result: Result) -> None:
    """Remember an object whose row was taken from us meanwhile."""
    node = result.node
    rsrc = node.rsrc
    made = rsrc.resource_id if rsrc is not None else None
    LOG.warning("the claim of resource %s was lost", node.row.name)
    task = result.task
    if task is None or task.action in ("DELETE", "ADOPT"):
        # What is adopted was there before: nothing was made.
        return
    if made in (None, node.row.physical_id):
        return
    assert made is not None  # noqa: S101 - seen above
    physical_id = made
    now = timeutils.utcnow()

    def work(conn: sa.Connection) -> None:
        # Whoever goes on with the create writes this row, and looks for
        # strays then: of the two one sees what the other did.
        claims.hold(conn, row_ids=[node.row.id])
        rows = resources.find_physical(conn, physical_id)
        if any(row.stack_id == node.row.stack_id for row in rows):
            return
        # Its row knew it and let it go meanwhile: it is not ours to delete.
        # Asked last, as whoever lets go does both at once.
        if released.is_registered(conn, node.row.stack_id, physical_id):
            return
        stray = wanted.new_row(
            node.row.stack_id,
            node.row.name,
            node.row.resource_type or "",
            node.row.current_template_id or 0,
            now,
            root_stack_id=node.row.root_stack_id,
        )
        stray.update(
            action=task.action,
            status="FAILED",
            status_reason="made by an engine that had lost its claim",
            physical_id=physical_id,
            rsrc_prop_data_id=task.prop_data_id,
            stray=True,
        )
        resources.insert_many(conn, [stray])

    engine.db.run(work)
