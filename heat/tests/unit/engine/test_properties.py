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

"""Properties: conversion, defaults, validation, translation."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from heat.common import exception
from heat.engine import (
    constraints,
    parameter_forms,
    properties,
    support,
    translation,
)
from heat.tests import base

S = properties.Schema

SCHEMA = {
    "text": S(S.STRING, required=True),
    "count": S(
        S.INTEGER,
        default=3,
        constraints=[constraints.Range(1, 5)],
        update_allowed=True,
    ),
    "ratio": S(S.NUMBER),
    "flag": S(S.BOOLEAN, default=False),
    "map": S(
        S.MAP,
        schema={
            "x": S(S.NUMBER, required=True),
            "ys": S(S.LIST, schema=S(S.BOOLEAN)),
        },
    ),
    "list": S(
        S.LIST,
        schema=S(
            S.MAP, schema={"b": S(S.STRING), "c": S(S.INTEGER, default=4)}
        ),
    ),
    "commas": S(S.LIST, allow_conversion=True),
    "any": S(S.ANY),
    "later": S(S.STRING, implemented=False),
}


def props(data, resolver=None):
    return properties.Properties(
        SCHEMA, data, resolver, parent_name="r", section="properties"
    )


class ValueTest(base.TestCase):
    def test_an_empty_default_of_a_list_is_an_empty_list(self):
        schema = {"list": S(S.LIST, default={}, schema=S(S.STRING))}
        made = properties.Properties(schema, {})
        made.validate()
        self.assertEqual([], made["list"])

    def test_conversion(self):
        for key, given, value in (
            ("text", "a", "a"),
            ("text", 1, "1"),
            ("text", 1.5, "1.5"),
            ("text", "", ""),
            ("count", "4", 4),
            ("count", 4.0, 4),
            ("ratio", "1.5", 1.5),
            ("ratio", "2", 2),
            ("flag", "True", True),
            ("flag", "false", False),
            ("map", '{"x": 1}', {"x": 1, "ys": None}),
            ("map", {"x": "2", "ys": ["true"]}, {"x": 2, "ys": [True]}),
            ("list", [], []),
            ("list", [{"b": 1}], [{"b": "1", "c": 4}]),
            ("list", [None], [None]),
            ("commas", "a, b", ["a", "b"]),
            ("commas", "", []),
            ("any", {"a": [1]}, {"a": [1]}),
        ):
            with self.subTest(key=key, given=given):
                found = props({"text": "t", key: given})[key]
                self.assertEqual(value, found)
                self.assertIs(type(value), type(found))

    def test_bad_values(self):
        for data, message in (
            ({}, "text: Property text not assigned"),
            ({"text": None}, "text: Property text not assigned"),
            ({"text": []}, "text: Value must be a string"),
            ({"count": "x"}, "count: Value 'x' is not an integer"),
            ({"count": 1.5}, "count: Value '1.5' is not an integer"),
            ({"count": True}, "count: Value 'True' is not an integer"),
            ({"count": 9}, "count: 9 is out of range (min: 1, max: 5)"),
            ({"ratio": "x"}, "ratio: Value 'x' is not a number"),
            ({"flag": "yes"}, 'flag: "yes" is not a valid boolean'),
            ({"flag": 1}, 'flag: "1" is not a valid boolean'),
            ({"map": "x"}, 'map: "x" is not a map'),
            ({"map": []}, 'map: "[]" is not a map'),
            ({"map": {}}, "map.x: Property x not assigned"),
            ({"map": {"x": 1, "z": 1}}, "map: Unknown Property z"),
            ({"list": "a"}, 'list: "a" is not a list'),
            ({"list": [{"b": []}]}, "list[0].b: Value must be a string"),
            ({"list": [{}, {"d": 1}]}, "list[1]: Unknown Property d"),
            ({"later": "x"}, "later: Property later not implemented yet"),
        ):
            with self.subTest(data=data):
                given = data if "text" in data or not data else data
                if data and "text" not in data:
                    given = {"text": "t", **data}
                exc = self.assertRaises(
                    exception.StackValidationFailed, props(given).validate
                )
                self.assertEqual(
                    f"Property error: resources.r.properties.{message}",
                    str(exc),
                )

    def test_unknown(self):
        exc = self.assertRaises(
            exception.StackValidationFailed,
            props({"text": "t", "zz": 1}).validate,
        )
        self.assertEqual(
            "Property error: resources.r.properties: Unknown Property zz",
            str(exc),
        )
        self.assertRaises(KeyError, lambda: props({})["zz"])
        self.assertIsNone(props({}).get("zz"))

    def test_access_raises_value_error(self):
        exc = self.assertRaises(
            ValueError, lambda: props({"list": [{"b": {}}]})["list"]
        )
        self.assertEqual("list[0].b: Value must be a string", str(exc))
        self.assertRaises(ValueError, lambda: props({})["text"])

    def test_mapping(self):
        made = props({"text": "t"})
        self.assertEqual(len(SCHEMA), len(made))
        self.assertEqual(list(SCHEMA), list(made))
        self.assertEqual(3, dict(made)["count"])

    def test_not_known_yet(self):
        """A given key whose value is not known is not missing."""

        def nothing_yet(snippet):
            return {"x": None} if isinstance(snippet, dict) else None

        made = props(
            {"text": object(), "map": {"x": object()}, "count": object()},
            nothing_yet,
        )
        made.validate()
        self.assertRaises(ValueError, lambda: made["text"])
        self.assertEqual(3, made["count"])

    def test_names_only(self):
        made = props({"count": "x"})
        exc = self.assertRaises(
            exception.StackValidationFailed, made.validate, False
        )
        self.assertIn("Property text not assigned", str(exc))
        props({"text": "a", "count": "x"}).validate(with_value=False)

    def test_given(self):
        made = props({"text": 1, "list": [{"b": "x"}], "flag": None})
        self.assertEqual({"text": "1", "list": [{"b": "x"}]}, made.given())
        again = props(made.given())
        self.assertEqual(made.given(), again.given())

    @hypothesis.given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.floats()
            | st.text()
            | st.integers(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
        st.sampled_from(sorted(SCHEMA)),
    )
    def test_any_input(self, value, key):
        """Whatever is given: a value of the right type, or our error."""
        made = props({"text": "t", key: value})
        try:
            made.validate()
        except exception.StackValidationFailed:
            return
        found = made[key]
        kinds = {
            S.STRING: str,
            S.INTEGER: int,
            S.NUMBER: (int, float),
            S.BOOLEAN: bool,
            S.MAP: dict,
            S.LIST: list,
            S.ANY: object,
        }
        if found is not None:
            self.assertIsInstance(found, kinds[SCHEMA[key].type])

    @hypothesis.given(st.integers())
    def test_integers(self, number):
        schema = {"n": S(S.INTEGER), "s": S(S.STRING)}
        made = properties.Properties(schema, {"n": str(number), "s": number})
        self.assertEqual(number, made["n"])
        self.assertEqual(str(number), made["s"])


class Finder:
    def __init__(self):
        self.asked = []

    def find(self, entity, name):
        self.asked.append((entity, name))
        if name == "missing":
            raise exception.EntityNotFound(entity=entity, name=name)
        return f"id-of-{name}"


class TranslationTest(base.TestCase):
    SCHEMA = {
        "old": S(S.STRING),
        "new": S(S.STRING, default="unset"),
        "list": S(S.LIST),
        "nets": S(
            S.LIST,
            schema=S(
                S.MAP, schema={"port": S(S.STRING), "port_id": S(S.STRING)}
            ),
        ),
    }
    RULE = translation.TranslationRule

    def translated(self, data, *rules, **kwargs):
        made = properties.Properties(self.SCHEMA, data)
        made.update_translation(
            [self.RULE(made, *args, **kw) for args, kw in rules], **kwargs
        )
        return made

    def test_replace_by_path(self):
        rule = (
            (self.RULE.REPLACE, ["new"]),
            {"value_path": ["old"]},
        )
        made = self.translated({"old": "x"}, rule)
        self.assertEqual((None, "x"), (made["old"], made["new"]))
        self.assertEqual({"new": "x"}, made.given())
        self.assertEqual("unset", self.translated({}, rule)["new"])
        both = self.translated({"old": "x", "new": "y"}, rule)
        exc = self.assertRaises(exception.StackValidationFailed, both.validate)
        self.assertIn("at the same time: new, old", str(exc))

    def test_replace_by_name_in_list(self):
        rule = (
            (self.RULE.REPLACE, ["nets", "port"]),
            {"value_name": "port_id"},
        )
        made = self.translated(
            {"nets": [{"port_id": "a"}, {"port": "b"}]}, rule
        )
        self.assertEqual(
            [
                {"port": "a", "port_id": None},
                {"port": "b", "port_id": None},
            ],
            made["nets"],
        )
        self.assertEqual(
            {"nets": [{"port": "a"}, {"port": "b"}]}, made.given()
        )

    def test_of_any_type_null_is_a_value(self):
        schema = {"any": S(S.ANY, required=True)}
        for whole in (True, False):
            made = properties.Properties(schema, {"any": None})
            made.validate(with_value=whole)
            self.assertIsNone(made["any"])
            exc = self.assertRaises(
                exception.StackValidationFailed,
                properties.Properties(schema, {}).validate,
                with_value=whole,
            )
            self.assertIn("any not assigned", str(exc))

    def test_a_required_one_by_its_old_name(self):
        """A given key whose value is not known is not missing."""
        old, new = S(S.STRING), S(S.STRING, required=True)
        inner = S(S.MAP, schema={"o": old, "n": new})
        schema = {"old": old, "new": new, "map": inner}
        full, none = {"old": "x", "map": {"o": "y"}}, {"map": {}}
        for data, resolve, missing in (
            (full, lambda value: value, None),
            (full, lambda value: {"o": None} if value != "x" else None, None),
            ({**none, "old": "x"}, lambda value: value, "map.n"),
            ({**full, "old": None}, lambda value: value, "new"),
        ):
            made = properties.Properties(schema, data, resolve)
            made.update_translation(
                [
                    self.RULE(
                        *(made, self.RULE.REPLACE, [*above, new]),
                        value_name=old,
                    )
                    for above, old, new in (
                        ([], "old", "new"),
                        (["map"], "o", "n"),
                    )
                ]
            )
            if missing is None:
                made.validate()
                continue
            exc = self.assertRaises(
                exception.StackValidationFailed, made.validate
            )
            self.assertIn(f"{missing}: Property", str(exc))

    def test_add_and_delete(self):
        made = self.translated(
            {"list": ["a"], "old": "x"},
            ((self.RULE.ADD, ["list"], ["b"]), {}),
            ((self.RULE.DELETE, ["old"]), {}),
        )
        self.assertEqual(["a", "b"], made["list"])
        self.assertIsNone(made["old"])

    def resolving(self, finder, path):
        return (
            (self.RULE.RESOLVE, path),
            {"client_plugin": finder, "finder": "find", "entity": "port"},
        )

    def test_resolve(self):
        finder = Finder()
        rules = (
            self.resolving(finder, ["nets", "port"]),
            self.resolving(finder, ["list"]),
        )
        made = self.translated(
            {"nets": [{"port": "a"}], "list": ["b", "a"]}, *rules
        )
        self.assertEqual("id-of-a", made["nets"][0]["port"])
        self.assertEqual("id-of-a", made["nets"][0]["port"])
        self.assertEqual(["id-of-b", "id-of-a"], made["list"])
        # Each value was looked up once.
        self.assertEqual(1, finder.asked.count(("port", "a")) - 1)

    def test_resolve_failures(self):
        finder = Finder()
        rule = self.resolving(finder, ["old"])
        made = self.translated({"old": "missing"}, rule)
        self.assertRaises(exception.EntityNotFound, lambda: made["old"])
        made = self.translated(
            {"old": "missing"}, rule, ignore_resolve_error=True
        )
        self.assertEqual("missing", made["old"])
        made = self.translated({"old": "x"}, rule, client_resolve=False)
        self.assertEqual("x", made["old"])

    def test_bad_rules(self):
        for args, kwargs in (
            (("Strange", ["a"]), {}),
            ((self.RULE.DELETE, []), {}),
            ((self.RULE.ADD, ["a"], "text"), {}),
            ((self.RULE.RESOLVE, ["a"]), {}),
            ((self.RULE.REPLACE, ["a"], "x"), {"value_name": "b"}),
        ):
            self.assertRaises(ValueError, self.RULE, None, *args, **kwargs)


class FormsTest(base.TestCase):
    def test_legacy(self):
        schema = properties.schemata(
            {
                "n": {"Type": "Integer", "MinValue": "1", "Default": 2},
                "l": {
                    "Type": "List",
                    "Required": True,
                    "Schema": {
                        "Type": "Map",
                        "Schema": {"k": {"Type": "String"}},
                    },
                },
            }
        )
        self.assertEqual({"range": {"min": 1}}, schema["n"]["constraints"][0])
        made = properties.Properties(schema, {"l": [{"k": 1}]})
        self.assertEqual([{"k": "1"}], made["l"])
        self.assertRaises(
            exception.InvalidSchemaError, S.from_legacy, {"Typo": 1}
        )

    def test_generate(self):
        schema = {
            "name": S(S.STRING, "a name", required=True),
            "on": S(S.BOOLEAN, default=True),
            "many": S(S.LIST),
            "maps": S(S.LIST, default=[{"a": 1}], schema=S(S.MAP)),
            "secret": S(
                S.STRING,
                support_status=support.SupportStatus(support.HIDDEN),
            ),
        }
        params, props_ = parameter_forms.generate(schema, "hot")
        self.assertEqual(
            {"type": "string", "description": "a name"}, params["name"]
        )
        self.assertEqual({"type": "boolean", "default": True}, params["on"])
        self.assertEqual({"get_param": "many"}, props_["many"])
        self.assertNotIn("secret", params)
        params, props_ = parameter_forms.generate(schema, "cfn")
        self.assertEqual("CommaDelimitedList", params["many"]["Type"])
        self.assertEqual("", params["many"]["Default"])
        self.assertEqual([{"a": 1}], params["maps"]["Default"])
        self.assertEqual({"Fn::Split": [",", {"Ref": "many"}]}, props_["many"])
