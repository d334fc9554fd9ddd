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

"""Tells others what was committed: notifications, event sinks, plug-ins.

Every event row comes here once its transaction is committed (see
:attr:`heat.db.session.Database.committed`) and is worked on by one thread
of its own, so nothing of this takes a stack's time, and no failure of it is
a stack's failure. What is in hand when the process dies is lost.

What is asked of the database is one row or two for each action of a stack,
never for a resource.
"""

from __future__ import annotations

import collections
import logging
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from heat.common.identifier import HeatIdentifier
from heat.db import roots, stacks, templates
from heat.engine.environment import shared
from heat.engine.ports import Engine
from heat.engine.resource import StackView
from heat.engine.stack import event_sinks, lifecycle_plugins
from heat.engine.traversal import identity

LOG = logging.getLogger(__name__)

#: Called with type, payload and whether it tells of an error.
Notify = Callable[[str, Mapping[str, Any], bool], None]

_STACK = "OS::Heat::Stack"
_SUFFIXES = {"IN_PROGRESS": "start", "COMPLETE": "end", "FAILED": "error"}

#: Batches of events that may wait. More come only when a sink hangs.
_MOST = 10000

#: Stacks whose sinks are remembered.
_REMEMBERED = 1000

Row = Mapping[str, Any]


class Publisher:
    """One for each engine process.

    :param notify: sends a notification; None: nobody listens
    """

    def __init__(self, engine: Engine, notify: Notify | None = None) -> None:
        self._engine = engine
        self._notify = notify
        # One with a bound takes a lock of Python's for each commit.
        self._queue: queue.SimpleQueue[Callable[[], None] | None]
        self._queue = queue.SimpleQueue()
        self._sinks: collections.OrderedDict[str, tuple[list[Any], Any]] = (
            collections.OrderedDict()
        )
        self._thread = threading.Thread(
            target=self._work, name="heat-publisher", daemon=True
        )

    def start(self) -> None:
        """Listen to the engine's database."""
        self._thread.start()
        self._engine.db.committed = self.committed
        self._engine.publisher = self

    def stop(self, timeout: float = 5) -> None:
        """Tell what is still in hand, as far as the time allows.

        :param timeout: seconds
        """
        self._engine.db.committed = None
        self._engine.publisher = None
        self._queue.put(None)
        self._thread.join(timeout)

    # -- what comes in -------------------------------------------------------

    def committed(self, rows: list[Any]) -> None:
        """Take over event rows; neither waits nor raises."""
        self._put(lambda: self._tell_all(rows))

    def autoscaling(
        self, stack: StackView, suffix: str, told: Mapping[str, Any]
    ) -> None:
        """Notify of the change of a group's size.

        :param suffix: ``start``, ``end`` or ``error``
        :param told: more keys of the payload
        """
        if self._notify is not None and stack.id is not None:
            ident = stack.id
            self._put(lambda: self._autoscaling(ident, suffix, told))

    def _put(self, work: Callable[[], None]) -> None:
        if self._queue.qsize() >= _MOST:
            LOG.error("events are not told: too many wait already")
        else:
            self._queue.put(work)

    # -- the thread ----------------------------------------------------------

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                work()
            except Exception:
                LOG.exception("telling of events failed")

    def _tell_all(self, rows: Iterable[Row]) -> None:
        for row in rows:
            begins = False
            if _is_of_stack(row):
                begins = row["resource_status"] == "IN_PROGRESS"
                self._stack_changed(row)
            self._pour(row, afresh=begins)

    # -- sinks ---------------------------------------------------------------

    def _pour(self, row: Row, *, afresh: bool) -> None:
        sinks, context = self._sinks_of(row["stack_id"], afresh)
        for sink in sinks:
            try:
                sink.consume(context, event_sinks.as_event(row))
            except Exception as exc:
                LOG.error(
                    "the event %s of stack %s does not reach %r: %s",
                    row["uuid"],
                    row["stack_id"],
                    sink,
                    exc,
                )

    def _sinks_of(self, stack_id: str, afresh: bool) -> tuple[list[Any], Any]:
        """The sinks of a stack, and the context they are called with.

        A nested stack has those of the stack at the top.
        """
        if not afresh and stack_id in self._sinks:
            return self._sinks[stack_id]
        root = roots.known(stack_id) or self._engine.db.read(
            lambda conn: roots.root_of_id(conn, stack_id)
        )
        if root != stack_id:
            stack_id, afresh = root, False
        if afresh or stack_id not in self._sinks:
            self._sinks[stack_id] = self._load_sinks(stack_id)
            while len(self._sinks) > _REMEMBERED:
                self._sinks.popitem(last=False)
        return self._sinks[stack_id]

    def _load_sinks(self, stack_id: str) -> tuple[list[Any], Any]:
        def read(conn: Any) -> tuple[list[Any], Any]:
            stack = stacks.get(conn, stack_id, show_deleted=True)
            if stack is None:
                return [], None
            entries = [
                *shared.current().event_sinks,
                *templates.event_sinks(conn, stack.raw_template_id),
            ]
            context = None
            if entries:
                context = identity.context_of(stack)
                context = identity.with_credentials(conn, stack, context)
            return entries, context

        entries, context = self._engine.db.read(read)
        known = self._engine.plugins.event_sinks
        return event_sinks.make(entries, known), context

    # -- stacks --------------------------------------------------------------

    def _stack_changed(self, row: Row) -> None:
        status, action = row["resource_status"], row["resource_action"]
        ends = status != "IN_PROGRESS" and self._engine.plugins.lifecycle
        if self._notify is None and not ends:
            return
        stack, description = self._stack(row["stack_id"])
        if stack is None:
            return
        if self._notify is not None and status in _SUFFIXES:
            suffix = _SUFFIXES[status]
            payload = _payload(stack, description)
            payload["state"] = f"{action}_{status}"
            payload["state_reason"] = row["resource_status_reason"]
            name = f"orchestration.stack.{action.lower()}.{suffix}"
            self._notify(name, payload, suffix == "error")
        if ends:
            lifecycle_plugins.tell(
                self._engine,
                identity.context_of(stack),
                stack,
                action,
                failed=status == "FAILED",
            )

    def _stack(self, stack_id: str) -> tuple[stacks.StackRecord | None, str]:
        def read(conn: Any) -> tuple[stacks.StackRecord | None, str]:
            stack = stacks.get(conn, stack_id, show_deleted=True)
            if stack is None:
                return None, ""
            ident = stack.raw_template_id
            return stack, templates.descriptions(conn, [ident]).get(ident, "")

        return self._engine.db.read(read)

    def _autoscaling(
        self, stack_id: str, suffix: str, told: Mapping[str, Any]
    ) -> None:
        stack, description = self._stack(stack_id)
        if stack is not None and self._notify is not None:
            payload = {**_payload(stack, description), **told}
            name = f"orchestration.autoscaling.{suffix}"
            self._notify(name, payload, suffix == "error")


def _is_of_stack(row: Row) -> bool:
    return bool(
        row["resource_type"] == _STACK
        and row["physical_resource_id"] == row["stack_id"]
    )


def _payload(stack: stacks.StackRecord, description: str) -> dict[str, Any]:
    """What every notification tells of its stack."""
    arn = HeatIdentifier(stack.tenant, stack.name, stack.id).arn()
    return {
        "tenant_id": stack.tenant,
        "user_id": stack.username,
        "user_identity": stack.username,
        "username": stack.username,
        "stack_identity": arn,
        "stack_name": stack.name,
        "state": f"{stack.action}_{stack.status}",
        "state_reason": stack.status_reason,
        "create_at": _when(stack.created_at),
        "description": description,
        "updated_at": _when(stack.updated_at),
        "tags": list(stack.tags),
    }


def _when(moment: Any) -> str | None:
    return None if moment is None else f"{moment.isoformat()}Z"
