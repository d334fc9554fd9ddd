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
"""Measures how N producers tell one consumer that they are done.

    PYTHONPATH=. python benchmarks/sync_points.py -- sqlite: mysql+pymysql://...

Two ways are compared on the same database, one after the other:

``cell``
    the classic one: all inputs of a SyncPoint stand in one JSON cell, which
    is read, added to and written back if its ``atomic_key`` is still the one
    that was read, and read again if not;
``counter``
    ours: what a producer tells is its own row, and its number is taken off a
    counter of the consumer, in the same transaction.

Both write the producers' own resource rows, as an engine has to; for the
cell that is a transaction before, as it must not be repeated with the cell.

Each with one transaction a producer, and with producers that end together
written in one (a group). Every run checks that the consumer was fired
exactly once and has every input. Times are seconds of wall clock.

A new database is made for each and dropped afterwards; the address must be
of a user that may create databases. ``sqlite:`` is a file in a temporary
directory.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence

import sqlalchemy as sa

from heat.db import models, resources, sync_points
from heat.db.session import Database
from heat.tests.unit.db import backends

CONSUMER = 1_000_000

Batch = Sequence[int]


@dataclasses.dataclass
class Run:
    """One measurement.

    :ivar fired: how often the consumer was found ready
    :ivar tries: how often a write had to be tried
    """

    seconds: float = 0.0
    fired: int = 0
    tries: int = 0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def add(self, tries: int, fired: bool) -> None:
        with self.lock:
            self.tries += tries
            self.fired += fired


def told(sender: int) -> dict[str, object]:
    """What a producer tells: about what a server with a port tells."""
    return {
        "id": sender,
        "reference_id": str(uuid.uuid4()),
        "attrs": {"first_address": f"10.0.{sender % 250}.7"},
        "status": "COMPLETE",
    }


def insert_rows(conn: sa.Connection, stack_id: str, count: int) -> list[int]:
    """The rows of producers that are at work; their ids."""
    return resources.insert_many(
        conn,
        [
            {
                "uuid": str(uuid.uuid4()),
                "name": f"r{number}",
                "stack_id": stack_id,
                "action": "CREATE",
                "status": "IN_PROGRESS",
                "external": False,
                "stray": False,
            }
            for number in range(count)
        ],
    )


def write_rows(conn: sa.Connection, ids: Sequence[int]) -> None:
    """Producers have ended: their own rows."""
    table = models.resource
    for each in ids:
        values = told(each)
        conn.execute(
            sa.update(table)
            .where(table.c.id == each)
            .values(
                status="COMPLETE",
                reference_id=values["reference_id"],
                rsrc_metadata=values["attrs"],
            )
        )


# -- one JSON cell, compare and set -------------------------------------------

_point = models.sync_point


class Cell:
    """All inputs in one cell."""

    name = "cell"

    def __init__(self, db: Database, producers: int) -> None:
        self.db = db
        self.producers = producers
        self.stack, self.traversal = str(uuid.uuid4()), str(uuid.uuid4())
        self.ids: list[int] = []
        db.run(self._prepare)

    def _prepare(self, conn: sa.Connection) -> None:
        self.ids = insert_rows(conn, self.stack, self.producers)
        conn.execute(
            sa.insert(_point).values(
                entity_id=str(CONSUMER),
                traversal_id=self.traversal,
                is_update=True,
                stack_id=self.stack,
                atomic_key=0,
                input_data={},
                remaining=self.producers,
                done=False,
            )
        )

    def end(self, batch: Batch, run: Run) -> None:
        """Producers end together."""
        ids = [self.ids[each] for each in batch]
        self.db.run(lambda conn: write_rows(conn, ids))
        news = {str(each): told(each) for each in batch}
        tries = 0
        while True:
            tries += 1
            known, key = self.db.read(self._read)
            known.update(news)
            if self.db.run(
                lambda conn, known=known, key=key: self._set(conn, known, key)
            ):
                run.add(tries, len(known) == self.producers)
                return

    def _here(self) -> sa.ColumnElement[bool]:
        return sa.and_(
            _point.c.entity_id == str(CONSUMER),
            _point.c.traversal_id == self.traversal,
            _point.c.is_update.is_(True),
        )

    def _read(self, conn: sa.Connection) -> tuple[dict[str, object], int]:
        row = conn.execute(
            sa.select(_point.c.input_data, _point.c.atomic_key).where(
                self._here()
            )
        ).one()
        return dict(row.input_data or {}), row.atomic_key

    def _set(
        self, conn: sa.Connection, data: dict[str, object], key: int
    ) -> bool:
        result = conn.execute(
            sa.update(_point)
            .where(self._here(), _point.c.atomic_key == key)
            .values(input_data=data, atomic_key=key + 1)
        )
        return bool(result.rowcount)

    def inputs(self) -> int:
        return len(self.db.read(self._read)[0])


# -- one row a sender, and a counter ------------------------------------------


class Rows:
    """What each tells in its own row; the consumer's counter goes down.

    The engine's own functions, but for what is told: a producer's resource
    row is the input.
    """

    name = "counter"

    def __init__(self, db: Database, producers: int) -> None:
        self.db = db
        self.producers = producers
        self.stack = str(uuid.uuid4())
        self.points = sync_points.Traversal(self.stack, str(uuid.uuid4()))
        self.ids: list[int] = []
        db.run(self._prepare)

    def _prepare(self, conn: sa.Connection) -> None:
        self.ids = insert_rows(conn, self.stack, self.producers)
        remaining = {(each, True): 0 for each in self.ids}
        remaining[(CONSUMER, True)] = self.producers
        sync_points.insert_many(conn, self.points, remaining)

    def end(self, batch: Batch, run: Run) -> None:
        """Producers end together."""
        fired = self.db.run(lambda conn: self._end(conn, batch))
        run.add(1, bool(fired))

    def _end(
        self, conn: sa.Connection, batch: Batch
    ) -> list[tuple[int, bool]]:
        ids = [self.ids[each] for each in batch]
        keys = [(each, True) for each in ids]
        done = sync_points.mark_done(conn, self.points, keys)
        write_rows(conn, ids)
        counts = Counter({(CONSUMER, True): len(done)})
        return sync_points.decrement(conn, self.points, counts)

    def inputs(self) -> int:
        table = models.resource
        return int(
            self.db.read(
                lambda conn: conn.execute(
                    sa.select(sa.func.count())
                    .select_from(table)
                    .where(
                        table.c.stack_id == self.stack,
                        table.c.status == "COMPLETE",
                        table.c.reference_id.is_not(None),
                    )
                ).scalar_one()
            )
        )


# -- measuring ----------------------------------------------------------------

Way = Callable[[Database, int], Cell | Rows]


def measure(
    db: Database, way: Way, producers: int, threads: int, group: int
) -> Run:
    """Let all producers end, on so many threads.

    :raises AssertionError: the consumer was not fired once, with everything
    """
    made = way(db, producers)
    batches = [
        range(start, min(start + group, producers))
        for start in range(0, producers, group)
    ]
    run = Run()
    start = threading.Barrier(threads + 1)

    def work(mine: Sequence[Batch]) -> None:
        start.wait()
        for batch in mine:
            made.end(batch, run)

    workers = [
        threading.Thread(target=work, args=(batches[number::threads],))
        for number in range(threads)
    ]
    for each in workers:
        each.start()
    start.wait()
    began = time.perf_counter()
    for each in workers:
        each.join()
    run.seconds = time.perf_counter() - began
    if run.fired != 1 or made.inputs() != producers:
        raise AssertionError(
            f"{made.name}: fired {run.fired} times, "
            f"{made.inputs()} of {producers} inputs"
        )
    return run


def compare(
    db: Database, producers: int, threads: int, group: int, repeat: int
) -> tuple[list[Run], list[Run]]:
    """Both ways, in turns, so that what else the machine does hits both."""
    cell, rows = [], []
    for _round in range(repeat):
        cell.append(measure(db, Cell, producers, threads, group))
        rows.append(measure(db, Rows, producers, threads, group))
    return cell, rows


def database(url: str) -> backends.Scratch:
    """A new database at an address."""
    kind = sa.make_url(url).get_backend_name() if url != "sqlite:" else ""
    if not kind:
        return backends.Scratch(backends.SQLITE)
    backend = backends.MYSQL if kind == "mysql" else backends.POSTGRESQL
    os.environ[backend.variable or ""] = url
    return backends.Scratch(backend)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("urls", nargs="*", default=["sqlite:"])
    parser.add_argument("--producers", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--groups", type=int, nargs="+", default=[1, 50])
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    print(
        f"{args.producers} producers, {args.threads} threads, "
        f"median of {args.repeat}"
    )
    line = "{:12} {:>6} {:>10} {:>10} {:>8} {:>12}"
    print(
        line.format(
            "database", "group", "cell s", "counter s", "ratio", "cell tries"
        )
    )
    for url in args.urls:
        with database(url) as scratch:
            db = scratch.db
            for group in args.groups:
                cell, rows = compare(
                    db, args.producers, args.threads, group, args.repeat
                )
                slow = statistics.median(each.seconds for each in cell)
                fast = statistics.median(each.seconds for each in rows)
                tries = statistics.median(each.tries for each in cell)
                print(
                    line.format(
                        db.dialect,
                        group,
                        f"{slow:.2f}",
                        f"{fast:.2f}",
                        f"{slow / fast:.1f}",
                        f"{tries:.0f}",
                    ),
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
