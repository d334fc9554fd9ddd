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
"""Abandons a stack: Heat forgets it, and its objects stay.

It is a delete in which every object is let go. A resource that is a stack
lets go of its own objects first, and is gone with that.
"""

from __future__ import annotations

import uuid
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import locks, snapshots, stacks, sync_points, trees
from heat.engine.ports import Engine
from heat.engine.stack import delete, export
from heat.engine.stack import snapshots as kept
from heat.engine.traversal import begin, opening


def abandon(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> dict[str, Any]:
    """Begin to let a stack go; what another Heat needs to adopt it.

    :raises ActionInProgress: something runs on it, or below it
    :raises StackLocked: it is locked, or a stack below it is
    :raises NotSupported: it is a nested stack
    """
    if stack.owner_id is not None:
        raise exception.NotSupported(
            feature=_("Abandoning a nested stack without its parent")
        )
    _check_idle(stack)
    told = export.export(engine, context, stack)
    traversal = sync_points.Traversal(stack.id, str(uuid.uuid4()))

    def work(conn: sa.Connection) -> begin.Begun:
        return _begin(conn, stack, traversal.traversal_id)

    opened = opening.run(engine, context, traversal, work, None)
    opening.hand_on(engine, context, opened)
    return told


def _check_idle(stack: stacks.StackRecord) -> None:
    if stack.status == "IN_PROGRESS" or stack.deleted_at is not None:
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )


def _begin(
    conn: sa.Connection, stack: stacks.StackRecord, traversal_id: str
) -> begin.Begun:
    locks.refuse_locked_below(conn, stack, "abandon")
    for stack_id in trees.descendants(conn, stack.id):
        below = stacks.get(conn, stack_id)
        if below is not None:
            _check_idle(below)
        for each in snapshots.list_(conn, stack_id):
            kept.forget(conn, each)
    return begin.begin(
        conn,
        stack,
        delete.order(stack, traversal_id, abandons=True),
        timeutils.utcnow(),
    )
