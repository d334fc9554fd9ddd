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

"""What of a definition is known, and what isn't."""

from __future__ import annotations

from heat.engine import rsrc_defn
from heat.engine.definition import NodeData
from heat.engine.stack import unknown
from heat.engine.stack.unknown import MISSING
from heat.tests import base
from heat.tests.unit.engine import stacks


class SettleTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.stack = stacks.view(
            {"new": {"type": "T"}, "old": {"type": "T"}}
        ).definition
        self.stack.set_node("new", unknown.UnknownData("new"))
        self.stack.set_node("old", NodeData(1, "", "id", {}, "CREATE", ""))

    def parse(self, snippet):
        return self.stack.t.parse(self.stack, snippet, "here")

    def settle(self, snippet, old=MISSING):
        sources = []
        return unknown.settle(self.parse(snippet), old, sources), sources

    def test_values(self):
        new = {"get_attr": ["new", "a"]}
        for snippet, old, wanted, sources in (
            ("x", "y", "x", []),
            ({"get_resource": "old"}, "y", "id", []),
            ({"get_resource": "new"}, "y", "y", ["new"]),
            (new, MISSING, MISSING, ["new"]),
            ({"list_join": ["", ["p", new]]}, "y", "y", ["new"]),
            # Leaf by leaf: what is known counts.
            ({"k": new, "l": 2}, {"k": 1, "l": 1}, {"k": 1, "l": 2}, ["new"]),
            ({"k": new, "l": 2}, "text", {"l": 2}, ["new"]),
            ([new, new, 3], [1], [1, None, 3], ["new"]),
            ([new], MISSING, [None], ["new"]),
            (
                {"k": [{"m": new}]},
                {"k": [{"m": 5}]},
                {"k": [{"m": 5}]},
                ["new"],
            ),
        ):
            with self.subTest(snippet=snippet, old=old):
                self.assertEqual((wanted, sources), self.settle(snippet, old))

    def test_the_reference_may_stay(self):
        self.stack.set_node("new", unknown.UnknownData("new", "same"))
        self.assertEqual(
            ("same", []), self.settle({"get_resource": "new"}, "y")
        )
        self.assertEqual(
            ("y", ["new"]), self.settle({"get_attr": ["new", "a"]}, "y")
        )

    def test_definition(self):
        wish = rsrc_defn.ResourceDefinition(
            "r",
            "T",
            self.parse({"a": {"get_attr": ["new", "x"]}, "b": 1}),
            self.parse({"m": {"get_resource": "new"}}),
        )
        settled = unknown.settle_definition(wish, {"a": 5, "b": 0}, {"m": "i"})
        self.assertEqual({"a"}, settled.unknown)
        self.assertTrue(settled.elsewhere)
        self.assertEqual(("new",), settled.sources)
        self.assertEqual(
            {"a": 5, "b": 1}, settled.definition.section("properties")
        )
        self.assertEqual({"m": "i"}, settled.definition.metadata())
        # The original is as it was.
        self.assertRaises(unknown.Unknown, wish.metadata)

    def test_nothing_unknown_is_the_same_definition(self):
        wish = rsrc_defn.ResourceDefinition("r", "T", {"a": 1})
        settled = unknown.settle_definition(wish, {}, {})
        self.assertIs(wish, settled.definition)
        self.assertEqual(frozenset(), settled.unknown)
