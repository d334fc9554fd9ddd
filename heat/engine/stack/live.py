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
"""What outputs refer to and must be read each time. No writes.

A resource tells its attributes when something was done with it. Some change
while nothing is, such as what signals have brought, and while something is
done there may be something to see. Whoever looks at an output is to see what
is now; what can't be read now is told as it was last.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import resources, stacks
from heat.engine import function
from heat.engine.definition import NodeData, StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.stack import load
from heat.engine.traversal import gather

LOG = logging.getLogger(__name__)

_Asked = Mapping[str, Collection[function.Attr]]


def refresh(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    made: StackDefinition,
    *,
    deep: bool = False,
    only: str | None = None,
) -> None:
    """Read anew what the outputs of a definition need.

    :param made: as :func:`heat.engine.stack.load.for_outputs` gives it
    :param deep: ask the stacks below, too, which else are as they told when
        something was done with them
    :param only: the one output that is wanted, None for all
    """
    asked = _varying(engine, made, deep=deep, only=only)
    if not asked:
        return
    for rsrc in _resources(engine, context, stack, made, asked, looks=deep):
        known = made.node(rsrc.name)
        if known is not None:
            values = {**known.attributes}
            with rsrc.attributes.each_once():
                for key in asked[rsrc.name]:
                    _read(rsrc, key, values)
            told = dataclasses.replace(known, attributes=values)
            made.set_node(rsrc.name, told)


def _varying(
    engine: Engine, made: StackDefinition, *, deep: bool, only: str | None
) -> _Asked:
    """The attributes that outputs ask for and that may have changed."""
    asked: dict[str, set[function.Attr]] = {}
    wanted = made.outputs.values() if only is None else [made.outputs[only]]
    for output in wanted:
        for name, key in output.all_dep_attrs():
            if made.node(name) is not None:
                asked.setdefault(name, set()).add(key)
    found = {}
    for name, keys in asked.items():
        wish = made.resource_definition(name)
        if wish is None:
            continue
        try:
            cls = gather.resource_class(engine, made, wish.resource_type, name)
            below = deep and cls.nests
            known = made.node(name)
            varying = [
                key
                for key in keys
                if below or cls.varies(key[0]) or _is_open(known, key)
            ]
        except Exception as exc:
            _not_asked(name, wish.resource_type, exc)
            continue
        if varying:
            found[name] = varying
    return found


def _not_asked(name: str, type_: str | None, why: Exception) -> None:
    """Say that a resource is told of as it was last.

    That can be done without its plug-in, which may be gone, or broken.
    """
    LOG.warning("%s (%s) is told as it was last: %s", name, type_, why)


def _is_open(known: NodeData | None, key: function.Attr) -> bool:
    """Whether nothing was told yet of what something is done with."""
    return (
        known is not None
        and known.status != Resource.COMPLETE
        and known.attributes.get(key) is None
    )


def _resources(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    made: StackDefinition,
    names: Collection[str],
    *,
    looks: bool,
) -> list[Resource]:
    """The plug-in objects of resources that something is known of."""
    nodes = [made.node(name) for name in names]
    ids = [node.row_id for node in nodes if node is not None]

    def read(conn: sa.Connection) -> list[load.Node]:
        return load.nodes(conn, list(resources.get_many(conn, ids).values()))

    loaded = load.Loaded(stack, made, {})
    found = []
    for node in engine.db.read(read):
        row = node.row
        if row.physical_id is None:
            continue
        try:
            found.append(
                load.resource(engine, context, loaded, row, node, looks=looks)
            )
        except Exception as exc:
            _not_asked(row.name, row.resource_type, exc)
    return found


def _read(
    rsrc: Resource, key: function.Attr, values: dict[function.Attr, Any]
) -> None:
    """Put the value of an attribute, or why it has none, in its place."""
    fault = function.fault_key(key)
    try:
        value = rsrc.read_attribute(key, values)
    except exception.TemplateOutputError as exc:
        values[key], values[fault] = None, str(exc)
    except Exception as exc:
        LOG.warning(
            "Attribute %s of %s (%s) is told as it was last: %s",
            key[0],
            rsrc.name,
            rsrc.type(),
            exc,
        )
    else:
        values[key] = value
        values.pop(fault, None)
