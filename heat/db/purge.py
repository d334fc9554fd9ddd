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
"""Removes stacks that were deleted long ago, for good.

A deleted stack stays in the database, so that it can be looked at. Here its
rows go, in batches, each in a transaction of its own: a purge may be stopped
at any moment and run beside living engines.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from heat.db import bulk, credentials, models, templates
from heat.db.session import Database

# Tables that name a stack and outlive it: what was let go lives on.
KEPT = frozenset({models.released_object, models.test_object})

_stack = models.stack
_resource = models.resource
_event = models.event


def purge_deleted(
    db: Database,
    before: datetime.datetime,
    *,
    tenant: str | None = None,
    batch: int = 20,
) -> int:
    """Remove the stacks that were deleted before a time (naive UTC).

    One that an object may be left over of, still to be deleted by an engine,
    stays until that is done.

    :param tenant: only those of this project
    :param batch: how many at once
    :returns: how many were removed
    """
    count = 0
    while True:
        ids = db.read(lambda conn: _old(conn, before, tenant, batch))
        if not ids:
            return count
        db.run(lambda conn, ids=ids: _purge(conn, ids))  # type: ignore[misc]
        count += len(ids)


def _old(
    conn: sa.Connection,
    before: datetime.datetime,
    tenant: str | None,
    batch: int,
) -> list[str]:
    stray = sa.exists().where(
        _resource.c.stack_id == _stack.c.id,
        _resource.c.stray.is_(True),
        _resource.c.nova_instance.is_not(None),
    )
    query = sa.select(_stack.c.id).where(
        _stack.c.deleted_at.is_not(None),
        _stack.c.deleted_at < before,
        sa.not_(stray),
    )
    if tenant is not None:
        query = query.where(_stack.c.tenant == tenant)
    query = query.order_by(_stack.c.deleted_at, _stack.c.id).limit(batch)
    return list(conn.execute(query).scalars())


def _purge(conn: sa.Connection, ids: Sequence[str]) -> None:
    """Remove stacks with all that only they refer to."""
    versions = _values(
        conn,
        ids,
        (_stack.c.raw_template_id, _stack.c.id),
        (_stack.c.prev_raw_template_id, _stack.c.id),
        (_stack.c.last_complete_template_id, _stack.c.id),
        (_resource.c.current_template_id, _resource.c.stack_id),
    )
    creds = _values(conn, ids, (_stack.c.user_creds_id, _stack.c.id))
    data = _values(
        conn,
        ids,
        (_resource.c.rsrc_prop_data_id, _resource.c.stack_id),
        (_resource.c.attr_data_id, _resource.c.stack_id),
        (_resource.c.tried_prop_data_id, _resource.c.stack_id),
        (_event.c.rsrc_prop_data_id, _event.c.stack_id),
    )
    rows = _values(conn, ids, (_resource.c.id, _resource.c.stack_id))
    _delete(conn, models.resource_data.c.resource_id, rows)
    snapshot = models.snapshot
    made = _values(conn, ids, (snapshot.c.id, snapshot.c.stack_id))
    _delete(conn, models.resource_snapshot.c.snapshot_id, made)
    for table in models.metadata.sorted_tables:
        if "stack_id" in table.c and table not in KEPT:
            _delete(conn, table.c.stack_id, ids)
    _delete(conn, _stack.c.id, ids)
    _delete(conn, models.resource_properties_data.c.id, data)
    # Their own resources are gone: other stacks are all that is asked.
    templates.delete_unreferenced(conn, ids[0], versions)
    # Nested stacks share the credentials of their parents. Where there is a
    # trust, an engine deletes it first: it alone may talk to Keystone.
    used = set(
        conn.execute(
            sa.select(_stack.c.user_creds_id).where(
                _stack.c.user_creds_id.in_(creds)
            )
        ).scalars()
    )
    for each in creds:
        if each not in used:
            credentials.delete_without_trust(conn, each)


def _values(
    conn: sa.Connection,
    ids: Sequence[str],
    *columns: tuple[sa.Column[int], sa.Column[str]],
) -> list[int]:
    """What rows of these stacks have in some columns, sorted."""
    found: set[int] = set()
    for column, owner in columns:
        for chunk in bulk.chunks(ids):
            found.update(
                conn.execute(
                    sa.select(column).where(
                        owner.in_(chunk), column.is_not(None)
                    )
                ).scalars()
            )
    return sorted(found)


def _delete(
    conn: sa.Connection,
    column: sa.Column[int] | sa.Column[str],
    values: Iterable[int | str],
) -> None:
    for chunk in bulk.chunks(list(values)):
        conn.execute(sa.delete(column.table).where(column.in_(chunk)))
