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

"""Bringing a database to a version of the schema.

There is no way down: a step that fails is mended and repeated, and what a
newer release wrote an older one can't read.
"""

from __future__ import annotations

import pathlib
from typing import Any

import sqlalchemy as sa

from heat.db import models, session

# A table of our own: databases of another make have ``alembic_version``,
# whose revisions are not ours.
_VERSION_TABLE = "heat_schema_version"

#: How alembic compares and records.
OPTIONS: dict[str, Any] = {
    "target_metadata": models.metadata,
    "version_table": _VERSION_TABLE,
    "compare_type": True,
    "render_as_batch": True,
}


def upgrade(
    database: session.Database | str, revision: str = "head"
) -> str | None:
    """Bring the schema to ``revision`` and return the one it then has.

    :param database: an open database or its URL
    :param revision: number of a step such as ``0001``, or ``head``
    :raises alembic.util.CommandError: no such revision
    """
    # Engines ask for the version only, and need not hold its 11 MiB.
    from alembic import command
    from alembic import config as alembic_config

    with _opened(database) as engine, engine.begin() as conn:
        settings = alembic_config.Config()
        here = pathlib.Path(__file__).parent / "migrations"
        settings.set_main_option(
            "script_location", str(here).replace("%", "%%")
        )
        settings.attributes["connection"] = conn
        command.upgrade(settings, revision)
        return _current(conn)


def version(database: session.Database | str) -> str | None:
    """The revision the database has; None: it has none of our tables."""
    with _opened(database) as engine, engine.connect() as conn:
        return _current(conn)


def _current(conn: sa.Connection) -> str | None:
    if not sa.inspect(conn).has_table(_VERSION_TABLE):
        return None
    table = sa.table(_VERSION_TABLE, sa.column("version_num", sa.String()))
    return conn.execute(sa.select(table.c.version_num)).scalar()


class _opened:
    """The engine of a database; closed at the end if it was opened here."""

    def __init__(self, database: session.Database | str) -> None:
        self._own = isinstance(database, str)
        self._database = (
            session.Database(url=database)
            if isinstance(database, str)
            else database
        )

    def __enter__(self) -> sa.Engine:
        return self._database.engine

    def __exit__(self, *error: object) -> None:
        if self._own:
            self._database.dispose()
