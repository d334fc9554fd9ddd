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

"""Statements over many rows, cut to what every database accepts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

T = TypeVar("T")

#: Rows, or values of an IN, in one statement.
CHUNK = 500


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Cut a sequence into pieces of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


class Among:
    """A statement about the rows that have one of some values.

    Put together once for a single value and once for any number: a list has
    to be written into the text each time it runs, which takes as long as all
    the rest of a statement about one row.

    :param column: what has one of the values
    :param make: puts the statement together around that condition
    """

    def __init__(
        self,
        column: sa.ColumnElement[Any],
        make: Callable[[sa.ColumnElement[bool]], sa.Executable],
    ) -> None:
        self._one = make(column == sa.bindparam("the_one"))
        self._any = make(
            column.in_(sa.bindparam("any_of_these", expanding=True))
        )

    def run(
        self,
        conn: sa.Connection,
        values: Sequence[Any],
        **given: Any,
    ) -> sa.CursorResult[Any]:
        """Run it for these values.

        :param given: its other parameters, and columns that it writes
        """
        if len(values) == 1:
            return conn.execute(self._one, {**given, "the_one": values[0]})
        return conn.execute(self._any, {**given, "any_of_these": values})


@functools.cache
def inserting(table: sa.Table) -> sa.Insert:
    """Made once: to put a statement together, and to find what it was
    compiled to before, takes longer than to run it."""
    return sa.insert(table)


def insert_one(
    conn: sa.Connection, table: sa.Table, values: Mapping[str, Any]
) -> int:
    """Insert a row and return the number the database gave it."""
    result = conn.execute(inserting(table), dict(values))
    (key,) = result.inserted_primary_key or (None,)
    if key is None:
        raise RuntimeError(f"{table.name} gave a new row no id")
    return int(key)


def insert(
    conn: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows by as few statements as possible.

    A key that only some rows have is NULL in the others.
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    for chunk in chunks(rows):
        conn.execute(
            inserting(table),
            [{key: row.get(key) for key in keys} for row in chunk],
        )
