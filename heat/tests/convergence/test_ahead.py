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

"""What is decided ahead of the transaction that makes it ready."""

from __future__ import annotations

import contextlib
from unittest import mock

import sqlalchemy as sa

from heat.db import sync_points
from heat.engine.traversal import ahead, operate
from heat.engine.traversal.scene import Scene
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res

CHAIN = 12


def chain(value, length=CHAIN):
    """Resources of which each reads the one before."""
    return hot(
        {
            f"r{number:02}": res(
                attr(f"r{number - 1:02}") if number else value
            )
            for number in range(length)
        }
    )


class AheadTest(StoryTest):
    @contextlib.contextmanager
    def commits(self):
        """The writing transactions of the world, by what they begin with."""
        made, run = [], self.world.db.run

        def counted(work):
            made.append(getattr(work, "func", work).__qualname__)
            return run(work)

        self.world.db.run = counted
        try:
            yield made
        finally:
            del self.world.db.run

    def test_a_chain_is_made_with_one_commit_a_node(self):
        stack = self.world.create(chain("a"))
        with self.commits() as made:
            self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        turns = len([name for name in made if "finish" in name])
        self.assertEqual(CHAIN, turns, made)
        # The first is claimed alone, as nothing ends before it.
        claims = [name for name in made if name.startswith("_claim")]
        self.assertEqual(1, len(claims), made)

    def test_unchanged_nodes_share_a_commit(self):
        stack = self.world.create(chain("a"))
        self.world.run()
        before = self.physical(stack)
        with self.commits() as made:
            self.world.update(stack, chain("a"))
            self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        self.assertLess(len(made), CHAIN // 2, made)

    def test_a_change_reaches_the_end_of_the_chain(self):
        stack = self.world.create(chain("a"))
        self.world.run()
        before = self.physical(stack)
        self.world.update(stack, chain("b"))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.physical(stack))
        rows = self.world.living(stack)
        self.assertEqual(
            {("UPDATE", "COMPLETE")},
            {(row.action, row.status) for row in rows.values()},
        )

    def test_two_producers_bring_a_node_both_its_inputs(self):
        diamond = hot(
            {
                "a": res("x"),
                "b": res(attr("a")),
                "c": res(attr("a")),
                "d": res({"list_join": ["", [attr("b"), attr("c")]]}),
            }
        )
        stack = self.world.create(diamond)
        self.world.run()
        self.world.update(stack, diamond)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_what_was_undone_is_claimed_no_more(self):
        """The transaction that claims ahead is undone and done again, and an
        update has begun in between."""
        stack = self.world.create(chain("a", 2))
        run = self.world.db.run
        done = []

        def undone(work):
            finishes = "finish" in getattr(work, "func", work).__qualname__
            if done or not finishes:
                return run(work)
            done.append(True)

            def fail(conn):
                work(conn)
                raise ZeroDivisionError

            self.assertRaises(ZeroDivisionError, run, fail)
            self.world.update(stack, hot({"r00": res("a")}))
            return run(work)

        self.world.db.run = undone
        self.addCleanup(self.world.db.__dict__.pop, "run", None)
        begun, advance = [], operate.advance

        def seen(engine, scene, task, **how):
            begun.append(task.node.row.name)
            return advance(engine, scene, task, **how)

        with mock.patch.object(operate, "advance", seen):
            self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotIn("r01", begun)

    def test_what_was_not_as_expected_is_taken_up_later(self):
        """Somebody marks a node that is about to be passed along."""
        stack = self.world.create(chain("a", 3))
        self.world.run()
        self.world.update(stack, chain("a", 3))
        traversal = sync_points.Traversal(
            stack, self.world.stack(stack).current_traversal
        )
        rows = self.world.living(stack)
        run = self.world.db.run
        cut = []

        def meddled(work):
            if not cut:
                cut.append(True)
                key = (rows["r01"].id, True)
                run(lambda conn: self._miss_one_more(conn, traversal, key))
            return run(work)

        self.world.db.run = meddled
        self.addCleanup(self.world.db.__dict__.pop, "run", None)
        self.world.run()
        self.assertState("UPDATE_IN_PROGRESS", stack)
        marks = self.world.db.read(
            lambda conn: sync_points.marks(conn, traversal)
        )
        self.assertEqual(
            [True, False, False],
            [marks[rows[f"r0{number}"].id, True] for number in range(3)],
        )

    def _miss_one_more(self, conn, traversal, key):
        missing = sa.text(
            "UPDATE sync_point SET remaining = remaining + 1 "
            "WHERE traversal_id = :traversal AND entity_id = :entity "
            "AND is_update"
        )
        conn.execute(
            missing,
            {"traversal": traversal.traversal_id, "entity": str(key[0])},
        )

    def test_what_others_have_done_stays_told_to_who_reads_it(self):
        """A node that another engine marked done is required all the same
        by an operation that was decided ahead."""
        stack = self.world.create(chain("a", 2))
        traversal = self.world.stack(stack).current_traversal
        scene = self.world.db.read(
            lambda conn: Scene.load(conn, stack, traversal, self.world.context)
        )
        first, second = sorted(row.id for row in self.world.rows(stack))
        reader = mock.Mock(node=mock.Mock(key=(second, True)))
        for claimed, required in (([reader], 99), ([], first)):
            scene.tell(first, 99, None, None)
            ahead.settle(scene, [(first, True)], [], claimed)
            self.assertEqual((required,), scene.required_rows(second))

    def test_a_failure_in_a_chain_stops_it(self):
        template = chain("a")
        template["resources"]["r05"] = res(attr("r04"), fail=True)
        stack = self.world.create(template)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        rows = self.world.living(stack)
        self.assertEqual("INIT", rows["r06"].action)

    def test_a_chain_is_deleted_from_its_end(self):
        stack = self.world.create(chain("a"))
        self.world.run()
        with self.commits() as made:
            self.world.delete(stack)
            self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertLess(len([n for n in made if "_claim" in n]), 3, made)
