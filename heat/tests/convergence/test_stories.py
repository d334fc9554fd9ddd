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
"""Scenarios of convergence, each a story on one engine."""

from __future__ import annotations

from heat.common import exception
from heat.engine.resources.openstack.heat import none_resource
from heat.engine.stack import actions
from heat.tests import base
from heat.tests.convergence import world


def hot(resources, outputs=None, parameters=None):
    template = {"heat_template_version": "2018-08-31", "resources": resources}
    if outputs:
        template["outputs"] = outputs
    if parameters:
        template["parameters"] = parameters
    return template


def res(value="v", depends_on=None, **properties):
    """A TestResource."""
    made = {
        "type": "OS::Heat::TestResource",
        "properties": {"value": value, **properties},
    }
    if depends_on:
        made["depends_on"] = depends_on
    return made


def attr(name):
    return {"get_attr": [name, "output"]}


class StoryTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)

    def physical(self, stack_id):
        return {
            name: row.physical_id
            for name, row in self.world.living(stack_id).items()
        }

    def assertState(self, state, stack_id):
        stack = self.world.stack(stack_id)
        self.assertEqual(
            state, f"{stack.action}_{stack.status}", stack.status_reason
        )


class CreateTest(StoryTest):
    def test_a_chain_is_made_in_order(self):
        stack = self.world.create(
            hot(
                {
                    "c": res(attr("b")),
                    "b": res(attr("a")),
                    "a": res("first"),
                },
                {"last": {"value": attr("c")}},
            )
        )
        self.assertState("CREATE_IN_PROGRESS", stack)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual({"last": "first"}, self.world.outputs(stack))
        order = [
            name
            for name, what in self.world.events(stack)
            if what == "CREATE_COMPLETE"
        ]
        self.assertEqual(["a", "b", "c", "stack"], order)

    def test_an_empty_stack_completes(self):
        stack = self.world.create(hot({}))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)

    def test_a_failure_without_rollback_stays(self):
        stack = self.world.create(
            hot({"a": res(fail=True), "b": res(depends_on="a")})
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("resources.a", self.world.stack(stack).status_reason)
        rows = self.world.living(stack)
        self.assertEqual("FAILED", rows["a"].status)
        self.assertEqual("INIT", rows["b"].action)

    def test_a_failure_with_rollback_leaves_nothing(self):
        stack = self.world.create(
            hot({"a": res(), "b": res(fail=True, depends_on="a")}),
            disable_rollback=False,
        )
        self.world.run()
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))

    def test_waiting_resources_wait_together(self):
        stack = self.world.create(
            hot({f"r{i}": res(wait_secs=5) for i in range(20)})
        )
        began = self.world.now
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertLess(self.world.now - began, 10)

    def test_the_stack_name_is_taken_once(self):
        self.world.create(hot({"a": res()}))
        self.assertRaises(
            exception.StackExists, self.world.create, hot({"a": res()})
        )


class UpdateTest(StoryTest):
    def make(self, resources, outputs=None, **args):
        stack = self.world.create(hot(resources, outputs), **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def update(self, stack, resources, outputs=None, **args):
        self.world.update(stack, hot(resources, outputs), **args)
        self.world.run()

    def test_in_place_keeps_the_object(self):
        stack = self.make({"a": res("one")}, {"o": {"value": attr("a")}})
        before = self.physical(stack)
        self.update(stack, {"a": res("two")}, {"o": {"value": attr("a")}})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        self.assertEqual({"o": "two"}, self.world.outputs(stack))

    def test_nothing_changed_touches_nothing(self):
        stack = self.make({"a": res("one"), "b": res(attr("a"))})
        rows = self.world.living(stack)
        self.update(stack, {"a": res("one"), "b": res(attr("a"))})
        self.assertState("UPDATE_COMPLETE", stack)
        after = self.world.living(stack)
        for name, row in rows.items():
            self.assertEqual(row.updated_at, after[name].updated_at)
            self.assertEqual("CREATE", after[name].action)

    def test_replacement_repoints_and_cleans_up(self):
        replaced = {
            "a": res("two", update_replace=True),
            "b": res(attr("a")),
        }
        stack = self.make({"a": res("one"), "b": res(attr("a"))})
        before = self.physical(stack)
        self.update(stack, replaced, {"o": {"value": attr("b")}})
        self.assertState("UPDATE_COMPLETE", stack)
        after = self.physical(stack)
        self.assertNotEqual(before["a"], after["a"])
        self.assertEqual(before["b"], after["b"])
        self.assertEqual({"o": "two"}, self.world.outputs(stack))
        rows = self.world.rows(stack)
        self.assertEqual(2, len(rows))
        events = self.world.events(stack)
        # The old one goes after its dependant was re-pointed.
        self.assertLess(
            events.index(("b", "UPDATE_COMPLETE")),
            events.index(("a", "DELETE_IN_PROGRESS")),
        )

    def test_what_left_the_template_goes(self):
        stack = self.make({"a": res(), "b": res(depends_on="a")})
        self.update(stack, {"a": res()})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(["a"], [row.name for row in self.world.rows(stack)])

    def test_a_failing_update_is_rolled_back(self):
        stack = self.make(
            {"a": res("one"), "b": res("x")}, disable_rollback=False
        )
        before = self.physical(stack)
        self.update(
            stack,
            {
                "a": res("two", update_replace=True),
                "b": res("y"),
                "c": res(fail=True, depends_on=["a", "b"]),
            },
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        self.assertEqual(2, len(self.world.rows(stack)))
        # And the stack goes on from there.
        self.update(stack, {"a": res("one"), "b": res("z")})
        self.assertState("UPDATE_COMPLETE", stack)

    def test_update_over_a_failed_update(self):
        stack = self.make({"a": res("one")})
        self.update(stack, {"a": res("two"), "b": res(fail=True)})
        self.assertState("UPDATE_FAILED", stack)
        self.update(stack, {"a": res("two"), "b": res("fine")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"a", "b"}, set(self.physical(stack)))
        self.assertEqual(2, len(self.world.rows(stack)))

    def test_update_over_update(self):
        stack = self.make({"a": res("one", wait_secs=5)})
        self.world.update(stack, hot({"a": res("two", wait_secs=5)}))
        self.world.run_until(
            lambda: ("a", "UPDATE_IN_PROGRESS") in self.world.events(stack)
        )
        self.world.update(
            stack,
            hot({"a": res("three", wait_secs=5)}, {"o": {"value": attr("a")}}),
        )
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"o": "three"}, self.world.outputs(stack))

    def test_what_a_failed_update_may_have_applied_is_undone(self):
        """The rollback applies every property that was tried."""
        stack = self.make(
            {"a": res("one"), "o": res("x")}, disable_rollback=False
        )
        before = self.physical(stack)
        self.update(
            stack,
            {"a": res("two", fail=True), "o": res("x")},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        row = self.world.living(stack)["a"]
        self.assertEqual(("UPDATE", "COMPLETE"), (row.action, row.status))
        self.assertIsNone(row.tried_prop_data_id)

    def test_an_inverted_dependency(self):
        stack = self.make({"a": res("x"), "b": res(attr("a"))})
        self.update(stack, {"b": res("y"), "a": res(attr("b"))})
        self.assertState("UPDATE_COMPLETE", stack)

    def test_a_changed_type_is_replaced(self):
        stack = self.make({"a": res("x")})
        before = self.physical(stack)
        value = {"type": "OS::Heat::Value", "properties": {"value": "v"}}
        self.update(stack, {"a": value})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(before, self.physical(stack))
        self.assertEqual(1, len(self.world.rows(stack)))


class DeleteTest(StoryTest):
    def test_dependants_go_first(self):
        stack = self.world.create(
            hot({"a": res(), "b": res(attr("a")), "c": res(attr("b"))})
        )
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        gone = [
            name
            for name, what in self.world.events(stack)
            if what == "DELETE_COMPLETE"
        ]
        self.assertEqual(["c", "b", "a", "stack"], gone)
        self.assertEqual([], self.world.rows(stack))
        # The name is free again.
        self.world.create(hot({"a": res()}))

    def test_during_a_create_that_waits(self):
        stack = self.world.create(
            hot(
                {
                    "a": res(action_wait_secs={"create": 1000}),
                    "b": res(depends_on="a"),
                }
            )
        )
        self.world.run_until(
            lambda: ("a", "CREATE_IN_PROGRESS") in self.world.events(stack)
        )
        began = self.world.now
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertLess(self.world.now - began, 10)

    def test_an_update_of_a_deleting_stack_is_refused(self):
        stack = self.world.create(
            hot({"a": res(action_wait_secs={"delete": 60})})
        )
        self.world.run()
        self.world.delete(stack)
        self.assertRaises(
            exception.ActionInProgress,
            self.world.update,
            stack,
            hot({"a": res()}),
        )
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_retained_objects_are_let_go(self):
        keep = res()
        keep["deletion_policy"] = "retain"
        stack = self.world.create(hot({"a": keep}))
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertIn(("a", "DELETE_COMPLETE"), self.world.events(stack))
        self.assertNotIn(("a", "DELETE_IN_PROGRESS"), self.world.events(stack))


class ActionsTest(StoryTest):
    def make(self, resources, **args):
        stack = self.world.create(hot(resources), **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def act(self, action, stack):
        getattr(actions, action)(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
        )

    def order(self, stack, what):
        return [n for n, each in self.world.events(stack) if each == what]

    def test_suspend_and_resume(self):
        stack = self.make({"a": res(), "b": res(attr("a"))})
        before = self.physical(stack)
        self.act("suspend", stack)
        self.world.run()
        self.assertState("SUSPEND_COMPLETE", stack)
        self.assertEqual(
            ["b", "a", "stack"], self.order(stack, "SUSPEND_COMPLETE")
        )
        self.assertRaises(
            exception.NotSupported, self.world.update, stack, hot({})
        )
        self.act("resume", stack)
        self.world.run()
        self.assertState("RESUME_COMPLETE", stack)
        self.assertEqual(
            ["a", "b", "stack"], self.order(stack, "RESUME_COMPLETE")
        )
        self.world.update(stack, hot({"a": res(), "b": res(attr("a"))}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))

    def test_resume_of_what_was_not_suspended(self):
        stack = self.make({"a": res()})
        self.assertRaises(exception.NotSupported, self.act, "resume", stack)

    def states(self, stack):
        rows = self.world.living(stack)
        return {n: f"{r.action}_{r.status}" for n, r in sorted(rows.items())}

    def test_check_names_what_could_not_be_created(self):
        """What was never whole fails the check, and stays as it is."""
        stack = self.world.create(
            hot({"a": res(), "b": res(fail=True), "c": res(depends_on="b")})
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.act("check", stack)
        self.world.run()
        self.assertState("CHECK_FAILED", stack)
        reason = self.world.stack(stack).status_reason
        self.assertIn("resources.b: it is CREATE_FAILED (", reason)
        self.assertEqual(
            {
                "a": "CHECK_COMPLETE",
                "b": "CREATE_FAILED",
                "c": "INIT_COMPLETE",
            },
            self.states(stack),
        )
        self.world.update(
            stack, hot({"a": res(), "b": res(), "c": res(depends_on="b")})
        )
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_check_tells_what_it_can_not_look_at(self):
        value = {"type": "OS::Heat::Value", "properties": {"value": 1}}
        stack = self.make({"a": res(), "v": value})
        self.act("check", stack)
        self.world.run()
        self.assertState("CHECK_COMPLETE", stack)
        rows = self.world.living(stack)
        self.assertEqual(
            ["state changed", "CHECK not supported for OS::Heat::Value"],
            [rows[name].status_reason for name in "av"],
        )

    def test_a_refusal_told_twice_comes_to_rest(self):
        """Who comes second has nothing to say, and sends nothing again."""
        wishes = {"a": res(), "b": res(fail=True)}
        stack = self.world.create(hot(wishes))
        self.world.run()
        self.act("check", stack)
        self.world.bus.messages *= 3
        self.world.run(100)
        self.assertState("CHECK_FAILED", stack)

    def test_suspend_covers_no_failure(self):
        """What failed, and what it needs, is not suspended; others are."""
        wishes = {"a": res(), "b": res(attr("a"), fail=True), "c": res()}
        stack = self.world.create(hot(wishes))
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.act("suspend", stack)
        self.world.run()
        self.assertState("SUSPEND_FAILED", stack)
        reason = self.world.stack(stack).status_reason
        self.assertIn("resources.b: it is CREATE_FAILED (", reason)
        self.assertEqual(
            ["CREATE_COMPLETE", "CREATE_FAILED", "SUSPEND_COMPLETE"],
            list(self.states(stack).values()),
        )
        self.act("resume", stack)
        self.world.run()
        self.assertState("RESUME_COMPLETE", stack)
        self.world.update(stack, hot({**wishes, "b": res(attr("a"))}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_a_walk_moves_the_time_of_the_last_change(self):
        stack = self.make({"a": res()})
        for action in ("check", "suspend", "resume"):
            before = self.world.stack(stack).updated_at
            self.act(action, stack)
            self.world.run()
            after = self.world.stack(stack).updated_at
            self.assertIsNotNone(after)
            self.assertNotEqual(before, after)

    def test_cancel_goes_back(self):
        stack = self.make({"a": res("one")})
        before = self.physical(stack)
        self.world.update(
            stack,
            hot(
                {
                    "a": res("two"),
                    "b": res(action_wait_secs={"create": 5000}),
                }
            ),
        )
        self.world.run_until(
            lambda: ("b", "CREATE_IN_PROGRESS") in self.world.events(stack)
        )
        began = self.world.now
        self.act("cancel", stack)
        self.world.run()
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        self.assertLess(self.world.now - began, 100)

    def test_cancel_without_rollback_stays(self):
        stack = self.world.create(
            hot({"a": res(action_wait_secs={"create": 5000})})
        )
        self.world.run_until(
            lambda: ("a", "CREATE_IN_PROGRESS") in self.world.events(stack)
        )
        actions.cancel(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            rollback=False,
        )
        self.assertState("CREATE_FAILED", stack)
        self.world.run()
        self.assertEqual("FAILED", self.world.living(stack)["a"].status)

    def test_cancel_needs_something_that_runs(self):
        stack = self.make({"a": res()})
        self.assertRaises(exception.NotSupported, self.act, "cancel", stack)

    def test_a_stack_that_takes_too_long_fails(self):
        stack = self.world.create(
            hot({"a": res(action_wait_secs={"create": 5000})}), timeout_mins=1
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("timed out", self.world.stack(stack).status_reason)


class StubbornTest(StoryTest):
    """An object that can't be deleted, for a while or for good."""

    def setUp(self):
        super().setUp()
        self.refusals = 0
        test = self

        class Stubborn(none_resource.NoneResource):
            def handle_delete(self):
                if test.refusals:
                    test.refusals -= 1
                    raise ValueError("it is in use")

        self.world.plugins.add("Test::Stubborn", Stubborn)

    def make(self):
        stack = self.world.create(
            hot({"a": {"type": "Test::Stubborn"}, "b": res()})
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def test_a_delete_is_tried_again(self):
        stack = self.make()
        self.refusals = 3
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_what_stays_is_named_and_kept_in_the_books(self):
        stack = self.make()
        self.refusals = 1000
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_FAILED", stack)
        self.assertIn("resources.a", self.world.stack(stack).status_reason)
        self.assertIn("in use", self.world.stack(stack).status_reason)
        # The other branch went.
        left = [r for r in self.world.rows(stack) if r.status == "FAILED"]
        self.assertEqual(["a"], [row.name for row in left])
        self.refusals = 0
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_an_update_that_can_not_clean_up_fails_and_keeps_the_new(self):
        stack = self.make()
        self.refusals = 1000
        self.world.update(stack, hot({"b": res("new")}))
        self.world.run()
        self.assertState("UPDATE_FAILED", stack)
        self.assertEqual(
            {"a", "b"}, {row.name for row in self.world.rows(stack)}
        )
        self.refusals = 0
        self.world.update(stack, hot({"b": res("new")}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(["b"], [row.name for row in self.world.rows(stack)])
