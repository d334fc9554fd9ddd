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

"""Stories of stacks whose time is over, seen by the timer and nobody else."""

from __future__ import annotations

import datetime
from unittest import mock

from oslo_utils import timeutils

from heat.engine.traversal import outcome, recovery
from heat.tests import base
from heat.tests.convergence import world
from heat.tests.convergence.test_preview import hot, res

HOOK = {"resource_registry": {"resources": {"b": {"hooks": "pre-create"}}}}
TWO = {"a": res("one"), "b": res("two", depends_on="a")}


class TimeoutTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)
        self.engine = self.world.engines[0]
        self.late = datetime.timedelta(0)
        real = timeutils.utcnow
        self.enterContext(
            mock.patch.object(
                timeutils, "utcnow", lambda *args: real(*args) + self.late
            )
        )
        self.sweeper = recovery.Sweeper(
            self.engine, 20.0, living=lambda: {self.engine.engine_id}
        )

    def look_after(self, seconds):
        self.late += datetime.timedelta(seconds=seconds)
        self.sweeper.sweep()
        self.world.run()

    def values(self, stack):
        rows = self.world.living(stack).values()
        return sorted(row.physical_id for row in rows if row.physical_id)

    def test_nothing_runs_and_the_time_is_over(self):
        stack = self.world.create(hot(TWO), HOOK, timeout_mins=2)
        self.world.run()
        self.look_after(110)
        self.assertEqual("CREATE_IN_PROGRESS", self.world.state(stack))
        self.look_after(20)
        self.assertEqual("CREATE_FAILED", self.world.state(stack))
        self.assertEqual(
            "Stack CREATE timed out", self.world.stack(stack).status_reason
        )
        self.assertEqual(1, len(self.values(stack)))
        self.world.delete(stack)
        self.world.run()
        self.assertEqual("DELETE_COMPLETE", self.world.state(stack))

    def test_what_was_made_is_rolled_back(self):
        stack = self.world.create(
            hot(TWO), HOOK, timeout_mins=2, disable_rollback=False
        )
        self.world.run()
        self.look_after(130)
        self.assertEqual("ROLLBACK_COMPLETE", self.world.state(stack))
        self.assertEqual([], self.world.rows(stack))
        told = [
            event for event in self.world.events(stack) if event[0] == "stack"
        ]
        self.assertEqual(
            [
                ("stack", "CREATE_IN_PROGRESS"),
                ("stack", "CREATE_FAILED"),
                ("stack", "ROLLBACK_IN_PROGRESS"),
                ("stack", "ROLLBACK_COMPLETE"),
            ],
            told,
        )

    def test_the_rollback_has_time_of_its_own(self):
        stack = self.world.create(hot({"a": TWO["a"]}))
        self.world.run()
        before = self.values(stack)
        self.world.update(
            stack, hot(TWO), HOOK, timeout_mins=2, disable_rollback=False
        )
        self.world.run()
        self.look_after(130)
        self.assertEqual("ROLLBACK_COMPLETE", self.world.state(stack))
        self.assertEqual(before, self.values(stack))

    def slow_to_go(self):
        """A stack whose object takes more than a day to go."""
        slow = res(
            "one",
            update_replace_value="1",
            action_wait_secs={"delete": 100000},
        )
        stack = self.world.create(hot({"a": slow}))
        self.world.run()
        return stack

    def cleaning_up(self, **args):
        """A stack whose old object takes an hour to go."""
        stack = self.slow_to_go()
        args = {"disable_rollback": False, "timeout_mins": 2, **args}
        self.world.update(
            stack, hot({"a": res("two", update_replace_value="2")}), **args
        )
        self.world.run_until(
            lambda: "cleaning up" in self.world.stack(stack).status_reason
        )
        return stack

    def test_a_timeout_of_the_clean_up_rolls_nothing_back(self):
        stack = self.cleaning_up()
        wanted = self.world.stack(stack).raw_template_id
        self.late += datetime.timedelta(seconds=130)
        self.sweeper.sweep()
        found = self.world.stack(stack)
        self.assertEqual("UPDATE_FAILED", self.world.state(stack))
        self.assertEqual("Stack UPDATE timed out", found.status_reason)
        self.assertEqual(wanted, found.last_complete_template_id)
        self.assertEqual(wanted, found.raw_template_id)

    def test_the_update_half_ends_as_its_time_does(self):
        """What the timer has read is old by the time that it acts."""
        stack = self.slow_to_go()
        self.world.update(
            stack,
            hot({"a": res("two", update_replace_value="2")}),
            disable_rollback=False,
            timeout_mins=2,
        )
        as_read = self.world.stack(stack)
        self.world.run_until(
            lambda: "cleaning up" in self.world.stack(stack).status_reason
        )
        self.assertIsNone(outcome.time_out(self.engine, as_read))
        found = self.world.stack(stack)
        self.assertEqual("UPDATE_FAILED", self.world.state(stack))
        self.assertEqual(
            found.raw_template_id, found.last_complete_template_id
        )
