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

"""UPDATE and DELETE for several at once; see :mod:`.plural`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import operators

from heat.db import alike
from heat.db.alike import Apart, Given, Values, Written


@dataclasses.dataclass(frozen=True)
class _Key:
    """The part of a condition that names rows by a unique key.

    :ivar columns: of it
    :ivar clauses: it
    :ivar listed: the parameter that lists several, if one does
    """

    columns: frozenset[str]
    clauses: tuple[sa.ColumnElement[bool], ...]
    listed: str | None

    def expects(self, given: Values) -> int:
        """How many rows it names."""
        return 1 if self.listed is None else len(set(given[self.listed]))


def update(
    conn: sa.Connection, statement: sa.Update, given: Sequence[Given]
) -> list[Any] | None:
    """As :func:`heat.db.plural.run`; None: each has to run it for himself."""
    names, key = alike.names_of(given), _key(statement)
    if names is None or key is None or not _is_direct(statement):
        return None
    if not key.columns.isdisjoint(_written(statement, names)):
        return None
    first, same = alike.dicts(given)[0], alike.common(names, given)
    query = _updating(statement, names, same, alike.size(given))
    values = alike.numbered(given) | {name: first[name] for name in same}
    expected = [key.expects(each) for each in alike.dicts(given)]
    if conn.execute(query, values).rowcount != sum(expected):
        # Some row is not as it was expected; or two of them write one.
        raise Apart
    return [Written(count) for count in expected]


# With what it is compiled to, one for 16 takes 200 KiB; a group needs some 60.
@functools.lru_cache(maxsize=192)
def _updating(
    statement: sa.Update,
    names: frozenset[str],
    same: frozenset[str],
    count: int,
) -> sa.Update:
    """The statement for so many; each row takes the values of whose it is.

    :param names: its parameters
    :param same: those of them that have one value for all
    """
    table, condition = statement.table, statement.whereclause
    key = _key(statement)
    assert key is not None and condition is not None  # noqa: S101 - seen
    written = _written(statement, names)
    is_its = [
        sa.and_(*(alike.for_one(each, names, which) for each in key.clauses))
        for which in range(count)
    ]

    def of_each(value: Any) -> Any:
        told = {each.key for each in alike.bound(value)} & names
        if told <= same:
            return value
        return sa.case(
            *(
                (is_its[which], alike.for_one(value, names - same, which))
                for which in range(count)
            )
        )

    return (
        sa.update(table)
        .where(
            sa.or_(
                *(
                    alike.for_one(condition, names, which)
                    for which in range(count)
                )
            )
        )
        .ordered_values(
            *((table.c[name], of_each(told)) for name, told in written.items())
        )
    )


def _written(statement: sa.Update, names: frozenset[str]) -> dict[str, Any]:
    """What a statement writes, by column.

    :param names: its parameters: those that it does not mention are columns
    """
    table = statement.table
    found = {
        name: _typed(value, table.c[name])
        for name, value in alike.set_by(statement)
    }
    bound = {each.key for each in alike.bound(statement)}
    for name in sorted(names - bound):
        found[name] = sa.bindparam(name, type_=table.c[name].type)
    return found


def _typed(value: Any, column: sa.ColumnElement[Any]) -> Any:
    """What is written, with the type of its column.

    SQLAlchemy gives a parameter that type where it stands alone, not where
    it is one of several cases.
    """
    if not (isinstance(value, sa.BindParameter) and value.required):
        return value
    if not isinstance(value.type, sa.types.NullType):
        return value
    return sa.bindparam(value.key, type_=column.type)


@functools.lru_cache(maxsize=512)
def _is_direct(statement: sa.Update) -> bool:
    """Whether what is written depends on no other column: MariaDB sees
    those that were set before, in their order."""
    return not any(
        each.name != name
        for name, value in alike.set_by(statement)
        for each in alike.columns_of(value)
    )


def delete(
    conn: sa.Connection, statement: sa.Delete, given: Sequence[Given]
) -> list[Any] | None:
    """As :func:`update`."""
    names = alike.names_of(given)
    if names is None or statement.whereclause is None:
        return None
    conn.execute(
        _deleting(statement, names, alike.size(given)), alike.numbered(given)
    )
    return [Written() for _each in given]


@functools.lru_cache(maxsize=128)
def _deleting(
    statement: sa.Delete, names: frozenset[str], count: int
) -> sa.Delete:
    condition = statement.whereclause
    assert condition is not None  # noqa: S101 - seen
    return sa.delete(statement.table).where(
        sa.or_(
            *(alike.for_one(condition, names, which) for which in range(count))
        )
    )


@functools.lru_cache(maxsize=1024)
def _key(statement: sa.Update) -> _Key | None:
    """By which unique key a statement names its rows; None: by none."""
    found: dict[str, tuple[sa.ColumnElement[bool], str | None]] = {}
    for clause in alike.conjuncts(statement.whereclause):
        named = _names_by(clause, statement.table)
        if named is not None:
            found.setdefault(named[0], (clause, named[1]))
    for columns in alike.unique_keys(statement.table):
        if columns <= found.keys():
            its = [found[name] for name in sorted(columns)]
            listed = [name for _clause, name in its if name is not None]
            if len(listed) < 2:
                clauses = tuple(clause for clause, _name in its)
                return _Key(columns, clauses, listed[0] if listed else None)
    return None


def _names_by(
    clause: sa.ColumnElement[bool], table: Any
) -> tuple[str, str | None] | None:
    """The column that a condition gives the value of, and the parameter if
    that lists several."""
    if not isinstance(clause, sa.BinaryExpression):
        return None
    column, value = clause.left, clause.right
    if getattr(column, "table", None) is not table:
        return None
    name = str(getattr(column, "name", ""))
    given = isinstance(value, sa.BindParameter)
    if given and clause.operator is operators.eq:
        return name, None
    if given and clause.operator is operators.in_op and value.expanding:
        return name, value.key
    # Many rows may have no value at all.
    truth = isinstance(value, (sa.True_, sa.False_))
    return (name, None) if truth and clause.operator is operators.is_ else None
