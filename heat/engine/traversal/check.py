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
something to do, in one transaction; :mod:`.operate` runs the operations, and
:mod:`.finish` writes how they ended.
"""

from __future__ import annotations

import dataclasses
import logging
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.db import resources, sync_points
from heat.engine import function
from heat.engine.ports import Engine, NodeKey
from heat.engine.resource import view
from heat.engine.traversal import (
    begin,
    claims,
    gather,
    hooks,
    lock_nodes,
    locking,
    operate,
    replacement,
    way,
)
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import (
    Result,
    Task,
    kept,
    learn,
    note,
    type_of,
)

LOG = logging.getLogger(__name__)

# The action that a step shows while it runs.
ACTION_OF = {
    Step.CREATE: "CREATE",
    Step.RESUME: "CREATE",
    Step.UPDATE: "UPDATE",
    Step.DELETE: "DELETE",
    Step.RELEASE: "DELETE",
    Step.ADOPT: "ADOPT",
    Step.TAKE: "ADOPT",
    Step.OBSERVE: "CHECK",
    Step.HAND_BACK: "UPDATE",
    Step.CLEAN: "UPDATE",
}

# Steps that need a claim; ACT shows the stack's own action.
CLAIMING = frozenset({*ACTION_OF, Step.ACT})

# Steps that leave nothing to do but to say so in the row.
AT_ONCE = frozenset({Step.KEEP, Step.NOTHING, Step.DROP})


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
            if node.step is Step.REPLACE:
                way.make(engine, scene, node)
        except Exception as exc:
            errors[node.key] = kept(exc, node.row.name)
            node.step = _step_for_error(scene, node)
            node.rsrc = None
    held = hooks.hold(engine, scene, nodes)
    taken.left.extend(nodes[place].key for place in held)
    nodes = [node for i, node in enumerate(nodes) if i not in held]
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
            taken.results.append(at_once(scene, node))
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


def at_once(scene: Scene, node: Node) -> Result:
    """How a node with nothing to claim has ended."""
    if node.step is Step.REFUSE:
        return Result(node, error=exception.Error(node.because))
    if node.step is Step.KEEP:
        return Result(node, attributes=kept_attributes(scene, node))
    return Result(node, attributes=dict(node.attributes))


def kept_attributes(scene: Scene, node: Node) -> dict[tuple[str, ...], Any]:
    """The attributes of a resource that nothing is done with.

    Those that are recorded, and those that the definition asks for newly,
    that are recorded as none (its service may have been away at the time),
    or that must be read each time. A stack below may have such ones.
    """
    rsrc, values = node.rsrc, node.attributes
    told: Mapping[tuple[str, ...], Any] = {}
    if rsrc is not None:
        asked = [
            key
            for key in scene.definition.referenced_attributes(node.row.name)
            if values.get(key) is None or rsrc.reads_anew(key[0])
        ]
        if rsrc.nests:
            rsrc.stack = view.looking(rsrc.stack)
        told = rsrc.tell_attributes(asked, values)
    return function.renewed(values, told)


# -- claim --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Claimed:
    """What a claiming transaction gave.

    :ivar ready: the keys that may act
    :ivar held: the row ids that are ours now
    :ivar prop_ids: ids of recorded properties, by row id
    :ivar refused: row ids that may not have their object -> why
    """

    ready: set[NodeKey]
    held: set[int]
    prop_ids: dict[int, int]
    refused: dict[int, str]


def announce(engine: Engine, tasks: Iterable[Task]) -> None:
    """Make operations known as this engine's, before they are claimed."""
    claim_id = str(uuid.uuid4())
    for task in tasks:
        task.claim_id = claim_id
        task.taken_at = engine.monotonic()
        engine.in_hand.add(task, (claim_id, task.node.row.id))
        learn(task)


def claim(
    conn: sa.Connection,
    engine: Engine,
    scene: Scene,
    tasks: Sequence[Task],
    ready: set[NodeKey],
) -> Claimed:
    """Claim the rows of announced operations.

    :param ready: the nodes that may act; their SyncPoints are locked
    """
    able = [task for task in tasks if task.node.key in ready]
    now = timeutils.utcnow()
    for task in able:
        task.claimed_at = now
    claims.stop_deletes(conn, able)
    held = _claim_rows(conn, engine, scene, able)
    ours = [task for task in able if task.node.row.id in held]
    held -= claims.spare(conn, scene, ours)
    ours = [task for task in ours if task.node.row.id in held]
    return Claimed(
        ready,
        held,
        note(conn, scene, [t for t in ours if not t.may_note_late]),
        claims.refused(conn, engine, scene, ours),
    )


def _claim(
    engine: Engine,
    scene: Scene,
    taken: TakenUp,
    tasks: list[Task],
    replaced: list[Node],
) -> None:
    """One transaction: fence, claim by action, insert replacements."""
    announce(engine, tasks)
    now = timeutils.utcnow()
    wishes = [
        replacement.Wish(node.key, node.row, type_of(node))
        for node in replaced
    ]

    def work(conn: sa.Connection) -> tuple[Claimed, list[NodeKey]]:
        keys = [each.node.key for each in tasks] + [w.key for w in wishes]
        ready = sync_points.fence(conn, scene.traversal, keys)
        claimed = claim(conn, engine, scene, tasks, ready)
        wanted = [wish for wish in wishes if wish.key in ready]
        return claimed, replacement.make_many(
            conn, scene.target_template_id, wanted, now
        )

    claimed, linked = engine.db.run(work)
    engine.probe("claimed")
    take(engine, scene, taken, tasks, claimed)
    taken.again.extend(linked)
    made = set(linked)
    taken.left.extend(w.key for w in wishes if w.key not in made)


def take(
    engine: Engine,
    scene: Scene,
    taken: TakenUp,
    tasks: Iterable[Task],
    claimed: Claimed,
) -> None:
    """Make ready for work what is ours, and leave what is not."""
    for task in tasks:
        row, key = task.node.row, task.node.key
        if key not in claimed.ready:
            taken.left.append(key)
            continue
        if row.id not in claimed.held:
            # Not as it was read: look once more.
            taken.again.append(key)
            continue
        if row.id in claimed.refused:
            task.error = ValueError(claimed.refused[row.id])
        task.noted = not task.may_note_late
        task.prop_data_id = claimed.prop_ids.get(row.id, row.rsrc_prop_data_id)
        operate.prepare(engine, scene, task)
        taken.tasks.append(task)


def _claim_rows(
    conn: sa.Connection,
    engine: Engine,
    scene: Scene,
    tasks: Sequence[Task],
) -> set[int]:
    if not tasks:
        return set()
    first = tasks[0]
    alike: dict[tuple[str, int, bool], list[int]] = {}
    requires: dict[int, list[int]] = {}
    for task in tasks:
        row = task.node.row
        if task.node.key[1] and task.action in ("CREATE", "UPDATE", "ADOPT"):
            needs = {*row.requires, *scene.required_rows(task.node.key[0])}
            if len(needs) > len(row.requires):
                requires[row.id] = sorted(needs)
        resumes = task.node.step is Step.RESUME
        kind = (task.action, row.atomic_key, resumes)
        alike.setdefault(kind, []).append(row.id)
    held: set[int] = set()
    for (action, atomic_key, resumes), ids in sorted(alike.items()):
        held |= resources.claim(
            conn,
            ids,
            first.claim_id,
            engine.engine_id,
            action,
            first.claimed_at or timeutils.utcnow(),
            atomic_key=atomic_key,
            replaced=action == "DELETE",
            resumes=resumes,
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
        rsrc = task.node.rsrc
        now: dict[str, Any] = {
            "current_template_id": target,
            "resource_type": type_of(task.node),
        }
        was = (row.current_template_id, row.resource_type)
        changed = was != tuple(now.values())
        if task.node.step is Step.ADOPT:
            # From now on everybody sees that somebody looks at the object.
            now["physical_id"] = task.node.external_id
            changed = True
        if task.node.step is Step.TAKE and rsrc is not None and rsrc.nests:
            # The stack is Heat's; whose the objects are its own rows say.
            now["external"] = False
            changed = True
        if task.action in ("CREATE", "ADOPT") and changed:
            resources.set_values(conn, [row.id], now)
        elif task.node.step is Step.OBSERVE and not row.external:
            # It is the user's, whatever a look at it brings.
            resources.set_values(conn, [row.id], {"external": True})
