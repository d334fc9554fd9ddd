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

"""Schemas written as text."""

from __future__ import annotations

from heat.engine import constraints, support
from heat.engine.resource import notation
from heat.tests import base


class NotationTest(base.TestCase):
    def test_properties(self):
        table = notation.properties("""
            name string (update, len 1..255) -- What it is called;
                -- made up when left out.
            size integer (required, =3, range 1..None)
            routes list{* map{
                kind string (in ["a, b", "c"]) -- Kind.
                any map{* integer}
            }} (update, =[])
                -- Ways; two of them.
            old string (hidden, is some.thing); last boolean (immutable)
        """)
        self.assertEqual(["name", "size", "routes", "old", "last"], [*table])
        self.assertEqual(
            "What it is called; made up when left out.",
            table["name"].description,
        )
        self.assertTrue(table["name"].update_allowed)
        self.assertEqual(255, table["name"].constraints[0].max)
        self.assertEqual((3, True), (table["size"].default, True))
        element = table["routes"].schema[0]
        self.assertEqual(["kind", "any"], list(element.schema))
        self.assertEqual(
            ["a, b", "c"],
            list(element.schema["kind"].constraints[0].allowed),
        )
        self.assertEqual("Ways; two of them.", table["routes"].description)
        self.assertEqual(support.HIDDEN, table["old"].support_status.status)
        self.assertIsInstance(
            table["old"].constraints[0], constraints.CustomConstraint
        )
        self.assertTrue(table["last"].immutable)

    def test_attributes(self):
        table = notation.attributes("""
            subnets list -- Ids.
            status
            size integer
        """)
        self.assertEqual(
            [("List", "Ids."), (None, None), ("Integer", None)],
            [(each.type, each.description) for each in table.values()],
        )

    def test_not_understood(self):
        for text in (
            "name",
            "name strange",
            "name string (upd)",
            "name string (range 3)",
            "name map{a string",
            "name string }",
            "name string (=nothing)",
        ):
            with self.subTest(text):
                self.assertRaises(ValueError, notation.properties, text)
