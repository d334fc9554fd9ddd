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

"""Scratch databases on every database server that is there.

SQLite always is. MariaDB and PostgreSQL are used when HEAT_TEST_MYSQL_URL
and HEAT_TEST_POSTGRESQL_URL say where (as a user that may create
databases). With HEAT_TEST_REQUIRE_SERVICES=1 a missing one fails its tests.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import dataclasses
import os
import pathlib
import tempfile
import uuid

import fixtures
import sqlalchemy as sa

from heat.db import migration, models, session
from heat.tests import base


@dataclasses.dataclass(frozen=True)
class Backend:
    """A kind of database; ``variable`` names its address."""

    name: str
    variable: str | None = None

    @property
    def address(self) -> str | None:
        return os.environ.get(self.variable) if self.variable else None


SQLITE = Backend("sqlite")
MEMORY = Backend("memory")
MYSQL = Backend("mysql", "HEAT_TEST_MYSQL_URL")
POSTGRESQL = Backend("postgresql", "HEAT_TEST_POSTGRESQL_URL")


def backends() -> list[Backend]:
    """Those that tests run on here."""
    required = os.environ.get("HEAT_TEST_REQUIRE_SERVICES") == "1"
    return [SQLITE] + [
        each for each in (MYSQL, POSTGRESQL) if each.address or required
    ]


def scenarios(*more: Backend) -> list[tuple[str, dict[str, Backend]]]:
    """One scenario of a test class for each; ``backend`` is its attribute.

    The module needs ``load_tests = testscenarios.load_tests_apply_scenarios``.
    """
    return [(each.name, {"backend": each}) for each in [*backends(), *more]]


#: URLs of databases with the newest schema and nothing in them, by backend:
#: making the tables on a server takes longer than most tests.
_empty: dict[str, list[str]] = collections.defaultdict(list)


class Scratch(fixtures.Fixture):
    """An empty database with a name of its own.

    ``url`` is its URL; ``db`` is opened on it. Afterwards it is dropped; one
    on a server that has the schema is emptied, and dropped when the process
    ends.

    :param schema: bring it to the newest schema
    """

    def __init__(self, backend: Backend = SQLITE, schema: bool = True):
        self.backend = backend
        self.schema = schema

    def _setUp(self) -> None:
        is_kept = self.schema and self.backend.variable is not None
        ready = _empty[self.backend.name] if is_kept else []
        is_made = bool(ready)
        self.url = ready.pop() if is_made else self._create(is_kept)
        if is_kept:
            self.addCleanup(_clear, self.backend.name, self.url)
        self.db = session.Database(url=self.url)
        self.addCleanup(self.db.dispose)
        if self.schema and not is_made:
            migration.upgrade(self.db)

    def _create(self, is_kept: bool) -> str:
        if self.backend is MEMORY:
            return "sqlite://"
        name = f"heat_test_{uuid.uuid4().hex[:12]}"
        if self.backend is SQLITE:
            # Not oslotest's directory: this fixture serves scripts too.
            directory = tempfile.TemporaryDirectory(prefix=name)
            self.addCleanup(directory.cleanup)
            path = pathlib.Path(directory.name) / "heat.sqlite"
            return session.Database.url_for_sqlite(str(path))
        address = self.backend.address
        if address is None:
            raise AssertionError(
                f"{self.backend.variable} is not set and "
                "HEAT_TEST_REQUIRE_SERVICES is"
            )
        server = sa.make_url(address)
        force = ""
        if self.backend is POSTGRESQL:
            server = server.set(database=server.database or "postgres")
            force = " WITH (FORCE)"
        _execute(server, f"CREATE DATABASE {name}")
        at_end = atexit.register if is_kept else self.addCleanup
        at_end(_execute, server, f"DROP DATABASE {name}{force}")
        return server.set(database=name).render_as_string(hide_password=False)


def _clear(backend: str, url: str) -> None:
    """Delete all rows, and keep the database for the next test."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as conn:
        for table in reversed(models.metadata.sorted_tables):
            conn.execute(table.delete())
    _empty[backend].append(url)


def _execute(server: sa.URL, statement: str) -> None:
    engine = sa.create_engine(
        server, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT"
    )
    with contextlib.closing(engine.connect()) as conn:
        conn.exec_driver_sql(statement)


class DatabaseTestCase(base.TestCase):
    """A test with a database, once on each kind of them."""

    scenarios = scenarios()
    backend = SQLITE
    schema = True

    def setUp(self) -> None:
        super().setUp()
        scratch = self.useFixture(Scratch(self.backend, self.schema))
        self.db = scratch.db
        self.url = scratch.url
