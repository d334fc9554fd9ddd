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
"""Stack definitions: what depends on what."""

from __future__ import annotations

from heat.common import exception
from heat.engine import definition, function
from heat.engine.graph import dag
from heat.tests import base
from heat.tests.unit.engine.template import stacks

_TEXT = """
parameters:
  p: {type: string, default: out}
resources:
  a: {type: T}
  b:
    type: T
    depends_on: a
    properties:
      x: {get_attr: [a, {get_param: p}, 0, {get_attr: [c, key]}]}
  c:
    type: T
    metadata: {m: {get_resource: a}}
  d: {type: T, condition: false, properties: {x: {get_attr: [a, no]}}}
  e:
    type: T
    depends_on: [d, c]
    properties:
      y: {list_join: [",", [{get_attr: [b, k]}, {get_resource: d}]]}
outputs:
  o: {value: {get_attr: [e]}}
  p: {value: {get_attr: [b, z]}}
"""


class DependencyTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.made = stacks.stack(_TEXT)

    def test_dependencies(self):
        self.assertEqual(
            {
                "a": frozenset(),
                "b": frozenset("ac"),
                "c": frozenset("a"),
                "e": frozenset("bc"),
            },
            self.made.dependencies(),
        )
        order = dag.Graph(self.made.dependencies()).topological()
        self.assertEqual(list("acbe"), order)

    def test_attributes(self):
        self.assertEqual(
            {
                "a": {("out", "0")},
                "b": {("k",), ("z",)},
                "c": {("key",)},
                "d": set(),
                "e": {function.ALL_ATTRIBUTES},
            },
            {n: set(self.made.referenced_attributes(n)) for n in "abcde"},
        )

    def test_places_of_attributes(self):
        self.assertEqual(
            [
                ("a", ("out", "0"), "resources.b.properties.x.get_attr"),
                (
                    "c",
                    ("key",),
                    "resources.b.properties.x.get_attr[3].get_attr",
                ),
                (
                    "b",
                    ("k",),
                    "resources.e.properties.y.list_join[1][0].get_attr",
                ),
                ("e", ("*",), "outputs.o.value.get_attr"),
                ("b", ("z",), "outputs.p.value.get_attr"),
            ],
            list(self.made.attribute_references()),
        )

    def test_old_versions_ask_for_whole_attributes(self):
        made = stacks.stack(
            "resources:\n  a: {type: T}\n"
            "  b: {type: T, properties: {x: {get_attr: [a, k, 0]}}}",
            "2013-05-23",
        )
        self.assertEqual({("k",)}, made.referenced_attributes("a"))

    def test_definitions_know_their_share(self):
        defn = self.made.resource_definitions["b"]
        self.assertEqual(frozenset("ac"), defn.required_resource_names())
        self.assertEqual({("out", "0")}, defn.dep_attrs("a"))
        out = self.made.outputs["p"]
        self.assertEqual(frozenset("b"), out.required_resource_names())
        self.assertEqual({("z",)}, out.dep_attrs("b"))

    def test_circular(self):
        made = stacks.stack(
            "resources:\n  a: {type: T, depends_on: b}\n"
            "  b: {type: T, depends_on: a}"
        )
        cycle = dag.Graph(made.dependencies()).find_cycle()
        exc = definition.circular(cycle)
        self.assertIsInstance(exc, exception.CircularDependencyException)
        self.assertIn("a -> b -> a", str(exc))


class NodeTest(base.TestCase):
    """Values are None, or names, until resources are there."""

    def test_before_and_after(self):
        made = stacks.stack(
            "resources: {a: {type: T}}\n"
            "outputs:\n"
            "  r: {value: {get_resource: a}}\n"
            "  v: {value: {get_attr: [a, k, x]}}\n"
        )

        def values():
            return [out.get_value() for out in made.outputs.values()]

        self.assertEqual(["a", None], values())
        made.set_node(
            "a",
            definition.NodeData(1, "u", None, {("k",): {"x": 5}}, "C", "C"),
        )
        self.assertEqual(["a", 5], values())
        made.set_node(
            "a",
            definition.NodeData(1, "u", "ref", {("k", "x"): 6}, "C", "C"),
        )
        self.assertEqual(["ref", 6], values())

    def test_the_rest_is_asked_for_once(self):
        def data(value):
            return definition.NodeData(1, "u", value, {}, "C", "C")

        asked = []

        def ask():
            asked.append(1)
            return {"a": data("other"), "b": data("B"), "c": data("C")}

        made = stacks.stack("resources: {a: {type: T}, b: {type: T}}")
        made.set_node("a", data("A"))
        made.set_node("b", None)
        made.tell_the_rest(ask)
        self.assertEqual("A", made.node("a").reference_id)
        self.assertIsNone(made.node("b"))
        self.assertEqual([], asked)
        self.assertEqual("C", made.node("c").reference_id)
        self.assertIsNone(made.node("d"))
        self.assertEqual({"a", "c"}, set(made.nodes()))
        self.assertEqual("A", made.node("a").reference_id)
        self.assertEqual([1], asked)


class OneDefinitionTest(base.TestCase):
    """One resource needs no other one parsed, and is the same then."""

    def test_as_among_all(self):
        whole, single = stacks.stack(_TEXT), stacks.stack(_TEXT)
        for name in ("a", "b", "d", "e", "none"):
            with self.subTest(name=name):
                expected = whole.resource_definitions.get(name)
                self.assertEqual(expected, single.resource_definition(name))
                self.assertEqual(expected, whole.resource_definition(name))
                self.assertIs(expected is not None, single.is_enabled(name))
        self.assertNotIn("resource_definitions", vars(single))

    def test_a_wrong_neighbour(self):
        made = stacks.stack("resources: {a: {type: T}, b: {type: 1}}")
        self.assertTrue(made.is_enabled("a"))
        self.assertEqual("T", made.resource_definition("a").resource_type)
        self.assertRaises(
            exception.StackValidationFailed, made.resource_definition, "b"
        )


class ResourceDefinitionTest(base.TestCase):
    def _one(self, text: str, **kwargs):
        made = stacks.stack(f"resources:\n  r: {{type: T, {text}}}", **kwargs)
        return made, made.resource_definitions["r"]

    def test_policies(self):
        for text, policy in (
            ("", "Delete"),
            ("deletion_policy: Retain", "Retain"),
            ("deletion_policy: snapshot", "Snapshot"),
            ("deletion_policy: {if: [true, retain]}", "Retain"),
            ("deletion_policy: {if: [false, Retain]}", "Delete"),
        ):
            with self.subTest(text=text):
                self.assertEqual(policy, self._one(text)[1].deletion_policy())

    def test_external_id(self):
        for text, value in (
            ("", None),
            ("external_id: abc", "abc"),
            ("external_id: {get_param: 'OS::stack_name'}", "name"),
        ):
            self.assertEqual(value, self._one(text)[1].external_id())

    def test_metadata_is_a_copy(self):
        _made, defn = self._one("metadata: {a: [1]}")
        defn.metadata()["a"].append(2)
        self.assertEqual({"a": [1]}, defn.metadata())

    def test_render_and_reparse(self):
        made, defn = self._one(
            "properties: {a: {get_param: 'OS::stack_name'}}, "
            "depends_on: [], metadata: {b: 1}, update_policy: {}, "
            "description: text"
        )
        again = defn.reparse(made, made.t)
        self.assertEqual(defn, again)
        self.assertEqual(
            {"a": {"get_param": "OS::stack_name"}},
            again.render_hot()["properties"],
        )

    def test_freeze(self):
        _made, defn = self._one(
            "properties: {a: {get_param: 'OS::stack_name'}, b: [c]}"
        )
        frozen = defn.freeze(metadata={"x": 1})
        self.assertEqual(
            {"a": "name", "b": ["c"]}, frozen.render_hot()["properties"]
        )
        self.assertEqual({"x": 1}, frozen.metadata())
        self.assertEqual("r", frozen.name)

    def test_diff(self):
        _made, old = self._one("properties: {a: 1}, metadata: {b: 1}")
        for text, names in (
            ("properties: {a: 1}, metadata: {b: 1}", []),
            ("properties: {a: 2}, metadata: {b: 1}", ["Properties"]),
            ("properties: {a: 1}", ["Metadata"]),
            (
                "properties: {a: 1}, metadata: {b: 1}, update_policy: {x: 1}",
                ["UpdatePolicy"],
            ),
            (
                "deletion_policy: retain",
                ["Properties", "Metadata", "DeletionPolicy"],
            ),
        ):
            with self.subTest(text=text):
                diff = old.Diff(old, self._one(text)[1])
                self.assertEqual(names, list(diff))
                self.assertEqual(bool(names), bool(diff))
                for name in names:
                    self.assertIn(name, diff)
                    diff[name]

    def test_properties_are_the_surface_class(self):
        from heat.engine import properties

        _made, defn = self._one("properties: {a: {list_join: ['', [x]]}}")
        schema = {"a": properties.Schema(properties.Schema.STRING)}
        self.assertEqual("x", defn.properties(schema)["a"])

    def test_properties_may_come_of_a_condition(self):
        _made, defn = self._one("properties: {if: [true, {a: 1}, {a: 2}]}")
        self.assertEqual({"a": 1}, defn.render_hot()["properties"])
