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
"""Snapshots of a stack: taken, shown, deleted, restored.

A snapshot keeps a copy of the stack's template version, with all of its
environment, as a row of its own: secrets stay as they are stored, and what
is shown has them masked. What the plug-ins have saved is in its resources'
data.
"""

from __future__ import annotations

import copy
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import locks, snapshots, stacks, sync_points, templates
from heat.engine import parameters, rsrc_defn
from heat.engine.ports import Engine
from heat.engine.resource import Resource, lifecycle
from heat.engine.stack import (
    converge,
    delegation,
    export,
    lifecycle_plugins,
    load,
    prepare,
)
from heat.engine.stack.request import Request
from heat.engine.traversal import begin, gather, opening

# The row of the copy, in the data; it is not shown.
_COPY = "raw_template_id"

# Seconds for deleting what a plug-in has saved, while a client waits.
_PATIENCE = 40.0


def take(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    name: str | None,
) -> snapshots.SnapshotRecord:
    """Begin to take a snapshot.

    :raises ActionInProgress: another action runs
    :raises NotSupported: the stack is suspended
    :raises RequestLimitExceeded: it has ``max_snapshots_per_stack``
    """
    action, status = stack.base
    if status == "IN_PROGRESS" or action == "DELETE":
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )
    if action == "SUSPEND":
        raise exception.NotSupported(
            feature=_("A snapshot of a suspended stack")
        )
    kept = _version(engine, stack, stack.raw_template_id)
    data = export.describe(engine, stack)
    snapshot_id = str(uuid.uuid4())
    traversal = sync_points.Traversal(stack.id, str(uuid.uuid4()))
    order = begin.Order(
        "SNAPSHOT",
        stack.raw_template_id,
        None,
        "Stack SNAPSHOT started",
        traversal_id=traversal.traversal_id,
    )

    def work(conn: sa.Connection) -> begin.Begun:
        locks.refuse_locked_below(conn, stack, "snapshot")
        # Its compare-and-set makes the count a safe one.
        begun = begin.begin(conn, stack, order, timeutils.utcnow())
        _check_limit(conn, engine, stack)
        values = {
            "id": snapshot_id,
            "stack_id": stack.id,
            "tenant": stack.tenant,
            "name": name,
            "action": "CREATE",
            "status": "IN_PROGRESS",
            "data": {
                **data,
                _COPY: kept.store(conn, stack.raw_template_id),
            },
        }
        snapshots.insert(conn, values)
        return begun

    with lifecycle_plugins.asked(engine, context, stack, "SNAPSHOT"):
        opened = opening.run(engine, context, traversal, work, None)
    opening.hand_on(engine, context, opened)
    return get(engine, stack, snapshot_id)


def _check_limit(
    conn: sa.Connection, engine: Engine, stack: stacks.StackRecord
) -> None:
    limit = int(engine.conf.max_snapshots_per_stack)
    if limit != -1 and snapshots.count(conn, stack.id) >= limit:
        raise exception.RequestLimitExceeded(
            message=_(
                "You have reached the maximum snapshots per stack, %d. "
                "Please delete some snapshots."
            )
            % limit
        )


def _version(
    engine: Engine,
    stack: stacks.StackRecord,
    template_id: int,
    template: Mapping[str, Any] | None = None,
) -> prepare.Prepared:
    """A stored template version of the stack, to be stored once more.

    :param template: in place of its template
    :raises EntityNotFound: it is gone
    """
    stored, layers = engine.db.read(
        lambda conn: (
            templates.get(conn, template_id),
            templates.get_layers(conn, template_id),
        )
    )
    if stored is None:
        raise exception.EntityNotFound(
            entity="Template of stack", name=stack.name
        )
    return prepare.prepare(
        HeatIdentifier(stack.tenant, stack.name, stack.id),
        Request(template, {}, {}, {"existing": True}, ()),
        stored,
        layers=layers,
    )


def get(
    engine: Engine, stack: stacks.StackRecord, snapshot_id: str
) -> snapshots.SnapshotRecord:
    """One snapshot of a stack.

    :raises SnapshotNotFound: the stack has none of this id
    """
    found = engine.db.read(lambda conn: snapshots.get(conn, snapshot_id))
    if found is None or found.stack_id != stack.id:
        raise exception.SnapshotNotFound(
            snapshot=snapshot_id, stack=stack.name
        )
    return found


def public(record: snapshots.SnapshotRecord) -> dict[str, Any]:
    """The data of a snapshot, as they are shown: secrets are masked."""
    data = {**(record.data or {})}
    data.pop(_COPY, None)
    if data.get("resources"):
        data["resources"] = {
            name: _masked(each) for name, each in data["resources"].items()
        }
    return data


def _masked(resource: Mapping[str, Any]) -> dict[str, Any]:
    shown = {**resource}
    kept = shown.get("resource_data") or {}
    masks = dict.fromkeys(shown.pop("redacted", ()), parameters.MASK)
    return {**shown, "resource_data": {**kept, **masks}}


# -- delete -------------------------------------------------------------------


def delete(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    record: snapshots.SnapshotRecord,
) -> None:
    """Delete a snapshot with what the plug-ins have saved for it.

    :raises ActionInProgress: it is being taken
    :raises StackLocked: the stack is locked
    :raises ResourceFailure: what was saved can't be deleted; the snapshot
        stays, and says so
    """
    if (record.action, record.status) == ("CREATE", "IN_PROGRESS") and (
        stack.status == "IN_PROGRESS"
    ):
        raise exception.ActionInProgress(
            stack_name=stack.name, action="SNAPSHOT"
        )
    # Asked before anything is deleted: half a snapshot is no use.
    engine.db.run(
        lambda conn: locks.hold_unlocked(conn, stack.id, "delete_snapshot")
    )
    _delete(engine, context, stack, record)


def _delete(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    record: snapshots.SnapshotRecord,
) -> None:
    try:
        for rsrc, data in _saved(engine, context, stack, record):
            _delete_saved(engine, rsrc, data)
    except Exception as error:
        reason = str(error)[:255]
        engine.db.run(
            lambda conn: snapshots.update(
                conn,
                record.id,
                action="DELETE",
                status="FAILED",
                status_reason=reason,
            )
        )
        raise
    engine.db.run(lambda conn: forget(conn, record))


def delete_all(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> None:
    """Delete what a stack has of snapshots, before it goes itself.

    :raises StackLocked: the stack can't go: it was locked since it was
        read, or a stack below it is
    :raises ResourceFailure: what was saved can't be deleted
    """
    if stack.status == "IN_PROGRESS" and stack.action == "DELETE":
        return

    def check(conn: sa.Connection) -> None:
        # A lock that failed ends with the delete.
        if stack.lock_level is None:
            locks.hold_unlocked(conn, stack.id, "delete")
        locks.refuse_locked_below(conn, stack, "delete")

    engine.db.run(check)
    for each in engine.db.read(lambda conn: snapshots.list_(conn, stack.id)):
        if each.status != "IN_PROGRESS":
            _delete(engine, context, stack, each)


def forget(conn: sa.Connection, record: snapshots.SnapshotRecord) -> None:
    """Remove the rows of a snapshot; what was saved stays."""
    snapshots.delete(conn, record.id)
    kept = (record.data or {}).get(_COPY)
    if kept is not None:
        templates.delete_unreferenced(conn, record.stack_id, [kept])


def _saved(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    record: snapshots.SnapshotRecord,
) -> Iterator[tuple[Resource, dict[str, Any]]]:
    """The plug-ins that have something to delete, each with its data.

    They are made from the snapshot: the resource may be another by now.
    """
    made = load.definition(engine, stack)
    view = gather.stack_view(engine, stack, made, context)
    for name, data in ((record.data or {}).get("resources") or {}).items():
        cls = gather.resource_class(engine, made, data["type"], name)
        if not hasattr(cls, "handle_delete_snapshot"):
            continue
        wish = rsrc_defn.ResourceDefinition(name, data["type"], {})
        rsrc = cls(name, wish, view)
        rsrc.load_state(
            None,
            data.get("resource_id"),
            str(data.get("action")),
            str(data.get("status")),
            data=data.get("resource_data") or {},
        )
        yield rsrc, data


def _delete_saved(
    engine: Engine, rsrc: Resource, data: Mapping[str, Any]
) -> None:
    operation = lifecycle.Operation(
        rsrc,
        "DELETE_SNAPSHOT",
        timeout_at=engine.monotonic() + _PATIENCE,
        arguments=(data,),
        monotonic=engine.monotonic,
    )
    progress = operation.start()
    while isinstance(progress, lifecycle.Waiting):
        time.sleep(progress.delay)
        progress = operation.poll()


# -- restore ------------------------------------------------------------------


def restore(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    record: snapshots.SnapshotRecord,
) -> None:
    """Begin to bring a stack back to what it was.

    :raises ActionInProgress: another action runs
    :raises NotSupported: the stack is suspended, or the snapshot was not
        taken completely
    :raises HeatException, ValueError: of class 400; nothing is stored then
    """
    if (record.action, record.status) not in (
        ("CREATE", "COMPLETE"),
        ("DELETE", "FAILED"),
    ):
        raise exception.NotSupported(
            feature=_("Restoring a snapshot that is not complete")
        )
    converge.check_may_update(stack)
    template_id = int((record.data or {})[_COPY])
    prepared = _version(engine, stack, template_id)
    template = _restored(engine, context, stack, record, prepared)
    if template is not None:
        prepared = _version(engine, stack, template_id, template)
    tree = prepare.check(engine, context, stack, prepared)
    delegation.ensure(engine, context, stack, tree)
    traversal = sync_points.Traversal(stack.id, str(uuid.uuid4()))

    def work(conn: sa.Connection) -> begin.Begun:
        order = begin.Order(
            "RESTORE",
            prepared.store(conn, template_id),
            prepared.definition,
            "Stack RESTORE started",
            {"updated_at": timeutils.utcnow()},
            traversal.traversal_id,
        )
        locks.refuse_locked_below(conn, stack, "restore")
        return begin.begin(conn, stack, order, timeutils.utcnow())

    with lifecycle_plugins.asked(
        engine, context, stack, "RESTORE", prepared.definition
    ):
        opened = opening.run(engine, context, traversal, work, None)
    opening.hand_on(engine, context, opened)


def _restored(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    record: snapshots.SnapshotRecord,
    prepared: prepare.Prepared,
) -> dict[str, Any] | None:
    """The template with what plug-ins want to be made from their data.

    :returns: None: they want nothing else than what it says
    """
    found = (record.data or {}).get("resources") or {}
    loaded = load.load(engine, stack)
    template: dict[str, Any] | None = None
    # What refers to other resources has their values now, as plug-ins that
    # make a new definition write values into it.
    for name in loaded.definition.nodes():
        node = loaded.definition.node(name)
        if node is not None:
            prepared.definition.set_node(name, node)
    for name, wish in prepared.definition.resource_definitions.items():
        row = loaded.rows.get(name)
        if row is None or row.action == "INIT" or name not in found:
            continue
        rsrc = load.resource(engine, context, loaded, row)
        handle = getattr(rsrc, "handle_restore", None)
        defn = None if handle is None else handle(wish, found[name])
        if defn is not None and defn is not wish:
            template = template or copy.deepcopy(dict(prepared.template))
            template["resources"][name] = defn.render_hot()
    for name in prepared.definition.nodes():
        prepared.definition.forget_node(name)
    return template
