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

"""What statements that several run have in common, and what they differ in.

Used by :mod:`.plural`. Those who run a statement are counted from 0; the
parameters of each are named after his number where they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import operators, visitors

Values = Mapping[str, Any]
#: What a statement is given: values, or, to insert several rows, many.
Given = Values | Sequence[Values]


class Apart(Exception):
    """The works that share a transaction have to be done one by one."""


class Written:
    """The answer to an INSERT, UPDATE or DELETE, as far as it is known.

    It stands for a CursorResult: ``rowcount`` and ``inserted_primary_key``.
    """

    def __init__(
        self, count: int | None = None, key: tuple[Any, ...] | None = None
    ) -> None:
        self._count = count
        self.inserted_primary_key = key

    @property
    def rowcount(self) -> int:
        """How many rows were found.

        :raises Apart: only the sum is known
        """
        if self._count is None:
            raise Apart
        return self._count


# -- values -------------------------------------------------------------------


def names_of(given: Sequence[Given]) -> frozenset[str] | None:
    """The parameters of all; None: they differ, or there are several rows."""
    first = given[0]
    if not isinstance(first, Mapping):
        return None
    names = frozenset(first)
    same = all(
        isinstance(each, Mapping) and each.keys() == names for each in given
    )
    return names if same and names else None


def common(
    names: frozenset[str] | None, given: Sequence[Given]
) -> frozenset[str]:
    """The parameters that have the same value for all."""
    first, *others = dicts(given) or [{}]
    return frozenset(
        name
        for name in names or ()
        if all(_same(each[name], first[name]) for each in others)
    )


def _same(one: Any, other: Any) -> bool:
    # 1 and True are equal, too.
    return one is other or (type(one) is type(other) and bool(one == other))


def dicts(given: Sequence[Given]) -> list[Values]:
    """Those that are values for one row, as all of an UPDATE are."""
    return [each for each in given if isinstance(each, Mapping)]


def size(given: Sequence[Given]) -> int:
    """For how many a statement is made: the next power of two, as each size
    of it has to be put together once."""
    return 1 << (len(given) - 1).bit_length()


def numbered(given: Sequence[Given]) -> dict[str, Any]:
    """The values of all; who is too few is the last once more."""
    filled = dicts(given)
    filled += filled[-1:] * (size(given) - len(filled))
    return {
        _name(name, which): value
        for which, each in enumerate(filled)
        for name, value in each.items()
    }


def _name(name: str, which: int) -> str:
    return f"{name}__{which}"


# -- clauses ------------------------------------------------------------------


def bound(clause: Any) -> list[sa.BindParameter[Any]]:
    """The parameters in a clause, each as often as it is there."""
    parts: list[Any] = [clause]
    if isinstance(clause, sa.Update):
        parts = [clause.whereclause, *(value for _c, value in set_by(clause))]
    return [
        each
        for part in parts
        if isinstance(part, visitors.Visitable)
        for each in _elements(part)
        if isinstance(each, sa.BindParameter)
    ]


def columns_of(clause: Any) -> Iterator[sa.Column[Any]]:
    """The columns of tables that a clause reads."""
    if isinstance(clause, visitors.Visitable):
        for each in _elements(clause):
            if isinstance(each, sa.Column):
                yield each


def _elements(clause: Any) -> Iterator[Any]:
    return iter(visitors.iterate(clause))


def for_one(clause: Any, names: frozenset[str], which: int) -> Any:
    """A clause with the parameters of one of those who run it."""

    def renamed(element: Any, **_more: Any) -> Any:
        if isinstance(element, sa.BindParameter) and element.key in names:
            return sa.bindparam(
                _name(element.key, which),
                type_=element.type,
                expanding=element.expanding,
            )
        return None

    if not isinstance(clause, visitors.ExternallyTraversible):
        return clause
    return visitors.replacement_traverse(clause, {}, renamed)


def conjuncts(clause: Any) -> Iterator[sa.ColumnElement[bool]]:
    """What all has to hold where a condition does."""
    if isinstance(clause, sa.BooleanClauseList):
        if clause.operator is operators.and_:
            for each in clause.clauses:
                yield from conjuncts(each)
    elif clause is not None:
        yield clause


def unique_keys(table: Any) -> list[frozenset[str]]:
    """The sets of columns that no two rows of a table have alike."""
    keys = [table.primary_key.columns.keys()]
    keys += [each.columns.keys() for each in table.indexes if each.unique]
    return [frozenset(each) for each in keys]


def set_by(statement: sa.Update) -> list[tuple[str, Any]]:
    """What a statement writes by itself: columns and values."""
    ordered = getattr(statement, "_ordered_values", None)  # SQLAlchemy 2.0
    values: Any = statement._values  # noqa: SLF001 - not public
    pairs = ordered or (values or {}).items()
    return [(getattr(column, "name", column), told) for column, told in pairs]
