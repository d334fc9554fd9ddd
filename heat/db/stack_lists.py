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

from heat.db import bulk, models, stack_tags, stacks

_stack = models.stack


class ListedLock(NamedTuple):
    """The lock of a stack, as it is shown."""

    stack_id: str
    lock_level: str | None
    lock_reason: str | None
    locked_by: str | None
    locked_at: datetime.datetime | None
    lock_expires_at: datetime.datetime | None
    lock_request_id: str | None
    lock_blocked: dict[str, Any] | None


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
    description: str | None
    tags: Sequence[str] = ()
    lock: ListedLock | None = None


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
_IDS = sa.select(_stack.c.id)
_LOCKS = sa.select(
    _stack.c.id, *(_stack.c[name] for name in ListedLock._fields[1:])
)
_LEVEL = ListedRecord._fields.index("lock_level")

# So many ids take longer to be named than to be found once more.
_MANY = 20


def list_shown(
    conn: sa.Connection, **page: Unpack[stacks.Page]
) -> list[ListedRecord]:
    """One page of stacks, as lists show them.

    :raises Invalid: an unknown filter, sort key, direction or marker
    """
    rows = conn.execute(stacks.page_of(conn, _LISTED, page)).all()
    ids = [row[0] for row in rows]
    whole = page.get("limit") is None and page.get("marker") is None
    if whole and len(ids) > _MANY:
        tags = stack_tags.of(conn, ids, stacks.page_of(conn, _IDS, page))
    else:
        tags = stack_tags.of(conn, ids)
    # Few stacks are locked, and eight columns are a third of a row.
    locks = _locks(conn, [row[0] for row in rows if row[_LEVEL] is not None])
    return [
        ListedRecord._make((*row, tags[row[0]], locks.get(row[0])))
        for row in rows
    ]


def _locks(conn: sa.Connection, ids: Sequence[str]) -> dict[str, ListedLock]:
    found: dict[str, ListedLock] = {}
    for chunk in bulk.chunks(ids):
        for row in conn.execute(_LOCKS.where(_stack.c.id.in_(chunk))).all():
            found[row[0]] = ListedLock(*row)
    return found
