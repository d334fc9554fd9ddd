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

"""The time, by this process and by the database.

Times are kept in UTC without a zone, as every Heat database has them.
Heartbeats are written and judged by the database's clock alone, so that
engines on hosts whose clocks differ agree on who is alive.
"""

from __future__ import annotations

import datetime

import sqlalchemy as sa
from oslo_utils import timeutils


def utcnow() -> datetime.datetime:
    """Now by this host's clock, naive UTC."""
    return timeutils.utcnow()


def utcnow_expr(dialect: str) -> sa.ColumnElement[datetime.datetime]:
    """An SQL expression for now by the database's clock, naive UTC.

    :param dialect: ``sqlite``, ``mysql`` or ``postgresql``

    It is the time of the statement, not of the transaction. On MariaDB it
    has whole seconds, as its columns do.
    """
    if dialect == "sqlite":
        # Six digits, as SQLAlchemy writes them: they compare as text.
        return sa.type_coerce(
            sa.func.strftime("%Y-%m-%d %H:%M:%f000", "now"), sa.DateTime()
        )
    if dialect == "mysql":
        return sa.func.utc_timestamp(type_=sa.DateTime())
    return sa.func.timezone(
        "utc", sa.func.statement_timestamp(), type_=sa.DateTime()
    )


def now(conn: sa.Connection) -> datetime.datetime:
    """Now by the database's clock, naive UTC."""
    found = conn.execute(
        sa.select(utcnow_expr(conn.dialect.name))
    ).scalar_one()
    return found
