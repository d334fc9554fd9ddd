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
"""What a create would make. Nothing is stored, nothing is asked for.

Every check of a create is made; then each resource is shown with its
properties as far as they are known before anything exists. Values of other
resources are not: they are None, and the properties that use them are named.
In place of a resource that is a stack of its own stand those below it.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.identifier import HeatIdentifier
from heat.db import stacks
from heat.engine import rsrc_defn
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.stack import (
    converge,
    outputs,
    prepare,
    preview_nested,
    unknown,
)
from heat.engine.stack.request import Request
from heat.engine.traversal import gather

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class NewResource:
    """A resource that would be made.

    :ivar properties: typed, defaults filled in; None for what is not known
    :ivar unknown: the properties in which something is not known yet
    :ivar attributes: the names of its attributes
    :ivar required_by: names of the resources that need it, sorted
    :ivar external_id: the object of the user's that it takes, as far as
        known; None: it makes one
    :ivar below: the stack that it is, as far as that is known
    """

    name: str
    resource_type: str
    description: str
    properties: dict[str, Any]
    unknown: tuple[str, ...]
    metadata: dict[str, Any]
    attributes: tuple[str, ...]
    required_by: tuple[str, ...]
    external_id: str | None = None
    below: NewStack | None = None


@dataclasses.dataclass(frozen=True)
class NewStack:
    """A stack that would be made.

    :ivar stack: as its row would be; its id is :data:`NO_ID`
    :ivar outputs: output_key, description, and output_value as far as known
    """

    stack: stacks.StackRecord
    definition: StackDefinition
    resources: tuple[NewResource, ...]
    outputs: tuple[dict[str, Any], ...]


def create(
    engine: Engine,
    context: RequestContext,
    stack_name: str,
    template: Mapping[str, Any] | str | None,
    params: Mapping[str, Any] | None,
    files: Mapping[str, str] | None,
    args: Mapping[str, Any] | None,
    *,
    environment_files: Sequence[str] | None = None,
    allows: Callable[[str], None] | None = None,
) -> NewStack:
    """Tell what :func:`.converge.create` with these arguments would make.

    :param allows: raises Forbidden for a type that who asks may not use
    :raises StackExists: the project has a stack of this name
    :raises RequestLimitExceeded: it has as many stacks as it may have
    :raises HeatException, ValueError: of class 400
    """
    args = args or {}
    request = Request(
        template, params or {}, files or {}, args, environment_files or ()
    )
    tenant = context.project_id or ""
    identity = HeatIdentifier(tenant, stack_name, preview_nested.NO_ID)
    prepared = prepare.prepare(identity, request)
    draft = _draft(context, identity, args)
    prepare.check(engine, context, draft, prepared, allows=allows)
    engine.db.read(lambda conn: _check_room(conn, engine, identity))
    return _stack(engine, context, draft, prepared.definition)


def _stack(
    engine: Engine,
    context: RequestContext,
    draft: stacks.StackRecord,
    made: StackDefinition,
) -> NewStack:
    for name in made.resource_definitions:
        made.set_node(name, unknown.UnknownData(name))
    needed = _required_by(made)
    return NewStack(
        draft,
        made,
        tuple(
            _resource(engine, context, draft, made, wish, needed.get(name, ()))
            for name, wish in made.resource_definitions.items()
        ),
        tuple(_outputs(made)),
    )


def _draft(
    context: RequestContext, identity: HeatIdentifier, args: Mapping[str, Any]
) -> stacks.StackRecord:
    return converge.draft_of(
        {
            "id": identity.stack_id,
            "name": identity.stack_name,
            "tenant": identity.tenant,
            "username": context.username or context.user_id,
            "nested_depth": 0,
            "disable_rollback": bool(args.get("disable_rollback", True)),
            "timeout": args.get("timeout_mins"),
            "action": "CREATE",
            "status": "IN_PROGRESS",
            "status_reason": "",
            "created_at": timeutils.utcnow(),
        },
        tuple(args.get("tags") or ()),
    )


def _check_room(
    conn: sa.Connection, engine: Engine, identity: HeatIdentifier
) -> None:
    """A create would be refused for these, so its preview is."""
    name = identity.stack_name
    taken = stacks.get_by_name(conn, identity.tenant, name)
    if taken is not None and taken.owner_id is None:
        raise exception.StackExists(stack_name=name)
    converge.check_quota(conn, engine, identity.tenant)


def _required_by(made: StackDefinition) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, needs in sorted(made.dependencies().items()):
        for need in needs:
            found.setdefault(need, []).append(name)
    return found


def _resource(
    engine: Engine,
    context: RequestContext,
    draft: stacks.StackRecord,
    made: StackDefinition,
    wish: rsrc_defn.ResourceDefinition,
    needed: Sequence[str],
) -> NewResource:
    settled = unknown.settle_definition(wish, {}, {})
    known = settled.definition
    cls = gather.resource_class(engine, made, wish.resource_type, wish.name)
    rsrc = cls(
        wish.name, known, gather.stack_view(engine, draft, made, context)
    )
    return NewResource(
        wish.name,
        wish.resource_type,
        wish.description,
        _properties(rsrc, settled.unknown),
        tuple(sorted(settled.unknown)),
        known.metadata(),
        tuple(sorted(rsrc.attributes_schema)),
        tuple(needed),
        _external_id(known),
        _below(engine, context, draft, rsrc, wish, settled),
    )


def _below(
    engine: Engine,
    context: RequestContext,
    draft: stacks.StackRecord,
    rsrc: Resource,
    wish: rsrc_defn.ResourceDefinition,
    settled: unknown.Settled,
) -> NewStack | None:
    """The stack that a resource is; None: it is none, or nobody can tell."""
    if not preview_nested.has_child(rsrc) or _external_id(rsrc.t) is not None:
        return None
    try:
        made = _child(rsrc, wish, settled.unknown)
    except (exception.HeatException, ValueError, unknown.Unknown) as exc:
        LOG.debug("preview below %s: %s", rsrc.name, exc)
        return None
    if made is None:
        return None
    below = preview_nested.draft(draft, made, rsrc.name)
    return _stack(engine, context, below, made)


def _child(
    rsrc: Resource,
    wish: rsrc_defn.ResourceDefinition,
    unclear: frozenset[str],
) -> StackDefinition | None:
    """The child of a resource as far as it is known; None: not at all.

    :param rsrc: it, with what is known of its definition
    :param wish: its definition as the template has it
    """
    if unclear and unclear <= getattr(rsrc, "of_members", frozenset()):
        group = type(rsrc)(rsrc.name, wish, rsrc.stack)
        return preview_nested.group_drafted(group)
    sources = {each: f"{rsrc.name}/{each}" for each in unclear}
    made = preview_nested.wanted(rsrc, sources)
    # How many a group has, or what they are, may not be known yet.
    return made if unclear <= set(made.parameters) else None


def _external_id(wish: rsrc_defn.ResourceDefinition) -> str | None:
    try:
        return wish.external_id()
    except unknown.Unknown:
        return "?"


def _properties(rsrc: Resource, unclear: Collection[str]) -> dict[str, Any]:
    """The properties as far as they are known, defaults filled in."""
    props = rsrc.properties
    if rsrc.accepts_anything:
        return {key: props.resolve(each) for key, each in props.data.items()}
    shown: dict[str, Any] = {}
    for key in props:
        if key in unclear and key not in props.data:
            # Something will be given: the default is not what it will be.
            shown[key] = None
            continue
        try:
            shown[key] = props[key]
        except ValueError:
            # A part that is required, or typed, is not known yet.
            shown[key] = props.resolve(props.data.get(key))
    return shown


def _outputs(made: StackDefinition) -> list[dict[str, Any]]:
    shown = []
    for key, each in made.outputs.items():
        try:
            shown.append(outputs.present(key, each))
        except unknown.Unknown:
            shown.append(
                {
                    "output_key": key,
                    "description": each.description(),
                    "output_value": None,
                }
            )
    return shown
