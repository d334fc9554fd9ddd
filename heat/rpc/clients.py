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

"""Clients of the engine and of its workers: one method per call.

Every call asks for the lowest engine version that knows it, so that an older
engine answers as long as it can. Arguments are plain JSON values; an
identity is the dictionary form of
:class:`heat.common.identifier.HeatIdentifier`. What the engine raises is
raised here, see :mod:`heat.rpc.errors`.

In every method ``locals()`` is exactly its arguments: they travel under the
names they have here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heat.common.context import RequestContext
from heat.rpc import api, errors, transport
from heat.rpc.stack_calls import (
    ActionCalls,
    Dict,
    EngineCalls,
    List,
    StackCalls,
)


class TemplateCalls(EngineCalls):
    """Calls on templates, types and outputs."""

    def validate_template(
        self,
        context: RequestContext,
        template: Any,
        params: Dict,
        files: dict[str, str] | None = None,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
        show_nested: bool = False,
        ignorable_errors: list[str] | None = None,
        explicit_parameters: list[str] | None = None,
    ) -> Dict:
        """Check a template; what its parameters are.

        :param explicit_parameters: names given beside the environment; an
            older engine, which makes no difference, isn't told
        """
        arguments = locals()
        if explicit_parameters is not None:
            try:
                return self._call("validate_template", "1.38", arguments, dict)
            except Exception as error:
                if not errors.is_too_new(error):
                    raise
        del arguments["explicit_parameters"]
        return self._call("validate_template", "1.36", arguments, dict)

    def get_template(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """The template of a stack."""
        return self._call("get_template", None, locals(), dict)

    def get_environment(
        self,
        context: RequestContext,
        stack_identity: Dict,
        with_sources: bool = False,
    ) -> Dict:
        """The environment of a stack.

        :param with_sources: with where each value comes from; an older
            engine can't tell
        """
        arguments = locals()
        if with_sources:
            return self._call("get_environment", "1.38", arguments, dict)
        del arguments["with_sources"]
        return self._call("get_environment", "1.28", arguments, dict)

    def get_files(
        self, context: RequestContext, stack_identity: Dict
    ) -> dict[str, str]:
        """The files of a stack, by name."""
        return self._call("get_files", "1.32", locals(), dict)

    def list_template_versions(self, context: RequestContext) -> List:
        """The template versions that the engine knows."""
        return self._call("list_template_versions", "1.11", locals(), list)

    def list_template_functions(
        self,
        context: RequestContext,
        template_version: str,
        with_condition: bool = False,
    ) -> List:
        """The functions of a template version."""
        return self._call("list_template_functions", "1.35", locals(), list)

    def list_resource_types(
        self,
        context: RequestContext,
        support_status: str | None = None,
        type_name: str | None = None,
        heat_version: str | None = None,
        with_description: bool = False,
    ) -> list[Any]:
        """The resource types that the caller may use."""
        return self._call("list_resource_types", "1.30", locals(), list)

    def resource_schema(
        self,
        context: RequestContext,
        type_name: str,
        with_description: bool = False,
    ) -> Dict:
        """Properties and attributes of a resource type."""
        return self._call("resource_schema", "1.30", locals(), dict)

    def generate_template(
        self,
        context: RequestContext,
        type_name: str,
        template_type: str = "cfn",
    ) -> Dict:
        """A template with one resource of the type."""
        return self._call("generate_template", "1.9", locals(), dict)

    def list_outputs(
        self, context: RequestContext, stack_identity: Dict
    ) -> List:
        """Keys and descriptions of a stack's outputs."""
        return self._call("list_outputs", "1.19", locals(), list)

    def show_output(
        self,
        context: RequestContext,
        stack_identity: Dict,
        output_key: str,
    ) -> Dict:
        """One output of a stack, with its value."""
        return self._call("show_output", "1.19", locals(), dict)


class ResourceCalls(EngineCalls):
    """Calls on resources and events."""

    def describe_stack_resource(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        with_attr: Any = None,
    ) -> Dict:
        """One resource in full."""
        return self._call("describe_stack_resource", "1.2", locals(), dict)

    def describe_stack_resources(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str | None,
    ) -> List:
        """All resources in full, or the named one."""
        return self._call("describe_stack_resources", None, locals(), list)

    def list_stack_resources(
        self,
        context: RequestContext,
        stack_identity: Dict,
        nested_depth: int = 0,
        with_detail: bool = False,
        filters: Dict | None = None,
    ) -> List:
        """The resources of a stack and of those below it."""
        return self._call("list_stack_resources", "1.25", locals(), list)

    def find_physical_resource(
        self, context: RequestContext, physical_resource_id: str
    ) -> Dict:
        """The identity of the resource with a physical id."""
        return self._call("find_physical_resource", None, locals(), dict)

    def resource_signal(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        details: Any,
        sync_call: bool = False,
    ) -> Any:
        """Send a signal to a resource."""
        return self._call("resource_signal", "1.3", locals(), object)

    def resource_mark_unhealthy(
        self,
        context: RequestContext,
        stack_identity: Dict,
        resource_name: str,
        mark_unhealthy: bool,
        resource_status_reason: str | None = None,
    ) -> None:
        """Mark a resource for replacement, or well again."""
        self._call("resource_mark_unhealthy", "1.26", locals(), object)

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
    ) -> List:
        """Events of a stack, or of the whole project."""
        return self._call("list_events", "1.31", locals(), list)


class SoftwareCalls(EngineCalls):
    """Calls on software configs and deployments."""

    def show_software_config(
        self, context: RequestContext, config_id: str
    ) -> Dict:
        """One software config."""
        return self._call("show_software_config", None, locals(), dict)

    def list_software_configs(
        self,
        context: RequestContext,
        limit: int | None = None,
        marker: str | None = None,
    ) -> List:
        """The project's software configs."""
        return self._call("list_software_configs", "1.33", locals(), list)

    def create_software_config(
        self,
        context: RequestContext,
        group: str | None,
        name: str,
        config: str | None,
        inputs: list[Any] | None = None,
        outputs: list[Any] | None = None,
        options: Dict | None = None,
    ) -> Dict:
        """Make a software config."""
        return self._call("create_software_config", None, locals(), dict)

    def delete_software_config(
        self, context: RequestContext, config_id: str
    ) -> None:
        """Delete a software config."""
        self._call("delete_software_config", None, locals(), object)

    def list_software_deployments(
        self, context: RequestContext, server_id: str | None = None
    ) -> List:
        """The project's deployments, or a server's."""
        return self._call("list_software_deployments", None, locals(), list)

    def metadata_software_deployments(
        self, context: RequestContext, server_id: str
    ) -> list[Any]:
        """What a server has to deploy."""
        return self._call(
            "metadata_software_deployments", None, locals(), list
        )

    def show_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> Dict:
        """One deployment."""
        return self._call("show_software_deployment", None, locals(), dict)

    def check_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        timeout: float | None,
    ) -> Dict:
        """One deployment, its signal looked for."""
        return self._call("check_software_deployment", "1.27", locals(), dict)

    def create_software_deployment(
        self,
        context: RequestContext,
        server_id: str | None,
        config_id: str | None = None,
        input_values: Dict | None = None,
        action: str = "INIT",
        status: str = "COMPLETE",
        status_reason: str | None = "",
        stack_user_project_id: str | None = None,
        deployment_id: str | None = None,
    ) -> Dict:
        """Make a deployment."""
        return self._call("create_software_deployment", None, locals(), dict)

    def update_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        config_id: str | None = None,
        input_values: Dict | None = None,
        output_values: Dict | None = None,
        action: str | None = None,
        status: str | None = None,
        status_reason: str | None = None,
        updated_at: str | None = None,
    ) -> Dict:
        """Change a deployment."""
        return self._call("update_software_deployment", "1.5", locals(), dict)

    def delete_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> None:
        """Delete a deployment."""
        self._call("delete_software_deployment", None, locals(), object)

    def signal_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        details: Any,
        updated_at: str | None = None,
    ) -> Any:
        """Report the end of a deployment."""
        return self._call(
            "signal_software_deployment", "1.6", locals(), object
        )


class ServiceCalls(EngineCalls):
    """Calls about the engine itself."""

    def get_revision(self, context: RequestContext) -> str:
        """The revision of the engine's build."""
        return self._call("get_revision", None, locals(), str)

    def authenticated_to_backend(self, context: RequestContext) -> bool:
        """Whether the caller's credentials are good."""
        return self._call("authenticated_to_backend", None, locals(), bool)

    def list_released(self, context: RequestContext) -> List:
        """Objects that stacks of the caller's project have let go."""
        return self._call("list_released", "1.38", locals(), list)

    def list_services(self, context: RequestContext) -> List:
        """The engines, living and dead."""
        return self._call("list_services", "1.4", locals(), list)


class EngineClient(
    StackCalls,
    ActionCalls,
    TemplateCalls,
    ResourceCalls,
    SoftwareCalls,
    ServiceCalls,
):
    """All calls of the engine."""


class WorkerClient:
    """Sends nodes of a traversal to whichever engine is free.

    It is a ``heat.engine.ports.NodeSender``.
    """

    def __init__(self, bus: transport.Bus) -> None:
        self._bus = bus
        self._caller = bus.client(api.WORKER_TOPIC, api.WORKER_VERSION)

    def send(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[tuple[int, bool]],
    ) -> None:
        """Ask the engines to check nodes of a traversal.

        A hint that may get lost or arrive twice. The nodes of one message
        go to one engine; a caller with many sends several messages.

        :param nodes: pairs of graph key and is_update
        """
        self._caller.cast(
            context,
            "check_nodes",
            {
                "stack_id": stack_id,
                "traversal_id": traversal_id,
                "nodes": [[key, is_update] for key, is_update in nodes],
            },
        )

    def wake(
        self, context: RequestContext, engine_id: str, stack_id: str
    ) -> None:
        """Tell one engine that a nested stack it waits for has ended."""
        caller = self._bus.client(
            api.WORKER_TOPIC, api.WORKER_VERSION, server=engine_id
        )
        caller.cast(context, "wake", {"stack_id": stack_id})

    def cancel(
        self, context: RequestContext, engine_id: str, stack_id: str
    ) -> None:
        """Ask one engine to cancel its running operations of a stack."""
        caller = self._bus.client(
            api.WORKER_TOPIC, api.WORKER_VERSION, server=engine_id
        )
        caller.cast(context, "cancel_checks", {"stack_id": stack_id})


class ListenerClient:
    """Addresses one engine by its id."""

    def __init__(self, bus: transport.Bus, engine_id: str) -> None:
        self._caller = bus.client(
            api.LISTENER_TOPIC, api.LISTENER_VERSION, server=engine_id
        )

    def listening(self, context: RequestContext, timeout: float) -> bool:
        """Whether the engine answers within ``timeout`` seconds."""
        try:
            return bool(
                self._caller.call(context, "listening", {}, timeout=timeout)
            )
        except transport.MessagingTimeout:
            return False

    def stop_stack(
        self, context: RequestContext, stack_identity: dict[str, Any]
    ) -> None:
        """Ask the engine to stop what it does for a stack."""
        self._caller.call(
            context, "stop_stack", {"stack_identity": stack_identity}
        )

    def send(
        self,
        context: RequestContext,
        stack_identity: dict[str, Any],
        message: str,
    ) -> None:
        """Send ``cancel`` or ``cancel_with_rollback`` for a stack."""
        self._caller.cast(
            context,
            "send",
            {"stack_identity": stack_identity, "message": message},
        )
