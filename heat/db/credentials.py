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

"""Rows of the ``user_creds`` table: in whose name an engine acts later.

Secrets arrive and leave encrypted, with the method beside them.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models

_creds = models.user_creds


@dataclasses.dataclass(frozen=True, slots=True)
class CredentialsRecord:
    """A trust, or a user's name and password."""

    id: int
    username: str | None
    password: str | None
    region_name: str | None
    decrypt_method: str | None
    tenant: str | None
    auth_url: str | None
    tenant_id: str | None
    trust_id: str | None
    trustor_user_id: str | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None


_COLUMNS = tuple(
    _creds.c[each.name] for each in dataclasses.fields(CredentialsRecord)
)


def insert(conn: sa.Connection, values: Mapping[str, Any]) -> int:
    """Store credentials and return their id."""
    columns = {"created_at": clock.utcnow(), **values}
    return bulk.insert_one(conn, _creds, columns)


def get(conn: sa.Connection, creds_id: int) -> CredentialsRecord | None:
    """The credentials with this id, or None."""
    row = conn.execute(
        sa.select(*_COLUMNS).where(_creds.c.id == creds_id)
    ).first()
    return None if row is None else CredentialsRecord(*row)


def list_(conn: sa.Connection) -> list[CredentialsRecord]:
    """All of them by id, for the rotation of the key."""
    rows = conn.execute(sa.select(*_COLUMNS).order_by(_creds.c.id))
    return [CredentialsRecord(*row) for row in rows]


def update(conn: sa.Connection, creds_id: int, **values: Any) -> bool:
    """Write columns of credentials; False: there are none."""
    values.setdefault("updated_at", clock.utcnow())
    result = conn.execute(
        sa.update(_creds).where(_creds.c.id == creds_id).values(**values)
    )
    return bool(result.rowcount)


def delete(conn: sa.Connection, creds_id: int) -> bool:
    """Delete credentials; False: there are none."""
    result = conn.execute(sa.delete(_creds).where(_creds.c.id == creds_id))
    return bool(result.rowcount)


def in_use(conn: sa.Connection, creds_id: int) -> bool:
    """Whether a living stack acts by these credentials.

    Nested stacks share those of their parent.
    """
    stack = models.stack
    return bool(
        conn.execute(
            sa.select(stack.c.id)
            .where(
                stack.c.user_creds_id == creds_id,
                stack.c.deleted_at.is_(None),
            )
            .limit(1)
        ).first()
    )
