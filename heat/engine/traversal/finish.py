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
"""Writes how nodes ended, and passes on what that makes ready.

Every transaction here updates the SyncPoints of its nodes first: no row
means that the traversal was superseded. A superseded finish still records
the row's own state, as that is what the row now is, but fires nothing; the
node is sent again on the newest traversal. A finish that lost its claim
(this engine was taken for dead) writes nothing of the row: if it holds an
object that the row doesn't know, a stray row remembers it for clean-up.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.db import events
from heat.db import properties_data
from heat.db import released
from heat.db import resource_data
from heat.db import resources
from heat.db import sync_points
from heat.engine.ports import Engine
from heat.engine.ports import NodeKey
from heat.engine.traversal import begin
from heat.engine.traversal import check
from heat.engine.traversal import replacement
from heat.engine.traversal.check import Result
from heat.engine.traversal.decide import Step
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.scene import encode_attributes

LOG = logging.getLogger(__name__)


class LostClaim(Exception):
    """A row isn't ours any more; the transaction must not commit."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"claim of resource {result.node.row.name} lost")
        self.result = result


@dataclasses.dataclass
class Written:
    """What a finishing transaction made true.

    :ivar fired: nodes of this traversal that are ready now
    :ivar again: nodes to take up again (their replacement is there now)
    :ivar superseded: row ids to send again on the newest traversal
    :ivar done: what was written and marked done in this traversal
    """

    fired: list[NodeKey] = dataclasses.field(default_factory=list)
    again: list[NodeKey] = dataclasses.field(default_factory=list)
    superseded: list[int] = dataclasses.field(default_factory=list)
    done: list[Result] = dataclasses.field(default_factory=list)


def finish(
    engine: Engine, scene: Scene, results: Sequence[Result]
) -> Written:
    """Write nodes that ended well, or need a replacement; one transaction."""
    todo = sorted(results, key=lambda each: each.node.row.id)
    strays: list[Result] = []
    now = timeutils.utcnow()
    engine.probe("finishing")
    while True:
        try:
            written = engine.db.run(
                lambda conn: _finish(conn, scene, todo, now)
            )
            break
        except LostClaim as lost:
            # Each member of the group is atomic of its own: go on without.
            strays.append(lost.result)
            todo = [each for each in todo if each is not lost.result]
    engine.probe("finished")
    for each in written.done:
        _tell(scene, each)
    for stray in strays:
        record_stray(engine, stray)
    return written


def _finish(
    conn: sa.Connection,
    scene: Scene,
    results: Sequence[Result],
    now: datetime.datetime,
) -> Written:
    ended = [each for each in results if not each.replace]
    done = sync_points.mark_done(
        conn, scene.traversal, [each.node.key for each in ended]
    )
    written = Written()
    _replace(conn, scene, written, results, now)
    current = [each for each in ended if each.node.key in done]
    # An operation that was superseded is still what became of its row; a
    # node that had nothing to do (or was not ready yet) is just left.
    superseded = [
        each for each in ended if each.task and each.node.key not in done
    ]
    _write_rows(conn, scene, current + superseded, now)
    written.superseded += [each.node.row.id for each in superseded]
    written.fired = pass_on(conn, scene, [each.node.key for each in current])
    written.done = current
    return written


def pass_on(
    conn: sa.Connection, scene: Scene, keys: Iterable[NodeKey]
) -> list[NodeKey]:
    """Take these nodes, just marked done, off what their dependants await.

    :returns: the nodes that became ready
    """
    counts: Counter[NodeKey] = Counter()
    for key in keys:
        counts.update(scene.graph.required_by(key))
    if not counts:
        return []
    complete = [
        key
        for key, amount in counts.items()
        if amount == len(scene.graph.requires(key))
    ]
    return sync_points.decrement(conn, scene.traversal, counts, complete)


def arrive(
    conn: sa.Connection, scene: Scene, key: NodeKey, amount: int
) -> list[NodeKey]:
    """Take an amount off what one node awaits; the node when it is ready."""
    return sync_points.decrement(
        conn, scene.traversal, Counter({key: amount})
    )


def _replace(
    conn: sa.Connection,
    scene: Scene,
    written: Written,
    results: Iterable[Result],
    now: datetime.datetime,
) -> None:
    """The plug-in asked for a replacement while it was updating."""
    wanted = [each for each in results if each.replace and each.task]
    if not wanted:
        return
    ready = sync_points.fence(
        conn, scene.traversal, [each.node.key for each in wanted]
    )
    wishes = []
    for each in wanted:
        task = each.task
        assert task is not None  # noqa: S101 - filtered above
        row = each.node.row
        if each.node.key in ready:
            type_ = each.node.rsrc.type() if each.node.rsrc else ""
            wishes.append(
                replacement.Wish(each.node.key, row, type_, task.claim_id)
            )
            continue
        # Superseded: the row goes back to what it was.
        resources.update_claimed(
            conn,
            row.id,
            task.claim_id,
            {
                "action": row.action,
                "status": row.status,
                "status_reason": row.status_reason,
            },
        )
        written.superseded.append(row.id)
    linked = replacement.make_many(
        conn, scene.target_template_id, wishes, now
    )
    written.again.extend(linked)


# -- rows ---------------------------------------------------------------------


def _write_rows(
    conn: sa.Connection,
    scene: Scene,
    results: Sequence[Result],
    now: datetime.datetime,
) -> None:
    """Write the rows of operations and of nodes that had nothing to do."""
    attr_ids, prop_ids = _put_values(conn, results)
    kept: list[int] = []
    dropped: list[int] = []
    let_go: list[Result] = []
    rows: list[dict[str, Any]] = []
    for each in results:
        step = each.node.step
        if each.task is not None:
            if not each.task.noted:
                each.task.prop_data_id = prop_ids.get(
                    each.node.row.id, each.task.prop_data_id
                )
                rows.append(check.started_event(scene, each.task, prop_ids))
            values = row_values(scene, each, attr_ids, now)
            if not resources.update_claimed(
                conn, each.node.row.id, each.task.claim_id, values
            ):
                raise LostClaim(each)
            rows.append(ended_event(scene, each, now))
            if step is Step.ADOPT:
                rows.append(_checked_event(scene, each, now))
            elif step is Step.RELEASE:
                let_go.append(each)
                rows.append(_forgotten_event(scene, each, now))
        elif step is Step.KEEP:
            _keep(conn, scene, each, attr_ids, kept)
        elif step is Step.PASS:
            _keep(conn, scene, each, attr_ids, [], external=True)
            rows.append(_passed_event(scene, each, now))
        elif step in (Step.DROP, Step.FORGET):
            dropped.append(each.node.row.id)
            if step is Step.FORGET:
                let_go.append(each)
                rows.append(_forgotten_event(scene, each, now))
    _save_data(conn, results)
    if kept:
        resources.update_unclaimed(
            conn, kept, {"current_template_id": scene.target_template_id}
        )
    if dropped:
        resources.delete_unclaimed(conn, dropped)
    if let_go:
        released.insert_many(
            conn, [_released(scene, each, now) for each in let_go]
        )
    if rows:
        events.insert_many(conn, rows)


def _put_values(
    conn: sa.Connection, results: Sequence[Result]
) -> tuple[dict[int, int], dict[int, int]]:
    """Record attributes, and properties not recorded yet, in one statement.

    :returns: ids by row id, of attributes and of properties
    """
    attributes = [
        (each.node.row.id, encode_attributes(each.attributes))
        for each in results
        if each.node.key[1]
        and each.node.step is not Step.ACT
        and each.attributes != each.node.attributes
    ]
    properties = [
        (each.node.row.id, data)
        for each in results
        if each.task is not None
        and not each.task.noted
        and (data := check.begun_with(each.task)) is not None
    ]
    both = attributes + properties
    ids = properties_data.put_many(conn, [data for _row, data in both])
    named = [(row, data_id) for (row, _d), data_id in zip(both, ids, strict=True)]
    return dict(named[: len(attributes)]), dict(named[len(attributes) :])


def _keep(
    conn: sa.Connection,
    scene: Scene,
    result: Result,
    attr_ids: dict[int, int],
    kept: list[int],
    **values: Any,
) -> None:
    """A row with which nothing is done, but what its template says of it.

    :param kept: takes the id when nothing but the template version changes
    :param values: further columns to write
    """
    row = result.node.row
    requires = scene.required_rows(result.node.key[0])
    if requires != row.requires:
        values["requires"] = list(requires)
    if row.id in attr_ids:
        values["attr_data_id"] = attr_ids[row.id]
    rsrc = result.node.rsrc
    if rsrc is not None and rsrc.type() != row.resource_type:
        values["resource_type"] = rsrc.type()
    if not values:
        kept.append(row.id)
        return
    values["current_template_id"] = scene.target_template_id
    resources.update_unclaimed(conn, [row.id], values)


def row_values(
    scene: Scene,
    result: Result,
    attr_ids: dict[int, int],
    now: datetime.datetime,
) -> dict[str, Any]:
    """The columns that a successful operation leaves behind."""
    task, node = result.task, result.node
    assert task is not None  # noqa: S101 - only claimed rows get here
    values: dict[str, Any] = {
        "action": task.action,
        "status": "COMPLETE",
        "status_reason": task.remark,
        "updated_at": now,
        **_lock_found(result),
    }
    rsrc = node.rsrc
    if task.action == "DELETE":
        values["physical_id"] = None
        return values
    if rsrc is None:
        return values
    if node.step is Step.ACT:
        values["physical_id"] = rsrc.resource_id
        return values
    if node.step in (Step.ADOPT, Step.OBSERVE):
        # Adopting ends with a look at the object, as CHECK does.
        values["action"] = "CHECK"
    if node.step in (Step.ADOPT, Step.HAND_BACK):
        values["external"] = node.step is Step.ADOPT
    metadata = rsrc.changes().metadata
    if metadata is not None or task.action in ("CREATE", "ADOPT"):
        # Else it stays: a signal may have written it meanwhile.
        values["metadata"] = rsrc.metadata_get()
    values.update(
        physical_id=rsrc.resource_id,
        reference_id=rsrc.reference_id(),
        rsrc_prop_data_id=task.prop_data_id,
        tried_prop_data_id=None,
        attr_data_id=attr_ids.get(node.row.id, node.row.attr_data_id),
        requires=list(scene.required_rows(node.key[0])),
        current_template_id=scene.target_template_id,
        resource_type=rsrc.type(),
    )
    return values


def _lock_found(result: Result) -> dict[str, Any]:
    """The column that says how the object was before we locked it."""
    rsrc = result.node.rsrc
    if rsrc is None or rsrc.lock_found == result.node.row.lock_found:
        return {}
    return {"lock_found": rsrc.lock_found}


def failed_values(result: Result, now: datetime.datetime) -> dict[str, Any]:
    """The columns that a failed operation leaves behind.

    What was recorded about the object stays: the next update compares with
    what was last known to be true, and a clean-up deletes what is there.
    """
    task, node = result.task, result.node
    assert task is not None  # noqa: S101 - only claimed rows get here
    values: dict[str, Any] = {
        "action": task.action,
        "status": "FAILED",
        "status_reason": str(result.error),
        "updated_at": now,
        **_lock_found(result),
    }
    if node.rsrc is not None:
        values["physical_id"] = node.rsrc.resource_id
    if task.action == "CREATE":
        values["rsrc_prop_data_id"] = task.prop_data_id
    elif task.action == "UPDATE":
        values["tried_prop_data_id"] = task.prop_data_id
    return values


def ended_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    """The event of an operation's end."""
    task = result.task
    assert task is not None  # noqa: S101 - only claimed rows get here
    failed = result.error is not None
    return check.event(
        scene,
        result.node,
        task.action,
        "FAILED" if failed else "COMPLETE",
        str(result.error) if failed else task.remark,
        now,
        task.prop_data_id,
    )


def _checked_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    reason = f"external object {result.node.external_id} found"
    return check.event(
        scene, result.node, "CHECK", "COMPLETE", reason, now, None
    )


def _passed_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    node = result.node
    return check.event(
        scene,
        node,
        "UPDATE",
        "COMPLETE",
        f"object {node.row.physical_id} is external from now on",
        now,
        node.row.rsrc_prop_data_id,
    )


def _forgotten_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    node = result.node
    return check.event(
        scene,
        node,
        "DELETE",
        "COMPLETE",
        f"object {node.row.physical_id} let go ({node.because})",
        now,
        node.row.rsrc_prop_data_id,
    )


def _released(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    row = result.node.row
    theirs = row.external or result.node.held_external
    return {
        "stack_id": scene.stack.id,
        "stack_name": scene.stack.name,
        "tenant": scene.stack.tenant,
        "resource_name": row.name,
        "resource_type": row.resource_type,
        "physical_resource_id": row.physical_id,
        "region": scene.context.region_name,
        "reason": "external" if theirs else "retain",
        "created_at": now,
    }


def _save_data(conn: sa.Connection, results: Iterable[Result]) -> None:
    """Write the resource data that operations changed."""
    values: dict[int, dict[str, str | resource_data.DataRecord]] = {}
    gone: dict[int, set[str]] = {}
    for each in results:
        rsrc, row_id = each.node.rsrc, each.node.row.id
        if each.task is None or rsrc is None or each.task.action == "DELETE":
            continue
        changes = rsrc.changes()
        if changes.data:
            values[row_id] = {
                key: resource_data.DataRecord(value, redact)
                for key, (value, redact) in changes.data.items()
            }
        stale = {*changes.data, *changes.data_deleted} & each.node.data.keys()
        if stale:
            gone[row_id] = stale
    if values or gone:
        resource_data.apply_many(conn, values, gone)


def _tell(scene: Scene, result: Result) -> None:
    """Spare this engine's dependants of a node the way to the database."""
    key, rsrc = result.node.key, result.node.rsrc
    if not key[1] or rsrc is None or result.node.step is Step.ACT:
        return
    scene.tell(
        key[0],
        result.node.row.id,
        rsrc.reference_id(),
        encode_attributes(result.attributes),
    )


# -- while it runs ------------------------------------------------------------


def checkpoint(
    engine: Engine, scene: Scene, tasks: Sequence[check.Task]
) -> None:
    """Record what waiting operations have made so far.

    From here on a crash finds the object by its id.
    """
    fresh = [task for task in tasks if not task.saved]
    if not fresh:
        return

    def work(conn: sa.Connection) -> dict[int, int]:
        prop_ids = check.note(conn, scene, fresh)
        for task in sorted(fresh, key=lambda each: each.node.row.id):
            rsrc, row_id = task.node.rsrc, task.node.row.id
            if rsrc is None:
                continue
            values: dict[str, Any] = {
                "physical_id": rsrc.resource_id,
                **_lock_found(check.Result(task.node)),
            }
            if row_id in prop_ids:
                values["rsrc_prop_data_id"] = prop_ids[row_id]
            if not resources.update_claimed(
                conn, row_id, task.claim_id, values, release=False
            ) and "lock_found" in values:
                # Not recorded, so it must not be locked.
                task.operation = None
        return prop_ids

    prop_ids = engine.db.run(work)
    for task in fresh:
        task.saved = task.noted = True
        task.prop_data_id = prop_ids.get(task.node.row.id, task.prop_data_id)


def record_stray(engine: Engine, result: Result) -> None:
    """Remember an object whose row was taken from us meanwhile."""
    node = result.node
    rsrc = node.rsrc
    made = rsrc.resource_id if rsrc is not None else None
    LOG.warning("the claim of resource %s was lost", node.row.name)
    task = result.task
    if task is None or task.action == "DELETE":
        return
    if made in (None, node.row.physical_id):
        return
    assert made is not None  # noqa: S101 - seen above
    physical_id = made
    now = timeutils.utcnow()

    def work(conn: sa.Connection) -> None:
        rows = resources.find_physical(conn, physical_id)
        if any(row.stack_id == node.row.stack_id for row in rows):
            return
        stray = begin.new_row(
            node.row.stack_id,
            node.row.name,
            node.row.resource_type or "",
            node.row.current_template_id or 0,
            now,
            root_stack_id=node.row.root_stack_id,
        )
        stray.update(
            action=task.action,
            status="FAILED",
            status_reason="made by an engine that had lost its claim",
            physical_id=physical_id,
            rsrc_prop_data_id=task.prop_data_id,
            stray=True,
        )
        resources.insert_many(conn, [stray])

    engine.db.run(work)
