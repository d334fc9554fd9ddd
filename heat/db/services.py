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

"""Rows of the ``service`` table: which engines there are, and which live.

All times are the database's, so hosts need not agree on the time.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import clock, models

_service = models.service

_seen = sa.func.coalesce(_service.c.updated_at, _service.c.created_at)


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceRecord:
    """One engine process.

    ``report_interval`` is in seconds; ``silent_for`` is how many seconds
    ago it was last heard of.
    """

    id: str
    engine_id: str
    host: str
    hostname: str
    binary: str
    topic: str
    report_interval: int
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    deleted_at: datetime.datetime | None
    silent_for: float


_COLUMNS = tuple(
    _service.c[field.name]
    for field in dataclasses.fields(ServiceRecord)
    if field.name != "silent_for"
)


def register(
    conn: sa.Connection,
    engine_id: str,
    *,
    host: str,
    hostname: str,
    binary: str,
    topic: str,
    report_interval: int,
) -> str:
    """Enter an engine, alive from now on, and return the row's id."""
    service_id = str(uuid.uuid4())
    now = clock.utcnow_expr(conn.dialect.name)
    conn.execute(
        sa.insert(_service).values(
            id=service_id,
            engine_id=engine_id,
            host=host,
            hostname=hostname,
            binary=binary,
            topic=topic,
            report_interval=report_interval,
            created_at=now,
            updated_at=now,
        )
    )
    return service_id


def heartbeat(conn: sa.Connection, engine_id: str) -> bool:
    """Say that an engine lives; False: its row is gone, register again."""
    result = conn.execute(
        sa.update(_service)
        .where(
            _service.c.engine_id == engine_id, _service.c.deleted_at.is_(None)
        )
        .values(updated_at=clock.utcnow_expr(conn.dialect.name))
    )
    return bool(result.rowcount)


def list_(
    conn: sa.Connection, *, show_deleted: bool = False
) -> list[ServiceRecord]:
    """Every engine that was entered, by host and id."""
    query = sa.select(*_COLUMNS, clock.utcnow_expr(conn.dialect.name))
    if not show_deleted:
        query = query.where(_service.c.deleted_at.is_(None))
    query = query.order_by(_service.c.host, _service.c.id)
    return [_record(tuple(row)) for row in conn.execute(query)]


def living(conn: sa.Connection, within_seconds: float) -> set[str]:
    """Engines that were heard of within so many seconds, by engine id."""
    return {
        each.engine_id
        for each in list_(conn)
        if each.silent_for <= within_seconds
    }


def dead(conn: sa.Connection, older_than: float) -> set[str]:
    """Engines that were not heard of for longer, by engine id."""
    known = list_(conn)
    alive = {e.engine_id for e in known if e.silent_for <= older_than}
    return {e.engine_id for e in known} - alive


def delete(conn: sa.Connection, service_id: str, *, soft: bool = True) -> bool:
    """Take an engine off the list; False: it was not on it.

    :param soft: keep the row, marked deleted
    """
    if not soft:
        result = conn.execute(
            sa.delete(_service).where(_service.c.id == service_id)
        )
        return bool(result.rowcount)
    result = conn.execute(
        sa.update(_service)
        .where(_service.c.id == service_id, _service.c.deleted_at.is_(None))
        .values(deleted_at=clock.utcnow_expr(conn.dialect.name))
    )
    return bool(result.rowcount)


def clean(conn: sa.Connection) -> list[ServiceRecord]:
    """Remove the rows of engines that are gone and return them.

    Gone is what was deleted, or silent for twice its report interval.
    """
    gone = [
        each
        for each in list_(conn, show_deleted=True)
        if each.deleted_at or each.silent_for > 2 * each.report_interval
    ]
    if gone:
        # It may have come back meanwhile: look again at the time.
        for each in gone:
            conn.execute(
                sa.delete(_service).where(
                    _service.c.id == each.id,
                    _seen.is_not_distinct_from(
                        each.updated_at or each.created_at
                    ),
                )
            )
    return gone


def _record(row: Sequence[Any]) -> ServiceRecord:
    now = row[-1]
    record = ServiceRecord(*(*row[:-1], float("inf")))
    seen = record.updated_at or record.created_at
    if seen is None:
        return record
    silent = max((now - seen).total_seconds(), 0.0)
    return dataclasses.replace(record, silent_for=silent)
