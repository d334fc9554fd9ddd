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


"""Creates that go on under another engine than the one that began them."""

from __future__ import annotations

from unittest import mock

from heat.engine.resources.openstack.heat import test_resource
from heat.engine.software import deployments
from heat.engine.stack import lock
from heat.engine.traversal import recovery
from heat.tests.convergence import simulation, test_found, test_software
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res
from heat.tests.unit.engine.stack import test_nested


class KilledTest(test_found.Story):
    """The engine is killed; what it has made is there afterwards."""

    def wait_for_the_wait(self):
        """Until what waits is recorded."""
        while not any(row[4] for row in self.rows()):
            self.assertTrue(self.world.step())
        (made,) = self.world.watch.objects(self.stack_id)
        return made

    def rows(self):
        return self.world.watch._living_rows(self.stack_id)

    def kill(self):
        self.world.kill(self.world.engines[0])

    def made(self):
        return self.world.watch._made

    def test_while_it_waits(self):
        """The same object, no second one, and no second wait."""
        self.enter()
        self.create({"a": res("x", wait_secs=100), "b": res(attr("a"))})
        made = self.wait_for_the_wait()
        self.kill()
        self.rest("CREATE_COMPLETE", 2)
        self.assertIn(made, self.world.watch.objects(self.stack_id))
        self.assertEqual(2, len(self.made()))
        self.assertLess(self.world.now, 150)

    def test_again_and_again(self):
        self.enter()
        self.create({"a": res("x", wait_secs=300)})
        self.wait_for_the_wait()
        self.world.plan[:] = [("claimed", "kill"), ("called", "kill")]
        self.kill()
        self.rest("CREATE_COMPLETE", 1)
        self.assertEqual(1, len(self.made()))

    def test_a_deployment_is_not_begun_anew(self):
        """What the server was given, and reports on, still counts."""
        self.enter()
        resources = test_software.template(test_software.deployed())
        self.create(resources["resources"])
        while not any(row[4] for row in self.rows() if row[1] == "deployment"):
            self.assertTrue(self.world.step())
        db, context = self.world.db, self.world.context
        (before,) = deployments.list_(db, context, None)
        self.kill()
        for _sweep in range(10):
            self.world.pass_time(simulation.SWEEP_EVERY)
            for owner in self.world.able():
                self.world.start_sweep(owner)
            for _step in range(50):
                self.world.step()
        self.assertEqual([before], deployments.list_(db, context, None))
        deployments.signal(db, context, before["id"], {"said": "hello"})
        self.rest("CREATE_COMPLETE", 0)

    def test_between_the_cloud_and_the_books(self):
        """Found by its name, it is adopted."""
        self.enter(("called", "kill"))
        self.create({"a": res("x"), "b": res(attr("a"))})
        self.rest("CREATE_COMPLETE", 2)
        self.assertEqual(2, len(self.made()))

    def test_before_the_cloud(self):
        """There is nothing to find: it is replaced by a new row."""
        self.enter(("claimed", "kill"))
        self.create({"a": res("x")})
        self.rest("CREATE_COMPLETE", 1)

    def test_it_fails_as_it_would_have(self):
        self.enter()
        self.create({"a": res("x", wait_secs=100, fail=True)})
        self.wait_for_the_wait()
        self.kill()
        self.rest("CREATE_FAILED", 1)

    def test_wanted_as_before(self):
        """Another update goes on with it, too."""
        self.enter()
        self.create({"a": res("x", wait_secs=100)})
        made = self.wait_for_the_wait()
        self.kill()
        self.update({"a": res("x", wait_secs=100), "b": res()})
        self.rest("UPDATE_COMPLETE", 2)
        self.assertIn(made, self.world.watch.objects(self.stack_id))

    def test_wanted_otherwise(self):
        self.enter()
        self.create({"a": res("x", wait_secs=100)})
        made = self.wait_for_the_wait()
        self.kill()
        self.update({"a": res("y")})
        self.rest("UPDATE_COMPLETE", 1)
        self.assertNotIn(made, self.world.watch.objects(self.stack_id))

    def test_a_type_that_can_not_go_on(self):
        """It is replaced, and the old object goes in clean-up."""
        cls = test_resource.TestResource
        with mock.patch.object(cls, "resumes_create", False):
            self.enter()
            self.create({"a": res("x", wait_secs=30)})
            made = self.wait_for_the_wait()
            self.kill()
            self.rest("CREATE_COMPLETE", 1)
        self.assertNotIn(made, self.world.watch.objects(self.stack_id))

    def test_when_the_stack_had_failed(self):
        """The next update goes on, whatever LOCK and UNLOCK showed."""
        self.enter()
        slow = res("x", wait_secs=100)
        self.create({"a": slow, "b": res("y", fail=True)})
        while self.world.stack(self.stack_id).status == "IN_PROGRESS":
            self.assertTrue(self.world.step())
        (made,) = [row[4] for row in self.rows() if row[1] == "a"]
        self.assertIsNotNone(made)
        self.kill()
        self.rest("CREATE_FAILED", 2)
        self.act(lock.lock, "all")
        self.rest("LOCK_COMPLETE", 2)
        self.act(lock.unlock)
        self.rest("UNLOCK_COMPLETE", 2)
        self.update({"a": slow, "b": res("y")})
        self.rest("UPDATE_COMPLETE", 2)
        self.assertIn(made, self.world.watch.objects(self.stack_id))
        self.assertEqual(3, len(self.made()))

    def act(self, call, *args):
        stack = self.world.stack(self.stack_id)
        self.do(lambda engine: call(engine, self.world.context, stack, *args))

    def test_the_first_engine_was_only_stalled(self):
        """It wakes when another has gone on, and does no harm."""
        self.enter()
        self.create({"a": res("x", wait_secs=60)})
        made = self.wait_for_the_wait()
        sleeper = self.world.engines[0]
        sleeper.stalled_at = self.world.now
        self.world.start_engine()
        self.rest("CREATE_COMPLETE", 1)
        self.world.wake(sleeper)
        self.rest("CREATE_COMPLETE", 1)
        self.assertEqual({made}, self.made())


class HandOverTest(StoryTest):
    """An engine stops at leisure, and another goes on."""

    def hand_over(self):
        """The first engine lets go of what it holds, and ends."""
        world = self.world
        first = world.engines.pop(0)
        world.engines.append(world.make_engine("engine-next"))
        self.assertTrue(recovery.hand_over(first))
        world._waiting.clear()
        sweeper = recovery.Sweeper(
            world.engines[0], 20, living=lambda: {"engine-next"}
        )
        sweeper.sweep()
        sweeper.sweep()

    def create(self, resources, **args):
        made = self.world.create(hot(resources), **args)
        while any(self.world.bus.messages) or self.world._claimed:
            self.world.step()
        return made

    def assertGoesOn(self, stack, name):
        before = self.physical(stack)[name]
        self.assertIsNotNone(before)
        self.hand_over()
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack)[name])
        self.assertEqual(1, len(self.named(stack, name)))

    def named(self, stack, name):
        return [r for r in self.world.rows(stack) if r.name == name]

    def test_what_waits(self):
        stack = self.create({"a": res(wait_secs=20)})
        self.assertGoesOn(stack, "a")
        told = [what for name, what in self.world.events(stack) if name == "a"]
        self.assertEqual(
            [
                "CREATE_IN_PROGRESS",
                "CREATE_FAILED",
                "CREATE_IN_PROGRESS",
                "CREATE_COMPLETE",
            ],
            told,
        )

    def test_a_delay(self):
        delay = {"type": "OS::Heat::Delay", "properties": {"min_wait": 20}}
        self.assertGoesOn(self.create({"a": delay}), "a")

    def test_a_nested_stack(self):
        """What the child does goes on by itself; it is one child."""
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": res(wait_secs=20)},
        }
        stack = self.create({"a": group})
        child = self.physical(stack)["a"]
        self.assertGoesOn(stack, "a")
        rows = self.world.rows(child)
        self.assertEqual({"CREATE"}, {row.action for row in rows})
        self.assertEqual({None}, {row.replaces for row in rows})
        self.assertEqual(2, len(rows))

    def test_a_wait_condition(self):
        """Signals that came to the first engine count."""
        handle = {"type": "OS::Heat::WaitConditionHandle"}
        handle["properties"] = {"signal_transport": "NO_SIGNAL"}
        condition = {
            "type": "OS::Heat::WaitCondition",
            "properties": {
                "handle": {"get_resource": "h"},
                "timeout": 100,
                "count": 1,
            },
        }
        stack = self.create({"h": handle, "a": condition})
        (row,) = self.named(stack, "h")
        self.assertIsNotNone(self.physical(stack)["a"])
        self.hand_over()
        self.world.bus.messages, held = [], self.world.bus.messages
        signal = {"1": {"status": "SUCCESS", "data": "d", "reason": "r"}}
        self.world.db.run(
            lambda conn: recovery.resources.set_values(
                conn, [row.id], {"metadata": signal}
            )
        )
        self.world.bus.messages = held
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(1, len(self.named(stack, "a")))


class ChildTest(test_nested.NestedTest):
    def test_one_that_has_failed_meanwhile_is_repaired(self):
        self.refusing = True
        case = self

        class Flaky(test_resource.TestResource):
            __test__ = False

            def handle_create(self):
                if case.refusing:
                    raise ValueError("not today")
                return super().handle_create()

        self.world.plugins.add("Test::Flaky", Flaky)
        child = hot({"in": {"type": "Test::Flaky"}})
        stack = self.begin(
            hot({"n": {"type": "own.yaml"}}),
            {"own.yaml": test_nested.text(child)},
        )
        self.world.run_until(lambda: self.child(stack) is not None)
        # Whoever waits for the child goes, and nobody knows it yet.
        self.world._waiting.clear()
        self.world.run()
        self.assertState("CREATE_FAILED", self.child(stack))
        self.refusing = False
        self.engine.engine_id = "another"
        recovery.resume(self.engine, alone=True)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
