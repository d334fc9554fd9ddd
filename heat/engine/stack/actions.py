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
"""Suspend, resume, check and cancel: actions that keep the template."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import locks, stacks
from heat.engine.ports import Engine
from heat.engine.stack import lifecycle_plugins
from heat.engine.traversal import begin, opening, outcome

# What a cancel may stop, with and without going back.
CANCELLED_ACTIONS = {
    True: frozenset({"CREATE", "UPDATE"}),
    False: frozenset({"CREATE", "UPDATE", "ROLLBACK"}),
}


def suspend(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> None:
    """Suspend every resource, dependants first.

    :raises ActionInProgress: another action runs
    """
    _walk(engine, context, stack, "SUSPEND")


def resume(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> None:
    """Resume every resource that is suspended, dependants last.

    :raises ActionInProgress: another action runs
    :raises NotSupported: the stack is not suspended
    """
    action, status = stack.base
    if status != "IN_PROGRESS" and action not in ("SUSPEND", "RESUME"):
        raise exception.NotSupported(
            feature=_("Resuming a stack that is not suspended")
        )
    _walk(engine, context, stack, "RESUME")


def check(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> None:
    """Look whether every object is what it should be.

    :raises ActionInProgress: another action runs
    """
    _walk(engine, context, stack, "CHECK")


def _walk(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    action: str,
) -> None:
    if stack.status == "IN_PROGRESS" or stack.base[0] == "DELETE":
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )
    order = begin.Order(
        action,
        stack.raw_template_id,
        None,
        f"Stack {action} started",
        traversal_id=str(uuid.uuid4()),
    )

    def work(conn: sa.Connection) -> begin.Begun:
        locks.refuse_locked_below(conn, stack, action.lower())
        return begin.begin(conn, stack, order, timeutils.utcnow())

    with lifecycle_plugins.asked(engine, context, stack, action):
        begun = engine.db.run(work)
    opening.send(engine, context, begun)


def cancel(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    *,
    rollback: bool = True,
    guard: Callable[[sa.Connection], None] | None = None,
) -> None:
    """Stop a create or an update, and go back or stay where it is.

    :param guard: raises, in the transaction that stops it, when the caller
        may not do so any more
    :raises NotSupported: nothing runs that could be cancelled
    :raises ActionInProgress: it ended, or another began, meanwhile
    """
    if (
        stack.status != "IN_PROGRESS"
        or stack.action not in CANCELLED_ACTIONS[rollback]
    ):
        raise exception.NotSupported(
            feature=_("Cancelling update when stack is %s")
            % f"{stack.action}_{stack.status}"
        )
    begun = outcome.cancel(engine, stack, rollback=rollback, guard=guard)
    if begun is not None:
        opening.send(engine, context, begun)


# -- nested stacks ------------------------------------------------------------


def act_below(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    action: str,
    guard: Callable[[sa.Connection], None],
) -> bool:
    """Begin on a nested stack what the stack above it does.

    Whoever works on a resource above, and is not wanted any more, has its
    nested stack stop; unless he is dead. What he has left running there is
    stopped now, as the resource is ours. What users have begun is not.

    :param action: SUSPEND, RESUME or CHECK
    :param guard: as that of :func:`cancel`
    :returns: whether it had not failed before, so far as can be told
    :raises ActionInProgress: it is busy with something else
    """
    if stack.action == action and stack.status == "IN_PROGRESS":
        return False
    if action == "RESUME" and stack.base[0] not in ("SUSPEND", "RESUME"):
        return stack.base[1] != "FAILED"
    if stack.status == "IN_PROGRESS":
        was = stack
        if engine.db.read(lambda conn: _is_from_above(conn, was)):
            stop_below(engine, context, was, guard)
            stack = (
                engine.db.read(lambda conn: stacks.get(conn, was.id)) or was
            )
    _BELOW[action](engine, context, stack)
    return stack.base[1] != "FAILED"


_BELOW = {"SUSPEND": suspend, "RESUME": resume, "CHECK": check}


def _is_from_above(conn: sa.Connection, stack: stacks.StackRecord) -> bool:
    """Whether the stack above has begun what a nested stack is doing.

    Only that makes one, has it keep what it replaces, or clean up later.
    """
    if stack.action == "CREATE" or stack.holds_cleanup:
        return True
    return bool((stacks.get_deps(conn, stack.id) or {}).get("cleans"))


def stop_below(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    guard: Callable[[sa.Connection], None],
) -> None:
    """Stop what a nested stack is doing, if that can be stopped."""
    try:
        cancel(engine, context, stack, rollback=False, guard=guard)
    except (exception.NotSupported, exception.ActionInProgress):
        return  # It has just come to rest, or is deleted already.
