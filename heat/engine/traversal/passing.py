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
"""What a node that is done takes off the nodes that wait for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

import sqlalchemy as sa

from heat.db import sync_points
from heat.engine.graph.build import STACK_UPDATE
from heat.engine.ports import NodeKey
from heat.engine.traversal.scene import Scene


def pass_on(
    conn: sa.Connection,
    scene: Scene,
    keys: Iterable[NodeKey],
    but: Collection[NodeKey] = (),
) -> list[NodeKey]:
    """Take these nodes, just marked done, off what their dependants await.

    :param but: dependants that await nothing any more
    :returns: the nodes that became ready
    """
    counts: Counter[NodeKey] = Counter()
    for key in keys:
        counts.update(
            above for above in scene.graph.required_by(key) if above not in but
        )
    if not counts:
        return []
    complete = [
        key
        for key, amount in counts.items()
        if amount == len(scene.graph.requires(key))
    ]
    # What becomes ready now is not done, so what waits for it is not ready:
    # but between the halves what stays is taken out of the clean-up.
    whole = STACK_UPDATE not in scene.graph
    waits = {
        above
        for key in complete
        if key[1] or whole
        for above in scene.graph.required_by(key)
        if above in counts
    }
    return sync_points.decrement(
        conn, scene.traversal, counts, complete, waits
    )


def arrive(
    conn: sa.Connection, scene: Scene, key: NodeKey, amount: int
) -> list[NodeKey]:
    """Take an amount off what one node awaits; the node when it is ready."""
    return sync_points.decrement(conn, scene.traversal, Counter({key: amount}))
