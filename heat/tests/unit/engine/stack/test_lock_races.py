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
"""A lock and another request at the same instant: exactly one wins.

Two threads, each with an engine and connections of its own, on every
database that is there (see :mod:`heat.tests.unit.db.backends`).
"""

from __future__ import annotations

import json
import threading

import fixtures
import testscenarios

from heat.common import exception
from heat.db import session, stacks
from heat.engine import ports
from heat.engine.stack import actions, converge, delete, lock, nested
from heat.tests.convergence import prepared, world
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

ROUNDS = 12
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "a": {"type": "OS::Heat::TestResource"},
        "n": {"type": "leaf.yaml"},
    },
}
FILES = {
    "leaf.yaml": json.dumps(
        {
            "heat_template_version": "2018-08-31",
            "resources": {"b": {"type": "OS::Heat::TestResource"}},
        }
    )
}
LOST = (exception.StackLocked, exception.ActionInProgress)


class RaceTest(backends.DatabaseTestCase):
    def setUp(self):
        super().setUp()
        # The world of this test stands on its database.
        self.useFixture(
            fixtures.MockPatchObject(prepared, "database", lambda: self.db)
        )
        self.world = world.World()
        self.context = self.world.context
        self.engines = [self.world.engines[0], self.another_engine()]

    def another_engine(self):
        db = session.Database(url=self.url)
        self.addCleanup(db.dispose)
        engine = ports.Engine(
            db=db,
            conf=self.world.conf,
            engine_id="another",
            plugins=self.world.plugins,
            sender=self.world.bus,
            monotonic=lambda: self.world.now,
        )
        engine.children = nested.Children(engine)
        return engine

    def make(self, name="one"):
        record = converge.create(
            self.engines[0],
            self.context,
            name,
            TEMPLATE,
            {},
            FILES,
            {"disable_rollback": True},
        )
        self.world.run()
        return record.id

    def child(self, stack):
        [found] = self.db.read(lambda conn: stacks.children(conn, stack))
        return found

    def race(self, *calls):
        """Let them start together; what each raised, None for success."""
        barrier = threading.Barrier(len(calls))
        ended = [None] * len(calls)

        def run(number, call):
            barrier.wait()
            try:
                call()
            except Exception as error:
                ended[number] = error

        threads = [
            threading.Thread(target=run, args=item)
            for item in enumerate(calls)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ended

    def check_one_wins(self, stack, ended):
        self.assertEqual(1, ended.count(None), ended)
        for error in ended:
            if error is not None:
                self.assertIsInstance(error, LOST)
        self.world.run()
        found = self.world.stack(stack)
        self.assertEqual("COMPLETE", found.status, found.status_reason)
        return found

    def locking(self, read, level="all"):
        return lambda: lock.lock(self.engines[1], self.context, read, level)

    def unlock(self, stack):
        lock.unlock(self.engines[0], self.context, self.world.stack(stack))
        self.world.run()

    def test_lock_and_update(self):
        stack = self.make()
        for number in range(ROUNDS):
            read = self.world.stack(stack)

            def update(read=read):
                converge.update(
                    self.engines[0],
                    self.context,
                    read,
                    TEMPLATE,
                    {},
                    FILES,
                    {},
                )

            level = "all" if number % 2 else "stacks"
            ended = self.race(update, self.locking(read, level))
            found = self.check_one_wins(stack, ended)
            locked = ended[1] is None
            self.assertEqual(locked, found.lock_level is not None)
            self.assertEqual("LOCK" if locked else "UPDATE", found.action)
            child = self.child(stack)
            self.assertEqual(locked, child.lock_root == stack)
            for each in (stack, child.id):
                self.check_base(each)
            if locked:
                self.assertIsInstance(ended[0], exception.StackLocked)
                self.unlock(stack)

    def check_base(self, stack):
        """LOCK covers what was there and never itself."""
        self.assertIn(
            self.world.stack(stack).base,
            [("CREATE", "COMPLETE"), ("UPDATE", "COMPLETE")],
        )
        for row in self.world.living(stack).values():
            self.assertIn(row.action, ("CREATE", "UPDATE"))

    def test_two_locks(self):
        stack = self.make()
        for _number in range(ROUNDS):
            read = self.world.stack(stack)
            ended = self.race(
                self.locking(read, "all"), self.locking(read, "stacks")
            )
            found = self.check_one_wins(stack, ended)
            self.assertEqual(
                "all" if ended[0] is None else "stacks", found.lock_level
            )
            self.unlock(stack)

    def test_lock_of_the_parent_and_work_on_the_child(self):
        stack = self.make()
        for _number in range(ROUNDS):
            read, child = self.world.stack(stack), self.child(stack)

            def check(child=child):
                actions.check(self.engines[0], self.context, child)

            ended = self.race(check, self.locking(read))
            found = self.check_one_wins(stack, ended)
            self.assertEqual("COMPLETE", self.child(stack).status)
            if found.lock_level is not None:
                self.unlock(stack)

    def test_lock_and_delete(self):
        for number in range(ROUNDS // 2):
            stack = self.make(f"stack{number}")
            read = self.world.stack(stack)

            def remove(read=read):
                delete.delete(self.engines[0], self.context, read)

            ended = self.race(remove, self.locking(read))
            # A delete may try again, and then finds the lock.
            found = self.check_one_wins(stack, ended)
            self.assertIn(found.action, ("LOCK", "DELETE"))

    def test_blocked_attempts_are_all_counted(self):
        stack = self.make()
        self.locking(self.world.stack(stack))()
        self.world.run()
        refused = self.assertRaises(
            exception.StackLocked,
            lock.guard,
            self.world.stack(stack),
            "update",
        )

        def count(engine):
            for _number in range(10):
                lock.count_blocked(engine, self.context, refused)

        self.race(*(lambda e=each: count(e) for each in self.engines))
        blocked = self.world.stack(stack).lock_blocked
        self.assertEqual(20, blocked["update"]["count"])
