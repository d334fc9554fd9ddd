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

from heat.common import exception
from heat.engine.stack import preview, preview_new
from heat.tests.convergence import prepared
from heat.tests.convergence.test_external import ExternalCase, ext, known
from heat.tests.convergence.test_stories import attr, hot, res


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
            for each in getattr(found, group)
        }

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
