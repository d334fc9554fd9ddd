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

"""A traversal's two ends: what is begun here is not read again, and the
transaction of the last node is the stack's as well."""

from __future__ import annotations

from unittest import mock

from heat.db import resources, stacks
from heat.engine.traversal import ahead, closing, turn
from heat.engine.traversal.scene import Scene
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res

TWO = hot({"a": res("x"), "b": res(attr("a"))})


class ClosingTest(StoryTest):
    def setUp(self):
        super().setUp()
        self.works = []
        run = self.world.db.run

        def counted(work):
            self.works.append(getattr(work, "func", work).__qualname__)
            return run(work)

        self.world.db.run = counted
        self.addCleanup(self.world.db.__dict__.pop, "run", None)

    def closes(self):
        return [name for name in self.works if name.startswith("close")]

    def test_the_last_node_ends_a_create(self):
        stack = self.world.create(TWO)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual([], self.closes())
        record = self.world.stack(stack)
        self.assertEqual(
            "Stack CREATE completed successfully", record.status_reason
        )
        self.assertEqual(
            record.raw_template_id, record.last_complete_template_id
        )

    def test_the_last_node_opens_the_clean_up(self):
        stack = self.world.create(hot({"a": res("x")}))
        self.world.run()
        before = self.physical(stack)
        self.world.update(stack, hot({"a": res("y", update_replace=True)}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(before["a"], self.physical(stack)["a"])
        self.assertEqual(1, len(self.world.rows(stack)))
        # Every message is a new look here, so the other half is by itself.
        self.assertEqual(1, len(self.closes()))

    def test_a_superseded_last_node_closes_nothing(self):
        """An update begins after the last node was looked ahead from."""
        stack = self.world.create(hot({"a": res("x")}))
        hold, held = closing.hold, []

        def late(conn, scene):
            if not held:
                held.append(
                    stacks.update(
                        conn, scene.stack.id, current_traversal="another"
                    )
                )
            return hold(conn, scene)

        with mock.patch.object(closing, "hold", late):
            self.world.run()
        self.assertEqual([True], held)
        record = self.world.stack(stack)
        self.assertState("CREATE_IN_PROGRESS", stack)
        self.assertIsNone(record.last_complete_template_id)

    def test_what_it_makes_ready_is_told_once(self):
        stack = self.world.create(hot({"a": res("x"), "b": res(), "c": res()}))
        self.world.run()
        ready, write = [], turn.write

        def written(*args, **kwargs):
            done = write(*args, **kwargs)
            ready.extend(done.ready)
            return done

        with mock.patch.object(turn, "write", written):
            self.world.update(stack, hot({"a": res("y")}))
            self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        # Those of b and c, and the one of the stack.
        self.assertEqual(3, len(ready))
        self.assertEqual(sorted(set(ready)), sorted(ready))

    def test_a_node_that_is_sent_twice_counts_once(self):
        """Though its row is gone, and nobody else can tell."""
        stack = self.world.create(
            hot({"a": res("x"), "b": res(), "c": res(depends_on="b")})
        )
        self.world.run()
        self.world.delete(stack)
        record = self.world.stack(stack)
        scene = self.world.db.read(
            lambda conn: Scene.load(
                conn, stack, record.current_traversal, self.world.context
            )
        )
        [a] = [row for row in self.world.rows(stack) if row.name == "a"]
        self.world.db.run(lambda conn: resources.delete_many(conn, [a.id]))
        engine, twice = self.world.engines[0], [(a.id, False)] * 2
        done = turn.run(engine, scene, turn.Work([], [], twice))
        self.assertEqual(1, len(done.results))

    def test_what_is_not_expected_is_closed_by_its_own_node(self):
        """The engine that finishes the last node knows not that it is."""
        stack = self.world.create(TWO)
        with mock.patch.object(ahead, "_all_done", return_value=False):
            self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(1, len(self.closes()))
