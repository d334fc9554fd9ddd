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
"""The key ``schema`` of a parameter: what is in a map or list."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine.template import parameters
from heat.tests import base

MAP = {
    "type": "json",
    "schema": {
        "name": {"type": "string", "required": True},
        "size": {
            "type": "number",
            "constraints": [{"range": {"min": 1, "max": 9}}],
        },
        "deep": {
            "type": "json",
            "schema": {"on": {"type": "boolean", "required": True}},
        },
    },
}
LIST = {
    "type": "comma_delimited_list",
    "schema": {
        "type": "string",
        "constraints": [{"allowed_values": ["a", "b"]}],
    },
}


def declared(value: dict[str, Any]) -> Any:
    return parameters.read_schema("p", value, modulo=True, tags=True)


class ParameterSchemaTest(base.TestCase):
    def test_what_fits(self):
        for schema, value in (
            (MAP, {"name": "x"}),
            (MAP, {"name": "x", "size": "3", "other": [1]}),
            (MAP, '{"name": "x", "deep": {"on": true}}'),
            (MAP, [1, 2]),
            (LIST, "a,b"),
            (LIST, []),
            ({**LIST, "schema": {"*": LIST["schema"]}}, ["b"]),
        ):
            with self.subTest(value=value):
                declared(schema).check(value)

    def test_what_does_not(self):
        for schema, value, words in (
            (MAP, {}, ("'p'", '"name" is missing')),
            (MAP, {"name": ["x"]}, ("'p.name'",)),
            (MAP, {"name": "x", "size": "many"}, ("'p.size'",)),
            (MAP, {"name": "x", "size": 10}, ("'p.size'", "10")),
            (MAP, {"name": "x", "deep": {}}, ("'p.deep'", '"on"')),
            (MAP, {"name": "x", "deep": {"on": "x"}}, ("'p.deep.on'",)),
            (LIST, "a,c", ("'p.*'", "c")),
        ):
            with self.subTest(value=value):
                error = self.assertRaises(
                    exception.StackValidationFailed,
                    declared(schema).check,
                    value,
                )
                for word in words:
                    self.assertIn(word, str(error))

    def test_secrets_are_not_told(self):
        error = self.assertRaises(
            exception.StackValidationFailed,
            declared({**MAP, "hidden": True}).check,
            {"name": "x", "size": "s3cr3t"},
        )
        self.assertNotIn("s3cr3t", str(error))

    def test_declarations_that_make_no_sense(self):
        for value, words in (
            ({"type": "string", "schema": {"a": {"type": "string"}}}, "json"),
            ({"type": "json", "schema": ["a"]}, "parameters.p.schema"),
            ({"type": "json", "schema": {"a": "string"}}, "parameters.p.a"),
            ({"type": "json", "schema": {"a": {"type": "x"}}}, "p.a.type"),
            (
                {"type": "json", "schema": {"a": {"typ": "x"}}},
                "parameters.p.a.typ",
            ),
        ):
            with self.subTest(value=value):
                error = self.assertRaises(
                    exception.StackValidationFailed, declared, value
                )
                self.assertIn(words, str(error))


class ReadOnceTest(base.TestCase):
    def read(
        self, section: dict[str, Any], modulo: bool = True, tags: bool = True
    ) -> Any:
        return parameters.read_schemata(section, modulo=modulo, tags=tags)

    def test_the_same_again(self):
        first, second = (
            self.read({"p": {"type": "json", "default": {"a": 1}}})
            for _again in range(2)
        )
        self.assertIs(first, second)

    def test_what_looks_the_same(self):
        for default in (1, 1.0, True, "1"):
            made = self.read({"p": {"type": "string", "default": default}})
            self.assertIs(default, made["p"].default)
        for names in (["p", "q"], ["q", "p"]):
            made = self.read({name: {"type": "string"} for name in names})
            self.assertEqual(names, list(made))

    def test_versions_are_told_apart(self):
        for section, has in (
            (
                {
                    "p": {
                        "type": "number",
                        "constraints": [{"modulo": {"step": 2, "offset": 0}}],
                    }
                },
                "modulo",
            ),
            ({"p": {"type": "string", "tags": ["a"]}}, "tags"),
        ):
            for _again in range(2):
                self.read(section, **{has: True})
                self.assertRaises(
                    exception.StackValidationFailed,
                    self.read,
                    section,
                    **{has: False},
                )

    def test_wrong_ones_are_told_each_time(self):
        for _again in range(2):
            error = self.assertRaises(
                exception.StackValidationFailed, self.read, {"p": {}}
            )
            self.assertIn("parameters.p", str(error))

    def test_a_wrong_default_is_told_each_time(self):
        for _again in range(2):
            [made] = self.read(
                {"p": {"type": "number", "default": "x"}}
            ).values()
            self.assertRaises(exception.InvalidSchemaError, made.validate)

    def test_what_json_does_not_know(self):
        """A plug-in may make a template of whatever it has."""
        for default in (2**70, object()):
            made = self.read({"p": {"type": "string", "default": default}})
            self.assertIs(default, made["p"].default)
