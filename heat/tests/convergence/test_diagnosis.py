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
"""A traversal that can't go on is never left silently in progress."""

from __future__ import annotations

from unittest import mock

import sqlalchemy as sa

from heat.db import models, services
from heat.engine.traversal import diagnosis, recovery
from heat.tests import base
from heat.tests.convergence import world
from heat.tests.convergence.test_preview import hot, res


class DiagnosisTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)
        self.engine = self.world.engines[0]
        self.alive = {self.engine.engine_id}
        self.sweeper = recovery.Sweeper(
            self.engine, 20.0, living=lambda: self.alive
        )

    def execute(self, statement):
        self.world.db.run(lambda conn: conn.execute(statement))

    def report(self, stack):
        record = self.world.stack(stack)
        return self.world.db.read(
            lambda conn: diagnosis.report(conn, record, self.alive)
        )

    def chain(self, **args):
        return self.world.create(
            hot({"a": res("x"), "b": res("x", depends_on="a")}), **args
        )

    def sweep(self):
        self.sweeper.sweep()
        self.sweeper.sweep()
        self.world.run()

    def test_a_lost_message(self):
        stack = self.chain()
        self.world.bus.messages.clear()
        found = self.report(stack)
        self.assertEqual(("a (update)",), found.ready)
        self.assertIsNone(found.broken)
        self.assertTrue(found.stands_still)
        self.sweep()
        self.assertEqual("CREATE_COMPLETE", self.world.state(stack))

    def test_running_and_dead(self):
        stack = self.world.create(hot({"a": res("x", wait_secs=9)}))
        self.world.step()
        found = self.report(stack)
        self.assertEqual(["a"], [row.name for row in found.running])
        self.assertEqual(((), ()), (found.ready, found.dead))
        self.assertFalse(found.stands_still)
        self.alive = set()
        found = self.report(stack)
        self.assertEqual(["a"], [row.name for row in found.dead])
        self.assertTrue(found.stands_still)

    def test_all_sync_points_gone(self):
        stack = self.chain()
        self.execute(sa.delete(models.sync_point))
        self.assertIn("SyncPoints", self.report(stack).broken)
        self.sweep()
        self.assertEqual("CREATE_FAILED", self.world.state(stack))
        self.assertIn(
            "Stack CREATE can't go on: the records of its nodes",
            self.world.stack(stack).status_reason,
        )
        self.assertIn(("stack", "CREATE_FAILED"), self.world.events(stack))

    def test_superseded_since_it_was_read(self):
        stack = self.chain()
        creating = self.world.stack(stack)
        self.world.run()
        self.world.update(stack, hot({"a": res("y")}))
        standing = self.world.db.read(
            lambda conn: diagnosis.look(conn, creating)
        )
        self.assertFalse(standing.broken)

    def test_the_sweep_meets_a_create_that_just_ended(self):
        """The list of stacks in progress is older than what is looked at."""
        stack = self.chain()
        creating = self.world.stack(stack)
        self.world.run()
        with (
            mock.patch.object(
                recovery.stacks, "in_progress", return_value=[creating]
            ),
            self.assertNoLogs(recovery.LOG, "ERROR"),
        ):
            self.sweeper.sweep()
        self.assertEqual("CREATE_COMPLETE", self.world.state(stack))

    def test_one_sync_point_gone(self):
        stack = self.chain()
        rows = self.world.living(stack)
        self.execute(
            sa.delete(models.sync_point).where(
                models.sync_point.c.entity_id == str(rows["b"].id)
            )
        )
        self.assertIsNone(self.report(stack).broken)
        self.world.run()
        self.assertEqual("CREATE_IN_PROGRESS", self.world.state(stack))
        self.assertIn("SyncPoints", self.report(stack).broken)
        self.sweep()
        self.assertEqual("CREATE_FAILED", self.world.state(stack))
        self.assertIn(
            f"1 nodes (SyncPoints) are missing: {rows['b'].id} (update)",
            self.world.stack(stack).status_reason,
        )

    def test_a_row_gone(self):
        stack = self.chain()
        row = self.world.living(stack)["b"]
        self.execute(
            sa.delete(models.resource).where(models.resource.c.id == row.id)
        )
        self.world.run()
        self.assertEqual("CREATE_IN_PROGRESS", self.world.state(stack))
        self.sweep()
        self.assertEqual("CREATE_FAILED", self.world.state(stack))
        reason = self.world.stack(stack).status_reason
        self.assertIn(f"the record of resource b (row {row.id})", reason)
        # The next update makes it anew.
        self.world.update(stack, hot({"a": res("x"), "b": res("x")}))
        self.world.run()
        self.assertEqual("UPDATE_COMPLETE", self.world.state(stack))
        self.assertEqual({"a", "b"}, self.world.living(stack).keys())

    def test_it_rolls_back(self):
        stack = self.world.create(hot({"a": res("x")}), disable_rollback=False)
        self.world.run()
        self.world.update(stack, hot({"a": res("y")}), disable_rollback=False)
        self.execute(sa.delete(models.sync_point))
        self.sweep()
        self.assertEqual("ROLLBACK_COMPLETE", self.world.state(stack))

    def test_actions_of_other_makes_are_left_alone(self):
        stack = self.chain()
        self.world.run()
        self.execute(
            sa.update(models.stack).values(
                action="MIGRATE", status="IN_PROGRESS"
            )
        )
        self.sweep()
        self.assertEqual("MIGRATE_IN_PROGRESS", self.world.state(stack))

    def test_living_engines(self):
        self.world.db.run(
            lambda conn: services.register(
                conn,
                "e",
                host="h",
                hostname="h",
                binary="b",
                topic="t",
                report_interval=5,
            )
        )
        self.assertEqual({"e"}, recovery.living_engines(self.engine, 20))
