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
"""Deletes a stack: a traversal in which nothing is wanted."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.identifier import HeatIdentifier
from heat.db import locks, stacks, sync_points, templates
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.stack import lifecycle_plugins, prepare
from heat.engine.traversal import begin, opening

# How often a delete tries again when another action began meanwhile: unlike
# an update it wants the same whatever the stack has become.
_TRIES = 5


def delete(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    *,
    abandons: bool = False,
) -> None:
    """Begin to delete; a delete that runs already is left running.

    Whatever else runs is superseded: operations end at their next poll.

    A lock that failed, or that could not be released, ends with it: each
    object is released before it is deleted.

    :param abandons: let every object go, in place of deleting it
    :raises ActionInProgress: others were faster, several times
    :raises StackLocked: it is locked, or a stack below it is
    """
    for left in reversed(range(_TRIES)):
        if stack.action == "DELETE" and stack.status != "FAILED":
            return
        if stack.lock_level is not None and not _may_release(stack):
            raise locks.refusal(stack, "delete")
        traversal_id = str(uuid.uuid4())
        try:
            with lifecycle_plugins.asked(engine, context, stack, "DELETE"):
                opened = _begin(
                    engine,
                    context,
                    stack,
                    order(stack, traversal_id, abandons),
                )
        except exception.ActionInProgress:
            if not left:
                raise
        else:
            opening.hand_on(engine, context, opened)
            return
        found = engine.db.read(
            lambda conn: stacks.get(conn, stack.id)  # noqa: B023 - run at once
        )
        if found is None:
            return
        stack = found


def _may_release(stack: stacks.StackRecord) -> bool:
    return stack.status == "FAILED" and stack.lock_root == stack.id


def order(
    stack: stacks.StackRecord, traversal_id: str, abandons: bool
) -> begin.Order:
    """What a stack that is deleted, or abandoned, is to reach."""
    what = "abandon" if abandons else "DELETE"
    return begin.Order(
        "DELETE",
        stack.raw_template_id,
        None,
        f"Stack {what} started",
        traversal_id=traversal_id,
        abandons=abandons,
        releases=stack.lock_level is not None and not abandons,
    )


def _begin(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    order: begin.Order,
) -> opening.Opened:
    """Begin, and have at hand what that can be told of."""
    traversal = sync_points.Traversal(stack.id, order.traversal_id)

    def work(conn: sa.Connection) -> begin.Begun:
        begun = begin.begin(conn, stack, order, timeutils.utcnow())
        locks.refuse_locked_below(conn, stack, "delete")
        return begin.at_hand(conn, begun)

    had, above = _had(engine, stack), stack.owner_id
    return opening.run(engine, context, traversal, work, had, None, above)


def _had(engine: Engine, stack: stacks.StackRecord) -> StackDefinition | None:
    """What the stack had; None when that can't be told.

    It is deleted all the same; whoever works on it says what is wrong.
    """
    had = engine.scenes and engine.db.look(
        lambda conn: templates.get(conn, stack.raw_template_id), "template"
    )
    if not had:
        return None
    identity = HeatIdentifier(stack.tenant, stack.name, stack.id)
    try:
        return prepare.stored_definition(identity, had)
    except (exception.HeatException, ValueError):
        return None
