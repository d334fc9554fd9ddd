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
"""What nodes await: whether it has come, and what it says.

A message may come before its node is ready: its row was let go of by an
operation that was superseded, or it was sent twice. Nothing may be decided
about such a node, as it may be ready when that is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from heat.db import properties_data, resources, sync_points
from heat.engine.ports import NodeKey
from heat.engine.traversal.scene import Scene


def acting_rows(
    conn: sa.Connection,
    scene: Scene,
    rows: dict[int, resources.ResourceRecord],
    keys: Iterable[NodeKey],
) -> dict[NodeKey, resources.ResourceRecord]:
    """Follow ``replaced_by`` while it leads to a row of this template.

    So a duplicate or a recovered message always works on the replacement
    that is there already, and never builds a third object. The clean-up
    half works on the row of the key itself.
    """
    acting: dict[NodeKey, resources.ResourceRecord] = {}
    for key in keys:
        row = rows.get(key[0])
        seen: set[int] = set()
        while (
            key[1] and row and row.replaced_by and row.replaced_by not in seen
        ):
            seen.add(row.replaced_by)
            if row.replaced_by not in rows:
                rows.update(resources.get_many(conn, [row.replaced_by]))
            successor = rows.get(row.replaced_by)
            if (
                successor is None
                or successor.current_template_id != scene.target_template_id
            ):
                break
            row = successor
        if row is not None:
            acting[key] = row
    return acting


def take(
    conn: sa.Connection, scene: Scene, keys: Collection[NodeKey]
) -> set[NodeKey]:
    """Learn what nodes were told that other engines finished.

    What a finished node tells its dependants is what its row says: its
    acting row's id, reference id and attributes, all written in the
    transaction that marked it done. So only nodes that have all their
    inputs may ask.

    :returns: the keys that have not: somebody was too early with them
    """
    asking = {
        key: missing
        for key in keys
        if key[1] and (missing := scene.missing_inputs(key[0]))
    }
    if not asking:
        return set()
    able = sync_points.ready_among(conn, scene.traversal, asking.keys())
    senders = {(row, True) for key in able for row in asking[key]}
    rows = resources.get_many(conn, {key[0] for key in senders})
    acting = acting_rows(conn, scene, rows, senders)
    stored = properties_data.get_many(
        conn, [row.attr_data_id for row in acting.values()]
    )
    for key, row in acting.items():
        attributes = stored.get(row.attr_data_id or 0)
        scene.tell(key[0], row.id, row.reference_id, attributes)
    return asking.keys() - able


def early_cleanups(
    conn: sa.Connection,
    scene: Scene,
    rows: dict[int, resources.ResourceRecord],
    keys: Iterable[NodeKey],
) -> set[NodeKey]:
    """Clean-up nodes that came before the update half was over.

    There is nothing to do with a row that is the living one, and it may be
    replaced yet: then its object would stay, and what that hangs on go. In
    time no row is the living one, but that of a nested stack: so hardly
    ever is there something to ask.

    :param rows: of the nodes, as they were read; those that may have been
        read too early are read once more
    """
    living = {
        key
        for key in keys
        if not key[1]
        and (key[0], True) in scene.graph
        and (row := rows.get(key[0])) is not None
        and row.replaced_by is None
        and not row.stray
    }
    if not living:
        return set()
    able = sync_points.ready_among(conn, scene.traversal, living)
    rows.update(resources.get_many(conn, {key[0] for key in able}))
    return living - able
