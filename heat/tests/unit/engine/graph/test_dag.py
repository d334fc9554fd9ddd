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
"""Properties of graphs; nodes are integers."""

from __future__ import annotations

import json

import hypothesis
from hypothesis import strategies as st

from heat.common import exception
from heat.engine.graph import dag
from heat.tests import base

_quick = hypothesis.settings(max_examples=150)
_nodes = st.integers(0, 12)
_any = st.dictionaries(_nodes, st.frozensets(_nodes, max_size=5))
# Edges go down only: no cycles.
_acyclic = _any.map(
    lambda d: {n: {m for m in needs if m < n} for n, needs in d.items()}
)


class GraphPropertyTest(base.TestCase):
    @_quick
    @hypothesis.given(_any)
    def test_edges_are_seen_from_both_ends(self, requires):
        graph = dag.Graph(requires)
        self.assertEqual(
            {(n, m) for n, needs in requires.items() for m in needs},
            set(graph.edges),
        )
        for node in graph:
            for need in graph.requires(node):
                self.assertIn(node, graph.required_by(need))
        self.assertEqual(
            set(graph.leaves()), {n for n in graph if not graph.requires(n)}
        )
        self.assertEqual(
            set(graph.roots()), {n for n in graph if not graph.required_by(n)}
        )

    @_quick
    @hypothesis.given(_acyclic)
    def test_order_is_after_what_is_required(self, requires):
        graph = dag.Graph(requires)
        self.assertIsNone(graph.find_cycle())
        order = graph.topological()
        self.assertEqual(sorted(graph.nodes), sorted(order))
        place = {node: i for i, node in enumerate(order)}
        for node, need in graph.edges:
            self.assertLess(place[need], place[node])

    @_quick
    @hypothesis.given(_any)
    def test_a_cycle_or_an_order(self, requires):
        graph = dag.Graph(requires)
        cycle = graph.find_cycle()
        if cycle is None:
            self.assertEqual(len(graph), len(graph.topological()))
            return
        for node, need in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            self.assertIn(need, graph.requires(node))
        self.assertRaises(
            exception.CircularDependencyException, graph.topological
        )

    @_quick
    @hypothesis.given(_any)
    def test_reversed_twice_is_the_same(self, requires):
        graph = dag.Graph(requires)
        turned = graph.reversed()
        self.assertEqual({(b, a) for a, b in graph.edges}, set(turned.edges))
        self.assertEqual(graph, turned.reversed())

    @_quick
    @hypothesis.given(_any, st.booleans())
    def test_json_comes_back(self, requires, pairs):
        if pairs:
            requires = {
                (n, True): {(m, False) for m in needs}
                for n, needs in requires.items()
            }
        graph = dag.Graph(requires)
        data = json.loads(json.dumps(graph.to_list()))
        again = dag.Graph.from_list(data)
        self.assertEqual(graph, again)
        self.assertEqual(graph.nodes, again.nodes)

    @_quick
    @hypothesis.given(_any, _nodes)
    def test_removed_nodes_leave_no_edge(self, requires, node):
        graph = dag.Graph(requires)
        if node not in graph:
            self.assertRaises(KeyError, graph.remove, node)
            return
        graph.remove(node)
        self.assertNotIn(node, graph)
        self.assertEqual([], [e for e in graph.edges if node in e])
        for other in graph:
            self.assertNotIn(node, graph.required_by(other))

    @_quick
    @hypothesis.given(_any, _nodes)
    def test_reachable_is_closed(self, requires, node):
        graph = dag.Graph(requires)
        graph.add(node)
        found = graph.reachable(node)
        self.assertLessEqual(set(graph.requires(node)), found)
        for other in found:
            self.assertLessEqual(set(graph.requires(other)), found)


class GraphTest(base.TestCase):
    def test_the_cycle_is_named(self):
        graph = dag.Graph({"a": ["b"], "b": ["c"], "c": ["b"]})
        self.assertEqual(["b", "c"], graph.find_cycle())
        exc = self.assertRaises(
            exception.CircularDependencyException, graph.topological
        )
        self.assertIn("b -> c -> b", str(exc))

    def test_a_node_that_requires_itself(self):
        self.assertEqual([1], dag.Graph({1: [1]}).find_cycle())

    def test_long_chains_do_not_recurse(self):
        graph = dag.Graph({n: [n + 1] for n in range(20_000)})
        self.assertIsNone(graph.find_cycle())
        self.assertEqual(20_000, graph.topological()[0])
        self.assertEqual(20_000, len(graph.reachable(0)))

    def test_order_of_insertion_decides(self):
        graph = dag.Graph({3: [], 1: [], 2: [3]})
        self.assertEqual([3, 1, 2], graph.topological())
        self.assertEqual((3, 1, 2), graph.nodes)
