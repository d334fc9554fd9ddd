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
"""The keys and types of response bodies, as clients know them.

Each shape is YAML: a key that is missing, one more than there should be, or a
value of another type is a failure. ``any`` is a map of the user's, whose keys
are anybody's; a type behind ``~`` may be null. What follows ``ours`` is told
by this service beyond what every Heat tells.
"""

from __future__ import annotations

import time
from typing import Any

import yaml

from heat.tests import base, inprocess

SERVER = "5b1e7a52-9f1c-4f6e-8a35-2c1f6a0d7b11"
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "description": "bodies",
    "parameter_groups": [
        {"label": "l", "description": "d", "parameters": ["word"]}
    ],
    "parameters": {"word": {"type": "string", "default": "x"}},
    "resources": {
        "one": {
            "type": "OS::Heat::TestResource",
            "metadata": {"some": "metadata"},
            "properties": {"value": {"get_param": "word"}},
        },
        "two": {"type": "OS::Heat::RandomString", "depends_on": "one"},
    },
    "outputs": {
        "word": {
            "description": "told",
            "value": {"get_attr": ["one", "output"]},
        }
    },
}

_LINKS = "links: [{href: str, rel: str}]"
_PUT = "{name: str, type: str, description: ~str"
_CONFIG = (
    "{id: str, name: str, group: str, creation_time: str, config: str, "
    f"options: ~any, inputs: [{_PUT}, default: ~str}}], "
    f"outputs: [{_PUT}, error_output: bool}}]"
)
_DEPLOYMENT = (
    "{id: str, server_id: str, config_id: str, status: str, action: str, "
    "status_reason: ~str, input_values: ~any, output_values: ~any, "
    "creation_time: str, updated_time: ~str}"
)
_RESOURCE = (
    f"creation_time: str, {_LINKS}, logical_resource_id: str, "
    "physical_resource_id: str, required_by: [str], resource_name: str, "
    "resource_status: str, resource_status_reason: str, resource_type: str, "
    "updated_time: str"
)
_EVENT = (
    f"event_time: str, id: str, {_LINKS}, logical_resource_id: str, "
    "physical_resource_id: ~str, resource_name: str, resource_status: str, "
    "resource_status_reason: str"
)
_LISTED = (
    f"creation_time: str, deletion_time: ~str, description: str, id: str, "
    f"{_LINKS}, parent: ~str, stack_name: str, stack_owner: ~str, "
    "tags: ~strs, updated_time: ~str"
)
_STATUS = (
    "stack_status: str, stack_status_reason: str, stack_user_project_id: ~str"
)
_STACK = (
    "capabilities: [str], disable_rollback: bool, notification_topics: [str], "
    "template_description: str, timeout_mins: ~num"
)
_OUTPUT = "{output_key: str, output_value: ~str, description: str}"
_SNAPSHOT = (
    "id: str, name: str, action: str, status: str, status_reason: ~str, "
    "creation_time: str, data: ~any"
)
_ENVIRONMENT = (
    "{encrypted_param_names: [str], event_sinks: [str], "
    "parameter_defaults: any, parameters: any, resource_registry: any}"
)
_CHANGE = (
    "{updated_time: str, resource_name: str, physical_resource_id: str, "
    "resource_action: str, resource_status: str, resource_status_reason: str, "
    "resource_type: str, stack_identity: str, stack_name: str, "
    # ours: why, and how surely
    "reason: str, because_of: ~any, certain: bool, may_be_replaced: bool, "
    "retained: bool}"
)
_REDIRECT = "{code: str, message: str, title: str}"
_FAULT = (
    "{code: num, title: str, explanation: str, "
    "error: {type: str, message: str, traceback: ~str}}"
)
_EXPORT = (
    "{action: str, environment: any, files: any, id: str, name: str, "
    "project_id: str, resources: {one: &r {action: str, metadata: any, "
    "name: str, resource_data: any, resource_id: str, status: str, "
    "type: str}, two: *r}, stack_user_project_id: ~str, status: str, "
    "tags: ~strs, template: any, "
    # ours
    "environment_layers: [any]}"
)

#: What is asked, and the shape of the answer; {S} is the stack's path.
READS = (
    ("/build_info", "{api: {revision: str}, engine: {revision: str}}"),
    (
        "/services",
        "{services: [{binary: str, created_at: str, deleted_at: ~str, "
        "engine_id: str, host: str, hostname: str, id: str, "
        "report_interval: num, status: str, topic: str, updated_at: ~str}]}",
    ),
    (
        "/software_configs",
        "{software_configs: [{id: str, name: str, group: str, "
        "creation_time: str}]}",
    ),
    ("/software_configs/{config}", f"{{software_config: {_CONFIG}}}}}"),
    ("/software_deployments", f"{{software_deployments: [{_DEPLOYMENT}]}}"),
    (
        "/software_deployments/{deployment}",
        f"{{software_deployment: {_DEPLOYMENT}}}",
    ),
    (
        f"/software_deployments/metadata/{SERVER}",
        f"{{metadata: [{_CONFIG}, updated_time: ~str}}]}}",
    ),
    ("/stacks", f"{{stacks: [{{{_LISTED}, {_STATUS}, lock: ~any}}]}}"),
    (
        "/stacks?with_count=true",
        f"{{count: num, stacks: [{{{_LISTED}, {_STATUS}, lock: ~any}}]}}",
    ),
    (
        "/stacks/detail",
        f"{{stacks: [{{{_LISTED}, {_STATUS}, {_STACK}, lock: ~any}}]}}",
    ),
    (
        "{S}",
        f"{{stack: {{{_LISTED}, {_STATUS}, {_STACK}, outputs: [{_OUTPUT}], "
        "parameters: any, lock: ~any}}",
    ),
    ("/stacks/s", _REDIRECT),
    ("/stacks/s/events", _REDIRECT),
    ("/stacks/none", _FAULT),
    ("{S}/resources?bad=1", _FAULT),
    ("{S}/template", "any"),
    ("{S}/files", "any"),
    ("{S}/environment", _ENVIRONMENT),
    ("{S}/export", _EXPORT),
    ("{S}/outputs", "{outputs: [{output_key: str, description: str}]}"),
    ("{S}/outputs/word", f"{{output: {_OUTPUT}}}"),
    ("{S}/resources", f"{{resources: [{{{_RESOURCE}}}]}}"),
    (
        "{S}/resources?with_detail=true",
        f"{{resources: [{{{_RESOURCE}, attributes: any, description: str}}]}}",
    ),
    (
        "{S}/resources/one",
        f"{{resource: {{{_RESOURCE}, attributes: any, description: str}}}}",
    ),
    ("{S}/resources/one/metadata", "{metadata: any}"),
    ("{S}/events", f"{{events: [{{{_EVENT}}}]}}"),
    ("{S}/resources/one/events", f"{{events: [{{{_EVENT}}}]}}"),
    (
        "{S}/resources/one/events/{event}",
        f"{{event: {{{_EVENT}, resource_properties: any, "
        "resource_type: str}}",
    ),
    ("{S}/snapshots", f"{{snapshots: [{{{_SNAPSHOT}}}]}}"),
    ("{S}/snapshots/{snapshot}", f"{{snapshot: {{{_SNAPSHOT}}}}}"),
    ("/resource_types", "{resource_types: [str]}"),
    (
        "/resource_types?with_description=true",
        "{resource_types: [{description: str, resource_type: str}]}",
    ),
    (
        "/resource_types/OS::Heat::RandomString",
        "{attributes: {show: &a {description: str, type: str}, value: *a}, "
        "properties: any, resource_type: str, support_status: "
        "{message: ~str, status: str, version: ~str, previous_status: ~any}}",
    ),
    (
        "/resource_types/OS::Heat::RandomString/template?template_type=hot",
        "{heat_template_version: str, description: str, parameters: any, "
        "resources: {RandomString: {type: str, properties: any}}, "
        "outputs: any}",
    ),
    (
        "/resource_types/OS::Heat::RandomString/template",
        "{HeatTemplateFormatVersion: str, Description: str, Parameters: any, "
        "Resources: {RandomString: {Type: str, Properties: any}}, "
        "Outputs: any}",
    ),
    (
        "/template_versions",
        "{template_versions: [{aliases: [str], version: str, type: str}]}",
    ),
    (
        "/template_versions/heat_template_version.2018-08-31/functions",
        "{template_functions: [{functions: str, description: str}]}",
    ),
)
#: Requests with a body, in their order: method, path, body, status, shape.
WRITES = (
    (
        *("POST", "/validate", {"template": TEMPLATE}, 200),
        "{Description: str, Environment: any, Parameters: {word: "
        "{Type: str, Description: str, NoEcho: str, Label: str, "
        "Default: str}}, ParameterGroups: "
        "[{label: str, description: str, parameters: [str]}]}",
    ),
    (
        *("POST", "/stacks/preview"),
        *({"stack_name": "p", "template": TEMPLATE}, 200),
        f"{{stack: {{{_LISTED}, {_STACK}, outputs: [{_OUTPUT}], "
        "parameters: any, resources: [{attributes: any, description: str, "
        "metadata: any, physical_resource_id: str, properties: any, "
        "required_by: [str], resource_action: str, resource_identity: any, "
        "resource_name: str, resource_status: str, "
        "resource_status_reason: str, resource_type: str, "
        "stack_identity: any, stack_name: str, updated_time: ~str, "
        # not published, but answered everywhere
        "creation_time: ~str, "
        # ours
        "unknown_properties: [str]}]}}",
    ),
    (
        *("PUT", "{S}/preview", {"template": TEMPLATE}, 200),
        f"{{unchanged: [&c {_CHANGE}], updated: [*c ], replaced: [*c ], "
        "added: [*c ], deleted: [*c ], resource_changes: any}",
    ),
    ("POST", "{S}/snapshots", {"name": "n"}, 200, f"{{{_SNAPSHOT}}}"),
    ("PUT", "{S}", {"template": TEMPLATE}, 202, _REDIRECT),
    ("PATCH", "{S}", {}, 202, _REDIRECT),
    ("POST", "{S}/snapshots/{snapshot}/restore", None, 202, _REDIRECT),
    ("PUT", "{S}", {}, 400, _FAULT),
    (
        *("PUT", "/software_deployments/{deployment}"),
        *({"status": "COMPLETE", "output_values": {"r": "x"}}, 200),
        f"{{software_deployment: {_DEPLOYMENT}}}",
    ),
)
_TYPES = {
    "str": str,
    "strs": list,
    "num": (int, float),
    "bool": bool,
    "any": dict,
}


def mistakes(shape: Any, value: Any, where: str = "") -> list[str]:
    """What is wrong with a value, each with its place."""
    if isinstance(shape, str):
        wanted = shape.lstrip("~")
        if value is None and shape.startswith("~"):
            return []
        right = isinstance(value, _TYPES[wanted]) and (
            wanted == "bool" or not isinstance(value, bool)
        )
        return [] if right else [f"{where}: {value!r} is no {shape}"]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [
            each
            for number, item in enumerate(value)
            for each in mistakes(shape[0], item, f"{where}[{number}]")
        ]
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no map"]
    found = [f"{where}: no {key}" for key in shape.keys() - value.keys()]
    found += [f"{where}: {key} is new" for key in value.keys() - shape.keys()]
    for key in shape.keys() & value.keys():
        found += mistakes(shape[key], value[key], f"{where}.{key}")
    return found


class BodiesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(inprocess.Service())
        self.stack_id = self.service.create(
            "s", TEMPLATE, parameters={"word": "y"}
        )
        self.names = {"S": f"/stacks/s/{self.stack_id}"}
        config = self.made(
            "/software_configs",
            {
                "name": "c",
                "group": "script",
                "config": "x",
                "inputs": [{"name": "i"}],
                "outputs": [{"name": "o"}],
            },
        )["software_config"]
        self.names["config"] = config["id"]
        given = {"config_id": config["id"], "server_id": SERVER}
        made = self.made("/software_deployments", given | {"action": "CREATE"})
        self.names["deployment"] = made["software_deployment"]["id"]
        snapshot = self.made(self.path("{S}/snapshots"), {"name": "n"})
        self.names["snapshot"] = snapshot["id"]
        self.service.wait(self.stack_id, "SNAPSHOT_COMPLETE")
        events = self.service.get(self.path("{S}/resources/one/events"))
        self.names["event"] = events["events"][0]["id"]

    def made(self, path, body):
        answer = self.service.call("POST", path, body)
        self.assertLess(answer.status_code, 300, answer.text)
        return answer.get_json()

    def path(self, path):
        return path.format(**self.names)

    def check(self, shape, answer):
        found = mistakes(yaml.safe_load(shape), answer.get_json())
        self.assertEqual([], found)

    def test_reads(self):
        for path, shape in READS:
            with self.subTest(path=path):
                self.check(shape, self.service.call("GET", self.path(path)))

    def test_writes(self):
        for method, path, body, status, shape in WRITES:
            with self.subTest(method=method, path=path):
                answer = self.service.call(method, self.path(path), body)
                self.assertEqual(status, answer.status_code, answer.text)
                self.check(shape, answer)
                self.rest()

    def test_events_name_the_object_that_was_there(self):
        """However quickly it was made, and told of at once."""
        path = self.path("{S}/resources/one")
        made = self.service.get(path)["resource"]["physical_resource_id"]
        first, second = self.service.get(f"{path}/events?sort_dir=asc")[
            "events"
        ][:2]
        self.assertEqual("CREATE_IN_PROGRESS", first["resource_status"])
        self.assertIsNone(first["physical_resource_id"])
        self.assertEqual(made, second["physical_resource_id"])

    def rest(self):
        until = time.monotonic() + inprocess.WAIT_SECONDS
        while time.monotonic() < until:
            stack = self.service.get(self.path("{S}"))["stack"]
            if not stack["stack_status"].endswith("_IN_PROGRESS"):
                return
            time.sleep(0.01)
        self.fail(f"{stack} does not come to rest")
