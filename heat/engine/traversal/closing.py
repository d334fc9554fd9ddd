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
"""The two nodes of the stack itself: a half is done, or both are.

When the update half is done the template counts as completed: from then on
no failure rolls back any more.

The stack's row is taken before anything else, as begin does, so the two
never wait for each other. Whoever finishes the last node of a half, and
expects to, takes it first too, and closes the half in that transaction.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common.i18n import _
from heat.db import (
    events,
    going,
    locks,
    resources,
    stacks,
    sync_points,
    templates,
)
from heat.engine.graph.build import STACK_UPDATE
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import (
    begin,
    cleanup,
    decide,
    locking,
    passing,
    snapshotting,
)
from heat.engine.traversal.scene import Scene

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class Closed:
    """What became of a half.

    :ivar begun: a further traversal, as something was left to clean up
    :ivar fired: the nodes that are ready now
    :ivar done: those that are done with it
    :ivar ended: the traversal is over
    """

    begun: begin.Begun | None = None
    fired: list[NodeKey] = dataclasses.field(default_factory=list)
    done: set[NodeKey] = dataclasses.field(default_factory=set)
    ended: bool = False


def close(engine: Engine, scene: Scene, key: NodeKey) -> Closed:
    """One of the stack's own nodes is ready."""
    now = timeutils.utcnow()

    def work(conn: sa.Connection) -> Closed:
        if not hold(conn, scene) or not sync_points.mark_done(
            conn, scene.traversal, [key]
        ):
            return Closed()
        return close_held(conn, scene, key, now)

    return engine.db.run(work)


def hold(conn: sa.Connection, scene: Scene) -> bool:
    """Take the stack's row, if the traversal is its newest still."""
    traversal_id = scene.traversal.traversal_id
    return stacks.compare_and_set(
        conn,
        scene.stack.id,
        traversal_id,
        {"current_traversal": traversal_id},
        not_locked=False,
    )


def close_held(
    conn: sa.Connection,
    scene: Scene,
    key: NodeKey,
    now: datetime.datetime,
) -> Closed:
    """Close a half; the stack's row is held, and the node is ours alone.

    Unless it ended, whoever calls has to see to it that the node is done.
    """
    rows = _going(conn, scene)
    if key == STACK_UPDATE:
        if not _updates(scene):
            _complete(conn, scene)
            fired = passing.pass_on(conn, scene, [key])
            return Closed(fired=fired, done={key})
        old = {row.id for row in rows if row.is_old or row.holds}
        going_now = cleanup.going(scene, old)
        if going_now and scene.stack.holds_cleanup:
            _hold(conn, scene, len(going_now), now)
            return Closed(ended=True)
        half = cleanup.open_half(conn, scene, going_now)
        if half.going:
            left = len(half.going)
            _complete(conn, scene, status_reason=f"cleaning up: {left} left")
            return Closed(fired=half.ready, done={key, *half.done})
    return Closed(_end(conn, scene, key, rows, now), ended=True)


def _going(conn: sa.Connection, scene: Scene) -> Sequence[going.GoingRecord]:
    """The rows that are not to stay."""
    action = scene.stack.action
    if action in begin.WALKS:
        return []
    return going.rows(conn, scene.stack.id, everything=action == "DELETE")


def _completes(scene: Scene) -> bool:
    """Whether this traversal's template is one to roll back to later."""
    if scene.stack.action not in begin.COMPLETING_ACTIONS:
        return False
    # The rollback of a create wants nothing, whatever the template says.
    return _updates(scene) or not scene.definition.resource_definitions


def _updates(scene: Scene) -> bool:
    """Whether anything is wanted at all."""
    return any(key[1] and key[0] for key in scene.graph.nodes())


def _completed(scene: Scene) -> dict[str, int]:
    """What the end of the update half says of the template."""
    if not _completes(scene):
        return {}
    return {"last_complete_template_id": scene.target_template_id}


def _complete(conn: sa.Connection, scene: Scene, **values: str) -> None:
    """The update half is done, and the traversal goes on."""
    known = {**_completed(scene), **values}
    if known:
        stacks.update(conn, scene.stack.id, **known)


def _hold(
    conn: sa.Connection, scene: Scene, kept: int, now: datetime.datetime
) -> None:
    """End here, and keep what was replaced.

    Something in the stack above may use it still: that is pointed elsewhere
    in its own time, and then the stack above has it deleted. Should that
    go back, this stack goes back to it.
    """
    stack = scene.stack
    reason = f"Stack {stack.action} completed successfully"
    told = f"{reason}; kept until the stack above has completed: {kept}"
    known = _completed(scene)
    _set_state(conn, stack, "COMPLETE", told, now, known, kept=True)
    sync_points.delete_for_stack(conn, stack.id)
    _prune_templates(conn, scene, stack)


def _end(
    conn: sa.Connection,
    scene: Scene,
    key: NodeKey,
    rows: Sequence[going.GoingRecord],
    now: datetime.datetime,
) -> begin.Begun | None:
    """Both halves are done."""
    stack = scene.stack
    if stack.action in locks.LOCKING:
        # What it shows, and why, is not what the traversal began with.
        stack = stacks.get(conn, stack.id) or stack
    completed = _completed(scene) if key == STACK_UPDATE else {}
    left = [row for row in rows if not row.is_gone]
    failed = _failed(conn, scene, stack, left)
    if failed:
        reason = _failed_reason(stack, failed)
        _set_state(conn, stack, "FAILED", reason, now, completed)
        sync_points.delete_for_stack(conn, stack.id)
        if stack.action in locks.LOCKING:
            locking.settle_failed(conn, stack, now)
        return None
    if stack.action in locks.LOCKING:
        locking.complete(conn, stack, now)
        return None
    if left:
        # Made by an engine taken for dead, or replaced twice: once more.
        LOG.info("stack %s: %d objects still to clean up", stack.id, len(left))
        if completed:
            stacks.update(conn, stack.id, **completed)
        return begin.begin(conn, stack, _again(scene, stack), now)
    reason = f"Stack {stack.action} completed successfully"
    _set_state(conn, stack, "COMPLETE", reason, now, completed)
    sync_points.delete_for_stack(conn, stack.id)
    gone = [row.id for row in rows if not row.is_held]
    if gone:
        resources.delete_many(conn, gone)
    _prune_templates(conn, scene, stack)
    return None


def _failed(
    conn: sa.Connection,
    scene: Scene,
    stack: stacks.StackRecord,
    left: Sequence[going.GoingRecord],
) -> list[resources.ResourceRecord]:
    """The rows that failed; what failed in another way has not been
    visited yet."""
    if stack.action in begin.WALKS:
        refusing = decide.unfit(stack.action)
        actions = {locking.row_action(stack), *refusing}
        return [
            row
            for row in resources.failed(conn, stack.id, actions)
            if row.action not in refusing or _is_refused(scene, row)
        ]
    ids = [
        row.id
        for row in left
        if row.status == "FAILED"
        and (row.action == "DELETE" or _is_living(scene, row))
    ]
    found = resources.get_many(conn, ids) if ids else {}
    return [found[each] for each in ids if each in found]


def _is_refused(scene: Scene, row: resources.ResourceRecord) -> bool:
    """Whether a row was visited and left as it is, for what it is in."""
    visited = (row.id, True) in scene.graph or (row.id, False) in scene.graph
    return visited and decide.refuses(
        scene.stack.action, row.action, row.status, external=row.external
    )


def _is_living(scene: Scene, row: going.GoingRecord) -> bool:
    # Where it only cleans, what is no old version is a nested stack.
    return not row.is_old and (row.id, not scene.graph.cleans) in scene.graph


def _again(scene: Scene, stack: stacks.StackRecord) -> begin.Order:
    return begin.Order(
        stack.action,
        stack.raw_template_id,
        scene.definition if _updates(scene) or scene.graph.cleans else None,
        f"Stack {stack.action} cleaning up",
        abandons=scene.graph.abandons,
        cleans=scene.graph.cleans,
    )


def _failed_reason(
    stack: stacks.StackRecord, rows: Sequence[resources.ResourceRecord]
) -> str:
    """Every failure by name; what could not be cleaned up is a DELETE."""
    action = stack.action if stack.action in begin.WALKS else "DELETE"
    refusing = decide.unfit(stack.action)
    texts = [
        _("resources.%(name)s: it is %(action)s_FAILED (%(why)s)")
        % {"name": row.name, "action": row.action, "why": row.status_reason}
        if row.action in refusing
        else f"{row.shown_reason}"
        for row in rows
    ]
    return f"Resource {action} failed: " + "; ".join(texts)


def _set_state(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    status: str,
    reason: str,
    now: datetime.datetime,
    completed: Mapping[str, int],
    *,
    kept: bool = False,
) -> None:
    values: dict[str, Any] = {**completed, "status_reason": reason}
    if status == "COMPLETE" and stack.prev_raw_template_id is not None:
        values["prev_raw_template_id"] = None
    if stack.holds_cleanup and not kept and stack.action not in begin.WALKS:
        values["holds_cleanup"] = False
    values["status"] = status
    if (stack.action, status) == ("DELETE", "COMPLETE"):
        stacks.soft_delete(conn, stack.id, now, **values)
    else:
        stacks.update(conn, stack.id, **values)
    if stack.action == "SNAPSHOT":
        snapshotting.settle(conn, stack, status, reason)
    events.insert_many(
        conn, [begin.stack_event(stack, stack.action, status, reason, now)]
    )


def _prune_templates(
    conn: sa.Connection, scene: Scene, stack: stacks.StackRecord
) -> None:
    """Versions that neither the stack nor a row refers to any more."""
    old = {
        stack.prev_raw_template_id,
        scene.stack.prev_raw_template_id,
        scene.stack.last_complete_template_id,
    }
    templates.delete_unreferenced(
        conn, stack.id, [each for each in old if each is not None]
    )
