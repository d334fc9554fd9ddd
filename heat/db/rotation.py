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

"""Rewrites what is encrypted with older keys, so that these can go.

Each table is walked in the order of its keys, a batch in a transaction of
its own; engines may run meanwhile. What has the newest key already is left
alone: after an interruption the same command goes on where it stopped.

=====================  ====================================================
table                  what is encrypted in it
=====================  ====================================================
raw_template           values of hidden parameters in the environment
environment_layer      the same, layer by layer
raw_template_files     whole files that hold such a value, and the values
                       themselves that a tree of stacks shares
resource_data          values that plug-ins have marked as secret
snapshot               the same values, of the resources as they were
user_creds             trusts and passwords
=====================  ====================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from heat.common import crypt, exception
from heat.db import credentials, models, secrets
from heat.db.session import Database

Row = Mapping[str, Any]
#: From a stored row to the columns that change; {} when none does.
Renew = Callable[[crypt.Crypt, Row], dict[str, Any]]


@dataclasses.dataclass
class Report:
    """What became of one table.

    :ivar unread: ids of rows that no key opens; they are left as they are
    """

    table: str
    renewed: int = 0
    unread: list[int | str] = dataclasses.field(default_factory=list)


def rotate(db: Database, *, batch: int = 100) -> list[Report]:
    """Encrypt everything with the newest key.

    :param batch: rows read in one transaction
    :raises ValueError: the configuration has no key
    """
    keys = db.read(secrets.crypt_of)
    if keys is None:
        raise ValueError("there is no auth_encryption_key")
    return [
        _rotate_table(db, keys, table, renew, batch)
        for table, renew in _TABLES
    ]


def _rotate_table(
    db: Database,
    keys: crypt.Crypt,
    table: sa.Table,
    renew: Renew,
    batch: int,
) -> Report:
    report = Report(table.name)
    last: int | str | None = None
    while True:
        done, last = db.run(
            lambda conn, after=last: _rotate_batch(  # type: ignore[misc]
                conn, keys, table, renew, after, batch
            )
        )
        report.renewed += done.renewed
        report.unread += done.unread
        if last is None:
            return report


def _rotate_batch(
    conn: sa.Connection,
    keys: crypt.Crypt,
    table: sa.Table,
    renew: Renew,
    after: int | str | None,
    batch: int,
) -> tuple[Report, int | str | None]:
    """One batch, and the last id of it; None: there are no more rows.

    :param after: the last id of the batch before; None: this is the first
    """
    report, last = Report(table.name), None
    query = sa.select(table).order_by(table.c.id).limit(batch)
    if after is not None:
        query = query.where(table.c.id > after)
    # Nobody changes them between here and the commit.
    for row in conn.execute(query.with_for_update()).all():
        last = row.id
        try:
            values = renew(keys, row._asdict())
        except exception.InvalidEncryptionKey:
            report.unread.append(row.id)
            continue
        if values:
            conn.execute(
                sa.update(table).where(table.c.id == row.id).values(**values)
            )
            report.renewed += 1
    return report, last


def _environment(column: str) -> Renew:
    """Rows whose environment has sealed values of parameters."""

    def renew(keys: crypt.Crypt, row: Row) -> dict[str, Any]:
        data = row[column]
        if not isinstance(data, dict):
            return {}
        made = dict(data)
        for section in secrets.SECTIONS:
            values = data.get(section)
            if isinstance(values, dict):
                made[section] = _renewed(keys, values)
        return {} if made == data else {column: made}

    return renew


def _files(keys: crypt.Crypt, row: Row) -> dict[str, Any]:
    made = {
        column: _renewed(keys, data)
        for column in ("files", "defaults")
        if isinstance(data := row[column], dict)
    }
    return {name: data for name, data in made.items() if data != row[name]}


def _renewed(keys: crypt.Crypt, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of which some are sealed."""
    return {
        name: keys.renew(value) if crypt.is_sealed(value) else value
        for name, value in values.items()
    }


def _resource_data(keys: crypt.Crypt, row: Row) -> dict[str, Any]:
    value, method = row["value"], row["decrypt_method"]
    if value is None or not row["redact"]:
        return {}
    if method is None:  # stored before such values were encrypted
        return {
            "value": keys.encrypt(value),
            "decrypt_method": secrets.METHOD,
        }
    return _tokens(keys, row, ("value",))


def _snapshot(keys: crypt.Crypt, row: Row) -> dict[str, Any]:
    made = secrets.renew_snapshot(keys, row["data"])
    return {} if made == row["data"] else {"data": made}


def _credentials(keys: crypt.Crypt, row: Row) -> dict[str, Any]:
    if row["decrypt_method"] is None:
        return {}
    return _tokens(keys, row, credentials.SECRET)


def _tokens(
    keys: crypt.Crypt, row: Row, columns: tuple[str, ...]
) -> dict[str, Any]:
    """Columns that hold bare tokens."""
    if row["decrypt_method"] != secrets.METHOD:
        raise exception.InvalidEncryptionKey()
    return {
        name: keys.rotate(row[name])
        for name in columns
        if row[name] is not None and not keys.is_newest(row[name])
    }


_TABLES: tuple[tuple[sa.Table, Renew], ...] = (
    (models.raw_template, _environment("environment")),
    (models.environment_layer, _environment("content")),
    (models.raw_template_files, _files),
    (models.resource_data, _resource_data),
    (models.snapshot, _snapshot),
    (models.user_creds, _credentials),
)
