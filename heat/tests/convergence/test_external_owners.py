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
"""Scenarios of objects that change hands: handed back, or taken by two."""

from __future__ import annotations

from unittest import mock

from heat.common import exception
from heat.db import claims, resources
from heat.engine.resource import UpdateReplace
from heat.engine.resources.openstack.heat import random_string
from heat.engine.stack import abandon, converge
from heat.engine.traversal import wanted
from heat.tests.convergence import prepared
from heat.tests.convergence.test_external import ExternalCase, ext, known
from heat.tests.convergence.test_stories import hot, res


class HandBackTest(ExternalCase):
    def hand_over(self, **properties):
        """A stack whose object has become the user's; its id."""
        stack = self.make({"a": known("one", **properties)})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": known("one", external_id=mine)})
        return stack, mine

    def live(self, **values):
        """Let the service show what its object is like."""
        patch = mock.patch.object(
            prepared.KnownResource,
            "get_live_resource_data",
            lambda rsrc: values,
        )
        patch.start()
        self.addCleanup(patch.stop)

    def assertStaysExternal(self, stack, *words):
        self.assertState("UPDATE_FAILED", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        for word in ("stays external", *words):
            self.assertIn(word, row.status_reason)

    def test_in_place_as_it_is_now(self):
        stack, mine = self.hand_over()
        self.live(value="by hand")
        self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack).physical_id)
        self.assertIn(
            "the object is handed back; brought to the template in place: "
            "value",
            self.reasons(stack),
        )

    def test_nothing_differs(self):
        stack, _mine = self.hand_over()
        self.update(stack, {"a": known("one")})
        self.assertIn(
            "the object is handed back; nothing differs", self.reasons(stack)
        )

    def test_taken_on_trust(self):
        stack = self.make({"a": ext("theirs")})
        self.update(stack, {"a": res("x", update_replace_value="y")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertIn(
            "the object is handed back; brought to the template in place: "
            "value; taken on trust: update_replace_value",
            self.reasons(stack),
        )

    def test_missing_data(self):
        stack = self.make({"a": known(external_id="theirs")})
        self.update(stack, {"a": known("secret")})
        self.assertStaysExternal(stack, "the secret")

    def test_data_slept_meanwhile(self):
        stack = self.make({"a": {"type": "OS::Heat::RandomString"}})
        mine = self.row(stack).physical_id
        text = {"type": "OS::Heat::RandomString"}
        self.update(stack, {"a": {**text, "external_id": mine}})
        self.assertTrue(self.row(stack).external)
        self.update(stack, {"a": text})
        self.assertState("UPDATE_COMPLETE", stack)
        # One that was never Heat's has no text that anybody knows.
        other = self.create(
            hot({"a": {**text, "external_id": "theirs"}}), "other"
        )
        self.update(other, {"a": text})
        why = random_string.RandomString.irrecoverable["value"]
        self.assertStaysExternal(other, why)

    def test_vanished(self):
        stack, _mine = self.hand_over()
        gone = exception.EntityNotFound(entity="Known", name="theirs")
        with mock.patch.object(
            prepared.KnownResource, "handle_check", side_effect=gone
        ):
            self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_FAILED", stack)
        self.assertTrue(self.row(stack).external)

    def test_asked_for_a_replacement_too_late(self):
        stack, mine = self.hand_over()
        with mock.patch.object(
            prepared.KnownResource,
            "handle_update",
            side_effect=UpdateReplace("a"),
        ):
            self.update(stack, {"a": known("two")})
        self.assertStaysExternal(stack)
        self.assertEqual(mine, self.row(stack).physical_id)

    def test_rolled_back(self):
        stack, mine = self.hand_over()
        self.update(
            stack,
            {"a": known("two"), "z": res(fail=True, depends_on="a")},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertIn(
            "the properties given to it stay: value",
            "".join(self.reasons(stack)),
        )

    def test_never_adopted_is_made(self):
        """An adoption that a crash cut short left a row without object."""
        stack = self.make({"a": ext("theirs")})
        row = self.row(stack)
        self.world.db.run(
            lambda conn: resources.set_values(
                conn,
                [row.id],
                {"physical_id": None, "action": "ADOPT", "status": "FAILED"},
            )
        )
        self.update(stack, {"a": res("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        made = self.row(stack)
        self.assertFalse(made.external)
        self.assertEqual({made.physical_id}, self.objects())
        self.assertEqual([], self.released())


class ManagedTest(ExternalCase):
    """One object, several stacks."""

    def owner(self):
        stack = self.create(hot({"a": known("one")}), "owner")
        return stack, self.row(stack).physical_id

    def adopt(self, ident, name="second"):
        made = converge.create(
            self.world.engines[0],
            self.world.context,
            name,
            hot({"a": known("one")}),
            {},
            {},
            {"disable_rollback": True},
            adopted={"a": wanted.Given(ident, {}, {"value": "one"})},
        )
        self.world.run()
        return made.id

    def test_a_hand_back_of_what_another_manages(self):
        _owner, mine = self.owner()
        stack = self.create(hot({"a": known(external_id=mine)}), "second")
        self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_FAILED", stack)
        self.assertTrue(self.row(stack).external)
        self.assertIn("managed by stack owner", self.row(stack).status_reason)
        self.remove(stack)
        self.assertEqual({mine}, self.objects())

    def test_an_adoption_of_what_another_manages(self):
        _owner, mine = self.owner()
        stack = self.adopt(mine)
        self.assertState("ADOPT_FAILED", stack)
        self.assertIn("managed by stack owner", self.row(stack).status_reason)
        self.remove(stack)
        self.assertEqual({mine}, self.objects())

    def test_two_at_once(self):
        """Both have begun; neither has an object that shows it."""
        one = self.create(hot({"a": known(external_id="x")}), "one")
        two = self.create(hot({"a": known(external_id="x")}), "two")
        for stack in (one, two):
            self.world.update(stack, hot({"a": known("v", wait_secs=5)}))
        self.world.run()
        states = {each: self.world.state(each) for each in (one, two)}
        self.assertEqual(
            ["UPDATE_COMPLETE", "UPDATE_FAILED"], sorted(states.values())
        )
        [loser] = [s for s in states if states[s] == "UPDATE_FAILED"]
        winner = "one" if loser == two else "two"
        self.assertIn(
            f"managed by stack {winner}", self.row(loser).status_reason
        )

    def test_given_up_it_can_be_taken(self):
        owner, mine = self.owner()
        stack = self.create(hot({"a": known(external_id=mine)}), "second")
        self.update(owner, {"a": known("one", external_id=mine)})
        self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.update(owner, {"a": known("one")})
        self.assertState("UPDATE_FAILED", owner)
        self.assertIn("managed by stack second", self.row(owner).status_reason)

    def test_a_failed_hand_back_manages_nothing(self):
        one = self.create(hot({"a": known(external_id="x")}), "one")
        two = self.create(hot({"a": known(external_id="x")}), "two")
        self.update(one, {"a": known("v", fail=True)})
        self.assertState("UPDATE_FAILED", one)
        self.update(two, {"a": known("v")})
        self.assertState("UPDATE_COMPLETE", two)

    def test_abandon_releases_at_once(self):
        owner, mine = self.owner()
        abandon.abandon(
            self.world.engines[0], self.world.context, self.world.stack(owner)
        )
        # Nothing but its first transaction has run.
        self.world.bus.messages, waiting = [], self.world.bus.messages
        stack = self.adopt(mine)
        self.assertState("ADOPT_COMPLETE", stack)
        self.world.bus.messages += waiting
        self.world.run()
        self.assertState("DELETE_COMPLETE", owner)
        self.assertEqual({mine}, self.objects())

    def test_types_without_look_up_are_not_claimed(self):
        one = self.create(hot({"a": ext("x")}), "one")
        two = self.create(hot({"a": ext("x")}), "two")
        for stack in (one, two):
            self.update(stack, {"a": res("v")})
            self.assertState("UPDATE_COMPLETE", stack)

    def test_readers_are_named_and_keep_it(self):
        owner, mine = self.owner()
        self.create(hot({"r": known(external_id=mine)}), "reader")
        self.remove(owner)
        self.assertEqual({mine}, self.objects())
        self.assertIn(
            f"object {mine} let go (external to r of stack reader)",
            self.reasons(owner),
        )
        self.assertEqual([(mine, "external")], self.released())

    def test_a_reader_that_comes_while_it_is_decided(self):
        """Asked again in the transaction that claims the row."""
        owner, mine = self.owner()
        real = resources.claim
        held = resources.held_external
        asked = []

        def late(conn, tenant, ids):
            asked.append(set(ids))
            # What was gathered knows of nobody yet.
            return {} if len(asked) == 1 else held(conn, tenant, ids)

        self.create(hot({"r": known(external_id=mine)}), "reader")
        with mock.patch.object(resources, "held_external", late):
            self.remove(owner)
        self.assertIs(real, resources.claim)
        self.assertEqual({mine}, self.objects())

    def test_another_project_reads_nothing_of_ours(self):
        """Else anybody could keep others from deleting."""
        owner, mine = self.owner()
        mallory = self.world.context.from_dict(
            {**self.world.context.to_dict(), "project_id": "mallory"}
        )
        ours, self.world.context = self.world.context, mallory
        self.create(hot({"r": known(external_id=mine)}), "reader")
        self.world.context = ours
        self.remove(owner)
        self.assertEqual(set(), self.objects())

    def test_the_users_under_another_name_goes_with_it(self):
        """Renamed, external, and dropped before clean-up came to the row."""
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.world.update(
            stack,
            hot({"b": ext(mine), "z": res(wait_secs=100, depends_on="b")}),
        )
        self.world.run_until(
            lambda: (
                self.row_or_none(stack, "b")
                and self.row(stack, "b").action == "CHECK"
            )
        )
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({mine}, self.objects())

    def row_or_none(self, stack, name):
        return self.world.living(stack).get(name)


class ClaimTest(ExternalCase):
    def test_one_statement_decides(self):
        def claim(row):
            return claims.Claim(None, "project", "k", "x", f"stack{row}", row)

        def take(row):
            return self.world.db.run(
                lambda conn: claims.take(conn, claim(row), lambda _type: True)
            )

        self.assertIsNone(take(1))
        # No resource row says that the first still has it.
        self.assertIsNone(take(2))
        self.assertIsNone(take(2))
        rows = (
            prepared.raw(self.world.db)
            .execute("SELECT resource_id FROM object_claim")
            .fetchall()
        )
        self.assertEqual([(2,)], rows)

    def test_the_key_tells_all_parts_apart(self):
        parts = ["r", "t", "k", "p"]
        keys = {claims.Claim(*parts, "s", 1).key}
        for index in range(4):
            other = list(parts)
            other[index] += "x"
            keys.add(claims.Claim(*other, "s", 1).key)
        self.assertEqual(5, len(keys))
        self.assertEqual(
            claims.Claim(*parts, "s", 1).key, claims.Claim(*parts, "t", 2).key
        )
