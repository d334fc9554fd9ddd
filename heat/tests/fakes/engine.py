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

"""An engine client that answers from memory and remembers its calls.

It answers in the form of RPC and knows one stack. Arguments are bound to the
signatures of the real client, so a handler that calls a method wrongly fails
here as it would there.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

from heat.common import exception
from heat.rpc import clients

TENANT = "t1"
NAME = "teststack"
STACK_ID = "8d4a5c0e-0000-4000-8000-00000000abcd"
TIME = "2026-01-02T03:04:05Z"

STACK_IDENTITY = {
    "tenant": TENANT,
    "stack_name": NAME,
    "stack_id": STACK_ID,
    "path": "",
}
RESOURCE_IDENTITY = {**STACK_IDENTITY, "path": "/resources/server"}
NESTED_IDENTITY = {**STACK_IDENTITY, "stack_name": "n", "stack_id": "n-id"}
EVENT_ID = "e-1"

STACK = {
    "stack_identity": STACK_IDENTITY,
    "stack_name": NAME,
    "creation_time": TIME,
    "updated_time": None,
    "deletion_time": None,
    "notification_topics": [],
    "description": "d",
    "template_description": "d",
    "parameters": {"OS::stack_name": NAME},
    "outputs": [],
    "stack_action": "CREATE",
    "stack_status": "COMPLETE",
    "stack_status_reason": "fine",
    "capabilities": [],
    "disable_rollback": True,
    "timeout_mins": None,
    "stack_owner": "me",
    "parent": None,
    "stack_user_project_id": "sup",
    "tags": None,
}
RESOURCE = {
    "description": "",
    "creation_time": TIME,
    "updated_time": TIME,
    "resource_name": "server",
    "physical_resource_id": "p-1",
    "metadata": {"some_key": "value"},
    "resource_action": "CREATE",
    "resource_status": "COMPLETE",
    "resource_status_reason": "state changed",
    "resource_type": "OS::Heat::None",
    "resource_identity": RESOURCE_IDENTITY,
    "stack_identity": STACK_IDENTITY,
    "stack_name": NAME,
    "required_by": [],
    "attributes": {"value": "v"},
}
EVENT = {
    "event_identity": {
        **STACK_IDENTITY,
        "path": f"/resources/server/events/{EVENT_ID}",
    },
    "stack_identity": STACK_IDENTITY,
    "stack_name": NAME,
    "event_time": TIME,
    "resource_name": "server",
    "physical_resource_id": None,
    "resource_action": "CREATE",
    "resource_status": "IN_PROGRESS",
    "resource_status_reason": "state changed",
    "resource_type": "OS::Heat::None",
    "resource_properties": {"length": 4},
    "root_stack_id": STACK_IDENTITY,
}
SNAPSHOT = {
    "id": "s-1",
    "name": "snap",
    "stack_id": STACK_ID,
    "action": "CREATE",
    "status": "IN_PROGRESS",
    "status_reason": None,
    "data": None,
    "creation_time": TIME,
}
CONFIG = {
    "id": "c-1",
    "name": "conf",
    "group": "script",
    "config": "echo",
    "inputs": [],
    "outputs": [],
    "options": {},
    "creation_time": TIME,
    "project": TENANT,
}
DEPLOYMENT = {
    "id": "d-1",
    "config_id": "c-1",
    "server_id": "srv",
    "input_values": {},
    "output_values": None,
    "action": "CREATE",
    "status": "COMPLETE",
    "status_reason": None,
    "creation_time": TIME,
    "updated_time": None,
}
CHANGE = {
    "resource_name": "server",
    "resource_identity": RESOURCE_IDENTITY,
    "stack_identity": STACK_IDENTITY,
    "stack_name": NAME,
    "resource_type": "OS::Heat::None",
}
EXPORT = {"id": STACK_ID, "name": NAME, "template": {}, "resources": {}}

# Method -> what the engine answers.
ANSWERS: dict[str, Any] = {
    "identify_stack": STACK_IDENTITY,
    "list_stacks": [STACK],
    "count_stacks": 1,
    "show_stack": [STACK],
    "preview_stack": {**STACK, "resources": [RESOURCE]},
    "create_stack": STACK_IDENTITY,
    "update_stack": STACK_IDENTITY,
    "preview_update_stack": {
        "unchanged": [],
        "updated": [CHANGE],
        "replaced": [],
        "added": [],
        "deleted": [],
    },
    "delete_stack": None,
    "abandon_stack": EXPORT,
    "export_stack": EXPORT,
    "get_template": {"heat_template_version": "2013-05-23"},
    "get_environment": {"parameters": {}},
    "get_files": {"a.yaml": "b"},
    "list_outputs": [{"output_key": "k", "description": "d"}],
    "show_output": {"output_key": "k", "output_value": 1, "description": "d"},
    "stack_suspend": None,
    "stack_resume": None,
    "stack_check": None,
    "stack_cancel_update": None,
    "stack_lock": None,
    "stack_unlock": None,
    "stack_snapshot": SNAPSHOT,
    "stack_list_snapshots": [SNAPSHOT],
    "show_snapshot": SNAPSHOT,
    "delete_snapshot": None,
    "stack_restore": None,
    "validate_template": {"Description": "d", "Parameters": {}},
    "list_template_versions": [
        {"version": "heat_template_version.2013-05-23", "type": "hot"}
    ],
    "list_template_functions": [{"functions": "get_attr"}],
    "list_resource_types": ["OS::Heat::None"],
    "resource_schema": {"resource_type": "OS::Heat::None"},
    "generate_template": {"HeatTemplateFormatVersion": "2012-12-12"},
    "describe_stack_resource": RESOURCE,
    "describe_stack_resources": [RESOURCE],
    "find_physical_resource": RESOURCE_IDENTITY,
    "list_stack_resources": [RESOURCE],
    "resource_signal": None,
    "resource_mark_unhealthy": None,
    "list_events": [EVENT],
    "list_software_configs": [CONFIG],
    "create_software_config": CONFIG,
    "show_software_config": CONFIG,
    "delete_software_config": None,
    "list_software_deployments": [DEPLOYMENT],
    "metadata_software_deployments": [CONFIG],
    "create_software_deployment": DEPLOYMENT,
    "show_software_deployment": DEPLOYMENT,
    "update_software_deployment": DEPLOYMENT,
    "delete_software_deployment": None,
    "get_revision": "engine-revision",
    "list_released": [{"physical_resource_id": "p"}],
    "list_services": [{"id": "1", "binary": "heat-engine"}],
}


class FakeEngine:
    """Stands for :class:`heat.rpc.clients.EngineClient`.

    :ivar calls: (method, arguments by name) of each call, contexts apart
    :ivar contexts: the context of each call
    :ivar answers: what a method answers; an exception is raised
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.contexts: list[Any] = []
        # One by one: two answers may show the same row, a test changes one.
        self.answers: dict[str, Any] = {
            name: copy.deepcopy(answer) for name, answer in ANSWERS.items()
        }

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_") or method not in self.answers:
            raise AttributeError(method)
        signature = inspect.signature(getattr(clients.EngineClient, method))

        def call(*args: Any, **kwargs: Any) -> Any:
            given = dict(signature.bind(None, *args, **kwargs).arguments)
            del given["self"]
            self.contexts.append(given.pop("context"))
            self.calls.append((method, given))
            self._find(given)
            answer = self.answers[method]
            if isinstance(answer, Exception):
                raise answer
            return copy.deepcopy(answer)

        return call

    @staticmethod
    def _find(given: dict[str, Any]) -> None:
        """404 for a stack there is not, also when only the name differs."""
        # No identity at all: what is asked for is about every stack.
        identity = given.get("stack_identity") or STACK_IDENTITY
        wanted = (identity["stack_name"], identity["stack_id"])
        if wanted != (NAME, STACK_ID):
            raise exception.EntityNotFound(entity="Stack", name=wanted[0])
        name = given.get("resource_name")
        if name not in (None, "server"):
            raise exception.ResourceNotFound(
                resource_name=name, stack_name=NAME
            )
