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
"""Stories of hooks in nested stacks."""

from __future__ import annotations

import json

from heat.db import events, stacks
from heat.engine.stack import converge, signals
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res

CHILD = json.dumps(hot({"in": res("x"), "other": res(attr("in"))}))
GROUP = {
    "type": "OS::Heat::ResourceGroup",
    "properties": {"count": 2, "resource_def": {"type": "child.yaml"}},
}
PAUSED = "%s paused until Hook %s is cleared"


# What waits for a hook, its parent asks after again and again: how long
# that is looked on, in seconds.
WHILE = 20


class NestedHookTest(StoryTest):
    def rest(self):
        """Let all happen that does not wait for a user."""
        world, until = self.world, self.world.now + WHILE
        while (
            world.bus.messages
            or world._claimed
            or (world._waiting and world._waiting[0][0] <= until)
        ):
            world.step()

    def send(self, resources, hooks, stack=None):
        """Create or update a stack; its id."""
        world = self.world
        env = {"resource_registry": {"resources": hooks}}
        sent = (hot(resources), env, {"child.yaml": CHILD}, {})
        if stack is None:
            engine, context = world.engines[0], world.context
            stack = converge.create(engine, context, "stack", *sent).id
        else:
            converge.update(
                world.engines[0], world.context, world.stack(stack), *sent
            )
        self.rest()
        return stack

    def below(self, stack, *path):
        for name in path:
            found = self.world.db.read(
                lambda conn, stack=stack: stacks.children(conn, stack)
            )
            (stack,) = [e.id for e in found if e.parent_resource_name == name]
        return stack

    def waits(self, stack, hook):
        """Whether the resource ``in`` of a stack waits, as events tell."""
        word = hook.partition("-")[2].upper()
        told = [
            each.resource_status_reason
            for each in self.world.db.read(
                lambda conn: events.list_(conn, [stack])
            )
        ]
        return told.count(PAUSED % (word, hook)) - told.count(
            f"Hook {hook} is cleared"
        )

    def clear(self, stack, hook):
        world = self.world
        signals.signal(
            world.engines[0],
            world.context,
            world.stack(stack),
            "in",
            {"unset_hook": hook},
        )
        self.rest()

    def assertWaits(self, stack, hook, *paths):
        """Only there something waits, and when all is cleared it goes on."""
        (action,) = {self.world.state(stack).rpartition("_IN_P")[0]}
        self.assertState(f"{action}_IN_PROGRESS", stack)
        for path in paths:
            below = self.below(stack, *path)
            self.assertEqual(1, self.waits(below, hook), path)
        for path in paths:
            self.assertState(f"{action}_IN_PROGRESS", stack)
            self.clear(self.below(stack, *path), hook)
        if action != "DELETE":
            self.assertState(f"{action}_COMPLETE", stack)

    def test_before_a_create(self):
        hooks = {"n": {"in": {"hooks": "pre-create"}}}
        stack = self.send({"n": {"type": "child.yaml"}, "in": res()}, hooks)
        self.assertEqual(0, self.waits(stack, "pre-create"))
        self.assertWaits(stack, "pre-create", ["n"])

    def test_patterns(self):
        hooks = {"g*": {"1": {"i*": {"hooks": ["pre-create"]}}}}
        stack = self.send({"group": GROUP}, hooks)
        self.assertWaits(stack, "pre-create", ["group", "1"])

    def test_a_pattern_and_a_name(self):
        """What both say counts."""
        hooks = {
            "*": {"*": {"in": {"hooks": "pre-create"}}},
            "group": {"0": {"in": {"hooks": "post-create"}}},
        }
        stack = self.send({"group": GROUP}, hooks)
        self.clear(self.below(stack, "group", "0"), "pre-create")
        self.clear(self.below(stack, "group", "1"), "pre-create")
        self.assertWaits(stack, "post-create", ["group", "0"])

    def test_before_an_update_of_which_only_hooks_are_new(self):
        resources = {"group": GROUP, "n": {"type": "child.yaml"}}
        stack = self.send(resources, {})
        before = self.physical(stack)
        hooks = {
            "group": {"*": {"in": {"hooks": "pre-update"}}},
            "n": {"in": {"hooks": "pre-update"}},
        }
        paths = (["group", "0"], ["group", "1"], ["n"])
        # Anew in every update, also in one that brings nothing new at all.
        for _again in range(3):
            self.send(resources, hooks, stack)
            self.assertWaits(stack, "pre-update", *paths)
        self.send(resources, {}, stack)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))

    def test_one_update_takes_over_from_another(self):
        """The new one's hooks count, told after it has begun."""
        resources = {"n": {"type": "child.yaml"}}
        stack = self.send(resources, {})
        hooks = {"n": {"in": {"hooks": "pre-update"}}}
        self.send(resources, hooks, stack)
        below = self.below(stack, "n")
        self.assertEqual(1, self.waits(below, "pre-update"))
        self.send(resources, hooks, stack)
        self.assertEqual(2, self.waits(below, "pre-update"))
        self.clear(below, "pre-update")
        self.assertState("UPDATE_COMPLETE", stack)

    def test_a_stack_without_hooks_is_left_alone(self):
        resources = {"n": {"type": "child.yaml"}, "o": {"type": "child.yaml"}}
        hooks = {"n": {"in": {"hooks": ["pre-delete", "post-update"]}}}
        stack = self.send(resources, hooks)
        told = {
            name: len(self.world.events(self.below(stack, name)))
            for name in resources
        }
        self.send(resources, hooks, stack)
        for name, count in told.items():
            events_now = self.world.events(self.below(stack, name))
            self.assertEqual(count, len(events_now), name)

    def test_before_a_delete(self):
        resources = {"group": GROUP}
        hooks = {"group": {"0": {"in": {"hooks": "pre-delete"}}}}
        stack = self.send(resources, {})
        self.send(resources, hooks, stack)
        self.assertState("UPDATE_COMPLETE", stack)
        self.world.delete(stack)
        self.rest()
        self.assertWaits(stack, "pre-delete", ["group", "0"])
        self.assertIsNotNone(self.world.stack(stack).deleted_at)

    def test_a_rollback_does_not_wait_for_what_stays(self):
        hooks = {"n": {"in": {"hooks": "pre-update"}}}
        good = {"n": {"type": "child.yaml"}}
        stack = self.send(good, hooks)
        world = self.world
        env = {"resource_registry": {"resources": hooks}}
        converge.update(
            world.engines[0],
            world.context,
            world.stack(stack),
            hot({**good, "bad": res(fail=True)}),
            env,
            {"child.yaml": CHILD},
            {"disable_rollback": False},
        )
        self.rest()
        self.assertState("ROLLBACK_COMPLETE", stack)
