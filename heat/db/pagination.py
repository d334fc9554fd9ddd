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

"""Pages of a sorted list, by a marker instead of an offset.

A page begins behind the row that the marker names, whatever was inserted
or deleted meanwhile. NULL sorts as the smallest value on every database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.i18n import _

Order = Sequence[tuple[sa.ColumnElement[Any], bool]]


def order(
    columns: Mapping[str, sa.ColumnElement[Any]],
    sort_keys: Sequence[str] | None,
    sort_dir: str | None,
    default: tuple[str, str],
    last: sa.ColumnElement[Any],
) -> Order:
    """The columns to sort by, each with whether it descends.

    :param columns: what one may sort by, by name
    :param sort_dir: ``asc``, ``desc``; None: the default's, or ``asc`` where
        keys are given
    :param default: key and direction when no keys are given
    :param last: a unique column, which decides between equals
    :raises Invalid: an unknown key or direction
    """
    direction = sort_dir or ("asc" if sort_keys else default[1])
    if direction not in ("asc", "desc"):
        raise exception.Invalid(
            reason=_("sort_dir is '%s', it must be 'asc' or 'desc'.")
            % direction
        )
    down = direction == "desc"
    found = []
    for key in sort_keys or [default[0]]:
        if key not in columns:
            raise exception.Invalid(
                reason=_("'%(key)s' is no sort key; use one of %(known)s.")
                % {"key": key, "known": ", ".join(sorted(columns))}
            )
        found.append((columns[key], down))
    return [*found, (last, down)]


def page(
    conn: sa.Connection,
    query: sa.Select[Any],
    keys: Order,
    marker: sa.ColumnElement[bool] | None,
    limit: int | None,
) -> sa.Select[Any]:
    """Sort a query and cut out one page.

    :param marker: a condition that only the marker's row meets
    :param limit: rows at most; None: all
    :raises Invalid: there is no such marker
    """
    if marker is not None:
        row = conn.execute(
            sa.select(*(column for column, _down in keys)).where(marker)
        ).first()
        if row is None:
            raise exception.Invalid(
                reason=_("the marker does not exist (any more).")
            )
        query = query.where(_behind(keys, tuple(row)))
    for column, down in keys:
        ordered = column.desc() if down else column.asc()
        if conn.dialect.name == "postgresql":
            # The others do this by themselves, and one of them has no
            # words for it.
            ordered = ordered.nulls_last() if down else ordered.nulls_first()
        query = query.order_by(ordered)
    return query if limit is None else query.limit(limit)


def _behind(keys: Order, values: Sequence[Any]) -> sa.ColumnElement[bool]:
    """The condition of rows that sort behind these values."""
    steps: list[sa.ColumnElement[bool]] = []
    equal: list[sa.ColumnElement[bool]] = []
    for (column, down), value in zip(keys, values, strict=True):
        beyond: sa.ColumnElement[bool]
        same: sa.ColumnElement[bool]
        if value is None:
            beyond = sa.false() if down else column.is_not(None)
            same = column.is_(None)
        elif down:
            beyond = sa.or_(column < value, column.is_(None))
            same = column == value
        else:
            beyond = column > value
            same = column == value
        steps.append(sa.and_(*equal, beyond))
        equal.append(same)
    return sa.or_(*steps)


def matches(
    columns: Mapping[str, sa.ColumnElement[Any]],
    filters: Mapping[str, Any] | None,
) -> list[sa.ColumnElement[bool]]:
    """Conditions of filters; a list of values means any of them.

    :raises Invalid: an unknown filter
    """
    found: list[sa.ColumnElement[bool]] = []
    for key, value in (filters or {}).items():
        if key not in columns:
            raise exception.Invalid(
                reason=_("'%(key)s' is no filter; use one of %(known)s.")
                % {"key": key, "known": ", ".join(sorted(columns))}
            )
        column = columns[key]
        if value is None:
            found.append(column.is_(None))
        elif isinstance(value, list | tuple | set | frozenset):
            found.append(column.in_(sorted(value)))
        else:
            found.append(column == value)
    return found
