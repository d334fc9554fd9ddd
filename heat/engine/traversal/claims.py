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
"""Whose an object is, asked once more in the transaction that claims a row.

What was gathered may be old by now: another stack may have begun to manage
an object that this one is to take over, or holds as the user's what this one
is to delete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sqlalchemy as sa

from heat.common import exception
from heat.common.i18n import _
from heat.db import claims, resources
from heat.engine.ports import Engine
from heat.engine.resource import Resource
from heat.engine.traversal.decide import Step
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import Task

_TAKING = frozenset({Step.TAKE, Step.HAND_BACK})


def refused(
    conn: sa.Connection,
    engine: Engine,
    scene: Scene,
    tasks: Iterable[Task],
) -> dict[int, str]:
    """Let rows manage, or refer to, the objects that they name.

    :returns: the rows that may not: row id -> why
    """
    tasks = list(tasks)
    found = _dying(conn, scene, tasks)
    wishes = {
        claim.key: (claim, task)
        for task in tasks
        if (claim := wish(scene, task)) is not None
    }
    # In one order for everybody: nobody waits for one who waits for him.
    for _key, (claim, task) in sorted(
        wishes.items(), key=lambda each: each[0]
    ):
        rsrc = task.node.rsrc
        assert rsrc is not None  # noqa: S101 - else there is no wish
        name = claims.take(conn, claim, same_kind(engine, rsrc))
        if name is not None:
            found[task.node.row.id] = _(
                "The object %(id)s is managed by stack %(stack)s: remove it "
                "there first (deletion_policy: retain, or abandon the stack)."
            ) % {"id": claim.physical_id, "stack": name}
    return found


def stop_deletes(conn: sa.Connection, tasks: Iterable[Task]) -> None:
    """Let nobody begin to delete what is about to be adopted.

    Before the adopting rows are written: whoever deletes claims the row of
    the object first and then asks who holds it, so one of the two waits, and
    sees what the other has done.
    """
    claims.hold(conn, physical_ids=_adopted(tasks).keys())


def _adopted(tasks: Iterable[Task]) -> dict[str, int]:
    """The objects to adopt, and the rows that do."""
    return {
        task.node.external_id: task.node.row.id
        for task in tasks
        if task.node.step is Step.ADOPT and task.node.external_id
    }


def _dying(
    conn: sa.Connection, scene: Scene, tasks: Iterable[Task]
) -> dict[int, str]:
    """Rows whose object to adopt somebody is deleting right now."""
    asked = _adopted(tasks)
    return {
        asked[ident]: _("The object %s is being deleted.") % ident
        for ident in resources.being_deleted(conn, scene.stack.tenant, asked)
    }


def wish(scene: Scene, task: Task) -> claims.Claim | None:
    """The object that a task's row is to manage, if it takes one over."""
    node = task.node
    if node.step not in _TAKING or node.rsrc is None:
        return None
    return claim_of(scene, node.rsrc, node.row)


def claim_of(
    scene: Scene, rsrc: Resource, row: resources.ResourceRecord
) -> claims.Claim | None:
    """The object of a row; None: its type's ids say nothing of objects."""
    if row.physical_id is None or not rsrc.is_looked_up():
        return None
    return claims.Claim(
        scene.context.region_name,
        scene.stack.tenant,
        rsrc.kind(),
        row.physical_id,
        scene.stack.id,
        row.id,
    )


def same_kind(engine: Engine, rsrc: Resource) -> Callable[[str], bool]:
    """Whether objects of a type may be of a resource's kind: a type that
    only another stack's environment knows may be anything."""

    def may_be(type_name: str) -> bool:
        try:
            cls = engine.plugins.get(type_name)
        except exception.HeatException:
            return True
        return cls.kind() == rsrc.kind()

    return may_be


def spare(
    conn: sa.Connection, scene: Scene, tasks: Iterable[Task]
) -> set[int]:
    """Let go of claimed rows whose object is to be deleted, and is external
    to somebody by now.

    :returns: their ids
    """
    going = [
        task
        for task in tasks
        if task.node.step is Step.DELETE and task.node.row.physical_id
    ]
    held = resources.held_external(
        conn,
        scene.stack.tenant,
        {task.node.row.physical_id or "" for task in going},
    )
    theirs = [task for task in going if task.node.row.physical_id in held]
    for task in theirs:
        row = task.node.row
        resources.give_back(
            conn, row, task.claim_id, updated_at=row.updated_at
        )
    return {task.node.row.id for task in theirs}
