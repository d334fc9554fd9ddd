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
"""One object under several names of a stack, none of which is to be external.

One of them gets it: whose it is already, else who had it last. The others
were left over from before, or have only read it: each of these makes an
object of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from heat.db import claims, resources
from heat.engine.ports import NodeKey
from heat.engine.resource import external
from heat.engine.traversal.scene import Scene

Holder = claims.Holder


def holders(
    conn: sa.Connection,
    scene: Scene,
    acting: Mapping[NodeKey, resources.ResourceRecord],
) -> dict[int, list[Holder]]:
    """Who has the objects that update nodes may be handed back, by row id."""
    theirs = {
        row.id: row.physical_id
        for key, row in acting.items()
        if key[1] and row.external and row.physical_id is not None
    }
    if not theirs:
        return {}
    found = claims.holders(conn, scene.stack.id, set(theirs.values()))
    return {row_id: found.get(made, []) for row_id, made in theirs.items()}


def move(
    scene: Scene,
    row: resources.ResourceRecord,
    external_id: str | None,
    holders: Iterable[Holder],
) -> external.Move:
    """What the wanted ``external_id`` of a row means for its object.

    :param holders: as of :func:`holders`
    """
    theirs = scene.wanted_external.get(row.physical_id or "", set())
    return external.move(
        external_id,
        made=row.action != "INIT",
        external=row.external,
        physical_id=row.physical_id,
        elsewhere=bool(theirs - {row.name}),
        anothers=_is_anothers(scene, row, holders),
    )


def _is_anothers(
    scene: Scene,
    row: resources.ResourceRecord,
    holders: Iterable[Holder],
) -> bool:
    """Whether another row is the one to have the object as Heat's."""
    last = (row.current_template_id or 0, row.id)
    return any(
        (each.row_id, True) in scene.graph
        and (not each.external or (each.template_id, each.row_id) > last)
        and _is_to_be_heats(scene, each.name)
        for each in holders
        if each.row_id != row.id
    )


def _is_to_be_heats(scene: Scene, name: str) -> bool:
    wish = scene.definition.resource_definitions[name]
    return (
        not wish.reads_external_id() and scene.fixed_external_id(wish) is None
    )
