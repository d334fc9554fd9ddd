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
"""Loads a stack as it is now: its definition, its living rows. No writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import (
    properties_data,
    resource_data,
    resource_lists,
    resource_rows,
    resources,
    stacks,
    templates,
)
from heat.engine import attributes, rsrc_defn
from heat.engine.definition import NodeData, StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.traversal import gather, scene

Node = gather.Node
V = TypeVar("V", bound=resource_rows.Version)

# How often a stack is read again that updates go past of.
_TRIES = 5


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A stack's definition with its living rows.

    :ivar rows: the row that counts of each resource, by name
    """

    stack: stacks.StackRecord
    definition: StackDefinition
    rows: dict[str, resources.ResourceRecord]


def definition(engine: Engine, stack: stacks.StackRecord) -> StackDefinition:
    """The stack's definition with the data of its living rows."""

    def read(conn: sa.Connection) -> StackDefinition:
        now, made = _definition(conn, stack)
        for name, data in _nodes(conn, now.id).items():
            made.set_node(name, data)
        return made

    return engine.db.read(read)


def for_outputs(
    conn: sa.Connection, engine: Engine, stack: stacks.StackRecord
) -> StackDefinition:
    """As :func:`definition`, for who asks for the values of outputs.

    What these refer to is read now, the rest when it is asked for after
    all, which must be after the transaction.
    """
    now, made = _definition(conn, stack)
    needed = _needed(made)
    found = _nodes(conn, now.id, needed)
    for name in found if needed is None else needed:
        made.set_node(name, found.get(name))
    if needed is not None:
        made.tell_the_rest(lambda: _all_nodes(engine, now.id))
    return made


def _needed(made: StackDefinition) -> frozenset[str] | None:
    """The resources that outputs refer to; None: nearly all, or unknown."""
    try:
        names = frozenset().union(
            *(each.required_resource_names() for each in made.outputs.values())
        )
    except (exception.HeatException, ValueError, TypeError):
        return None
    return names if 2 * len(names) < len(made.resource_names) else None


def template(engine: Engine, stack: stacks.StackRecord) -> StackDefinition:
    """The stack's definition alone, which is half of the work."""
    return engine.db.read(lambda conn: parsed(conn, stack))


def parsed(conn: sa.Connection, stack: stacks.StackRecord) -> StackDefinition:
    """As :func:`template`, inside of a transaction."""
    return _definition(conn, stack)[1]


def with_version(
    conn: sa.Connection, stack_id: str
) -> tuple[stacks.StackRecord, templates.TemplateRecord | None]:
    """A stack, and what it is made of as it was stored.

    :raises EntityNotFound: there is no such stack
    """
    stack = stacks.get(conn, stack_id)
    if stack is None:
        raise exception.EntityNotFound(entity="Stack", name=stack_id)
    return stack, templates.get(conn, stack.raw_template_id)


def single(
    engine: Engine,
    stack: stacks.StackRecord,
    row: resource_rows.ResourceRecord,
) -> tuple[Loaded, gather.Node]:
    """A stack as far as one of its resources needs it, and its node.

    Of the others is read what there is when one of them is asked for.
    """

    return engine.db.read(lambda conn: _single(conn, engine, stack, row))


def _single(
    conn: sa.Connection,
    engine: Engine,
    stack: stacks.StackRecord,
    row: resource_rows.ResourceRecord,
) -> tuple[Loaded, gather.Node]:
    now, made = _definition(conn, stack)
    made.tell_the_rest(lambda: _all_nodes(engine, now.id))
    return Loaded(now, made, {row.name: row}), _node(conn, row)


def load(engine: Engine, stack: stacks.StackRecord) -> Loaded:
    """Load a stack's definition and rows, in one transaction."""
    return engine.db.read(lambda conn: _load(conn, stack))


def named(
    engine: Engine, stack: stacks.StackRecord, name: str
) -> tuple[Loaded, gather.Node] | None:
    """As :func:`single`, by name; None: the stack has none of this name."""

    def read(conn: sa.Connection) -> tuple[Loaded, gather.Node] | None:
        row = living(resources.versions(conn, stack.id, name)).get(name)
        return None if row is None else _single(conn, engine, stack, row)

    return engine.db.read(read)


def _definition(
    conn: sa.Connection, stack: stacks.StackRecord
) -> tuple[stacks.StackRecord, StackDefinition]:
    """The definition of a stack, and the stack as it is now.

    An update that has ended since the stack was read drops the version that
    it named.
    """
    for _try in range(_TRIES):
        version = stack.raw_template_id
        try:
            return stack, scene.load_definition(conn, stack, version)
        except exception.EntityNotFound:
            now = stacks.get(conn, stack.id, show_deleted=True)
            if now is None or now.raw_template_id == version:
                raise
            stack = now
    return stack, scene.load_definition(conn, stack, stack.raw_template_id)


def _load(conn: sa.Connection, stack: stacks.StackRecord) -> Loaded:
    stack, made = _definition(conn, stack)
    rows = living(resources.list_for_stack(conn, stack.id))
    stored = properties_data.get_many(
        conn, [row.attr_data_id for row in rows.values()]
    )
    for name, row in rows.items():
        if row.action != "INIT":
            made.set_node(
                name, _data_of(row, stored.get(row.attr_data_id or 0))
            )
    return Loaded(stack, made, rows)


def _all_nodes(engine: Engine, stack_id: str) -> dict[str, NodeData]:
    return engine.db.read(lambda conn: _nodes(conn, stack_id))


def _nodes(
    conn: sa.Connection,
    stack_id: str,
    names: Collection[str] | None = None,
) -> dict[str, NodeData]:
    """What is known of a stack's resources, or of some of them."""
    if names is not None and not names:
        return {}
    rows = living(resource_lists.told(conn, stack_id, names))
    return {
        name: _data_of(row, row.attributes)
        for name, row in rows.items()
        if row.action != "INIT"
    }


def _data_of(
    row: resource_rows.ResourceRecord | resource_lists.Told,
    attributes: dict[str, Any] | None,
) -> NodeData:
    return NodeData(
        row_id=row.id,
        uuid=row.uuid,
        reference_id=row.reference_id or row.physical_id,
        attributes=scene.decode_attributes(attributes),
        action=row.action,
        status=row.status,
    )


def living(rows: Iterable[V]) -> dict[str, V]:
    """The row that counts of each resource: the newest version.

    Old versions waiting for clean-up, strays and deleted rows do not count.
    """
    found: dict[str, V] = {}
    for row in sorted(rows, key=lambda each: each.id):
        if row.stray or (row.action, row.status) == ("DELETE", "COMPLETE"):
            continue
        other = found.get(row.name)
        if other is None or _counts_before(row, other):
            found[row.name] = row
    return found


def _counts_before(
    row: resource_rows.Version, other: resource_rows.Version
) -> bool:
    """Whether ``row``, the newer one by id, counts rather than the other.

    After a rollback the older version is the living one again: then it has
    no ``replaced_by``, and the newer one is on its way out.
    """
    if (row.replaced_by is None) != (other.replaced_by is None):
        return row.replaced_by is None
    return row.replaces is None or other.id == row.replaces


def resource(
    engine: Engine,
    context: RequestContext,
    loaded: Loaded,
    row: resources.ResourceRecord,
    node: gather.Node | None = None,
    *,
    looks: bool = True,
) -> Resource:
    """The plug-in object of a row.

    :param node: of the row, when it is read already
    :param looks: who asks wants to see what is now, in stacks below too
    :raises EntityNotFound: no plug-in offers its type
    """
    if node is None:
        node = engine.db.read(lambda conn: _node(conn, row))
    wish = loaded.definition.resource_definition(row.name)
    if wish is None:
        wish = rsrc_defn.ResourceDefinition(
            row.name, row.resource_type or "", node.properties or {}
        )
    view = gather.stack_view(
        engine, loaded.stack, loaded.definition, context, looks=looks
    )
    cls = gather.resource_class(
        engine, loaded.definition, wish.resource_type, row.name
    )
    rsrc = cls(row.name, wish, view)
    gather.load_state(rsrc, node)
    return rsrc


def _node(conn: sa.Connection, row: resources.ResourceRecord) -> gather.Node:
    return nodes(conn, [row])[0]


def nodes(
    conn: sa.Connection, rows: Sequence[resources.ResourceRecord]
) -> list[gather.Node]:
    """Rows with all that is recorded of them."""
    stored = properties_data.get_many(
        conn,
        [
            data_id
            for row in rows
            for data_id in (row.rsrc_prop_data_id, row.attr_data_id)
        ],
    )
    data = resource_data.get_many(conn, [row.id for row in rows])
    return [
        gather.Node(
            (row.id, True),
            row,
            stored.get(row.rsrc_prop_data_id or 0),
            scene.decode_attributes(stored.get(row.attr_data_id or 0)),
            data.get(row.id, {}),
            None,
        )
        for row in rows
    ]


def show_attributes(
    rsrc: Resource, more: Iterable[str] = ()
) -> dict[str, Any]:
    """Every attribute of a resource, and more, as they are now.

    Of an object that its service shows, whatever is shown there, under the
    service's names: that is what clients look for, who know the object. Where
    an attribute that is declared has the same name, what is shown is told.

    What can't be read is as it was last.

    :param more: names, of which ``show`` may be one
    """
    known = {(key,): v for key, v in rsrc.attributes.cached_attrs.items()}
    rsrc.attributes.reset_resolved_values()

    def read(names: Iterable[str]) -> dict[str, Any]:
        keys = [(name,) for name in names]
        values = rsrc.resolve_attributes(keys, None, known)
        return {key[0]: value for key, value in values.items()}

    with rsrc.attributes.each_once():
        shown = read([attributes.SHOW_ATTR])[attributes.SHOW_ATTR]
        found = dict(shown) if isinstance(shown, Mapping) else {}
        names = (*sorted(rsrc.attributes_schema), *more)
        # What is shown need not be asked for.
        return found | read(name for name in names if name not in found)
