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

"""Attributes: reading, keeping, selecting."""

from __future__ import annotations

from heat.engine import attributes
from heat.tests import base

A = attributes.Schema


class AttributesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.asked = []
        schema = {
            "kept": A("kept"),
            "fresh": A("fresh", cache_mode=A.CACHE_NONE, type=A.STRING),
        }
        self.attrs = attributes.Attributes("r", schema, self.resolve)

    def resolve(self, name):
        self.asked.append(name)
        return f"{name}-{len(self.asked)}"

    def test_cache_modes(self):
        for _i in range(2):
            self.assertEqual("kept-1", self.attrs["kept"])
        self.assertEqual("fresh-2", self.attrs["fresh"])
        self.assertEqual("fresh-3", self.attrs["fresh"])
        self.assertEqual({"kept": "kept-1"}, self.attrs.cached_attrs)
        self.assertTrue(self.attrs.has_new_cached_attrs())
        self.attrs.reset_resolved_values()
        self.assertFalse(self.attrs.has_new_cached_attrs())
        self.assertEqual("kept-4", self.attrs["kept"])

    def test_restored(self):
        self.attrs.cached_attrs = {"kept": "old"}
        self.assertEqual("old", self.attrs["kept"])
        self.assertFalse(self.attrs.has_new_cached_attrs())

    def test_unknown(self):
        self.assertRaises(KeyError, lambda: self.attrs["nothing"])
        self.assertNotIn("nothing", self.attrs)

    def test_public_form(self):
        self.assertEqual(
            {"description": "fresh", "type": "string"},
            dict(A("fresh", type=A.STRING)),
        )
        self.assertEqual(
            {"value": {"get_attr": ["r", "a"]}, "description": "d"},
            attributes.Attribute("a", "d").as_output("r", "hot"),
        )
        self.assertEqual(
            {"Value": {"Fn::GetAtt": ["r", "a"]}, "Description": "d"},
            attributes.Attribute("a", "d").as_output("r"),
        )

    def test_select(self):
        value = {"a": [{"b": 1}, "text"]}
        for path, found in (
            ((), value),
            (("a", 0, "b"), 1),
            (("a", "0", "b"), 1),
            (("a", 1), "text"),
            (("a", 1, "x"), None),
            (("a", 1, 0), "t"),
            (("a", 1, "3"), "t"),
            (("a", 1, 4), None),
            (("a", 1, 0, 0, "x"), None),
            (("a", 7), None),
            (("a", "x"), None),
            (("z", "x"), None),
        ):
            self.assertEqual(
                found, attributes.select_from_attribute(value, path), path
            )
