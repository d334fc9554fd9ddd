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

"""Bugs that the simulation found with objects of users, each as a story."""

from __future__ import annotations

from heat.engine.stack import actions
from heat.tests.convergence.test_found import Story
from heat.tests.convergence.test_stories import attr, res


class FoundTest(Story):
    def test_two_names_are_handed_one_object(self):
        """It was given away, and both are wanted again: who had it last
        gets it, the other one makes its own."""
        made = self.given_away()
        self.update({"a": res(attr("b")), "b": res("x")})
        self.rest("UPDATE_COMPLETE", 2)
        found = self.world.watch.objects_by_name(self.stack_id)
        self.assertEqual((made, False), found["b"])
        self.assertFalse(found["a"][1])
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_a_stray_let_go_is_not_found_again(self):
        """Its policy has kept it: it isn't for the row that it was made for
        to delete, which looks for it by its name."""
        sleeper = self.stalled({**res(), "deletion_policy": "retain"})
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: actions.cancel(
                engine, self.world.context, stack, rollback=False
            )
        )
        self.world.wake(sleeper)
        self.rest("CREATE_FAILED", 0)
        self.assertEqual(1, self.theirs())
        self.update({"b": res()})
        self.rest("UPDATE_COMPLETE", 1)
        self.assertEqual(1, self.theirs())

    def test_a_stray_beside_the_row_it_was_made_for(self):
        """Both go in one clean-up, in any order."""
        for policy, kept in (("retain", 1), ("delete", 0)):
            for seed in range(4):
                with self.subTest(policy=policy, seed=seed):
                    sleeper = self.stalled(
                        {**res(), "deletion_policy": policy}
                    )
                    self.world.rng.seed(seed)
                    self.world.wake(sleeper)
                    while len(self.rows("a")) < 2:
                        self.step_or_sweep()
                    self.update({"b": res()})
                    self.rest("UPDATE_COMPLETE", 1)
                    self.assertEqual(kept, self.theirs())

    def stalled(self, wish):
        """Who has made a resource, and told nobody; all think him dead."""
        self.enter(("called", "stall"))
        self.create({"a": wish})
        sleeper = self.world.engines[0]
        while not self.released():
            self.step_or_sweep()
        return sleeper

    def rows(self, name):
        rows = self.world.watch._living_rows(self.stack_id)
        return [row for row in rows if row[1] == name]

    def theirs(self):
        """How many objects are the user's."""
        [(count,)] = self.world.watch._rows(
            "SELECT count(*) FROM test_object WHERE stack_id = 'user'"
        )
        return count
