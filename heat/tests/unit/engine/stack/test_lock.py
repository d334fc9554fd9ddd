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
"""The tables of LOCK and UNLOCK, case by case."""

from __future__ import annotations

from heat.common import exception
from heat.engine.resource import state
from heat.engine.stack import converge, lock
from heat.engine.traversal import decide
from heat.tests import base

WRITES = set(lock.KINDS)


def record(action, status, locked=True, root="s1"):
    return converge.draft_of(
        {
            "id": "s1",
            "name": "one",
            "tenant": "t",
            "action": action,
            "status": status,
            "disable_rollback": True,
            "lock_level": "all" if locked else None,
            "lock_root": root if locked else None,
            "lock_reason": "repair" if locked else None,
            "locked_by": "bob" if locked else None,
        }
    )


# The design's table: the state shown, whether it is locked, what is allowed.
TABLE = (
    ("LOCK_IN_PROGRESS", True, set()),
    ("UNLOCK_IN_PROGRESS", True, set()),
    ("LOCK_COMPLETE", True, {"lock", "unlock"}),
    ("LOCK_FAILED", True, {"lock", "unlock", "delete"}),
    ("UNLOCK_FAILED", True, {"unlock", "delete"}),
    ("UNLOCK_COMPLETE", False, WRITES | {"lock"}),
    ("INIT_COMPLETE", False, WRITES),
    ("DELETE_COMPLETE", False, WRITES),
)


class TableTest(base.TestCase):
    def test_every_state_that_is_named(self):
        for shown, locked, expected in TABLE:
            self.check(shown, locked, expected)

    def test_every_other_final_state_can_be_locked(self):
        for action in state.ACTIONS:
            for status in ("COMPLETE", "FAILED"):
                shown = f"{action}_{status}"
                if shown not in lock.ALLOWED:
                    self.check(shown, False, WRITES | {"lock"})

    def test_nothing_in_progress_can_be_locked(self):
        for action in set(state.ACTIONS) - {"LOCK", "UNLOCK"}:
            self.check(f"{action}_IN_PROGRESS", False, WRITES)

    def check(self, shown, locked, expected):
        action, _under, status = shown.partition("_")
        stack = record(action, status, locked)
        for asked in lock.ACTIONS:
            with self.subTest(state=shown, asked=asked):
                self.assertEqual(
                    asked in expected, self.is_allowed(stack, asked)
                )

    def is_allowed(self, stack, asked):
        try:
            if asked in ("lock", "unlock"):
                lock._check_state(stack, asked)
            else:
                lock.guard(stack, asked)
        except (
            exception.StackLocked,
            exception.StackNotLocked,
            exception.StackNotLockable,
            exception.ActionInProgress,
        ):
            return False
        return True

    def test_the_kinds_of_errors(self):
        cases = (
            ("CREATE", "IN_PROGRESS", False, "lock", "ActionInProgress"),
            ("INIT", "COMPLETE", False, "lock", "StackNotLockable"),
            ("DELETE", "COMPLETE", False, "lock", "StackNotLockable"),
            ("CREATE", "COMPLETE", False, "unlock", "StackNotLocked"),
            ("UNLOCK", "COMPLETE", False, "unlock", "StackNotLocked"),
            ("LOCK", "IN_PROGRESS", True, "unlock", "StackLocked"),
            ("UNLOCK", "FAILED", True, "lock", "StackLocked"),
        )
        for action, status, locked, asked, error in cases:
            with self.subTest(action=action, status=status, asked=asked):
                raised = self.assertRaises(
                    getattr(exception, error),
                    lock._check_state,
                    record(action, status, locked),
                    asked,
                )
                self.assertIn("one", str(raised))

    def test_with_others_nothing_is_allowed(self):
        stack = record("LOCK", "COMPLETE", root="another")
        for asked in lock.ACTIONS:
            error = self.assertRaises(
                exception.StackLocked, lock.guard, stack, asked
            )
            self.assertIn("another: unlock that one", str(error))

    def test_the_record_is_quoted(self):
        error = self.assertRaises(
            exception.StackLocked,
            lock.guard,
            record("LOCK", "COMPLETE"),
            "update",
        )
        for words in ("LOCK_COMPLETE", "level all", "bob", "repair"):
            self.assertIn(words, str(error))

    def test_rules_name_kinds_that_are_there(self):
        known = {*lock.ACTIONS, lock.FREE}
        for method, rule in lock.METHODS.items():
            with self.subTest(method=method):
                self.assertIn(rule.kind, known)
                self.assertTrue(rule.kind != lock.FREE or rule.because)


class StepTest(base.TestCase):
    """What a walk does with a row."""

    def test_lock_step(self):
        there = {"action": "CREATE", "shown": ("CREATE", "COMPLETE")}
        locked = {"action": "UPDATE", "shown": ("LOCK", "COMPLETE")}
        failed = {"action": "UPDATE", "shown": ("LOCK", "FAILED")}
        released = {"action": "UPDATE", "shown": ("UNLOCK", "COMPLETE")}
        born = {"action": "INIT", "shown": ("INIT", "COMPLETE")}
        going = {"action": "DELETE", "shown": ("DELETE", "FAILED")}
        cases = (
            ("LOCK", there, "ACT"),
            ("LOCK", {**there, "claimed": True}, "WAIT"),
            ("LOCK", born, "NOTHING"),
            ("LOCK", going, "NOTHING"),
            ("LOCK", {**there, "living": False}, "NOTHING"),
            ("LOCK", {**there, "has_object": False}, "NOTHING"),
            ("LOCK", {**there, "external": True}, "NOTHING"),
            ("LOCK", {**locked, "held": True}, "NOTHING"),
            ("LOCK", locked, "ACT"),
            ("LOCK", {**failed, "held": True}, "ACT"),
            ("LOCK", released, "ACT"),
            ("UNLOCK", there, "NOTHING"),
            ("UNLOCK", {**locked, "claimed": True}, "WAIT"),
            ("UNLOCK", {**locked, "held": True}, "ACT"),
            ("UNLOCK", {**there, "held": True}, "ACT"),
            ("UNLOCK", {**failed, "held": True}, "ACT"),
            ("UNLOCK", failed, "ACT"),
            ("UNLOCK", born, "NOTHING"),
            ("UNLOCK", {**locked, "has_object": False}, "NOTHING"),
        )
        for wanted, facts, step in cases:
            with self.subTest(wanted=wanted, **facts):
                found, _why = decide.lock_step(
                    decide.LockFacts(wanted, **facts)
                )
                self.assertEqual(step, found.name)

    def test_what_is_retained_is_released(self):
        for locked, step in ((True, "RELEASE"), (False, "FORGET")):
            facts = decide.CleanupFacts(
                "CREATE",
                "COMPLETE",
                deletion_policy="retain",
                locked=locked,
            )
            self.assertEqual(step, decide.cleanup_step(facts)[0].name)
