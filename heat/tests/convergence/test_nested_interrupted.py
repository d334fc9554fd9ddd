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

"""Stories of nested stacks whose operation is broken off from above.

Who holds the parent's resource then has the nested stack stop; who held it
and is dead, or was taken for dead, does not, or must not any more.
"""

from __future__ import annotations

from heat.engine.stack import actions, converge
from heat.tests.convergence import story_nested
from heat.tests.convergence.test_found import Story
from heat.tests.convergence.test_stories import attr, hot, res
from heat.tests.unit.engine.stack.test_nested import text

NESTED = {"n": {"type": story_nested.NEST}}


def below(value, **properties):
    """The files of a parent whose nested stack has two resources."""
    child = hot({"a": res(value, **properties), "b": res(attr("a"))})
    return {story_nested.NEST: text(child)}


class InterruptedTest(Story):
    def act(self, name, **args):
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: getattr(actions, name)(
                engine, self.world.context, stack, **args
            )
        )

    def updating(self):
        """The nested stack is about to be made of y, and takes its time."""
        self.enter()
        self.create(NESTED, below("x"))
        self.rest("CREATE_COMPLETE", 2)
        self.update(NESTED, below("y", wait_secs=30))
        self.step_until(lambda: self.state("a") == "UPDATE_IN_PROGRESS")
        # The parent's resource has lain down to wait.
        [owner] = self.world.engines
        self.step_until(
            lambda: not any(each.threads for each in owner.lanes.values())
        )
        return owner

    def step_until(self, happened):
        while not happened():
            self.assertTrue(self.world.step())

    def state(self, name):
        found = self.world.watch._rows(
            "SELECT action, status FROM resource WHERE name = ?", name
        )
        return "_".join(found[0]) if found else ""

    def child(self):
        [found] = self.world.watch._rows(
            "SELECT id, current_traversal FROM stack WHERE owner_id NOT NULL"
        )
        return found

    def values(self):
        return {
            row[0]
            for row in self.world.watch._rows(
                "SELECT value FROM resource_data WHERE key = 'value'"
            )
        }

    def dies(self, owner):
        self.world.start_engine()
        self.world.kill(owner)

    def check_walk_after_cancel(self, action, *, dies):
        owner = self.updating()
        if dies:
            self.dies(owner)
        self.act("cancel", rollback=False)
        self.act(action)
        self.rest(f"{action.upper()}_COMPLETE", 2)
        self.check_child(action, "Stack UPDATE cancelled")

    def check_child(self, action, told):
        """The nested stack did it too, and was stopped once before."""
        child = self.world.stack(self.child()[0])
        self.assertEqual(
            (action.upper(), "COMPLETE"), (child.action, child.status)
        )
        found = self.world.watch._rows(
            "SELECT count(*) FROM event WHERE stack_id = ?"
            " AND resource_status_reason = ?",
            child.id,
            told,
        )
        self.assertEqual([(1,)], found)

    def test_walks_after_an_update_that_was_cancelled(self):
        """Its holder has the nested stack stop, then the walk begins."""
        for action in ("suspend", "check"):
            with self.subTest(action):
                self.check_walk_after_cancel(action, dies=False)

    def test_walks_after_an_update_whose_engine_died(self):
        """Nobody is left who has the nested stack stop: so the walk does;
        it was refused, as the nested stack was busy with what nobody
        wanted any more."""
        for action in ("suspend", "check"):
            with self.subTest(action):
                self.check_walk_after_cancel(action, dies=True)

    def test_what_was_broken_off_is_made_later(self):
        """The next update brings the nested stack to what it wants."""
        self.check_walk_after_cancel("suspend", dies=True)
        self.act("resume")
        self.rest("RESUME_COMPLETE", 2)
        self.update(NESTED, below("y", wait_secs=30))
        self.rest("UPDATE_COMPLETE", 2)
        self.assertEqual({"y"}, self.values())

    def test_a_walk_whose_engine_dies_in_its_turn(self):
        """What it has stopped is stopped; another one goes on."""
        self.dies(self.updating())
        self.act("cancel", rollback=False)
        self.act("suspend")
        while self.state("n") != "SUSPEND_IN_PROGRESS":
            self.step_or_sweep()
        self.world.plan[:] = [("after a call", "kill")]
        self.rest("SUSPEND_COMPLETE", 2)

    def test_a_create_whose_engines_died(self):
        """One had not made the nested stack yet, the other had: so the row
        shows an update, and the nested stack a create."""
        self.enter(("claimed", "kill"))
        self.create(NESTED, below("x", wait_secs=30))
        while self.state("n") != "UPDATE_IN_PROGRESS":
            self.step_or_sweep()
        self.step_until(lambda: self.state("a") == "CREATE_IN_PROGRESS")
        self.dies(self.world.able()[0])
        self.act("cancel", rollback=False)
        self.act("suspend")
        self.world.settle()
        stack = self.world.stack(self.stack_id)
        self.assertEqual(
            ("SUSPEND", "COMPLETE"),
            (stack.action, stack.status),
            stack.status_reason,
        )
        self.check_child("suspend", "Stack CREATE cancelled")

    def test_a_clean_up_whose_engine_died(self):
        """The nested stack was deleting what its update had replaced."""
        self.enter()
        slow = {"action_wait_secs": {"delete": 30}}
        self.create(NESTED, below("x", **slow))
        self.rest("CREATE_COMPLETE", 2)
        self.update(NESTED, below("x", update_replace_value="y"))
        self.step_until(
            lambda: self.world.watch._rows(
                "SELECT 1 FROM resource"
                " WHERE action = 'DELETE' AND status = 'IN_PROGRESS'"
            )
        )
        self.dies(self.world.able()[0])
        self.act("cancel", rollback=False)
        self.act("suspend")
        self.rest("SUSPEND_COMPLETE", 2)
        self.check_child("suspend", "Stack UPDATE cancelled")
        self.act("resume")
        self.rest("RESUME_COMPLETE", 2)
        self.update(NESTED, below("x", update_replace_value="z"))
        self.rest("UPDATE_COMPLETE", 2)

    def test_what_a_user_began_is_not_stopped(self):
        """However often it is in the way: it would stay half made, and
        nobody would know."""
        self.enter()
        self.create(NESTED, below("x"))
        self.rest("CREATE_COMPLETE", 2)
        stack = self.world.stack(self.child()[0])
        slow = hot({"a": res("z", wait_secs=30), "b": res(attr("a"))})
        self.do(
            lambda engine: converge.update(
                engine, self.world.context, stack, slow, {}, {}, {}
            )
        )
        for _time in range(2):
            self.act("check")
            self.step_until(
                lambda: self.world.stack(self.stack_id).status == "FAILED"
            )
            self.assertIn(
                "already has an action (UPDATE)",
                self.world.stack(self.stack_id).status_reason,
            )
        self.rest("CHECK_FAILED", 2)
        self.assertEqual({"z"}, self.values())

    def test_who_was_taken_for_dead_stops_nothing(self):
        """It wakes and finds its operation unwanted; what the nested stack
        does by now another one has begun for a newer update."""
        sleeper = self.updating()
        self.world.start_engine()
        sleeper.stalled_at = self.world.now
        self.update({**NESTED, "m": res()}, below("z", wait_secs=30))
        before = self.child()
        while self.child() == before:
            self.step_or_sweep()
        self.world.wake(sleeper)
        self.rest("UPDATE_COMPLETE", 3)
        self.assertLessEqual({"z"}, self.values())
