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
"""RPC methods that tell what a create or an update would do.

They store nothing. The keys beside the published ones are explained in
``doc/source/user/preview.rst``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heat.common.context import RequestContext
from heat.db.stacks import StackRecord
from heat.engine.service import asked, base, containers, presenters
from heat.engine.stack import preview, preview_changes, preview_new
from heat.rpc import api

Dict = dict[str, Any]

# A stack that isn't there has no state.
_NOT_SHOWN = (
    api.STACK_ACTION,
    api.STACK_STATUS,
    api.STACK_STATUS_DATA,
    api.STACK_USER_PROJECT_ID,
    api.STACK_LOCK,
)


class PreviewEndpoint(base.Endpoint):
    """Previews of stacks."""

    @base.request
    def preview_stack(
        self,
        context: RequestContext,
        stack_name: str,
        template: Any,
        params: Dict,
        files: dict[str, str] | None,
        args: Dict,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
    ) -> Dict:
        """What a create would make.

        :raises StackExists: the project has a stack of this name
        :raises StackValidationFailed: and others of class 400
        """
        found = preview_new.create(
            self._engine,
            context,
            asked.stack_name(stack_name),
            template,
            params,
            containers.files_of(context, files, files_container),
            asked.arguments(args),
            environment_files=environment_files,
            allows=self._allows(context),
        )
        return new_stack(found)

    @base.request
    def preview_update_stack(
        self,
        context: RequestContext,
        stack_identity: Dict,
        template: Any,
        params: Dict,
        files: dict[str, str] | None,
        args: Dict,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
    ) -> Dict:
        """What an update would change.

        :raises EntityNotFound: there is none, or it is somebody else's
        :raises ActionInProgress: no update could begin now
        :raises StackValidationFailed: and others of class 400
        """
        stack = self._stack(context, stack_identity)
        found = preview.update(
            self._engine,
            context,
            stack,
            template,
            params,
            containers.files_of(context, files, files_container),
            asked.arguments(args),
            environment_files=environment_files,
            allows=self._allows(context),
        )
        return changes(stack, found)


def new_stack(found: preview_new.NewStack) -> Dict:
    """A stack that would be made, in the form of RPC."""
    stack = found.stack
    shown = presenters.stack_details(
        stack,
        found.definition.t.description,
        found.definition.parameters.public(),
        found.outputs,
    )
    for key in _NOT_SHOWN:
        shown.pop(key, None)
    shown["resources"] = _new_resources(found)
    return shown


def _new_resources(found: preview_new.NewStack) -> list[Any]:
    """Resources; in place of one that is a stack a list of those below."""
    return [
        _new_resource(found.stack, each)
        if each.below is None
        else _new_resources(each.below)
        for each in found.resources
    ]


def _new_resource(stack: StackRecord, found: preview_new.NewResource) -> Dict:
    shown: Dict = {
        api.RES_NAME: found.name,
        api.RES_ID: dict(presenters.identity(stack).resource(found.name)),
        api.RES_TYPE: found.resource_type,
        api.RES_DESCRIPTION: found.description,
        api.RES_PHYSICAL_ID: found.external_id or "",
        api.RES_ACTION: "INIT",
        api.RES_STATUS: "COMPLETE",
        api.RES_STATUS_DATA: "",
        api.RES_CREATION_TIME: None,
        api.RES_UPDATED_TIME: None,
        api.RES_REQUIRED_BY: list(found.required_by),
        api.RES_METADATA: found.metadata,
        api.RES_ATTRIBUTES: dict.fromkeys(found.attributes),
        api.RES_PROPERTIES: found.properties,
        "unknown_properties": list(found.unknown),
        api.RES_STACK_ID: dict(presenters.identity(stack)),
        api.RES_STACK_NAME: stack.name,
    }
    if found.external_id is not None:
        shown["external_id"] = found.external_id
    if stack.parent_resource_name is not None:
        shown[api.RES_PARENT_RESOURCE] = stack.parent_resource_name
    return shown


def changes(stack: StackRecord, found: preview_changes.Changes) -> Dict:
    """What an update would do, in the form of RPC."""
    groups: dict[str, Sequence[preview_changes.Change]] = {
        "unchanged": found.unchanged,
        "updated": found.updated,
        "replaced": found.replaced,
        "added": found.added,
        "deleted": found.deleted,
    }
    return {
        group: [_change(stack, each) for each in members]
        for group, members in groups.items()
    }


def _change(stack: StackRecord, found: preview_changes.Change) -> Dict:
    row = found.row
    stack = found.stack or stack
    shown: Dict = {
        api.RES_NAME: found.name,
        api.RES_ID: dict(presenters.identity(stack).resource(found.name)),
        api.RES_TYPE: found.resource_type,
        api.RES_PHYSICAL_ID: "",
        api.RES_ACTION: "INIT",
        api.RES_STATUS: "COMPLETE",
        api.RES_STATUS_DATA: "",
        api.RES_CREATION_TIME: None,
        api.RES_UPDATED_TIME: None,
        api.RES_STACK_ID: dict(presenters.identity(stack)),
        api.RES_STACK_NAME: stack.name,
        "reason": found.reason,
        "because_of": found.because_of,
        "certain": found.certain,
        "may_be_replaced": found.may_be_replaced,
        "retained": found.retained,
    }
    if found.ownership is not None:
        shown["ownership"] = found.ownership
    if stack.parent_resource_name:
        shown[api.RES_PARENT_RESOURCE] = stack.parent_resource_name
    if found.error is not None:
        shown["error"] = found.error
    if row is not None:
        shown.update(
            {
                api.RES_PHYSICAL_ID: row.physical_id or "",
                api.RES_ACTION: row.action,
                api.RES_STATUS: row.status,
                api.RES_STATUS_DATA: row.status_reason or "",
                api.RES_CREATION_TIME: presenters.time(row.created_at),
                api.RES_UPDATED_TIME: presenters.time(
                    row.updated_at or row.created_at
                ),
            }
        )
    return shown
