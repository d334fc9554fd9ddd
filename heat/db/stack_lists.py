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

"""Stacks as lists show them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import sqlalchemy as sa

from heat.db import models, stacks

_stack = models.stack


class ListedRecord(NamedTuple):
    """What a list shows of a stack; there may be thousands of them.

    ``description`` is what its template says; None: not recorded apart.
    """

    id: str
    name: str
    tenant: str
    username: str | None
    owner_id: str | None
    raw_template_id: int
    action: str
    status: str
    status_reason: str | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    deleted_at: datetime.datetime | None
    timeout: int | None
    disable_rollback: bool
    stack_user_project_id: str | None
    lock_level: str | None
    lock_root: str | None
    lock_reason: str | None
    locked_by: str | None
    locked_at: datetime.datetime | None
    lock_expires_at: datetime.datetime | None
    lock_request_id: str | None
    lock_blocked: dict[str, Any] | None
    description: str | None
    tags: Sequence[str] = ()


# With what its template says, where that is recorded apart.
_LISTED = sa.select(
    *(_stack.c[name] for name in ListedRecord._fields if name in _stack.c),
    models.raw_template.c.description,
).select_from(
    _stack.outerjoin(
        models.raw_template,
        models.raw_template.c.id == _stack.c.raw_template_id,
    )
)


def list_shown(
    conn: sa.Connection, **page: Unpack[stacks.Page]
) -> list[ListedRecord]:
    """One page of stacks, as lists show them.

    :raises Invalid: an unknown filter, sort key, direction or marker
    """
    rows = conn.execute(stacks.page_of(conn, _LISTED, page)).all()
    tags = stacks.tags_of(conn, [row[0] for row in rows])
    return [ListedRecord(*(*row, tags[row[0]])) for row in rows]
