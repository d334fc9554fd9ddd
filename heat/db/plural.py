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

"""One statement in place of several that are alike.

Where several works share a transaction (:mod:`.together`), each of them is
about to run the same statement, with other values. That is put together here
as one statement for all, made once for each number of them: what takes time
is a statement, not a row. Each gets the answer that it would have had alone.

What can't be told apart in the answer of one, such as a row that was not as
somebody expected, raises :class:`Apart`. How a query is put together is seen
in it, if it asks for rows by an id; of others :func:`ask_for_all` says it.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import result as sa_result
from sqlalchemy.sql import operators, visitors

from heat.db import alike, plural_writes
from heat.db.alike import Apart, Given, Values, Written

__all__ = ["WHOSE", "Apart", "ask_for_all", "run"]

#: The last column of a query for all: whose a row is.
WHOSE = "whose_of_all"


def run(
    conn: sa.Connection, statement: sa.Executable, given: Sequence[Given]
) -> list[Any]:
    """Run a statement as often as there are values for it.

    :param given: of each of those who run it
    :returns: the result of each
    :raises Apart: see above; the transaction must not commit then
    """
    if len(given) > 1:
        for kind, plural in _KINDS:
            if isinstance(statement, kind):
                found = plural(conn, statement, given)
                if found is not None:
                    return found
    return [conn.execute(statement, each) for each in given]


# -- INSERT -------------------------------------------------------------------


def _insert(
    conn: sa.Connection, statement: sa.Insert, given: Sequence[Given]
) -> list[Any] | None:
    many = [
        [each] if isinstance(each, Mapping) else list(each) for each in given
    ]
    rows = [row for each in many for row in each]
    if len({frozenset(row) for row in rows}) > 1 or not rows[0]:
        return None
    if statement.returning_column_descriptions:
        return _returned(conn, statement, many, rows)
    keys = alike.unique_keys(statement.table)[0]
    if isinstance(given[0], Mapping) and not keys.issubset(rows[0]):
        return _numbered(conn, statement, rows)
    conn.execute(statement, rows)
    return [Written() for _each in given]


def _returned(
    conn: sa.Connection,
    statement: sa.Insert,
    many: Sequence[Sequence[Values]],
    rows: Sequence[Values],
) -> list[Any] | None:
    result = conn.execute(statement, rows)
    keys, told = _keys_of(result.keys()), iter(result.all())
    return [
        _result(keys, [tuple(next(told)) for _row in each]) for each in many
    ]


def _numbered(
    conn: sa.Connection, statement: sa.Insert, rows: Sequence[Values]
) -> list[Any] | None:
    """Insert rows of which each is to be told its number."""
    if not conn.dialect.insert_executemany_returning:
        # MySQL proper has no RETURNING.
        return None
    keys = conn.execute(_numbering(statement), rows).all()
    return [Written(key=tuple(key)) for key in keys]


@functools.lru_cache(maxsize=256)
def _numbering(statement: sa.Insert) -> sa.Insert:
    table: Any = statement.table
    keys = table.primary_key.columns
    return statement.returning(*keys, sort_by_parameter_order=True)


# -- SELECT -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Split:
    """How the rows of many are told apart.

    :ivar query: gives the rows of all, that by which they differ last
    :ivar name: the parameter in which those who run it differ
    :ivar listed: whether it is a list of values
    :ivar gathers: parameters that are lists of the values of all, as what
        they say of one is true of the others too
    """

    query: sa.Select[Any]
    name: str
    listed: bool
    gathers: frozenset[str] = frozenset()

    def of(self, given: Values) -> Sequence[Any]:
        """The values of one of them."""
        return given[self.name] if self.listed else [given[self.name]]

    def values(self, given: Sequence[Values]) -> dict[str, Any]:
        """Of all but that by which they are told apart."""
        told = dict(given[0])
        for name in self.gathers:
            told[name] = sorted({each[name] for each in given})
        return told


_SAID: dict[sa.Select[Any], _Split] = {}


def ask_for_all(
    statement: sa.Select[Any],
    query: sa.Select[Any],
    name: str,
    *,
    listed: bool,
    gathers: Iterable[str] = (),
) -> None:
    """Say how a query is run for several, where that can't be seen in it.

    :param query: gives the rows of all, in the same order, and after the
        same columns :data:`WHOSE`: the value of ``name`` to which a row
        belongs. It takes lists of values for ``name`` and ``gathers``
    :param name: the parameter in which those who run it differ
    :param listed: whether that is a list in ``statement`` too
    :param gathers: other parameters in which they may differ: what others
        give there must not change the rows of one
    """
    _SAID[statement] = _Split(query, name, listed, frozenset(gathers))


def _select(
    conn: sa.Connection, statement: sa.Select[Any], given: Sequence[Given]
) -> list[Any] | None:
    names = alike.names_of(given)
    if names is None and any(given):
        return None
    first: Any = given[0]
    differ = (names or frozenset()) - alike.common(names, given)
    if not differ:
        result = conn.execute(statement, first)
        keys, rows = _keys_of(result.keys()), [tuple(row) for row in result]
        return [_result(keys, copy.deepcopy(rows)) for _each in given]
    split = _SAID.get(statement)
    if split is None and len(differ) == 1:
        split = _split(statement, *differ)
    if split is None or not differ <= {split.name} | split.gathers:
        return None
    return _dealt(conn, split, alike.dicts(given))


def _dealt(
    conn: sa.Connection, split: _Split, given: Sequence[Values]
) -> list[Any]:
    """Run it for all, and give each the rows with its values."""
    asked = [value for each in given for value in set(split.of(each))]
    wanted = sorted(set(asked))
    values = {**split.values(given), split.name: wanted}
    result = conn.execute(split.query, values)
    keys = _keys_of(list(result.keys())[:-1])
    found: dict[Any, list[tuple[int, tuple[Any, ...]]]] = {}
    for place, row in enumerate(result):
        found.setdefault(row[-1], []).append((place, tuple(row[:-1])))
    answers = []
    for each in given:
        rows = [
            row
            for value in set(split.of(each))
            for row in found.get(value, ())
        ]
        rows.sort(key=lambda found: found[0])
        if len(wanted) < len(asked):
            # What is in a row is everybody's own.
            rows = copy.deepcopy(rows)
        answers.append(_result(keys, [row for _at, row in rows]))
    return answers


@functools.lru_cache(maxsize=512)
def _split(statement: sa.Select[Any], name: str) -> _Split | None:
    """How to run a statement for several values of one parameter.

    None: it can't be told whose a row would be, or it would be another one
    if it were not for the rows of the others.
    """
    uses = [each for each in alike.bound(statement) if each.key == name]
    if len(uses) != 1 or not _is_plain(statement):
        return None
    for clause in alike.conjuncts(statement.whereclause):
        column = _identifier(clause)
        if column is None or clause.right is not uses[0]:
            continue
        listed: sa.BindParameter[Any]
        listed = sa.bindparam(name, type_=column.type, expanding=True)
        among = column.in_(listed)

        def replace(
            element: Any,
            clause: Any = clause,
            among: Any = among,
            **_more: Any,
        ) -> Any:
            return among if element is clause else None

        query: Any = visitors.replacement_traverse(statement, {}, replace)
        return _Split(
            query.add_columns(column.label(WHOSE)), name, uses[0].expanding
        )
    return None


def _is_plain(statement: sa.Select[Any]) -> bool:
    """Whether more rows leave each of its rows as it is."""
    counted = (
        statement._limit_clause is not None  # noqa: SLF001 - not public
        or bool(statement._group_by_clauses)  # noqa: SLF001
    )
    told = [each["expr"] for each in statement.column_descriptions]
    return not counted and not any(
        isinstance(each, sa.FunctionElement) and each.name != "coalesce"
        for column in told
        for each in visitors.iterate(column)
    )


def _identifier(clause: Any) -> sa.Column[Any] | None:
    """The column of which a condition gives the value, if that is an id of
    ours: of names the database may find equal what is not."""
    if not isinstance(clause, sa.BinaryExpression):
        return None
    column = clause.left
    if clause.operator not in (operators.eq, operators.in_op):
        return None
    if not isinstance(column, sa.Column):
        return None
    is_uuid = isinstance(column.type, sa.String) and column.type.length == 36
    return column if is_uuid or isinstance(column.type, sa.Integer) else None


def _keys_of(names: Iterable[str]) -> sa_result.SimpleResultMetaData:
    return sa_result.SimpleResultMetaData(list(names))


def _result(
    keys: sa_result.SimpleResultMetaData, rows: Sequence[tuple[Any, ...]]
) -> sa.Result[Any]:
    return sa_result.IteratorResult(keys, iter(rows))


_Plural = Callable[[sa.Connection, Any, Sequence[Given]], list[Any] | None]
_KINDS: tuple[tuple[type, _Plural], ...] = (
    (sa.Insert, _insert),
    (sa.Select, _select),
    (sa.Update, plural_writes.update),
    (sa.Delete, plural_writes.delete),
)
