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
"""Nested stacks: the port through which a resource is a stack.

A child is a stack like any other, made and changed by the same functions;
what is different stands here. Its id follows from the parent resource's
row, so that whatever is repeated after a crash finds it. Beginning anything
on it asks, in the transaction that begins, whether this engine still holds
the parent's row: an engine that was taken for dead makes no child that
nobody knows, brings none back to an older template, and stops nothing that
others have begun.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import (
    holders,
    locks,
    roots,
    stacks,
    templates,
)
from heat.engine import function
from heat.engine.environment import environment as env
from heat.engine.ports import Engine
from heat.engine.resource import Resource, StackView, child, hooks
from heat.engine.stack import (
    actions,
    adopt,
    converge,
    delete,
    export,
    load,
    outputs,
    prepare,
)
from heat.engine.stack.request import Request
from heat.engine.traversal import gather

# How often an update tries again when the child began something meanwhile.
_TRIES = 5

# What a child may be doing that brings it to its template.
_CONVERGING = frozenset({"CREATE", "UPDATE", "ADOPT"})


class Children:
    """Makes, changes and shows nested stacks; set as ``engine.children``.

    It is a :class:`heat.engine.ports.ChildStacks`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen = threading.local()

    # -- what is there ------------------------------------------------------

    def _find(
        self, child_id: str, *, show_deleted: bool = False
    ) -> stacks.StackRecord | None:
        return self._engine.db.look(
            lambda conn: stacks.get(conn, child_id, show_deleted=show_deleted),
            "stack",
        )

    def _get(self, child_id: str) -> stacks.StackRecord:
        found = self._find(child_id)
        if found is None:
            raise exception.EntityNotFound(entity="Stack", name=child_id)
        return found

    def state(self, child_id: str) -> child.State | None:
        """How the child is; None when it is gone or never was."""
        seen: dict[str, child.State | None] = getattr(self._seen, "by_id", {})
        if child_id in seen:
            return seen[child_id]
        return self._states([child_id]).get(child_id)

    @contextlib.contextmanager
    def seeing(self, child_ids: Collection[str]) -> Iterator[None]:
        """Within it, :meth:`state` in this thread answers from one look at
        all of these."""
        found = self._states(child_ids) if child_ids else {}
        self._seen.by_id = {each: found.get(each) for each in child_ids}
        try:
            yield
        finally:
            del self._seen.by_id

    def _states(self, child_ids: Collection[str]) -> dict[str, child.State]:
        return {
            ident: child.State(*of)
            for ident, of in self._engine.db.read(
                lambda conn: roots.states(conn, child_ids)
            ).items()
        }

    def look(self, parent: StackView, stack_id: str) -> None:
        """Check that a stack can be referred to as if it were nested.

        :raises EntityNotFound: there is none, or it is another project's
        :raises NotSupported: it is a nested stack, or the parent itself
        """
        if stack_id == parent.id:
            raise exception.NotSupported(
                feature=_("Referring to the stack that the resource is in")
            )
        found = self._get(stack_id)
        if found.tenant != parent.tenant_id:
            raise exception.EntityNotFound(entity="Stack", name=stack_id)
        if found.owner_id is not None:
            raise exception.NotSupported(
                feature=_("Referring to a nested stack without its parent")
            )

    def view(self, parent: StackView, child_id: str) -> StackView | None:
        """The child with what is known of its resources, or None."""
        found = self._find(child_id)
        if found is None:
            return None
        made = load.definition(self._engine, found)
        return gather.stack_view(
            self._engine,
            found,
            made,
            parent.context,
            looks=parent.values.looks,
        )

    def varies(self, child_id: str) -> bool:
        """As :meth:`heat.engine.ports.ChildStacks.varies`."""
        found = self._engine.db.read(lambda conn: roots.types(conn, child_id))
        for name in found:
            try:
                cls = self._engine.plugins.get(name)
            except exception.EntityNotFound:
                # By an environment it may be any other one.
                return True
            if cls.varies(function.ALL_ATTRIBUTES[0]):
                return True
        return False

    def outputs(
        self, parent: StackView, child_id: str
    ) -> Mapping[str, Mapping[str, Any]]:
        """The child's outputs by key, as the API shows them.

        :raises EntityNotFound: there is no child
        """
        found = outputs.resolve(
            self._engine,
            parent.context,
            self._get(child_id),
            looks=parent.values.looks,
        )
        return {each["output_key"]: each for each in found}

    # -- checks -------------------------------------------------------------

    def validate(self, parent: StackView, wanted: child.Wanted) -> None:
        """Check the child, and those below it, before there is one.

        :raises StackValidationFailed: and others of class 400, with the
            path inside of the child
        """
        engine = self._engine
        nesting = _nesting(engine, parent).below(
            wanted.template_name,
            parent.nested_depth + 1,
            int(engine.conf.max_nested_stack_depth),
        )
        sent = wanted.template, wanted.environment, wanted.files
        prepared = prepare.prepare(
            HeatIdentifier(parent.tenant_id, wanted.name, None),
            Request(*sent, {}, settled=True),
            strict=False,
            facade=wanted.facade,
        )
        draft = converge.draft_of(
            {
                "name": wanted.name,
                "tenant": parent.tenant_id,
                "action": parent.action,
                "status": "IN_PROGRESS",
                "disable_rollback": True,
                "timeout": wanted.timeout_mins,
                "owner_id": parent.id,
                "nested_depth": parent.nested_depth + 1,
                "parent_resource_name": wanted.resource_name,
            }
        )
        prepare.check(
            engine,
            parent.context,
            draft,
            prepared,
            nesting.tree.ignored,
            nesting,
        )

    # -- changes ------------------------------------------------------------

    def export(self, parent: StackView, child_id: str) -> dict[str, Any]:
        """What another Heat needs to adopt the child.

        :raises EntityNotFound: there is no child
        """
        found = self._get(child_id)
        return export.export(self._engine, parent.context, found)

    def create(
        self,
        parent: StackView,
        child_id: str,
        wanted: child.Wanted,
        adopts: Mapping[str, Any] | None = None,
    ) -> bool:
        """Begin to create the child; one that is there is left running.

        :param adopts: the data of an abandoned stack, whose objects the
            child takes over in place of making new ones
        :returns: whether something began
        :raises EntityNotFound: there was one, and it was deleted
        :raises HeatException, ValueError: of class 400
        """
        try:
            converge.create(
                self._engine,
                parent.context,
                wanted.name,
                wanted.template,
                wanted.environment,
                wanted.files,
                _args(wanted),
                owner_id=parent.id,
                nested_depth=parent.nested_depth + 1,
                user_creds_id=parent.user_creds_id,
                stack_user_project_id=parent.stack_user_project_id,
                parent_resource_name=wanted.resource_name,
                child=self._place(parent, child_id, wanted),
                adopted=None if adopts is None else adopt.read(adopts),
            )
        except exception.StackExists:
            self._get(child_id)
            return False
        return True

    def update(
        self, parent: StackView, child_id: str, wanted: child.Wanted
    ) -> bool:
        """Bring the child to what is wanted, whatever it is doing.

        Nothing begins when it is that, or is on the way to it.

        :returns: whether something began
        :raises EntityNotFound: there is none, or it was deleted
        :raises ActionInProgress: it is busy with what can't be superseded
        :raises HeatException, ValueError: of class 400
        """
        for left in reversed(range(_TRIES)):
            stack, stored = self._engine.db.look(
                lambda conn: load.with_version(conn, child_id), "version"
            )
            # Who looks at what there is looks into it all the same.
            if not parent.observes and _is_that(stack, stored, wanted):
                return False
            try:
                converge.update(
                    self._engine,
                    parent.context,
                    stack,
                    wanted.template,
                    wanted.environment,
                    wanted.files,
                    {**_args(wanted), "converge": parent.observes},
                    child=dataclasses.replace(
                        self._place(parent, child_id, wanted), stored=stored
                    ),
                )
            except exception.ActionInProgress:
                if not left:
                    raise
            else:
                return True
        return False

    def _place(
        self, parent: StackView, child_id: str, wanted: child.Wanted
    ) -> converge.Child:
        return converge.Child(
            child_id,
            wanted.facade,
            parent.definition.version_id,
            parent.env.param_defaults
            == wanted.environment["parameter_defaults"],
            self._guard(
                parent, wanted.resource_name, wanted.resource_uuid, child_id
            ),
            wanted.holds,
        )

    def _guard(
        self, parent: StackView, name: str, uuid: str | None, child_id: str
    ) -> Callable[[sa.Connection], None]:
        """Checks, inside of a transaction, that we may begin on the child,
        and writes down that it is there."""

        def check(conn: sa.Connection) -> None:
            self._check_held(conn, name, uuid, child_id)
            # What a failed action left running makes nothing any more.
            locks.share_unlocked(conn, parent.id or "", "update")

        return check

    def _check_held(
        self, conn: sa.Connection, name: str, uuid: str | None, child_id: str
    ) -> None:
        engine_id = self._engine.engine_id
        if not holders.record(conn, uuid or "", engine_id, child_id):
            raise exception.Error(
                _("This engine does not work on resource %s any more") % name
            )

    def _stop_guard(
        self, stack: stacks.StackRecord, uuid: str | None
    ) -> Callable[[sa.Connection], None]:
        """Checks, inside of a transaction, that we may stop the child."""
        name = stack.parent_resource_name or ""
        return lambda conn: self._check_held(conn, name, uuid, stack.id)

    def clean_up(
        self, parent: StackView, child_id: str, resource_uuid: str | None
    ) -> bool:
        """Begin to delete what the child has kept of an update.

        :param resource_uuid: of the row of the parent's resource
        :returns: whether something began
        :raises EntityNotFound: there is no child
        :raises ActionInProgress: it is busy with something else
        """
        stack = self._get(child_id)
        if not stack.holds_cleanup:
            return False
        name = stack.parent_resource_name or ""
        converge.clean_up(
            self._engine,
            parent.context,
            stack,
            self._guard(parent, name, resource_uuid, child_id),
        )
        return True

    def delete(self, parent: StackView, child_id: str) -> bool:
        """Begin to delete the child; one that is gone is no error.

        Where the parent lets its objects go, the child does so, too.

        :returns: whether it is being deleted
        """
        found = self._find(child_id)
        if found is None:
            return False
        delete.delete(
            self._engine,
            parent.context,
            found,
            abandons=parent.values.abandons,
        )
        return True

    def act(
        self,
        parent: StackView,
        child_id: str,
        action: str,
        resource_uuid: str | None,
    ) -> bool:
        """As :meth:`heat.engine.ports.ChildStacks.act`."""
        stack = self._get(child_id)
        guard = self._stop_guard(stack, resource_uuid)
        return actions.act_below(
            self._engine, parent.context, stack, action, guard
        )

    def resource(self, parent: StackView, name: str) -> Resource:
        """The plug-in object of a resource of the parent itself, to look at.

        :raises EntityNotFound: there is no such resource, or stack
        """
        found = load.named(self._engine, self._get(parent.id or ""), name)
        if found is None:
            raise exception.EntityNotFound(entity="Resource", name=name)
        loaded, node = found
        return load.resource(
            self._engine, parent.context, loaded, node.row, node
        )

    def whole(self, parent: StackView) -> StackView | None:
        """The parent itself with all its living resources, wanted or not;
        None when it is not stored."""
        return self.view(parent, parent.id or "")

    def cancel(
        self, parent: StackView, child_id: str, resource_uuid: str | None
    ) -> None:
        """As :meth:`heat.engine.ports.ChildStacks.cancel`."""
        if (found := self._find(child_id)) is not None:
            guard = self._stop_guard(found, resource_uuid)
            actions.stop_below(self._engine, parent.context, found, guard)


def _is_that(
    stack: stacks.StackRecord,
    stored: templates.TemplateRecord | None,
    wanted: child.Wanted,
) -> bool:
    """Whether a child is what is wanted, or becomes that right now."""
    action, status = stack.base
    # What another one, such as CHECK, came upon may not have been whole.
    if action not in _CONVERGING or status == "FAILED":
        return False
    if env.Environment(wanted.environment).registry.stops_at(
        hooks.HOOK_PRE_UPDATE
    ):
        # Its resources are to wait in this update as in any.
        return False
    return stored is not None and stored.is_made_of(
        wanted.template, wanted.environment, wanted.files, wanted.facade
    )


def _nesting(engine: Engine, parent: StackView) -> child.Nesting:
    found = parent.nesting
    if isinstance(found, child.Nesting):
        return found
    return child.Nesting(child.Tree(int(engine.conf.max_resources_per_stack)))


def _args(wanted: child.Wanted) -> dict[str, Any]:
    # The parent brings a failed child back, so it never goes back itself.
    return {"disable_rollback": True, "timeout_mins": wanted.timeout_mins}
