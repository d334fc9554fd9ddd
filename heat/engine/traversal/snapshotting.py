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
"""Writes down what a SNAPSHOT has found, when it has ended."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heat.db import resource_data, resources, snapshots, stacks

# What fits into the column.
_LONGEST_REASON = 255


def settle(
    conn: sa.Connection, stack: stacks.StackRecord, status: str, reason: str
) -> None:
    """Say how the snapshot that is being taken ended.

    Its ``data`` get the resources as they are now: with the stack's state
    in one transaction, so that they belong together.
    """
    for each in snapshots.list_(conn, stack.id):
        if (each.action, each.status) != ("CREATE", "IN_PROGRESS"):
            continue
        data = {
            **(each.data or {}),
            "action": stack.action,
            "status": status,
            "resources": _resources(conn, stack.id),
        }
        snapshots.update(
            conn,
            each.id,
            status=status,
            status_reason=reason[:_LONGEST_REASON],
            data=data,
        )


def _resources(conn: sa.Connection, stack_id: str) -> dict[str, Any]:
    rows = [
        row
        for row in resources.list_for_stack(conn, stack_id)
        if row.action not in ("INIT", "DELETE")
        and row.replaced_by is None
        and not row.stray
    ]
    data = resource_data.get_records(conn, [row.id for row in rows])
    return {
        row.name: {
            "name": row.name,
            "type": row.resource_type,
            "resource_id": row.physical_id,
            "action": row.action,
            "status": row.status,
            "metadata": row.metadata or {},
            "resource_data": {
                key: each.value or "" for key, each in data[row.id].items()
            },
            "redacted": sorted(
                key for key, each in data[row.id].items() if each.redact
            ),
        }
        for row in rows
    }
