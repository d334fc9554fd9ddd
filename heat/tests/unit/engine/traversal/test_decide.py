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
"""The decision tables, row by row."""

from __future__ import annotations

from heat.engine.resource.external import Move
from heat.engine.traversal import decide
from heat.engine.traversal.decide import (
    Change,
    CleanupFacts,
    Step,
    UpdateFacts,
    WalkFacts,
)
from heat.tests import base

DIFFERS = Change(needs_update=True, changed=("a",), because="a changed")
FORCES = Change(True, True, ("a",), "can't be changed in place: a")

UPDATES = [
    # (reason, facts, step)
    ("a held row waits", UpdateFacts("INIT", "COMPLETE", True), Step.WAIT),
    ("new", UpdateFacts("INIT", "COMPLETE"), Step.CREATE),
    (
        "new, to adopt",
        UpdateFacts("INIT", "COMPLETE", adopts=True),
        Step.TAKE,
    ),
    (
        "new, to adopt, the user's",
        UpdateFacts("INIT", "COMPLETE", adopts=True, move=Move.ADOPT),
        Step.ADOPT,
    ),
    ("being deleted", UpdateFacts("DELETE", "IN_PROGRESS"), Step.REPLACE),
    ("delete failed", UpdateFacts("DELETE", "FAILED"), Step.REPLACE),
    ("deleted", UpdateFacts("DELETE", "COMPLETE"), Step.REPLACE),
    (
        "another class",
        UpdateFacts("CREATE", "COMPLETE", same_class=False),
        Step.REPLACE,
    ),
    (
        "failed, not to be repaired",
        UpdateFacts("CREATE", "FAILED", change=FORCES),
        Step.REPLACE,
    ),
    (
        "interrupted while it was made, goes on",
        UpdateFacts("CREATE", "FAILED", change=FORCES, resumes=True),
        Step.RESUME,
    ),
    (
        "interrupted, and of another class now",
        UpdateFacts("CREATE", "FAILED", same_class=False, resumes=True),
        Step.REPLACE,
    ),
    (
        "interrupted, and becomes the user's",
        UpdateFacts("CREATE", "FAILED", move=Move.PASS, resumes=True),
        Step.OBSERVE,
    ),
    (
        "interrupted, and held again",
        UpdateFacts("CREATE", "FAILED", claimed=True, resumes=True),
        Step.WAIT,
    ),
    (
        "failed, to be repaired, though nothing differs",
        UpdateFacts("UPDATE", "FAILED", change=Change()),
        Step.UPDATE,
    ),
    (
        "a change that forces a replacement",
        UpdateFacts("CREATE", "COMPLETE", change=FORCES),
        Step.REPLACE,
    ),
    (
        "a change in place",
        UpdateFacts("CREATE", "COMPLETE", change=DIFFERS),
        Step.UPDATE,
    ),
    (
        "nothing differs",
        UpdateFacts("CREATE", "COMPLETE", change=Change()),
        Step.KEEP,
    ),
    (
        "what was interrupted is not complete",
        UpdateFacts("UPDATE", "IN_PROGRESS", change=Change()),
        Step.UPDATE,
    ),
    (
        "a new row for the user's object",
        UpdateFacts("INIT", "COMPLETE", move=Move.ADOPT),
        Step.ADOPT,
    ),
    (
        "another object of the user's",
        UpdateFacts("CHECK", "COMPLETE", move=Move.SWAP),
        Step.REPLACE,
    ),
    (
        "it has what is the user's under another name",
        UpdateFacts("CREATE", "COMPLETE", change=Change(), move=Move.PART),
        Step.REPLACE,
    ),
    (
        "another resource is handed the user's object that it has",
        UpdateFacts("CHECK", "FAILED", move=Move.LEAVE),
        Step.REPLACE,
    ),
    (
        "Heat's object becomes the user's, whatever differs",
        UpdateFacts("CREATE", "COMPLETE", change=FORCES, move=Move.PASS),
        Step.PASS,
    ),
    (
        "Heat's object, failed, becomes the user's: it is looked at",
        UpdateFacts("UPDATE", "FAILED", change=FORCES, move=Move.PASS),
        Step.OBSERVE,
    ),
    (
        "the user's object, unchanged",
        UpdateFacts("CHECK", "COMPLETE", change=FORCES, move=Move.STAY),
        Step.KEEP,
    ),
    (
        "the user's object, unhealthy: never replaced",
        UpdateFacts("CHECK", "FAILED", change=FORCES, move=Move.STAY),
        Step.OBSERVE,
    ),
    (
        "handed back: the operation weighs the differences",
        UpdateFacts("CHECK", "COMPLETE", change=FORCES, move=Move.HAND_BACK),
        Step.HAND_BACK,
    ),
    (
        "a resumed row is as good as any",
        UpdateFacts("RESUME", "COMPLETE", change=Change()),
        Step.KEEP,
    ),
]

CLEANUPS = [
    (
        "abandoned",
        CleanupFacts("CREATE", "COMPLETE", abandoned=True),
        Step.FORGET,
    ),
    (
        "abandoned, a stack",
        CleanupFacts(
            "CREATE",
            "FAILED",
            has_object=False,
            abandoned=True,
            nested=True,
            deletion_policy="retain",
        ),
        Step.DELETE,
    ),
    (
        "abandoned, never made",
        CleanupFacts("CREATE", "FAILED", has_object=False, abandoned=True),
        Step.DROP,
    ),
    (
        "abandoned, locked by us",
        CleanupFacts("LOCK", "FAILED", locked=True, abandoned=True),
        Step.RELEASE,
    ),
    ("held", CleanupFacts("CREATE", "COMPLETE", claimed=True), Step.WAIT),
    ("living", CleanupFacts("CREATE", "COMPLETE", living=True), Step.NOTHING),
    ("gone already", CleanupFacts("DELETE", "COMPLETE"), Step.NOTHING),
    (
        "never created",
        CleanupFacts("INIT", "COMPLETE", has_object=False),
        Step.DROP,
    ),
    (
        "external, and never found",
        CleanupFacts("ADOPT", "FAILED", external=True, has_object=False),
        Step.DROP,
    ),
    (
        "Heat's, and somebody else holds it as the user's",
        CleanupFacts("CREATE", "COMPLETE", readers=("a of stack b",)),
        Step.FORGET,
    ),
    (
        "an object of the user's, and things that we made for it",
        CleanupFacts("CHECK", "COMPLETE", external=True, beside=True),
        Step.RELEASE,
    ),
    (
        "the same, where somebody else says that it is",
        CleanupFacts("UPDATE", "COMPLETE", readers=("a",), beside=True),
        Step.RELEASE,
    ),
    (
        "things made for an object of ours go with it",
        CleanupFacts("UPDATE", "COMPLETE", beside=True),
        Step.DELETE,
    ),
    (
        "external, whatever the policy",
        CleanupFacts("CHECK", "COMPLETE", external=True),
        Step.FORGET,
    ),
    (
        "to be retained, but nobody knows what",
        CleanupFacts(
            "CREATE", "FAILED", has_object=False, deletion_policy="retain"
        ),
        Step.DELETE,
    ),
    (
        "retained",
        CleanupFacts("CREATE", "COMPLETE", deletion_policy="retain"),
        Step.FORGET,
    ),
    ("old", CleanupFacts("CREATE", "COMPLETE"), Step.DELETE),
    (
        "a failed create may have left something",
        CleanupFacts("CREATE", "FAILED", has_object=False),
        Step.DELETE,
    ),
    ("half deleted", CleanupFacts("DELETE", "FAILED"), Step.DELETE),
    (
        "snapshot first is a delete",
        CleanupFacts("CREATE", "COMPLETE", deletion_policy="snapshot"),
        Step.DELETE,
    ),
]


# action and state of the row, what the stack does, the step
WALKS = (
    ("CREATE FAILED", "CHECK", Step.REFUSE),
    ("UPDATE FAILED", "CHECK", Step.ACT),
    ("CHECK FAILED", "CHECK", Step.ACT),
    ("CREATE FAILED", "SUSPEND", Step.REFUSE),
    ("UPDATE FAILED", "SUSPEND", Step.ACT),
    ("CHECK FAILED", "SUSPEND", Step.REFUSE),
    ("SUSPEND FAILED", "SUSPEND", Step.ACT),
    ("RESUME FAILED", "SUSPEND", Step.ACT),
    ("SUSPEND COMPLETE", "SUSPEND", Step.NOTHING),
    ("CREATE COMPLETE", "SUSPEND", Step.ACT),
    ("INIT COMPLETE", "SUSPEND", Step.NOTHING),
    ("DELETE FAILED", "SUSPEND", Step.NOTHING),
    ("CREATE FAILED", "RESUME", Step.NOTHING),
    ("CREATE COMPLETE", "RESUME", Step.NOTHING),
    ("SUSPEND COMPLETE", "RESUME", Step.ACT),
    ("SUSPEND FAILED", "RESUME", Step.ACT),
    ("RESUME COMPLETE", "RESUME", Step.NOTHING),
    ("CREATE FAILED", "SNAPSHOT", Step.NOTHING),
)


class DecideTest(base.TestCase):
    def test_update_steps(self):
        for reason, facts, step in UPDATES:
            with self.subTest(reason):
                self.assertIs(step, decide.update_step(facts)[0])

    def test_cleanup_steps(self):
        for reason, facts, step in CLEANUPS:
            with self.subTest(reason):
                self.assertIs(step, decide.cleanup_step(facts)[0])

    def test_walk_steps(self):
        for state, wanted, step in WALKS:
            with self.subTest(state=state, wanted=wanted):
                facts = WalkFacts(wanted, *state.split())
                self.assertIs(step, decide.walk_step(facts)[0])

    def test_what_is_the_users_does_not_stop_a_suspend(self):
        facts = WalkFacts("SUSPEND", "CHECK", "FAILED", external=True)
        self.assertIs(Step.ACT, decide.walk_step(facts)[0])

    def test_what_could_not_be_made_is_refused_without_an_object(self):
        facts = WalkFacts("CHECK", "CREATE", "FAILED", has_object=False)
        self.assertIs(Step.REFUSE, decide.walk_step(facts)[0])

    def test_a_replacement_says_why(self):
        facts = UpdateFacts("CREATE", "COMPLETE", change=FORCES)
        self.assertEqual(
            "can't be changed in place: a", decide.update_step(facts)[1]
        )
