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

"""Which stacks have which tags, as conditions of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import models

_stack = models.stack
_tag = models.stack_tag


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
