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

"""Signals to resources, and the mark of an unhealthy one.

A signal changes only what a plug-in keeps with its resource. Nobody waits
for a claim to do that: the row is read, the plug-in is asked, and its answer
is written if the row is still what was read; else all over again. So of many
signals at once every single one is kept.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import events, locks, resource_data, signals, stacks
from heat.db.resources import ResourceRecord
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.resource import NoActionRequired, Resource, UpdateStack
from heat.engine.stack import converge, load, lock
from heat.engine.traversal import hooks

LOG = logging.getLogger(__name__)

#: The key of a signal that lets a resource go on from a hook.
UNSET_HOOK = "unset_hook"

# How often a signal is tried when others are faster. Each try that fails is
# a signal of somebody else that was heard, and those of one engine stand in
# line: a crowd of this many is sure to be served.
_TRIES = 250

_LINES = tuple(threading.Lock() for _number in range(64))


class _Overtaken(Exception):
    """Somebody else has changed what was decided from."""


def signal(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    resource_name: str,
    details: Any,
) -> None:
    """Pass a signal on to a resource.

    :param details: what the sender gave, None for nothing
    :raises ResourceNotFound: the stack has none of this name
    :raises ResourceActionNotSupported: it takes no signals, or not now
    :raises InvalidBreakPointHook: it does not wait at this hook
    :raises StackLocked: a hook is to be cleared, and the stack is locked
    :raises HeatException, ValueError: its plug-in did not like it
    :raises ResourceFailure: its plug-in failed; there is an event, too
    """
    if isinstance(details, dict) and UNSET_HOOK in details:
        lock.guard(stack, "clear_hook")
        name = str(details[UNSET_HOOK])
        hooks.clear(engine, context, stack, resource_name, name)
        return
    with _in_line(stack.id, resource_name):
        for _try in range(_TRIES):
            if _deliver(engine, context, stack, resource_name, details):
                return
            time.sleep(random.uniform(0, 0.05))  # noqa: S311 - no secret
    raise exception.Error(
        _("The signal to %s got lost among too many others; send it again.")
        % resource_name
    )


@contextlib.contextmanager
def _in_line(stack_id: str, name: str) -> Iterator[None]:
    """Signals of this process to one resource, one after the other."""
    with _LINES[hash((stack_id, name)) % len(_LINES)]:
        yield


def _deliver(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    name: str,
    details: Any,
) -> bool:
    """Try once; False: somebody else wrote the row meanwhile."""
    found = load.named(engine, stack, name)
    if found is None:
        raise exception.ResourceNotFound(
            resource_name=name, stack_name=stack.name
        )
    loaded, node = found
    row = node.row
    rsrc = load.resource(engine, context, loaded, row, node)
    if row.external:
        reason = _("the object is external: signal ignored")
        _tell(engine, rsrc, row, "COMPLETE", reason)
        return True
    _refuse(rsrc)
    modifies = not rsrc.signal_is_data
    if lock.ignores_signal(engine, context, stack, name, modifies=modifies):
        return True
    try:
        answer = rsrc.handle_signal(details)  # type: ignore[attr-defined]
        if isinstance(answer, UpdateStack):
            return _update(engine, rsrc, row, answer)
    except NoActionRequired as exc:
        _tell(engine, rsrc, row, "COMPLETE", exc.reason or str(exc))
        return True
    except Exception as exc:
        LOG.warning("signal to %s of stack %s: %s", name, stack.id, exc)
        _tell(engine, rsrc, row, "FAILED", str(exc))
        if isinstance(exc, exception.HeatException | ValueError):
            raise
        raise exception.ResourceFailure(exc, rsrc, "SIGNAL") from exc
    return _keep(engine, rsrc, row, answer or _received(details))


def _refuse(rsrc: Resource) -> None:
    """Check that the resource takes signals, in what it is doing now."""
    if not callable(getattr(rsrc, "handle_signal", None)):
        raise exception.ResourceActionNotSupported(
            action=_("A signal to %(name)s (%(type)s)")
            % {"name": rsrc.name, "type": rsrc.type()}
        )
    if rsrc.action in rsrc.no_signal_actions or rsrc.action == rsrc.INIT:
        raise exception.ResourceActionNotSupported(
            action=_("A signal to %(name)s, now %(action)s_%(status)s,")
            % {
                "name": rsrc.name,
                "action": rsrc.action,
                "status": rsrc.status,
            }
        )


def _received(details: Any) -> str:
    """What the event says of a signal."""
    if not details:
        return _("Signal received")
    if isinstance(details, dict):
        listed = ", ".join(
            f"{key}: {value}" for key, value in sorted(details.items())
        )
    else:
        listed = str(details)
    return _("Signal received: %s") % listed


# -- write --------------------------------------------------------------------


def _keep(
    engine: Engine, rsrc: Resource, row: ResourceRecord, reason: str
) -> bool:
    """Write what the plug-in changed, with its event.

    What only carries data is done again when the row has moved on; other
    handlers have acted already, so theirs is written over the newer row.
    """
    change = _change(rsrc)
    if not change:
        _tell(engine, rsrc, row, "COMPLETE", reason)
        return True

    def work(conn: sa.Connection) -> bool:
        now = signals.hold(conn, row.id)
        if now is None:
            return not rsrc.signal_is_data
        if rsrc.signal_is_data and now.atomic_key != row.atomic_key:
            return False
        signals.write(conn, row.id, change)
        events.insert_many(conn, [_event(rsrc, row, "COMPLETE", reason)])
        return True

    return engine.db.run(work)


def _update(
    engine: Engine, rsrc: Resource, row: ResourceRecord, wish: UpdateStack
) -> bool:
    """Begin the update that a handler has decided on.

    :raises HeatException: the stack can't be updated now
    """
    data = {k: resource_data.DataRecord(v) for k, v in wish.data.items()}
    told = [_event(rsrc, row, "COMPLETE", wish.reason)]

    def write(conn: sa.Connection) -> None:
        held = signals.hold(conn, wish.row_id)
        now = resource_data.get_many(conn, [wish.row_id])
        known = now.get(wish.row_id, {})
        if held is None or any(
            known.get(key) != wish.known.get(key) for key in data
        ):
            raise _Overtaken
        signals.write(conn, wish.row_id, signals.Change({}, data))
        events.insert_many(conn, told)

    try:
        converge.again(engine, rsrc.stack.context, row.stack_id, write)
    except _Overtaken:
        return False
    except exception.ActionInProgress:
        # Others were faster; for what can't be superseded nobody waits.
        now = engine.db.read(lambda conn: stacks.get(conn, row.stack_id))
        if now is None:
            raise
        converge.check_may_update(now)
        return False
    return True


def _change(rsrc: Resource) -> signals.Change:
    changes = rsrc.changes()
    columns: dict[str, Any] = {}
    if changes.physical_id_changed:
        columns["physical_id"] = changes.physical_id
    if changes.metadata is not None:
        columns["metadata"] = changes.metadata
    return signals.Change(
        columns,
        {
            key: resource_data.DataRecord(value, redact)
            for key, (value, redact) in changes.data.items()
        },
        changes.data_deleted,
    )


def _tell(
    engine: Engine,
    rsrc: Resource,
    row: ResourceRecord,
    status: str,
    reason: str,
) -> None:
    rows = [_event(rsrc, row, status, reason)]
    engine.db.run(lambda conn: events.insert_many(conn, rows))


def _event(
    rsrc: Resource, row: ResourceRecord, status: str, reason: str
) -> dict[str, Any]:
    return {
        **events.of_resource(row, "SIGNAL", status, reason),
        "physical_resource_id": rsrc.resource_id,
    }


# -- health -------------------------------------------------------------------


def mark_unhealthy(
    engine: Engine,
    stack: StackRecord,
    row: ResourceRecord,
    unhealthy: bool,
    reason: str | None,
) -> None:
    """Have the next update replace a resource, or not after all.

    :param row: the resource as the caller has read it
    :raises ActionInProgress: an operation holds the resource
    :raises StackLocked: the stack is locked
    :raises ResourceActionNotSupported: there is no object
    """
    status = "FAILED" if unhealthy else "COMPLETE"
    text = reason or (
        _("marked unhealthy") if unhealthy else _("marked healthy")
    )

    def work(conn: sa.Connection) -> None:
        locks.hold_unlocked(conn, stack.id, "mark_unhealthy")
        now = signals.hold(conn, row.id)
        if now is None or now.action in ("INIT", "DELETE"):
            raise exception.ResourceActionNotSupported(
                action=_("A mark on %s, which has no object,") % row.name
            )
        if now.claim_id is not None:
            raise exception.ActionInProgress(
                stack_name=stack.name, action=f"{now.action} of {now.name}"
            )
        failed_check = (now.action, now.status) == ("CHECK", "FAILED")
        if not unhealthy and not failed_check:
            return
        if unhealthy and (now.action, now.status) == ("CREATE", "FAILED"):
            # It is replaced anyway; a mark would hide why.
            return
        values = {
            "action": "CHECK",
            "status": status,
            "status_reason": text,
            "updated_at": timeutils.utcnow(),
        }
        signals.write(conn, row.id, signals.Change(values, {}))
        events.insert_many(
            conn, [events.of_resource(now, "CHECK", status, text)]
        )

    engine.db.run(work)
