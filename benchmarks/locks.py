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
"""What LOCK costs: time and statements, in one process on SQLite.

    python -m benchmarks.locks

A flat stack and a wide tree at the level ``stacks``; at the level ``all`` a
stack of servers whose service takes its time, which many must wait for
together. The figures go into benchmarks/README.rst.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import sqlalchemy as sa

from heat.engine import plugins
from heat.engine.stack import lock
from heat.tests.convergence import lockable, prepared, world

LEAF = {
    "heat_template_version": "2018-08-31",
    "resources": {"in": {"type": "OS::Heat::TestResource"}},
}
SECONDS = 1.0


class Server(lockable.LockableResource):
    """A service that is done with a lock some time after it was asked."""

    __test__ = False

    def find_lock_state(self) -> dict[str, Any]:
        return {"locked": False}

    def handle_lock(self, level: str, reason: str | None) -> float:
        return self._now() + SECONDS

    def check_lock_complete(self, token: float) -> bool:
        return self._now() >= token

    def handle_unlock(self) -> float:
        return self._now() + SECONDS

    check_unlock_complete = check_lock_complete


class Bench:
    """A world, and a stack to lock."""

    def __init__(self, resources: dict[str, Any]) -> None:
        self.world = world.World()
        self.world.conf.set_override("max_resources_per_stack", -1)
        self.world.conf.set_override("max_stacks_per_tenant", -1)
        self.engine = self.world.engines[0]
        template = {**LEAF, "resources": resources}
        files = {"leaf.yaml": json.dumps(LEAF)}
        with mock.patch.object(lock.converge, "check_quota"):
            self.stack = lock.converge.create(
                self.engine,
                self.world.context,
                "stack",
                template,
                {},
                files,
                {},
            ).id
            self.world.run(10**7)

    def measure(self, work: Callable[[], None]) -> tuple[float, int, float]:
        """(seconds of the processor, statements, seconds of the world)."""
        seen: list[str] = []

        def note(
            _conn: Any, _cursor: Any, statement: str, *_rest: Any
        ) -> None:
            seen.append(statement)

        sa.event.listen(self.world.db.engine, "before_cursor_execute", note)
        begun, before = time.process_time(), self.world.now
        work()
        spent = time.process_time() - begun
        sa.event.remove(self.world.db.engine, "before_cursor_execute", note)
        return spent, len(seen), self.world.now - before

    def lock(self, level: str) -> None:
        stack = self.world.stack(self.stack)
        lock.lock(self.engine, self.world.context, stack, level)
        self.world.run(10**7)
        self._expect("LOCK_COMPLETE")

    def unlock(self) -> None:
        stack = self.world.stack(self.stack)
        lock.unlock(self.engine, self.world.context, stack)
        self.world.run(10**7)
        self._expect("UNLOCK_COMPLETE")

    def _expect(self, state: str) -> None:
        if self.world.state(self.stack) != state:
            raise SystemExit(self.world.stack(self.stack).status_reason)


def registry() -> plugins.PluginRegistry:
    found = plugins.PluginRegistry.load(prepared.conf())
    found.add("Test::Server", Server)
    return found


def show(what: str, count: int, bench: Bench, level: str) -> None:
    for name, work in (
        (f"lock --level {level}", lambda: bench.lock(level)),
        ("unlock", bench.unlock),
    ):
        spent, statements, waited = bench.measure(work)
        print(
            f"{what:10} {count:5}  {name:20} {spent * 1000:7.0f} ms CPU  "
            f"{statements:5} statements  {waited:6.1f} s waited",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--servers", type=int, default=100)
    args = parser.parse_args()
    made = registry()
    with mock.patch.object(prepared, "plugins", lambda: made):
        flat = {"type": "OS::Heat::TestResource"}
        for what, count, kind, level in (
            ("flat", 10, flat, "stacks"),
            ("flat", args.count, flat, "stacks"),
            ("tree", 10, {"type": "leaf.yaml"}, "stacks"),
            ("tree", args.count, {"type": "leaf.yaml"}, "stacks"),
            ("servers", args.servers, {"type": "Test::Server"}, "all"),
        ):
            bench = Bench({f"r{i}": kind for i in range(count)})
            show(what, count, bench, level)
            bench.world.close()


if __name__ == "__main__":
    main()
