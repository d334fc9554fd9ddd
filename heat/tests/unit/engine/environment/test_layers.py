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
"""What requests do to the layers of an environment."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from heat.engine.environment import files, layers
from heat.engine.environment.files import EXPLICIT, FILE, INLINE
from heat.tests import base
from heat.tests.unit.engine.environment import samples


def p(**values: Any) -> dict[str, Any]:
    return {"parameters": values}


def shown(stack: layers.Stack) -> list[tuple[Any, ...]]:
    return [
        (layer.kind, layer.name, dict(layer.data), sorted(layer.cleared))
        for layer in stack
    ]


def values(stack: layers.Stack) -> dict[str, Any]:
    return files.merge(stack).get("parameters", {})


STORED = layers.replace(
    layers.Change(
        inline=p(i=1, b="i"),
        explicit={"e": 1},
        listed=[("a", p(a=1, b="a")), ("c", p(c=1))],
    )
)


class LayersTest(base.TestCase):
    def test_replace(self):
        self.assertEqual(
            [
                # What a file holds is the client's own merge.
                (INLINE, "", p(i=1), []),
                (FILE, "a", p(a=1, b="a"), []),
                (FILE, "c", p(c=1), []),
                (EXPLICIT, "", p(e=1), []),
            ],
            shown(STORED),
        )
        self.assertEqual((), layers.replace(layers.Change()))

    # change, names of the files, values that count
    PATCHES = (
        (layers.Change(), "ac", {"i": 1, "b": "a", "a": 1, "c": 1, "e": 1}),
        (
            layers.Change(listed=[("n", p(b="n")), ("a", p(b="new"))]),
            "acn",
            {"i": 1, "b": "n", "c": 1, "e": 1},
        ),
        (
            layers.Change(listed=[("n", p(b="1")), ("n", p(b="1"))]),
            "acnn",
            {"i": 1, "b": "1", "a": 1, "c": 1, "e": 1},
        ),
        (
            layers.Change(contents={"a": p(b="new"), "other": p(x=1)}),
            "ac",
            {"i": 1, "b": "new", "c": 1, "e": 1},
        ),
        (
            layers.Change(inline=p(b="newest", c=2)),
            "ac",
            {"i": 1, "b": "newest", "a": 1, "c": 2, "e": 1},
        ),
        (
            layers.Change(explicit={"f": {}, "e": None}),
            "ac",
            {"i": 1, "b": "a", "a": 1, "c": 1, "e": None, "f": {}},
        ),
        (
            layers.Change(clear=["e", "b", "i", "unknown"]),
            "ac",
            {"a": 1, "c": 1},
        ),
        (
            layers.Change(clear=["e", "b"], explicit={"e": 2}),
            "ac",
            {"i": 1, "a": 1, "c": 1, "e": 2},
        ),
        (
            layers.Change(clear=["b"], contents={"a": p(a=1, b="new")}),
            "ac",
            {"i": 1, "b": "new", "a": 1, "c": 1, "e": 1},
        ),
        (
            layers.Change(remove=["a"]),
            "c",
            {"i": 1, "c": 1, "e": 1},
        ),
        (
            layers.Change(remove=["a"], listed=[("a", p(c=5))]),
            "ca",
            {"i": 1, "c": 5, "e": 1},
        ),
    )

    def test_patch(self):
        for change, names, result in self.PATCHES:
            with self.subTest(change=change):
                made = layers.patch(STORED, change)
                found = [each.name for each in made if each.kind == FILE]
                self.assertEqual(list(names), found)
                self.assertEqual(result, values(made))
                self.assertIn(EXPLICIT, (made[-1].kind, EXPLICIT))

    def test_unknown_file_to_remove(self):
        exc = self.assertRaises(
            ValueError, layers.patch, STORED, layers.Change(remove=["x"])
        )
        self.assertIn('"x"', str(exc))
        self.assertIn("a, c", str(exc))

    def test_what_is_cleared_stays_so(self):
        made = layers.patch(STORED, layers.Change(clear=["b"]))
        self.assertNotIn("b", values(made))
        for change in (
            layers.Change(contents={"a": p(a=2, b="a")}),
            layers.Change(inline=p(i=7)),
            layers.Change(explicit={"e": 3}),
            layers.Change(listed=[("n", p(c=4))]),
        ):
            with self.subTest(change=change):
                self.assertNotIn("b", values(layers.patch(made, change)))
        for change in (
            layers.Change(contents={"a": p(b="b")}),
            layers.Change(contents={"c": p(b="b")}),
            layers.Change(inline=p(b="b")),
            layers.Change(explicit={"b": "b"}),
            layers.Change(listed=[("n", p(b="b"))]),
        ):
            with self.subTest(change=change):
                self.assertEqual("b", values(layers.patch(made, change))["b"])

    def test_defaults_are_not_cleared(self):
        data = {"parameters": {"a": 1}, "parameter_defaults": {"a": 2}}
        made = layers.patch(
            layers.replace(layers.Change(listed=[("f", data)])),
            layers.Change(clear=["a"]),
        )
        self.assertEqual(
            {"parameters": {}, "parameter_defaults": {"a": 2}},
            files.merge(made),
        )

    def test_true_is_not_one(self):
        made = layers.replace(layers.Change(listed=[("f", p(a=1))]))
        made = layers.patch(made, layers.Change(clear=["a"]))
        made = layers.patch(made, layers.Change(contents={"f": p(a=True)}))
        self.assertIs(True, values(made)["a"])

    def test_inline_layers_that_touch_are_one(self):
        made = STORED
        for number in range(3):
            made = layers.patch(made, layers.Change(inline=p(i=number)))
        kinds = [layer.kind for layer in made]
        self.assertEqual([INLINE, FILE, FILE, INLINE, EXPLICIT], kinds)
        # Not where values are put together.
        word = {"parameter_merge_strategies": {"i": "merge"}}
        made = layers.replace(
            layers.Change(listed=[("f", {**p(i="f"), **word})])
        )
        for text in "xy":
            made = layers.patch(made, layers.Change(inline=p(i=text)))
        self.assertEqual({"i": "fxy"}, values(made))

    def test_split(self):
        params = {**p(a=1, b=2), "parameter_defaults": {"c": 3}}
        rest = {"parameter_defaults": {"c": 3}}
        for explicit, listed, result in (
            (["b", "x"], True, ({**p(a=1), **rest}, {"b": 2})),
            ([], True, (params, {})),
            (None, False, (params, {})),
            (None, True, ({**p(), **rest}, {"a": 1, "b": 2})),
        ):
            with self.subTest(explicit=explicit, listed=listed):
                self.assertEqual(
                    result, layers.split(params, explicit, listed)
                )

    @hypothesis.settings(max_examples=100)
    @hypothesis.given(st.lists(samples.data, min_size=1, max_size=3))
    def test_nothing_of_the_clients_merge_is_left(self, listed):
        merged: dict = {}
        try:
            for data in listed:
                samples.client_update(merged, data)
        except (AttributeError, TypeError):
            # The client itself breaks on a map over a text.
            hypothesis.assume(False)
        left, hooks = layers.reduced(merged, listed)
        self.assertEqual({}, hooks)
        for _path, value in layers.leaves(left):
            # A map that a later null or empty map did not erase.
            self.assertIn(value, ({}, None))

    def test_hooks_come_from_the_request(self):
        def registry(**resources: Any) -> dict[str, Any]:
            return {"resource_registry": {"resources": resources}}

        listed = [registry(a={"hooks": "pre-create"}, b={"T": "U"})]
        inline = registry(
            a={"hooks": "pre-update"}, b={"T": "U", "hooks": "pre-delete"}
        )
        left, hooks = layers.reduced(inline, listed)
        self.assertEqual({}, left)
        made = layers.replace(
            layers.Change(inline=inline, listed=[("f", listed[0])])
        )
        self.assertEqual(inline, files.merge(made))
        # The file's own is no word of the user.
        self.assertEqual(({}, {}), layers.reduced(listed[0], listed))

    def test_nothing_beside_the_files(self):
        empty = {"parameters": {}, "resource_registry": {}, "event_sinks": []}
        left, hooks = layers.reduced(empty, [p(a=1)])
        self.assertFalse(any(left.values()))
        self.assertEqual({}, hooks)
        self.assertEqual(
            layers.replace(layers.Change(listed=[("f", p(a=1))])),
            layers.replace(
                layers.Change(inline=empty, listed=[("f", p(a=1))])
            ),
        )

    def test_what_no_file_holds_stays(self):
        left, _hooks = layers.reduced(
            p(a=1, m={"x": 1, "y": 2}, n={"z": 1}), [p(a=5, m={"x": 7})]
        )
        self.assertEqual(p(m={"y": 2}, n={"z": 1}), left)
