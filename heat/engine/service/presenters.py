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

"""Records as the dictionaries that travel over RPC.

Pure functions: they read no database and call no cloud. The keys are
contract, see :mod:`heat.rpc.api`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heat.common.identifier import HeatIdentifier
from heat.db.events import EventRecord
from heat.db.released import ReleasedRecord
from heat.db.resource_lists import Child, Link, ListedResource
from heat.db.resources import ResourceRecord
from heat.db.services import ServiceRecord
from heat.db.snapshots import SnapshotRecord
from heat.db.stack_lists import ListedLock, ListedRecord
from heat.db.stacks import StackRecord
from heat.engine.definition import StackDefinition
from heat.rpc import api

NO_DESCRIPTION = "No description"

Dict = dict[str, Any]
Shown = StackRecord | ListedRecord
Row = ResourceRecord | ListedResource


def time(when: datetime.datetime | None) -> str | None:
    """ISO 8601 in UTC with whole seconds and ``Z``; None stays None."""
    if when is None:
        return None
    if when.tzinfo is not None:
        when = when.astimezone(datetime.UTC).replace(tzinfo=None)
    return when.isoformat(timespec="seconds") + "Z"


def identity(stack: Shown | Child) -> HeatIdentifier:
    """The identity of a stack."""
    return HeatIdentifier(stack.tenant or "", stack.name, stack.id)


# -- stacks -------------------------------------------------------------------


def stack_summary(stack: Shown, description: str | None) -> Dict:
    """A stack in a list: all that its row and its template's head tell.

    :param description: what its template says of itself
    """
    text = description or NO_DESCRIPTION
    return {
        api.STACK_ID: dict(identity(stack)),
        api.STACK_NAME: stack.name,
        api.STACK_DESCRIPTION: text,
        api.STACK_TMPL_DESCRIPTION: text,
        api.STACK_ACTION: stack.action,
        api.STACK_STATUS: stack.status,
        api.STACK_STATUS_DATA: stack.status_reason,
        api.STACK_CREATION_TIME: time(stack.created_at),
        api.STACK_UPDATED_TIME: time(stack.updated_at),
        api.STACK_DELETION_TIME: time(stack.deleted_at),
        api.STACK_NOTIFICATION_TOPICS: [],
        api.STACK_CAPABILITIES: [],
        api.STACK_DISABLE_ROLLBACK: stack.disable_rollback,
        api.STACK_TIMEOUT: stack.timeout,
        api.STACK_OWNER: stack.username,
        api.STACK_PARENT: stack.owner_id,
        api.STACK_USER_PROJECT_ID: stack.stack_user_project_id,
        api.STACK_TAGS: list(stack.tags) or None,
        api.STACK_LOCK: lock(
            stack.lock if isinstance(stack, ListedRecord) else stack
        ),
    }


def stack_details(
    stack: StackRecord,
    description: str | None,
    parameters: Mapping[str, str],
    outputs: Sequence[Dict] | None,
) -> Dict:
    """A stack in full.

    :param parameters: texts by name, hidden ones masked
    :param outputs: resolved outputs; None: they were not asked for
    """
    shown = stack_summary(stack, description)
    shown[api.STACK_PARAMETERS] = dict(parameters)
    if outputs is not None:
        shown[api.STACK_OUTPUTS] = list(outputs)
    return shown


def lock(stack: StackRecord | ListedLock | None) -> Dict | None:
    """The record of a stack's lock, or None."""
    if stack is None or stack.lock_level is None:
        return None
    return {
        "level": stack.lock_level,
        "reason": stack.lock_reason,
        "locked_by": stack.locked_by,
        "locked_at": time(stack.locked_at),
        "expires_at": time(stack.lock_expires_at),
        "request_id": stack.lock_request_id,
        "blocked": stack.lock_blocked or {},
    }


# -- resources ----------------------------------------------------------------


def required_by(
    rows: Iterable[Row | Link], current: Iterable[Row | Link]
) -> dict[str, list[str]]:
    """Who needs a resource: names of dependants by name, both sorted.

    :param rows: every row of the stack, to find names by row id
    :param current: the rows that users see
    """
    names = {row.id: row.name for row in rows}
    found: dict[str, set[str]] = {}
    for row in current:
        for need in row.requires or ():
            if need in names:
                found.setdefault(names[need], set()).add(row.name)
    return {name: sorted(found[name]) for name in sorted(found)}


def cleanup(rows: Sequence[ResourceRecord]) -> Dict:
    """What a stack has still to get rid of: old versions and strays."""
    return {
        "left": len(rows),
        "objects": [
            {
                api.RES_NAME: row.name,
                api.RES_TYPE: row.resource_type,
                api.RES_PHYSICAL_ID: row.physical_id or "",
                api.RES_ACTION: row.action,
                api.RES_STATUS: row.status,
                api.RES_STATUS_DATA: row.status_reason or "",
            }
            for row in rows
        ],
    }


def resource(
    stack: StackRecord,
    row: Row,
    needed_by: Sequence[str],
    *,
    nested: StackRecord | Child | None = None,
) -> Dict:
    """A resource as every list has it.

    :param nested: the stack that the resource is, if it is one
    """
    shown: Dict = {
        api.RES_NAME: row.name,
        api.RES_ID: dict(identity(stack).resource(row.name)),
        api.RES_TYPE: row.resource_type,
        api.RES_PHYSICAL_ID: row.physical_id or "",
        api.RES_ACTION: row.shown_action,
        api.RES_STATUS: row.shown_status,
        api.RES_STATUS_DATA: row.shown_reason or "",
        api.RES_CREATION_TIME: time(row.created_at),
        api.RES_UPDATED_TIME: time(row.updated_at or row.created_at),
        api.RES_REQUIRED_BY: list(needed_by),
        api.RES_STACK_ID: dict(identity(stack)),
        api.RES_STACK_NAME: stack.name,
    }
    if row.external:
        shown[api.RES_EXTERNAL] = True
    if nested is not None:
        shown[api.RES_NESTED_STACK_ID] = dict(identity(nested))
    if stack.parent_resource_name:
        shown[api.RES_PARENT_RESOURCE] = stack.parent_resource_name
    return shown


def resource_description(definition: StackDefinition | None, name: str) -> str:
    """What the template says of a resource."""
    found = definition.resource_definition(name) if definition else None
    text = found.description if found is not None else None
    return text if isinstance(text, str) else ""


# -- events -------------------------------------------------------------------


def event(
    stack: StackRecord, record: EventRecord, root: StackRecord | None
) -> Dict:
    """An event.

    :param root: the top of the tree of stacks, for those who ask for it
    """
    name = record.resource_name or ""
    return {
        api.EVENT_ID: dict(identity(stack).event(name, record.uuid)),
        api.EVENT_STACK_ID: dict(identity(stack)),
        api.EVENT_STACK_NAME: stack.name,
        api.EVENT_TIMESTAMP: time(record.created_at),
        api.EVENT_RES_NAME: record.resource_name,
        api.EVENT_RES_PHYSICAL_ID: record.physical_resource_id,
        api.EVENT_RES_ACTION: record.resource_action,
        api.EVENT_RES_STATUS: record.resource_status,
        api.EVENT_RES_STATUS_DATA: record.resource_status_reason,
        api.EVENT_RES_TYPE: record.resource_type,
        api.EVENT_RES_PROPERTIES: record.resource_properties,
        # The name says id, but it is an identity that travels.
        api.EVENT_ROOT_STACK_ID: dict(identity(root)) if root else None,
    }


def released(record: ReleasedRecord) -> Dict:
    """An object that was let go."""
    return {
        "stack_id": record.stack_id,
        "stack_name": record.stack_name,
        "resource_name": record.resource_name,
        "resource_type": record.resource_type,
        "physical_resource_id": record.physical_resource_id,
        "reason": record.reason,
        "released_at": time(record.created_at),
    }


# -- engines ------------------------------------------------------------------


def snapshot(record: SnapshotRecord) -> Dict:
    """A snapshot, without its data."""
    return {
        api.SNAPSHOT_ID: record.id,
        api.SNAPSHOT_NAME: record.name,
        api.SNAPSHOT_STACK_ID: record.stack_id,
        api.SNAPSHOT_ACTION: record.action,
        api.SNAPSHOT_STATUS: record.status,
        api.SNAPSHOT_STATUS_REASON: record.status_reason,
        api.SNAPSHOT_CREATION_TIME: time(record.created_at),
    }


def service(record: ServiceRecord, dead_after: float) -> Dict:
    """An engine.

    :param dead_after: seconds of silence after which it counts as down
    """
    alive = record.deleted_at is None and record.silent_for <= dead_after
    return {
        api.SERVICE_ID: record.id,
        api.SERVICE_ENGINE_ID: record.engine_id,
        api.SERVICE_HOST: record.host,
        api.SERVICE_HOSTNAME: record.hostname,
        api.SERVICE_BINARY: record.binary,
        api.SERVICE_TOPIC: record.topic,
        api.SERVICE_REPORT_INTERVAL: record.report_interval,
        api.SERVICE_CREATED_AT: time(record.created_at),
        api.SERVICE_UPDATED_AT: time(record.updated_at),
        api.SERVICE_DELETED_AT: time(record.deleted_at),
        api.SERVICE_STATUS: "up" if alive else "down",
    }
