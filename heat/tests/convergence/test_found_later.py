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
"""Bugs that the simulation found later, each as a story."""

from __future__ import annotations

from heat.engine.stack import actions
from heat.tests.convergence.test_found import Story
from heat.tests.convergence.test_stories import res


class ValueTest(Story):
    """A value has an id and no object. A user calls one of his objects by
    that id, and wants the value again."""

    VALUE = {"type": "OS::Heat::Value", "properties": {"value": "v"}}

    def setUp(self):
        super().setUp()
        self.enter()
        self.create({"a": self.VALUE}, disable_rollback=False)
        self.rest("CREATE_COMPLETE", 0)
        [row] = self.world.watch._living_rows(self.stack_id)
        self.ident = row[4]

    def renamed(self):
        """The user's object is there, and the update goes on for long."""
        theirs = {**res("x"), "external_id": self.ident}
        self.update({"b": theirs, "c": res(wait_secs=30, depends_on="b")})
        self.until("b", "CHECK", "COMPLETE")
        self.until("c", "CREATE", "IN_PROGRESS")

    def cancel(self, rollback):
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: actions.cancel(
                engine, self.world.context, stack, rollback=rollback
            )
        )

    def assertUsers(self):
        """Nothing is the stack's, and the one object is the user's."""
        found = self.world.watch._rows("SELECT id, stack_id FROM test_object")
        self.assertEqual([(self.ident, "user")], found)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_what_a_value_is_handed_back_stays_the_users(self):
        """It gets its row back; nobody has made an object for it."""
        self.renamed()
        self.cancel(rollback=True)
        self.rest("ROLLBACK_COMPLETE", 0)
        self.assertUsers()

    def test_what_a_value_has_is_let_go(self):
        """Heat owned it in between, under the other name."""
        self.renamed()
        self.cancel(rollback=False)
        self.rest("UPDATE_FAILED", 1)
        slow = res(wait_secs=30, depends_on="b")
        self.update({"b": res("x"), "d": slow})
        self.until("d", "CREATE", "IN_PROGRESS")
        self.assertIn(self.ident, self.world.watch.objects(self.stack_id))
        self.cancel(rollback=True)
        self.rest("ROLLBACK_COMPLETE", 0)
        self.assertUsers()


class WrongWhenKnownTest(Story):
    """A value is found wrong only when what it is read from is there: an
    attribute that is a map, where the property is a text.

    What the operation began with can't be recorded then; that it failed can.
    """

    WRONG = res({"get_attr": ["a"]})

    def reason(self):
        [reason] = self.world.watch._rows(
            "SELECT status_reason FROM resource"
            " WHERE name = 'b' AND status = 'FAILED'"
        )
        self.assertIn("Value must be a string", reason[0])

    def test_create(self):
        self.enter()
        self.create({"a": res(), "b": self.WRONG})
        self.rest("CREATE_FAILED", 1)
        self.reason()
        self.update({"a": res(), "b": res()})
        self.rest("UPDATE_COMPLETE", 2)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_update(self):
        self.enter()
        self.create({"a": res(), "b": res()})
        self.rest("CREATE_COMPLETE", 2)
        self.update({"a": res(), "b": self.WRONG})
        self.rest("UPDATE_FAILED", 2)
        self.reason()
        self.update({"a": res(), "b": res("w")})
        self.rest("UPDATE_COMPLETE", 2)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_rolled_back(self):
        self.enter()
        self.create({"a": res()}, disable_rollback=False)
        self.rest("CREATE_COMPLETE", 1)
        self.update({"a": res(), "b": self.WRONG})
        self.rest("ROLLBACK_COMPLETE", 1)


class SentWhileItBeginsTest(Story):
    """An update that has begun is sent nodes of which it knows the end.

    That happens when another traversal of the stack, in the same engine,
    notices in between that it was superseded.
    """

    def test_each_is_told_of_once(self):
        self.enter()
        self.create({"a": res(), "b": res("x", depends_on="a")})
        self.rest("CREATE_COMPLETE", 2)
        [engine] = self.world.engines
        keep = engine.keep

        def sent_first(scene, claimed, ended):
            nodes = [each.node.key for each in ended]
            self.assertTrue(nodes)
            traversal = scene.traversal.traversal_id
            engine.take(scene.context, scene.stack.id, traversal, nodes)
            keep(scene, claimed, ended)

        engine.keep = sent_first
        self.update({"a": res(), "b": res("y", depends_on="a")})
        self.rest("UPDATE_COMPLETE", 2)
