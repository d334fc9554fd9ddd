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
"""Operations in hand, how they ended, and what is recorded of both."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception, values
from heat.common.i18n import _
from heat.db import events, properties_data
from heat.engine import paces
from heat.engine.resource import lifecycle, ownership
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False)
class Task:
    """An operation on a row that this engine has claimed.

    :ivar claimed_at: when, for its event
    :ivar taken_at: when, by the engine's own clock (monotonic seconds)
    :ivar begun: the properties it begins with, when they are known
    :ivar noted: its beginning is recorded: event and properties
    :ivar due_at: not to be polled before (monotonic seconds)
    :ivar saved: what it made so far is recorded
    :ivar checkpoints: how often that was done
    :ivar tries: how often it was begun again
    :ivar again: it is to be begun, for the first time or again, not polled
    :ivar remark: the reason that its event and row will show
    """

    node: Node
    action: str
    claim_id: str
    prop_data_id: int | None = None
    operation: ownership.Steps | None = None
    error: Exception | None = None
    begun: dict[str, Any] | None = None
    claimed_at: datetime.datetime | None = None
    taken_at: float = 0.0
    noted: bool = False
    saved: bool = False
    checkpoints: int = 0
    due_at: float = 0.0
    tries: int = 0
    again: bool = False
    remark: str = "state changed"

    @property
    def may_note_late(self) -> bool:
        """Whether its beginning may be recorded together with its end.

        So it may when a step takes no time and a crash in between leaves
        nothing to be known: not so for an update, whose properties tell
        what may have been applied.
        """
        return self.action in ("CREATE", "DELETE") and not self.blocking

    @property
    def yields(self) -> bool:
        """Whether it ends when another traversal takes this one's place."""
        return self.node.rsrc is not None and self.node.rsrc.yields

    @property
    def blocking(self) -> bool:
        """Whether a step of it may wait for a service (needs a thread)."""
        rsrc = self.node.rsrc
        return rsrc is not None and paces.says_so(rsrc)

    @property
    def watched_stack(self) -> str | None:
        """The stack whose state is all that the next step looks at."""
        rsrc = self.node.rsrc
        if rsrc is None or self.again:
            return None
        usual = isinstance(self.operation, lifecycle.Operation)
        return rsrc.watched_stack() if usual else None


@dataclasses.dataclass
class Result:
    """How the turn of a node ended.

    :ivar task: None when nothing had to be claimed
    :ivar error: why it failed; None: it went well
    :ivar replace: the plug-in found that it needs a replacement
    :ivar superseded: a newer traversal has begun since
    """

    node: Node
    task: Task | None = None
    error: Exception | None = None
    replace: bool = False
    superseded: bool = False
    attributes: dict[tuple[str, ...], Any] = dataclasses.field(
        default_factory=dict
    )

    @property
    def is_spoilt(self) -> bool:
        """Whether it says that another one could not be written."""
        return isinstance(self.error, Unwritten)


class Unwritten(exception.Error):
    """How an operation ended can't be written, of whatever a plug-in told."""


def spoilt(result: Result, error: Exception) -> Result:
    """A failure, in place of a result that can't be written."""
    text = _("resources.%(name)s: its end can't be recorded: %(error)s") % {
        "name": result.node.row.name,
        "error": values.cleaned(str(error)),
    }
    return Result(result.node, result.task, error=Unwritten(text))


def kept(error: Exception, name: str) -> Exception:
    """An error of a resource, without the frames that it came through.

    Frames hold each other and all that their functions had in hand; so what
    is forgotten would pass for running until the garbage is collected, and
    recovery would wait for it. What nobody expected is logged with them.
    """
    expected = isinstance(error, (exception.HeatException, ValueError))
    if not expected and error.__traceback__ is not None:
        LOG.error("resource %s failed", name, exc_info=error)
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            todo += [each.__cause__, each.__context__]
            todo.append(getattr(each, "exc", None))
    text = str(error)
    if values.is_storable(text):
        return error
    return exception.Error(values.cleaned(text))


def type_of(node: Node) -> str:
    if node.rsrc is None:
        return node.row.resource_type or ""
    return node.rsrc.type()


def note(
    conn: sa.Connection, scene: Scene, tasks: Sequence[Task]
) -> dict[int, int]:
    """Record that operations began, and the properties they began with.

    :returns: ids of the properties by row id
    """
    fresh = [(task, begun_with(task)) for task in tasks if not task.noted]
    with_data = [(task, data) for task, data in fresh if data is not None]
    ids = properties_data.put_many(conn, [data for _task, data in with_data])
    prop_ids = {
        task.node.row.id: data_id
        for (task, _data), data_id in zip(with_data, ids, strict=True)
    }
    rows = [started_event(scene, task, prop_ids) for task, _data in fresh]
    if rows:
        events.insert_many(conn, rows)
    return prop_ids


def learn(task: Task) -> None:
    """Resolve what it begins with, as long as no transaction is open.

    A type with a client may ask its service for the id of a name.
    """
    if not task.blocking or task.error is not None:
        return
    try:
        task.begun = begun_with(task)
    except Exception as exc:
        task.error = kept(exc, task.node.row.name)
        task.node.rsrc = None


def begun_with(task: Task) -> dict[str, Any] | None:
    """The resolved properties that an operation applies; None: none."""
    if task.begun is not None:
        return task.begun
    rsrc = task.node.rsrc
    if (
        rsrc is None
        or task.node.step is Step.CLEAN
        or not (
            task.action in ("CREATE", "UPDATE") or task.node.step is Step.TAKE
        )
    ):
        return None
    if task.node.step is Step.RESUME and task.node.properties is not None:
        return None  # they are recorded, and are what it was begun with
    try:
        return rsrc.stored_properties()
    except Exception as exc:
        if task.blocking and task.error is None:
            raise  # it has not begun, and fails of it
        # That it failed of them, or did not ask for them, is recorded.
        LOG.debug("what %s began with is not known: %s", rsrc.name, exc)
        return None


_BEGINS = {Step.RESUME: "goes on", Step.CLEAN: "cleaning up"}


def started_event(
    scene: Scene, task: Task, prop_ids: Mapping[int, int]
) -> dict[str, Any]:
    """The event of an operation's beginning.

    It names the object there was then: a quick operation has made one by
    the time that this is written.
    """
    row = task.node.row
    started = event(
        scene,
        task.node,
        task.action,
        "IN_PROGRESS",
        _BEGINS.get(task.node.step, "state changed"),
        task.claimed_at or timeutils.utcnow(),
        prop_ids.get(row.id, row.rsrc_prop_data_id),
    )
    return {**started, "physical_resource_id": row.physical_id}


def event(
    scene: Scene,
    node: Node,
    action: str,
    status: str,
    reason: str,
    now: datetime.datetime,
    prop_data_id: int | None,
) -> dict[str, Any]:
    """The event row of a change of a resource's state."""
    rsrc = node.rsrc
    physical_id = node.row.physical_id
    if rsrc is not None and rsrc.resource_id is not None:
        physical_id = rsrc.resource_id
    return {
        "stack_id": scene.stack.id,
        "created_at": now,
        "resource_action": action,
        "resource_status": status,
        "resource_name": node.row.name,
        "physical_resource_id": physical_id,
        "resource_status_reason": reason,
        "resource_type": type_of(node),
        "rsrc_prop_data_id": prop_data_id,
    }


def ended_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    """The event of an operation's end."""
    task = result.task
    assert task is not None  # noqa: S101 - only claimed rows get here
    failed = result.error is not None
    return event(
        scene,
        result.node,
        task.action,
        "FAILED" if failed else "COMPLETE",
        str(result.error) if failed else task.remark,
        now,
        task.prop_data_id,
    )
