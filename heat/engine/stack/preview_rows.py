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
"""The rows of a stack, as an update that is previewed would find them.

What :func:`heat.engine.traversal.begin.begin` does with rows is repeated
here without a write: the best row of each name is chosen by the same
function, the graph is drawn by the same builder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common.context import RequestContext
from heat.db import events, resources, stacks
from heat.engine import rsrc_defn
from heat.engine.definition import StackDefinition
from heat.engine.graph import build
from heat.engine.stack import unknown
from heat.engine.traversal import begin, gather, wanted
from heat.engine.traversal.scene import Scene

# No template version has this id: that of the update is not stored.
_TEMPLATE_ID = 0


@dataclasses.dataclass
class Rows:
    """A stack's rows, and the traversal that the update would begin.

    :ivar wanted: nodes by the name of the resource they go on with
    :ivar others: nodes of rows to clean up
    :ivar running: names of the wanted whose row is held: they are taken as
        if what runs had ended well
    """

    scene: Scene
    wanted: dict[str, gather.Node]
    others: list[gather.Node]
    running: frozenset[str]


class _Scene(Scene):
    """A traversal some of whose parameters are not known yet."""

    def fixed_external_id(
        self, wish: rsrc_defn.ResourceDefinition
    ) -> str | None:
        try:
            return super().fixed_external_id(wish)
        except unknown.Unknown:
            return None


def read(
    conn: sa.Connection,
    context: RequestContext,
    stack: stacks.StackRecord,
    definition: StackDefinition,
) -> Rows:
    """Read a stack's rows, and draw the graph of an update.

    :param definition: what the update is to reach
    """
    extant = [
        row
        for row in resources.list_for_stack(conn, stack.id)
        if not _is_gone(row)
    ]
    best = _best(extant, stack, definition)
    scene = _scene(extant, best, context, stack, definition)
    nodes = {
        node.row.id: node
        for node in gather.load_nodes(
            conn,
            scene,
            _acting(
                extant,
                set(best.values()),
                begin.passed_on(extant, set(best.values())),
            ),
        )
    }
    names = {row_id: name for name, row_id in best.items()}
    running = {
        names[row.id]
        for row in extant
        if row.claim_id is not None and row.id in names
    }
    if running:
        _end_well(conn, stack, [nodes[best[name]] for name in running])
    return Rows(
        scene,
        {name: nodes[row_id] for name, row_id in best.items()},
        [node for key, node in nodes.items() if key not in names],
        frozenset(running),
    )


def _is_gone(row: resources.ResourceRecord) -> bool:
    deleted = (row.action, row.status) == ("DELETE", "COMPLETE")
    return deleted and row.claim_id is None


def _best(
    extant: Sequence[resources.ResourceRecord],
    stack: stacks.StackRecord,
    definition: StackDefinition,
) -> dict[str, int]:
    """The row that each wanted resource goes on with, if it has any."""
    versions: dict[str, list[resources.ResourceRecord]] = {}
    for row in extant:
        versions.setdefault(row.name, []).append(row)
    best = {}
    for name in definition.resource_definitions:
        found = wanted.best_existing(
            versions.get(name, ()), _TEMPLATE_ID, stack.raw_template_id
        )
        if found is not None:
            best[name] = found.id
    return best


def _acting(
    extant: Iterable[resources.ResourceRecord],
    best: set[int],
    passed: Collection[int],
) -> dict[tuple[int, bool], resources.ResourceRecord]:
    """The rows as the update would find them: nobody holds them any more,
    and what it goes on with has no replacement.

    :param passed: rows whose object is the user's from then on
    """
    acting = {}
    for row in extant:
        changed: dict[str, Any] = {
            "claim_id": None,
            "external": row.external or row.id in passed,
        }
        if row.id in best:
            changed["replaced_by"] = None
            if row.claim_id is not None and row.action != "DELETE":
                changed["status"] = "COMPLETE"
        free = dataclasses.replace(row, **changed)
        acting[(row.id, row.id in best)] = free
    return acting


def _scene(
    extant: Sequence[resources.ResourceRecord],
    best: Mapping[str, int],
    context: RequestContext,
    stack: stacks.StackRecord,
    definition: StackDefinition,
) -> Scene:
    wanted = {
        name: best.get(name, -number)
        for number, name in enumerate(definition.resource_definitions, 1)
    }
    graph = build.build(
        wanted,
        definition.dependencies(),
        [build.Extant(row.id, frozenset(row.requires)) for row in extant],
    )
    names = {row.id: row.name for row in extant}
    names.update((row_id, name) for name, row_id in wanted.items())
    begun = dataclasses.replace(
        stack,
        action="UPDATE",
        status="IN_PROGRESS",
        raw_template_id=_TEMPLATE_ID,
        current_traversal=None,
    )
    return _Scene(begun, graph, definition, names, context)


def _end_well(
    conn: sa.Connection, stack: stacks.StackRecord, nodes: list[gather.Node]
) -> None:
    """Let what runs on these rows leave behind what it was begun with."""
    begun = events.list_(
        conn,
        [stack.id],
        filters={
            "resource_name": sorted(node.row.name for node in nodes),
            "resource_status": "IN_PROGRESS",
            "resource_action": ["CREATE", "UPDATE"],
        },
    )
    properties = {
        each.resource_name: each.resource_properties for each in begun
    }
    for node in nodes:
        if node.row.action in ("CREATE", "UPDATE"):
            told = properties.get(node.row.name)
            node.properties = told or node.properties
            node.tried = None
