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

A row is written before its trust is made (``trust_mark`` then says how that
will be known), so that no trust is made that nobody knows. Secrets are sealed
when they are written and plain in records.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from heat.db import bulk, clock, models, roots, secrets, stacks

_creds = models.user_creds
_stack = models.stack

#: Columns that are stored encrypted.
SECRET: Final = ("password", "trust_id")
#: Bytes of a password that, encrypted, still fits into its column.
LONGEST_PASSWORD: Final = 127


@dataclasses.dataclass(frozen=True, slots=True)
class CredentialsRecord:
    """A trust, or a user's name and password."""

    id: int
    username: str | None
    password: str | None = dataclasses.field(repr=False)
    region_name: str | None
    decrypt_method: str | None
    tenant: str | None
    auth_url: str | None
    tenant_id: str | None
    trust_id: str | None
    trustor_user_id: str | None
    trust_mark: str | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None


_COLUMNS = tuple(
    _creds.c[each.name] for each in dataclasses.fields(CredentialsRecord)
)


def insert(conn: sa.Connection, values: Mapping[str, Any]) -> int:
    """Store credentials and return their id."""
    columns = {"created_at": clock.utcnow(), **_sealed(conn, values)}
    return bulk.insert_one(conn, _creds, columns)


def set_trust(conn: sa.Connection, creds_id: int, trust_id: str) -> bool:
    """Store the trust that was made; False: nobody waits for it any more."""
    values = _sealed(conn, {"trust_id": trust_id})
    result = conn.execute(
        sa.update(_creds)
        .where(_creds.c.id == creds_id, _creds.c.trust_id.is_(None))
        .values(updated_at=clock.utcnow(), **values)
    )
    return bool(result.rowcount)


def get(conn: sa.Connection, creds_id: int) -> CredentialsRecord | None:
    """The credentials with this id, or None.

    :raises InvalidEncryptionKey: they were sealed with another key
    """
    row = conn.execute(
        sa.select(*_COLUMNS).where(_creds.c.id == creds_id)
    ).first()
    if row is None:
        return None
    return _opened(conn, CredentialsRecord(*row))


_ID_OF = sa.select(_stack.c.user_creds_id).where(
    _stack.c.id == sa.bindparam("the_id")
)


def id_of(conn: sa.Connection, stack: stacks.StackRecord) -> int | None:
    """The id of a stack's credentials: nested ones have those of the top."""
    if stack.user_creds_id is not None or stack.owner_id is None:
        return stack.user_creds_id
    top = roots.root_of(conn, stack)
    return conn.execute(_ID_OF, {"the_id": top}).scalar()


def of_stack(
    conn: sa.Connection, stack: stacks.StackRecord
) -> CredentialsRecord | None:
    """By what is acted for a stack without its user, or None.

    :raises InvalidEncryptionKey: they were sealed with another key
    """
    found = id_of(conn, stack)
    return None if found is None else get(conn, found)


def attach(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    creds_id: int,
    instead_of: int | None,
) -> int:
    """Give a tree of stacks its credentials, unless somebody was faster.

    :param stack: one of the tree, or the draft of a stack that is to be one
    :param instead_of: those it had
    :returns: the id of those that it has now
    """
    at_top = _stack.c.id == roots.root_of(conn, stack)
    if instead_of is not None:
        mine = _stack.c.user_creds_id == instead_of
    else:
        mine = sa.and_(at_top, _stack.c.user_creds_id.is_(None))
    changed = conn.execute(
        sa.update(_stack).where(mine).values(user_creds_id=creds_id)
    )
    if changed.rowcount:
        return creds_id
    found = conn.execute(
        sa.select(_stack.c.user_creds_id).where(at_top)
    ).scalar()
    return creds_id if found is None else int(found)


def delete(conn: sa.Connection, creds_id: int) -> bool:
    """Delete credentials; False: there are none."""
    result = conn.execute(sa.delete(_creds).where(_creds.c.id == creds_id))
    return bool(result.rowcount)


def delete_without_trust(conn: sa.Connection, creds_id: int) -> bool:
    """Delete credentials unless a trust goes with them, or may."""
    result = conn.execute(
        sa.delete(_creds).where(
            _creds.c.id == creds_id,
            _creds.c.trust_id.is_(None),
            _creds.c.trust_mark.is_(None),
        )
    )
    return bool(result.rowcount)


def loose(
    conn: sa.Connection,
    before: datetime.datetime,
    *,
    only: int | None = None,
) -> list[int]:
    """Ids of credentials that nothing will act by any more, sorted.

    They are of deleted stacks that have no object left over which is still
    to be deleted, or never became any stack's.

    :param before: of the latter, those that were made before this: younger
        ones belong to a request that is being answered
    :param only: look at these only
    """
    resource = models.resource
    mine = _stack.c.user_creds_id == _creds.c.id
    alive = sa.exists().where(mine, _stack.c.deleted_at.is_(None))
    stray = sa.exists().where(
        mine,
        resource.c.stack_id == _stack.c.id,
        resource.c.stray.is_(True),
        resource.c.nova_instance.is_not(None),
    )
    query = sa.select(_creds.c.id).where(
        sa.not_(alive),
        sa.not_(stray),
        sa.or_(sa.exists().where(mine), _creds.c.created_at < before),
    )
    if only is not None:
        query = query.where(_creds.c.id == only)
    return list(conn.execute(query.order_by(_creds.c.id)).scalars())


def _sealed(conn: sa.Connection, values: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as they are stored."""
    made = dict(values)
    for name in SECRET:
        if made.get(name):
            made[name], made["decrypt_method"] = secrets.seal_value(
                conn, made[name]
            )
    return made


def _opened(
    conn: sa.Connection, record: CredentialsRecord
) -> CredentialsRecord:
    plain: dict[str, Any] = {
        name: secrets.open_value(
            conn, getattr(record, name), record.decrypt_method
        )
        for name in SECRET
    }
    return dataclasses.replace(record, **plain)
