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
"""What resource types stand for."""

from __future__ import annotations

from heat.common import exception
from heat.engine.environment import registry
from heat.tests import base

_DATA = {
    "A::Alias": "B::Alias",
    "B::Alias": "OS::Nova::Server",
    "A::Same": "A::Same",
    "A::Stack": "http://example.com/my.yaml",
    "A::File": "file:///x/y.template",
    "A::Gone": None,
    "OS::Network*": "OS::Neutron*",
    "OS::Networking::Special": "OS::Heat::None",
    "OS::Old*": "x.yaml",
    "OS::Old::New*": None,
    "A::Loop1": "A::Loop2",
    "A::Loop2": "A::Loop1",
    "resources": {
        "r": {"OS::Nova::Server": "r.yaml"},
        "r_*": {"OS::Nova::Server": "glob.yaml"},
        "r_1*": {"OS::Nova::Server": "longer.yaml"},
        "b": {"base_url": "http://b/", "OS::Nova::Server": "b.yaml"},
    },
}


class ResolveTest(base.TestCase):
    # type, resource name, kind, name
    TABLE = (
        ("OS::Nova::Server", None, "class", "OS::Nova::Server"),
        ("A::Alias", None, "class", "OS::Nova::Server"),
        ("A::Same", None, "class", "A::Same"),
        ("A::Stack", None, "template", "http://example.com/my.yaml"),
        ("A::File", None, "template", "file:///x/y.template"),
        ("my.yaml", None, "template", "my.yaml"),
        ("http://x/y", None, "template", "http://x/y"),
        ("OS::Network::Port", None, "class", "OS::Neutron::Port"),
        ("OS::Networking::Special", None, "class", "OS::Heat::None"),
        ("OS::Old::Thing", None, "template", "x.yaml"),
        ("OS::Nova::Server", "r", "template", "r.yaml"),
        ("A::Alias", "r", "template", "r.yaml"),
        ("OS::Nova::Server", "r_2", "template", "glob.yaml"),
        ("OS::Nova::Server", "r_12", "template", "longer.yaml"),
        ("OS::Nova::Server", "s", "class", "OS::Nova::Server"),
        ("OS::Nova::Server", "b", "template", "http://b/b.yaml"),
    )

    def test_table(self):
        reg = registry.Registry(_DATA)
        for kind_of, name, kind, target in self.TABLE:
            with self.subTest(type=kind_of, name=name):
                self.assertEqual(
                    registry.Target(kind, target), reg.resolve(kind_of, name)
                )

    def test_unregistered(self):
        reg = registry.Registry(_DATA)
        for name in ("A::Gone", "OS::Old::New::X"):
            exc = self.assertRaises(
                exception.EntityNotFound, reg.resolve, name
            )
            self.assertIn(name, str(exc))

    def test_circle(self):
        exc = self.assertRaises(
            exception.StackValidationFailed,
            registry.Registry(_DATA).resolve,
            "A::Loop1",
        )
        self.assertIn("A::Loop1 -> A::Loop2 -> A::Loop1", str(exc))

    def test_growing_glob_ends(self):
        reg = registry.Registry({"OS::*": "OS::X::*"})
        self.assertRaises(
            exception.StackValidationFailed, reg.resolve, "OS::A"
        )

    def test_base_counts_last(self):
        common = registry.Registry({"A::B": "base.yaml", "C::D": "c.yaml"})
        reg = registry.Registry({"A::B": "own.yaml"}, base=common)
        self.assertEqual("own.yaml", reg.resolve("A::B").name)
        self.assertEqual("c.yaml", reg.resolve("C::D").name)
        self.assertNotIn("C::D", reg.as_dict())

    def test_templates(self):
        reg = registry.Registry(
            {
                "A": "x.yaml",
                "B": "C",
                "resources": {
                    "r": {"A": "y.yaml", "n": {"A": "x.yaml", "D": "z.yaml"}}
                },
            }
        )
        self.assertEqual(["x.yaml", "y.yaml", "z.yaml"], list(reg.templates()))


class ResourceTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.reg = registry.Registry(
            {
                "resources": {
                    "a": {"hooks": "pre-create"},
                    "b*": {
                        "hooks": ["pre-update", "post-create"],
                        "restricted_actions": ["replace"],
                    },
                    "b1": {"restricted_actions": "update"},
                }
            }
        )

    def test_hooks(self):
        for name, hook, there in (
            ("a", "pre-create", True),
            ("a", "pre-update", False),
            ("b7", "pre-update", True),
            ("b1", "post-create", True),
            ("c", "pre-create", False),
        ):
            self.assertEqual(there, self.reg.matches_hook(name, hook))
        self.assertEqual({"pre-update", "post-create"}, self.reg.hooks("b"))

    def test_what_any_resource_stops_at(self):
        for hook, there in (
            ("pre-create", True),
            ("post-create", True),
            ("pre-delete", False),
        ):
            self.assertEqual(there, self.reg.stops_at(hook), hook)
        below = {"resources": {"a": {"b": {"c": {"hooks": "pre-delete"}}}}}
        self.assertTrue(registry.Registry(below).stops_at("pre-delete"))
        based = registry.Registry({}, registry.Registry(below))
        self.assertTrue(based.stops_at("pre-delete"))
        self.assertFalse(based.child("a").child("x").stops_at("pre-create"))

    def test_several_entries_for_what_is_below(self):
        child = registry.Registry(
            {
                "resources": {
                    "*": {
                        "in": {
                            "hooks": "pre-create",
                            "restricted_actions": "update",
                            "base_url": "https://general",
                            "T": "t.yaml",
                            "U": "u.yaml",
                            "deep": {"hooks": "pre-update"},
                        },
                        "other": {"hooks": "pre-delete"},
                    },
                    "n": {
                        "in": {
                            "hooks": ["post-create", "pre-create"],
                            "base_url": "https://special",
                            "T": "t.yaml",
                            "deep": {"hooks": "post-update"},
                        }
                    },
                }
            }
        ).child("n")
        self.assertEqual({"pre-create", "post-create"}, child.hooks("in"))
        self.assertEqual({"update"}, child.restricted_actions("in"))
        self.assertEqual({"pre-delete"}, child.hooks("other"))
        self.assertEqual(
            ["https://special/t.yaml", "https://general/u.yaml"],
            [child.resolve(name, "in").name for name in ("T", "U")],
        )
        deep = child.child("in").hooks("deep")
        self.assertEqual({"pre-update", "post-update"}, deep)

    def test_remove_hook(self):
        self.reg.remove_hook("pre-create", "a")
        self.reg.remove_hook("pre-create", "nobody")
        self.assertFalse(self.reg.matches_hook("a", "pre-create"))

    def test_restricted_actions(self):
        self.assertEqual(set(), self.reg.restricted_actions("a"))
        self.assertEqual({"replace"}, self.reg.restricted_actions("b"))
        self.assertEqual(
            {"update", "replace"}, self.reg.restricted_actions("b1")
        )
