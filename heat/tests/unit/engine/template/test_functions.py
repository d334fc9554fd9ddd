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
"""Results and errors of functions, by table."""

from __future__ import annotations

import hashlib
from typing import Any

from heat.common import exception
from heat.engine import function
from heat.engine.template import hot
from heat.tests import base
from heat.tests.unit.engine.template import stacks

_OLD = "2013-05-23"
_DEEP = "[" * 10 + "]" * 10


def _f(name: str, args: Any) -> dict:
    return {name: args}


# name, arguments, result; in the newest version
RESULTS = (
    ("get_param", "text", "abc"),
    ("get_param", "five", 5),
    ("get_param", "flag", True),
    ("get_param", "items", ["x", " y", "z"]),
    ("get_param", ["items", 1], " y"),
    ("get_param", ["items", "1"], " y"),
    ("get_param", ["items", -1], "z"),
    ("get_param", ["items", 7], ""),
    ("get_param", ["tree", "a", "b", 1], 2),
    ("get_param", ["tree", "no", "b"], ""),
    ("get_param", ["tree", "c"], None),
    ("get_param", ["text", "x"], ""),
    ("get_param", "OS::stack_name", "name"),
    ("get_param", "OS::stack_id", "id"),
    ("get_param", "OS::project_id", "project"),
    ("get_param", "OS::region", None),
    ("get_resource", "made", "ref-1"),
    ("get_resource", "later", "later"),
    ("get_attr", ["made", "out"], {"k": ["v0", "v1"]}),
    ("get_attr", ["made", "out", "k", 1], "v1"),
    ("get_attr", ["made", "out", "live"], "asked"),
    ("get_attr", ["made", "ids", "1"], "i1"),
    ("get_attr", ["made", "ids", 5], None),
    ("get_attr", ["made", "out", "k", 1, 0], "v"),
    ("get_attr", ["made", "out", "k", 1, 2], None),
    ("get_attr", ["made", "out", "k", 1, "x"], None),
    ("get_attr", ["made", "no"], None),
    ("get_attr", ["made", {"get_param": "nothing"}], None),
    ("get_attr", ["made"], {"out": 1}),
    ("get_attr", ["later", "out", "k"], None),
    ("list_join", ["-", ["a", "b"]], "a-b"),
    ("list_join", ["", ["a"], ["b", 3]], "ab3"),
    ("list_join", [",", {"get_param": "items"}], "x, y,z"),
    ("list_join", [",", [{"a": 1}, [2]]], '{"a": 1},[2]'),
    ("list_join", [",", []], ""),
    ("list_join", [",", {"get_attr": ["later", "out"]}], ""),
    ("list_join", [",", ["a", {"get_attr": ["later", "out"]}]], "a,"),
    (
        "str_replace",
        {"template": "%a% %b%", "params": {"%a%": 1, "%b%": "%a%"}},
        "1 %a%",
    ),
    (
        "str_replace",
        {"template": "x xx xxx", "params": {"x": "1", "xx": "2"}},
        "1 2 21",
    ),
    (
        "str_replace",
        {"template": "a b", "params": {"a": {"k": [1]}, "b": None}},
        '{"k": [1]} ',
    ),
    (
        "str_replace",
        {
            "template": {"get_param": "text"},
            "params": {"b": {"get_attr": ["later", "out"]}},
        },
        "ac",
    ),
    ("str_replace", {"template": "a", "params": {"a": True}}, "True"),
    ("str_replace_strict", {"template": "ab", "params": {"a": ""}}, "b"),
    ("str_replace_vstrict", {"template": "ab", "params": {"a": "c"}}, "cb"),
    (
        "str_replace_vstrict",
        {"template": "ab", "params": {"a": {"get_attr": ["later", "x"]}}},
        "b",
    ),
    ("digest", ["md5", "x"], "9dd4e461268c8034f5c8564e155c67a6"),
    ("digest", ["SHA512", "é"], hashlib.sha512("é".encode()).hexdigest()),
    ("str_split", [",", "a,b"], ["a", "b"]),
    ("str_split", [",", "a,b", 1], "b"),
    ("str_split", [",", "a,b", "0"], "a"),
    ("str_split", [",", "a,b,c", "-1"], "c"),
    ("str_split", [",", "a,b,c", -3], "a"),
    ("str_split", [",", None], None),
    ("str_split", [",", {"get_attr": ["later", "x"]}], None),
    ("str_split", [",", {"get_attr": ["later", "x"]}, 3], None),
    ("map_merge", [{"a": 1, "b": 2}, {"a": 3}], {"a": 3, "b": 2}),
    ("map_merge", [{"a": 1}, {"get_attr": ["later", "x"]}], {"a": 1}),
    ("map_merge", [], {}),
    (
        "map_replace",
        [{"k1": "v1", "k2": "v2"}, {"keys": {"k1": "K1"}}],
        {"K1": "v1", "k2": "v2"},
    ),
    (
        "map_replace",
        [{"k1": "v1", "k2": 80, "k3": [1]}, {"values": {"v1": 1, "80": "x"}}],
        {"k1": 1, "k2": "x", "k3": [1]},
    ),
    ("map_replace", [{"get_attr": ["later", "x"]}, {"keys": {"a": "b"}}], {}),
    ("filter", [["a", {"x": 1}], ["a", "b", {"x": 1}, "a"]], ["b"]),
    ("filter", [[], {"get_attr": ["later", "x"]}], []),
    ("filter", [None, ["a"]], ["a"]),
    ("contains", ["x", {"get_param": "items"}], True),
    ("contains", ["b", {"get_param": "text"}], True),
    ("contains", ["q", ["a"]], False),
    ("contains", ["q", {"get_attr": ["later", "x"]}], False),
    ("list_concat", [["a"], ["a", "b"], None], ["a", "a", "b"]),
    (
        "list_concat_unique",
        [["a"], ["b", "a"], [{"x": [1]}] * 2],
        ["a", "b", {"x": [1]}],
    ),
    (
        "repeat",
        {"template": "p-%x%", "for_each": {"%x%": ["1", "2"]}},
        ["p-1", "p-2"],
    ),
    (
        "repeat",
        {
            "template": {"port": "%x%", "%y%": ["%x%%y%"]},
            "for_each": {"%x%": [80, 443], "%y%": ["a"]},
        },
        [{"port": 80, "a": ["80a"]}, {"port": 443, "a": ["443a"]}],
    ),
    (
        "repeat",
        {"template": "xy", "for_each": {"x": ["1", "2"], "y": ["a", "b"]}},
        ["1a", "1b", "2a", "2b"],
    ),
    (
        "repeat",
        {
            "template": "xy",
            "for_each": {"x": ["1", "2"], "y": ["a", "b"]},
            "permutations": False,
        },
        ["1a", "2b"],
    ),
    ("repeat", {"template": "x", "for_each": {"x": {"k": 1}}}, ["k"]),
    (
        "repeat",
        {"template": "x", "for_each": {"x": {"get_attr": ["later", "x"]}}},
        [],
    ),
    (
        "make_url",
        {
            "scheme": "https",
            "username": "u@",
            "password": "p:",
            "host": "::1",
            "port": {"get_param": "five"},
            "path": "a b/c",
            "query": {"q": "1 2"},
            "fragment": "f",
        },
        "https://u%40:p%3A@[::1]:5/a%20b/c?q=1+2#f",
    ),
    ("make_url", {"host": "h"}, "//h"),
    ("make_url", {"path": "a/b"}, "a/b"),
    ("make_url", {"scheme": "http", "host": "h", "port": "80"}, "http://h:80"),
    (
        "yaql",
        {
            "expression": "$.data.a.where($ > 1)",
            "data": {"a": [1, 2, 3]},
        },
        [2, 3],
    ),
    (
        "yaql",
        {"expression": "$.data", "data": {"get_attr": ["later", "x"]}},
        None,
    ),
    ("get_file", "a.txt", "content"),
    ("if", [True, "a", "b"], "a"),
    ("if", [{"equals": [{"get_param": "five"}, 5]}, "a", "b"], "a"),
    ("if", [{"not": False}, "a"], "a"),
    ("if", [{"or": [False, {"and": [True, False]}]}, "a", "b"], "b"),
    ("if", [{"contains": ["x", ["x"]]}, {"get_param": "text"}, 0], "abc"),
    ("if", [{"get_param": "flag"}, 1, 2], 1),
    ("if", [False, "a"], None),
    ("resource_facade", "metadata", {"m": 1}),
    ("resource_facade", "update_policy", None),
)

# version, name, arguments, result
OLD_RESULTS = (
    (_OLD, "Ref", "text", "abc"),
    (_OLD, "Ref", "made", "ref-1"),
    (_OLD, "Fn::Select", ["1", ["a", "b"]], "b"),
    (_OLD, "Fn::Select", ["k", {"k": "v"}], "v"),
    (_OLD, "Fn::Select", [5, ["a"]], ""),
    (_OLD, "Fn::Select", [0, {"get_attr": ["later", "x"]}], ""),
    (_OLD, "Fn::Join", ["-", ["a", "b"]], "a-b"),
    (_OLD, "Fn::Split", [",", "a,b"], ["a", "b"]),
    (_OLD, "Fn::Replace", [{"a": "b"}, "a-a"], "b-b"),
    (_OLD, "Fn::Base64", "abc", "abc"),
    (
        _OLD,
        "Fn::MemberListToMap",
        ["N", "V", [".member.0.N=k", ".member.0.V=v=w"]],
        {"k": "v=w"},
    ),
    (_OLD, "Fn::GetAZs", "", ["nova"]),
    (_OLD, "Fn::ResourceFacade", "Metadata", {"m": 1}),
    # The path is no part of what the resource is asked.
    (_OLD, "get_attr", ["made", "out", "live"], None),
    (_OLD, "get_attr", ["made", "out", "k", "0"], "v0"),
    ("2014-10-16", "get_attr", ["made", "out", "live"], "asked"),
    ("2014-10-16", "Fn::Select", [0, ["a"]], "a"),
    # What a version doesn't have stays a map.
    ("2014-10-16", "Ref", "text", {"Ref": "text"}),
    (_OLD, "digest", ["md5", "x"], {"digest": ["md5", "x"]}),
    ("2016-04-08", "if", [True, 1, 2], {"if": [True, 1, 2]}),
    ("2016-04-08", "equals", [1, 1], {"equals": [1, 1]}),
    # What conditions are made of gives true or false in a value.
    ("2016-10-14", "equals", [1, 1], True),
    (stacks.NEWEST, "equals", [{"get_attr": ["made", "a"]}, 1], False),
    (stacks.NEWEST, "not", {"get_param": "flag"}, False),
    (stacks.NEWEST, "not", {"equals": [1, 1]}, False),
    (stacks.NEWEST, "and", [True, {"contains": ["x", ["x"]]}], True),
    (stacks.NEWEST, "or", [False, {"equals": [1, "1"]}], False),
    (stacks.NEWEST, "no_function", 1, {"no_function": 1}),
)

# version, name, arguments, part of the message
ERRORS = (
    (stacks.NEWEST, "get_param", "nobody", "(nobody)"),
    (stacks.NEWEST, "get_param", [], "expected"),
    (stacks.NEWEST, "get_param", {"a": 1}, "expected"),
    (stacks.NEWEST, "get_param", None, "expected"),
    (stacks.NEWEST, "get_resource", "nobody", '"nobody"'),
    (stacks.NEWEST, "get_resource", "disabled", "condition is false"),
    (stacks.NEWEST, "get_resource", ["a"], "expected"),
    (stacks.NEWEST, "get_attr", ["nobody", "a"], '"nobody"'),
    (stacks.NEWEST, "get_attr", ["disabled", "out"], "condition is false"),
    (stacks.NEWEST, "get_attr", "made", "expected"),
    (stacks.NEWEST, "get_attr", [], "expected"),
    ("2014-10-16", "get_attr", ["made"], "expected"),
    (stacks.NEWEST, "get_attr", ["made", {"a": 1}], "expected"),
    (stacks.NEWEST, "list_join", [",", "abc"], "must be a list"),
    (stacks.NEWEST, "list_join", [",", {"a": 1}], "expected"),
    (stacks.NEWEST, "list_join", [5, ["a"]], "delimiter"),
    (stacks.NEWEST, "list_join", [","], "expected"),
    (_OLD, "list_join", [",", ["a"], ["b"]], "expected"),
    (_OLD, "list_join", [",", [{"a": 1}]], "must be strings"),
    (stacks.NEWEST, "list_join", [",", [True]], "must be strings"),
    (stacks.NEWEST, "str_replace", {"template": "a"}, '"params" is missing'),
    (
        stacks.NEWEST,
        "str_replace",
        {"template": "a", "params": {}, "x": 1},
        'Unknown key "x"',
    ),
    (stacks.NEWEST, "str_replace", ["a"], "expected"),
    (
        stacks.NEWEST,
        "str_replace",
        {"template": ["a"], "params": {}},
        "expected",
    ),
    (
        stacks.NEWEST,
        "str_replace",
        {"template": "a", "params": {"": "b"}},
        "empty string",
    ),
    (
        _OLD,
        "str_replace",
        {"template": "a", "params": {"a": ["b"]}},
        '"a" must be a string',
    ),
    (
        stacks.NEWEST,
        "str_replace_strict",
        {"template": "a", "params": {"b": "c"}},
        "not found in the template: b",
    ),
    (
        stacks.NEWEST,
        "str_replace_vstrict",
        {"template": "a", "params": {"a": ""}},
        '"a" is empty',
    ),
    (stacks.NEWEST, "digest", ["crc", "x"], "algorithm"),
    (stacks.NEWEST, "digest", ["md5", 5], "must be a string"),
    (stacks.NEWEST, "str_split", [",", "a", 1], "not between -1 and 0"),
    (stacks.NEWEST, "str_split", [",", "a", -2], "not between -1 and 0"),
    (stacks.NEWEST, "str_split", [",", "a", "x"], "whole number"),
    (stacks.NEWEST, "str_split", ["", "a"], "empty"),
    (stacks.NEWEST, "str_split", [",", ["a"]], "must be a string"),
    (stacks.NEWEST, "map_merge", [["a"]], "must be a map"),
    (stacks.NEWEST, "map_merge", "a", "expected"),
    (
        stacks.NEWEST,
        "map_replace",
        [{"a": 1, "b": 2}, {"keys": {"a": "b"}}],
        "twice",
    ),
    (stacks.NEWEST, "map_replace", [{}, {"x": {}}], 'Unknown key "x"'),
    (stacks.NEWEST, "filter", ["a", ["b"]], "expected"),
    (stacks.NEWEST, "filter", [["a"], None], "expected"),
    (stacks.NEWEST, "contains", ["a", 5], "must be a list"),
    (stacks.NEWEST, "list_concat", ["ab"], "must be a list"),
    (stacks.NEWEST, "repeat", {"template": "a"}, '"for_each" is missing'),
    (
        stacks.NEWEST,
        "repeat",
        {"template": "a", "for_each": {"a": "bc"}},
        "must be a list",
    ),
    (
        "2015-04-30",
        "repeat",
        {"template": "a", "for_each": {"a": {"b": 1}}},
        "must be a list",
    ),
    (
        "2016-10-14",
        "repeat",
        {"template": "a", "for_each": {"a": []}, "permutations": True},
        'Unknown key "permutations"',
    ),
    (
        stacks.NEWEST,
        "repeat",
        {
            "template": "a",
            "for_each": {"a": [1], "b": []},
            "permutations": False,
        },
        "equal length",
    ),
    (stacks.NEWEST, "make_url", {"port": 0}, "port"),
    (stacks.NEWEST, "make_url", {"hots": "x"}, 'Unknown key "hots"'),
    (stacks.NEWEST, "make_url", {"path": ["x"]}, "path must be"),
    (stacks.NEWEST, "yaql", {"expression": "$.(", "data": 1}, "Bad expr"),
    (stacks.NEWEST, "yaql", {"expression": "$.data + {}", "data": 1}, "can't"),
    (
        stacks.NEWEST,
        "yaql",
        {"expression": "range(100000).len()", "data": 1},
        "can't",
    ),
    (stacks.NEWEST, "get_file", "b.txt", "No content found"),
    (stacks.NEWEST, "get_file", ["a"], "expected"),
    (stacks.NEWEST, "if", [True], "expected"),
    ("2016-10-14", "if", [True, 1], "expected"),
    (stacks.NEWEST, "if", ["nobody", 1, 2], '"nobody"'),
    (stacks.NEWEST, "if", [{"get_attr": ["made", "a"]}, 1, 2], "get_attr"),
    (stacks.NEWEST, "if", [5, 1, 2], "condition must be"),
    (stacks.NEWEST, "if", [{"and": [True]}, 1, 2], "expected"),
    (stacks.NEWEST, "if", [{"equals": [True]}, 1, 2], "expected"),
    (stacks.NEWEST, "if", [{"not": [True]}, 1, 2], "expected"),
    (stacks.NEWEST, "if", [{"get_param": "text"}, 1, 2], "condition must be"),
    (stacks.NEWEST, "resource_facade", "name", "expected"),
    (_OLD, "Ref", "nobody", "(nobody)"),
    (_OLD, "Fn::Select", [0, "["], "list or a map"),
    (_OLD, "Fn::Select", [0], "expected"),
    (_OLD, "Fn::Base64", ["a"], "must be a string"),
    (_OLD, "Fn::MemberListToMap", ["N", "V", ["x"]], "is no member"),
    (_OLD, "Fn::Replace", ["a", "b"], "expected"),
)

_CONTEXT = {
    "files": {"a.txt": "content"},
    "facade": {"metadata": {"m": 1}},
}


class ResultTest(base.TestCase):
    def test_newest(self):
        for name, args, result in RESULTS:
            with self.subTest(call=_f(name, args)):
                made = stacks.value(_f(name, args), **_CONTEXT)
                self.assertEqual(result, made)

    def test_versions(self):
        for version, name, args, result in OLD_RESULTS:
            with self.subTest(version=version, call=_f(name, args)):
                made = stacks.value(_f(name, args), version, **_CONTEXT)
                self.assertEqual(result, made)

    def test_every_function_is_here(self):
        tried = {row[0] for row in RESULTS} | {row[1] for row in OLD_RESULTS}
        for version in hot.VERSIONS.values():
            self.assertLessEqual(set(version.functions), tried)

    def test_every_function_is_explained(self):
        for version in hot.VERSIONS.values():
            for table in (version.functions, version.condition_functions):
                for name, cls in table.items():
                    self.assertIn("::", cls.__doc__ or "", name)
                    self.assertIn(f"{name}:", cls.__doc__ or "")


class ErrorTest(base.TestCase):
    """Every error is of class 400 and names the place."""

    BAD = (
        exception.StackValidationFailed,
        exception.Invalid,
    )

    def test_table(self):
        for version, name, args, part in ERRORS:
            with self.subTest(version=version, call=_f(name, args)):
                try:
                    made = stacks.value(_f(name, args), version, **_CONTEXT)
                except self.BAD as exc:
                    self.assertIn(part, str(exc))
                    if "not supported in condition" not in str(exc):
                        self.assertIn(f"here.{name}", str(exc))
                else:
                    self.fail(f"gave {made!r}")

    def test_inner_function_is_named(self):
        exc = self.assertRaises(
            exception.StackValidationFailed,
            stacks.value,
            {"a": [{"list_join": [",", [{"digest": ["x", "y"]}]]}]},
        )
        self.assertIn("here.a[0].list_join[1][0].digest: ", str(exc))


class OmittedTest(base.TestCase):
    """An ``if`` without third argument leaves things out."""

    def test_places(self):
        nothing = {"if": [False, 1]}
        for snippet, result in (
            ({"a": nothing, "b": 1}, {"b": 1}),
            ([nothing, 1, nothing], [1]),
            ({"a": {"b": nothing}}, {"a": {}}),
            ({"list_join": [",", ["a", nothing]]}, "a"),
            (nothing, None),
            ({"if": [True, nothing, 1]}, None),
            ({"a": {"if": [True, nothing, 1]}}, {}),
        ):
            with self.subTest(snippet=snippet):
                self.assertEqual(result, stacks.value(snippet))


class LimitTest(base.TestCase):
    """A few hundred bytes of template don't make megabytes."""

    def test_nested_replacements(self):
        snippet: Any = "x" * 100
        for _round in range(30):
            snippet = {
                "str_replace": {"template": "yyyy", "params": {"y": snippet}}
            }
        self._refused(snippet, "longer than")

    def test_nested_repeats(self):
        snippet: Any = "x"
        for _round in range(20):
            snippet = {
                "repeat": {"template": snippet, "for_each": {"y": [1] * 10}}
            }
        self._refused(snippet, "more than")

    def test_products(self):
        each = {f"v{i}": list(range(100)) for i in range(5)}
        self._refused(
            {"repeat": {"template": "x", "for_each": each}}, "more than"
        )

    def test_many_replacements(self):
        keys = {f"k{i:06}": "v" for i in range(60_000)}
        self._refused(
            {"str_replace": {"template": " ".join(keys), "params": keys}},
            "too much",
        )

    def _refused(self, snippet: Any, part: str) -> None:
        exc = self.assertRaises(
            exception.StackValidationFailed, stacks.value, snippet
        )
        self.assertIn(part, str(exc))


class SnippetTest(base.TestCase):
    def test_static_snippets_are_not_copied(self):
        made = stacks.parameters_stack()
        snippet = {"a": [1, {"b": "c"}], "d": None}
        parsed = made.t.parse(made, snippet, "here")
        self.assertIs(snippet, parsed)
        self.assertIs(snippet, function.resolve(parsed))

    def test_static_parts_are_not_copied(self):
        made = stacks.parameters_stack()
        static = {"b": ["c"]}
        snippet = {"a": static, "d": {"get_param": "text"}}
        value = function.resolve(made.t.parse(made, snippet, "here"))
        self.assertEqual({"a": static, "d": "abc"}, value)
        self.assertIs(static, value["a"])

    def test_render(self):
        made = stacks.parameters_stack()
        snippet = {"a": [{"list_join": [",", [{"get_param": "text"}]]}]}
        parsed = made.t.parse(made, snippet, "here")
        self.assertEqual(snippet, function.render(parsed))
        self.assertEqual(parsed, made.t.parse(made, snippet, "there"))
