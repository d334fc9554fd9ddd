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
"""Edge cases of replacement that need several things to come together."""

from __future__ import annotations

from unittest import mock

from heat.common import exception
from heat.db import resource_data, signals
from heat.engine.resources.openstack.heat import test_resource
from heat.tests.convergence import prepared
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res


class EdgeTest(StoryTest):
    def test_a_signal_comes_while_it_is_replaced(self):
        """Only atomic_key has moved: nobody else has taken the row."""
        self.world.plugins.add("Test::Picky", prepared.PickyResource)

        def picky(value):
            wish = res(value)
            return {**wish, "type": "Test::Picky"}

        stack = self.world.create(
            hot({"a": picky("one"), "b": res(attr("a"))})
        )
        self.world.run()
        [old] = [row for row in self.world.rows(stack) if row.name == "a"]
        engine, told = self.world.engines[0], []

        def probe(point):
            if point == "finishing" and not told:
                told.append(point)
                self.world.db.run(self.signal(old.id))

        self.world.update(
            stack, hot({"a": picky("replace two"), "b": res(attr("a"))})
        )
        engine.probe = probe
        self.world.run()
        self.assertEqual(["finishing"], told)
        self.assertState("UPDATE_COMPLETE", stack)
        rows = self.world.rows(stack)
        self.assertEqual({"a", "b"}, {row.name for row in rows})
        self.assertEqual(2, len(rows))
        new = self.world.living(stack)["a"]
        self.assertNotEqual(old.physical_id, new.physical_id)

    @staticmethod
    def signal(row_id):
        def work(conn):
            signals.hold(conn, row_id)
            told = signals.Change({"metadata": {"told": 1}}, {})
            signals.write(conn, row_id, told)

        return work

    def test_an_attribute_that_could_not_be_read_is_read_again(self):
        """The next update asks, and tells who depends on it."""
        template = hot({"a": res("x"), "b": res(attr("a"))})
        with mock.patch.object(
            test_resource.TestResource,
            "_resolve_attribute",
            side_effect=exception.Error("its service is away"),
        ):
            stack = self.world.create(template)
            self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertNotEqual("x", self.value_of(stack, "b"))
        self.world.update(stack, template)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("x", self.value_of(stack, "b"))

    def value_of(self, stack, name):
        row = self.world.living(stack)[name]
        data = self.world.db.read(
            lambda conn: resource_data.get_many(conn, [row.id])
        )
        return data[row.id].get("value", "")

    def test_inverted_and_interrupted_before_the_clean_up(self):
        """Old and new versions require each other crosswise; drawn
        carelessly the third update, or the delete, has a cycle."""

        def one(value):
            return res(
                value,
                update_replace=True,
                action_wait_secs={"delete": 30},
            )

        stack = self.world.create(hot({"a": one("x"), "b": one(attr("a"))}))
        self.world.run()
        self.world.update(stack, hot({"b": one("y"), "a": one(attr("b"))}))
        self.world.run_until(lambda: self.is_cleaning(stack))
        self.assertState("UPDATE_IN_PROGRESS", stack)
        self.assertEqual(4, len(self.world.rows(stack)))
        self.world.update(stack, hot({"a": one("z"), "b": one(attr("a"))}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(2, len(self.world.rows(stack)))
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))

    def is_cleaning(self, stack):
        return any(
            (row.action, row.status) == ("DELETE", "IN_PROGRESS")
            for row in self.world.rows(stack)
        )
