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
"""Scenarios of one object under two names, of which one says it is external.

It is the user's from then on, whatever the other name's row says: who wants
that name gets an object of its own, and the user's is neither updated nor
deleted.
"""

from __future__ import annotations

from unittest import mock

import fixtures

from heat.engine.stack import actions
from heat.tests.convergence import prepared
from heat.tests.convergence.test_external import ExternalCase, ext, known
from heat.tests.convergence.test_stories import hot, res


class TwoNamesTest(ExternalCase):
    def setUp(self):
        super().setUp()
        self.updated = []
        real = prepared.TestResource.handle_update

        def seen(rsrc, *args, **kwargs):
            self.updated.append(rsrc.resource_id)
            return real(rsrc, *args, **kwargs)

        patch = mock.patch.object(prepared.TestResource, "handle_update", seen)
        patch.start()
        self.addCleanup(patch.stop)

    def renamed(self, name="stack", kind=res):
        """A stack that failed when its object had a new name already."""
        stack = self.make({"a": kind("one")}, name=name)
        mine = self.row(stack).physical_id
        failing = res(fail=True, depends_on="b")
        theirs = {**kind("theirs"), "external_id": mine}
        self.update(stack, {"b": theirs, "z": failing})
        self.assertState("UPDATE_FAILED", stack)
        return stack, mine

    def assertApart(self, stack, mine):
        """The first name has an object of its own; the user's is safe."""
        self.assertState("UPDATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertNotEqual(mine, row.physical_id)
        self.assertFalse(row.external)
        self.assertNotIn(mine, self.updated)
        self.assertEqual({mine, row.physical_id}, self.objects())
        self.remove(stack)
        self.assertEqual({mine}, self.objects())
        self.assertIn((mine, "external"), self.released())

    def test_both_are_wanted_after_a_failure(self):
        stack, mine = self.renamed()
        self.update(stack, {"a": res("two"), "b": ext(mine)})
        self.assertApart(stack, mine)

    def test_nothing_else_differs(self):
        stack, mine = self.renamed()
        self.update(stack, {"a": res("one"), "b": ext(mine)})
        self.assertApart(stack, mine)

    def test_both_are_wanted_at_once(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": res("two"), "b": ext(mine)})
        self.assertApart(stack, mine)

    def test_the_other_name_moves_on_alone(self):
        """Its old version has gone when clean-up comes to the first name."""
        slow = {"action_wait_secs": {"delete": 30}, "depends_on": "a"}
        stack = self.make({"a": res("one"), "c": res(**slow)})
        mine = self.row(stack).physical_id
        failing = res(fail=True, depends_on="b")
        self.update(stack, {"b": ext(mine), "z": failing})
        self.update(stack, {"b": ext("another")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({mine}, self.objects())
        self.assertIn((mine, "external"), self.released())

    def test_the_other_name_gives_it_up(self):
        """It goes, or takes another object: then the first is handed it."""
        for name, rest in (("goes", {}), ("other", {"b": ext("another")})):
            with self.subTest(name):
                stack, mine = self.renamed(name)
                self.update(stack, {"a": res("two"), **rest})
                self.assertState("UPDATE_COMPLETE", stack)
                row = self.row(stack)
                self.assertEqual(
                    (mine, False), (row.physical_id, row.external)
                )
                self.assertIn("handed back", "".join(self.reasons(stack)))
                self.assertEqual({mine}, self.objects())
                self.remove(stack)
                self.assertEqual(set(), self.objects())

    def test_both_are_handed_it(self):
        """Who had it last gets it, the other one makes its own."""
        for kind in (res, known):
            with self.subTest(kind.__name__):
                stack, mine = self.renamed(kind.__name__, kind)
                self.update(stack, {"a": kind("two"), "b": kind("one")})
                self.assertOwned(stack, "b", "a", mine)

    def test_what_was_read_becomes_two(self):
        """Whose it is keeps it, whoever has read it."""
        for kind in (res, known):
            with self.subTest(kind.__name__):
                name = kind.__name__
                reader = {**kind("one"), "external_id": {"get_resource": "a"}}
                stack = self.make({"a": kind("one"), "b": reader}, name=name)
                mine = self.row(stack).physical_id
                self.update(stack, {"a": kind("two"), "b": kind("one")})
                self.assertOwned(stack, "a", "b", mine)

    def test_both_read_it_and_are_handed_it(self):
        stack = self.make({"a": ext("x"), "b": ext("x")})
        self.update(stack, {"a": res("one"), "b": res("two")})
        self.assertOwned(stack, "b", "a", "x")

    def assertOwned(self, stack, name, other, mine):
        """One has the object, the other an own one; all is Heat's."""
        self.assertState("UPDATE_COMPLETE", stack)
        rows = [self.row(stack, each) for each in (name, other)]
        self.assertEqual([False, False], [row.external for row in rows])
        had, own = (row.physical_id for row in rows)
        self.assertEqual(mine, had)
        self.assertNotEqual(mine, own)
        self.assertEqual({"a", "b"}, set(self.world.living(stack)))
        self.assertEqual(2, len(self.world.rows(stack)))
        self.remove(stack)
        self.assertEqual(set(), self.objects())

    def test_no_replacement_is_prepared(self):
        stack, mine = self.renamed()
        with mock.patch.object(
            prepared.TestResource,
            "prepare_for_replace",
            side_effect=AssertionError,
        ):
            self.update(stack, {"a": res("two"), "b": ext(mine)})
        self.assertApart(stack, mine)

    def test_suspended_after_the_failure(self):
        stack, _mine = self.renamed()
        with mock.patch.object(
            prepared.TestResource,
            "handle_suspend",
            create=True,
            side_effect=AssertionError,
        ):
            actions.suspend(
                self.world.engines[0],
                self.world.context,
                self.world.stack(stack),
            )
            self.world.run()
        # What could not be created is named; the object is let alone.
        self.assertState("SUSPEND_FAILED", stack)

    def test_what_was_made_beside_it(self):
        """It goes with the row, but for what the user's object uses."""
        kind = prepared.TestResource
        calls = mock.Mock(return_value=[("Some::Port", "port")])
        self.useFixture(fixtures.MockPatchObject(kind, "beside", ("value",)))
        self.useFixture(fixtures.MockPatchObject(kind, "forget_beside", calls))
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        calls.assert_not_called()
        calls.side_effect = [ValueError("the service is away")] * 9
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_FAILED", stack)
        self.assertEqual({mine}, self.objects())
        calls.side_effect = None
        self.remove(stack)
        self.assertEqual({mine}, self.objects())
        self.assertEqual(
            [("port", "external"), (mine, "external")], self.released()
        )
        self.assertIn(
            f"object {mine} let go (external); so is the Some::Port port "
            "that it uses",
            self.reasons(stack),
        )

    def test_one_that_reads_the_other(self):
        """It follows the other, and takes nothing from it."""
        wishes = {"b": ext({"get_resource": "a"})}
        stack = self.make({"a": res("one"), **wishes})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": res("two"), **wishes})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack).physical_id)
        self.assertEqual([mine], self.updated)
        self.assertEqual(mine, self.row(stack, "b").physical_id)

    def test_another_stack_that_reads_takes_nothing(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.create(hot({"r": ext(mine)}), "reader")
        self.update(stack, {"a": res("two")})
        self.assertEqual(mine, self.row(stack).physical_id)
        self.assertEqual([mine], self.updated)
