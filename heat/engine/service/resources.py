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

"""RPC methods on resources."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import resource_lists, resources, stacks
from heat.db.resource_lists import Child, ListedResource
from heat.db.resources import ResourceRecord
from heat.db.stacks import StackRecord
from heat.engine.service import base, presenters, stack_users
from heat.engine.stack import load, lock, signals
from heat.rpc import api

Dict = dict[str, Any]

# What a list of resources may be filtered by -> field of the record.
_FILTERS = {
    "action": "shown_action",
    "id": "uuid",
    "name": "name",
    "physical_resource_id": "physical_id",
    "status": "shown_status",
    "type": "resource_type",
    "uuid": "uuid",
    api.RES_ACTION: "shown_action",
    api.RES_NAME: "name",
    api.RES_STATUS: "shown_status",
    api.RES_TYPE: "resource_type",
}


# Rows in full, or what a list shows of them.
R = TypeVar("R", ResourceRecord, ListedResource)


@dataclasses.dataclass(frozen=True, slots=True)
class Shown(Generic[R]):
    """The resources of one stack, as they are shown.

    :ivar children: nested stacks by id
    :ivar old: versions that wait for clean-up
    """

    stack: StackRecord
    current: Sequence[R]
    required_by: Mapping[str, Sequence[str]]
    children: Mapping[str, StackRecord | Child]
    old: Sequence[R] = ()

    def links(self, row: R) -> Dict:
        """What a version replaces, and by what it is replaced, if at all."""
        uuids = {each.id: each.uuid for each in (*self.current, *self.old)}
        found = {
            api.RES_REPLACES: uuids.get(row.replaces or 0),
            api.RES_REPLACED_BY: uuids.get(row.replaced_by or 0),
        }
        return {key: value for key, value in found.items() if value}

    def present(self, row: R) -> Dict:
        return presenters.resource(
            self.stack,
            row,
            self.required_by.get(row.name, ()),
            nested=self.children.get(row.physical_id or ""),
        )


class ResourceEndpoint(base.Endpoint):
    """Resources of stacks."""

    @base.request
    def describe_stack_resource(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        with_attr: Any = None,
    ) -> Dict:
        """One resource in full.

        :param with_attr: names of attributes to show beside the declared
            ones; True or None for the declared ones alone
        :raises ResourceNotFound: the stack has none of this name
        """

        def work(conn: sa.Connection) -> Shown[ResourceRecord]:
            stack = base.find(
                conn,
                context,
                stack_identity,
                show_deleted=True,
                stack_users=True,
            )
            return _one(conn, stack, resource_name)

        shown = self._engine.db.read(work)
        acting = stack_users.acting(
            self._engine, context, shown.stack, resource_name
        )
        row = _named(shown, resource_name)
        loaded, node = load.single(self._engine, shown.stack, row)
        return self._details(acting, shown, row, loaded, with_attr, node)

    @base.request
    def describe_stack_resources(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str | None,
    ) -> list[Dict]:
        """All resources in full, or the named one.

        :raises ResourceNotFound: the stack has none of this name
        """
        shown = self._shown(context, stack_identity)
        rows = shown.current
        if resource_name is not None:
            rows = [_named(shown, resource_name)]
        loaded = load.load(self._engine, shown.stack)
        return [
            self._details(context, shown, row, loaded, None) for row in rows
        ]

    @base.request
    def list_stack_resources(
        self,
        context: RequestContext,
        stack_identity: Dict,
        nested_depth: int = 0,
        with_detail: bool = False,
        filters: Dict | None = None,
    ) -> list[Dict]:
        """The resources of a stack and of those below it.

        :param nested_depth: how many levels below
        :param with_detail: descriptions, metadata and attributes too, and
            the old versions that wait for clean-up
        :param filters: name of a filter -> value, or list of values
        :raises Invalid: an unknown filter
        """
        wanted = _criteria(filters)
        depth = self._depth(nested_depth)
        if with_detail:
            return self._detailed(context, stack_identity, depth, wanted)

        def work(conn: sa.Connection) -> list[Shown[ListedResource]]:
            stack = base.find(conn, context, stack_identity, show_deleted=True)
            return list(_tree(conn, stack, depth, resource_lists.of_stacks))

        return [
            shown.present(row)
            for shown in self._engine.db.read(work)
            for row in shown.current
            if _matches(row, wanted)
        ]

    def _detailed(
        self,
        context: RequestContext,
        stack_identity: Dict,
        depth: int,
        wanted: Mapping[str, tuple[Any, ...]],
    ) -> list[Dict]:
        def work(conn: sa.Connection) -> list[Shown[ResourceRecord]]:
            stack = base.find(conn, context, stack_identity, show_deleted=True)
            return list(_tree(conn, stack, depth, resources.list_for_stacks))

        listed: list[Dict] = []
        for shown in self._engine.db.read(work):
            rows = [row for row in shown.current if _matches(row, wanted)]
            old = [row for row in shown.old if _matches(row, wanted)]
            if not rows and not old:
                continue
            loaded = load.load(self._engine, shown.stack)
            for row in rows:
                details = self._details(context, shown, row, loaded, None)
                listed.append({**details, **shown.links(row)})
            listed.extend(
                {**shown.present(row), **shown.links(row)} for row in old
            )
        return listed

    @base.request
    def find_physical_resource(
        self, context: RequestContext, physical_resource_id: str
    ) -> Dict:
        """The identity of the resource with this physical id.

        :raises EntityNotFound: there is none, or it is somebody else's
        :raises PhysicalResourceIDAmbiguity: there are several
        """

        def work(conn: sa.Connection) -> list[Dict]:
            rows = [
                row
                for row in resources.find_physical(conn, physical_resource_id)
                if not row.stray
            ]
            owners = stacks.get_many(conn, {row.stack_id for row in rows})
            return [
                dict(presenters.identity(owner).resource(row.name))
                for row in rows
                if (owner := owners.get(row.stack_id))
                and base.may_see(context, owner)
            ]

        found = self._engine.db.read(work)
        if not found:
            raise exception.EntityNotFound(
                entity="Resource", name=physical_resource_id
            )
        if len(found) > 1:
            raise exception.PhysicalResourceIDAmbiguity(
                phys_id=physical_resource_id
            )
        return found[0]

    @base.request
    def resource_signal(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        details: Any,
        sync_call: bool = False,
    ) -> Any:
        """Send a signal to a resource.

        :raises StackLocked: it would clear a hook
        """
        stack = self._stack(context, stack_identity, stack_users=True)
        context = stack_users.acting(
            self._engine, context, stack, resource_name
        )
        signals.signal(self._engine, context, stack, resource_name, details)

    @base.request
    def resource_mark_unhealthy(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        mark_unhealthy: bool,
        resource_status_reason: str | None = None,
    ) -> None:
        """Mark a resource for replacement, or well again.

        :param resource_name: its name, or its physical id
        :raises StackLocked: the stack is locked
        """
        shown = self._shown(context, stack_identity)
        row = _named_or_made(shown, resource_name)
        lock.guard(shown.stack, "mark_unhealthy")
        signals.mark_unhealthy(
            self._engine,
            shown.stack,
            row,
            mark_unhealthy,
            resource_status_reason,
        )

    # -- helpers --------------------------------------------------------------

    def _shown(
        self, context: RequestContext, stack_identity: Dict
    ) -> Shown[ResourceRecord]:
        def work(conn: sa.Connection) -> Shown[ResourceRecord]:
            stack = base.find(conn, context, stack_identity, show_deleted=True)
            return next(_tree(conn, stack, 0, resources.list_for_stacks))

        return self._engine.db.read(work)

    def _details(
        self,
        context: RequestContext,
        shown: Shown[ResourceRecord],
        row: ResourceRecord,
        loaded: load.Loaded,
        with_attr: Any,
        node: load.Node | None = None,
    ) -> Dict:
        found = shown.present(row)
        found[api.RES_DESCRIPTION] = presenters.resource_description(
            loaded.definition, row.name
        )
        found[api.RES_METADATA] = row.metadata
        found[api.RES_ATTRIBUTES] = self._attributes(
            context, loaded, row, _names(with_attr), node
        )
        return found

    def _attributes(
        self,
        context: RequestContext,
        loaded: load.Loaded,
        row: ResourceRecord,
        more: Sequence[str],
        node: load.Node | None,
    ) -> Dict:
        """Values of the declared attributes and of ``more``.

        Nothing is asked of an object that was never made.
        """
        if row.action == "INIT" or loaded.stack.deleted_at is not None:
            return {}
        rsrc = load.resource(self._engine, context, loaded, row, node)
        return load.show_attributes(rsrc, more)


def _names(with_attr: Any) -> Sequence[str]:
    if isinstance(with_attr, str):
        return [with_attr]
    if isinstance(with_attr, list | tuple):
        return [str(name) for name in with_attr]
    return ()


def _named(shown: Shown[ResourceRecord], name: str) -> ResourceRecord:
    for row in shown.current:
        if row.name == name:
            return row
    raise exception.ResourceNotFound(
        resource_name=name, stack_name=shown.stack.name
    )


def _named_or_made(shown: Shown[ResourceRecord], name: str) -> ResourceRecord:
    """A resource by its name, or else by the id of its object."""
    made = [row for row in shown.current if row.physical_id == name]
    if len(made) == 1 and all(row.name != name for row in shown.current):
        return made[0]
    return _named(shown, name)


def _criteria(filters: Dict | None) -> dict[str, tuple[Any, ...]]:
    """Field of the record -> values that pass."""
    wanted = {}
    for key, value in base.split_status(filters or {}).items():
        if key not in _FILTERS:
            raise exception.Invalid(
                reason=_("'%(key)s' is no filter; use one of %(known)s.")
                % {"key": key, "known": ", ".join(sorted(_FILTERS))}
            )
        values = value if isinstance(value, list | tuple) else [value]
        wanted[_FILTERS[key]] = tuple(values)
    return wanted


def _matches(
    row: ResourceRecord | ListedResource, wanted: Mapping[str, tuple[Any, ...]]
) -> bool:
    return all(
        getattr(row, field) in values for field, values in wanted.items()
    )


def _old_versions(rows: Sequence[R], living: Mapping[str, R]) -> list[R]:
    """Rows that are no living one's, and still have to go."""
    current = {row.id for row in living.values()}
    return [
        row
        for row in rows
        if row.id not in current
        and (row.action, row.status) != ("DELETE", "COMPLETE")
    ]


def _one(
    conn: sa.Connection, stack: StackRecord, name: str
) -> Shown[ResourceRecord]:
    """One resource of a stack, or none when there is none of the name."""
    links = resource_lists.links(conn, stack.id)
    living = load.living(links)
    current: list[ResourceRecord] = []
    children: dict[str, Child] = {}
    if name in living:
        row_id = living[name].id
        current = list(resources.get_many(conn, [row_id]).values())
    for row in current:
        child = resource_lists.child(conn, stack.id, row.physical_id)
        if child is not None:
            children[child.id] = child
    needed_by = presenters.required_by(links, living.values())
    return Shown(stack, current, needed_by, children)


def _tree(
    conn: sa.Connection,
    stack: StackRecord,
    depth: int,
    read: Callable[[sa.Connection, Sequence[str]], list[R]],
) -> Iterator[Shown[R]]:
    """A stack and those below it, level by level, two queries each.

    :param read: every row of some stacks
    """
    level = [stack]
    for step in range(depth + 1):
        rows: dict[str, list[R]] = {}
        below: dict[str, dict[str, StackRecord | Child]] = {}
        ids = [each.id for each in level]
        for row in read(conn, ids):
            rows.setdefault(row.stack_id, []).append(row)
        # Of stacks that nobody goes into the names are enough.
        last = step == depth
        deeper = [] if last else base.children(conn, ids)
        for child in resource_lists.children(conn, ids) if last else deeper:
            below.setdefault(child.owner_id or "", {})[child.id] = child
        for each in level:
            mine = rows.get(each.id, [])
            living = load.living(mine)
            current = [living[name] for name in sorted(living)]
            yield Shown(
                each,
                current,
                presenters.required_by(mine, current),
                below.get(each.id, {}),
                _old_versions(mine, living),
            )
        if not deeper:
            return
        level = deeper
