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
"""Types of which only the schema is known."""

from __future__ import annotations

import json
import pathlib
import re

from heat.engine import (
    attributes,
    constraints,
    plugins,
    properties,
    schema,
    support,
)
from heat.engine.resource import notation
from heat.engine.resources import declared
from heat.tests import base

WORDS = {kind: word for word, kind in notation._TYPES.items()}
MARKS = {status: word for word, status in notation._STATUSES.items()}


def told():
    lines = [
        line
        for line in declared._FILE.read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


# -- schemas, written in the notation again -----------------------------------


def write(entry):
    text = WORDS[entry.type]
    if isinstance(entry.schema, schema.AnyIndexDict):
        text += "{* " + write(entry.schema.value) + "}"
    elif entry.schema is not None:
        text += "{" + ", ".join(pairs(entry.schema)) + "}"
    marks = list(flags(entry))
    return f"{text} ({', '.join(marks)})" if marks else text


def pairs(table):
    return [f"{name} {write(entry)}" for name, entry in table.items()]


def flags(entry):
    if entry.required:
        yield "required"
    if entry.update_allowed:
        yield "update"
    if entry.immutable:
        yield "immutable"
    if entry.support_status.status != support.SUPPORTED:
        yield MARKS[entry.support_status.status]
    if entry.default is not None:
        yield "=" + json.dumps(entry.default)
    for rule in entry.constraints:
        yield rule_text(rule)


def rule_text(rule):
    if isinstance(rule, constraints.AllowedValues):
        return "in " + json.dumps(list(rule.allowed))
    if isinstance(rule, constraints.CustomConstraint):
        return f"is {rule.name}"
    word = "len" if isinstance(rule, constraints.Length) else "range"
    return f"{word} {rule.min}..{rule.max}"


def normal(text):
    """The notation without what is not public, flags in one order."""
    text = re.sub(r"(, |(?<=\())(re|enum)(?=[,)])", "", text)
    text = text.replace(" ()", "").replace("(, ", "(")
    return "".join(sorted(re.split(r"([ ,;{}()])", text)))


class DeclaredTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.types = declared.fallback_resource_mapping()

    def test_all_types_as_they_are_told(self):
        self.assertEqual(
            [head.partition(" ")[0] for head, _p, _a in told()],
            list(self.types),
        )
        for head, props, attrs in told():
            name = head.partition(" ")[0]
            cls = self.types[name]
            with self.subTest(type=name):
                self.assertFalse(
                    any(
                        isinstance(each, dict)
                        for each in cls.properties_schema.values()
                    )
                )
                if props == "(no properties)":
                    self.assertEqual({}, cls.properties_schema)
                else:
                    self.assertEqual(
                        normal(props),
                        normal("; ".join(pairs(cls.properties_schema))),
                    )
                self.assertEqual(
                    attrs,
                    "attributes: "
                    + (", ".join(cls.attributes_schema) or "(none)"),
                )
                self.check_notes(head, cls)

    def check_notes(self, head, cls):
        _name, _space, notes = head.partition(" ")
        found = []
        if cls.support_status.status != support.SUPPORTED:
            found.append(MARKS[cls.support_status.status])
        if cls.entity:
            found.append(f"entity {cls.entity} of {cls.default_client_name}")
        elif cls.default_client_name:
            found.append(f"client {cls.default_client_name}")
        if cls.update_policy_schema:
            found.append(
                f"update_policy {', '.join(cls.update_policy_schema)}"
            )
        self.assertEqual(notes.strip("[]"), "; ".join(found))

    def test_declarations_are_sound(self):
        for name, cls in self.types.items():
            with self.subTest(type=name):
                for entry in cls.properties_schema.values():
                    entry.validate()
                for entry in cls.attributes_schema.values():
                    self.assertIsInstance(entry, attributes.Schema)

    def test_parsed_when_asked_for_and_once(self):
        types = declared.fallback_resource_mapping()
        cls = types["OS::Nova::Server"]
        self.assertIsInstance(
            cls.__dict__["properties_schema"], declared._Late
        )
        table = cls.properties_schema
        self.assertIs(table, cls.properties_schema)
        self.assertIsInstance(table["name"], properties.Schema)

    def test_a_plug_in_comes_first(self):
        registry = plugins.PluginRegistry.load()
        for name in self.types:
            self.assertIn(name, registry)
        self.assertFalse(
            issubclass(registry.get("OS::Heat::Value"), declared.Declared)
        )

    def test_not_understood(self):
        for text in (
            "name",
            "name text",
            "name string (strange)",
            "name string (range 1)",
            "name map{a string",
            "name string (is)",
        ):
            with self.subTest(text=text):
                self.assertRaises((ValueError, KeyError), declared.read, text)

    def test_each_namespace_has_a_page(self):
        root = pathlib.Path(declared.__file__).parents[3]
        pages = root / "doc/source/template_guide/types"
        if not pages.is_dir():
            self.skipTest("the documentation is not here")
        wanted = {
            "-".join(name.lower().split("::")[:2])
            for name in plugins.PluginRegistry.load().types()
            if name.startswith(("OS::", "AWS::"))
        }
        self.assertEqual(
            set(), wanted - {page.stem for page in pages.glob("*.rst")}
        )
