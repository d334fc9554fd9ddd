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

"""Constraints and schemas, by tables."""

from __future__ import annotations

from heat.common import exception
from heat.engine import constraints
from heat.tests import base

S = constraints.Schema


class ConstraintTest(base.TestCase):
    CASES = (
        # constraint, good values, bad values, part of the message
        (
            constraints.Range(1, 3),
            (1, 3, "2", 2.5),
            (0, 4, "7"),
            "out of range (min: 1, max: 3)",
        ),
        (
            constraints.Range(min=1),
            (1, 10**9),
            (0,),
            "out of range (min: 1, max: None)",
        ),
        (
            constraints.Length(2, 3),
            ("ab", [1, 2], {"a": 1, "b": 2}),
            ("a", [], "abcd"),
            "is out of range (min: 2, max: 3)",
        ),
        (
            constraints.Modulo(3, 1),
            (1, 4, "7", -2),
            (0, 3, "5"),
            "is not a multiple of 3 with an offset of 1",
        ),
        (
            constraints.AllowedValues(["a", "b"]),
            ("a", ["a", "b"], []),
            ("c", ["a", "c"]),
            "is not an allowed value [a, b]",
        ),
        (
            constraints.AllowedPattern("[a-z]+"),
            ("abc",),
            ("abc1", "", "Abc", "abc\n"),
            'does not match pattern "[a-z]+"',
        ),
    )

    def test_values(self):
        for constraint, good, bad, message in self.CASES:
            for value in good:
                with self.subTest(constraint=str(constraint), good=value):
                    constraint.validate(value)
            for value in bad:
                with self.subTest(constraint=str(constraint), bad=value):
                    exc = self.assertRaises(
                        ValueError, constraint.validate, value
                    )
                    self.assertIn(message, str(exc))

    def test_description_is_the_message(self):
        constraint = constraints.Range(1, 2, description="one or two")
        exc = self.assertRaises(ValueError, constraint.validate, 3)
        self.assertEqual("one or two", str(exc))

    def test_allowed_values_of_another_type(self):
        schema = S(S.INTEGER)
        constraint = constraints.AllowedValues(["1", "2"])
        constraint.validate(1, schema)
        constraint.validate("2", schema)
        self.assertRaises(ValueError, constraint.validate, 3, schema)

    def test_bad_declarations(self):
        for make in (
            lambda: constraints.Range(),
            lambda: constraints.Range("a"),
            lambda: constraints.Length(),
            lambda: constraints.Length(1.5),
            lambda: constraints.Modulo(),
            lambda: constraints.Modulo(0, 0),
            lambda: constraints.Modulo(2, 2),
            lambda: constraints.Modulo(2, -1),
            lambda: constraints.AllowedValues("ab"),
            lambda: constraints.AllowedPattern("("),
            lambda: S("Strange"),
            lambda: S(S.STRING, schema=S(S.STRING)),
        ):
            self.assertRaises(exception.InvalidSchemaError, make)

    def test_validate_declaration(self):
        for schema in (
            S(S.STRING, constraints=[constraints.Range(1, 2)]),
            S(S.INTEGER, constraints=[constraints.AllowedPattern("a")]),
            S(S.INTEGER, default="x"),
            S(S.INTEGER, default=3, constraints=[constraints.Range(1, 2)]),
            S(S.LIST, schema=S(S.INTEGER, default="x")),
            S(S.MAP, schema={"a": S(S.INTEGER, default="x")}),
        ):
            self.assertRaises(exception.InvalidSchemaError, schema.validate)
        S(
            S.LIST,
            schema=S(S.MAP, schema={"a": S(S.STRING)}),
            constraints=[constraints.Length(1, 2)],
        ).validate()

    def test_public_form(self):
        schema = S(
            S.LIST,
            "some list",
            default=[],
            schema=S(S.STRING),
            constraints=[constraints.Length(max=3, description="short")],
        )
        self.assertEqual(
            {
                "type": "List",
                "description": "some list",
                "default": [],
                "schema": {
                    "*": {
                        "type": "String",
                        "required": False,
                        "immutable": False,
                    }
                },
                "required": False,
                "constraints": [
                    {"length": {"max": 3}, "description": "short"}
                ],
                "immutable": False,
            },
            dict(schema),
        )
        self.assertEqual(7, len(schema))

    def test_numbers(self):
        for text, number in (("1", 1), ("1.5", 1.5), (" 3 ", 3), (2, 2)):
            self.assertEqual(number, S.str_to_num(text))
        for text in ("", "x", "1_0", "nan", "inf", None, True, []):
            self.assertRaises(ValueError, S.str_to_num, text)

    def test_any_index(self):
        anything = constraints.AnyIndexDict("x")
        self.assertEqual("x", anything[7])
        self.assertEqual(["*"], list(anything))
        self.assertRaises(KeyError, lambda: anything["a"])


class Even(constraints.BaseCustomConstraint):
    expected_exceptions = (ValueError,)

    def validate_with_client(self, client, resource_id):
        if int(resource_id) % 2:
            raise ValueError("odd")


class CustomConstraintTest(base.TestCase):
    def test_registered(self):
        constraints.register("test.even", Even)
        constraint = constraints.CustomConstraint("test.even")
        constraint.validate("2")
        constraint.validate(["2", "4"])
        exc = self.assertRaises(ValueError, constraint.validate, "3")
        self.assertEqual("Error validating value '3': odd", str(exc))

    def test_unknown(self):
        constraint = constraints.CustomConstraint("test.nothing")
        exc = self.assertRaises(ValueError, constraint.validate, "3")
        self.assertEqual(
            '"3" does not validate test.nothing (constraint not found)',
            str(exc),
        )

    def test_environment_wins(self):
        class Environment:
            def get_constraint(self, name):
                return {"test.mine": Even}.get(name)

        constraint = constraints.CustomConstraint(
            "test.mine", environment=Environment()
        )
        self.assertIs(Even, constraint.custom_constraint)
        self.assertEqual({"custom_constraint": "test.mine"}, dict(constraint))
