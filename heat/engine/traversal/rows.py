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
"""What the rows of nodes say when these have ended.

Called inside the finishing transaction, which has looked at the SyncPoints.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import (
    claims,
    events,
    properties_data,
    released,
    resource_data,
    resources,
    signals,
    stacks,
)
from heat.engine.graph import build
from heat.engine.traversal import tasks
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene, encode_attributes
from heat.engine.traversal.tasks import Result, Task


class LostClaim(Exception):
    """A row isn't ours any more; the transaction must not commit."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"claim of resource {result.node.row.name} lost")
        self.result = result


@dataclasses.dataclass
class _Batch:
    """What the nodes of one transaction add up to."""

    scene: Scene
    now: datetime.datetime
    attr_ids: dict[int, int]
    prop_ids: dict[int, int]
    kept: list[int] = dataclasses.field(default_factory=list)
    dropped: list[int] = dataclasses.field(default_factory=list)
    let_go: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    events: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def forget(self, result: Result) -> None:
        self.events.append(_forgotten_event(self.scene, result, self.now))
        told = _released(self.scene, result, self.now)
        self.let_go.append(told)
        self.let_go += [
            {**told, "resource_type": kind, "physical_resource_id": ident}
            for kind, ident in _left_beside(result)
        ]


def write(
    conn: sa.Connection,
    scene: Scene,
    results: Sequence[Result],
    now: datetime.datetime,
) -> None:
    """Write the rows of operations and of nodes that had nothing to do.

    :raises LostClaim: an operation's row isn't ours any more
    """
    batch = _Batch(scene, now, *_put_values(conn, results))
    for each in results:
        if each.task is not None:
            _write_operation(conn, batch, each, each.task)
        else:
            _write_at_once(conn, batch, each)
    save_data(conn, results)
    if batch.kept:
        resources.update_unclaimed(
            conn,
            batch.kept,
            {"current_template_id": scene.target_template_id},
        )
    if batch.dropped:
        resources.delete_unclaimed(conn, batch.dropped)
    if batch.let_go:
        released.insert_many(conn, batch.let_go)
    if batch.events:
        events.insert_many(conn, batch.events)


def _write_operation(
    conn: sa.Connection, batch: _Batch, result: Result, task: Task
) -> None:
    scene, now, row_id = batch.scene, batch.now, result.node.row.id
    if not task.noted:
        task.prop_data_id = batch.prop_ids.get(row_id, task.prop_data_id)
        batch.events.append(tasks.started_event(scene, task, batch.prop_ids))
    values = row_values(scene, result, batch.attr_ids, now)
    if not _write_claimed(conn, result, task, values):
        raise LostClaim(result)
    batch.events.append(tasks.ended_event(scene, result, now))
    if result.node.step in (Step.ADOPT, Step.OBSERVE):
        _settle(conn, scene, result)
    if result.node.step is Step.ADOPT:
        batch.events += _adopted_events(scene, result, task, now)
    elif result.node.step is Step.RELEASE:
        batch.forget(result)
    elif result.node.step is Step.HAND_BACK and not result.superseded:
        _settle(conn, scene, result)
    elif result.node.step is Step.RESUME:
        take_from_strays(conn, result.node)


def _write_claimed(
    conn: sa.Connection, result: Result, task: Task, values: dict[str, Any]
) -> bool:
    """Write a row that a claim holds; False when the claim was lost.

    Metadata are for signals, too, and these ask nobody for a claim: a row
    that they have written meanwhile keeps what they said.
    """
    row = result.node.row
    if "metadata" not in values:
        return resources.update_claimed(conn, row.id, task.claim_id, values)
    # The claim has raised it, and so has whatever recorded what was made.
    recorded = result.node.rsrc.recorded if result.node.rsrc else 0
    known = row.atomic_key + 1 + task.checkpoints + recorded
    if resources.update_claimed(
        conn, row.id, task.claim_id, values, atomic_key=known
    ):
        return True
    now = signals.hold(conn, row.id)
    if now is None:
        return False
    both = _with_signals(row.metadata, values["metadata"], now.metadata)
    return resources.update_claimed(
        conn, row.id, task.claim_id, {**values, "metadata": both}
    )


def _with_signals(
    before: Mapping[str, Any], ours: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """The metadata of an operation, with what signals wrote meanwhile.

    :param before: as they were when the operation began
    :param ours: what it leaves behind
    :param now: what signals made of those before
    """
    both = dict(ours)
    for key, value in now.items():
        was = before.get(key)
        if value != was and both.get(key, was) == was:
            both[key] = value
    return both


def _settle(conn: sa.Connection, scene: Scene, result: Result) -> None:
    """The object has this row, and no other, to say whose it is.

    But where a newer traversal has begun, what that wants is as it says.
    """
    node, rsrc = result.node, result.node.rsrc
    if rsrc is None or rsrc.resource_id is None:
        return
    below: set[str] = set()
    if node.step is not Step.HAND_BACK:
        below = scene.names_below(node.key)
    wanted: set[int] = set()
    if result.superseded:
        deps = stacks.get_deps(conn, scene.stack.id)
        graph = build.TraversalGraph.from_json(deps)
        wanted = {row_id for row_id, half in graph.nodes() if half}
    claims.settle(conn, node.row, rsrc.resource_id, below, wanted)


def take_from_strays(conn: sa.Connection, node: Node) -> None:
    """Let a resumed create have the object that it found for itself alone.

    Whose create it was may have come back in between, found its claim lost,
    and put the object down as one to delete.
    """
    made = node.rsrc.resource_id if node.rsrc is not None else None
    if made is None or made == node.row.physical_id:
        return
    found = resources.find_physical(conn, made)
    resources.delete_unclaimed(
        conn,
        [
            row.id
            for row in found
            if row.stray and row.stack_id == node.row.stack_id
        ],
    )


def _write_at_once(conn: sa.Connection, batch: _Batch, result: Result) -> None:
    step, scene = result.node.step, batch.scene
    if step is Step.KEEP:
        _keep(conn, scene, result, batch.attr_ids, batch.kept)
    elif step is Step.PASS:
        _keep(conn, scene, result, batch.attr_ids, [], external=True)
        batch.events.append(_passed_event(scene, result, batch.now))
    elif step is Step.NOTHING and result.node.row.external:
        _uncover(conn, result.node.row)
    elif step in (Step.DROP, Step.FORGET):
        batch.dropped.append(result.node.row.id)
        if step is Step.FORGET:
            batch.forget(result)


def _uncover(conn: sa.Connection, row: resources.ResourceRecord) -> None:
    """Let a row show what it is, which LOCK or UNLOCK has left covered.

    Its object was Heat's when that began, and became the user's meanwhile.
    """
    if row.shown_action in stacks.LOCKING:
        base = (row.action, row.status, row.status_reason)
        columns = ("action", "status", "status_reason")
        values = dict(zip(columns, base, strict=True))
        values |= dict.fromkeys(f"base_{name}" for name in columns)
        resources.update_unclaimed(conn, [row.id], values)


def _put_values(
    conn: sa.Connection, results: Sequence[Result]
) -> tuple[dict[int, int], dict[int, int]]:
    """Record attributes, and properties not recorded yet, in one statement.

    :returns: ids by row id, of attributes and of properties
    """
    attributes = [
        (each.node.row.id, encode_attributes(each.attributes))
        for each in results
        if (each.node.key[1] or each.node.step is Step.ACT)
        and each.attributes != each.node.attributes
    ]
    properties = [
        (each.node.row.id, data)
        for each in results
        if each.task is not None
        and not each.task.noted
        and (data := tasks.begun_with(each.task)) is not None
    ]
    both = attributes + properties
    ids = properties_data.put_many(conn, [data for _row, data in both])
    named = [
        (row, data_id) for (row, _d), data_id in zip(both, ids, strict=True)
    ]
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
        **lock_found(result),
    }
    rsrc = node.rsrc
    if task.action == "DELETE":
        values["physical_id"] = None
        return values
    if rsrc is None:
        return values
    if node.step in (Step.ACT, Step.CLEAN):
        values["physical_id"] = rsrc.resource_id
        if node.row.id in attr_ids:
            values["attr_data_id"] = attr_ids[node.row.id]
        return values
    if node.step in (Step.ADOPT, Step.OBSERVE):
        # Adopting ends with a look at the object, as CHECK does.
        values["action"] = "CHECK"
    if node.step in (Step.ADOPT, Step.HAND_BACK, Step.TAKE):
        # Who owns an object is for the newest traversal to say.
        late = node.step is Step.HAND_BACK and result.superseded
        values["external"] = late or node.step is Step.ADOPT
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


def lock_found(result: Result) -> dict[str, Any]:
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
        **lock_found(result),
    }
    if node.rsrc is not None:
        values["physical_id"] = node.rsrc.resource_id
    if node.step is Step.TAKE and not values.get("physical_id"):
        # There is nothing of somebody else's to be careful with.
        values["external"] = False
    if task.action == "CREATE" or node.step is Step.TAKE:
        values["rsrc_prop_data_id"] = task.prop_data_id
    elif task.action == "UPDATE" and node.step is not Step.CLEAN:
        values["tried_prop_data_id"] = task.prop_data_id
    return values


def _adopted_events(
    scene: Scene, result: Result, task: Task, now: datetime.datetime
) -> list[dict[str, Any]]:
    """Adopting ends with a look; what is wrong with the properties, which
    count for nothing now, will matter when the object is handed back."""
    reasons = [f"external object {result.node.external_id} found"]
    wrong = getattr(task.operation, "wrong", "")
    if wrong:
        reasons.insert(0, f"warning, properties are ignored: {wrong}")
    return [
        tasks.event(scene, result.node, "CHECK", "COMPLETE", each, now, None)
        for each in reasons
    ]


def _left_beside(result: Result) -> list[tuple[str, str]]:
    """What was made beside an object that is let go, and is in use."""
    operation = result.task.operation if result.task else None
    return list(getattr(operation, "left", ()))


def _passed_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    node = result.node
    reason = f"object {node.row.physical_id} is external from now on"
    if scene.stack.action == "ROLLBACK" and node.properties:
        applied = ", ".join(sorted(node.properties))
        reason += f"; the properties given to it stay: {applied}"
    return tasks.event(
        scene,
        node,
        "UPDATE",
        "COMPLETE",
        reason,
        now,
        node.row.rsrc_prop_data_id,
    )


def _forgotten_event(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    node = result.node
    reason = f"object {node.row.physical_id} let go ({node.because})"
    for kind, ident in _left_beside(result):
        reason += f"; so is the {kind} {ident} that it uses"
    return tasks.event(
        scene,
        node,
        "DELETE",
        "COMPLETE",
        reason,
        now,
        node.row.rsrc_prop_data_id,
    )


def _released(
    scene: Scene, result: Result, now: datetime.datetime
) -> dict[str, Any]:
    row = result.node.row
    theirs = row.external or bool(result.node.readers)
    ours = "abandon" if scene.graph.abandons else "retain"
    return {
        "stack_id": scene.stack.id,
        "stack_name": scene.stack.name,
        "tenant": scene.stack.tenant,
        "resource_name": row.name,
        "resource_type": row.resource_type,
        "physical_resource_id": row.physical_id,
        "region": scene.context.region_name,
        "reason": "external" if theirs else ours,
        "created_at": now,
    }


def save_data(
    conn: sa.Connection, results: Iterable[Result], *, again: bool = False
) -> None:
    """Write the resource data that operations changed.

    :param again: they may be there, as the answer to a commit got lost
    """
    values: dict[int, dict[str, str | resource_data.DataRecord]] = {}
    gone: dict[int, set[str]] = {}
    for each in results:
        rsrc, row_id = each.node.rsrc, each.node.row.id
        if each.task is None or rsrc is None or each.task.action == "DELETE":
            continue
        changes = rsrc.changes()
        known = each.node.data
        # What was recorded while it ran is there already.
        new: dict[str, str | resource_data.DataRecord] = {
            key: resource_data.DataRecord(value, redact)
            for key, (value, redact) in changes.data.items()
            if known.get(key) != value
        }
        if new:
            values[row_id] = new
        stale = {*new, *changes.data_deleted}
        if not again:
            stale &= known.keys()
        if stale:
            gone[row_id] = stale
    if values or gone:
        resource_data.apply_many(conn, values, gone)
