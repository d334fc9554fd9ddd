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
"""Merging environments."""

from __future__ import annotations

import copy
from typing import Any

import hypothesis
from hypothesis import strategies as st

from heat.common import exception
from heat.engine.environment import files
from heat.tests import base

_quick = hypothesis.settings(max_examples=150)
_value = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["", "a", "a,b"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
_section = st.dictionaries(st.sampled_from("abc"), _value, max_size=3)
_data = st.fixed_dictionaries(
    {}, optional={"parameters": _section, "parameter_defaults": _section}
)


def _client_merge(old: Any, new: dict) -> dict:
    """What the public client says it does, written as plainly as can be."""
    made = dict(old) if isinstance(old, dict) else {}
    for key, value in new.items():
        if isinstance(value, dict):
            made[key] = _client_merge(made.get(key), value)
        elif value is None and isinstance(made.get(key), dict):
            pass
        else:
            made[key] = value
    return made


def _merge(*layers: dict, **kwargs: Any) -> dict:
    return files.merge(
        [files.Layer(f"f{i}.yaml", data) for i, data in enumerate(layers)],
        **kwargs,
    )


class ClientMergeTest(base.TestCase):
    @_quick
    @hypothesis.given(st.lists(_data, max_size=4))
    def test_as_the_client(self, layers):
        before = copy.deepcopy(layers)
        expected: dict = {}
        for data in layers:
            expected = _client_merge(expected, data)
        self.assertEqual(expected, _merge(*layers))
        self.assertEqual(before, layers)

    @_quick
    @hypothesis.given(_data)
    def test_twice_is_once(self, data):
        self.assertEqual(_merge(data), _merge(data, data))

    def test_null_does_not_erase_a_map(self):
        made = _merge(
            {"parameters": {"a": {"b": 1}, "c": 1}},
            {"parameters": {"a": None, "c": None}},
        )
        self.assertEqual({"a": {"b": 1}, "c": None}, made["parameters"])

    def test_lists_of_sections_are_united(self):
        made = _merge(
            {"event_sinks": [{"type": "x"}], "encrypted_param_names": ["a"]},
            {
                "event_sinks": [{"type": "x"}, {"type": "y"}],
                "encrypted_param_names": ["b", "a"],
            },
        )
        self.assertEqual([{"type": "x"}, {"type": "y"}], made["event_sinks"])
        self.assertEqual(["a", "b"], made["encrypted_param_names"])

    def test_sections_are_checked(self):
        exc = self.assertRaises(ValueError, _merge, {}, {"params": {}})
        self.assertIn("f1.yaml", str(exc))
        self.assertIn('"params"', str(exc))


class StrategyTest(base.TestCase):
    # strategy, old, new, type, result
    TABLE = (
        ("merge", "a", "b", None, "ab"),
        ("merge", "a", "b", "String", "ab"),
        ("merge", "a,b", "c", "CommaDelimitedList", "a,b,c"),
        ("merge", ["a"], "b, c", "CommaDelimitedList", ["a", "b", "c"]),
        ("merge", "a,b", ["c"], None, ["a", "b", "c"]),
        ("merge", ["a"], ["b"], None, ["a", "b"]),
        ("merge", {"a": {"x": 1}}, {"a": {"y": 2}}, None, {"a": {"y": 2}}),
        (
            "deep_merge",
            {"a": {"x": 1, "l": [1], "s": "p"}},
            {"a": {"y": 2, "l": [2], "s": "q"}},
            None,
            {"a": {"x": 1, "y": 2, "l": [1, 2], "s": "pq"}},
        ),
        ("deep_merge", {"a": 1}, {"a": 2}, None, {"a": 2}),
        ("overwrite", "a", "b", None, "b"),
        ("merge", None, "b", None, "b"),
        ("merge", "a", None, None, "a"),
    )

    def test_table(self):
        for word, old, new, kind, result in self.TABLE:
            for strategies in ({"p": word}, {"default": word}):
                with self.subTest(word=word, old=old, new=new):
                    made = _merge(
                        {"parameters": {"p": old}},
                        {
                            "parameters": {"p": new},
                            "parameter_merge_strategies": strategies,
                        },
                        types={"p": kind} if kind else None,
                    )
                    self.assertEqual({"parameters": {"p": result}}, made)

    @_quick
    @hypothesis.given(
        st.lists(_data, min_size=2, max_size=4),
        st.sampled_from(files.STRATEGIES),
    )
    def test_layers_are_not_changed(self, layers, word):
        """What a file says is read by many requests."""
        for data in layers:
            data["parameter_merge_strategies"] = {"default": word}
        before = copy.deepcopy(layers)
        try:
            _merge(*layers)
        except exception.InvalidMergeStrategyForParam:
            pass
        self.assertEqual(before, layers)

    def test_a_value_that_was_replaced_is_not_changed(self):
        """A copy of the first value was made; the second is none."""
        low = {"parameters": {"p": {"a": 1}}}
        mid = {"parameters": {"p": "x"}}
        for high in ({"b": 2}, {"c": {"d": 3}}):
            layers = [low, {"parameters": {"p": high}}, mid, low]
            layers.append({"parameters": {"p": {"e": high}}})
            before = copy.deepcopy(layers)
            self.assertEqual(
                {"parameters": {"p": {"a": 1, "e": high}}}, _merge(*layers)
            )
            self.assertEqual(before, layers)

    def test_an_earlier_file_fixes_the_strategy(self):
        made = _merge(
            {
                "parameters": {"p": "a", "q": "a"},
                "parameter_merge_strategies": {"p": "merge"},
            },
            {
                "parameters": {"p": "b", "q": "b"},
                "parameter_merge_strategies": {"default": "overwrite"},
            },
            {"parameters": {"p": "c"}},
        )
        self.assertEqual({"p": "abc", "q": "b"}, made["parameters"])

    def test_unknown_word(self):
        exc = self.assertRaises(
            exception.InvalidMergeStrategyForParam,
            _merge,
            {"parameter_merge_strategies": {"p": "melt"}},
        )
        self.assertIn("melt", str(exc))

    def test_conflict_names_both_files(self):
        exc = self.assertRaises(
            exception.ConflictingMergeStrategyForParam,
            _merge,
            {"parameter_merge_strategies": {"p": "merge"}},
            {"parameter_merge_strategies": {"p": "overwrite"}},
        )
        self.assertIn("f0.yaml", str(exc))
        self.assertIn("f1.yaml", str(exc))

    def test_numbers_do_not_merge(self):
        for old, new in ((1, 2), (True, False), ("a", 1), ({}, [])):
            with self.subTest(old=old, new=new):
                self.assertRaises(
                    exception.InvalidMergeStrategyForParam,
                    _merge,
                    {"parameters": {"p": old}},
                    {
                        "parameters": {"p": new},
                        "parameter_merge_strategies": {"p": "merge"},
                    },
                )
