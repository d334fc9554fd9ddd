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
"""One node's turn: decide, claim, do.

``take_up`` decides about a batch of nodes and claims those that have
something to do, in one transaction; ``advance`` runs one operation a step
further, with no transaction open. What comes out is a :class:`Result`,
which :mod:`.finish` writes.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.db import events
from heat.db import properties_data
from heat.db import resources
from heat.db import sync_points
from heat.engine.ports import Engine
from heat.engine.ports import NodeKey
from heat.engine.resource import Resource
from heat.engine.resource import UpdateReplace
from heat.engine.resource import lifecycle
from heat.engine.resource import ownership
from heat.engine.traversal import begin
from heat.engine.traversal import gather
from heat.engine.traversal import lock_nodes
from heat.engine.traversal import locking
from heat.engine.traversal import replacement
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene

LOG = logging.getLogger(__name__)

# Seconds between two tries of a delete grow up to this.
_LONGEST_PAUSE = 30

# The action that a step shows while it runs.
ACTION_OF = {
    Step.CREATE: "CREATE",
    Step.UPDATE: "UPDATE",
    Step.DELETE: "DELETE",
    Step.RELEASE: "DELETE",
    Step.ADOPT: "ADOPT",
    Step.OBSERVE: "CHECK",
    Step.HAND_BACK: "UPDATE",
}

# Steps that need a claim; ACT shows the stack's own action.
CLAIMING = frozenset({*ACTION_OF, Step.ACT})


@dataclasses.dataclass(eq=False)
class Task:
    """An operation on a row that this engine has claimed.

    :ivar claimed_at: when, for its event
    :ivar begun: the properties it begins with, when they are known
    :ivar noted: its beginning is recorded: event and properties
    :ivar due_at: not to be polled before (monotonic seconds)
    :ivar saved: what it made so far is recorded
    :ivar tries: how often it was begun again
    :ivar again: it is to be begun again, not polled
    :ivar remark: the reason that its event and row will show
    """

    node: Node
    action: str
    claim_id: str
    prop_data_id: int | None = None
    operation: ownership.Steps | None = None
    error: Exception | None = None
    begun: dict[str, Any] | None = None
    claimed_at: datetime.datetime | None = None
    noted: bool = False
    saved: bool = False
    due_at: float = 0.0
    tries: int = 0
    again: bool = False
    remark: str = "state changed"

    @property
    def may_note_late(self) -> bool:
        """Whether its beginning may be recorded together with its end.

        So it may when a step takes no time and a crash in between leaves
        nothing to be known: not so for an update, whose properties tell
        what may have been applied.
        """
        return self.action in ("CREATE", "DELETE") and not self.blocking

    @property
    def yields(self) -> bool:
        """Whether it ends when another traversal takes this one's place."""
        return self.node.rsrc is not None and self.node.rsrc.yields

    @property
    def blocking(self) -> bool:
        """Whether a step of it may wait for a service (needs a thread)."""
        rsrc = self.node.rsrc
        return rsrc is not None and (
            rsrc.may_block or rsrc.default_client_name is not None
        )


@dataclasses.dataclass
class Result:
    """How the turn of a node ended.

    :ivar task: None when nothing had to be claimed
    :ivar error: why it failed; None: it went well
    :ivar replace: the plug-in found that it needs a replacement
    """

    node: Node
    task: Task | None = None
    error: Exception | None = None
    replace: bool = False
    attributes: dict[tuple[str, ...], Any] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass
class TakenUp:
    """What became of a batch of nodes.

    :ivar tasks: claimed operations, not started yet
    :ivar results: nodes that ended at once
    :ivar again: nodes to take up again (their replacement is there now)
    :ivar left: nodes that somebody else works on, or has superseded
    """

    tasks: list[Task] = dataclasses.field(default_factory=list)
    results: list[Result] = dataclasses.field(default_factory=list)
    again: list[NodeKey] = dataclasses.field(default_factory=list)
    left: list[NodeKey] = dataclasses.field(default_factory=list)


def take_up(
    engine: Engine, scene: Scene, keys: Collection[NodeKey]
) -> TakenUp:
    """Decide about nodes and claim those that have something to do."""
    nodes, gone = gather.gather(engine, scene, keys)
    taken = TakenUp()
    taken.left.extend(key for key in gone if key[1])
    met = {node.key for node in nodes}.union(gone)
    taken.left.extend(key for key in keys if key not in met)
    errors: dict[NodeKey, Exception] = {}
    locks = scene.stack.action in lock_nodes.LOCKING
    plan = lock_nodes.plan if locks else gather.plan
    for node in nodes:
        try:
            plan(engine, scene, node)
        except Exception as exc:
            errors[node.key] = exc
            node.step = _step_for_error(scene, node)
            node.rsrc = None
    walk_action = locking.row_action(scene.stack)
    tasks = [
        Task(
            node,
            ACTION_OF.get(node.step, walk_action),
            "",
            error=errors.get(node.key),
        )
        for node in nodes
        if node.step in CLAIMING
    ]
    replaced = [node for node in nodes if node.step is Step.REPLACE]
    for node in nodes:
        if node.step is Step.WAIT:
            taken.left.append(node.key)
        elif node.step not in CLAIMING and node.step is not Step.REPLACE:
            taken.results.append(_at_once(scene, node))
    taken.results.extend(_gone(key, scene) for key in gone if not key[1])
    if tasks or replaced:
        _claim(engine, scene, taken, tasks, replaced)
    return taken


def _step_for_error(scene: Scene, node: Node) -> Step:
    """The step whose failure shows that a node could not be decided."""
    if scene.stack.action in begin.WALKS:
        return Step.ACT
    if not node.key[1]:
        return Step.DELETE
    if node.row.claim_id is not None:
        return Step.WAIT
    return Step.CREATE if node.row.action == "INIT" else Step.UPDATE


def _gone(key: NodeKey, scene: Scene) -> Result:
    """A clean-up node whose row is gone has nothing left to do."""
    row = replacement.placeholder(key[0], scene.stack.id)
    node = Node(key, row, None, {}, {}, None, step=Step.NOTHING)
    return Result(node)


def _at_once(scene: Scene, node: Node) -> Result:
    if node.step is Step.KEEP:
        return Result(node, attributes=kept_attributes(scene, node))
    return Result(node, attributes=dict(node.attributes))


def kept_attributes(
    scene: Scene, node: Node
) -> dict[tuple[str, ...], Any]:
    """The attributes of a resource that nothing is done with.

    Those that are recorded, and those that the definition asks for newly.
    """
    values = dict(node.attributes)
    asked = scene.definition.referenced_attributes(node.row.name)
    missing = [key for key in asked if key not in values]
    if missing and node.rsrc is not None:
        values.update(node.rsrc.resolve_attributes(missing))
    return values


# -- claim --------------------------------------------------------------------


def _claim(
    engine: Engine,
    scene: Scene,
    taken: TakenUp,
    tasks: list[Task],
    replaced: list[Node],
) -> None:
    """One transaction: fence, claim by action, insert replacements."""
    claim_id = str(uuid.uuid4())
    now = timeutils.utcnow()
    for task in tasks:
        task.claimed_at = now
        task.claim_id = claim_id
        engine.in_hand.add(task, (claim_id, task.node.row.id))
        _learn(task)

    def work(
        conn: sa.Connection,
    ) -> tuple[set[int], dict[int, int], list[NodeKey], set[NodeKey]]:
        ready = sync_points.fence(
            conn,
            scene.traversal,
            [task.node.key for task in tasks] + [n.key for n in replaced],
        )
        able = [task for task in tasks if task.node.key in ready]
        held = _claim_rows(conn, engine, scene, able, claim_id, now)
        prop_ids = note(
            conn,
            scene,
            [
                task
                for task in able
                if task.node.row.id in held and not task.may_note_late
            ],
        )
        again = replacement.make_many(
            conn,
            scene.target_template_id,
            [
                replacement.Wish(node.key, node.row, _type_of(node))
                for node in replaced
                if node.key in ready
            ],
            now,
        )
        return held, prop_ids, again, ready

    held, prop_ids, again, ready = engine.db.run(work)
    engine.probe("claimed")
    for task in tasks:
        if task.node.row.id not in held:
            # Not as it was read: look once more, or leave it to others.
            key = task.node.key
            (taken.again if key in ready else taken.left).append(key)
            continue
        task.noted = not task.may_note_late
        task.prop_data_id = prop_ids.get(
            task.node.row.id, task.node.row.rsrc_prop_data_id
        )
        _prepare(engine, scene, task)
        taken.tasks.append(task)
    taken.again.extend(again)
    linked = set(again)
    taken.left.extend(n.key for n in replaced if n.key not in linked)


def _claim_rows(
    conn: sa.Connection,
    engine: Engine,
    scene: Scene,
    tasks: Iterable[Task],
    claim_id: str,
    now: datetime.datetime,
) -> set[int]:
    alike: dict[tuple[str, int], list[int]] = {}
    requires: dict[int, list[int]] = {}
    for task in tasks:
        row = task.node.row
        if task.action in ("CREATE", "UPDATE"):
            needs = {*row.requires, *scene.required_rows(task.node.key[0])}
            if len(needs) > len(row.requires):
                requires[row.id] = sorted(needs)
        alike.setdefault((task.action, row.atomic_key), []).append(row.id)
    held: set[int] = set()
    for (action, atomic_key), ids in sorted(alike.items()):
        held |= resources.claim(
            conn,
            ids,
            claim_id,
            engine.engine_id,
            action,
            now,
            atomic_key=atomic_key,
            replaced=action == "DELETE",
            requires=requires,
        )
    ours = [task for task in tasks if task.node.row.id in held]
    _say_what(conn, scene, ours)
    return held


def _say_what(
    conn: sa.Connection, scene: Scene, tasks: Iterable[Task]
) -> None:
    """A row that an earlier traversal left unmade may be another thing now.

    Should making it fail, clean-up must know what it was about to be.
    """
    for task in tasks:
        row, target = task.node.row, scene.target_template_id
        now = {
            "current_template_id": target,
            "resource_type": _type_of(task.node),
        }
        was = (row.current_template_id, row.resource_type)
        if task.action == "CREATE" and was != tuple(now.values()):
            resources.set_values(conn, [row.id], now)


def _type_of(node: Node) -> str:
    if node.rsrc is None:
        return node.row.resource_type or ""
    return node.rsrc.type()


def note(
    conn: sa.Connection, scene: Scene, tasks: Sequence[Task]
) -> dict[int, int]:
    """Record that operations began, and the properties they began with.

    :returns: ids of the properties by row id
    """
    fresh = [(task, begun_with(task)) for task in tasks if not task.noted]
    with_data = [(task, data) for task, data in fresh if data is not None]
    ids = properties_data.put_many(conn, [data for _task, data in with_data])
    prop_ids = {
        task.node.row.id: data_id
        for (task, _data), data_id in zip(with_data, ids, strict=True)
    }
    rows = [started_event(scene, task, prop_ids) for task, _data in fresh]
    if rows:
        events.insert_many(conn, rows)
    return prop_ids


def _learn(task: Task) -> None:
    """Resolve what it begins with, as long as no transaction is open.

    A type with a client may ask its service for the id of a name.
    """
    if not task.blocking or task.error is not None:
        return
    try:
        task.begun = begun_with(task)
    except Exception as exc:
        task.error, task.node.rsrc = exc, None


def begun_with(task: Task) -> dict[str, Any] | None:
    """The resolved properties that an operation applies; None: none."""
    if task.begun is not None:
        return task.begun
    rsrc = task.node.rsrc
    if rsrc is None or task.action not in ("CREATE", "UPDATE"):
        return None
    return rsrc.stored_properties()


def started_event(
    scene: Scene, task: Task, prop_ids: Mapping[int, int]
) -> dict[str, Any]:
    """The event of an operation's beginning."""
    row = task.node.row
    return event(
        scene,
        task.node,
        task.action,
        "IN_PROGRESS",
        "state changed",
        task.claimed_at or timeutils.utcnow(),
        prop_ids.get(row.id, row.rsrc_prop_data_id),
    )


def event(
    scene: Scene,
    node: Node,
    action: str,
    status: str,
    reason: str,
    now: datetime.datetime,
    prop_data_id: int | None,
) -> dict[str, Any]:
    """The event row of a change of a resource's state."""
    rsrc = node.rsrc
    physical_id = node.row.physical_id
    if rsrc is not None and rsrc.resource_id is not None:
        physical_id = rsrc.resource_id
    return {
        "stack_id": scene.stack.id,
        "created_at": now,
        "resource_action": action,
        "resource_status": status,
        "resource_name": node.row.name,
        "physical_resource_id": physical_id,
        "resource_status_reason": reason,
        "resource_type": _type_of(node),
        "rsrc_prop_data_id": prop_data_id,
    }


# -- do -----------------------------------------------------------------------


def _prepare(engine: Engine, scene: Scene, task: Task) -> None:
    rsrc = task.node.rsrc
    if rsrc is None or task.error is not None:
        return
    task.operation = _operation(engine, task, rsrc, scene)


def _operation(
    engine: Engine, task: Task, rsrc: Resource, scene: Scene
) -> ownership.Steps:
    """What carries a task's step out."""
    node = task.node
    timeout_at = scene.deadline(engine.monotonic())
    locks = lock_nodes.operation(
        scene, node, task.action, timeout_at, engine.monotonic
    )
    if locks is not None:
        return locks
    if node.step in (Step.ADOPT, Step.OBSERVE):
        return ownership.Observation(
            rsrc, node.external_id, timeout_at, engine.monotonic
        )
    if node.step is Step.HAND_BACK:
        return ownership.HandBack(
            rsrc, node.properties, timeout_at, engine.monotonic
        )
    if node.row.external and task.action not in ("CHECK", "UPDATE"):
        return ownership.Untouched()
    return lifecycle.Operation(
        rsrc,
        task.action,
        before=gather.before(node) if task.action == "UPDATE" else None,
        timeout_at=timeout_at,
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
    try:
        begin_now = first or task.again
        task.again = False
        progress = operation.start() if begin_now else operation.poll()
        engine.probe("called")
        if isinstance(progress, lifecycle.Waiting):
            return progress.delay
        return _succeeded(scene, task)
    except UpdateReplace as exc:
        task.node.because = str(exc)
        return Result(task.node, task, replace=True)
    except Exception as exc:
        delay = _again_after(engine, scene, task)
        return _failed(task, exc) if delay is None else delay


def _again_after(
    engine: Engine, scene: Scene, task: Task
) -> float | None:
    """Seconds until a failed delete is tried again; None: never.

    Deletes are idempotent, and what keeps an object from going is often
    gone itself a moment later.
    """
    rsrc = task.node.rsrc
    if (
        task.action != "DELETE"
        or rsrc is None
        or task.tries >= engine.conf.action_retry_limit
    ):
        return None
    task.tries += 1
    task.again = True
    task.operation = _operation(engine, task, rsrc, scene)
    return float(min(2 ** (task.tries - 1), _LONGEST_PAUSE))


def cancelled(task: Task, reason: str) -> Result:
    """End an operation because the stack is being deleted."""
    if task.operation is not None:
        task.operation.cancel()
    return _failed(task, exception.Error(reason))


def _failed(task: Task, error: Exception) -> Result:
    if not isinstance(error, exception.ResourceFailure):
        if not isinstance(error, (exception.HeatException, ValueError)):
            LOG.error(
                "%s of resource %s failed",
                task.action,
                task.node.row.name,
                exc_info=error,
            )
        error = exception.ResourceFailure(
            error, task.node.rsrc or task.node.row, task.action
        )
    return Result(task.node, task, error=error)


def _succeeded(scene: Scene, task: Task) -> Result:
    result = Result(task.node, task)
    task.remark = getattr(task.operation, "remark", "") or task.remark
    rsrc = task.node.rsrc
    walking = scene.stack.action in begin.WALKS
    if rsrc is not None and task.node.key[1] and not walking:
        asked = scene.definition.referenced_attributes(rsrc.name)
        if asked:
            result.attributes = rsrc.resolve_attributes(asked)
    return result
