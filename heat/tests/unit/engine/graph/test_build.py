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

"""The graph of a traversal: halves, their order, the stack's own nodes."""

from __future__ import annotations

from heat.engine.graph import build
from heat.engine.graph.build import STACK_CLEANUP, STACK_UPDATE, Extant
from heat.tests import base

# Row 2 requires row 1; both were there before.
ROWS = [Extant(1, frozenset()), Extant(2, frozenset({1}))]


def _needs(graph):
    return {key: set(graph.requires(key)) for key in graph.nodes()}


class BuildTest(base.TestCase):
    def test_an_update_has_two_halves(self):
        graph = build.build({"a": 1, "b": 3}, {"b": ["a"]}, ROWS)
        self.assertEqual(
            {
                (1, True): set(),
                (3, True): {(1, True)},
                STACK_UPDATE: {(3, True)},
                (2, False): {STACK_UPDATE},
                (1, False): {(2, False)},
                STACK_CLEANUP: {STACK_UPDATE, (1, False), (2, False)},
            },
            _needs(graph),
        )

    def test_a_delete_has_one(self):
        graph = build.build({}, {}, ROWS, deletes=True)
        self.assertEqual(
            {
                (2, False): set(),
                (1, False): {(2, False)},
                STACK_CLEANUP: {(1, False), (2, False)},
            },
            _needs(graph),
        )
        self.assertEqual([(2, False)], graph.ready())

    def test_a_stack_of_nothing_is_deleted_at_once(self):
        graph = build.build({}, {}, [], deletes=True)
        self.assertEqual([STACK_CLEANUP], graph.ready())

    def test_what_is_wanted_of_nothing_has_its_update_half(self):
        """A rollback of a create: its template is complete before."""
        graph = build.build({}, {}, ROWS)
        self.assertIn(STACK_UPDATE, graph.requires(STACK_CLEANUP))
        self.assertEqual({STACK_UPDATE, (2, False)}, set(graph.ready()))

    def test_a_walk_down_has_one_half_too(self):
        down = build.walk(ROWS, down=True)
        self.assertEqual(
            {(2, False), (1, False), STACK_CLEANUP}, set(_needs(down))
        )
        up = build.walk(ROWS, down=False)
        self.assertEqual({STACK_UPDATE}, set(up.requires(STACK_CLEANUP)))

    def test_it_is_stored_and_read_as_it_is(self):
        for graph in (
            build.build({"a": 1}, {}, ROWS, cancels=True),
            build.build({}, {}, ROWS, deletes=True),
        ):
            read = build.TraversalGraph.from_json(graph.to_json())
            self.assertEqual(_needs(graph), _needs(read))
            self.assertEqual(graph.cancels, read.cancels)
