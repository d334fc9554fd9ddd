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
"""Who waits for a nested stack is woken, wherever the stack has run."""

from __future__ import annotations

import json
import os
import tempfile
import time
import types

from heat.common import context
from heat.db import migration, session, stacks
from heat.engine import ports
from heat.engine.stack import converge, nested
from heat.engine.traversal import runner, sleepers
from heat.tests import base
from heat.tests.convergence import prepared


def sleeper(object_id):
    rsrc = types.SimpleNamespace(resource_id=object_id)
    task = types.SimpleNamespace(
        node=types.SimpleNamespace(rsrc=rsrc), due_at=5.0
    )
    return sleepers.Sleeper(None, task)


class SleepersTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.all = sleepers.Sleepers()

    def test_is_found_by_its_object(self):
        one, other = sleeper("one"), sleeper("other")
        self.assertTrue(self.all.add(one))
        self.assertTrue(self.all.add(other))
        self.assertIs(one, self.all.find("one"))
        self.assertEqual(0.0, one.task.due_at)
        self.assertEqual(5.0, other.task.due_at)

    def test_rises_once(self):
        one = sleeper("one")
        self.all.add(one)
        self.assertTrue(self.all.remove(one))
        self.assertFalse(self.all.remove(one))
        self.assertIsNone(self.all.find("one"))

    def test_news_that_came_before(self):
        self.all.expect("one")
        one = sleeper("one")
        self.assertFalse(self.all.add(one))
        self.assertEqual(0.0, one.task.due_at)
        self.all.remove(one)
        # It is news once only.
        self.assertTrue(self.all.add(sleeper("one")))

    def test_without_an_object(self):
        one = sleeper(None)
        self.assertTrue(self.all.add(one))
        self.assertTrue(self.all.remove(one))

    def test_news_are_not_kept_for_ever(self):
        self.all.expect("first")
        for number in range(sleepers._KEPT):
            self.all.expect(f"n{number}")
        self.assertTrue(self.all.add(sleeper("first")))


class Split:
    """Top stacks run on the first engine, nested ones on the second."""

    def __init__(self):
        self.runners = {}
        self.db = None
        self.woken = []

    def send(self, ctx, stack_id, traversal_id, nodes):
        stack = self.db.read(lambda conn: stacks.get(conn, stack_id))
        name = "first" if stack.owner_id is None else "second"
        self.runners[name].take(ctx, stack_id, traversal_id, nodes)

    def wake(self, ctx, engine_id, stack_id):
        self.woken.append(engine_id)
        self.runners[engine_id].rouse(stack_id)


class TwoEnginesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        path = os.path.join(held.name, "heat.db")
        self.db = session.Database(url=session.Database.url_for_sqlite(path))
        self.addCleanup(self.db.dispose)
        migration.upgrade(self.db)
        self.bus = Split()
        self.bus.db = self.db
        self.engines = {}
        for name in ("first", "second"):
            engine = ports.Engine(
                db=self.db,
                conf=prepared.conf(),
                engine_id=name,
                plugins=prepared.plugins(),
                sender=self.bus,
                monotonic=time.monotonic,
            )
            engine.children = nested.Children(engine)
            made = runner.Runner(engine, 4)
            self.addCleanup(made.stop, 5.0)
            self.bus.runners[name] = made
            # Nothing is begun where it is made: all goes over the bus.
            engine.sender, engine.scenes = self.bus, None
            self.engines[name] = engine

    def test_the_parent_is_woken_over_the_bus(self):
        leaf = {
            "type": "OS::Heat::TestResource",
            "properties": {"wait_secs": 0.3},
        }
        child = {
            "heat_template_version": "2018-08-31",
            "resources": {"in": leaf},
        }
        top = {
            "heat_template_version": "2018-08-31",
            "resources": {"n": {"type": "child.yaml"}},
        }
        began = time.monotonic()
        made = converge.create(
            self.engines["first"],
            context.RequestContext(project_id="p", user_id="u"),
            "top",
            top,
            {},
            {"child.yaml": json.dumps(child)},
            {},
        )
        while True:
            found = self.db.read(lambda conn: stacks.get(conn, made.id))
            if found.status != "IN_PROGRESS":
                break
            self.assertLess(time.monotonic() - began, 30.0)
            time.sleep(0.05)
        self.assertEqual("COMPLETE", found.status, found.status_reason)
        self.assertIn("first", self.bus.woken)
        # It would have looked by itself after five seconds only.
        self.assertLess(time.monotonic() - began, 3.0)
