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

"""RPC methods on events."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import events, stacks
from heat.db.stacks import StackRecord
from heat.engine import hidden
from heat.engine.service import base, presenters
from heat.engine.service.stacks import words
from heat.engine.stack import load
from heat.rpc import api

Dict = dict[str, Any]

# Other words for columns, in filters and as sort keys.
_COLUMNS = {
    api.EVENT_TIMESTAMP: "created_at",
    api.EVENT_ID: "uuid",
    "id": "uuid",
}


class EventEndpoint(base.Endpoint):
    """Events of stacks."""

    @base.request
    def list_events(
        self,
        context: RequestContext,
        stack_identity: Dict | None,
        filters: Dict | None = None,
        limit: int | None = None,
        marker: str | None = None,
        sort_keys: Any = None,
        sort_dir: str | None = None,
        nested_depth: int | None = None,
    ) -> list[Dict]:
        """Events of a stack and of those below it, or of the project.

        :param nested_depth: how many levels below
        :param marker: id of the last event of the page before
        :raises EntityNotFound: no such stack, or it is somebody else's
        :raises Invalid: an unknown filter, sort key, direction or marker
        """
        depth = self._depth(nested_depth or 0)
        keys = [_COLUMNS.get(key, key) for key in words(sort_keys) or ()]
        wanted = {
            _COLUMNS.get(key, key): value
            for key, value in (filters or {}).items()
        }

        def work(conn: sa.Connection) -> list[Dict]:
            found, roots = _stacks(conn, context, stack_identity, depth)
            if nested_depth is None:
                # Only who asks for a tree is told of its top.
                roots = {}
            listed = events.list_(
                conn,
                list(found),
                filters=wanted,
                limit=limit,
                marker=marker,
                sort_keys=keys or None,
                sort_dir=sort_dir or "desc",
            )
            return [
                presenters.event(
                    found[record.stack_id],
                    record,
                    roots.get(record.stack_id),
                )
                for record in listed
            ]

        listed = self._engine.db.read(work)
        if "uuid" in wanted:
            # Only who shows a single event shows the properties.
            for each in listed:
                self._hide(context, each)
        return listed

    def _hide(self, context: RequestContext, shown: Dict) -> None:
        """Mask values of hidden parameters in an event's properties."""
        given = shown[api.EVENT_RES_PROPERTIES]
        if not given:
            return
        stack = self._stack(
            context, shown[api.EVENT_STACK_ID], show_deleted=True
        )
        try:
            made = load.definition(self._engine, stack)
            known = hidden.secrets(made)
        except (exception.HeatException, ValueError):
            # What is secret isn't known, so nothing is told.
            given, known = {}, frozenset()
        shown[api.EVENT_RES_PROPERTIES] = hidden.mask(given, known)


def _stacks(
    conn: sa.Connection,
    context: RequestContext,
    stack_identity: Dict | None,
    depth: int,
) -> tuple[dict[str, StackRecord], dict[str, StackRecord]]:
    """Whose events are asked for: stacks by id, and the root of each."""
    if stack_identity is None:
        return _of_project(conn, context)
    stack = base.find(conn, context, stack_identity, show_deleted=True)
    root = _root_of(conn, stack)
    found = {stack.id: stack}
    level = [stack]
    for _step in range(depth):
        level = base.children(conn, [each.id for each in level])
        if not level:
            break
        found.update((each.id, each) for each in level)
    return found, dict.fromkeys(found, root)


def _of_project(
    conn: sa.Connection, context: RequestContext
) -> tuple[dict[str, StackRecord], dict[str, StackRecord]]:
    if not context.project_id:
        raise exception.Forbidden(action=_("events without a project"))
    everything = stacks.list_(
        conn, tenant=context.project_id, show_nested=True, show_hidden=True
    )
    found = {stack.id: stack for stack in everything}
    roots = {}
    for stack in found.values():
        top = stack
        while top.owner_id in found:
            top = found[top.owner_id]
        roots[stack.id] = top
    return found, roots


def _root_of(conn: sa.Connection, stack: StackRecord) -> StackRecord:
    while stack.owner_id is not None:
        owner = stacks.get(conn, stack.owner_id, show_deleted=True)
        if owner is None:
            break
        stack = owner
    return stack
