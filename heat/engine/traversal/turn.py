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
"""One turn of a lane: finish what has ended, then take up what is ready.

Threads and timers are the runner's business; a turn is a function of the
database and the plug-ins, so the simulation runs exactly this.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Collection, Sequence

from heat.common.context import RequestContext
from heat.db import stacks
from heat.engine.graph.build import STACK_CLEANUP
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import (
    ahead,
    begin,
    check,
    closing,
    finish,
    operate,
    outcome,
    users,
)
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import Result, Task

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class Work:
    """What has gathered in a lane.

    :ivar results: operations that ended on a thread of their own
    :ivar due: waiting operations whose time has come
    :ivar ready: nodes to take up
    :ivar claimed: operations claimed and not started; they come alone, as
        what has started must not be lost because something else fails
    """

    results: list[Result]
    due: list[Task]
    ready: list[NodeKey]
    claimed: list[Task] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.results or self.due or self.ready or self.claimed)

    def keys(self) -> set[NodeKey]:
        return (
            set(self.ready)
            | {each.node.key for each in self.results}
            | {each.node.key for each in self.due}
        )


@dataclasses.dataclass
class Done:
    """What a turn leaves to do.

    :ivar ready: nodes that are ready now
    :ivar released: keys this engine works on no more
    :ivar results: ended operations still to be written
    :ivar threads: operations to step on a thread (task, first step)
    :ivar waiting: operations to come back to (seconds, task)
    :ivar claimed: operations to start (:attr:`Work.claimed`)
    :ivar begun: traversals that took this one's place
    :ivar superseded: row ids to send on the newest traversal
    :ivar ended: the traversal is over
    :ivar woken: the stack is a nested one and has come to rest, perhaps:
        its parent's resource is to look at once
    """

    ready: list[NodeKey] = dataclasses.field(default_factory=list)
    released: set[NodeKey] = dataclasses.field(default_factory=set)
    results: list[Result] = dataclasses.field(default_factory=list)
    threads: list[tuple[Task, bool]] = dataclasses.field(default_factory=list)
    waiting: list[tuple[float, Task]] = dataclasses.field(default_factory=list)
    claimed: list[Task] = dataclasses.field(default_factory=list)
    begun: list[begin.Begun] = dataclasses.field(default_factory=list)
    superseded: list[int] = dataclasses.field(default_factory=list)
    ended: bool = False
    woken: bool = False


def run(engine: Engine, scene: Scene, work: Work) -> Done:
    """Carry out one turn, up to the point where its results are written.

    ``results`` of what it returns go to :func:`write`, together with those
    of the work: what has ended is never lost because the database is away.
    """
    done = Done()
    results = done.results
    _start(engine, scene, work.claimed, done, results)
    _poll(engine, scene, work.due, done, results)
    # Each once: what is fired twice must not be counted twice.
    ready = [key for key in dict.fromkeys(work.ready) if key in scene.graph]
    done.released.update(key for key in work.ready if key not in scene.graph)
    nodes = [key for key in ready if key[0]]
    if nodes:
        taken = check.take_up(engine, scene, nodes)
        results.extend(taken.results)
        done.released.update(taken.left)
        done.ready.extend(taken.again)
        _start(engine, scene, taken.tasks, done, results)
    _stack_nodes(engine, scene, [key for key in ready if not key[0]], done)
    return done


# Seconds until a waiting operation looks whether it is still wanted.
ATTENTION = 2.0


def _wait(engine: Engine, done: Done, delay: float, task: Task) -> None:
    """Come back after the delay, or sooner to see what became of the stack.

    A plug-in that asked to be left alone for an hour is, but its stack can
    be deleted at any moment.
    """
    task.due_at = engine.monotonic() + delay
    done.waiting.append((min(delay, ATTENTION), task))


def _start(
    engine: Engine,
    scene: Scene,
    tasks: Sequence[Task],
    done: Done,
    results: list[Result],
) -> None:
    """Start operations: here when they don't block, else on a thread."""
    waiting: list[Task] = []
    for task in tasks:
        if _may_wait(engine, task):
            done.threads.append((task, True))
            continue
        ended = _advance(engine, scene, task, first=True)
        if isinstance(ended, Result):
            results.append(ended)
        else:
            waiting.append(task)
            _wait(engine, done, ended, task)
    _save_if_possible(engine, scene, waiting)


def _advance(
    engine: Engine, scene: Scene, task: Task, *, first: bool
) -> Result | float:
    with engine.paces.measured(type(task.node.rsrc)):
        return operate.advance(engine, scene, task, first=first)


def _may_wait(engine: Engine, task: Task) -> bool:
    return task.blocking or engine.paces.is_slow(type(task.node.rsrc))


def _save_if_possible(
    engine: Engine, scene: Scene, waiting: Sequence[Task]
) -> None:
    """Record what was made, or try again at the next poll.

    What runs is not lost because the database is away.
    """
    try:
        save(engine, scene, waiting)
    except Exception:
        LOG.exception("what stack %s made waits", scene.stack.id)


def _poll(
    engine: Engine,
    scene: Scene,
    tasks: Sequence[Task],
    done: Done,
    results: list[Result],
) -> None:
    """Step waiting operations; those that nobody wants any more end here."""
    if not tasks:
        return
    unwanted, superseded = _unwanted(engine, scene)
    due: list[Task] = []
    for task in tasks:
        reason = unwanted or (superseded if task.yields else "")
        if reason and task.action != "DELETE":
            results.append(operate.cancelled(task, reason))
        elif engine.monotonic() < task.due_at:
            _wait(engine, done, task.due_at - engine.monotonic(), task)
        else:
            due.append(task)
    with _seeing(engine, due):
        _poll_due(engine, scene, due, done, results)
    waiting = [task for _delay, task in done.waiting if not task.saved]
    _save_if_possible(engine, scene, waiting)


def _seeing(
    engine: Engine, tasks: Sequence[Task]
) -> contextlib.AbstractContextManager[None]:
    """Look at all the nested stacks at once that these only wait for."""
    watched = {task.watched_stack for task in tasks} - {None}
    if not watched or engine.children is None:
        return contextlib.nullcontext()
    return engine.children.seeing({each for each in watched if each})


def _poll_due(
    engine: Engine,
    scene: Scene,
    tasks: Sequence[Task],
    done: Done,
    results: list[Result],
) -> None:
    for task in tasks:
        if _may_wait(engine, task) and task.watched_stack is None:
            done.threads.append((task, False))
        else:
            ended = _advance(engine, scene, task, first=False)
            if isinstance(ended, Result):
                results.append(ended)
            else:
                _wait(engine, done, ended, task)


def _unwanted(engine: Engine, scene: Scene) -> tuple[str, str]:
    """Why running operations of this traversal are to end; "": they go on.

    A delete and a cancel end them; another update, or the rollback of a
    failure, lets them run to their end, but for those that yield.

    :returns: why all are to end, why those are that yield
    """
    if scene.stack.action == "DELETE":
        return "", ""
    stack = engine.db.read(lambda conn: stacks.get(conn, scene.stack.id))
    if stack is None or stack.action == "DELETE":
        return "Stack DELETE started: operation cancelled", ""
    current = stack.current_traversal == scene.traversal.traversal_id
    if current and stack.status == "IN_PROGRESS":
        return "", ""
    deps = engine.db.read(lambda conn: stacks.get_deps(conn, stack.id))
    if (deps or {}).get("cancels"):
        return f"Stack {scene.stack.action} cancelled", ""
    if current:
        return "", ""
    return "", f"Stack {stack.action} superseded this operation"


def step(engine: Engine, scene: Scene, task: Task, *, first: bool) -> Done:
    """One step of an operation that may block, on a thread of its own."""
    done = Done()
    ended = _advance(engine, scene, task, first=first)
    if isinstance(ended, Result):
        done.results.append(ended)
    else:
        _wait(engine, done, ended, task)
        save(engine, scene, [task])
    return done


def save(engine: Engine, scene: Scene, tasks: Sequence[Task]) -> None:
    """Record what waiting operations have made."""
    if tasks:
        finish.checkpoint(engine, scene, tasks)


def write(
    engine: Engine,
    scene: Scene,
    results: Sequence[Result],
    *,
    forward: bool = True,
) -> Done:
    """Write how nodes ended: the good ones together, each failure alone.

    :param forward: take up in the same transaction what this makes ready,
        where that can be
    """
    done = Done(released={each.node.key for each in results})
    good = [each for each in results if each.error is None]
    if good:
        forward = forward and len(good) == len(results)
        written = _finish(engine, scene, good, forward)
        _take_over(done, written)
        if written.closed is not None:
            _closed(scene, done, written.closed)
    for each in results:
        if each.error is not None:
            begun, written = outcome.fail(engine, scene, each)
            _take_over(done, written)
            if begun is not None:
                done.begun.append(begun)
            elif scene.stack.owner_id is not None:
                done.woken = True
    return done


def _finish(
    engine: Engine, scene: Scene, good: Sequence[Result], forward: bool
) -> finish.Written:
    if not forward:
        return finish.finish(engine, scene, good)
    plan = ahead.look(engine, scene, good)
    written = finish.Written()
    try:
        written = finish.finish(engine, scene, good, plan)
    finally:
        ahead.settle(scene, plan.expected, written.done, written.taken.tasks)
    return written


def _take_over(done: Done, written: finish.Written) -> None:
    done.ready.extend(written.fired)
    done.ready.extend(written.again)
    done.ready.extend(written.taken.again)
    done.claimed.extend(written.taken.tasks)
    done.superseded.extend(written.superseded)


def _stack_nodes(
    engine: Engine, scene: Scene, keys: Sequence[NodeKey], done: Done
) -> None:
    for key in keys:
        done.released.add(key)
        if key == STACK_CLEANUP:
            users.leave(engine, scene)
        closed = closing.close(engine, scene, key)
        done.ready.extend(closed.fired)
        _closed(scene, done, closed)
        done.ended = done.ended or key == STACK_CLEANUP


def _closed(scene: Scene, done: Done, closed: closing.Closed) -> None:
    scene.done.update(closed.done)
    if closed.begun is not None:
        done.begun.append(closed.begun)
    done.ended = done.ended or closed.ended
    if scene.stack.owner_id is not None and not (closed.begun or closed.fired):
        done.woken = True


def send_on_newest(
    engine: Engine,
    context: RequestContext,
    stack_id: str,
    row_ids: Collection[int],
) -> None:
    """Send rows that a superseded operation has let go of again.

    Whatever is not ready there is passed over by whoever takes it up.
    """
    stack = engine.db.read(lambda conn: stacks.get(conn, stack_id))
    if stack is None or not stack.current_traversal:
        return
    nodes = [(row_id, half) for row_id in row_ids for half in (True, False)]
    engine.sender.send(context, stack_id, stack.current_traversal, nodes)
