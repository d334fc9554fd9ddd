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

"""An engine process of the simulation: the runner without threads.

It keeps lanes as the runner does and passes the world's points at the edges
of each transaction.
"""

from __future__ import annotations

import dataclasses

import greenlet
from oslo_db import exception as db_exc

from heat.common.context import RequestContext
from heat.db import together
from heat.engine.ports import Engine
from heat.engine.traversal import recovery, turn
from heat.engine.traversal.scene import Scenes
from heat.tests.convergence import prepared, story_nested

DEAD_AFTER = 20.0
RETRY_AFTER = 1.0


def in_the_cloud() -> bool:
    """Whether a plug-in runs: what fails now failed in the cloud."""
    return getattr(greenlet.getcurrent(), "in_the_cloud", False)


class Undone(Exception):
    """A transaction ends without a commit."""


class OwnDatabase:
    """The database as one engine reaches it: each transaction has edges."""

    def __init__(self, world, owner: SimulatedEngine) -> None:
        self._world = world
        self._owner = owner
        self._db = world.db

    def __getattr__(self, name):
        return getattr(self._db, name)

    def run(self, work):
        world, owner = self._world, self._owner
        what = "call" if in_the_cloud() else "commit"
        world.point(owner, f"before a {what}")
        if world.conflicts():
            self._undo(work)
        world.watch.begin()
        found = self._db.run(work)
        seen = world.watch.committed(owner)
        if not in_the_cloud() and world.unanswered(seen):
            world.say(f"{owner.name}: the commit is repeated")
            found = self._db.run(work)
            world.watch.committed(owner)
        world.point(owner, f"after a {what}")
        return found

    def _undo(self, work) -> None:
        """A try that meets a deadlock: others go on before the next one."""

        def fail(conn):
            work(conn)
            raise Undone

        world, owner = self._world, self._owner
        world.say(f"{owner.name}: undone")
        try:
            self._db.run(fail)
        except Exception as error:
            if not isinstance(error, Undone):
                world.say(f"{owner.name}: it fails of {error!r}")
        world.point(owner, "after a deadlock")

    def share(self, work, kind, owns, relies=None):
        """As threads do it: some wait, and another one does it for all."""
        owner = self._owner
        # Others than of its kind, too: that only tells what is alike.
        mine = together.Work(work, "any", owns, relies)
        mine.turns = owner.turns
        if self._world.gathers():
            owner.waiting.append(mine)
            self._world.pause()
            if mine not in owner.waiting:
                return self.run(work) if mine.alone else mine.made
            owner.waiting.remove(mine)
        along = together.company(mine, owner.waiting)
        for each in along:
            owner.waiting.remove(each)
        if along and self._together([mine, *along]):
            return mine.made
        return self.run(work)

    def _together(self, works) -> bool:
        """Whether they have gone well; else each is done alone."""
        world, owner = self._world, self._owner
        for each in works:
            each.alone = True
        try:
            world.point(owner, "before a commit")
            world.watch.begin()
            self._db.together(works)
        except Exception as error:
            world.say(f"{owner.name}: not together: {error!r}")
            return False
        owner.turns = set().union(*(each.turns for each in works))
        seen = world.watch.committed(owner)
        owner.turns = works[0].turns
        world.say(f"{owner.name}: {len(works)} together")
        lost = world.unanswered(seen)
        for each in works:
            each.alone = lost
        world.point(owner, "after a commit")
        return not lost

    def look(self, work, kind):
        return self.read(work)

    def read(self, work):
        found = self._db.read(work)
        self._world.point(self._owner, "after a read")
        return found


@dataclasses.dataclass
class Lane:
    """What an engine works on of one traversal; as in the runner."""

    context: RequestContext
    stack_id: str
    traversal_id: str
    scene: object = None
    ready: list = dataclasses.field(default_factory=list)
    known: set = dataclasses.field(default_factory=set)
    due: list = dataclasses.field(default_factory=list)
    results: list = dataclasses.field(default_factory=list)
    claimed: list = dataclasses.field(default_factory=list)
    # Operations to step on a thread: (scene, task, first step).
    threads: list = dataclasses.field(default_factory=list)
    pumping: bool = False
    busy: int = 0

    @property
    def has_work(self) -> bool:
        return bool(self.ready or self.due or self.results or self.claimed)


class SimulatedEngine:
    """One engine process: the runner without threads."""

    def __init__(self, world, name: str) -> None:
        self.world = world
        self.name = name
        self.db = OwnDatabase(world, self)
        self.engine = Engine(
            db=self.db,
            conf=prepared.conf(),
            engine_id=name,
            plugins=prepared.plugins(),
            sender=self,
            monotonic=lambda: world.now,
            probe=lambda point: world.point(self, point),
        )
        self.engine.children = story_nested.children(self.engine)
        self.scenes = Scenes(self.db)
        self.engine.scenes = self
        self.lanes: dict[str, Lane] = {}
        self.sweeper = recovery.Sweeper(
            self.engine,
            DEAD_AFTER,
            self.works_on,
            living=world.living,
        )
        self.killed = False
        self.stalled_at: float | None = None
        self.sweeping = False
        self.woken = False
        # The traversal whose turn runs, for the watch; of several those
        # that commit together.
        self.turns: set[str] = set()
        # Works that wait for others to go along.
        self.waiting: list[together.Work] = []

    @property
    def able(self) -> bool:
        return not self.killed and self.stalled_at is None

    def works_on(self, traversal_id, node) -> bool:
        lane = self.lanes.get(traversal_id)
        return lane is not None and node in lane.known

    # -- messages -----------------------------------------------------------

    def send(self, context, stack_id, traversal_id, nodes) -> None:
        """As the runner does: what fits stays here, at times."""
        nodes = [tuple(node) for node in nodes]
        if not nodes:
            return
        if self.world.rng.random() < self.world.faults.local:
            self.take(context, stack_id, traversal_id, nodes)
        else:
            self.world.post(context, stack_id, traversal_id, nodes)

    def take(self, context, stack_id, traversal_id, nodes) -> None:
        lane = self._lane(context, stack_id, traversal_id)
        for node in nodes:
            if node not in lane.known:
                lane.known.add(node)
                lane.ready.append(node)

    def keep(self, scene, claimed, ended) -> None:
        """As the runner does."""
        self.scenes.keep(scene)
        if claimed or ended:
            lane = self._lane(
                scene.context, scene.stack.id, scene.traversal.traversal_id
            )
            lane.scene = lane.scene or scene
            lane.known.update(each.node.key for each in (*claimed, *ended))
            lane.claimed.extend(claimed)
            lane.results.extend(ended)

    def _lane(self, context, stack_id, traversal_id) -> Lane:
        lane = self.lanes.get(traversal_id)
        if lane is None:
            lane = Lane(context, stack_id, traversal_id)
            self.lanes[traversal_id] = lane
        return lane

    # -- turns --------------------------------------------------------------

    def pump(self, lane: Lane) -> None:
        """One turn of a lane."""
        lane.pumping = True
        if lane.claimed:
            work = turn.Work([], [], [], lane.claimed)
            lane.claimed = []
        else:
            work = turn.Work(lane.results, lane.due, lane.ready)
            lane.results, lane.due, lane.ready = [], [], []
        try:
            self._turn(lane, work)
        except db_exc.DBConnectionError:
            self.world.say(f"{self.name}: a turn failed")
            lane.known.difference_update(work.ready)
            if work.results:
                self.world.later(
                    RETRY_AFTER, self, lane, "results", work.results
                )
            if work.due:
                self.world.later(RETRY_AFTER, self, lane, "due", work.due)
        finally:
            lane.pumping = False
            if not lane.has_work and not lane.busy:
                self.lanes.pop(lane.traversal_id, None)

    def step(self, lane: Lane, scene, task, first) -> None:
        """One step of an operation that may block."""
        done = None
        try:
            done = turn.step(self.engine, scene, task, first=first)
        except db_exc.DBConnectionError:
            self.world.say(f"{self.name}: a step failed")
        finally:
            lane.busy -= 1
        if done is None:
            self.world.later(RETRY_AFTER, self, lane, "due", [task])
            return
        lane.results.extend(done.results)
        done.results = []
        self._carry_on(lane, scene, done)

    def _turn(self, lane: Lane, work: turn.Work) -> None:
        if lane.scene is None:
            lane.scene = self.scenes.get(
                lane.stack_id, lane.traversal_id, lane.context
            )
        if lane.scene is None:
            lane.known.difference_update(work.keys())
            return
        scene = lane.scene
        done = turn.run(self.engine, scene, work)
        results, done.results = work.results + done.results, []
        self._carry_on(lane, scene, done)
        if not results:
            return
        try:
            written = turn.write(self.engine, scene, results)
        except db_exc.DBConnectionError:
            self.world.say(f"{self.name}: results wait")
            self.world.later(RETRY_AFTER, self, lane, "results", results)
        else:
            self._carry_on(lane, scene, written)

    def _carry_on(self, lane: Lane, scene, done: turn.Done) -> None:
        lane.known.difference_update(done.released)
        lane.known.update(done.ready)
        lane.known.update(task.node.key for task in done.claimed)
        lane.claimed.extend(done.claimed)
        away = []
        for node in done.ready:
            if self.world.rng.random() < self.world.faults.local:
                lane.ready.append(node)
            else:
                away.append(node)
        lane.known.difference_update(away)
        for node in away:
            self.world.post(
                lane.context, lane.stack_id, lane.traversal_id, [node]
            )
        lane.busy += len(done.threads)
        for task, first in done.threads:
            lane.threads.append((scene, task, first))
        for delay, task in done.waiting:
            self.world.later(delay, self, lane, "due", [task])
        for begun in done.begun:
            self.send(
                lane.context, begun.stack_id, begun.traversal_id, begun.ready
            )
        if done.superseded:
            turn.send_on_newest(
                self.engine, lane.context, lane.stack_id, done.superseded
            )
        if done.ended or done.begun:
            self.scenes.forget(lane.traversal_id)

    def sweep(self) -> None:
        self.sweeping = True
        try:
            self.sweeper.sweep()
        except db_exc.DBConnectionError:
            self.world.say(f"{self.name}: a sweep failed")
        finally:
            self.sweeping = False
