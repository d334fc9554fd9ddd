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
"""Whose an object is that was found by the name made up for its row.

No row had recorded it, so nobody could ask before: by now it may be known to
somebody all the same. A stray row may remember it, as who made it has woken
up, and that may have let it go; users may have it in their hands.
"""

from __future__ import annotations

import sqlalchemy as sa

from heat.db import released, resources
from heat.engine.ports import Engine
from heat.engine.traversal import decide, gather
from heat.engine.traversal.scene import Scene

# What becomes of an object that is not deleted.
_SPARING = frozenset({decide.Step.FORGET, decide.Step.RELEASE})


def is_free(
    engine: Engine, scene: Scene, node: gather.Node, physical_id: str
) -> bool:
    """Whether a node's row may have an object that was found for it.

    One that only a stray row knows is free to be gone on with, and to be
    deleted, unless that row is to let it go.
    """
    held, going, let_go = engine.db.read(
        lambda conn: _look(conn, scene, node, physical_id)
    )
    if held or let_go:
        return False
    if node.step is not decide.Step.DELETE:
        return True
    for each in going:
        gather.plan_cleanup(engine, scene, each)
    return all(each.step not in _SPARING for each in going)


def _look(
    conn: sa.Connection, scene: Scene, node: gather.Node, physical_id: str
) -> tuple[bool, list[gather.Node], bool]:
    """Whether it is the user's, the strays that know it, whether it was let
    go: asked last, as who lets go ends the row in the same transaction."""
    tenant, stack_id = scene.stack.tenant, scene.stack.id
    strays = {
        (row.id, False): row
        for row in resources.find_physical(conn, physical_id)
        if row.stray and row.stack_id == stack_id and row.id != node.row.id
    }
    return (
        bool(resources.held_external(conn, tenant, {physical_id})),
        gather.load_nodes(conn, scene, strays),
        released.is_registered(conn, stack_id, physical_id),
    )
