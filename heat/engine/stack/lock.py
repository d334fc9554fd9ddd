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
"""LOCK and UNLOCK of a stack: who may do what when, and how it begins.

The tables are the rules: the guard, the tests and the page
``doc/source/operator/locks.rst`` are made of them. What the engine does with
the rows is in :mod:`heat.engine.traversal.locking`.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping

from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import events, locks, resources, stacks
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.traversal import locking, opening

LOG = logging.getLogger(__name__)

#: What changes a stack or its objects: kind -> what a user calls it. Each
#: is refused while the stack is locked, and counted under its kind.
KINDS: Mapping[str, str] = {
    "update": "update the stack",
    "delete": "delete the stack",
    "suspend": "suspend the stack",
    "resume": "resume the stack",
    "check": "check the stack",
    "cancel_update": "cancel an update",
    "snapshot": "take a snapshot",
    "delete_snapshot": "delete a snapshot",
    "restore": "restore a snapshot",
    "abandon": "abandon the stack",
    "mark_unhealthy": "mark a resource unhealthy",
    "clear_hook": "clear a hook",
    "metadata": "write a resource's metadata",
    "deployment": "make, change or delete a software deployment",
}
LOCK, UNLOCK = "lock", "unlock"
ACTIONS = (*KINDS, LOCK, UNLOCK)

_WRITES = frozenset(KINDS)

#: The state shown -> what is allowed then. A state that is missing here
#: stands for itself with ``*``; what is allowed of KINDS is then up to the
#: rules of each action, by the base state.
ALLOWED: Mapping[str, frozenset[str]] = {
    "*_IN_PROGRESS": _WRITES,
    "INIT_COMPLETE": _WRITES,
    "DELETE_COMPLETE": _WRITES,
    "*": _WRITES | {LOCK},
    "LOCK_IN_PROGRESS": frozenset(),
    "LOCK_COMPLETE": frozenset({LOCK, UNLOCK}),
    "LOCK_FAILED": frozenset({LOCK, UNLOCK, "delete"}),
    "UNLOCK_IN_PROGRESS": frozenset(),
    "UNLOCK_COMPLETE": _WRITES | {LOCK},
    "UNLOCK_FAILED": frozenset({UNLOCK, "delete"}),
}

READ = "read"
FREE = "free"


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a lock means for a method of the RPC API.

    :param kind: one of :data:`ACTIONS`; READ: it changes nothing; FREE: it
        changes no stack that could be locked
    :param because: why it is FREE, or what of it is refused
    """

    kind: str
    because: str = ""


_SIGNAL = "hooks are refused; else what would modify the stack is ignored"
_CONFIG = "a config belongs to no stack and never changes"
_NEW = "a new stack is not locked; the one that it is nested in is asked"
_DATA = "status, outputs and reason are data and pass"

#: Every method of the RPC API that is not a READ.
METHODS: Mapping[str, Rule] = {
    "create_stack": Rule(FREE, _NEW),
    "update_stack": Rule("update"),
    "delete_stack": Rule("delete"),
    "abandon_stack": Rule("abandon"),
    "migrate_convergence_1": Rule(FREE, "nothing a user can ask for"),
    "stack_cancel_update": Rule("cancel_update"),
    "stack_suspend": Rule("suspend"),
    "stack_resume": Rule("resume"),
    "stack_check": Rule("check"),
    "stack_lock": Rule(LOCK),
    "stack_unlock": Rule(UNLOCK),
    "stack_snapshot": Rule("snapshot"),
    "delete_snapshot": Rule("delete_snapshot"),
    "stack_restore": Rule("restore"),
    "resource_signal": Rule("clear_hook", _SIGNAL),
    "resource_mark_unhealthy": Rule("mark_unhealthy"),
    "create_software_config": Rule(FREE, _CONFIG),
    "delete_software_config": Rule(FREE, _CONFIG),
    "create_software_deployment": Rule("deployment"),
    "update_software_deployment": Rule("deployment", _DATA),
    "delete_software_deployment": Rule("deployment"),
    "signal_software_deployment": Rule(FREE, _DATA),
}


def allowed(state: str) -> frozenset[str]:
    """What may be asked of a stack that shows this state."""
    if state in ALLOWED:
        return ALLOWED[state]
    return ALLOWED["*_IN_PROGRESS" if state.endswith("_IN_PROGRESS") else "*"]


def guard(stack: StackRecord, kind: str) -> None:
    """Check that a stack, as it was read, is not locked against something.

    It asks no database. Whatever begins afterwards asks again in its own
    transaction: a traversal by its compare-and-set, the rest by
    :func:`heat.db.locks.hold_unlocked`.

    :param kind: one of :data:`KINDS`
    :raises StackLocked: quoting the record of the lock
    """
    if stack.lock_level is None:
        return
    state = f"{stack.action}_{stack.status}"
    with_others = stack.lock_root not in (None, stack.id)
    if with_others or kind not in allowed(state):
        raise locks.refusal(stack, kind)


# -- lock, unlock -------------------------------------------------------------


def lock(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    level: str = "all",
    reason: str | None = None,
    expires_in: int | None = None,
) -> None:
    """Lock a stack and all below it, or change the level of its lock.

    From the moment this returns nothing else begins on them.

    :param level: one of :data:`heat.engine.traversal.locking.LEVELS`
    :param expires_in: seconds until the engine unlocks it; None: never
    :raises ValueError: another level, or no time
    :raises StackLocked: it is being locked or unlocked, or was locked
        together with a stack above it
    :raises ActionInProgress: it, or a stack below, is busy
    :raises StackNotLockable: it has no state that could be kept
    """
    if level not in locking.LEVELS:
        raise ValueError(
            _("level must be one of %(known)s, not %(level)s")
            % {"known": ", ".join(locking.LEVELS), "level": level}
        )
    if expires_in is not None and expires_in < 1:
        raise ValueError(_("expires_in must be 1 second or more"))
    _check_state(stack, LOCK)
    terms = locking.Terms(
        level,
        reason,
        _who(context),
        expires_in,
        context.request_id,
    )
    _begin(engine, context, stack, terms)


def unlock(
    engine: Engine, context: RequestContext, stack: StackRecord
) -> None:
    """Unlock a stack and all that was locked with it.

    :raises StackNotLocked: it is not locked
    :raises StackLocked: it is being locked or unlocked, or it is unlocked
        through another stack only; the error names that
    :raises ActionInProgress: somebody else was faster
    """
    _check_state(stack, UNLOCK)
    _begin(engine, context, stack, locking.Terms(None))


def _check_state(stack: StackRecord, wanted: str) -> None:
    state = f"{stack.action}_{stack.status}"
    if stack.lock_level is not None:
        guard(stack, wanted)
    elif wanted in allowed(state):
        return
    elif wanted == UNLOCK:
        raise exception.StackNotLocked(stack_name=stack.name, state=state)
    elif stack.status == "IN_PROGRESS":
        raise exception.ActionInProgress(
            stack_name=stack.name, action=stack.action
        )
    else:
        raise exception.StackNotLockable(stack_name=stack.name, state=state)


def _begin(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    terms: locking.Terms,
) -> None:
    for begun in locking.start(engine, stack, terms):
        opening.send(engine, context, begun)


def _who(context: RequestContext) -> str | None:
    return context.username or context.user_id


# -- what is refused, or ignored ----------------------------------------------


def count_blocked(
    engine: Engine, context: RequestContext, refused: exception.StackLocked
) -> None:
    """Count an attempt under its kind, with who made it.

    Never in the way of the answer: a failure is only logged.
    """
    stack_id = str(refused.kwargs.get("stack_id") or "")
    kind = str(refused.kwargs.get("kind") or "")
    if not stack_id or not kind:
        return
    attempt = {
        "by": _who(context),
        "at": timeutils.utcnow().replace(microsecond=0).isoformat() + "Z",
        "request_id": context.request_id,
    }
    try:
        engine.db.run(
            lambda conn: locks.count_blocked(conn, stack_id, kind, attempt)
        )
    except Exception:
        LOG.exception(
            "a refused %s of stack %s is not counted", kind, stack_id
        )


def guard_object(engine: Engine, physical_id: str, kind: str) -> None:
    """Check that no stack that holds an object is locked.

    For requests that name a server and no stack (software deployments).

    :raises StackLocked: quoting the record of the lock
    """
    rows = engine.db.read(
        lambda conn: resources.find_physical(conn, physical_id)
    )
    owners = engine.db.read(
        lambda conn: stacks.get_many(conn, {row.stack_id for row in rows})
    )
    for key in sorted(owners):
        guard(owners[key], kind)


def ignores_signal(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    resource_name: str,
    *,
    modifies: bool = True,
) -> bool:
    """Whether a signal is to be taken and forgotten, as the stack is locked.

    The seam for whatever handles signals: call it before anything else is
    done. True: answer the caller with success (an alarm would come again
    and again) and do nothing; the event and the counter are written here.
    A handler that goes on and modifies the stack writes nothing before
    :func:`heat.db.locks.hold_unlocked` in its own transaction has passed.

    :param modifies: False for a signal that is only data (a wait condition,
        the output of a deployment): it passes
    """
    if stack.lock_level is None or not modifies:
        return False
    now = timeutils.utcnow()
    told = {
        "stack_id": stack.id,
        "created_at": now,
        "resource_action": "SIGNAL",
        "resource_status": "COMPLETE",
        "resource_name": resource_name,
        "physical_resource_id": None,
        "resource_status_reason": "signal ignored: stack is locked",
        "resource_type": None,
        "rsrc_prop_data_id": None,
    }
    engine.db.run(lambda conn: events.insert_many(conn, [told]))
    count_blocked(engine, context, locks.refusal(stack, "signal"))
    return True
