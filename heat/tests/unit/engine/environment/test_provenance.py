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
"""Where values come from."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from heat.engine.environment import files, provenance
from heat.engine.environment.files import EXPLICIT, INLINE, Layer
from heat.tests import base
from heat.tests.unit.engine.environment import samples


def p(**values: Any) -> dict[str, Any]:
    return {"parameters": values}


def trace(*data: dict[str, Any], **last: Any) -> provenance.Trace:
    made = [Layer(f"f{n}", each) for n, each in enumerate(data)]
    if last:
        made.append(Layer("", p(**last), EXPLICIT))
    return provenance.Trace(made)


class ProvenanceTest(base.TestCase):
    # data of layers, (winner, strategy, merged, lost) of parameter p
    TABLE: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...] = (
        ((1,), (0, "overwrite", (), ())),
        ((1, 2), (1, "overwrite", (), (0,))),
        (({"x": 1}, {"y": 2}), (1, "overwrite", (0,), ())),
        (({"x": 1}, {"x": 2}), (1, "overwrite", (), (0,))),
        (({"x": 1, "y": 1}, {"x": 2}), (1, "overwrite", (0,), ())),
        (({"x": 1}, None), (0, "overwrite", (), (1,))),
        (({"x": 1}, {}), (0, "overwrite", (), (1,))),
        (({"x": {"y": 1}}, {"x": None}), (0, "overwrite", (), (1,))),
        (({"x": 1}, "t", {"y": 1}), (2, "overwrite", (), (0, 1))),
        (([1], [2]), (1, "overwrite", (), (0,))),
    )

    def test_table(self):
        for values, expected in self.TABLE:
            with self.subTest(values=values):
                found = trace(*(p(p=v) for v in values)).source(
                    "parameters", "p"
                )
                self.assertEqual(
                    expected,
                    (found.winner, found.strategy, found.merged, found.lost),
                )

    def test_strategies(self):
        word = {"parameter_merge_strategies": {"p": "merge"}}
        found = trace(p(p="a"), {**p(p="b"), **word}, p(p="c")).source(
            "parameters", "p"
        )
        self.assertEqual(
            (2, "merge", (0, 1), ()),
            (found.winner, found.strategy, found.merged, found.lost),
        )

    def test_explicit_replaces_all(self):
        found = trace(p(p={"x": 1}), p={"y": 1}).source("parameters", "p")
        self.assertEqual(
            (1, (), (0,)), (found.winner, found.merged, found.lost)
        )

    @hypothesis.settings(max_examples=300)
    @hypothesis.given(st.lists(samples.data, max_size=4), st.booleans())
    def test_those_that_lost_are_not_missed(self, given, explicit):
        """Without the layers that lost the value of a key is the same."""
        stack = [Layer(str(n), data) for n, data in enumerate(given)]
        if explicit and given:
            last = {"parameters": given[-1].get("parameters", {})}
            stack[-1] = Layer("", last, EXPLICIT)
        whole = files.merge(stack)
        found = provenance.Trace(stack)
        for section in files.PARAMETER_SECTIONS:
            for source in found.sources(section):
                part = {source.winner, *source.merged}
                self.assertFalse(part & set(source.lost))
                some = files.merge([stack[n] for n in sorted(part)])
                key = source.path[1]
                self.assertEqual(whole[section][key], some[section][key])

    def test_single_resources(self):
        def registry(**resources: Any) -> dict[str, Any]:
            return {"resource_registry": {"T": "U", "resources": resources}}

        found = trace(
            registry(a={"hooks": "pre-create", "T": "V"}),
            registry(a={"hooks": "pre-update"}, b={"T": "W"}),
        )
        self.assertEqual(
            {
                "T": (1, (0,)),
                "resources.a.hooks": (1, (0,)),
                "resources.a.T": (0, ()),
                "resources.b.T": (1, ()),
            },
            {
                ".".join(s.path[1:]): (s.winner, s.lost)
                for s in found.sources("resource_registry")
            },
        )

    def test_files_of_which_nothing_counts(self):
        found = trace(p(a=1), p(a=2, b={"x": 1}), {}, p(b={"y": 1}), a=5)
        self.assertEqual([(0, {4})], list(found.overridden_files()))

    def test_reason(self):
        made = [
            Layer("", p(a=0), INLINE),
            Layer("a.yaml", p(a=1, m={"x": 1})),
            Layer(
                "b.yaml",
                {**p(a=2, m={"y": 1}), "parameter_defaults": {"d": 1}},
            ),
            Layer("c.yaml", {"parameter_defaults": {"a": 9}}),
        ]
        found = provenance.Trace(made)
        for name, text in (
            ("a", "b.yaml parameters.a over c.yaml, a.yaml, environment"),
            ("m", "b.yaml parameters.m with a.yaml"),
            ("d", "b.yaml parameter_defaults.d"),
            ("x", None),
        ):
            with self.subTest(name=name):
                self.assertEqual(text, provenance.reason(found, name))
        made.append(Layer("", p(d=3), EXPLICIT))
        self.assertEqual(
            "explicit parameters.d over b.yaml",
            provenance.reason(provenance.Trace(made), "d"),
        )
