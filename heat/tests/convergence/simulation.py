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

"""Engines that can be stopped anywhere, one thread, one random generator.

Whatever an engine does (a turn, a sweep, a request of a user) runs in a
greenlet. At each *point* that it passes (the named crash points, and the
edges of every transaction) the world may let others run first, kill the
engine, let it stall until it is taken for dead, take the database away or
leave the outcome of a commit unknown. The same seed gives the same story.
"""

from __future__ import annotations

import dataclasses
import datetime
import heapq
import itertools
import random
import uuid
from collections.abc import Iterable

import greenlet
from oslo_db import exception as db_exc
from oslo_utils import timeutils

from heat.common.context import RequestContext
from heat.db import shared_files, stacks
from heat.engine.traversal import operate
from heat.tests.convergence import invariants, prepared
from heat.tests.convergence.engines import DEAD_AFTER, Lane, SimulatedEngine

EPOCH = datetime.datetime(2030, 1, 1)
SWEEP_EVERY = 10.0
MOST_STEPS = 6000
MOST_SWEEPS = 60


class Killed(BaseException):
    """The engine's process ends here."""


@dataclasses.dataclass
class Faults:
    """How badly the world behaves; chances are for each occasion."""

    pause: float = 0.0
    slow: float = 0.0
    drop: float = 0.0
    duplicate: float = 0.0
    local: float = 0.5
    kill: float = 0.0
    stall: float = 0.0
    away: float = 0.0
    ambiguous: float = 0.0
    deadlock: float = 0.0
    # Works that wait to share a transaction.
    gather: float = 0.0
    # Kills and stalls that are left; each may cost many steps.
    blows: int = 3

    @classmethod
    def pick(cls, rng: random.Random) -> Faults:
        if rng.random() < 0.1:
            return cls()
        blow = rng.choice((0.0, 0.02, 0.1))
        return cls(
            pause=rng.choice((0.0, 0.05, 0.3)),
            slow=rng.choice((0.0, 0.3, 0.6)),
            drop=rng.choice((0.0, 0.0, 0.1)),
            duplicate=rng.choice((0.0, 0.1)),
            local=rng.choice((0.0, 0.5, 1.0)),
            kill=blow * rng.choice((0, 1)),
            stall=blow * rng.choice((0, 1)),
            away=rng.choice((0.0, 0.0, 0.02)),
            ambiguous=rng.choice((0.0, 0.0, 0.05)),
            deadlock=rng.choice((0.0, 0.0, 0.1)),
            gather=rng.choice((0.0, 0.3, 0.7)),
            blows=rng.randint(1, 4),
        )


@dataclasses.dataclass
class Activity:
    """Something an engine does, which may be stopped in the middle."""

    owner: SimulatedEngine
    what: str
    lane: Lane | None
    let: greenlet.greenlet


class SimulatedWorld:
    """Engines, a bus, a clock, a cloud and one random generator.

    :param say: called with each line of the story
    :param faults: how badly it behaves; None: the seed tells
    :param plan: (point, fate) in order: ``kill``, ``stall``, ``pause``,
        ``away`` at the next point of that name, ``repeat`` the next commit
        that does something of that kind; None: go on
    """

    def __init__(
        self,
        seed: int,
        say=None,
        faults: Faults | None = None,
        plan: Iterable[tuple[str, str | None]] = (),
    ):
        self.plan = list(plan)
        self.rng = random.Random(seed)
        self._ids = random.Random(seed + 1)
        self._say = say
        self.faults = Faults.pick(self.rng) if faults is None else faults
        self.epoch = EPOCH
        self.db = prepared.database(
            invariants.TRIGGERS, prepared.OneConnection
        )
        self.watch = invariants.Watch(self)
        self.now = 0.0
        self.steps = 0
        self.messages: list[tuple] = []
        self.activities: list[Activity] = []
        self._timers: list[tuple] = []
        self._count = itertools.count()
        self._names = itertools.count(1)
        self.engines: list[SimulatedEngine] = []
        self.context = RequestContext(
            project_id="project",
            user_id="user",
            username="user",
            request_id="req-of-the-story",
        )
        self._main = greenlet.getcurrent()
        self._saved = (uuid.uuid4, timeutils.utcnow, operate.advance)

    def __enter__(self) -> SimulatedWorld:
        # Keys are drawn: those of another world's files may be the same.
        shared_files._cache.clear()
        uuid.uuid4 = self._uuid4
        timeutils.utcnow = self._utcnow
        operate.advance = self.watch.watching(operate.advance)
        for _number in range(self.rng.randint(1, 3)):
            self.start_engine()
        return self

    def __exit__(self, *error) -> None:
        uuid.uuid4, timeutils.utcnow, operate.advance = self._saved
        for each in self.activities:
            each.let.throw(greenlet.GreenletExit)
        self.watch.close()
        prepared.give_back(self.db)

    def _uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self._ids.getrandbits(128), version=4)

    def _utcnow(self, with_timezone: bool = False) -> datetime.datetime:
        zone = datetime.UTC if with_timezone else None
        return EPOCH.replace(tzinfo=zone) + datetime.timedelta(
            seconds=self.now
        )

    def say(self, line: str) -> None:
        if self._say is not None:
            self._say(f"{self.steps:4d} {self.now:7.1f} {line}")

    # -- engines ------------------------------------------------------------

    def start_engine(self) -> SimulatedEngine:
        made = SimulatedEngine(self, f"engine-{next(self._names)}")
        self.engines.append(made)
        return made

    def able(self) -> list[SimulatedEngine]:
        return [each for each in self.engines if each.able]

    def living(self) -> set[str]:
        """Engines that are not yet taken for dead."""
        return {
            each.name
            for each in self.engines
            if each.stalled_at is None
            or self.now - each.stalled_at <= DEAD_AFTER
        }

    def kill(self, owner: SimulatedEngine) -> None:
        """Its memory is gone; another process takes its place."""
        owner.killed = True
        self.engines.remove(owner)
        self._timers = [each for each in self._timers if each[2] is not owner]
        heapq.heapify(self._timers)
        lost = [each for each in self.activities if each.owner is owner]
        self.activities = [e for e in self.activities if e.owner is not owner]
        for each in lost:
            each.let.throw(greenlet.GreenletExit)
        if not self.able():
            self.start_engine()

    def wake(self, owner: SimulatedEngine) -> None:
        self.say(f"{owner.name} wakes up")
        owner.stalled_at = None
        owner.woken = True

    # -- faults -------------------------------------------------------------

    def chance(self, fault: str) -> bool:
        odds = getattr(self.faults, fault)
        return bool(odds) and self.rng.random() < odds

    def unanswered(self, seen: set[str]) -> bool:
        """Whether nobody hears that this commit took place.

        :param seen: kinds of what it did, see the watch
        """
        if self.plan and self.plan[0][1] == "repeat":
            if self.plan[0][0] not in seen:
                return False
            self.plan.pop(0)
            return True
        return self.chance("ambiguous")

    def point(self, owner: SimulatedEngine, name: str) -> None:
        """An engine passes a point where much can happen to it."""
        here = greenlet.getcurrent()
        if here is self._main:
            return
        fate = self._planned(name) or self._drawn(owner, name)
        if fate is None:
            return
        self.say(f"{owner.name}, {name}: {fate}")
        if fate == "kill":
            raise Killed
        if fate == "away":
            raise db_exc.DBConnectionError
        if fate == "stall":
            owner.stalled_at = self.now
            if not self.able():
                self.start_engine()
        self._main.switch()

    def conflicts(self) -> bool:
        """Whether a transaction meets a deadlock before its commit."""
        return greenlet.getcurrent() is not self._main and self.chance(
            "deadlock"
        )

    def gathers(self) -> bool:
        """Whether what wants to write now waits for others to."""
        return greenlet.getcurrent() is not self._main and self.chance(
            "gather"
        )

    def pause(self) -> None:
        """Let others run first, for long."""
        here = greenlet.getcurrent()
        here.waits = True
        self._main.switch()
        here.waits = False

    def _planned(self, name: str) -> str | None:
        if not self.plan or self.plan[0][0] != name:
            return None
        return self.plan.pop(0)[1]

    def _drawn(self, owner: SimulatedEngine, name: str) -> str | None:
        faults = self.faults
        if faults.blows and name != "after a read":
            # What an engine made after it was taken for dead, and before it
            # could say so, nobody can know.
            if not owner.woken and self.chance("kill"):
                faults.blows -= 1
                return "kill"
            if self.chance("stall"):
                faults.blows -= 1
                return "stall"
        if name == "before a commit" and self.chance("away"):
            return "away"
        # What a user asks for races with what runs already: so it is slow.
        is_slow = getattr(greenlet.getcurrent(), "is_slow", False)
        is_slow = is_slow or name == "after a deadlock"
        if self.chance("slow" if is_slow else "pause"):
            return "pause"
        return None

    # -- messages and timers ------------------------------------------------

    def post(self, *message) -> None:
        if self.chance("drop"):
            self.say(f"lost: {message[3]}")
            return
        self.messages.append(message)
        if self.chance("duplicate"):
            self.messages.append(message)

    def later(self, delay, owner, lane, kind, items) -> None:
        lane.busy += 1
        heapq.heappush(
            self._timers,
            (self.now + delay, next(self._count), owner, lane, kind, items),
        )

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    # -- steps --------------------------------------------------------------

    def start(self, owner, what, call, lane=None, *, slow=False) -> None:
        """Let an engine do something, until its end or a pause."""
        self.say(f"{owner.name}: {what}")
        let = greenlet.greenlet(call)
        let.is_slow = slow
        self._run(Activity(owner, what, lane, let))

    def _run(self, activity: Activity) -> None:
        owner = activity.owner
        lane = activity.lane
        owner.turns = {lane.traversal_id} if lane else set()
        try:
            activity.let.switch()
        except Killed:
            self.kill(owner)
            return
        if not activity.let.dead:
            self.activities.append(activity)

    def step(self) -> bool:
        """Let one thing happen; False: nothing is left to happen."""
        choices = self._choices()
        if not choices:
            return False
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise invariants.Violation("I6", "it does not come to rest")
        # The clock moves in its own right: stamps differ.
        self.pass_time(0.001)
        weights = [each[0] for each in choices]
        _weight, act, *args = self.rng.choices(choices, weights)[0]
        act(*args)
        return True

    def _choices(self) -> list[tuple]:
        found: list[tuple] = []
        if self.messages:
            found.append((4, self._deliver))
        able = self.able()
        for owner in able:
            for lane in owner.lanes.values():
                if lane.has_work and not lane.pumping:
                    found.append((3, self._pump, owner, lane))
                if lane.threads:
                    found.append((3, self._step_on_thread, owner, lane))
        for activity in self.activities:
            if activity.owner.able:
                waits = getattr(activity.let, "waits", False)
                weight = 0.1 if waits else 2
                found.append((weight, self._resume, activity))
        if any(each[2].able for each in self._timers):
            found.append((1 if found else 3, self._tick))
        return found

    def _deliver(self) -> None:
        index = self.rng.randrange(len(self.messages))
        context, stack_id, traversal_id, nodes = self.messages.pop(index)
        owner = self.rng.choice(self.able())
        self.say(f"{owner.name} gets {traversal_id[:4]} {nodes}")
        owner.take(context, stack_id, traversal_id, nodes)

    def _pump(self, owner: SimulatedEngine, lane: Lane) -> None:
        what = f"turn {lane.traversal_id[:4]}"
        if self._say is not None:
            what += (
                f" {lane.ready} due {[t.node.key for t in lane.due]}"
                f" ended {[r.node.key for r in lane.results]}"
            )
        self.start(owner, what, lambda: owner.pump(lane), lane)

    def _step_on_thread(self, owner: SimulatedEngine, lane: Lane) -> None:
        index = self.rng.randrange(len(lane.threads))
        scene, task, first = lane.threads.pop(index)
        what = f"step of {task.action} {task.node.key}"
        self.start(
            owner, what, lambda: owner.step(lane, scene, task, first), lane
        )

    def _resume(self, activity: Activity) -> None:
        self.say(f"{activity.owner.name} goes on: {activity.what}")
        self.activities.remove(activity)
        self._run(activity)

    def _tick(self) -> None:
        """Go to the next time at which something is due."""
        asleep = []
        while not self._timers[0][2].able:
            asleep.append(heapq.heappop(self._timers))
        due, _n, owner, lane, kind, items = heapq.heappop(self._timers)
        for each in asleep:
            heapq.heappush(self._timers, each)
        self.pass_time(max(0.0, due - self.now))
        lane.busy -= 1
        getattr(lane, kind).extend(items)

    def start_sweep(self, owner: SimulatedEngine) -> None:
        if not owner.sweeping:
            self.start(owner, "sweep", owner.sweep)

    # -- rest ---------------------------------------------------------------

    def settle(self) -> None:
        """Run and recover until nothing moves any more.

        :raises Violation: it takes too long
        """
        idle = 0
        before, since = None, self.now
        for _round in range(MOST_SWEEPS):
            # Who waits for a nested stack looks for ever, so nothing may
            # wait for that to end.
            until = self.now + SWEEP_EVERY
            while self.now < until and self.step():
                pass
            # The sweeps that began last are over too: one that paused, and
            # then changed nothing, is no work.
            quiet = self.watch.commits == before and not self._choices()
            idle = idle + 1 if quiet else 0
            # A ready node is sent when two sweeps in a row have seen it.
            enough = 1 if self.watch.is_at_rest() else 2
            if not self.watch.check_time(since) and idle >= enough:
                return
            self.pass_time(max(0.0, until - self.now))
            # Only whole sweeps tell, that see all who will ever be dead.
            whole = not self._choices() and not self._soon_dead()
            before = self.watch.commits if whole else None
            for owner in self.able():
                self.start_sweep(owner)
        raise invariants.Violation("I6", "recovery does not come to rest")

    def _soon_dead(self) -> bool:
        return any(
            each.stalled_at is not None
            and self.now - each.stalled_at <= DEAD_AFTER
            for each in self.engines
        )

    # -- what can be seen ---------------------------------------------------

    def stack(self, stack_id: str) -> stacks.StackRecord | None:
        return self.db.read(
            lambda conn: stacks.get(conn, stack_id, show_deleted=True)
        )
