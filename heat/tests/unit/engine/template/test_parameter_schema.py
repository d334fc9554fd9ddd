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
