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
"""Runs the nodes that this engine was told are ready.

Each traversal has a *lane*: what is ready, what has ended, what waits. One
thread at a time pumps a lane, and every turn of the pump takes all that has
gathered meanwhile, so that under load many nodes share a transaction, and
alone a node waits for nobody. What waits for the cloud holds no thread: the
timer puts it back into its lane when its time has come.

A lane is only memory. What it forgets (a kill, a stop) is still in the
database, and recovery sends it again.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import logging
import threading
from collections.abc import Sequence

from heat.common.context import RequestContext
from heat.db import holders, session
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import tasks, turn
from heat.engine.traversal.scene import Scene, Scenes
from heat.engine.traversal.sleepers import Sleeper, Sleepers
from heat.engine.traversal.timer import Timer

LOG = logging.getLogger(__name__)

# The most nodes of one turn: a transaction that long is still short.
BATCH = 64

# A lane keeps this many ready nodes for itself; more are offered to every
# engine over the bus, this one included.
LANE_LIMIT = 128

# Nodes of one message.
MESSAGE = 64

# Until results are written again that the database did not take.
RETRY_SECONDS = 1.0


class Lane:
    """The nodes of one traversal that this engine works on."""

    def __init__(
        self, context: RequestContext, stack_id: str, traversal_id: str
    ) -> None:
        self.context = context
        self.stack_id = stack_id
        self.traversal_id = traversal_id
        # Kept as long as an operation of it runs, even when superseded.
        self.scene: Scene | None = None
        # All below is guarded by the runner's lock.
        self.ready: collections.deque[NodeKey] = collections.deque()
        self.known: set[NodeKey] = set()
        self.due: list[tasks.Task] = []
        self.results: list[tasks.Result] = []
        self.claimed: list[tasks.Task] = []
        self.busy = 0  # operations that wait, or run on a thread
        self.stepping = 0  # of these, on a thread
        self.pumping = False

    @property
    def idle(self) -> bool:
        return not (self.has_work or self.busy)

    @property
    def has_work(self) -> bool:
        return bool(self.ready or self.due or self.results or self.claimed)


class Runner:
    """The engine's own sender of nodes: it keeps what it can do itself.

    It takes the place of ``engine.sender`` and passes what is too much for
    one engine on to the sender that was there, the bus.
    """

    def __init__(
        self, engine: Engine, pool_size: int = 16, service_pool_size: int = 32
    ) -> None:
        self._engine = engine
        self._bus = engine.sender
        engine.sender = self
        self._scenes = Scenes(engine.db)
        engine.scenes = self
        self._pool = concurrent.futures.ThreadPoolExecutor(
            pool_size, thread_name_prefix="heat-runner"
        )
        # Steps that wait for a service keep no turn waiting.
        self._services = concurrent.futures.ThreadPoolExecutor(
            service_pool_size, thread_name_prefix="heat-service"
        )
        self._timer = Timer(engine.monotonic)
        self._lock = threading.Lock()
        self._lanes: dict[str, Lane] = {}
        self._sleepers = Sleepers()
        self._stopping = False
        self._quiet = threading.Condition(self._lock)

    # -- in ---------------------------------------------------------------

    def wake(
        self, context: RequestContext, engine_id: str, stack_id: str
    ) -> None:
        """Pass the news of a nested stack on to another engine."""
        self._bus.wake(context, engine_id, stack_id)

    def send(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        """Take ready nodes up here, the surplus over the bus."""
        room = 0 if self._stopping else LANE_LIMIT
        mine, rest = nodes[:room], nodes[room:]
        if mine:
            self.take(context, stack_id, traversal_id, mine)
        self._offer(context, stack_id, traversal_id, rest)

    def keep(
        self,
        scene: Scene,
        claimed: Sequence[tasks.Task],
        ended: Sequence[tasks.Result],
    ) -> None:
        """Have a traversal at hand that was begun here, and go on with what
        its beginning has claimed and decided."""
        self._scenes.keep(scene)
        with self._lock:
            # Handing over gives back what is claimed.
            if self._stopping or not (claimed or ended):
                return
            lane = self._lane(
                scene.context, scene.stack.id, scene.traversal.traversal_id
            )
            # One that was read meanwhile may know more by now.
            lane.scene = lane.scene or scene
            lane.known.update(task.node.key for task in claimed)
            lane.known.update(each.node.key for each in ended)
            lane.claimed.extend(claimed)
            lane.results.extend(ended)
            self._pump_soon(lane)

    def take(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        """Put ready nodes into their lane; returns at once."""
        with self._lock:
            if self._stopping:
                return
            lane = self._lane(context, stack_id, traversal_id)
            for row_id, is_update in nodes:
                key = (int(row_id), bool(is_update))
                if key not in lane.known:
                    lane.known.add(key)
                    lane.ready.append(key)
            self._pump_soon(lane)

    def _lane(
        self, context: RequestContext, stack_id: str, traversal_id: str
    ) -> Lane:
        """The lane of a traversal. The lock is held."""
        lane = self._lanes.get(traversal_id)
        if lane is None:
            lane = Lane(context, stack_id, traversal_id)
            self._lanes[traversal_id] = lane
        return lane

    def works_on(self, traversal_id: str, node: NodeKey) -> bool:
        """Whether a node is in hand here (recovery leaves it alone)."""
        with self._lock:
            lane = self._lanes.get(traversal_id)
            return lane is not None and node in lane.known

    def stop(self, timeout: float = 30.0) -> None:
        """Take nothing new, let running steps end, hand the rest over.

        Operations that wait for the cloud are given back by
        :func:`heat.engine.traversal.recovery.hand_over`, which the server
        calls next.
        """
        with self._lock:
            self._stopping = True
            deadline = self._engine.monotonic() + timeout
            while any(
                lane.pumping or lane.stepping for lane in self._running()
            ):
                left = deadline - self._engine.monotonic()
                if left <= 0 or not self._quiet.wait(left):
                    break
        self._timer.stop()
        for pool in (self._pool, self._services):
            pool.shutdown(wait=False, cancel_futures=True)
        for lane in self._running():
            self._offer_of(lane, list(lane.ready))

    def _running(self) -> list[Lane]:
        return list(self._lanes.values())

    # -- the pump ---------------------------------------------------------

    def _pump_soon(self, lane: Lane) -> None:
        """Start a pump unless one runs. The lock is held."""
        if lane.pumping or not lane.has_work:
            return
        lane.pumping = True
        self._pool.submit(self._pump, lane)

    def _pump(self, lane: Lane) -> None:
        while True:
            with self._lock:
                work = self._gathered(lane)
                if work is None:
                    lane.pumping = False
                    if lane.idle:
                        self._lanes.pop(lane.traversal_id, None)
                    self._quiet.notify_all()
                    return
            try:
                self._turn(lane, work)
            except Exception:
                # The database is away, or a bug: nothing is lost, as every
                # node is still ready there. Recovery sends it again.
                LOG.exception(
                    "a turn of stack %s failed (traversal %s)",
                    lane.stack_id,
                    lane.traversal_id,
                )
                with self._lock:
                    lane.known.difference_update(work.ready)
                if work.results:
                    self._write_later(lane, work.results)
                for task in work.due:
                    with self._lock:
                        lane.busy += 1
                    self._later(lane, RETRY_SECONDS, task)

    def _gathered(self, lane: Lane) -> turn.Work | None:
        """Take what is to be done in one turn. The lock is held."""
        if lane.claimed:
            claimed, lane.claimed = lane.claimed, []
            return turn.Work([], [], [], claimed)
        if self._stopping and not lane.results:
            return None
        work = turn.Work(
            results=lane.results[:BATCH],
            due=lane.due[:BATCH],
            ready=[
                lane.ready.popleft()
                for _ in range(min(BATCH, len(lane.ready)))
            ],
        )
        del lane.results[:BATCH], lane.due[:BATCH]
        return work if work else None

    def _turn(self, lane: Lane, work: turn.Work) -> None:
        if lane.scene is None:
            lane.scene = self._scenes.get(
                lane.stack_id, lane.traversal_id, lane.context
            )
        if lane.scene is None:  # superseded before we came to it
            with self._lock:
                lane.known.difference_update(work.keys())
            return
        scene = lane.scene
        done = turn.run(self._engine, scene, work)
        results, done.results = work.results + done.results, []
        self._carry_on(lane, scene, done)
        if results:
            self._write(lane, scene, results)

    def _write(
        self, lane: Lane, scene: Scene, results: list[tasks.Result]
    ) -> None:
        try:
            written = turn.write(
                self._engine, scene, results, forward=not self._stopping
            )
        except Exception as exc:
            if not session.passes(exc) and len(results) > 1:
                # One of them keeps all others waiting.
                for each in results:
                    self._write(lane, scene, [each])
            elif session.passes(exc) or results[0].is_spoilt:
                LOG.exception("results of stack %s wait", lane.stack_id)
                self._write_later(lane, results)
            else:
                LOG.exception("a result of stack %s is none", lane.stack_id)
                self._write(lane, scene, [tasks.spoilt(results[0], exc)])
        else:
            self._carry_on(lane, scene, written)

    def _carry_on(self, lane: Lane, scene: Scene, done: turn.Done) -> None:
        """Do what a turn left to do."""
        with self._lock:
            lane.known.difference_update(done.released)
            lane.known.update(done.ready)
            lane.known.update(task.node.key for task in done.claimed)
            lane.claimed.extend(done.claimed)
            surplus = self._keep(lane, done.ready)
            lane.busy += len(done.threads) + len(done.waiting)
            lane.stepping += len(done.threads)
        self._offer_of(lane, surplus)
        for task, first in done.threads:
            self._pool_for(task).submit(
                self._advance, lane, scene, task, first
            )
        for delay, task in done.waiting:
            self._later(lane, delay, task)
        for further in done.begun:
            self.send(
                lane.context,
                further.stack_id,
                further.traversal_id,
                further.ready,
            )
        if done.woken:
            self._wake(lane, scene)
        if done.superseded:
            turn.send_on_newest(
                self._engine, lane.context, lane.stack_id, done.superseded
            )
        if done.ended or done.begun:
            self._scenes.forget(lane.traversal_id)
        if done.ended and scene.stack.action == "DELETE":
            self._end_delegation(scene.stack.user_creds_id)

    def _pool_for(self, task: tasks.Task) -> concurrent.futures.Executor:
        """Where a step runs. Beginning a nested stack is the database's
        work, as a turn is, and no more of it at once."""
        rsrc = task.node.rsrc
        nests = rsrc is not None and rsrc.nests
        return self._pool if nests else self._services

    def _end_delegation(self, creds_id: int | None) -> None:
        """What a deleted stack acted by goes; if not now, then later."""
        delegation = self._engine.delegation
        if delegation is not None and creds_id is not None:
            with contextlib.suppress(RuntimeError):  # the pool is closed
                self._services.submit(delegation.end, creds_id)

    def _offer_of(self, lane: Lane, nodes: Sequence[NodeKey]) -> None:
        self._offer(lane.context, lane.stack_id, lane.traversal_id, nodes)

    def _offer(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        """Offer nodes to every engine."""
        for start in range(0, len(nodes), MESSAGE):
            self._bus.send(
                context, stack_id, traversal_id, nodes[start : start + MESSAGE]
            )

    def _write_later(self, lane: Lane, results: list[tasks.Result]) -> None:
        def again() -> None:
            with self._lock:
                lane.busy -= 1
                lane.results.extend(results)
                self._pump_soon(lane)

        with self._lock:
            lane.busy += 1
        self._timer.after(RETRY_SECONDS, again)

    def _keep(self, lane: Lane, nodes: Sequence[NodeKey]) -> Sequence[NodeKey]:
        """Queue nodes here as far as there is room; returns the others."""
        room = max(0, LANE_LIMIT - len(lane.ready))
        lane.ready.extend(nodes[:room])
        rest = nodes[room:]
        lane.known.difference_update(rest)
        return rest

    # -- waiting and blocking operations ----------------------------------

    def _later(self, lane: Lane, delay: float, task: tasks.Task) -> None:
        sleeper = Sleeper(lane, task)
        with self._lock:
            if not self._sleepers.add(sleeper):
                delay = 0.0

        def due() -> None:
            with self._lock:
                self._rise(sleeper)

        self._timer.after(delay, due)

    def _rise(self, sleeper: Sleeper) -> None:
        """Put what waited back into its lane. The lock is held."""
        if not self._sleepers.remove(sleeper):
            return
        lane = sleeper.lane
        lane.busy -= 1
        lane.due.append(sleeper.task)
        if not self._stopping:
            self._pump_soon(lane)
        self._quiet.notify_all()

    def rouse(self, stack_id: str) -> None:
        """A nested stack has ended: who waits for it here looks at once."""
        with self._lock:
            sleeper = self._sleepers.find(stack_id)
            if sleeper is None:
                self._sleepers.expect(stack_id)
            else:
                self._rise(sleeper)

    def _wake(self, lane: Lane, scene: Scene) -> None:
        """Tell the engine that holds the parent's resource, often us."""
        stack = scene.stack
        with self._lock:
            sleeper = self._sleepers.find(stack.id)
            if sleeper is not None:
                self._rise(sleeper)
                return
        try:
            waiting = self._engine.db.read(
                lambda conn: holders.of_resource(
                    conn,
                    stack.owner_id or "",
                    stack.parent_resource_name or "",
                )
            )
            for engine_id in waiting:
                if engine_id == self._engine.engine_id:
                    self.rouse(stack.id)
                else:
                    self._bus.wake(lane.context, engine_id, stack.id)
        except Exception:
            # Whoever waits looks now and then as well.
            LOG.exception("the parent of stack %s is not woken", stack.id)

    def _advance(
        self, lane: Lane, scene: Scene, task: tasks.Task, first: bool
    ) -> None:
        """One step of an operation that may block, on its own thread."""
        try:
            done = turn.step(self._engine, scene, task, first=first)
        except Exception:
            LOG.exception("a step of stack %s failed", lane.stack_id)
            done = turn.Done(waiting=[(RETRY_SECONDS, task)])
        with self._lock:
            lane.busy += len(done.waiting) - 1
            lane.stepping -= 1
            lane.results.extend(done.results)
            self._pump_soon(lane)
            self._quiet.notify_all()
        for delay, each in done.waiting:
            self._later(lane, delay, each)
