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
"""Environments and what they refuse."""

from __future__ import annotations

from heat.common import exception
from heat.engine.environment import environment
from heat.tests import base


class EnvironmentTest(base.TestCase):
    def test_empty(self):
        expected = {
            "parameters": {},
            "parameter_defaults": {},
            "resource_registry": {"resources": {}},
            "encrypted_param_names": [],
            "event_sinks": [],
        }
        for data in (None, {}):
            self.assertEqual(expected, environment.Environment(data).as_dict())

    def test_comes_back(self):
        data = {
            "parameters": {"a": 1, "b": None},
            "parameter_defaults": {"c": [1]},
            "resource_registry": {
                "A::B": "x.yaml",
                "C::D": None,
                "resources": {"r": {"hooks": "pre-create"}},
            },
            "encrypted_param_names": ["a"],
            "event_sinks": [{"type": "zaqar-queue"}],
        }
        env = environment.Environment(data)
        self.assertEqual(data, env.as_dict())
        self.assertEqual(env, environment.Environment(env.as_dict()))

    def test_wrong_sections(self):
        table = (
            ({"parameter": {}}, '"parameter"'),
            ({"parameters": None}, '"parameters"'),
            ({"resource_registry": None}, '"resource_registry"'),
            ({"parameters": []}, '"parameters"'),
            ({"parameter_defaults": "x"}, '"parameter_defaults"'),
            ({"event_sinks": {}}, '"event_sinks"'),
            ({"encrypted_param_names": "a"}, '"encrypted_param_names"'),
            ({1: {}}, "keys must be strings"),
            ([], "must be a map"),
            ("x", "must be a map"),
            ({"resource_registry": {"A::B": 5}}, "resource_registry.A::B"),
            ({"resource_registry": {"A::B": {}}}, "resource_registry.A::B"),
            (
                {"resource_registry": {"resources": {"r": "x"}}},
                "resource_registry.resources.r",
            ),
        )
        for data, part in table:
            with self.subTest(data=data):
                exc = self.assertRaises(
                    ValueError, environment.Environment, data
                )
                self.assertIn(part, str(exc))

    def test_wrong_words(self):
        for key, error in (
            ("hooks", exception.InvalidBreakPointHook),
            ("restricted_actions", exception.InvalidRestrictedAction),
        ):
            for words in ("melt", ["melt"], [5], 5, {"a": "b"}):
                data = {
                    "resource_registry": {"resources": {"r": {key: words}}}
                }
                exc = self.assertRaises(error, environment.Environment, data)
                self.assertIn(f"resources.r.{key}", str(exc))

    def test_child(self):
        env = environment.Environment(
            {
                "parameters": {"a": 1},
                "parameter_defaults": {"b": 2},
                "resource_registry": {
                    "A::B": "x.yaml",
                    "resources": {
                        "r": {
                            "C::D": "y.yaml",
                            "hooks": "pre-create",
                            "inner": {"hooks": "pre-update"},
                        }
                    },
                },
            }
        )
        child = env.child("r", {"c": 3})
        self.assertEqual({"c": 3}, child.params)
        self.assertEqual({"b": 2}, child.param_defaults)
        self.assertEqual("x.yaml", child.registry.resolve("A::B").name)
        self.assertEqual("y.yaml", child.registry.resolve("C::D").name)
        self.assertTrue(child.registry.matches_hook("inner", "pre-update"))
        self.assertFalse(child.registry.matches_hook("r", "pre-create"))
        other = env.child("s")
        self.assertEqual("class", other.registry.resolve("C::D").kind)
