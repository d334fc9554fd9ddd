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
"""Create and update: a new definition becomes a new traversal."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import locks, stack_tags, stacks, sync_points, templates
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource.child import Tree
from heat.engine.stack import (
    delegation,
    keeping,
    lifecycle_plugins,
    load,
    prepare,
)
from heat.engine.stack.request import Request
from heat.engine.traversal import begin, opening, wanted

# What an update may take the place of: itself and its kind. Other actions
# must end first.
UPDATE_SUPERSEDES = frozenset({"CREATE", "UPDATE", "ROLLBACK", "ADOPT"})

# A stack's version with the layers of its environment, as they are stored.
_Held = tuple[templates.TemplateRecord | None, Sequence[templates.LayerRecord]]


@dataclasses.dataclass(frozen=True)
class Child:
    """What makes a stack a nested one.

    :param stack_id: its id, which follows from the parent's resource
    :param facade: what ``resource_facade`` gives in its template
    :param files_of: the template version of the parent that has its files
    :param same_defaults: that version has its parameter defaults, too
    :param guard: raises, in the transaction that begins something, when
        the caller may not begin it any more
    :param holds: what an update replaces is kept until the parent is updated
    :param stored: the version that it has, if the caller has just read it
    """

    stack_id: str
    facade: Mapping[str, Any]
    files_of: int | None
    same_defaults: bool
    guard: Callable[[sa.Connection], None]
    holds: bool = True
    stored: templates.TemplateRecord | None = None


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
    owner_id: str | None = None,
    nested_depth: int = 0,
    user_creds_id: int | None = None,
    stack_user_project_id: str | None = None,
    parent_resource_name: str | None = None,
    child: Child | None = None,
    adopted: Mapping[str, wanted.Given] | None = None,
    allows: Callable[[str], None] | None = None,
) -> stacks.StackRecord:
    """Create a stack and begin its first traversal, in one transaction.

    :param child: what more there is to say when it is a nested one
    :param adopted: objects to take over in place of making new ones
    :param allows: raises Forbidden for a type that who asks may not use
    :raises StackExists: the project has a stack of this name
    :raises RequestLimitExceeded: it has ``max_stacks_per_tenant`` of them
    :raises HeatException, ValueError: of class 400; nothing is stored then
    """
    sent = (template, params, files, args, environment_files)
    request = Request.of(*sent, settled=child is not None)
    stack_id = child.stack_id if child else str(uuid.uuid4())
    identity = HeatIdentifier(context.project_id or "", stack_name, stack_id)
    facade = child.facade if child else None
    prepared = prepare.prepare(identity, request, facade=facade)
    values: dict[str, Any] = {
        **_new_row(identity, context, request.args, adopted is not None),
        "user_creds_id": user_creds_id,
        "owner_id": owner_id,
        "nested_depth": nested_depth,
        "parent_resource_name": parent_resource_name,
        "stack_user_project_id": stack_user_project_id,
    }
    draft = draft_of(values, tuple(request.args.get("tags") or ()))
    tree = prepare.check(engine, context, draft, prepared, allows=allows)
    order = _order(draft, prepared, str(uuid.uuid4()), adopted)
    traversal = sync_points.Traversal(stack_id, order.traversal_id)

    def work(conn: sa.Connection) -> begin.Begun:
        _check_place(conn, engine, draft, child)
        stored = _store(conn, prepared, child)
        return _insert(conn, draft, values, order, stored)

    how = engine, context, traversal, work, prepared.definition, None, owner_id
    with delegation.for_new(engine, context, draft, tree) as creds_id:
        values["user_creds_id"] = creds_id
        told = engine, context, draft, draft.action, prepared.definition
        with lifecycle_plugins.asked(*told):
            opened = opening.run(*how)
    opening.hand_on(engine, context, opened)
    return draft


def _store(
    conn: sa.Connection, prepared: prepare.Prepared, child: Child | None
) -> int:
    """Store what was prepared, what a parent has too only once."""
    if child is None:
        return prepared.store(conn)
    return prepared.store(conn, child.files_of, child.same_defaults)


def _check_place(
    conn: sa.Connection,
    engine: Engine,
    draft: stacks.StackRecord,
    child: Child | None,
) -> None:
    """Check that there may be one more stack: here, or below its parent.

    :raises StackLocked: its parent is locked
    """
    if child is not None:
        child.guard(conn)
        return
    if draft.owner_id is not None:
        locks.share_unlocked(conn, draft.owner_id, "update")
    check_quota(conn, engine, draft.tenant or "")


def _new_row(
    identity: HeatIdentifier,
    context: RequestContext,
    args: Mapping[str, Any],
    adopts: bool,
) -> dict[str, Any]:
    """The columns that every new stack has."""
    return {
        "id": identity.stack_id,
        "name": identity.stack_name,
        "tenant": identity.tenant,
        "username": context.username or context.user_id,
        "disable_rollback": bool(args.get("disable_rollback", True)),
        "timeout": args.get("timeout_mins"),
        "action": "ADOPT" if adopts else "CREATE",
        "status": "IN_PROGRESS",
        "status_reason": "",
        "created_at": timeutils.utcnow(),
    }


def _order(
    draft: stacks.StackRecord,
    prepared: prepare.Prepared,
    traversal_id: str,
    adopted: Mapping[str, wanted.Given] | None,
) -> begin.Order:
    """What a new stack is to reach; its template is not stored yet."""
    return begin.Order(
        draft.action,
        0,
        prepared.definition,
        f"Stack {draft.action} started",
        traversal_id=traversal_id,
        given=adopted or {},
    )


def _insert(
    conn: sa.Connection,
    draft: stacks.StackRecord,
    values: dict[str, Any],
    order: begin.Order,
    template_id: int,
) -> begin.Begun:
    """Insert a stack whose template is stored, and begin to create it."""
    stack = dataclasses.replace(draft, raw_template_id=template_id)
    return begin.begin_new(
        conn,
        stack,
        {**values, "tags": draft.tags},
        order.of_version(template_id),
        timeutils.utcnow(),
    )


def draft_of(
    values: Mapping[str, Any], tags: tuple[str, ...] = ()
) -> stacks.StackRecord:
    """The record of a stack that is not stored yet."""
    fields = {
        field.name: None for field in dataclasses.fields(stacks.StackRecord)
    }
    known: dict[str, Any] = {
        **fields,
        **values,
        "raw_template_id": 0,
        "tags": tags,
    }
    return stacks.StackRecord(**known)


def check_quota(conn: sa.Connection, engine: Engine, tenant: str) -> None:
    """Check that a project may have one more stack.

    :raises RequestLimitExceeded: it has ``max_stacks_per_tenant`` of them
    """
    limit = int(engine.conf.max_stacks_per_tenant)
    if limit != -1 and stacks.count_live(conn, tenant) >= limit:
        raise exception.RequestLimitExceeded(
            message=_(
                "You have reached the maximum stacks per tenant, %d. "
                "Please delete some stacks."
            )
            % limit
        )


def update(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    template: Mapping[str, Any] | str | None,
    params: Mapping[str, Any] | None,
    files: Mapping[str, str] | None,
    args: Mapping[str, Any] | None,
    *,
    environment_files: Sequence[str] | None = None,
    child: Child | None = None,
    allows: Callable[[str], None] | None = None,
) -> None:
    """Begin an update; ``existing`` in ``args`` makes it a PATCH.

    :param child: what more there is to say of a nested stack, when its
        parent updates it
    :param allows: raises Forbidden for a type that who asks may not use
    :raises ActionInProgress: another action runs, or began meanwhile
    :raises NotSupported: the stack is suspended
    :raises HeatException, ValueError: of class 400; nothing is stored then
    """
    sent = (template, params, files, args, environment_files)
    request = Request.of(*sent, settled=child is not None)
    prepared, tree = prepared_update(
        engine, context, stack, request, child, allows
    )
    delegation.ensure(engine, context, stack, tree)
    values, tags = _changed_values(stack, request.args)
    order = dataclasses.replace(
        _update_order(engine, prepared, request),
        stack_values=values,
        holds=child is not None and child.holds,
    )
    _begin_update(engine, context, stack, prepared, order, child, tags)


def again(
    engine: Engine,
    context: RequestContext,
    stack_id: str,
    also: Callable[[sa.Connection], None],
) -> None:
    """Begin an update to what the stack is to be already.

    What it is to be was checked when it was sent: nothing of it is new, so
    this takes no longer for a stack with many resources.

    :param also: what is written with its beginning, as in an Order
    :raises EntityNotFound: there is no such stack
    :raises ActionInProgress: another action runs, or began meanwhile
    :raises NotSupported: the stack is suspended
    """
    request = Request(None, {}, {}, {"existing": True})

    def read(conn: sa.Connection) -> tuple[stacks.StackRecord, _Held]:
        found = stacks.get(conn, stack_id)
        if found is None:
            raise exception.EntityNotFound(entity="Stack", name=stack_id)
        return found, _held(conn, found, request)

    stack, held = engine.db.read(read)
    prepared = _read_update(engine, stack, request, None, held)
    order = _update_order(engine, prepared, request)
    order = dataclasses.replace(order, also=also)
    _begin_update(engine, context, stack, prepared, order)


def _begin_update(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    prepared: prepare.Prepared,
    order: begin.Order,
    child: Child | None = None,
    tags: Sequence[str] | None = None,
) -> None:
    """Store what was prepared, and begin; nothing more is checked."""
    made, before = prepared.definition, prepared.before
    traversal = sync_points.Traversal(stack.id, order.traversal_id)

    def work(conn: sa.Connection) -> begin.Begun:
        if child is not None:
            child.guard(conn)
        kept = keeping.version(conn, stack, prepared) if child else None
        stored = kept or _store(conn, prepared, child)
        locks.refuse_locked_below(conn, stack, "update")
        now = timeutils.utcnow()
        begun = begin.begin(conn, stack, order.of_version(stored), now)
        if tags is not None:
            stack_tags.set_(conn, stack.id, tags)
        # Who sends a signal waits for its answer, not for what it begins.
        return begun if order.also else begin.at_hand(conn, begun)

    above = stack.owner_id
    how = engine, context, traversal, work, made, before, above
    with lifecycle_plugins.asked(engine, context, stack, "UPDATE", made):
        opened = opening.run(*how)
    opening.hand_on(engine, context, opened)


def _update_order(
    engine: Engine, prepared: prepare.Prepared, request: Request
) -> begin.Order:
    """What an update is to reach; its template is not stored yet."""
    observes = request.args.get("converge", engine.conf.observe_on_update)
    return begin.Order(
        "UPDATE",
        0,
        prepared.definition,
        "Stack UPDATE started",
        observes=bool(observes),
    )


def clean_up(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    guard: Callable[[sa.Connection], None],
) -> None:
    """Begin to delete what a nested stack has kept of its update.

    :param guard: as that of a :class:`Child`
    :raises ActionInProgress: another action runs, or began meanwhile
    """
    check_may_update(stack)
    order = begin.Order(
        "UPDATE",
        stack.raw_template_id,
        load.definition(engine, stack),
        "Stack UPDATE cleaning up",
        cleans=True,
    )

    def work(conn: sa.Connection) -> begin.Begun:
        guard(conn)
        return begin.begin(conn, stack, order, timeutils.utcnow())

    opening.send(engine, context, engine.db.run(work))


def prepared_update(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    request: Request,
    child: Child | None = None,
    allows: Callable[[str], None] | None = None,
) -> tuple[prepare.Prepared, Tree]:
    """What an update would begin with, all checks passed. No writes.

    :param allows: as that of :func:`update`
    :returns: the definition, and what its checks have noted
    :raises ActionInProgress, NotSupported: the stack's state forbids it
    :raises HeatException, ValueError: of class 400
    """
    prepared = _read_update(engine, stack, request, child)
    tree = prepare.check(engine, context, stack, prepared, allows=allows)
    return prepared, tree


def _read_update(
    engine: Engine,
    stack: stacks.StackRecord,
    request: Request,
    child: Child | None,
    held: _Held | None = None,
) -> prepare.Prepared:
    """As :func:`prepared_update`; no plug-in has checked it yet.

    :param held: what the stack has, if the caller has just read it
    """
    check_may_update(stack)
    if held is None and child is not None and child.stored is not None:
        held = child.stored, ()
    stored, layers = held or engine.db.read(
        lambda conn: _held(conn, stack, request)
    )
    if stored is None:
        # An update has ended since the stack was read, so this one is late.
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )
    identity = HeatIdentifier(stack.tenant, stack.name, stack.id)
    facade = child.facade if child else None
    prepared = prepare.prepare(
        identity, request, stored, facade=facade, layers=layers
    )
    before = prepare.stored_definition(identity, stored)
    _check_immutable(before, prepared)
    return dataclasses.replace(prepared, before=before)


def _held(
    conn: sa.Connection, stack: stacks.StackRecord, request: Request
) -> _Held:
    version = stack.raw_template_id
    found = templates.get(conn, version)
    if not request.args.get("existing"):
        return found, ()
    return found, templates.get_layers(conn, version)


def check_may_update(stack: stacks.StackRecord) -> None:
    """Check that the stack's state allows an update.

    :raises ActionInProgress, NotSupported: it does not
    """
    action, status = stack.base
    if action == "SUSPEND":
        raise exception.NotSupported(
            feature=_("Updating a stack when it is suspended")
        )
    deleting = action == "DELETE" and status != "FAILED"
    busy = status == "IN_PROGRESS" and action not in UPDATE_SUPERSEDES
    if deleting or busy:
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )


def _check_immutable(
    before: StackDefinition, prepared: prepare.Prepared
) -> None:
    """Parameters declared immutable keep their values."""
    now = prepared.definition.parameters
    changed = before.parameters.immutable_changes(now)
    if changed:
        raise exception.ImmutableParameterModified(*changed)


def _changed_values(
    stack: stacks.StackRecord, args: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str] | None]:
    """Columns and tags that the request changes beside the template."""
    values: dict[str, Any] = {"updated_at": timeutils.utcnow()}
    if args.get("timeout_mins") is not None:
        values["timeout"] = args["timeout_mins"]
    if args.get("disable_rollback") is not None:
        values["disable_rollback"] = bool(args["disable_rollback"])
    tags = args.get("tags")
    if tags is None and not args.get("existing") and stack.tags:
        tags = []
    return values, None if tags is None else list(tags)
