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

"""RPC methods on stacks: find, list, show, make, change, delete."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import going, stack_lists, stacks, templates
from heat.db.resources import ResourceRecord
from heat.db.stacks import StackRecord
from heat.engine.definition import StackDefinition
from heat.engine.service import asked, base, containers, presenters
from heat.engine.stack import (
    abandon,
    adopt,
    converge,
    delete,
    export,
    live,
    load,
    outputs,
    snapshots,
)
from heat.rpc import api

LOG = logging.getLogger(__name__)

Dict = dict[str, Any]

# Other words for columns, in filters and as sort keys.
_COLUMNS = {
    api.STACK_NAME: "name",
    api.STACK_ACTION: "action",
    api.STACK_STATUS: "status",
    api.STACK_OWNER: "username",
    api.STACK_PARENT: "owner_id",
    api.STACK_CREATION_TIME: "created_at",
    api.STACK_UPDATED_TIME: "updated_at",
    api.STACK_TIMEOUT: "timeout",
    "stack_id": "id",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Which stacks a list or a count asks for, as it came."""

    filters: Dict | None
    show_deleted: bool
    show_nested: bool
    show_hidden: bool
    tags: Any
    tags_any: Any
    not_tags: Any
    not_tags_any: Any
    tenant_safe: bool | None


class StackEndpoint(base.Endpoint):
    """Stacks, as far as no action other than CREATE, UPDATE or DELETE."""

    @base.request
    def identify_stack(self, context: RequestContext, stack_name: Any) -> Dict:
        """The identity of a stack, by name, id or identity.

        :raises EntityNotFound: there is none, or it is somebody else's
        """
        if isinstance(stack_name, dict):
            stack = self._stack(context, stack_name, show_deleted=True)
        else:
            stack = self._engine.db.read(
                lambda conn: base.find_by_name_or_id(
                    conn, context, str(stack_name)
                )
            )
        return dict(presenters.identity(stack))

    @base.request
    def list_stacks(
        self,
        context: RequestContext,
        limit: int | None = None,
        marker: str | None = None,
        sort_keys: Any = None,
        sort_dir: str | None = None,
        filters: Dict | None = None,
        show_deleted: bool = False,
        show_nested: bool = False,
        show_hidden: bool = False,
        tags: Any = None,
        tags_any: Any = None,
        not_tags: Any = None,
        not_tags_any: Any = None,
        tenant_safe: bool | None = None,
    ) -> list[Dict]:
        """Stacks in the short form, the newest first unless asked."""
        wanted = Wanted(
            filters,
            show_deleted,
            show_nested,
            show_hidden,
            tags,
            tags_any,
            not_tags,
            not_tags_any,
            tenant_safe,
        )
        selection = self._selection(context, wanted)
        keys = [_COLUMNS.get(key, key) for key in words(sort_keys) or ()]

        def work(conn: sa.Connection) -> list[Dict]:
            found = stack_lists.list_shown(
                conn,
                limit=limit,
                marker=marker,
                sort_keys=keys or None,
                sort_dir=sort_dir,
                **selection,
            )
            untold = [
                stack.raw_template_id
                for stack in found
                if stack.description is None
            ]
            told = templates.descriptions(conn, untold) if untold else {}
            return [
                presenters.stack_summary(
                    stack,
                    stack.description or told.get(stack.raw_template_id),
                )
                for stack in found
            ]

        return self._engine.db.read(work)

    @base.request
    def count_stacks(
        self,
        context: RequestContext,
        filters: Dict | None = None,
        show_deleted: bool = False,
        show_nested: bool = False,
        show_hidden: bool = False,
        tags: Any = None,
        tags_any: Any = None,
        not_tags: Any = None,
        not_tags_any: Any = None,
        tenant_safe: bool | None = None,
    ) -> int:
        """How many stacks a list without a limit would have."""
        wanted = Wanted(
            filters,
            show_deleted,
            show_nested,
            show_hidden,
            tags,
            tags_any,
            not_tags,
            not_tags_any,
            tenant_safe,
        )
        selection = self._selection(context, wanted)
        return self._engine.db.read(
            lambda conn: stacks.count(conn, **selection)
        )

    @base.request
    def show_stack(
        self,
        context: RequestContext,
        stack_identity: Dict | None,
        resolve_outputs: bool = True,
    ) -> list[Dict]:
        """Stacks in full: one, or with None all of the project.

        :raises EntityNotFound: there is none, or it is somebody else's
        """
        read = self._engine.db.read
        if stack_identity is not None:
            identity = stack_identity

            def one(conn: sa.Connection) -> _Read:
                found = base.find(conn, context, identity, show_deleted=True)
                return self._read(conn, found, resolve_outputs)

            shown = read(one)
            if shown.resolve_outputs and shown.stack.deleted_at is None:
                self._look(context, shown)
            return [_details(shown)]
        selection = self._selection(context, _EVERYTHING)
        found = read(lambda conn: stacks.list_(conn, **selection))
        return [
            _details(
                read(
                    functools.partial(
                        self._read, stack=each, resolve_outputs=resolve_outputs
                    )
                )
            )
            for each in found
        ]

    @base.request
    def create_stack(
        self,
        context: RequestContext,
        stack_name: str,
        template: Any,
        params: Dict,
        files: dict[str, str] | None,
        args: Dict,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
        owner_id: str | None = None,
        nested_depth: int = 0,
        user_creds_id: int | None = None,
        stack_user_project_id: str | None = None,
        parent_resource_name: str | None = None,
        template_id: int | None = None,
    ) -> Dict:
        """Begin to create a stack; its identity.

        :raises StackExists: the project has a stack of this name
        :raises StackValidationFailed: and others of class 400
        """
        _refuse(template_id)
        asked.stack_name(stack_name)
        args = asked.arguments(args)
        given = None
        if args.get(api.PARAM_ADOPT_STACK_DATA):
            if not self._engine.conf.enable_stack_adopt:
                raise exception.NotSupported(feature="Stack Adopt")
            given = adopt.read(args[api.PARAM_ADOPT_STACK_DATA])
        stack = converge.create(
            self._engine,
            context,
            stack_name,
            template,
            params,
            containers.files_of(context, files, files_container),
            args,
            environment_files=environment_files,
            allows=self._allows(context),
            owner_id=owner_id,
            nested_depth=nested_depth,
            user_creds_id=user_creds_id,
            stack_user_project_id=stack_user_project_id,
            parent_resource_name=parent_resource_name,
            adopted=given,
        )
        return dict(presenters.identity(stack))

    @base.request
    def update_stack(
        self,
        context: RequestContext,
        stack_identity: Dict,
        template: Any,
        params: Dict,
        files: dict[str, str] | None,
        args: Dict,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
        template_id: int | None = None,
    ) -> Dict:
        """Begin to update a stack; its identity.

        :raises EntityNotFound: there is none, or it is somebody else's
        :raises ActionInProgress: another request was faster
        :raises StackValidationFailed: and others of class 400
        """
        _refuse(template_id)
        args = asked.arguments(args)
        stack = self._stack(context, stack_identity, mutating="update")
        converge.update(
            self._engine,
            context,
            stack,
            template,
            params,
            containers.files_of(context, files, files_container),
            args,
            environment_files=environment_files,
            allows=self._allows(context),
        )
        return dict(presenters.identity(stack))

    @base.request
    def delete_stack(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to delete a stack.

        :raises EntityNotFound: there is none, or it is somebody else's
        """
        stack = self._stack(context, stack_identity, mutating="delete")
        snapshots.delete_all(self._engine, context, stack)
        delete.delete(self._engine, context, stack)

    @base.request
    def export_stack(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """The stack with its resources' data."""
        stack = self._stack(context, stack_identity)
        return export.export(self._engine, context, stack)

    @base.request
    def abandon_stack(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """Forget a stack and leave its resources alive."""
        stack = self._stack(context, stack_identity, mutating="abandon")
        if not self._engine.conf.enable_stack_abandon:
            raise exception.NotSupported(feature="Stack Abandon")
        return abandon.abandon(self._engine, context, stack)

    @base.request
    def migrate_convergence_1(
        self, context: RequestContext, stack_id: str
    ) -> None:
        """Turn a legacy stack into a convergence stack."""
        raise base.not_yet("Migration of legacy stacks")

    # -- helpers --------------------------------------------------------------

    def _selection(
        self, context: RequestContext, wanted: Wanted
    ) -> stacks.Selection:
        # An administrator without a project asks for everybody's.
        everybody = context.is_admin and (
            not context.project_id or wanted.tenant_safe is False
        )
        if not everybody and not context.project_id:
            raise exception.Forbidden(action=_("stacks without a project"))
        return stacks.Selection(
            tenant=None if everybody else context.project_id,
            filters=base.split_status(
                {
                    _COLUMNS.get(key, key): value
                    for key, value in (wanted.filters or {}).items()
                }
            ),
            show_deleted=bool(wanted.show_deleted),
            show_nested=bool(wanted.show_nested),
            show_hidden=bool(wanted.show_hidden),
            hidden_tags=self._engine.conf.hidden_stack_tags,
            tags=words(wanted.tags),
            tags_any=words(wanted.tags_any),
            not_tags=words(wanted.not_tags),
            not_tags_any=words(wanted.not_tags_any),
        )

    def _read(
        self, conn: sa.Connection, stack: StackRecord, resolve_outputs: bool
    ) -> _Read:
        """What there is to show of a stack, in one transaction."""
        made = None
        try:
            if resolve_outputs:
                made = load.for_outputs(conn, self._engine, stack)
            else:
                made = load.parsed(conn, stack)
        except _EXPECTED as error:
            # A stack whose template can't be read can still be looked at.
            LOG.warning("Stack %s is shown in part: %s", stack.id, error)
        left = going.leftovers(conn, stack.id)
        return _Read(stack, made, resolve_outputs, left)

    def _look(self, context: RequestContext, read: _Read) -> None:
        """Have outputs tell what must be read each time as it is now."""
        if read.definition is not None:
            try:
                live.refresh(
                    self._engine, context, read.stack, read.definition
                )
            except _EXPECTED as error:
                LOG.warning(
                    "Stack %s is as recorded: %s", read.stack.id, error
                )


@dataclasses.dataclass(frozen=True, slots=True)
class _Read:
    """A stack as it was read; without a definition if that can't be."""

    stack: StackRecord
    definition: StackDefinition | None
    resolve_outputs: bool
    left: Sequence[ResourceRecord]


def _details(read: _Read) -> Dict:
    """A stack in full."""
    stack, definition = read.stack, read.definition
    alive = stack.deleted_at is None
    shown: list[Dict] | None = [] if read.resolve_outputs else None
    parameters: dict[str, str] = {}
    description: str | None = None
    try:
        if definition is not None:
            description = definition.t.description
            parameters = definition.parameters.public()
            if read.resolve_outputs and alive:
                shown = outputs.present_all(definition)
    except _EXPECTED as error:
        LOG.warning("Stack %s is shown in part: %s", stack.id, error)
    found = presenters.stack_details(stack, description, parameters, shown)
    if read.left and alive:
        found[api.STACK_CLEANUP] = presenters.cleanup(read.left)
    return found


_EXPECTED = (exception.HeatException, ValueError)

_EVERYTHING = Wanted(None, False, False, False, None, None, None, None, None)


def words(value: Any) -> Sequence[str] | None:
    """A list of words, which may have come as texts with commas.

    :raises ValueError: it is neither
    """
    if value is None or value == "":
        return None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        raise ValueError(_("Expected a list of words, not %r") % (value,))
    return [
        word.strip()
        for text in texts
        for word in str(text).split(",")
        if word.strip()
    ]


def _refuse(template_id: int | None) -> None:
    if template_id is not None:
        raise base.not_yet("A stack from a stored template")
