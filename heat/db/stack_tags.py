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

"""Rows of the ``stack_tag`` table, and conditions on them of a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models

_stack = models.stack
_tag = models.stack_tag

# Made once: it takes longer to put together than to run.
_TAGS = sa.select(_tag.c.stack_id, _tag.c.tag).order_by(_tag.c.id)
_TAGS_OF = bulk.Among(_tag.c.stack_id, _TAGS.where)


def set_(
    conn: sa.Connection, stack_id: str, tags: Iterable[str] | None
) -> None:
    """Replace the tags of a stack; their order is kept."""
    conn.execute(sa.delete(_tag).where(_tag.c.stack_id == stack_id))
    now = clock.utcnow()
    bulk.insert(
        conn,
        _tag,
        [
            {"stack_id": stack_id, "tag": tag, "created_at": now}
            for tag in dict.fromkeys(tags or ())
        ],
    )


def of(
    conn: sa.Connection,
    ids: Sequence[str],
    query: sa.Select[tuple[str]] | None = None,
) -> dict[str, list[str]]:
    """The tags of stacks in their order, by stack id.

    :param query: finds the ids too, where they are too many to be named
    """
    tags: dict[str, list[str]] = {ident: [] for ident in ids}
    if query is not None:
        for stack_id, tag in conn.execute(
            _TAGS.where(_tag.c.stack_id.in_(query.order_by(None)))
        ).all():
            # One that was made since is not among them.
            tags.get(stack_id, []).append(tag)
        return tags
    for chunk in bulk.chunks(list(tags)):
        for row in _TAGS_OF.run(conn, chunk):
            tags[row.stack_id].append(row.tag)
    return tags


def conditions(selection: Mapping[str, Any]) -> list[sa.ColumnElement[bool]]:
    """The conditions of a :class:`heat.db.stacks.Selection` on tags."""
    found: list[sa.ColumnElement[bool]] = []
    hidden = selection.get("hidden_tags")
    if hidden and not selection.get("show_hidden"):
        found.append(sa.not_(_has_any(hidden)))
    if tags := selection.get("tags"):
        found.append(_has_all(tags))
    if tags := selection.get("tags_any"):
        found.append(_has_any(tags))
    if tags := selection.get("not_tags"):
        found.append(sa.not_(_has_all(tags)))
    if tags := selection.get("not_tags_any"):
        found.append(sa.not_(_has_any(tags)))
    return found


def _has_any(tags: Sequence[str]) -> sa.ColumnElement[bool]:
    return _stack.c.id.in_(
        sa.select(_tag.c.stack_id).where(_tag.c.tag.in_(sorted(set(tags))))
    )


def _has_all(tags: Sequence[str]) -> sa.ColumnElement[bool]:
    wanted = sorted(set(tags))
    return _stack.c.id.in_(
        sa.select(_tag.c.stack_id)
        .where(_tag.c.tag.in_(wanted))
        .group_by(_tag.c.stack_id)
        .having(sa.func.count(_tag.c.tag.distinct()) == len(wanted))
    )
