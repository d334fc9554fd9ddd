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
"""The rows of the resources that a traversal wants: found, or inserted."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import (
    resource_data,
    resource_rows,
    resources,
    roots,
    stacks,
)
from heat.engine.resource import child


@dataclasses.dataclass(frozen=True)
class Given:
    """An object that was abandoned elsewhere, to be adopted.

    :ivar physical_id: its id; None: it is a stack, and is made anew
    :ivar nested: what a stack is made of, resources by name
    """

    physical_id: str | None
    metadata: Mapping[str, Any]
    data: Mapping[str, str]
    nested: Mapping[str, Any] | None = None

    def kept(self) -> dict[str, resource_data.DataRecord]:
        """The data that its row begins with."""
        found = {
            key: resource_data.DataRecord(value)
            for key, value in self.data.items()
        }
        if self.nested is not None:
            for key, value in child.pack(self.nested).items():
                found[key] = resource_data.DataRecord(value, redact=True)
        return found


@dataclasses.dataclass(frozen=True)
class Wishes:
    """Which resources a traversal wants.

    :ivar types: their types, by name
    :ivar template_id: the version that says so
    :ivar given: the objects that some take over
    """

    types: Mapping[str, str]
    template_id: int
    given: Mapping[str, Given]


def best_existing(
    rows: Sequence[resources.ResourceRecord],
    target_template_id: int,
    superseded_template_id: int | None,
) -> resources.ResourceRecord | None:
    """The row to go on with, among the versions of one resource.

    A living one before a failing one, then the version that already has the
    wanted template, then what the superseded traversal made: so a rollback,
    or an update back, returns to the old, living object.
    """

    def rank(row: resources.ResourceRecord) -> tuple[Any, ...]:
        changed = row.updated_at or row.created_at or datetime.datetime.min
        return (
            row.action != "DELETE",
            row.status != "FAILED",
            # One that was only planned is no object to give another up for.
            row.action != "INIT",
            row.current_template_id == target_template_id,
            row.current_template_id == superseded_template_id,
            row.replaced_by is None,
            changed,
            row.id,
        )

    return max((row for row in rows if not row.stray), key=rank, default=None)


def find_rows(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    wishes: Wishes,
    extant: Sequence[resources.ResourceRecord],
    now: datetime.datetime,
) -> dict[str, int]:
    """The row of every wanted resource; missing ones are inserted."""
    versions: dict[str, list[resources.ResourceRecord]] = {}
    for row in extant:
        versions.setdefault(row.name, []).append(row)
    wanted: dict[str, int] = {}
    revived: list[int] = []
    unmade: dict[str, list[int]] = {}
    missing: dict[str, str] = {}
    for name, type_ in wishes.types.items():
        best = best_existing(
            versions.get(name, ()), wishes.template_id, stack.raw_template_id
        )
        # A missing one keeps its place.
        wanted[name] = best.id if best is not None else 0
        if best is None:
            missing[name] = type_
            continue
        if best.replaced_by is not None:
            revived.append(best.id)
        if best.action == "INIT":
            unmade.setdefault(type_, []).append(best.id)
    absent = dataclasses.replace(wishes, types=missing)
    for name, row in insert_rows(conn, stack, absent, now).items():
        wanted[name] = row.id
    if revived:
        resources.set_values(conn, revived, {"replaced_by": None})
    for type_, ids in sorted(unmade.items()):
        # Whatever becomes of it, this is what it is made as.
        resources.set_values(
            conn,
            ids,
            {
                "resource_type": type_,
                "current_template_id": wishes.template_id,
            },
        )
    return wanted


def insert_rows(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    wishes: Wishes,
    now: datetime.datetime,
) -> dict[str, resources.ResourceRecord]:
    """Insert the rows of resources that have none, by name."""
    if not wishes.types:
        return {}
    root = roots.root_of(conn, stack)
    fresh = [
        new_row(
            stack.id, name, type_, wishes.template_id, now, root_stack_id=root
        )
        for name, type_ in wishes.types.items()
    ]
    _give_objects(wishes, fresh)
    ids = resources.insert_many(conn, fresh)
    made = {
        new["name"]: resource_rows.blank(
            **{**new, "id": row_id, "requires": ()}
        )
        for new, row_id in zip(fresh, ids, strict=True)
    }
    _give_data(conn, wishes, made)
    return made


def _give_objects(wishes: Wishes, fresh: Sequence[dict[str, Any]]) -> None:
    """Rows that adopt begin with the object that they will take over."""
    if not wishes.given:
        return
    for new in fresh:
        given = wishes.given.get(new["name"])
        new["physical_id"] = given.physical_id if given else None
        new["metadata"] = dict(given.metadata) if given else {}
        if given is not None and given.nested is not None:
            new["physical_id"] = child.id_of(new["uuid"])


def _give_data(
    conn: sa.Connection,
    wishes: Wishes,
    made: Mapping[str, resources.ResourceRecord],
) -> None:
    kept = {
        made[name].id: given.kept()
        for name, given in wishes.given.items()
        if name in made
    }
    resource_data.apply_many(conn, kept, {})


def new_row(
    stack_id: str,
    name: str,
    resource_type: str,
    template_id: int,
    now: datetime.datetime,
    replaces: int | None = None,
    *,
    root_stack_id: str | None,
) -> dict[str, Any]:
    """The row of a resource that is still to be made.

    :param root_stack_id: of the stack at the top of the tree
    """
    return {
        "uuid": str(uuid.uuid4()),
        "name": name,
        "stack_id": stack_id,
        "root_stack_id": root_stack_id,
        "resource_type": resource_type,
        "action": "INIT",
        "status": "COMPLETE",
        "status_reason": "",
        "metadata": {},
        "requires": [],
        "replaces": replaces,
        "current_template_id": template_id,
        "atomic_key": 0,
        "external": False,
        "stray": False,
        "created_at": now,
        "updated_at": now,
    }
