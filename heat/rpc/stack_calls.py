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

"""Calls of the engine on stacks: one method per call.

Every call asks for the lowest engine version that knows it, so that an older
engine answers as long as it can. Arguments are plain JSON values; an
identity is the dictionary form of
:class:`heat.common.identifier.HeatIdentifier`. What the engine raises is
raised here, see :mod:`heat.rpc.errors`.

In every method ``locals()`` is exactly its arguments: they travel under the
names they have here.
"""

from __future__ import annotations

from typing import Any, TypeVar

from heat.common.context import RequestContext
from heat.rpc import api, transport

Dict = dict[str, Any]
List = list[dict[str, Any]]
T = TypeVar("T")


def _knows(args: Dict) -> str:
    """The lowest version of an engine that knows what an update asks for.

    An older one would pass over files to take out without a word.
    """
    return "1.38" if args.get("environment_files_remove") else "1.36"


class EngineCalls:
    """What the groups of calls below share."""

    def __init__(self, bus: transport.Bus) -> None:
        self._caller = bus.client(api.ENGINE_TOPIC)

    def _call(
        self,
        method: str,
        version: str | None,
        arguments: dict[str, Any],
        answer: type[T],
    ) -> T:
        """Call a method of the engine.

        :param arguments: the caller's ``locals()``
        :param answer: what the engine answers with
        """
        args = {
            name: value
            for name, value in arguments.items()
            if name not in ("self", "context")
        }
        result: T = self._caller.call(
            arguments["context"], method, args, version=version
        )
        return result


class StackCalls(EngineCalls):
    """Calls on stacks: find, list, show, make, change, delete."""

    def identify_stack(self, context: RequestContext, stack_name: str) -> Dict:
        """The identity of a stack named by name or id."""
        return self._call("identify_stack", None, locals(), dict)

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
    ) -> List:
        """Stacks of the project, in the short form."""
        return self._call("list_stacks", "1.33", locals(), list)

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
    ) -> int:
        """How many stacks the same filters find."""
        return self._call("count_stacks", "1.33", locals(), int)

    def show_stack(
        self,
        context: RequestContext,
        stack_identity: Dict | None,
        resolve_outputs: bool = True,
    ) -> List:
        """Stacks in the full form; identity None: all of the project."""
        return self._call("show_stack", "1.20", locals(), list)

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
        """What a create would make."""
        return self._call("preview_stack", "1.36", locals(), dict)

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
        """Begin to create a stack; its identity."""
        return self._call("create_stack", "1.36", locals(), dict)

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
        """Begin to update a stack; its identity."""
        return self._call("update_stack", _knows(args), locals(), dict)

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
        """What an update would change."""
        return self._call("preview_update_stack", _knows(args), locals(), dict)

    def export_stack(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """The stack with its resources' data, to adopt elsewhere."""
        return self._call("export_stack", "1.22", locals(), dict)

    def abandon_stack(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """Forget a stack and leave its resources alive."""
        return self._call("abandon_stack", None, locals(), dict)

    def migrate_convergence_1(
        self, context: RequestContext, stack_id: str
    ) -> None:
        """Turn a legacy stack into a convergence stack."""
        self._call("migrate_convergence_1", "1.34", locals(), object)

    def delete_stack(
        self, context: RequestContext, stack_identity: Dict, cast: bool = False
    ) -> None:
        """Begin to delete a stack.

        :param cast: don't wait for the answer, hear of no error
        """
        args = {"stack_identity": stack_identity}
        if cast:
            self._caller.cast(context, "delete_stack", args)
        else:
            self._caller.call(context, "delete_stack", args)


class ActionCalls(EngineCalls):
    """Calls that begin an action on a stack, and snapshots."""

    def stack_cancel_update(
        self,
        context: RequestContext,
        stack_identity: Dict,
        cancel_with_rollback: bool = True,
    ) -> None:
        """Stop a running update."""
        self._call("stack_cancel_update", "1.14", locals(), object)

    def stack_suspend(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to suspend a stack."""
        self._call("stack_suspend", None, locals(), object)

    def stack_resume(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to resume a stack."""
        self._call("stack_resume", None, locals(), object)

    def stack_check(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to check a stack's resources."""
        self._call("stack_check", None, locals(), object)

    def stack_lock(
        self,
        context: RequestContext,
        stack_identity: Dict,
        level: str = "all",
        reason: str | None = None,
        expires_in: int | None = None,
    ) -> None:
        """Lock a stack. Ours."""
        self._call("stack_lock", "1.38", locals(), object)

    def stack_unlock(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Unlock a stack. Ours."""
        self._call("stack_unlock", "1.38", locals(), object)

    def stack_snapshot(
        self,
        context: RequestContext,
        stack_identity: Dict,
        name: str | None,
    ) -> Dict:
        """Begin to take a snapshot; its dictionary."""
        return self._call("stack_snapshot", None, locals(), dict)

    def show_snapshot(
        self,
        context: RequestContext,
        stack_identity: Dict,
        snapshot_id: str,
    ) -> Dict:
        """One snapshot."""
        return self._call("show_snapshot", None, locals(), dict)

    def delete_snapshot(
        self,
        context: RequestContext,
        stack_identity: Dict,
        snapshot_id: str,
    ) -> None:
        """Delete a snapshot."""
        self._call("delete_snapshot", None, locals(), object)

    def stack_list_snapshots(
        self, context: RequestContext, stack_identity: Dict
    ) -> List:
        """The snapshots of a stack."""
        return self._call("stack_list_snapshots", None, locals(), list)

    def stack_restore(
        self,
        context: RequestContext,
        stack_identity: Dict,
        snapshot_id: str,
    ) -> None:
        """Begin to restore a stack from a snapshot."""
        self._call("stack_restore", None, locals(), object)
