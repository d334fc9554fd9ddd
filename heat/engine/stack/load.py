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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import (
    properties_data,
    resource_data,
    resource_rows,
    resources,
    stacks,
)
from heat.engine import rsrc_defn
from heat.engine.definition import NodeData, StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.traversal import gather, scene

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
        _tell(conn, made, living(resources.told(conn, now.id)))
        return made

    return engine.db.read(read)


def template(engine: Engine, stack: stacks.StackRecord) -> StackDefinition:
    """The stack's definition alone, which is half of the work."""
    return engine.db.read(lambda conn: _definition(conn, stack)[1])


def load(engine: Engine, stack: stacks.StackRecord) -> Loaded:
    """Load a stack's definition and rows, in one transaction."""
    return engine.db.read(lambda conn: _load(conn, stack))


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
    _tell(conn, made, rows)
    return Loaded(stack, made, rows)


def _tell(
    conn: sa.Connection,
    made: StackDefinition,
    rows: Mapping[str, resources.ResourceRecord | resource_rows.Told],
) -> None:
    """Give a definition the data of its living rows."""
    stored = properties_data.get_many(
        conn, [row.attr_data_id for row in rows.values()]
    )
    for name, row in rows.items():
        if row.action == "INIT":
            continue
        made.set_node(
            name,
            NodeData(
                row_id=row.id,
                uuid=row.uuid,
                reference_id=row.reference_id or row.physical_id,
                attributes=scene.decode_attributes(
                    stored.get(row.attr_data_id or 0)
                ),
                action=row.action,
                status=row.status,
            ),
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
) -> Resource:
    """The plug-in object of a row.

    :raises EntityNotFound: no plug-in offers its type
    """

    def read(
        conn: sa.Connection,
    ) -> tuple[dict[int, dict[str, Any]], dict[str, str]]:
        stored = properties_data.get_many(
            conn, [row.rsrc_prop_data_id, row.attr_data_id]
        )
        return stored, resource_data.get_many(conn, [row.id]).get(row.id, {})

    stored, data = engine.db.read(read)
    node = gather.Node(
        (row.id, True),
        row,
        stored.get(row.rsrc_prop_data_id or 0),
        scene.decode_attributes(stored.get(row.attr_data_id or 0)),
        data,
        None,
    )
    wish = loaded.definition.resource_definitions.get(row.name)
    if wish is None:
        wish = rsrc_defn.ResourceDefinition(
            row.name, row.resource_type or "", node.properties or {}
        )
    view = gather.stack_view(engine, loaded.stack, loaded.definition, context)
    cls = gather.resource_class(
        engine, loaded.definition, wish.resource_type, row.name
    )
    rsrc = cls(row.name, wish, view)
    gather.load_state(rsrc, node)
    return rsrc


def show_attributes(rsrc: Resource) -> dict[str, Any]:
    """Every attribute of a resource, for showing it."""
    names: Sequence[str] = sorted(rsrc.attributes_schema)
    values = rsrc.resolve_attributes([(name,) for name in names])
    return {name: values.get((name,)) for name in names}
