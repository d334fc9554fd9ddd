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
"""What the update of a nested stack replaces goes when nothing uses it.

Something in the stack above may use it until that is pointed elsewhere; and
should that stack go back, the nested one goes back to what there was.
"""

from __future__ import annotations

from heat.engine.resources.openstack.heat import test_resource
from heat.engine.stack import converge, lock
from heat.engine.traversal import recovery
from heat.tests.unit.engine.stack import test_nested
from heat.tests.unit.engine.stack.test_nested import (
    attr,
    hot,
    nest,
    res,
    text,
)

CHILD = hot(
    {"in": res({"get_param": "word"}, update_replace=True)},
    {
        "id": {"value": {"get_resource": "in"}},
        "word": {"value": attr("in")},
    },
    {"word": {"type": "string"}},
)
MIDDLE = hot(
    {"deep": nest("child.yaml", word={"get_param": "word"})},
    {"id": {"value": attr("deep", "id")}},
    {"word": {"type": "string"}},
)
FILES = {"child.yaml": text(CHILD), "middle.yaml": text(MIDDLE)}


def above(word, file="child.yaml", **user):
    """A stack in which something uses an object of a nested one."""
    user.setdefault("action_wait_secs", {"update": 10})
    return hot(
        {"n": nest(file, word=word), "user": res(attr("n", "id"), **user)}
    )


class Case(test_nested.NestedTest):
    def make(self, template, files=FILES, **kwargs):
        return super().make(template, files, **kwargs)

    def update(self, stack, template, files=FILES, **kwargs):
        super().update(stack, template, files, **kwargs)

    def walk(self, stack, *names):
        """Have actions change nothing, one after another."""
        for name in names:
            action = getattr(test_nested.actions, name)
            action(self.engine, self.context, self.world.stack(stack))
            self.world.run()
            self.assertState(f"{name.upper()}_COMPLETE", stack)

    def objects(self):
        """The objects there are, by the name of their resource."""
        found = {}
        for id_, name in self.world.db.read(
            lambda conn: conn.exec_driver_sql(
                "SELECT id, resource_name FROM test_object"
            ).all()
        ):
            found.setdefault(name, set()).add(id_)
        return found

    def inner(self, stack, *names):
        """The object that a resource of a nested stack has."""
        for name in (*names, "n") if not names else names:
            stack = self.child(stack, name)
        return self.world.living(stack)["in"].physical_id


class KeptTest(Case):
    def test_until_what_uses_it_is_pointed_elsewhere(self):
        stack = self.make(above("one"))
        old = self.inner(stack)
        self.start_update(stack, above("two"), FILES)
        self.world.run_until(
            self.happened(stack, "user", "UPDATE_IN_PROGRESS")
        )
        child = self.world.stack(self.child(stack))
        self.assertEqual(("UPDATE", "COMPLETE"), (child.action, child.status))
        self.assertIn(
            "kept until the stack above has completed: 1", child.status_reason
        )
        self.assertEqual({old, self.inner(stack)}, self.objects()["in"])
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", child.id)
        self.assertEqual({self.inner(stack)}, self.objects()["in"])
        self.assertNotEqual(old, self.inner(stack))
        self.assertEqual(1, len(self.world.rows(child.id)))

    def test_at_any_depth(self):
        stack = self.make(above("one", "middle.yaml"))
        old = self.inner(stack, "n", "deep")
        self.start_update(stack, above("two", "middle.yaml"), FILES)
        self.world.run_until(
            self.happened(stack, "user", "UPDATE_IN_PROGRESS")
        )
        self.assertIn(old, self.objects()["in"])
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", self.child(stack))
        new = self.inner(stack, "n", "deep")
        self.assertEqual({new}, self.objects()["in"])
        self.assertNotEqual(old, new)

    def test_a_replacement_that_was_only_planned(self):
        """The same version is asked for again before it was begun."""
        stack = self.make(above("one"))
        child = self.child(stack)
        self.start_update(stack, above("two"), FILES)
        self.world.run_until(lambda: len(self.world.rows(child)) == 2)
        self.world.bus.messages.clear()
        self.start_update(stack, above("two"), FILES)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(1, len(self.world.rows(child)))
        self.assertEqual({self.inner(stack)}, self.objects()["in"])

    def test_an_update_that_replaces_nothing_keeps_nothing(self):
        stack = self.make(above("one"))
        files = {
            **FILES,
            "child.yaml": text(
                {**CHILD, "outputs": {**CHILD["outputs"], "x": {"value": 1}}}
            ),
        }
        self.update(stack, above("one"), files)
        self.assertState("UPDATE_COMPLETE", stack)
        child = self.world.stack(self.child(stack))
        self.assertFalse(child.holds_cleanup)
        told = [w for n, w in self.world.events(stack) if n == "n"]
        self.assertEqual(1, told.count("UPDATE_COMPLETE"))


class RollingTest(Case):
    def test_a_batch_goes_before_the_next_comes(self):
        """A group of which one is changed at a time never doubles."""

        def group(value):
            return hot(
                {
                    "n": {
                        "type": "OS::Heat::ResourceGroup",
                        "update_policy": {
                            "rolling_update": {"max_batch_size": 1}
                        },
                        "properties": {
                            "count": 4,
                            "resource_def": res(value, update_replace=True),
                        },
                    }
                }
            )

        stack = self.make(group("one"))
        before = set().union(*self.objects().values())
        most, done = [], self.happened(stack, "stack", "UPDATE_COMPLETE")

        def counted():
            most.append(sum(map(len, self.objects().values())))
            return done()

        self.start_update(stack, group("two"), {})
        self.world.run_until(counted)
        self.assertState("UPDATE_COMPLETE", stack)
        after = set().union(*self.objects().values())
        self.assertEqual(4, len(after))
        self.assertFalse(before & after)
        self.assertEqual(5, max(most))


class BackTest(Case):
    def test_a_rollback_returns_to_what_was_kept(self):
        stack = self.make(above("one"))
        old = self.inner(stack)
        self.update(stack, above("two", fail=True), disable_rollback=False)
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual(old, self.inner(stack))
        self.assertEqual({old}, self.objects()["in"])
        self.assertEqual(1, len(self.objects()["user"]))
        self.assertFalse(self.world.stack(self.child(stack)).holds_cleanup)

    def test_at_any_depth(self):
        stack = self.make(above("one", "middle.yaml"))
        old = self.inner(stack, "n", "deep")
        self.update(
            stack,
            above("two", "middle.yaml", fail=True),
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual({old}, self.objects()["in"])
        self.assertEqual(old, self.inner(stack, "n", "deep"))

    def test_a_failure_keeps_both_until_an_update_completes(self):
        stack = self.make(above("one"))
        old = self.inner(stack)
        self.update(stack, above("two", fail=True))
        self.assertState("UPDATE_FAILED", stack)
        self.assertState("UPDATE_COMPLETE", self.child(stack))
        new = self.inner(stack)
        self.assertEqual({old, new}, self.objects()["in"])
        # What is right already is not updated, but cleans up.
        self.update(stack, above("two"))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({new}, self.objects()["in"])

    def test_a_failure_keeps_both_until_the_delete(self):
        stack = self.make(above("one"))
        self.update(stack, above("two", fail=True))
        self.delete(stack)
        self.world.run()
        self.assertGone(stack)
        self.assertEqual({}, self.objects())

    def test_suspended_and_resumed_meanwhile(self):
        stack = self.make(above("one"))
        self.update(stack, above("two", fail=True))
        new = self.inner(stack)
        self.walk(stack, "suspend", "resume")
        self.update(stack, above("two"))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({new}, self.objects()["in"])

    def test_a_user_updates_the_child_itself(self):
        stack = self.make(above("one"))
        self.update(stack, above("two", fail=True))
        child = self.world.stack(self.child(stack))
        converge.update(
            self.engine,
            self.context,
            child,
            CHILD,
            {"parameters": {"word": "three"}},
            {},
            {},
        )
        self.world.run()
        self.assertState("UPDATE_COMPLETE", child.id)
        self.assertEqual({self.inner(stack)}, self.objects()["in"])
        self.update(stack, above("four"))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({self.inner(stack)}, self.objects()["in"])


class FailureTest(Case):
    """What the nested stack can't delete."""

    def setUp(self):
        super().setUp()
        self.refusing = True
        case = self

        class Stubborn(test_resource.TestResource):
            __test__ = False

            def handle_delete(self):
                if case.refusing:
                    raise ValueError("it is in use")
                return super().handle_delete()

        self.world.plugins.add("Test::Stubborn", Stubborn)
        stubborn = {**CHILD["resources"]["in"], "type": "Test::Stubborn"}
        self.files = {
            "child.yaml": text({**CHILD, "resources": {"in": stubborn}})
        }

    def test_it_is_named_and_tried_again(self):
        stack = self.make(above("one"), self.files)
        self.update(stack, above("two"), self.files, disable_rollback=False)
        self.assertState("UPDATE_FAILED", stack)
        self.assertState("UPDATE_FAILED", self.child(stack))
        self.assertIn("it is in use", self.world.stack(stack).status_reason)
        self.assertEqual(2, len(self.objects()["in"]))
        self.refusing = False
        self.update(stack, above("two"), self.files)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", self.child(stack))
        self.assertEqual({self.inner(stack)}, self.objects()["in"])

    def test_a_walk_makes_nobody_forget(self):
        stack = self.make(above("1"), self.files)
        for word, walk in ("2", ("suspend", "resume")), ("3", ("check",)):
            with self.subTest(walk):
                self.refusing = True
                self.update(stack, above(word), self.files)
                self.assertState("UPDATE_FAILED", stack)
                self.walk(stack, *walk)
                self.refusing = False
                self.update(stack, above(word), self.files)
                self.assertState("UPDATE_COMPLETE", stack)
                self.assertEqual({self.inner(stack)}, self.objects()["in"])

    def test_a_walk_after_a_lock_makes_nobody_forget(self):
        """What the nested stack shows is the end of UNLOCK then."""
        stack = self.make(above("one"), self.files)
        self.update(stack, above("two"), self.files)
        lock.lock(self.engine, self.context, self.world.stack(stack), "stacks")
        self.world.run()
        lock.unlock(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.assertState("UNLOCK_COMPLETE", self.child(stack))
        self.walk(stack, "suspend", "resume")
        self.refusing = False
        self.update(stack, above("two"), self.files)
        self.assertEqual({self.inner(stack)}, self.objects()["in"])

    def test_a_walk_makes_nobody_forget_at_any_depth(self):
        files = {**FILES, **self.files}
        stack = self.make(above("one", "middle.yaml"), files)
        self.update(stack, above("two", "middle.yaml"), files)
        self.assertState("UPDATE_FAILED", stack)
        self.walk(stack, "suspend", "resume", "check")
        self.refusing = False
        self.update(stack, above("two", "middle.yaml"), files)
        self.assertState("UPDATE_COMPLETE", stack)
        new = self.inner(stack, "n", "deep")
        self.assertEqual({new}, self.objects()["in"])

    def test_it_is_named_at_any_depth(self):
        files = {**FILES, **self.files}
        stack = self.make(above("one", "middle.yaml"), files)
        self.update(stack, above("two", "middle.yaml"), files)
        self.assertState("UPDATE_FAILED", stack)
        self.assertIn("it is in use", self.world.stack(stack).status_reason)
        self.assertEqual(2, len(self.objects()["in"]))
        self.refusing = False
        self.update(stack, above("two", "middle.yaml"), files)
        self.assertState("UPDATE_COMPLETE", stack)
        new = self.inner(stack, "n", "deep")
        self.assertEqual({new}, self.objects()["in"])

    def test_what_could_not_be_made_goes_with_the_next_try(self):
        """The same update once more: both tries are of one version."""
        case = self

        class Flaky(test_resource.TestResource):
            __test__ = False

            def handle_create(self):
                if self.properties["value"] == "two" and case.refusing:
                    raise ValueError("not today")
                return super().handle_create()

        self.world.plugins.add("Test::Flaky", Flaky)
        flaky = {**CHILD["resources"]["in"], "type": "Test::Flaky"}
        files = {"child.yaml": text({**CHILD, "resources": {"in": flaky}})}
        stack = self.make(above("one"), files)
        self.update(stack, above("two"), files)
        self.assertState("UPDATE_FAILED", stack)
        self.refusing = False
        self.update(stack, above("two"), files)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", self.child(stack))
        self.assertEqual(1, len(self.world.rows(self.child(stack))))
        self.assertEqual({self.inner(stack)}, self.objects()["in"])


class CrashTest(Case):
    def test_before_and_after_the_child_cleans_up(self):
        for which in ("claimed", "called", "sending"):
            with self.subTest(which):
                stack = self.make(above("one"))
                self.start_update(stack, above("two"), FILES)
                self.world.run_until(
                    self.happened(stack, "user", "UPDATE_COMPLETE")
                )
                self.run_until_killed(which, successor=f"after {which}")
                recovery.resume(self.engine, alone=True)
                self.world.run()
                self.assertState("UPDATE_COMPLETE", stack)
                self.assertEqual({self.inner(stack)}, self.objects()["in"])
                self.delete(stack)
                self.world.run()
                self.assertEqual({}, self.objects())
