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

"""Lets an object make way for its replacement.

A port that a server holds, or an address that a port has, can't be given to
the new object as long as the old one has it. So the old one is asked first
(``prepare_for_replace``); what it noted, to be able to undo that, is stored
with its row. When it is wanted again after all, as by a rollback, its
``changed_beyond`` says so, and its update takes everything back.
"""

from __future__ import annotations

import sqlalchemy as sa

from heat.db import resource_data, sync_points
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.resource.external import Move
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene


def make(engine: Engine, scene: Scene, node: Node) -> None:
    """Ask the object of a node that is going to be replaced.

    May call a service, so no transaction is open; asking twice is harmless.

    :raises HeatException: and what else plug-ins raise: the node fails
    """
    rsrc = node.rsrc
    if rsrc is None or rsrc.resource_id is None or node.row.external:
        return
    if node.move is not Move.NONE:
        # Nothing is made in its place that could want what it has, or it is
        # the user's by now.
        return
    if type(rsrc).prepare_for_replace is Resource.prepare_for_replace:
        return
    if not engine.db.read(lambda conn: _is_current(conn, scene, node)):
        return
    rsrc.prepare_for_replace()
    changed = {
        key: resource_data.DataRecord(value, redact)
        for key, (value, redact) in rsrc.changes().data.items()
    }
    if changed:
        row_id = node.row.id
        engine.db.run(
            lambda conn: resource_data.apply_many(
                conn, {row_id: changed}, {row_id: changed.keys()}
            )
        )


def _is_current(conn: sa.Connection, scene: Scene, node: Node) -> bool:
    """Whether the node is to act still: nothing is taken from an object in
    the name of a traversal that another has superseded."""
    return bool(sync_points.ready_among(conn, scene.traversal, [node.key]))
