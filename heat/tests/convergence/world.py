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
"""A world in one thread: engines, a bus, a clock and a cloud.

It runs the very functions that the engine runs (begin, turn, finish,
outcome, recovery), over SQLite, and nothing else: messages lie in a list
until the test (or a seed) picks one, time moves when nothing else can.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heat.common.context import RequestContext
from heat.db import events, resources, stacks
from heat.engine.ports import Engine, NodeKey
from heat.engine.stack import converge, delete, load, nested, outputs
from heat.engine.traversal import turn
from heat.engine.traversal.scene import Scene, Scenes
from heat.engine.traversal.tasks import Result, Task
from heat.tests.convergence import prepared

PROJECT = "project"


@dataclasses.dataclass
class Message:
    """A hint on its way."""

    context: RequestContext
    stack_id: str
    traversal_id: str
    nodes: tuple[NodeKey, ...]


class Bus:
    """Where messages wait to be picked."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def send(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        self.messages.append(
            Message(context, stack_id, traversal_id, tuple(nodes))
        )


class Keeper:
    """Has at hand what an engine of a world has begun, as the runner does."""

    def __init__(self, world: World, engine: Engine) -> None:
        self.scenes = Scenes(world.db)
        self._start = functools.partial(world.start, engine)

    def keep(
        self, scene: Scene, claimed: Sequence[Task], ended: Sequence[Result]
    ) -> None:
        self.scenes.keep(scene)
        self._start(scene, list(claimed), list(ended))


class World:
    """One database, one bus, some engines; everything in this thread.

    :param seed: how the next message is picked; None: first come first
    """

    def __init__(self, seed: int | None = None, engines: int = 1) -> None:
        self.now = 1000.0
        self.random = random.Random(seed) if seed is not None else None
        self.db = prepared.database()
        self.conf = prepared.conf()
        self.plugins = prepared.plugins()
        self.bus = Bus()
        self.engines = [
            self.make_engine(f"engine-{i}") for i in range(engines)
        ]
        self.context = RequestContext(
            project_id=PROJECT, user_id="user", username="user"
        )
        self._waiting: list[tuple[float, int, Any]] = []
        self._claimed: list[tuple[Engine, Scene, list[Task]]] = []
        self._count = itertools.count()

    def make_engine(self, engine_id: str) -> Engine:
        engine = Engine(
            db=self.db,
            conf=self.conf,
            engine_id=engine_id,
            plugins=self.plugins,
            sender=self.bus,
            monotonic=lambda: self.now,
        )
        engine.children = nested.Children(engine)
        return engine

    def close(self) -> None:
        prepared.give_back(self.db)

    # -- what a user does ---------------------------------------------------

    def create(
        self,
        template: Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
        name: str = "stack",
        **args: Any,
    ) -> str:
        args.setdefault("disable_rollback", True)
        record = converge.create(
            self.engines[0],
            self.context,
            name,
            template,
            params or {},
            {},
            args,
        )
        return record.id

    def update(
        self,
        stack_id: str,
        template: Mapping[str, Any] | None,
        params: Mapping[str, Any] | None = None,
        **args: Any,
    ) -> None:
        converge.update(
            self.engines[0],
            self.context,
            self.stack(stack_id),
            template,
            params or {},
            {},
            args,
        )

    def delete(self, stack_id: str) -> None:
        delete.delete(self.engines[0], self.context, self.stack(stack_id))

    # -- what happens -------------------------------------------------------

    def step(self) -> bool:
        """Let one thing happen; False: nothing is left to happen."""
        if self._claimed:
            engine, scene, claimed = self._claimed.pop(0)
            self._turn(engine, scene, turn.Work([], [], [], claimed))
            return True
        if self.bus.messages:
            index = 0
            if self.random is not None:
                index = self.random.randrange(len(self.bus.messages))
            self._deliver(self.bus.messages.pop(index))
            return True
        if self._waiting:
            due, _number, (engine, scene, task) = heapq.heappop(self._waiting)
            self.now = max(self.now, due)
            self._turn(engine, scene, turn.Work([], [task], []))
            return True
        return False

    def run(self, steps: int = 10000) -> None:
        """Let everything happen.

        :raises AssertionError: it does not come to rest
        """
        for _step in range(steps):
            if not self.step():
                return
        raise AssertionError("the world does not come to rest")

    def run_until(
        self, reached: Callable[[], bool], steps: int = 10000
    ) -> None:
        for _step in range(steps):
            if reached():
                return
            if not self.step():
                break
        if not reached():
            raise AssertionError("that never happened")

    def _deliver(self, message: Message) -> None:
        engine = self.engines[0]
        if self.random is not None:
            engine = self.random.choice(self.engines)
        scene = self.db.read(
            lambda conn: Scene.load(
                conn, message.stack_id, message.traversal_id, message.context
            )
        )
        if scene is not None:
            self._turn(engine, scene, turn.Work([], [], list(message.nodes)))

    def _turn(self, engine: Engine, scene: Scene, work: turn.Work) -> None:
        done = turn.run(engine, scene, work)
        self._carry_on(engine, scene, done)
        if done.results:
            self._carry_on(
                engine, scene, turn.write(engine, scene, done.results)
            )

    def _carry_on(self, engine: Engine, scene: Scene, done: turn.Done) -> None:
        self.start(engine, scene, done.claimed)
        for key in done.ready:
            self.bus.send(
                scene.context,
                scene.stack.id,
                scene.traversal.traversal_id,
                [key],
            )
        for begun in done.begun:
            self.bus.send(
                scene.context, begun.stack_id, begun.traversal_id, begun.ready
            )
        if done.superseded:
            turn.send_on_newest(
                engine, scene.context, scene.stack.id, done.superseded
            )
        for task, first in done.threads:
            ended = turn.step(engine, scene, task, first=first)
            results, ended.results = ended.results, []
            self._carry_on(engine, scene, ended)
            if results:
                self._carry_on(
                    engine, scene, turn.write(engine, scene, results)
                )
        for delay, task in done.waiting:
            self._wait(engine, scene, delay, task)

    def start(
        self,
        engine: Engine,
        scene: Scene,
        claimed: list[Task],
        ended: Sequence[Result] = (),
    ) -> None:
        """Start what an engine has claimed, as the next thing to happen."""
        if claimed:
            self._claimed.append((engine, scene, claimed))
        if ended:
            self._carry_on(engine, scene, turn.write(engine, scene, ended))

    def take_claimed(self) -> list[tuple[Engine, Scene, list[Task]]]:
        """What was claimed and not started; nobody starts it any more."""
        found, self._claimed = self._claimed, []
        return found

    def _wait(
        self, engine: Engine, scene: Scene, delay: float, task: Task
    ) -> None:
        heapq.heappush(
            self._waiting,
            (self.now + delay, next(self._count), (engine, scene, task)),
        )

    # -- what can be seen ---------------------------------------------------

    def stack(self, stack_id: str) -> stacks.StackRecord:
        found = self.db.read(
            lambda conn: stacks.get(conn, stack_id, show_deleted=True)
        )
        assert found is not None
        return found

    def state(self, stack_id: str) -> str:
        stack = self.stack(stack_id)
        return f"{stack.action}_{stack.status}"

    def rows(self, stack_id: str) -> list[resources.ResourceRecord]:
        return self.db.read(
            lambda conn: resources.list_for_stack(conn, stack_id)
        )

    def objects(self) -> set[str]:
        """Ids of the stand-in objects that are there."""
        found = prepared.raw(self.db).execute("SELECT id FROM test_object")
        return {row[0] for row in found}

    def living(self, stack_id: str) -> dict[str, resources.ResourceRecord]:
        return load.living(self.rows(stack_id))

    def outputs(self, stack_id: str) -> dict[str, Any]:
        stack = self.stack(stack_id)
        found = outputs.resolve(self.engines[0], self.context, stack)
        return {each["output_key"]: each["output_value"] for each in found}

    def events(self, stack_id: str) -> list[tuple[str, str]]:
        """(resource name, ACTION_STATUS) in order."""
        found = self.db.read(lambda conn: events.list_(conn, [stack_id]))
        return [
            (
                each.resource_name,
                f"{each.resource_action}_{each.resource_status}",
            )
            for each in found
        ]
