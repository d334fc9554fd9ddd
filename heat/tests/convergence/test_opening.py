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

"""What an engine has at hand, and has begun, of what it began itself."""

from __future__ import annotations

from unittest import mock

import sqlalchemy as sa

from heat.db import models, resources
from heat.engine.traversal import recovery, runner
from heat.engine.traversal.scene import Scene
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res
from heat.tests.convergence.world import Keeper

TWO = hot({"a": res("x"), "b": res(attr("a"))})


class OpeningStory(StoryTest):
    def setUp(self):
        super().setUp()
        [self.engine] = self.world.engines
        self.engine.scenes = Keeper(self.world, self.engine)
        self.scenes = self.engine.scenes.scenes

    def held(self, stack):
        """What is claimed: its action by its name."""
        return {
            row.name: row.action
            for row in self.world.rows(stack)
            if row.claim_id is not None
        }

    def sent(self):
        """The names of the resources whose nodes are on the bus."""
        return {
            row.name
            for each in self.world.bus.messages
            for row in self.world.rows(each.stack_id)
            if row.id in {row_id for row_id, _half in each.nodes}
        }


class AtHandTest(OpeningStory):
    def test_a_create_that_was_begun_here_is_at_hand(self):
        self.assertAtHand(self.world.create(TWO))

    def test_an_update_that_was_begun_here_is_at_hand(self):
        """With what it keeps, adds and lets go, and the version before."""
        stack = self.world.create(TWO)
        self.world.run()
        before = self.world.stack(stack).raw_template_id
        self.world.update(stack, hot({"a": res("y"), "c": res(attr("a"))}))
        kept = self.assertAtHand(stack)
        with mock.patch("heat.db.templates.get") as read:
            had = kept.version(None, before)
        read.assert_not_called()
        self.assertEqual({"a", "b"}, set(had.resource_definitions))

    def test_an_update_in_place_reads_the_rows_once(self):
        stack = self.world.create(TWO)
        self.world.run()
        with mock.patch.object(
            resources, "list_for_stack", wraps=resources.list_for_stack
        ) as read:
            self.world.update(stack, hot({"a": res("y"), "b": res("z")}))
        self.assertEqual(1, read.call_count)
        self.assertAtHand(stack)

    def test_a_delete_that_was_begun_here_is_at_hand(self):
        stack = self.world.create(TWO)
        self.world.run()
        self.world.delete(stack)
        self.assertAtHand(stack)

    def assertAtHand(self, stack):
        """What is kept is what would be read; returns it."""
        record = self.world.stack(stack)
        with mock.patch.object(Scene, "load") as load:
            kept = self.scenes.get(
                stack, record.current_traversal, self.world.context
            )
        load.assert_not_called()
        read = self.world.db.read(
            lambda conn: Scene.load(
                conn, stack, record.current_traversal, self.world.context
            )
        )
        self.assertEqual(read.graph.to_json(), kept.graph.to_json())
        self.assertEqual(read.target_template_id, kept.target_template_id)
        self.assertEqual(
            read.definition.version_id, kept.definition.version_id
        )
        self.assertEqual(read.traversal, kept.traversal)
        for name in ("id", "name", "tenant", "action", "status", "timeout"):
            with self.subTest(name):
                self.assertEqual(
                    getattr(read.stack, name), getattr(kept.stack, name)
                )
        rows = {row.id: row for row in self.world.rows(stack)}
        for node in kept.preloaded.values():
            with self.subTest(node.row.name):
                self.assertEqual(rows[node.row.id], node.row)
        return kept


class TakenUpTest(OpeningStory):
    """What is ready is claimed in the transaction that begins."""

    def test_a_create_begins_with_what_waits_for_nothing(self):
        stack = self.world.create(TWO)
        self.assertEqual({"a": "CREATE"}, self.held(stack))
        self.assertEqual([], self.world.bus.messages)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(2, len(self.world.objects()))

    def test_an_update_passes_over_what_has_not_changed(self):
        stack = self.world.create(hot({"a": res("x"), "b": res("x")}))
        self.world.run()
        self.world.update(stack, hot({"a": res("x"), "b": res("y")}))
        self.assertEqual({"b": "UPDATE"}, self.held(stack))
        self.assertEqual([], self.world.bus.messages)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_what_is_replaced_goes_the_usual_way(self):
        stack = self.world.create(hot({"a": res("x")}))
        self.world.run()
        before = self.world.objects()
        self.world.update(stack, hot({"a": res("y", update_replace=True)}))
        self.assertEqual({}, self.held(stack))
        self.assertEqual({"a"}, self.sent())
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(1, len(self.world.objects()))
        self.assertNotEqual(before, self.world.objects())

    def test_a_delete_begins_with_what_nothing_hangs_on(self):
        stack = self.world.create(TWO)
        self.world.run()
        self.world.delete(stack)
        self.assertEqual({"b": "DELETE"}, self.held(stack))
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual(set(), self.world.objects())

    def test_what_others_hold_is_left_alone(self):
        """A delete while the create runs: that gives way first."""
        stack = self.world.create(hot({"a": res("x")}))
        [a] = self.world.rows(stack)
        self.world.delete(stack)
        [still] = self.world.rows(stack)
        self.assertEqual(a.claim_id, still.claim_id)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual(set(), self.world.objects())

    def test_what_waits_for_a_hook_is_left_alone(self):
        params = {
            "resource_registry": {"resources": {"a": {"hooks": "pre-create"}}}
        }
        stack = self.world.create(hot({"a": res("x")}), params)
        self.assertEqual({}, self.held(stack))
        self.assertEqual({"a"}, self.sent())

    def test_the_users_object_is_left_alone(self):
        made = self.world.create(hot({"a": res("x")}), name="other")
        self.world.run()
        [theirs] = [row.physical_id for row in self.world.rows(made)]
        stack = self.world.create(hot({"a": {**res(), "external_id": theirs}}))
        self.assertEqual({}, self.held(stack))
        self.assertEqual({"a"}, self.sent())

    def test_what_cannot_be_read_does_not_keep_it_from_beginning(self):
        """Sealed with a key that is not there any more."""
        stack = self.world.create(hot({"a": res("x")}))
        self.world.run()
        [a] = self.world.rows(stack)
        self.world.db.run(
            lambda conn: conn.execute(
                sa.insert(models.resource_data).values(
                    resource_id=a.id,
                    key="k",
                    value="sealed by others",
                    redact=True,
                    decrypt_method="cryptography_decrypt_v1",
                )
            )
        )
        self.world.delete(stack)
        self.assertState("DELETE_IN_PROGRESS", stack)
        self.assertEqual({}, self.held(stack))
        self.assertEqual({"a"}, self.sent())

    def test_an_engine_that_dies_with_what_it_began(self):
        stack = self.world.create(TWO)
        self.world.take_claimed()
        self.assertEqual(1, recovery.hand_over(self.engine))
        self.world.run()
        self.world.update(stack, TWO)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(2, len(self.world.objects()))

    def test_a_commit_whose_answer_got_lost(self):
        """It is known again by its traversal, and so is what it claimed."""
        run = self.world.db.run

        def twice(work):
            def both(conn):
                return work(conn)

            run(both)
            return run(both)

        with mock.patch.object(self.world.db, "run", twice):
            stack = self.world.create(TWO)
        self.assertEqual({"a": "CREATE"}, self.held(stack))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)


class LaneTest(OpeningStory):
    def test_what_was_read_meanwhile_is_not_forgotten(self):
        """A node of the traversal was worked on before the one that began
        it came to hand it on: what that has told stays."""
        stack = self.world.create(TWO)
        record = self.world.stack(stack)
        [(_engine, begun, claimed)] = self.world.take_claimed()
        known = self.world.db.read(
            lambda conn: Scene.load(
                conn, stack, record.current_traversal, self.world.context
            )
        )
        work = runner.Runner(self.engine, 1)
        self.addCleanup(work.stop, 0.0)
        lane = work._lane(self.world.context, stack, record.current_traversal)
        lane.scene, lane.pumping = known, True
        work.keep(begun, claimed, [])
        self.assertIs(known, lane.scene)
        self.assertEqual(claimed, lane.claimed)
        lane.pumping = False
