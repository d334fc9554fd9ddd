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
"""Parameters: types, precedence, errors, and the answer of a validation."""

from __future__ import annotations

from typing import Any

from heat.common import exception, identifier
from heat.engine import parameters
from heat.engine.template import base as templates
from heat.engine.template import parameters as reader
from heat.engine.template import source
from heat.tests import base

_IDENTITY = identifier.HeatIdentifier("project", "name", "id")


def _template(text: str, version: str = "2018-08-31") -> Any:
    return templates.load(
        source.parse(f"heat_template_version: {version}\nparameters:\n{text}")
    )


def _one(declaration: str, **kwargs: Any) -> parameters.Parameters:
    return parameters.Parameters(
        _IDENTITY, _template(f"  p: {{{declaration}}}"), **kwargs
    )


class ValueTest(base.TestCase):
    # type, given, typed, text
    GOOD = (
        ("string", "a", "a", "a"),
        ("string", 5, "5", "5"),
        ("string", True, "True", "True"),
        ("string", "", "", ""),
        ("number", "5", 5, "5"),
        ("number", 5, 5, "5"),
        ("number", "1.5", 1.5, "1.5"),
        ("number", "-1e3", -1000.0, "-1000.0"),
        ("comma_delimited_list", "a, b,c", ["a", " b", "c"], "a, b,c"),
        ("comma_delimited_list", "", [], ""),
        ("comma_delimited_list", " ", [" "], " "),
        ("comma_delimited_list", "a,", ["a", ""], "a,"),
        ("comma_delimited_list", ["a", 5], ["a", "5"], "a,5"),
        ("json", {"a": [1]}, {"a": [1]}, '{"a": [1]}'),
        ("json", '{"a": 1}', {"a": 1}, '{"a": 1}'),
        ("json", "[1]", [1], "[1]"),
        *(
            ("boolean", word, True, "True")
            for word in (True, "t", "true", "On", "y", "yes", "1", 1)
        ),
        *(
            ("boolean", word, False, "False")
            for word in (False, "f", "FALSE", "off", "n", "no", "0", 0)
        ),
    )
    BAD = (
        ("string", ["a"]),
        ("string", {"a": 1}),
        ("string", None),
        ("number", "a"),
        ("number", True),
        ("number", "nan"),
        ("number", ""),
        ("number", None),
        ("number", [1]),
        ("comma_delimited_list", 5),
        ("comma_delimited_list", {"a": 1}),
        ("json", "a"),
        ("json", "5"),
        ("json", 5),
        ("json", "[" * 5000),
        ("boolean", "maybe"),
        ("boolean", 2),
        ("boolean", None),
    )

    def test_good(self):
        for kind, given, typed, text in self.GOOD:
            with self.subTest(kind=kind, given=given):
                made = _one(f"type: {kind}", user_params={"p": given})
                made.validate()
                self.assertEqual(typed, made["p"])
                self.assertIs(type(typed), type(made["p"]))
                self.assertEqual(text, made.public()["p"])

    def test_bad(self):
        for kind, given in self.BAD:
            with self.subTest(kind=kind, given=given):
                made = _one(f"type: {kind}", user_params={"p": given})
                for call in (made.validate, lambda made=made: made["p"]):
                    exc = self.assertRaises(
                        exception.StackValidationFailed, call
                    )
                    self.assertEqual("Parameter 'p' is invalid", exc.error)

    def test_precedence(self):
        declaration = "type: string, default: template"
        for user, default, value in (
            (None, None, "template"),
            (None, "env", "env"),
            ("user", "env", "user"),
        ):
            made = _one(
                declaration,
                user_params={} if user is None else {"p": user},
                param_defaults={} if default is None else {"p": default},
            )
            made.validate()
            self.assertEqual(value, made["p"])

    def test_nobody_changes_a_value_for_others(self):
        """A plug-in may change the map that a property has; the default is
        that of all stacks with this template, the file that of others."""
        given = {"a": [1]}
        for declaration, how in (
            ("type: json, default: {a: [1]}", {}),
            ("type: json", {"user_params": {"p": given}}),
            ("type: json", {"param_defaults": {"p": given}}),
        ):
            with self.subTest(declaration=declaration, how=how):
                first, second = (_one(declaration, **how) for _ in range(2))
                first.validate()
                first["p"]["a"].append(2)
                self.assertEqual({"a": [1, 2]}, first["p"])
                self.assertEqual('{"a": [1]}', first.public()["p"])
                self.assertEqual({"a": [1]}, second["p"])
        self.assertEqual({"a": [1]}, given)

    def test_defaults_of_others_are_ignored(self):
        _one("type: string, default: a", param_defaults={"q": 1}).validate()

    def test_pseudo(self):
        made = _one("type: string, default: a", region="here")
        self.assertEqual(
            {
                "OS::stack_id": "id",
                "OS::stack_name": "name",
                "OS::region": "here",
                "OS::project_id": "project",
                "p": "a",
            },
            made.public(),
        )
        self.assertEqual(made.public(), dict(made))
        self.assertEqual(5, len(made))


class GivenTest(base.TestCase):
    """What a validation tells beside the defaults."""

    def test_table(self):
        for declaration, how, wanted in (
            ("type: number, default: 5", {}, None),
            ("type: number", {}, None),
            ("type: number, default: 5", {"user_params": {"p": 7}}, 7),
            ("type: number", {"param_defaults": {"p": "7"}}, None),
            ("type: json", {"user_params": {"p": {"a": 1}}}, {"a": 1}),
            ("type: json", {"user_params": {"p": '{"a": 1}'}}, '{"a": 1}'),
            (
                "type: comma_delimited_list",
                {"user_params": {"p": ["a", "b"]}},
                ["a", "b"],
            ),
        ):
            with self.subTest(declaration=declaration, how=how):
                self.assertEqual(wanted, _one(declaration, **how).given("p"))

    def test_in_place_of_the_default(self):
        made = _one(
            "type: number, default: 5",
            user_params={"p": 7},
            param_defaults={"p": "6"},
        )
        self.assertEqual("6", made.given_default("p"))
        self.assertEqual(7, made.given("p"))
        self.assertIsNone(_one("type: number, default: 5").given_default("p"))

    def test_services_are_not_asked_about_a_default_that_may_change(self):
        asked = []

        class Seen(parameters.ParameterSchema):
            def check(self, value, context=None):
                asked.append(context)
                return value

        made = _one("type: string, default: a")
        made.schemata["p"].__class__ = Seen
        made.validate("somebody", strict=False)
        made.validate("somebody")
        self.assertEqual([None, "somebody"], asked)


class ErrorTest(base.TestCase):
    def test_missing(self):
        made = _one("type: string")
        exc = self.assertRaises(exception.UserParameterMissing, made.validate)
        self.assertEqual("The Parameter (p) was not provided.", str(exc))
        made.validate(strict=False)
        self.assertIsNone(made["p"])
        self.assertFalse(made.has_value("p"))

    def test_unknown(self):
        made = _one("type: string, default: a", user_params={"q": 1})
        exc = self.assertRaises(exception.UnknownUserParameter, made.validate)
        self.assertIn("(q)", str(exc))

    # declaration, good, bad
    CONSTRAINTS = (
        ("string", "{length: {min: 2, max: 3}}", "ab", "a"),
        ("string", "{allowed_values: [a, b]}", "a", "c"),
        ("string", "{allowed_pattern: '[a-z]+'}", "abc", "abc1"),
        ("number", "{range: {min: 2, max: 4}}", "3", 5),
        ("number", "{modulo: {step: 3, offset: 1}}", 4, "5"),
        ("number", "{allowed_values: ['1', 2]}", 1, 3),
        ("comma_delimited_list", "{length: {max: 2}}", "a,b", "a,b,c"),
        ("comma_delimited_list", "{allowed_values: [a, b]}", "a", "a,c"),
        ("json", "{length: {min: 1}}", {"a": 1}, {}),
        ("boolean", "{allowed_values: [true]}", "yes", "no"),
    )

    def test_constraints(self):
        for kind, constraint, good, bad in self.CONSTRAINTS:
            with self.subTest(kind=kind, constraint=constraint):
                text = f"type: {kind}, constraints: [{constraint}]"
                _one(text, user_params={"p": good}).validate()
                for extra in ("", ", description: told so"):
                    one = constraint[:-1] + extra + "}"
                    made = _one(
                        f"type: {kind}, constraints: [{one}]",
                        user_params={"p": bad},
                    )
                    exc = self.assertRaises(
                        exception.StackValidationFailed, made.validate
                    )
                    self.assertIn("Parameter 'p' is invalid: ", str(exc))
                    if extra:
                        self.assertIn("told so", str(exc))

    def test_hidden_values_are_not_told(self):
        for declaration in (
            "type: number, hidden: true",
            "type: string, hidden: true, "
            "constraints: [{allowed_pattern: '[0-9]+'}]",
        ):
            made = _one(declaration, user_params={"p": "s3cret"})
            exc = self.assertRaises(
                exception.StackValidationFailed, made.validate
            )
            self.assertNotIn("s3cret", str(exc))
            self.assertEqual("******", made.public()["p"])

    def test_immutable_changes(self):
        old = _one("type: string", user_params={"p": "a"})
        for declaration, value, names in (
            ("type: string, immutable: true", "a", []),
            ("type: string, immutable: true", "b", ["p"]),
            ("type: string", "b", []),
        ):
            new = _one(declaration, user_params={"p": value})
            self.assertEqual(names, old.immutable_changes(new))


class AnswerTest(base.TestCase):
    # declaration, value, answer beside Description, NoEcho and Label
    TABLE = (
        ("type: string", None, {"Type": "String"}),
        (
            "type: number, default: 5, constraints: "
            "[{range: {min: 1, max: 9}}, {modulo: {step: 2, offset: 1}, "
            "description: odd}]",
            5,
            {
                "Type": "Number",
                "Default": 5,
                "Value": 5,
                "MinValue": 1,
                "MaxValue": 9,
                "Step": 2,
                "Offset": 1,
                "ConstraintDescription": "odd",
            },
        ),
        (
            "type: comma_delimited_list, constraints: [{length: {min: 1}}]",
            None,
            {"Type": "CommaDelimitedList", "MinLength": 1},
        ),
        (
            "type: string, tags: [a, b], constraints: "
            "[{allowed_values: [x]}, {allowed_pattern: x}, "
            "{length: {max: 3}}, {custom_constraint: nova.flavor}]",
            None,
            {
                "Type": "String",
                "Tags": ["a", "b"],
                "AllowedValues": ["x"],
                "AllowedPattern": "x",
                "MaxLength": 3,
                "CustomConstraint": "nova.flavor",
            },
        ),
        ("type: json", {}, {"Type": "Json", "Value": {}}),
        ("type: boolean", False, {"Type": "Boolean", "Value": False}),
    )

    def test_table(self):
        for declaration, value, answer in self.TABLE:
            with self.subTest(declaration=declaration):
                [schema] = (
                    _template(f"  p: {{{declaration}}}")
                    .parameter_schemata()
                    .values()
                )
                made = reader.validate_answer(schema, value)
                for key, default in (
                    ("Description", ""),
                    ("NoEcho", "false"),
                    ("Label", "p"),
                ):
                    self.assertEqual(default, made.pop(key))
                self.assertEqual(answer, made)

    def test_texts_and_secrets(self):
        [schema] = (
            _template(
                "  p: {type: string, hidden: true, label: L, description: D}"
            )
            .parameter_schemata()
            .values()
        )
        self.assertEqual(
            {
                "Type": "String",
                "Description": "D",
                "NoEcho": "true",
                "Label": "L",
                "Value": "******",
            },
            reader.validate_answer(schema, "s3cret"),
        )
        self.assertEqual(
            "******", reader.validate_answer(schema, None, "s3cret")["Default"]
        )

    def test_a_default_of_the_environment_takes_the_place(self):
        [schema] = (
            _template("  p: {type: number, default: 5}")
            .parameter_schemata()
            .values()
        )
        answer = reader.validate_answer(schema, None, "7")
        self.assertEqual("7", answer["Default"])
        self.assertNotIn("Value", answer)
