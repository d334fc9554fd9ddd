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
"""Draws the graph of one traversal. Pure.

Nodes are keys ``(row id, is_update)``; an edge says *requires*. The stack
itself is row 0: ``(0, True)`` gathers the update half, ``(0, False)`` gathers
that and the clean-up half, so the end of a traversal is a node like any
other. The graph is built once, by an ordered list of small steps, and never
changed afterwards: a replacement works under the key of the row it replaces.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Self

NodeKey = tuple[int, bool]

STACK_UPDATE: NodeKey = (0, True)
STACK_CLEANUP: NodeKey = (0, False)


@dataclasses.dataclass(frozen=True)
class Extant:
    """A row that was there before the traversal began.

    :param requires: row ids that it required when it was last finished
    """

    row_id: int
    requires: frozenset[int] = frozenset()


class TraversalGraph:
    """The graph: who requires whom, both ways round.

    :ivar cancels: operations of earlier traversals end at their next poll
    :ivar abandons: clean-up lets every object go
    :ivar observes: live objects are looked at before they are updated
    :ivar cleans: it only deletes what earlier traversals have kept
    """

    def __init__(
        self,
        requires: Mapping[NodeKey, Iterable[NodeKey]],
        *,
        cancels: bool = False,
        abandons: bool = False,
        observes: bool = False,
        cleans: bool = False,
    ) -> None:
        self.cancels = cancels
        self.abandons = abandons
        self.observes = observes
        self.cleans = cleans
        self._requires: dict[NodeKey, tuple[NodeKey, ...]] = {
            key: tuple(sorted(set(needs))) for key, needs in requires.items()
        }
        self._required_by: dict[NodeKey, list[NodeKey]] = {
            key: [] for key in self._requires
        }
        for key, needs in self._requires.items():
            for need in needs:
                self._required_by[need].append(key)

    def __contains__(self, key: NodeKey) -> bool:
        return key in self._requires

    def __len__(self) -> int:
        return len(self._requires)

    def nodes(self) -> Iterable[NodeKey]:
        return self._requires.keys()

    def requires(self, key: NodeKey) -> tuple[NodeKey, ...]:
        return self._requires[key]

    def required_by(self, key: NodeKey) -> list[NodeKey]:
        return self._required_by[key]

    def ready(self) -> list[NodeKey]:
        """The nodes that require nothing, in order."""
        return [key for key, needs in self._requires.items() if not needs]

    def all_dependants(self, key: NodeKey) -> set[NodeKey]:
        """Every node that can't run without this one, the stack's not."""
        seen: set[NodeKey] = set()
        todo = [key]
        while todo:
            for above in self._required_by[todo.pop()]:
                if above[0] and above not in seen:
                    seen.add(above)
                    todo.append(above)
        return seen

    def unordered(self) -> list[NodeKey]:
        """Nodes that no order reaches: empty unless there is a cycle."""
        left = {key: len(needs) for key, needs in self._requires.items()}
        todo = [key for key, count in left.items() if not count]
        while todo:
            key = todo.pop()
            del left[key]
            for above in self._required_by[key]:
                left[above] -= 1
                if not left[above]:
                    todo.append(above)
        return sorted(left)

    def to_json(self) -> dict[str, Any]:
        """The stored form: each key is row id * 2 + is_update."""
        return {
            "cancels": self.cancels,
            "abandons": self.abandons,
            "observes": self.observes,
            "cleans": self.cleans,
            "nodes": [
                [_code(key), [_code(need) for need in needs]]
                for key, needs in self._requires.items()
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> Self:
        stored = data or {}
        return cls(
            {
                _key(key): [_key(need) for need in needs]
                for key, needs in stored.get("nodes", ())
            },
            cancels=bool(stored.get("cancels")),
            abandons=bool(stored.get("abandons")),
            observes=bool(stored.get("observes")),
            cleans=bool(stored.get("cleans")),
        )


def _code(key: NodeKey) -> int:
    return key[0] * 2 + key[1]


def _key(code: int) -> NodeKey:
    return (code >> 1, bool(code & 1))


_Needs = dict[NodeKey, set[NodeKey]]


def build(
    wanted: Mapping[str, int],
    dependencies: Mapping[str, Iterable[str]],
    extant: Iterable[Extant],
    *,
    cancels: bool = False,
    deletes: bool = False,
) -> TraversalGraph:
    """Build the graph of a traversal that reaches a template.

    :param wanted: resource name -> row id, for every resource of the target
        template
    :param dependencies: resource name -> names that it requires
    :param extant: every row that was there before, old versions included;
        rows inserted for this traversal have nothing to clean up
    :param deletes: the stack goes, so nothing comes before the clean-up
    :raises ValueError: when the graph would have a cycle
    """
    rows = {row.row_id: row for row in extant}
    needs: _Needs = {}
    _add_updates(needs, wanted, dependencies)
    _add_cleanups(needs, rows)
    _add_stack(needs, one_half=deletes)
    return _checked(needs, cancels)


def walk(
    rows: Iterable[Extant], *, down: bool, cancels: bool = False
) -> TraversalGraph:
    """Build the graph of an action on what is there.

    :param down: what requires others goes first (SUSPEND), as in clean-up;
        else what is required goes first (RESUME, CHECK)
    :raises ValueError: when the graph would have a cycle
    """
    needs: _Needs = {}
    known = {row.row_id: row for row in rows}
    for row_id in known:
        needs[(row_id, not down)] = set()
    for row_id, row in known.items():
        for required in row.requires & known.keys() - {row_id}:
            if down:
                needs[(required, False)].add((row_id, False))
            else:
                needs[(row_id, True)].add((required, True))
    _add_stack(needs, one_half=down)
    return _checked(needs, cancels)


def _checked(needs: _Needs, cancels: bool) -> TraversalGraph:
    graph = TraversalGraph(needs, cancels=cancels)
    if left := graph.unordered():
        raise ValueError(f"the graph has a cycle through {left}")
    return graph


def _add_updates(
    needs: _Needs,
    wanted: Mapping[str, int],
    dependencies: Mapping[str, Iterable[str]],
) -> None:
    """Update nodes run in the order of the template."""
    for name, row_id in wanted.items():
        needs[(row_id, True)] = {
            (wanted[other], True)
            for other in dependencies.get(name, ())
            if other in wanted
        }


def _add_cleanups(needs: _Needs, rows: Mapping[int, Extant]) -> None:
    """Clean-up goes backwards: what required a row goes before the row.

    ``replaces`` gives no edge: between two clean-up nodes it could close a
    cycle when dependencies were inverted meanwhile, and that a replacement
    is there before its predecessor goes is what the stack's node is for.
    """
    for row_id in rows:
        needs[(row_id, False)] = set()
    for row_id, row in rows.items():
        for required in row.requires:
            if required in rows and required != row_id:
                needs[(required, False)].add((row_id, False))


def _add_stack(needs: _Needs, *, one_half: bool = False) -> None:
    """The stack's own nodes: between the halves, and at the end.

    No clean-up before the whole update half is done: only then does the
    new template count as completed, and until then a failure goes back to
    the old objects, which had better be alive.

    :param one_half: there are clean-up nodes only, whatever becomes of it
    """
    if one_half:
        needs[STACK_CLEANUP] = set(needs)
        return
    updates = [key for key in needs if key[1]]
    cleanups = [key for key in needs if not key[1]]
    required = {need for each in needs.values() for need in each}
    needs[STACK_UPDATE] = {key for key in updates if key not in required}
    # All of them: which are left to wait for is known only between the
    # halves, when the living ones are taken out.
    needs[STACK_CLEANUP] = {STACK_UPDATE, *cleanups}
    if updates:
        for key in cleanups:
            if not needs[key]:
                needs[key].add(STACK_UPDATE)
