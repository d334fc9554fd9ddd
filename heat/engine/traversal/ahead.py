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

"""Decides about nodes before the transaction that makes them ready.

Where one node waits for another, and that for a third, each would be taken up
in a transaction of its own after the one that finished its predecessor. But
what such a node still waits for is often just what is about to be written:
then it is decided now, with what that will say, and taken up in the very
transaction that makes it ready. A chain costs one commit a node instead of
two, and nodes with nothing to do share one.

Nothing of this holds before the commit: the inputs are untold when it fails,
a node that the transaction did not make ready is left to the usual way, and
so is everything that may call a service, wait for a hook or need a read.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
from collections.abc import Collection, Iterable, Sequence

import sqlalchemy as sa

from heat.common import exception
from heat.db import resources, sync_points
from heat.engine import paces
from heat.engine.graph.build import STACK_CLEANUP, STACK_UPDATE
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import begin, check, gather, users, views
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene, encode_attributes
from heat.engine.traversal.tasks import Result, Task

LOG = logging.getLogger(__name__)

# The most nodes that one transaction takes along.
MOST = 64

_STACK = (STACK_UPDATE, STACK_CLEANUP)


class Misjudged(Exception):
    """Something else than expected is in the database; do without."""


@dataclasses.dataclass
class Ahead:
    """What a finishing transaction may do beyond what has ended.

    :ivar expected: nodes of which dependants were told before the commit
    :ivar passed: nodes with nothing to do that it makes ready, and done
    :ivar missing: how many of their inputs it brings
    :ivar tasks: operations on nodes that it makes ready, to be claimed
    :ivar claimed: what it claimed of them
    :ivar closes: the node of the stack that it makes ready, if any
    """

    expected: list[NodeKey] = dataclasses.field(default_factory=list)
    passed: list[Result] = dataclasses.field(default_factory=list)
    missing: dict[NodeKey, int] = dataclasses.field(default_factory=dict)
    tasks: list[Task] = dataclasses.field(default_factory=list)
    claimed: check.Claimed | None = None
    closes: NodeKey | None = None

    def pass_along(self, conn: sa.Connection, scene: Scene) -> list[Result]:
        """Mark the nodes done with which there is nothing to do.

        :raises Misjudged: somebody was there before
        """
        if not sync_points.mark_at_zero(conn, scene.traversal, self.missing):
            raise Misjudged
        return self.passed

    def claim(
        self,
        conn: sa.Connection,
        engine: Engine,
        scene: Scene,
        fired: Sequence[NodeKey],
    ) -> list[NodeKey]:
        """Claim what became ready; the SyncPoints of that are locked.

        :returns: what became ready and was not decided ahead
        """
        ready = set(fired) & {task.node.key for task in self.tasks}
        if ready:
            self.claimed = check.claim(conn, engine, scene, self.tasks, ready)
        elif self.claimed is not None:
            # By an earlier try: it was undone, or its answer got lost.
            claim_id, held = self.tasks[0].claim_id, self.claimed.held
            held = resources.held_by(conn, held, claim_id)
            self.claimed = dataclasses.replace(self.claimed, held=held)
        return [key for key in fired if key not in ready]

    def taken(self, engine: Engine, scene: Scene) -> check.TakenUp:
        """What became of the operations, after the commit."""
        taken = check.TakenUp()
        if self.claimed is not None:
            ready = self.claimed.ready
            fired = [task for task in self.tasks if task.node.key in ready]
            check.take(engine, scene, taken, fired, self.claimed)
        return taken


def look(engine: Engine, scene: Scene, results: Sequence[Result]) -> Ahead:
    """Decide about what these results will make ready."""
    ahead = Ahead()
    if scene.stack.action in begin.WALKS:
        return ahead
    within: set[NodeKey] = set()
    for each in results:
        key = each.node.key
        # What is done already is a duplicate, and what was told stays true.
        if not (
            each.replace or scene.is_done(key) or _stops(scene, each.node)
        ):
            expect(scene, each)
            ahead.expected.append(key)
            within.add(key)
    todo = collections.deque(sorted(within))
    while todo and len(ahead.passed) + len(ahead.tasks) < MOST:
        for key in scene.graph.required_by(todo.popleft()):
            if key in within or not _complete(scene, key, within):
                continue
            result = decide(engine, scene, ahead, key)
            if result is not None:
                brought = within.intersection(scene.graph.requires(key))
                ahead.missing[key] = len(brought)
                ahead.passed.append(result)
                expect(scene, result)
                ahead.expected.append(key)
                within.add(key)
                todo.append(key)
    check.announce(engine, ahead.tasks)
    ahead.closes = _closes(scene, within)
    return ahead


def _closes(scene: Scene, within: Collection[NodeKey]) -> NodeKey | None:
    """The node of the stack that is made ready, if it calls no service."""
    for key in _STACK:
        if key not in scene.graph or scene.is_done(key):
            continue
        if key == STACK_CLEANUP and users.may_be_left(scene):
            continue
        if _all_done(scene, key, within):
            return key
    return None


def _complete(scene: Scene, key: NodeKey, within: Collection[NodeKey]) -> bool:
    """Whether all that a node requires is done, or will be by the commit."""
    return (
        key in scene.preloaded
        and key not in _STACK
        and _all_done(scene, key, within)
    )


def _all_done(scene: Scene, key: NodeKey, within: Collection[NodeKey]) -> bool:
    return all(
        need in within or scene.is_done(need)
        for need in scene.graph.requires(key)
    )


def decide(
    engine: Engine, scene: Scene, ahead: Ahead, key: NodeKey
) -> Result | None:
    """Plan one node; its result when there is nothing to do with it."""
    node: Node = scene.preloaded[key]
    if _stops(scene, node) or _may_block(engine, scene, node):
        return None
    del scene.preloaded[key]
    try:
        gather.plan(engine, scene, node)
        if node.step in check.CLAIMING:
            ahead.tasks.append(Task(node, check.ACTION_OF[node.step], ""))
        elif node.step in check.AT_ONCE:
            return check.at_once(scene, node)
    except Exception:
        # The usual way meets it again, and the node fails there.
        LOG.debug("resource %s is decided later", node.row.name, exc_info=True)
    return None


def _stops(scene: Scene, node: Node) -> bool:
    return bool(scene.definition.env.registry.hooks(node.row.name))


def _may_block(engine: Engine, scene: Scene, node: Node) -> bool:
    """Whether deciding about a node, or its operation, may call a service.

    What has ended is not yet written: nothing may keep that waiting.
    """
    version, type_ = scene.definition, node.row.resource_type or ""
    if node.key[1]:
        type_ = version.resource_definitions[node.row.name].resource_type
    elif node.previous is not None:
        version = node.previous
    try:
        cls = views.resource_class(engine, version, type_, node.row.name)
    except (exception.HeatException, ValueError):
        return True
    if paces.says_so(cls) or engine.paces.is_slow(cls):
        return True
    if not node.key[1] or node.row.action == "INIT":
        return False
    # With which there may be nothing to do but to read it anew.
    asked = scene.definition.referenced_attributes(node.row.name)
    return any(cls.varies(key[0]) for key in asked)


def expect(scene: Scene, result: Result) -> None:
    """Tell a node's dependants what its row is about to say."""
    node, rsrc = result.node, result.node.rsrc
    scene.done.add(node.key)
    if node.key[1] and rsrc is not None and node.step is not Step.ACT:
        scene.tell(
            node.key[0],
            node.row.id,
            rsrc.reference_id(),
            encode_attributes(result.attributes),
        )


def settle(
    scene: Scene,
    expected: Iterable[NodeKey],
    done: Iterable[Result],
    claimed: Iterable[Task] = (),
) -> None:
    """Take back what was expected and did not come true.

    :param claimed: operations on what became ready: all that these require
        is done, whoever marked it, and they are about to read it
    """
    true = {each.node.key for each in done}
    for task in claimed:
        true.update(scene.graph.requires(task.node.key))
    for key in expected:
        if key not in true:
            scene.untell(key)
