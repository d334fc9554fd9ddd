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
"""Opens the clean-up half, when the whole update half is done.

Only now is it known which rows go: replaced ones, strays, those that left
the template. Nested stacks were updated in place, and some have kept until
now what that replaced. The others are the living ones; their nodes are done
at once, in one statement, so an update in place has no clean-up half at
all. That nothing is skipped by this: a living row has been re-pointed by
now, so what it required before owes it nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import sqlalchemy as sa

from heat.db import sync_points
from heat.engine.graph.build import STACK_CLEANUP
from heat.engine.ports import NodeKey
from heat.engine.traversal.scene import Scene


@dataclasses.dataclass(frozen=True)
class Opened:
    """The clean-up half, as far as there is something to do.

    :ivar ready: the nodes that are ready now
    :ivar going: those whose rows go
    :ivar done: those with nothing to do
    """

    ready: list[NodeKey]
    going: set[NodeKey]
    done: set[NodeKey]


def going(scene: Scene, old: Collection[int]) -> set[NodeKey]:
    """The nodes of rows that have something to clean up.

    :param old: ids of rows that were replaced, of strays, and of nested
        stacks that have kept what they replaced
    """
    graph = scene.graph
    return {
        key
        for key in graph.nodes()
        if key[0]
        and not key[1]
        and (key[0] in old or (key[0], True) not in graph)
    }


def open_half(
    conn: sa.Connection, scene: Scene, going: set[NodeKey]
) -> Opened:
    """Leave only these nodes open, in their order.

    :param going: as :func:`going` gives them
    """
    graph = scene.graph
    nodes = {key for key in graph.nodes() if key[0] and not key[1]}
    if not going:
        # The traversal ends now, and its SyncPoints with it.
        return Opened([], set(), set())
    remaining = {
        key: sum(need in going for need in graph.requires(key))
        for key in going
    }
    remaining[STACK_CLEANUP] = len(going)
    sync_points.keep_open(conn, scene.traversal, remaining)
    ready = sorted(key for key, count in remaining.items() if not count)
    return Opened(ready, going, nodes - going)
