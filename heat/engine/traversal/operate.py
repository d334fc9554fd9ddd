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
"""Runs one claimed operation a step further; no transaction is open."""

from __future__ import annotations

import functools

from heat.common import exception
from heat.common.i18n import _
from heat.db import holders, stacks
from heat.engine import function
from heat.engine.ports import Engine
from heat.engine.resource import (
    Resource,
    UpdateReplace,
    child,
    external,
    lifecycle,
    ownership,
    resumption,
)
from heat.engine.traversal import begin, found, gather, lock_nodes, way
from heat.engine.traversal.decide import Step
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import Result, Task, kept

# Seconds between two tries of a delete grow up to this.
_LONGEST_PAUSE = 30


def prepare(engine: Engine, scene: Scene, task: Task) -> None:
    rsrc = task.node.rsrc
    if rsrc is None or task.error is not None:
        return
    if task.node.step is Step.TAKE and (why := _missing(task, rsrc)):
        rsrc.resource_id_set(None)
        task.error = ValueError(why)
        return
    task.operation = _operation(engine, task, rsrc, scene)


def _missing(task: Task, rsrc: Resource) -> str:
    """What a resource lacks that is to take over what there is."""
    is_stack = child.unpack(task.node.data) is not None
    if rsrc.nests and not is_stack:
        return _(
            "It is a stack of its own, and the data to adopt have no "
            "resources for it"
        )
    if is_stack and not rsrc.nests:
        return _(
            "The data to adopt have resources for it, as if it were a stack "
            "of its own"
        )
    if task.node.row.physical_id is None:
        return _("The data to adopt have no resource_id for it")
    return ""


def _operation(
    engine: Engine, task: Task, rsrc: Resource, scene: Scene
) -> ownership.Steps:
    """What carries a task's step out."""
    node = task.node
    timeout_at = scene.deadline(engine.monotonic())
    theirs = node.row.external or node.readers
    if node.step is Step.RELEASE and theirs:
        return ownership.LettingGo(rsrc)
    locks = lock_nodes.operation(
        scene, node, task.action, timeout_at, engine.monotonic
    )
    if locks is not None:
        return locks
    if node.step in (Step.ADOPT, Step.OBSERVE):
        return ownership.Observation(
            rsrc, node.external_id, timeout_at, engine.monotonic
        )
    if node.step is Step.TAKE:
        return _taking_over(engine, task, rsrc, timeout_at)
    if node.step is Step.HAND_BACK:
        return ownership.HandBack(
            rsrc, node.properties, timeout_at, engine.monotonic
        )
    if node.step is Step.RESUME:
        return resumption.Resumption(
            rsrc,
            task.action,
            timeout_at=timeout_at,
            monotonic=engine.monotonic,
            is_free=functools.partial(found.is_free, engine, scene, node),
        )
    if node.row.external and task.action not in ("CHECK", "UPDATE"):
        return ownership.Untouched()
    cleans = node.step is Step.CLEAN
    changes = task.action == "UPDATE" and not cleans
    made = lifecycle.Operation(
        rsrc,
        lifecycle.CLEAN_UP if cleans else task.action,
        before=gather.before(node) if changes else None,
        timeout_at=timeout_at,
        monotonic=engine.monotonic,
        is_free=functools.partial(found.is_free, engine, scene, node),
        snapshot_first=_snapshot_first(task, rsrc),
    )
    if task.action != "DELETE":
        return made
    return lock_nodes.released_first(rsrc, made, timeout_at, engine.monotonic)


def _snapshot_first(task: Task, rsrc: Resource) -> bool:
    """Whether a snapshot is made before the object is deleted.

    Not of one that was never whole, nor a second one when the delete after
    it failed.
    """
    row = task.node.row
    return (
        task.action == "DELETE"
        and row.physical_id is not None
        and (row.action != "CREATE" or row.status == "COMPLETE")
        and external.allowed(False, rsrc.t.deletion_policy()).snapshot_first
        and rsrc.makes_snapshots()
        and not getattr(task.operation, "has_snapshot", False)
    )


def _taking_over(
    engine: Engine, task: Task, rsrc: Resource, timeout_at: float
) -> lifecycle.Operation:
    """What lets the plug-in take over what its row was given."""
    row, data = task.node.row, task.node.data
    packed = child.packed(data)
    given = {
        "name": row.name,
        "type": rsrc.type(),
        "resource_id": None if packed else row.physical_id,
        "metadata": row.metadata or {},
        "resource_data": {k: v for k, v in data.items() if k not in packed},
    }
    if packed:
        given["resources"] = child.unpack(data)
    return lifecycle.Operation(
        rsrc,
        task.action,
        timeout_at=timeout_at,
        arguments=(given,),
        monotonic=engine.monotonic,
    )


def advance(
    engine: Engine, scene: Scene, task: Task, *, first: bool
) -> Result | float:
    """Run a claimed operation a step further; no transaction is open.

    :returns: how it ended, or the seconds after which to call again
    """
    operation = task.operation
    if operation is None:
        return _failed(task, task.error or exception.Error("gone"))
    # Should the database be away, it is to begin when it comes again.
    begin_now = task.again = first or task.again
    if begin_now and _was_lost(engine, task):
        return _failed(task, exception.Error(_("Others took it over")))
    if not begin_now and _awaits_record(task):
        return lifecycle.POLL_PERIOD
    try:
        task.again = False
        progress = operation.start() if begin_now else operation.poll()
        engine.probe("called")
        if isinstance(progress, lifecycle.Waiting):
            return progress.delay
        return _succeeded(scene, task)
    except UpdateReplace as exc:
        task.node.because = str(exc)
        try:
            way.make(engine, scene, task.node)
        except Exception as failure:
            return _failed(task, failure)
        return Result(task.node, task, replace=True)
    except Exception as exc:
        delay = _again_after(engine, scene, task)
        return _failed(task, exc) if delay is None else delay


def _was_lost(engine: Engine, task: Task) -> bool:
    """Whether an engine that stood still has been taken for dead.

    What runs can't be called back, but nothing new begins. A claim that is
    fresh needs no look: who took it was not silent for long enough then. Nor
    does one since which it has never been silent for long.
    """
    now = engine.monotonic()
    fresh = now - task.taken_at < engine.grace
    if fresh or engine.alive_since(task.taken_at):
        return False
    task.taken_at = now
    return not engine.db.read(
        lambda conn: holders.has(conn, task.node.row.id, task.claim_id)
    )


def _awaits_record(task: Task) -> bool:
    """Whether the database was away when there was something to record that
    the next step must not come before.

    Else our own lock is found when the object is looked at again, and stays
    as somebody else's.
    """
    return isinstance(task.operation, lock_nodes.Locking) and not task.saved


def _again_after(engine: Engine, scene: Scene, task: Task) -> float | None:
    """Seconds until a failed delete is tried again; None: never.

    Not when the traversal's time is over: it would end at once, and keep
    the row from a newer traversal meanwhile. Deletes are idempotent, and
    what keeps an object from going is often gone itself a moment later.
    """
    rsrc = task.node.rsrc
    if (
        task.action != "DELETE"
        or rsrc is None
        or task.tries >= engine.conf.action_retry_limit
        or scene.is_late
    ):
        return None
    task.tries += 1
    task.again = True
    task.operation = _operation(engine, task, rsrc, scene)
    return float(min(2 ** (task.tries - 1), _LONGEST_PAUSE))


def cancelled(task: Task, reason: str) -> Result:
    """End an operation because the stack is being deleted."""
    if task.operation is not None:
        try:
            task.operation.cancel()
        except exception.ResourceFailure as exc:
            return _failed(task, exc)
    return _failed(task, exception.Error(reason))


def _failed(task: Task, error: Exception) -> Result:
    if task.node.rsrc is not None:
        task.node.rsrc.drop_unstorable()
    error = kept(error, task.node.row.name)
    if not isinstance(error, exception.ResourceFailure):
        error = exception.ResourceFailure(
            error, task.node.rsrc or task.node.row, task.action
        )
    return Result(task.node, task, error=error)


def _succeeded(scene: Scene, task: Task) -> Result:
    result = Result(task.node, task)
    task.remark = getattr(task.operation, "remark", "") or task.remark
    rsrc = task.node.rsrc
    if rsrc is not None and (wrong := rsrc.drop_unstorable()):
        told = _("%(type)s tells what can't be kept: %(what)s")
        about = {"type": rsrc.type(), "what": wrong}
        return _failed(task, exception.Error(told % about))
    if task.node.step is Step.ACT:
        # Nothing was done that could have ended what is known.
        result.attributes = task.node.attributes
    if rsrc is not None and _tells(scene, task):
        known = result.attributes
        asked = scene.definition.referenced_attributes(rsrc.name)
        now = rsrc.tell_attributes(asked, known)
        result.attributes = function.renewed(known, now)
    return result


def _tells(scene: Scene, task: Task) -> bool:
    """Whether what the object is like is to be recorded."""
    if scene.stack.action in begin.WALKS:
        return scene.stack.action not in stacks.LOCKING
    return task.node.key[1]
