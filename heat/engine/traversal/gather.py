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
"""Gathers what is needed to decide about nodes: rows, inputs, plug-ins.

Reads only. One read transaction for a whole batch; a plug-in is asked about
a difference (its ``needs_replace`` questions) outside of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import properties_data, resource_data, resources
from heat.engine import rsrc_defn
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine, NodeKey
from heat.engine.resource import Resource, drift, external, lifecycle
from heat.engine.traversal import (
    begin,
    decide,
    inputs,
    restricted,
    resuming,
    sharing,
    views,
)
from heat.engine.traversal.scene import Scene, decode_attributes


@dataclasses.dataclass
class Node:
    """One node of a traversal with what the database says about it.

    :ivar key: its key in the graph
    :ivar row: its *acting* row: the replacement made for this traversal's
        template when there is one, else the row of the key
    :ivar previous: the template version the row was last finished with
    :ivar tried: what a failed update was about to apply
    :ivar readers: who holds the same object as the user's: ownership has
        moved, whatever this row says
    :ivar holders: rows that have the user's object that it has
    :ivar external_id: what the wanted definition says, resolved
    :ivar move: what that means for its object
    :ivar live: live values of the properties that were found to differ
    :ivar unknown: properties whose wanted values nobody knows yet; only a
        preview has such
    """

    key: NodeKey
    row: resources.ResourceRecord
    properties: dict[str, Any] | None
    attributes: dict[tuple[str, ...], Any]
    data: dict[str, str]
    previous: StackDefinition | None
    tried: dict[str, Any] | None = None
    step: decide.Step = decide.Step.WAIT
    because: str = ""
    change: decide.Change = dataclasses.field(default_factory=decide.Change)
    rsrc: Resource | None = None
    live: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    external_id: str | None = None
    move: external.Move = external.Move.NONE
    readers: tuple[str, ...] = ()
    holders: Sequence[sharing.Holder] = ()


def gather(
    engine: Engine, scene: Scene, keys: Collection[NodeKey]
) -> tuple[list[Node], list[NodeKey]]:
    """Load nodes and the inputs of their update halves.

    Keys that still miss inputs are left out: what they bring may come, and
    be another one than it was, before what is decided now is written.

    :returns: the nodes, and the keys whose row is gone
    """
    return engine.db.read(lambda conn: _gather(conn, scene, keys))


def _gather(
    conn: sa.Connection, scene: Scene, keys: Collection[NodeKey]
) -> tuple[list[Node], list[NodeKey]]:
    preload(conn, scene)
    # What was read of these in advance is for who comes in time.
    early = inputs.take(conn, scene, keys)
    able = [key for key in keys if key not in early]
    nodes = [
        scene.preloaded.pop(key) for key in able if key in scene.preloaded
    ]
    met = {node.key for node in nodes}
    keys = [key for key in able if key not in met]
    rows = resources.get_many(conn, {key[0] for key in keys})
    early = inputs.early_cleanups(conn, scene, rows, keys)
    keys = [key for key in keys if key not in early]
    acting = inputs.acting_rows(conn, scene, rows, keys)
    known = {key: acting[key] for key in keys if key in acting}
    gone = [key for key in keys if key not in acting]
    return nodes + load_nodes(conn, scene, known), gone


def preload(conn: sa.Connection, scene: Scene) -> None:
    """Read the rows of the half that comes first at once, the first time.

    A row that nobody holds is touched by nobody but its own node until that
    is done, and what an engine claims, it claims with conditions on what it
    has read; so each is used once, and whoever comes again reads again.
    Free rows only: what is held now will have changed.
    """
    if scene.was_preloaded:
        return
    scene.was_preloaded = True
    rows, scene.fresh = scene.fresh, None
    if rows is None:
        rows = resources.list_for_stack(conn, scene.stack.id)
    updates = any(row_id and half for row_id, half in scene.graph.nodes())
    free = {
        (row.id, updates): row
        for row in rows
        if (row.id, updates) in scene.graph
        and row.claim_id is None
        and not (updates and row.replaced_by is not None)
    }
    for node in load_nodes(conn, scene, free):
        scene.preloaded[node.key] = node


def load_nodes(
    conn: sa.Connection,
    scene: Scene,
    acting: Mapping[NodeKey, resources.ResourceRecord],
) -> list[Node]:
    """The nodes of these acting rows, with all that is recorded of them."""
    made = [row for row in acting.values() if row.action != "INIT"]
    stored = properties_data.get_many(
        conn,
        {
            data_id
            for row in made
            for data_id in (
                row.rsrc_prop_data_id,
                row.attr_data_id,
                row.tried_prop_data_id,
            )
            if data_id is not None
        },
    )
    going = {
        row.physical_id
        for key, row in acting.items()
        if not key[1] and row.physical_id and not row.external
    }
    passed = resources.held_external(conn, scene.stack.tenant, going)
    shared = sharing.holders(conn, scene, acting)
    data = resource_data.get_many(
        conn,
        {row.id for row in made}.union(
            row.id for row in acting.values() if row.physical_id
        ),
    )
    nodes = []
    for key, row in acting.items():
        version = (
            scene.version(conn, row.current_template_id)
            if row.action != "INIT"
            else None
        )
        nodes.append(
            Node(
                key,
                row,
                stored.get(row.rsrc_prop_data_id or 0),
                decode_attributes(stored.get(row.attr_data_id or 0)),
                data.get(row.id, {}),
                version,
                stored.get(row.tried_prop_data_id or 0),
                readers=tuple(passed.get(row.physical_id or "", ())),
                holders=shared.get(row.id, ()),
            )
        )
    return nodes


# -- plug-ins -----------------------------------------------------------------


resource_class = views.resource_class
stack_view = views.stack_view


def make_resource(
    engine: Engine,
    scene: Scene,
    node: Node,
    wish: rsrc_defn.ResourceDefinition,
    definition: StackDefinition,
) -> Resource:
    """The plug-in object of a node's row under a definition."""
    row = node.row
    cls = resource_class(engine, definition, wish.resource_type, row.name)
    stack = stack_view(
        engine,
        scene.stack,
        definition,
        scene.context,
        observes=scene.graph.observes,
        abandons=scene.graph.abandons,
    )
    rsrc = cls(row.name, wish, stack)
    load_state(rsrc, node)
    return rsrc


def load_state(rsrc: Resource, node: Node) -> None:
    """Give a plug-in object what its row says."""
    row = node.row
    rsrc.external = row.external
    rsrc.lock_found = row.lock_found
    rsrc.load_state(
        uuid=row.uuid,
        physical_id=row.physical_id,
        action=row.action,
        status=row.status,
        status_reason=row.status_reason or "",
        metadata=row.metadata if row.action != "INIT" else None,
        data=dict(node.data),
        row_id=row.id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        stored_properties=node.properties,
        attributes={
            key[0]: value
            for key, value in node.attributes.items()
            if len(key) == 1
        },
    )


def before(node: Node) -> lifecycle.Before:
    """How a node's resource was, for weighing and running its update."""
    known = {**(node.properties or {}), **node.live}
    return lifecycle.Before(known, stored_definition(node), node.tried)


def stored_definition(node: Node) -> rsrc_defn.ResourceDefinition:
    """The definition a row was last finished with.

    Its properties are the resolved ones that were recorded, as what they
    referred to may be gone; its policies come from its template version.
    """
    row = node.row
    wish = None
    if node.previous is not None:
        wish = node.previous.resource_definitions.get(row.name)
    if wish is None:
        return rsrc_defn.ResourceDefinition(
            row.name, row.resource_type or "", node.properties, row.metadata
        )
    return wish.freeze(
        properties=node.properties or {}, metadata=_metadata(node, wish)
    )


def _metadata(
    node: Node, wish: rsrc_defn.ResourceDefinition
) -> dict[str, Any]:
    """What the old template said, as far as that can differ from the new.

    A signal may have written the row's own metadata meanwhile, and what the
    old template referred to is not known any more: so an unchanged text is
    an unchanged value, unless it refers to something whose value moved.
    """
    rsrc = node.rsrc
    target = rsrc.target if rsrc is not None else None
    if target is None or not target.same_metadata(wish):
        return node.row.metadata
    now = target.metadata()
    return node.row.metadata if target.has_dynamic_metadata() else now


# -- decisions ----------------------------------------------------------------


def plan(engine: Engine, scene: Scene, node: Node) -> None:
    """Decide the step of a node and make its plug-in object.

    :raises HeatException: the plug-in is gone, or the definition can't be
        resolved: the node fails with that
    """
    if scene.stack.action in begin.WALKS:
        _plan_walk(engine, scene, node)
    elif node.key[1]:
        _plan_update(engine, scene, node)
    else:
        plan_cleanup(engine, scene, node)


def _plan_update(engine: Engine, scene: Scene, node: Node) -> None:
    judge(
        engine,
        scene,
        node,
        scene.definition.resource_definitions[node.row.name],
    )


def judge(
    engine: Engine,
    scene: Scene,
    node: Node,
    wish: rsrc_defn.ResourceDefinition,
) -> None:
    """Decide what brings an update node's row to a definition.

    :raises HeatException: as :func:`plan`
    """
    row = node.row
    facts = decide.UpdateFacts(
        row.action,
        row.status,
        claimed=row.claim_id is not None,
        # One that was given an object never makes a second one.
        adopts=scene.stack.action == "ADOPT" or row.physical_id is not None,
    )
    if not facts.claimed:
        node.external_id = wish.external_id()
        node.move = sharing.move(scene, row, node.external_id, node.holders)
        facts = dataclasses.replace(facts, move=node.move)
        node.rsrc = make_resource(engine, scene, node, wish, scene.definition)
        if row.action not in ("INIT", "DELETE"):
            facts = _compare(engine, scene, node, facts)
    node.change = facts.change or node.change
    node.step, node.because = decide.update_step(facts)
    restricted.check(scene, row.name, node.step)


def _compare(
    engine: Engine, scene: Scene, node: Node, facts: decide.UpdateFacts
) -> decide.UpdateFacts:
    rsrc = node.rsrc
    assert rsrc is not None  # noqa: S101 - made by the caller
    was = node.previous or scene.definition
    if not views.same_class(engine, was, node.row, scene.definition, rsrc):
        return dataclasses.replace(facts, same_class=False)
    if facts.move is not external.Move.NONE:
        # Properties of the user's object are the user's business.
        return facts
    if scene.graph.observes and node.row.physical_id is not None:
        seen = drift.look(rsrc)
        if seen.unfit:
            unfit = decide.Change(True, True, (), seen.unfit)
            return dataclasses.replace(facts, change=unfit)
        node.live = seen.values
    if resuming.goes_on(scene, rsrc, node.key, node.row, before(node)):
        return dataclasses.replace(facts, resumes=True)
    found = lifecycle.verdict(rsrc, before(node), node.unknown)
    change = decide.Change(
        found.needs_update, found.needs_replace, found.changed, found.because
    )
    return dataclasses.replace(facts, change=change)


def _plan_walk(engine: Engine, scene: Scene, node: Node) -> None:
    row = node.row
    facts = decide.WalkFacts(
        scene.stack.action,
        row.action,
        row.status,
        claimed=row.claim_id is not None,
        has_object=row.physical_id is not None,
        external=row.external,
    )
    node.step, node.because = decide.walk_step(facts)
    if node.step is decide.Step.ACT:
        node.rsrc = make_resource(
            engine,
            scene,
            node,
            stored_definition(node),
            node.previous or scene.definition,
        )


def plan_cleanup(engine: Engine, scene: Scene, node: Node) -> None:
    """Decide what becomes of a clean-up node's row, and of its object."""
    row = node.row
    living = _is_living(scene, row)
    cls = None
    if node.data or living or scene.graph.abandons:
        cls = views.made_class(engine, node.previous or scene.definition, row)
    facts = decide.CleanupFacts(
        row.action,
        row.status,
        claimed=row.claim_id is not None,
        living=living,
        has_object=row.physical_id is not None,
        external=row.external,
        readers=node.readers,
        beside=not node.data.keys().isdisjoint(cls.beside if cls else ()),
        nested=cls is not None and cls.nests,
        locked=row.lock_found is not None,
        abandoned=scene.graph.abandons,
    )
    node.step, node.because = decide.cleanup_step(facts)
    wish = stored_definition(node)
    if node.step is decide.Step.DELETE:
        node.step, node.because = decide.cleanup_step(
            dataclasses.replace(facts, deletion_policy=_policy(wish))
        )
    if node.step in decide.NEED_PLUGIN:
        node.rsrc = make_resource(
            engine, scene, node, wish, node.previous or scene.definition
        )


def _is_living(scene: Scene, row: resources.ResourceRecord) -> bool:
    if row.replaced_by is not None or row.stray:
        return False
    if scene.graph.cleans:
        wanted = row.name in scene.definition.resource_definitions
        return wanted and row.current_template_id == scene.target_template_id
    return (row.id, True) in scene.graph


def _policy(wish: rsrc_defn.ResourceDefinition) -> str:
    return str(wish.deletion_policy() or "delete").lower()
