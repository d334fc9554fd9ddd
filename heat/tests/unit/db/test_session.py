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

from __future__ import annotations

import socket
import threading
from unittest import mock

import fixtures
import sqlalchemy as sa
import testscenarios
from oslo_config import cfg
from oslo_db import exception as db_exc
from oslo_db import options

from heat.db import models, session
from heat.tests import base
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

POINT = models.sync_point


def _add_points(count):
    def work(conn):
        conn.execute(
            sa.insert(POINT),
            [
                {
                    "entity_id": str(number),
                    "traversal_id": "t",
                    "is_update": True,
                    "stack_id": "s",
                }
                for number in range(count)
            ],
        )

    return work


def _bump(*numbers):
    def work(conn):
        for number in numbers:
            conn.execute(
                sa.update(POINT)
                .where(POINT.c.entity_id == str(number))
                .values(remaining=POINT.c.remaining + 1)
            )

    return work


def _total(conn):
    return conn.execute(sa.select(sa.func.sum(POINT.c.remaining))).scalar()


def _in_threads(*works):
    errors = []

    def call(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(w,)) for w in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


class TransactionTest(backends.DatabaseTestCase):
    scenarios = backends.scenarios(backends.MEMORY)

    def test_eight_threads_lose_nothing(self):
        self.db.run(_add_points(4))

        def work(number):
            for turn in range(40):
                # Rows in one order: no deadlocks by design.
                self.db.run(_bump(*sorted({0, (number + turn) % 4})))
                self.assertGreater(self.db.read(_total), 0)

        errors = _in_threads(*(lambda n=n: work(n) for n in range(8)))
        self.assertEqual([], errors)
        # A quarter of the turns bump row 0 alone.
        self.assertEqual(8 * 40 * 2 - 8 * 10, self.db.read(_total))

    def test_read_then_write_under_threads(self):
        """A check before a write, as ours is, can't be overtaken."""
        self.db.run(_add_points(1))
        wins = []

        def take(number):
            def work(conn):
                return conn.execute(
                    sa.update(POINT)
                    .where(POINT.c.done.is_(False))
                    .values(done=True, remaining=number)
                ).rowcount

            if self.db.run(work):
                wins.append(number)

        errors = _in_threads(*(lambda n=n: take(n) for n in range(8)))
        self.assertEqual([], errors)
        self.assertEqual(1, len(wins))
        self.assertEqual(wins[0], self.db.read(_total))

    def test_deadlock_is_tried_again(self):
        self.db.run(_add_points(2))
        if self.backend in (backends.SQLITE, backends.MEMORY):
            return  # one writer at a time can't deadlock
        both = threading.Barrier(2)
        tries = []

        def work(first, second):
            met = []

            def inner(conn):
                tries.append(first)
                _bump(first)(conn)
                if not met:
                    met.append(True)
                    both.wait(10)
                _bump(second)(conn)

            self.db.run(inner)

        errors = _in_threads(lambda: work(0, 1), lambda: work(1, 0))
        self.assertEqual([], errors)
        self.assertEqual(3, len(tries))
        self.assertEqual(4, self.db.read(_total))

    def test_retry_runs_all_of_it_and_keeps_nothing_of_before(self):
        self.db.run(_add_points(1))
        calls = []

        def work(conn):
            _bump(0)(conn)
            calls.append(1)
            if len(calls) < 3:
                raise db_exc.DBDeadlock()
            return "done"

        self.assertEqual("done", self.db.run(work))
        self.assertEqual(3, len(calls))
        self.assertEqual(1, self.db.read(_total))

    def test_what_is_left_for_the_end_is_written_at_once(self):
        written = []

        def write(conn, items):
            written.append(items)
            _add_points(len(items))(conn)

        def work(conn):
            session.at_end(conn, write, [1])
            session.at_end(conn, write, [2, 3])
            tries.append(1)
            if len(tries) == 1:
                raise db_exc.DBDeadlock()
            return list(written)

        tries = []
        self.useFixture(_NoPause())
        self.assertEqual([], self.db.run(work))
        self.assertEqual([[1, 2, 3]], written)
        _points = sa.select(sa.func.count()).select_from(POINT)
        count = self.db.read(lambda conn: conn.execute(_points).scalar())
        self.assertEqual(3, count)

    def test_outside_of_a_work_nothing_is_left_for_the_end(self):
        with self.db.engine.begin() as conn:
            session.at_end(
                conn, lambda _conn, items: _add_points(2)(conn), [1]
            )
            _points = sa.select(sa.func.count()).select_from(POINT)
            self.assertEqual(2, conn.execute(_points).scalar())

    def test_retries_are_bounded(self):
        self.useFixture(_NoPause())
        calls = []

        def work(conn):
            calls.append(1)
            raise db_exc.DBDeadlock()

        self.assertRaises(db_exc.DBDeadlock, self.db.run, work)
        self.assertEqual(session.ATTEMPTS, len(calls))

    def test_other_errors_roll_back_and_propagate(self):
        self.db.run(_add_points(1))

        def work(conn):
            _bump(0)(conn)
            raise LookupError("mine")

        self.assertRaises(LookupError, self.db.run, work)
        self.assertEqual(0, self.db.read(_total))

    def test_duplicate_is_no_reason_to_retry(self):
        self.db.run(_add_points(1))
        self.assertRaises(db_exc.DBDuplicateEntry, self.db.run, _add_points(1))

    def test_transaction_in_a_transaction_is_refused(self):
        for outer in (self.db.run, self.db.read):
            for inner in (self.db.run, self.db.read):
                with self.subTest(outer=outer, inner=inner):
                    self.assertRaises(
                        RuntimeError, outer, lambda conn, i=inner: i(_total)
                    )
        self.assertFalse(self.db.in_transaction)
        self.assertTrue(self.db.run(lambda conn: self.db.in_transaction))
        self.assertFalse(self.db.in_transaction)

    def test_lost_connection_is_tried_again(self):
        kill = {
            "mysql": ("SELECT CONNECTION_ID()", "KILL {}"),
            "postgresql": (
                "SELECT pg_backend_pid()",
                "SELECT pg_terminate_backend({})",
            ),
        }.get(self.backend.name)
        if kill is None:
            return  # there is nothing to lose
        self.db.run(_add_points(1))
        killer = session.Database(url=self.url)
        self.addCleanup(killer.dispose)
        calls = []

        def work(conn):
            calls.append(1)
            me = conn.exec_driver_sql(kill[0]).scalar()
            if len(calls) == 1:
                with killer.engine.connect() as other:
                    other.exec_driver_sql(kill[1].format(me))
            _bump(0)(conn)

        self.db.run(work)
        self.assertEqual(2, len(calls))
        self.assertEqual(1, self.db.read(_total))

    def test_a_transaction_asks_for_nothing_of_its_own(self):
        """No look whether the connection lives, no rollback after all."""
        if self.db.dialect == "sqlite":
            return
        self.db.read(_total)
        with (
            mock.patch.object(self.db.engine.dialect, "do_ping") as ping,
            mock.patch.object(
                self.db.engine.dialect,
                "do_rollback",
                wraps=self.db.engine.dialect.do_rollback,
            ) as rollback,
        ):
            self.db.run(_add_points(1))
            rollback.assert_not_called()
            self.db.read(_total)
            self.assertEqual(1, rollback.call_count)
        ping.assert_not_called()

    def test_isolation(self):
        query = {
            "mysql": "SELECT @@session.tx_isolation",
            "postgresql": "SHOW TRANSACTION ISOLATION LEVEL",
        }.get(self.backend.name)
        if query is None:
            return
        for use in (self.db.run, self.db.read):
            found = use(lambda conn: conn.exec_driver_sql(query).scalar())
            self.assertEqual("read committed", found.lower().replace("-", " "))

    def test_dialect(self):
        names = {"memory": "sqlite"}
        self.assertEqual(
            names.get(self.backend.name, self.backend.name), self.db.dialect
        )


class _NoPause(fixtures.MonkeyPatch):
    def __init__(self):
        super().__init__("heat.db.session._sleep", lambda *args: None)


class SqliteTest(base.TestCase):
    def test_settings(self):
        db = self.useFixture(backends.Scratch(schema=False)).db

        def pragmas(conn):
            return [
                conn.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in (
                    "journal_mode",
                    "synchronous",
                    "busy_timeout",
                    "foreign_keys",
                )
            ]

        self.assertEqual(["wal", 1, 30000, 0], db.read(pragmas))

    def test_two_processes_worth_of_writers(self):
        """Two Database objects share no lock but the file's."""
        scratch = self.useFixture(backends.Scratch())
        other = session.Database(url=scratch.url)
        self.addCleanup(other.dispose)
        scratch.db.run(_add_points(1))

        def work(db):
            for _turn in range(50):
                db.run(_bump(0))

        errors = _in_threads(
            *(lambda db=db: work(db) for db in (scratch.db, other) * 2)
        )
        self.assertEqual([], errors)
        self.assertEqual(200, scratch.db.read(_total))

    def test_a_reader_is_not_held_up_by_a_writer(self):
        db = self.useFixture(backends.Scratch()).db
        db.run(_add_points(1))
        seen = []

        def work(conn):
            _bump(0)(conn)
            errors = _in_threads(lambda: seen.append(db.read(_total)))
            self.assertEqual([], errors)

        db.run(work)
        self.assertEqual([0], seen)
        self.assertEqual(1, db.read(_total))


class UrlTest(base.TestCase):
    def test_normalised(self):
        utf8 = "?charset=utf8mb4"
        for given, wanted in (
            ("sqlite:////a/b", "sqlite:////a/b"),
            ("mysql://u@h/d", f"mysql+pymysql://u@h/d{utf8}"),
            (
                "mysql+pymysql://u@h/d?charset=utf8",
                f"mysql+pymysql://u@h/d{utf8}",
            ),
            ("mariadb+pymysql://u@h/d", f"mysql+pymysql://u@h/d{utf8}"),
            ("mariadb://u@h/d", f"mysql+pymysql://u@h/d{utf8}"),
            (
                "mysql+pymysql://u@h/d?charset=latin1",
                "mysql+pymysql://u@h/d?charset=latin1",
            ),
            ("postgresql://u@h/d", "postgresql+psycopg2://u@h/d"),
            ("postgres://u@h/d", "postgresql+psycopg2://u@h/d"),
        ):
            with self.subTest(given):
                found = session._normalised(sa.make_url(given))
                self.assertEqual(wanted, found.render_as_string(False))

    def test_url_for_sqlite(self):
        for path in ("/a/b c.db", "rel.db", "/with?mark%20"):
            url = sa.make_url(session.Database.url_for_sqlite(path))
            self.assertEqual(path, url.database)

    def test_configuration(self):
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self.assertRaises(ValueError, session.Database, conf)
        conf.set_override("connection", "sqlite://", group="database")
        db = session.Database(conf)
        self.addCleanup(db.dispose)
        self.assertEqual("sqlite", db.dialect)
        self.assertEqual(1, db.read(lambda c: c.scalar(sa.text("SELECT 1"))))


class ReachTest(base.TestCase):
    def test_a_server_that_is_not_there(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        naps = []
        self.useFixture(
            fixtures.MonkeyPatch("heat.db.session.time.sleep", naps.append)
        )
        for scheme in ("mysql+pymysql", "postgresql+psycopg2"):
            conf = cfg.ConfigOpts()
            conf([], default_config_files=[], default_config_dirs=[])
            conf.register_opts(options.database_opts, "database")
            conf.set_override("max_retries", 2, "database")
            conf.set_override("retry_interval", 7, "database")
            with self.subTest(scheme):
                naps.clear()
                self.assertRaises(
                    (sa.exc.OperationalError, db_exc.DBConnectionError),
                    session.Database,
                    conf,
                    f"{scheme}://nobody@127.0.0.1:{port}/none",
                )
                self.assertEqual([7, 7], naps)


class PauseTest(base.TestCase):
    def test_which_errors(self):
        class PgError(Exception):
            pgcode = None

        def pg(text="", code=None):
            error = PgError(text)
            error.pgcode = code
            return sa.exc.OperationalError("q", {}, error)

        def lite(text):
            return sa.exc.OperationalError("q", {}, Exception(text))

        gone = sa.exc.DBAPIError(
            "q", {}, Exception("x"), connection_invalidated=True
        )
        conflict = session.CONFLICT_PAUSE
        lost = session.CONNECTION_PAUSE
        for error, wanted in (
            (db_exc.DBDeadlock(), conflict),
            (db_exc.DBConnectionError(), lost),
            (db_exc.DBDuplicateEntry(), None),
            (pg(code="40001"), conflict),
            (pg(code="23505"), None),
            (pg("FATAL: the database system is starting up"), lost),
            (pg('connection to server at "h" failed'), lost),
            (lite("database is locked"), conflict),
            (lite("database table is locked: x"), conflict),
            (lite("no such column: connection to server"), None),
            (gone, lost),
            (KeyError("deadlock"), None),
        ):
            with self.subTest(error=error):
                self.assertEqual(wanted, session._pause_after(error))
