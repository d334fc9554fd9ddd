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
"""Scenarios of objects whose engine had been taken for dead.

Nobody's row knows such an object but a stray one. What somebody has made his
own meanwhile, or keeps by policy, is let go and told of; the rest is deleted.
"""

from __future__ import annotations

from unittest import mock

from heat.db import resources, stacks
from heat.engine.stack import lock
from heat.engine.traversal import locking, strays
from heat.tests.convergence.test_external import ExternalCase, known
from heat.tests.convergence.test_stories import hot


class StrayTest(ExternalCase):
    def stray(self, wish, name="owner"):
        """A stack whose one object nobody knows of; the object."""
        stack = self.create(hot({"a": wish}), name)
        row = self.row(stack)
        self.mark(row, action="CREATE", status="FAILED", stray=True)
        return stack, row.physical_id

    def mark(self, row, **values):
        self.world.db.run(
            lambda conn: resources.set_values(conn, [row.id], values)
        )

    def look(self):
        strays.Reaper(self.world.engines[0]).look()

    def test_deleted(self):
        stack, _made = self.stray(known("one"))
        self.look()
        self.assertEqual(set(), self.objects())
        self.assertEqual([], self.world.rows(stack))
        self.assertEqual([], self.released())

    def assertLetGo(self, stack, made, reason, because):
        self.look()
        self.assertEqual({made}, self.objects())
        self.assertEqual([(made, reason)], self.released())
        self.assertEqual([], self.world.rows(stack))
        told = f"object {made} let go ({because})"
        self.assertEqual(told, self.reasons(stack)[-1])

    def test_the_users_by_now(self):
        stack, made = self.stray(known("one"))
        self.create(hot({"r": known(external_id=made)}), "reader")
        self.assertLetGo(
            stack, made, "external", "external to r of stack reader"
        )

    def test_its_stack_is_deleted(self):
        stack, made = self.stray(known("one"))
        self.create(hot({"r": known(external_id=made)}), "reader")
        self.world.db.run(lambda conn: stacks.soft_delete(conn, stack))
        self.assertLetGo(
            stack, made, "external", "external to r of stack reader"
        )

    def test_the_row_itself_passed_it_on(self):
        """Another row of the stack had it handed back."""
        stack, made = self.stray(known("one"))
        self.mark(self.world.rows(stack)[0], external=True)
        self.assertLetGo(stack, made, "external", "external")

    def test_kept_by_policy(self):
        kept = {**known("one"), "deletion_policy": "Retain"}
        stack, made = self.stray(kept)
        self.assertLetGo(stack, made, "retain", "deletion_policy: retain")

    def test_another_project_keeps_nothing_of_ours(self):
        _stack, made = self.stray(known("one"))
        mallory = self.world.context.from_dict(
            {**self.world.context.to_dict(), "project_id": "mallory"}
        )
        self.world.context = mallory
        self.create(hot({"r": known(external_id=made)}), "reader")
        self.look()
        self.assertEqual(set(), self.objects())

    def test_nobody_adopts_what_it_is_deleting(self):
        """The claim is what others see, from the first statement on."""
        _stack, made = self.stray(known("one", action_wait_secs={"delete": 9}))
        self.look()
        reader = self.create(hot({"r": known(external_id=made)}), "reader")
        self.assertState("CREATE_FAILED", reader)
        self.assertIn("is being deleted", self.row(reader, "r").status_reason)

    def lock(self, stack, level="all"):
        self.begin(lock.lock, stack, level)
        self.assertState("LOCK_COMPLETE", stack)

    def unlock(self, stack):
        self.begin(lock.unlock, stack)
        self.assertState("UNLOCK_COMPLETE", stack)

    def begin(self, what, stack, *args):
        engine, context = self.world.engines[0], self.world.context
        what(engine, context, self.world.stack(stack), *args)
        self.world.run()

    def test_it_stays_until_its_stack_is_unlocked(self):
        for level in locking.LEVELS:
            with self.subTest(level=level):
                stack, made = self.stray(known("one"), level)
                self.lock(stack, level)
                self.look()
                self.assertEqual({made}, self.objects())
                self.unlock(stack)
                self.look()
                self.assertEqual(set(), self.objects())
                self.assertEqual([], self.world.rows(stack))

    def test_it_stays_until_the_update_after_the_unlock(self):
        """Which comes before anybody has looked."""
        stack, _made = self.stray(known("one"))
        self.lock(stack)
        self.unlock(stack)
        self.update(stack, {})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(set(), self.objects())

    def test_its_stack_is_locked_before_it_is_taken(self):
        """It was seen when the stack was not locked yet."""
        stack, made = self.stray(known("one"))
        seen = self.world.db.read(resources.strays_at_rest)
        self.assertEqual(1, len(seen))
        self.lock(stack)
        with mock.patch.object(resources, "strays_at_rest", return_value=seen):
            self.look()
        self.assertEqual({made}, self.objects())

    def unknown(self, wish):
        """A stack whose one object no row knows; the object."""
        stack = self.make({"a": wish}, name="owner")
        row = self.row(stack)
        self.mark(
            row,
            action="CREATE",
            status="FAILED",
            engine_id="dead",
            physical_id=None,
        )
        return stack, row.physical_id

    def test_found_by_its_name_it_is_deleted(self):
        stack, _made = self.unknown(known("one"))
        self.update(stack, {})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(set(), self.objects())

    def test_found_by_its_name_when_it_is_the_users(self):
        """Before it is deleted somebody asks whose it is."""
        stack, made = self.unknown(known("one"))
        reader = self.create(hot({"r": known(external_id=made)}), "reader")
        self.assertState("CREATE_COMPLETE", reader)
        self.update(stack, {})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({made}, self.objects())

    def test_a_create_goes_on_with_what_is_found(self):
        stack, made = self.unknown(known("one"))
        self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(made, self.row(stack).physical_id)
        self.assertEqual({made}, self.objects())

    def test_a_create_goes_on_without_what_is_the_users(self):
        stack, made = self.unknown(known("one"))
        self.create(hot({"r": known(external_id=made)}), "reader")
        self.update(stack, {"a": known("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(made, self.row(stack).physical_id)
        self.assertEqual({made, self.row(stack).physical_id}, self.objects())
