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

"""Connections of objects: a severed one is connected again in place."""

from __future__ import annotations

from heat.common import exception
from heat.engine.resource import drift, lifecycle, link, notation
from heat.tests import base
from heat.tests.unit.engine import stacks

THERE: set[str] = set()


class Cable(link.Link):
    properties_schema = notation.properties("to string (required, update)")

    def connect(self, properties):
        self.resource_id_set("id")
        THERE.add(properties["to"])

    def shown(self):
        if self.properties["to"] not in THERE:
            raise exception.EntityNotFound(entity="Cable", name="id")
        return {"to": self.properties["to"]}


class LinkTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(THERE.clear)

    def made(self, state=("CREATE", "COMPLETE"), physical_id="id"):
        given = {"to": "a"}
        return stacks.one(
            Cable,
            given,
            stored=given,
            state=state,
            physical_id=physical_id,
        )

    def test_made(self):
        rsrc = stacks.one(Cable, {"to": "a"})
        stacks.run(rsrc, "CREATE")
        self.assertEqual(({"a"}, "id"), (THERE, rsrc.resource_id))

    def test_failed_is_connected_again_in_place(self):
        for state in (("CHECK", "FAILED"), ("CREATE", "FAILED")):
            with self.subTest(state=state):
                THERE.clear()
                rsrc = self.made(state)
                verdict = lifecycle.verdict(rsrc)
                self.assertEqual(
                    (True, False),
                    (verdict.needs_update, verdict.needs_replace),
                )
                stacks.run(rsrc, "UPDATE")
                self.assertEqual({"a"}, THERE)

    def test_what_was_never_connected_is_replaced(self):
        rsrc = self.made(("CREATE", "FAILED"), physical_id=None)
        self.assertTrue(lifecycle.verdict(rsrc).needs_replace)

    def test_a_look_tells(self):
        rsrc = self.made()
        THERE.add("a")
        self.assertEqual(drift.Seen(), drift.look(rsrc))
        self.assertFalse(lifecycle.verdict(rsrc).needs_update)
        THERE.clear()
        self.assertEqual(drift.Seen(), drift.look(rsrc))
        verdict = lifecycle.verdict(rsrc)
        self.assertEqual(
            (True, False), (verdict.needs_update, verdict.needs_replace)
        )
        self.assertEqual("it is severed", verdict.because)

    def test_an_error_is_no_answer(self):
        class Broken(Cable):
            def shown(self):
                raise exception.Error("no answer")

        rsrc = stacks.one(Broken, {"to": "a"}, physical_id="id")
        self.assertRaises(exception.Error, rsrc.is_connected)
        self.assertRaises(exception.Error, drift.look, rsrc)
