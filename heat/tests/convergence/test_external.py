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
"""Scenarios of external resources: the rows of the design, one by one."""

from __future__ import annotations

from heat.common import exception
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res


def ext(external_id, **kwargs):
    made = res(**kwargs)
    made["external_id"] = external_id
    return made


class ExternalTest(StoryTest):
    def make(self, resources, **args):
        stack = self.world.create(hot(resources), **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def update(self, stack, resources, **args):
        self.world.update(stack, hot(resources), **args)
        self.world.run()

    def row(self, stack, name="a"):
        return self.world.living(stack)[name]

    def names(self, stack, what):
        return [n for n, each in self.world.events(stack) if each == what]

    def test_create_adopts_and_checks(self):
        stack = self.world.create(
            hot(
                {"a": ext("theirs"), "b": res({"get_resource": "a"})},
                {"o": {"value": attr("b")}},
            )
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertEqual("theirs", row.physical_id)
        self.assertEqual(("CHECK", "COMPLETE"), (row.action, row.status))
        self.assertTrue(row.external)
        self.assertEqual({"o": "theirs"}, self.world.outputs(stack))
        events = [e for e in self.world.events(stack) if e[0] == "a"]
        self.assertEqual("ADOPT_IN_PROGRESS", events[0][1])
        self.assertEqual("CHECK_COMPLETE", events[-1][1])

    def test_delete_lets_it_go(self):
        stack = self.make({"a": ext("theirs")})
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual([], self.names(stack, "DELETE_IN_PROGRESS")[1:])
        self.assertIn("a", self.names(stack, "DELETE_COMPLETE"))

    def test_the_same_id_passes_ownership(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine, value="whatever")})
        self.assertState("UPDATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertEqual([], self.names(stack, "UPDATE_IN_PROGRESS")[1:])
        self.world.delete(stack)
        self.world.run()
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_another_id_replaces_and_deletes_what_heat_owned(self):
        stack = self.make({"a": res("one"), "b": res({"get_resource": "a"})})
        self.update(
            stack, {"a": ext("theirs"), "b": res({"get_resource": "a"})}
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("theirs", self.row(stack).physical_id)
        self.assertIn("a", self.names(stack, "DELETE_IN_PROGRESS"))
        self.assertEqual(2, len(self.world.rows(stack)))

    def test_another_id_never_deletes_what_was_external(self):
        stack = self.make({"a": ext("first")})
        self.update(stack, {"a": ext("second")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("second", self.row(stack).physical_id)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))
        self.assertEqual(1, len(self.world.rows(stack)))

    def test_the_same_id_again_touches_nothing(self):
        stack = self.make({"a": ext("theirs", value="one")})
        self.update(stack, {"a": ext("theirs", value="two")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("CHECK", self.row(stack).action)
        self.assertNotIn("a", self.names(stack, "UPDATE_IN_PROGRESS"))

    def test_handed_back_in_place(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        self.update(stack, {"a": res("two")})
        self.assertState("UPDATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertFalse(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertIn("a", self.names(stack, "UPDATE_IN_PROGRESS"))
        self.world.delete(stack)
        self.world.run()
        self.assertIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_a_hand_back_that_needs_a_replacement_is_refused(self):
        stack = self.make({"a": res("one", update_replace_value="x")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        self.update(stack, {"a": res("one", update_replace_value="y")})
        self.assertState("UPDATE_FAILED", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertIn("stays external", row.status_reason)
        # And back to where it was: looked at again, not replaced.
        self.update(stack, {"a": ext(mine)})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack).physical_id)

    def test_rollback_returns_to_the_earlier_owner(self):
        stack = self.make({"a": res("one")}, disable_rollback=False)
        mine = self.row(stack).physical_id
        self.update(
            stack,
            {"a": ext("theirs"), "z": res(fail=True, depends_on="a")},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        row = self.row(stack)
        self.assertEqual(mine, row.physical_id)
        self.assertFalse(row.external)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_an_object_that_became_the_users_is_not_deleted(self):
        """Ownership follows the object: renamed and external at once."""
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"b": ext(mine)})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack, "b").physical_id)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_an_empty_id_is_refused(self):
        for wrong in ("", ["x"], 5):
            with self.subTest(external_id=wrong):
                self.assertRaises(
                    exception.StackValidationFailed,
                    self.world.create,
                    hot({"a": ext(wrong)}),
                )

    def test_null_is_as_if_absent(self):
        stack = self.make({"a": ext(None)})
        self.assertFalse(self.row(stack).external)
        self.assertEqual("CREATE", self.row(stack).action)
