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
"""The bounded reader of YAML and JSON."""

from __future__ import annotations

import json

import hypothesis
from hypothesis import strategies as st

from heat.common import template_format
from heat.tests import base

# Escapes beyond the basic plane are pairs, which YAML has no word for.
_text = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF))
# YAML takes a key on one line of at most 1,024 characters; an escape is six.
_key = st.text(
    st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF),
    max_size=100,
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_key, inner, max_size=4)
    ),
    max_leaves=20,
)

_quick = hypothesis.settings(max_examples=150)


def _bomb(first: str, line: str, rounds: int = 12) -> str:
    lines = [f"a0: &a0 {first}"]
    for i in range(1, rounds):
        again = ",".join([f"*a{i - 1}"] * 9)
        lines.append(f"a{i}: &a{i} {line.replace('@', again)}")
    return "\n".join(lines)


class ScalarTest(base.TestCase):
    """Plain scalars are what YAML users know, but dates stay text."""

    TABLE = (
        ("2015-10-15", "2015-10-15"),
        ("2015-10-15 10:00:00Z", "2015-10-15 10:00:00Z"),
        ("'5'", "5"),
        ("5", 5),
        ("-5", -5),
        ("1_000", 1000),
        ("0755", 493),
        ("0x1f", 31),
        ("08", "08"),
        ("1.5", 1.5),
        ("1.5e+3", 1500.0),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("yes", True),
        ("Off", False),
        ("true", True),
        ("~", None),
        ("null", None),
        ("", None),
        ("=", "="),
        ("!!str 5", "5"),
        ("!!float 3", 3.0),
        ("1" * 2000, "1" * 2000),
        ("OS::Nova::Server", "OS::Nova::Server"),
    )

    def test_table(self):
        for text, value in self.TABLE:
            with self.subTest(text=text[:30]):
                read = template_format.load(f"a: {text}")["a"]
                self.assertEqual(value, read)
                self.assertIs(type(value), type(read))

    def test_keys_are_what_json_makes_of_them(self):
        read = template_format.load("1: a\ntrue: b\n~: c\n2015-01-01: d")
        self.assertEqual(
            {"1": "a", "true": "b", "null": "c", "2015-01-01": "d"}, read
        )


class MergeKeyTest(base.TestCase):
    TABLE = (
        ("{<<: *x, b: 3}", {"a": 1, "b": 3}),
        ("{b: 3, <<: *x}", {"a": 1, "b": 3}),
        ("{<<: [*x, {a: 9, c: 4}]}", {"a": 1, "b": 2, "c": 4}),
        ("{'<<': 1}", {"<<": 1}),
    )

    def test_table(self):
        for text, value in self.TABLE:
            with self.subTest(text=text):
                read = template_format.load(f"x: &x {{a: 1, b: 2}}\ny: {text}")
                self.assertEqual(value, read["y"])


class ErrorTest(base.TestCase):
    """Errors name the place; none costs anything."""

    TABLE = (
        ("a: b: c", "line 1, column 5"),
        ("a:\n\tb: c", "line 2, column 1"),
        ("a: *b", "alias *b"),
        ("a: &a [*a]", "alias *a"),
        ("a: 1\n---\nb: 2", "one document"),
        ("a: !!binary aaaa", "the tag"),
        ("a: !!set {x}", "the tag"),
        ("a: !!python/object:os.system {}", "the tag"),
        ("a: !!int x", "the tag"),
        ("a: {<<: 1}", "<< needs a map"),
        ("{[1]: 2}", "can't be a key"),
        ("a: \x00", "control characters"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a": 1e999}', "too large"),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 100_000, "levels deep"),
        ("- " * 100_000, "levels deep"),
        (_bomb("[x,x,x,x,x,x,x,x,x]", "[@]"), "more than 500000 values"),
        (_bomb("{x: 1}", "{<<: [@]}"), "more than 500000 values"),
        (_bomb("x" * 10_000, "[@]", 6), "more than 500000 values"),
        (
            "a0: &a0 [[[[[x]]]]]\n"
            + "\n".join(
                f"a{i}: &a{i} [[[[[*a{i - 1}]]]]]" for i in range(1, 40)
            ),
            "levels deep",
        ),
    )

    def test_table(self):
        for text, part in self.TABLE:
            with self.subTest(text=text[:40]):
                exc = self.assertRaises(ValueError, template_format.load, text)
                self.assertIn(part, str(exc))
                self.assertIs(ValueError, type(exc))

    def test_bytes_are_bounded(self):
        load = template_format.load
        self.assertEqual({"a": 1}, load("a: 1", max_bytes=4))
        exc = self.assertRaises(ValueError, load, "a: 11", "x.yaml", 4)
        self.assertIn("x.yaml", str(exc))
        # Bytes, not characters.
        self.assertRaises(ValueError, load, "é: 1", "x.yaml", 4)

    def test_other_than_text(self):
        self.assertRaises(ValueError, template_format.load, b"a: 1")


class PropertyTest(base.TestCase):
    @_quick
    @hypothesis.given(_JSON)
    def test_json_comes_back(self, value):
        value = {"a": value}
        self.assertEqual(value, template_format.load(json.dumps(value)))

    @_quick
    @hypothesis.given(_JSON)
    def test_json_text_is_yaml_too(self, value):
        # The mark keeps the reader from trying JSON.
        text = "--- " + json.dumps([value])
        self.assertEqual([value], template_format.load(text))

    @_quick
    @hypothesis.given(
        st.text(
            st.sampled_from(list("ab:-[]{},&*!|>'\"#%@`?<= \n\t0123456789.~é"))
        )
    )
    def test_any_text_is_read_or_a_value_error(self, text):
        try:
            value = template_format.load(text)
        except ValueError:
            return
        json.dumps(value, allow_nan=False)
        template_format.check_bounds(value, "value")


class PublicNamesTest(base.TestCase):
    """What tests of plug-ins call."""

    def test_parse(self):
        self.assertEqual(
            {"heat_template_version": "2015-04-30"},
            template_format.parse("heat_template_version: 2015-04-30"),
        )

    def test_parse_needs_a_version(self):
        exc = self.assertRaises(ValueError, template_format.parse, "a: 1")
        self.assertIn("version not found", str(exc))

    def test_simple_parse(self):
        self.assertEqual({"a": 1}, template_format.simple_parse("a: 1"))
        self.assertEqual({}, template_format.simple_parse(""))
        for text in ("[1]", "5", "text"):
            self.assertRaises(ValueError, template_format.simple_parse, text)

    def test_bounds_of_values(self):
        check = template_format.check_bounds
        self.assertEqual(5, check({"a": [1, "é", None]}, "it"))
        self.assertEqual(1, check({}, "it"))
        deep: list = []
        for _level in range(200):
            deep = [deep]
        for value in (
            deep,
            {1: 2},
            {"a": {"b": 1}, "c": {2: 1}},
            {"\udc00": 1},
            {"a": float("inf")},
            ["\udc00"],
        ):
            self.assertRaises(ValueError, check, value, "it")

    def test_bounds_count_what_is_repeated(self):
        many = ["x"] * (template_format.MAX_NODES // 10)
        template_format.check_bounds([many] * 9, "it")
        # Listed one by one these would need all memory there is.
        for value in ([many] * 10, [many] * 10**6, {"a": [[many] * 10**6]}):
            exc = self.assertRaises(
                ValueError, template_format.check_bounds, value, "it"
            )
            self.assertIn("more than 500000 values", str(exc))
