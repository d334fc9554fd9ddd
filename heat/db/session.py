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

"""Transactions: where they begin and end, and when they are tried again.

Knows engines, pools and errors of the three databases; knows no table.

A *work* is a function of a connection. All of it runs in one transaction,
and all of it runs again when the database asks for that, so a work changes
nothing but the database. Whatever identifies its outcome (a traversal id,
a claim id) is made outside: when the connection breaks during COMMIT nobody
can tell whether the transaction took effect, and only a work that
recognises its own marks is right in both cases.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from oslo_config import cfg
from oslo_db import exception as db_exc
from oslo_db import options
from oslo_db.sqlalchemy import enginefacade, exc_filters
from sqlalchemy import event
from sqlalchemy import pool as sa_pool

from heat.common import crypt
from heat.db import pool, secrets, together
from heat.db.together import Work

LOG = logging.getLogger(__name__)

T = TypeVar("T")
_Connect = Callable[[], contextlib.AbstractContextManager[sa.Connection]]

#: Where a connection keeps what its transaction wants to be told of.
_JOURNAL = "heat_journal"
_AT_END = "heat_at_end"

#: How often a work is tried before its error goes to the caller.
ATTEMPTS = 10

#: Seconds before the second attempt, and the most between two attempts.
#: Conflicts clear in milliseconds; a database that restarts takes longer,
#: and one that is away for ten seconds must not fail a stack.
CONFLICT_PAUSE = (0.01, 1.0)
CONNECTION_PAUSE = (0.25, 3.0)

#: Connections kept open for each process, unless configured.
POOL_SIZE = 20

_SQLITE_BUSY_SECONDS = 30

# The [database] options that the engine façade takes, handed over one by
# one: the façade itself would read the process-wide configuration.
_FACADE_OPTIONS = (
    "connection_debug",
    "connection_parameters",
    "connection_recycle_time",
    "connection_trace",
    "max_overflow",
    "max_pool_size",
    "mysql_sql_mode",
    "mysql_wsrep_sync_wait",
    "pool_timeout",
)

_PG_CONFLICTS = frozenset({"40001", "40P01", "55P03"})
_PG_UNREACHABLE = (
    "connection to server",
    "could not connect",
    "the database system is",
    "connection already closed",
    "server closed the connection",
    "terminating connection",
)


class Database:
    """One database, its pool of connections and its transactions.

    :param conf: configuration with the ``[database]`` group of oslo.db
    :param url: SQLAlchemy URL; wins over ``conf.database.connection``.
        ``sqlite://`` is a database in memory with one connection, whose
        users wait for each other.

    Open it after a fork, never before.
    """

    def __init__(
        self, conf: cfg.ConfigOpts | None = None, url: str | None = None
    ) -> None:
        conf = _with_database_options(conf)
        given = url or conf.database.connection
        if not given:
            raise ValueError(
                "No database is configured: set [database] connection."
            )
        self.url = _normalised(sa.make_url(given))
        #: called with what a transaction has noted (:func:`note`), after its
        #: commit and in its thread; must neither wait nor raise
        self.committed: Callable[[list[Any]], None] | None = None
        self._local = threading.local()
        self._writers: contextlib.AbstractContextManager[Any]
        self._readers: contextlib.AbstractContextManager[Any]
        self._writers = self._readers = contextlib.nullcontext()
        if self.url.get_backend_name() == "sqlite":
            # Writers of one process queue here: SQLite's own way to wait
            # is to sleep and look again, ever longer and in no order.
            self._writers = threading.Lock()
            if _in_memory(self.url):
                self._readers = self._writers
            self.engine = _sqlite_engine(self.url, conf)
        else:
            self.engine = _server_engine(self.url, conf)
        self.engine = self.engine.execution_options(
            **{secrets.OPTION: crypt.from_conf(conf)}
        )
        self._reading = self.engine.execution_options(
            heat_reading=True, postgresql_readonly=True
        )
        self._sharing = together.Sharing(
            lambda work: self.run(work), self.together
        )
        self._looking = together.Sharing(
            lambda work: self.read(work), self._look
        )

    @staticmethod
    def url_for_sqlite(path: str) -> str:
        """The URL of the SQLite database in the file ``path``."""
        return sa.URL.create("sqlite", database=path).render_as_string(
            hide_password=False
        )

    @property
    def dialect(self) -> str:
        """``sqlite``, ``mysql`` (MariaDB too) or ``postgresql``."""
        return self.engine.dialect.name

    @property
    def in_transaction(self) -> bool:
        """Whether the calling thread is inside :meth:`run` or :meth:`read`.

        No cloud call may be made then.
        """
        return bool(getattr(self._local, "busy", False))

    def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Do ``work`` in one write transaction and commit.

        Tried again, as a whole and at most :data:`ATTEMPTS` times, on
        deadlock, serialisation failure, lock wait timeout, lost connection
        and SQLite's "database is locked"; any other exception rolls back
        and propagates.
        """
        return self._attempt(self.engine.begin, self._writers, work)

    def share(
        self,
        work: Callable[[sa.Connection], T],
        kind: str,
        owns: str,
        relies: str | None = None,
    ) -> T:
        """As :meth:`run`, perhaps in one transaction with other threads.

        :param kind: works of one kind run mostly the same statements
        :param owns: id of the one stack that the work writes, and what it
            reads of others it reads after it has written its own
        :param relies: id of another stack, none of whose shared works may
            be in the same transaction
        """
        if self.in_transaction:
            return self.run(work)  # which says what is wrong
        made: T = self._sharing.run(Work(work, kind, owns, relies))
        return made

    def together(self, works: Sequence[Work]) -> None:
        """Do works in one transaction, and set what each has made.

        It is tried once: whatever goes wrong, each can be done alone.
        """
        self._side_by_side(works, self.engine.begin, self._writers)

    def _look(self, works: Sequence[Work]) -> None:
        """As :meth:`together`; they only read."""
        self._side_by_side(works, self._reading.connect, self._readers)

    def _side_by_side(
        self,
        works: Sequence[Work],
        connect: _Connect,
        turn: contextlib.AbstractContextManager[Any],
    ) -> None:
        sides = [functools.partial(_one_side, work) for work in works]
        self._local.busy = True
        try:
            with turn, connect() as conn:
                made = together.side_by_side(conn, sides)
        finally:
            self._local.busy = False
        for work, its in zip(works, made, strict=True):
            work.made = its
            if work.journal and self.committed is not None:
                self.committed(work.journal)

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do ``work``, which only reads, with the retries of :meth:`run`.

        On SQLite the statements see one snapshot; elsewhere each statement
        sees what was committed before it.
        """
        # Leaving it ends it: a commit would be one more round trip.
        return self._attempt(self._reading.connect, self._readers, work)

    def look(self, work: Callable[[sa.Connection], T], kind: str) -> T:
        """As :meth:`read`, perhaps in one transaction with other threads.

        :param kind: as that of :meth:`share`
        """
        if self.in_transaction:
            return self.read(work)  # which says what is wrong
        made: T = self._looking.run(Work(work, kind))
        return made

    def dispose(self) -> None:
        """Close all idle connections."""
        self.engine.dispose()

    def _attempt(
        self,
        connect: _Connect,
        turn: contextlib.AbstractContextManager[Any],
        work: Callable[[sa.Connection], T],
    ) -> T:
        if self.in_transaction:
            raise RuntimeError(
                "A transaction was begun inside a transaction; hand the "
                "connection down instead."
            )
        for attempt in range(1, ATTEMPTS + 1):
            self._local.busy = True
            try:
                with turn, connect() as conn:
                    journal = conn.info[_JOURNAL] = []
                    with _ending(conn):
                        made = work(conn)
                if journal and self.committed is not None:
                    self.committed(journal)
                return made
            except Exception as error:
                pause = _pause_after(error)
                if pause is None or attempt == ATTEMPTS:
                    raise
                LOG.debug(
                    "transaction attempt %d of %d failed: %s",
                    attempt,
                    ATTEMPTS,
                    error,
                )
            finally:
                self._local.busy = False
            _sleep(attempt, *pause)
        raise AssertionError("unreachable")


def passes(error: Exception) -> bool:
    """Whether what failed with this error may go well another time."""
    return _pause_after(error) is not None


def note(conn: sa.Connection, entries: Iterable[Any]) -> None:
    """Tell :attr:`Database.committed` of these, if it comes to a commit.

    Told once at most: when the connection breaks during COMMIT nobody is.
    """
    journal = conn.info.get(_JOURNAL)
    if journal is not None:
        journal.extend(entries)


def at_end(
    conn: sa.Connection,
    write: Callable[[sa.Connection, list[T]], None],
    items: Iterable[T],
) -> None:
    """Have items written before the transaction commits, all that there are
    of a kind at once: nothing in it may ask for them."""
    waiting = conn.info.get(_AT_END)
    if waiting is None:
        write(conn, list(items))
    else:
        waiting.setdefault(write, []).extend(items)


@contextlib.contextmanager
def _ending(conn: sa.Connection) -> Iterator[None]:
    """Write what :func:`at_end` was given; a failed transaction forgets it."""
    # A connection that is lost has none to be asked for.
    info = conn.info
    waiting = info[_AT_END] = {}
    try:
        yield
        for write, items in waiting.items():
            write(conn, items)
    finally:
        info.pop(_AT_END, None)


def _one_side(work: Work, share: Any) -> Any:
    """Do one of several works that share a transaction."""
    share.info[_JOURNAL] = work.journal
    with _ending(share):
        return work.do(share)


def _sleep(attempt: int, first: float, most: float) -> None:
    # Jitter keeps those that met once from meeting again.
    jitter = random.uniform(0.75, 1.25)  # noqa: S311 - no secret
    time.sleep(min(first * 2 ** (attempt - 1), most) * jitter)


def _pause_after(error: Exception) -> tuple[float, float] | None:
    """How to wait before a retry (first, most seconds); None: no retry."""
    if isinstance(error, db_exc.DBDeadlock):
        return CONFLICT_PAUSE
    if isinstance(error, db_exc.DBConnectionError):
        return CONNECTION_PAUSE
    if not isinstance(error, sa.exc.DBAPIError):
        return None
    if error.connection_invalidated:
        return CONNECTION_PAUSE
    text = str(error.orig).lower()
    code = getattr(error.orig, "pgcode", None)
    if code in _PG_CONFLICTS or "is locked" in text:
        return CONFLICT_PAUSE
    if hasattr(error.orig, "pgcode") and any(
        part in text for part in _PG_UNREACHABLE
    ):
        return CONNECTION_PAUSE
    return None


def _with_database_options(conf: cfg.ConfigOpts | None) -> cfg.ConfigOpts:
    if conf is None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
    conf.register_opts(options.database_opts, "database")
    conf.set_default("max_pool_size", POOL_SIZE, group="database")
    return conf


def _normalised(url: sa.URL) -> sa.URL:
    driver = url.drivername
    if driver.startswith("mariadb"):
        # oslo.db knows its errors under this name only.
        driver = driver.replace("mariadb", "mysql", 1)
    if driver in ("mysql", "postgresql", "postgres"):
        driver = {"mysql": "mysql+pymysql"}.get(driver, "postgresql+psycopg2")
    url = url.set(drivername=driver)
    if driver.startswith("mysql") and url.query.get("charset") in (
        None,
        "utf8",
        "utf8mb3",
    ):
        # The three-byte sets can't hold all that users may write.
        url = url.update_query_dict({"charset": "utf8mb4"})
    return url


def _in_memory(url: sa.URL) -> bool:
    return url.database in (None, "", ":memory:")


def _server_engine(url: sa.URL, conf: cfg.ConfigOpts) -> sa.Engine:
    context = enginefacade.transaction_context()
    context.configure(
        connection=pool.unasked(url).render_as_string(hide_password=False),
        # A replica lags behind: the engine reads only what it wrote.
        slave_connection=None,
        # It would try a connection before ours are configured, and not
        # again when PostgreSQL is not there yet.
        max_retries=0,
        **{
            name: conf.database[name]
            for name in _FACADE_OPTIONS
            if name in conf.database
        },
    )
    engine: sa.Engine = context.writer.get_engine()
    _read_committed(engine)
    _reach(engine, conf.database.max_retries, conf.database.retry_interval)
    return engine


def _reach(engine: sa.Engine, retries: int, interval: float) -> None:
    """Wait for a server that is not there yet.

    :param retries: how often to look again; -1: until it is there
    :param interval: seconds between two looks
    """
    left = retries
    while True:
        try:
            engine.connect().close()
        except Exception as error:
            if left == 0 or _pause_after(error) is not CONNECTION_PAUSE:
                raise
            LOG.warning(
                "The database can't be reached; next attempt in %s seconds.",
                interval,
            )
        else:
            return
        left -= 1
        time.sleep(interval)


def _read_committed(engine: sa.Engine) -> None:
    """Make READ COMMITTED the isolation of every connection.

    Set once for each connection: the engine option for it costs two round
    trips in every transaction on MariaDB.
    """

    def on_connect(connection: Any, record: Any) -> None:
        if engine.dialect.name == "postgresql":
            connection.set_session(isolation_level="READ COMMITTED")
            return
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
            )

    event.listen(engine, "connect", on_connect)


def _sqlite_engine(url: sa.URL, conf: cfg.ConfigOpts) -> sa.Engine:
    """An engine of our own: oslo.db's opens the file for every transaction
    and begins each in a way that fails under concurrent writers."""
    memory = _in_memory(url)
    arguments: dict[str, Any] = {"poolclass": sa_pool.StaticPool}
    if not memory:
        arguments = {
            "poolclass": sa_pool.QueuePool,
            "pool_size": conf.database.max_pool_size or POOL_SIZE,
            "max_overflow": conf.database.max_overflow or 0,
        }
    engine = sa.create_engine(
        url,
        connect_args={
            "check_same_thread": False,
            "timeout": _SQLITE_BUSY_SECONDS,
            # No transaction control by the driver: it begins too late.
            "isolation_level": None,
        },
        **arguments,
    )
    synchronous = "NORMAL" if conf.database.sqlite_synchronous else "OFF"

    def on_connect(connection: Any, record: Any) -> None:
        with contextlib.closing(connection.cursor()) as cursor:
            if not memory:
                cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute(f"PRAGMA synchronous = {synchronous}")

    def on_begin(conn: sa.Connection) -> None:
        # A transaction that begins as a reader and writes later fails at
        # once when another has written meanwhile, whatever the timeout.
        reading = conn.get_execution_options().get("heat_reading", False)
        conn.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)
    exc_filters.register_engine(engine)
    return engine
