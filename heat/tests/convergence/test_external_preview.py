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
"""What a preview says of an object is what the update does with it."""

from __future__ import annotations

from unittest import mock

import fixtures

from heat.common import exception
from heat.engine.stack import converge, nested, preview, preview_new
from heat.tests.convergence import prepared
from heat.tests.convergence.test_external import ExternalCase, ext, known
from heat.tests.convergence.test_stories import attr, hot, res

CHILD = """
heat_template_version: 2018-08-31
parameters:
  ident: {type: string}
resources:
  x:
    type: OS::Heat::TestResource
    external_id: {get_param: ident}
  y:
    type: OS::Heat::TestResource
"""
BESIDE = "; what was made for it goes, unless it is in use"


class PreviewTest(ExternalCase):
    """What a preview says of an object is what the update does with it."""

    def preview(self, stack, resources):
        found = preview.update(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            hot(resources),
            {},
            {},
            {},
        )
        return {
            each.name: (group, each)
            for group in ("added", "updated", "replaced", "unchanged")
            + ("deleted",)
            for each in getattr(found, group)
        }

    def assertLetGo(self, stack, wishes, group, reason, name="a"):
        """So the preview says of the object, and so the update does."""
        was = self.row(stack, name).physical_id
        kind, told = self.preview(stack, wishes)[name]
        self.assertEqual((group, reason), (kind, told.reason))
        self.assertTrue(told.retained)
        self.assertIsNone(told.ownership)
        self.update(stack, wishes)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertIn(was, self.objects())
        self.assertIn((was, "external"), self.released())

    def assertMove(self, stack, wish, kind, reason, state="UPDATE_COMPLETE"):
        """The preview says so, and the update does so."""
        before = self.row(stack)
        group, told = self.preview(stack, {"a": wish})["a"]
        self.assertEqual((kind, reason), (group, told.reason))
        self.assertEqual(state == "UPDATE_FAILED", told.error is not None)
        self.update(stack, {"a": wish})
        self.assertState(state, stack)
        after = self.row(stack)
        same = before.physical_id == after.physical_id
        self.assertEqual(kind != "replaced", same)
        if state == "UPDATE_COMPLETE":
            external = {"becomes external": True, "handed back": False}
            wanted = external.get(told.ownership, before.external)
            self.assertEqual(wanted, after.external)
        return told, after

    def test_every_move(self):
        stack = self.make({"a": known("one", update_replace_value="x")})
        mine = self.row(stack).physical_id
        same = {"update_replace_value": "x"}
        self.assertMove(
            stack,
            known("one", external_id=mine),
            "updated",
            f"becomes external: the object {mine} is not touched",
        )
        self.assertMove(
            stack,
            known("any", external_id=mine),
            "unchanged",
            "nothing changed",
        )
        self.assertMove(
            stack, known("one", **same), "updated", "handed back: same"
        )
        self.update(stack, {"a": known("one", external_id=mine)})
        self.assertMove(
            stack,
            known("two", **same),
            "updated",
            "handed back: in place (value)",
        )
        self.update(stack, {"a": known("one", external_id=mine)})
        told, row = self.assertMove(
            stack,
            known("two", update_replace_value="y"),
            "updated",
            "handed back: refused",
            "UPDATE_FAILED",
        )
        self.assertIn("can't be changed in place", told.error)
        self.assertIn(told.error, row.status_reason)
        self.assertMove(
            stack,
            known("one", external_id=mine),
            "unchanged",
            "the external object is looked at again",
        )
        self.assertMove(
            stack,
            known("one", external_id="theirs"),
            "replaced",
            "becomes external: theirs is taken in its place; the previous "
            f"object {mine} is let go",
        )

    def test_the_previous_object_is_deleted(self):
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        self.assertMove(
            stack,
            known("one", external_id="theirs"),
            "replaced",
            "becomes external: theirs is taken in its place; the previous "
            f"object {mine} will be deleted",
        )
        self.assertEqual(set(), self.objects())

    def test_refused_as_another_stack_manages_it(self):
        owner = self.create(hot({"a": known("one")}), "owner")
        mine = self.row(owner).physical_id
        stack = self.make({"a": known("one", external_id=mine)})
        told, _row = self.assertMove(
            stack,
            known("one"),
            "updated",
            "handed back: refused",
            "UPDATE_FAILED",
        )
        self.assertIn("managed by stack owner", told.error)

    def test_vanished(self):
        stack = self.make({"a": known("one", external_id="theirs")})
        gone = exception.EntityNotFound(entity="Known", name="theirs")
        with mock.patch.object(
            prepared.KnownResource, "handle_check", side_effect=gone
        ):
            told, _row = self.assertMove(
                stack,
                known("one"),
                "updated",
                "handed back: refused",
                "UPDATE_FAILED",
            )
        self.assertIn("theirs", told.error)

    def test_an_id_that_nobody_knows_yet(self):
        stack = self.make({"b": res("one"), "a": ext(attr("b"))})
        told = self.preview(stack, {"b": res("two"), "a": ext(attr("b"))})
        group, change = told["a"]
        self.assertEqual(("updated", False), (group, change.certain))
        self.assertTrue(change.may_be_replaced)
        self.assertIn("b updated", change.because_of)

    def test_added(self):
        stack = self.make({"b": res("one")})
        told = self.preview(stack, {"b": res("one"), "a": ext("theirs")})
        group, change = told["a"]
        self.assertEqual("added", group)
        self.assertEqual(
            "the external object theirs is taken; nothing is made",
            change.reason,
        )

    def test_a_new_stack(self):
        found = preview_new.create(
            self.world.engines[0],
            self.world.context,
            "new",
            hot({"a": ext("theirs"), "b": res("one")}),
            {},
            {},
            {},
        )
        self.assertEqual(
            {"a": "theirs", "b": None},
            {each.name: each.external_id for each in found.resources},
        )

    def test_external_under_another_name(self):
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        self.assertLetGo(
            stack,
            {"a": known("one"), "b": known(external_id=mine)},
            "replaced",
            "its object is external under another name; the previous object "
            f"{mine} is let go",
        )
        self.assertNotEqual(mine, self.row(stack).physical_id)

    def test_another_name_and_another_object(self):
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        wishes = {
            "a": known(external_id="theirs"),
            "b": known(external_id=mine),
        }
        _group, told = self.preview(stack, wishes)["a"]
        self.assertEqual("becomes external", told.ownership)
        self.assertIn(f"the previous object {mine} is let go", told.reason)
        self.update(stack, wishes)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({mine}, self.objects())

    def test_renamed(self):
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        self.assertLetGo(
            stack,
            {"b": known(external_id=mine)},
            "deleted",
            "external to b",
        )

    def test_the_other_name_gives_it_up(self):
        """What an update that failed has begun counts."""
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        failing = res(fail=True, depends_on="b")
        self.update(stack, {"b": known(external_id=mine), "z": failing})
        self.assertState("UPDATE_FAILED", stack)
        self.assertMove(
            stack, known("two"), "updated", "handed back: in place (value)"
        )
        self.assertEqual({mine}, self.objects())

    def test_the_other_name_is_handed_it(self):
        stack = self.make({"a": known("one")})
        mine = self.row(stack).physical_id
        failing = res(fail=True, depends_on="b")
        self.update(stack, {"b": known("one", external_id=mine), "z": failing})
        self.assertState("UPDATE_FAILED", stack)
        wishes = {"a": known("one"), "b": known("two")}
        _group, told = self.preview(stack, wishes)["b"]
        self.assertEqual("handed back: in place (value)", told.reason)
        self.assertLetGo(
            stack,
            wishes,
            "replaced",
            f"another resource has its object; the previous object {mine} is "
            "let go",
        )
        self.assertNotEqual(mine, self.row(stack).physical_id)
        self.assertEqual(mine, self.row(stack, "b").physical_id)

    def test_what_was_made_beside_it(self):
        kind, calls = prepared.TestResource, mock.Mock(return_value=[])
        self.useFixture(fixtures.MockPatchObject(kind, "beside", ("value",)))
        self.useFixture(fixtures.MockPatchObject(kind, "forget_beside", calls))
        stack = self.make({"a": known("one"), "b": known("one")})
        mine = self.row(stack).physical_id
        wishes = {"b": known("one")}
        self.update(stack, {"a": known(external_id=mine), **wishes})
        calls.assert_not_called()
        self.assertLetGo(stack, wishes, "deleted", "external" + BESIDE)
        calls.assert_called_once_with()
        # And so where another name takes the object over.
        mine = self.row(stack, "b").physical_id
        self.assertLetGo(
            stack,
            {"c": known(external_id=mine)},
            "deleted",
            "external to c" + BESIDE,
            "b",
        )
        self.assertEqual(2, calls.call_count)


class NestedTest(ExternalCase):
    def setUp(self):
        super().setUp()
        for engine in self.world.engines:
            engine.children = nested.Children(engine)

    def test_an_id_that_nobody_knows_yet(self):
        """The others of its stack are judged all the same."""

        def wishes(number):
            ident = {"ident": attr("a")}
            return {
                "a": res("v", update_replace_value=number),
                "n": {"type": "child.yaml", "properties": ident},
            }

        files = {"child.yaml": CHILD}
        stack = converge.create(
            self.world.engines[0],
            self.world.context,
            "stack",
            hot(wishes("1")),
            {},
            files,
            {"disable_rollback": True},
        ).id
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        found = preview.update(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            hot(wishes("2")),
            {},
            files,
            {"show_nested": True},
        )
        self.assertEqual(["y"], [each.name for each in found.unchanged])
        [x] = [each for each in found.updated if each.name == "x"]
        self.assertFalse(x.certain)
        self.assertIn("n.ident <- a replaced", x.because_of)
