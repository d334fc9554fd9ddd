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
"""A directed graph of things that require one another.

An edge says *a requires b*: b comes first. Nodes are any hashable values;
their order of insertion decides wherever there is a choice, so all results
are the same every time. All operations take time linear in nodes and edges,
and none recurses.

It must not know what the nodes are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from heat.common import exception

K = TypeVar("K", bound=Hashable)


class Graph(Generic[K]):
    """Nodes, and which requires which.

    :param requires: node -> nodes that it requires
    """

    def __init__(
        self, requires: Mapping[K, Iterable[K]] | None = None
    ) -> None:
        # Dictionaries as ordered sets.
        self._requires: dict[K, dict[K, None]] = {}
        self._required_by: dict[K, dict[K, None]] = {}
        for node in requires or ():
            self.add(node)
        for node, needs in (requires or {}).items():
            self.add(node, *needs)

    def add(self, node: K, *requires: K) -> None:
        """Add a node, and edges to what it requires."""
        self._add_node(node)
        for need in requires:
            self._add_node(need)
            self._requires[node][need] = None
            self._required_by[need][node] = None

    def _add_node(self, node: K) -> None:
        if node not in self._requires:
            self._requires[node] = {}
            self._required_by[node] = {}

    def remove(self, node: K) -> None:
        """Take out a node and its edges.

        :raises KeyError: when it isn't there
        """
        for need in self._requires.pop(node):
            if need != node:
                del self._required_by[need][node]
        for other in self._required_by.pop(node):
            if other != node:
                del self._requires[other][node]

    def __contains__(self, node: object) -> bool:
        return node in self._requires

    def __len__(self) -> int:
        return len(self._requires)

    def __iter__(self) -> Iterator[K]:
        return iter(self._requires)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return bool(self._requires == other._requires)

    __hash__ = None  # type: ignore[assignment]

    @property
    def nodes(self) -> tuple[K, ...]:
        """All nodes, in order of insertion."""
        return tuple(self._requires)

    @property
    def edges(self) -> list[tuple[K, K]]:
        """All (node, what it requires) pairs."""
        return [
            (node, need)
            for node, needs in self._requires.items()
            for need in needs
        ]

    def requires(self, node: K) -> tuple[K, ...]:
        """What a node requires directly.

        :raises KeyError: when it isn't there
        """
        return tuple(self._requires[node])

    def required_by(self, node: K) -> tuple[K, ...]:
        """The nodes that require one directly.

        :raises KeyError: when it isn't there
        """
        return tuple(self._required_by[node])

    def leaves(self) -> list[K]:
        """The nodes that require nothing: where work begins."""
        return [node for node, needs in self._requires.items() if not needs]

    def roots(self) -> list[K]:
        """The nodes that nothing requires: where work ends."""
        return [node for node, by in self._required_by.items() if not by]

    def reversed(self) -> Graph[K]:
        """The graph with every edge turned round."""
        made: Graph[K] = Graph()
        made._requires = {n: dict(by) for n, by in self._required_by.items()}
        made._required_by = {n: dict(by) for n, by in self._requires.items()}
        return made

    def reachable(self, *nodes: K) -> set[K]:
        """The nodes that some require, directly or not; not themselves,
        unless they're in a cycle."""
        seen: set[K] = set()
        todo = list(nodes)
        while todo:
            for need in self._requires[todo.pop()]:
                if need not in seen:
                    seen.add(need)
                    todo.append(need)
        return seen

    def topological(self) -> list[K]:
        """All nodes, each after everything that it requires.

        :raises CircularDependencyException: naming a cycle
        """
        missing = {node: len(needs) for node, needs in self._requires.items()}
        order = [node for node, count in missing.items() if not count]
        for node in order:
            # The list grows while it's read: it is the queue, too.
            for other in self._required_by[node]:
                missing[other] -= 1
                if not missing[other]:
                    order.append(other)
        if len(order) < len(missing):
            cycle = self.find_cycle() or []
            raise exception.CircularDependencyException(
                cycle=" -> ".join(str(node) for node in [*cycle, cycle[0]])
            )
        return order

    def find_cycle(self) -> list[K] | None:
        """A cycle, each node followed by one it requires; None if none.

        The first node is not repeated at the end.
        """
        finished: set[K] = set()
        for start in self._requires:
            if start not in finished:
                cycle = self._cycle_from(start, finished)
                if cycle is not None:
                    return cycle
        return None

    def _cycle_from(self, start: K, finished: set[K]) -> list[K] | None:
        path = {start: iter(self._requires[start])}
        trail = [start]
        while trail:
            node = trail[-1]
            for need in path[node]:
                if need in path:
                    return trail[trail.index(need) :]
                if need not in finished:
                    path[need] = iter(self._requires[need])
                    trail.append(need)
                    break
            else:
                finished.add(node)
                del path[node]
                trail.pop()
        return None

    def to_list(self) -> list[list[Any]]:
        """A form for JSON: ``[node, [what it requires, ...]]`` each.

        Nodes must be what JSON can hold; tuples become lists.
        """
        return [[node, list(needs)] for node, needs in self._requires.items()]

    @classmethod
    def from_list(
        cls,
        data: Iterable[Iterable[Any]],
        node: Callable[[Any], K] | None = None,
    ) -> Self:
        """The graph of :meth:`to_list`, as it was or after JSON.

        :param node: makes a node of what JSON made of it; by default lists
            become tuples
        """
        made = cls()
        read: Callable[[Any], Any] = node or _node
        pairs = [(read(key), [read(n) for n in needs]) for key, needs in data]
        for key, _needs in pairs:
            made.add(key)
        for key, needs in pairs:
            made.add(key, *needs)
        return made


def _node(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
