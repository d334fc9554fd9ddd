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

"""Signals, hooks and software configs with the real client."""

from __future__ import annotations

import json
import tempfile
import time
from typing import Any

import yaml

from heat.tests.functional import base

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "handle": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "TOKEN_SIGNAL"},
        },
        "wait": {
            "type": "OS::Heat::WaitCondition",
            "properties": {
                "handle": {"get_resource": "handle"},
                "count": 2,
                "timeout": 60,
            },
        },
        "plain": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": "x"},
        },
    },
    "outputs": {
        "data": {"value": {"get_attr": ["wait", "data"]}},
        "endpoint": {"value": {"get_attr": ["handle", "endpoint"]}},
        "curl": {"value": {"get_attr": ["handle", "curl_cli"]}},
    },
}


def written(test: base.FunctionalTest, content: Any) -> str:
    """The name of a file with this content."""
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    test.addCleanup(file.close)
    if not isinstance(content, str):
        content = yaml.safe_dump(content)
    file.write(content)
    file.flush()
    return file.name


class SignalStoryTest(base.FunctionalTest):
    def wait_for(self, name: str, resource: str, status: str) -> None:
        limit = time.monotonic() + base.WAIT_SECONDS
        while time.monotonic() < limit:
            found = self.project.resources(name).get(resource)
            if found and found["resource_status"] == status:
                return
            time.sleep(0.2)
        self.fail(f"{resource} of {name} never was {status}")

    def test_signals_metadata_and_marks(self):
        call = self.openstack
        file = written(self, TEMPLATE)
        call("stack", "create", "-t", file, "tale")
        self.wait_for("tale", "wait", "CREATE_IN_PROGRESS")
        for number in ("one", "two"):
            data = json.dumps({"data": number, "id": number})
            call(
                *("stack", "resource", "signal", "tale", "handle"),
                *("--data", data),
                parse=False,
            )
        self.project.wait("tale", "CREATE_COMPLETE")
        outputs = self.project.outputs("tale")
        self.assertEqual(
            {"one": "one", "two": "two"}, json.loads(outputs["data"])
        )
        self.assertTrue(
            outputs["endpoint"].endswith("/resources/handle/signal")
            and outputs["endpoint"].startswith("http://127.0.0.1:")
        )
        self.assertIn(outputs["endpoint"], outputs["curl"])
        shown = call("stack", "resource", "metadata", "tale", "handle")
        self.assertEqual("two", shown["two"]["data"])
        mistake = self.assertRaises(
            base.ClientFailed,
            call,
            *("stack", "resource", "signal", "tale", "plain"),
            parse=False,
        )
        self.assertIn("OS::Heat::TestResource", str(mistake))
        before = self.project.resources("tale")
        path = self.project.path("tale")
        call(
            *("stack", "resource", "mark", "unhealthy", "tale", "plain"),
            "worn",
            parse=False,
        )
        marked = call("stack", "resource", "show", "tale", "plain")
        self.assertEqual("CHECK_FAILED", marked["resource_status"])
        self.assertEqual("worn", marked["resource_status_reason"])
        exported = json.loads(
            str(self.project.call("GET", f"{path}/export").text)
        )
        self.assertEqual(
            TEMPLATE["resources"].keys(), exported["resources"].keys()
        )
        kept = exported["resources"]["plain"]
        self.assertEqual("OS::Heat::TestResource", kept["type"])
        self.assertEqual(
            before["plain"]["physical_resource_id"], kept["resource_id"]
        )
        call("stack", "update", "--wait", "--existing", "tale")
        after = self.project.resources("tale")
        for name in ("plain", "handle"):
            same = (
                before[name]["physical_resource_id"]
                == after[name]["physical_resource_id"]
            )
            self.assertEqual(name == "handle", same, name)

    def test_hooks(self):
        call = self.openstack
        template = {
            "heat_template_version": "2021-04-16",
            "resources": {
                name: {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": "x"},
                }
                for name in ("first", "second")
            },
        }
        file = written(self, template)
        call(
            *("stack", "create", "-t", file, "--pre-create", "first"),
            "tale",
        )
        self.wait_for("tale", "second", "CREATE_COMPLETE")
        [held] = call("stack", "hook", "poll", "tale")
        self.assertIn("first", held.values())
        self.assertEqual(
            "CREATE_IN_PROGRESS", self.project.stack("tale")["stack_status"]
        )
        call("stack", "hook", "clear", "tale", "first", parse=False)
        self.project.wait("tale", "CREATE_COMPLETE")
        template["resources"]["second"]["properties"]["value"] = "y"
        file = written(self, template)
        call(
            *("stack", "update", "-t", file, "--pre-update", "second"),
            "tale",
        )
        limit = time.monotonic() + base.WAIT_SECONDS
        while not (found := call("stack", "hook", "poll", "tale")):
            self.assertLess(time.monotonic(), limit)
        self.assertIn("second", found[0].values())
        call(
            *("stack", "hook", "clear", "--pre-update", "tale", "second"),
            parse=False,
        )
        self.project.wait("tale", "UPDATE_COMPLETE")

    def polled(self, name: str, count: int) -> set[tuple[str, str]]:
        """Stack and resource of the hooks that hold resources, when there
        are so many."""
        limit = time.monotonic() + base.WAIT_SECONDS
        while True:
            found = self.openstack(
                "stack", "hook", "poll", "--nested-depth", "5", name
            )
            if len(found) >= count:
                return {
                    (each["Stack Name"], each["Resource Name"])
                    for each in found
                }
            self.assertLess(time.monotonic(), limit)

    def test_hooks_in_nested_stacks(self):
        call = self.openstack
        inner = written(
            self,
            {
                "heat_template_version": "2021-04-16",
                "resources": {
                    "inner": {"type": "OS::Heat::TestResource"},
                    "other": {"type": "OS::Heat::TestResource"},
                },
            },
        )
        template = written(
            self,
            {
                "heat_template_version": "2021-04-16",
                "resources": {
                    "child": {"type": inner},
                    "group": {
                        "type": "OS::Heat::ResourceGroup",
                        "properties": {
                            "count": 2,
                            "resource_def": {"type": inner},
                        },
                    },
                },
            },
        )
        resources = {
            "child": {"inner": {"hooks": ["pre-create", "pre-update"]}},
            "gr*": {"1": {"in*": {"hooks": ["pre-create", "pre-update"]}}},
        }
        env = written(self, {"resource_registry": {"resources": resources}})
        call("stack", "create", "-t", template, "-e", env, "nest")
        held = self.polled("nest", 2)
        self.assertEqual({"inner"}, {name for _stack, name in held})
        for name in ("child/inner", "group/1/inner"):
            call("stack", "hook", "clear", "nest", name, parse=False)
        self.project.wait("nest", "CREATE_COMPLETE")
        # Nothing is new, not even the hooks: all the same an update waits.
        call("stack", "update", "-t", template, "-e", env, "nest")
        self.assertEqual(held, self.polled("nest", 2))
        for name in ("ch*/inner", "group/1/in*"):
            call(
                *("stack", "hook", "clear", "--pre-update", "nest", name),
                parse=False,
            )
        self.project.wait("nest", "UPDATE_COMPLETE")
        # Asked for on the command line, for this update only.
        flags = ("--pre-update", "group/0/other")
        call("stack", "update", "-t", template, *flags, "nest")
        [(_stack, name)] = self.polled("nest", 1)
        self.assertEqual("other", name)
        call("stack", "hook", "clear", "nest", "group/0/other", parse=False)
        self.project.wait("nest", "UPDATE_COMPLETE")
        self.project.delete("nest")
        self.project.wait_gone("nest")


class SoftwareStoryTest(base.FunctionalTest):
    def test_configs_and_deployments(self):
        call = self.openstack
        script = written(self, "#!/bin/sh\necho hello\n")
        shape = written(
            self,
            {
                "inputs": [{"name": "word", "default": "hi"}],
                "outputs": [{"name": "said"}],
            },
        )
        made = call(
            *("software", "config", "create", "--config-file", script),
            *("--definition-file", shape, "--group", "script", "greet"),
        )
        [listed] = call("software", "config", "list")
        self.assertEqual(made["id"], listed["id"])
        shown = call("software", "config", "show", made["id"])
        self.assertEqual("script", shown["group"])
        self.assertIn("echo hello", shown["config"])
        deployed = call(
            *("software", "deployment", "create", "--config", made["id"]),
            *("--server", "server-1", "--input-value", "word=bye"),
            *("--signal-transport", "NO_SIGNAL", "d1"),
        )
        [row] = call("software", "deployment", "list")
        self.assertEqual(deployed["id"], row["id"])
        shown = call("software", "deployment", "show", deployed["id"])
        self.assertEqual("IN_PROGRESS", shown["status"])
        [config] = self.project.get("/software_deployments/metadata/server-1")[
            "metadata"
        ]
        inputs = {each["name"]: each["value"] for each in config["inputs"]}
        self.assertEqual("bye", inputs["word"])
        self.assertIn(
            "greet" if config["name"] == "greet" else "d1", config["name"]
        )
        call(
            *("software", "deployment", "metadata", "show", "server-1"),
            parse=False,
        )
        done = self.project.call(
            "PUT",
            f"/software_deployments/{deployed['id']}",
            {
                "status": "COMPLETE",
                "output_values": {"said": "bye", "deploy_status_code": 0},
            },
        )
        self.assertEqual(200, done.status_code, done.text)
        told = call(
            *("software", "deployment", "output", "show", deployed["id"]),
            "said",
            parse=False,
        )
        self.assertIn("bye", str(told))
        refused = self.project.call(
            "DELETE", f"/software_configs/{row['config_id']}"
        )
        self.assert_fault(refused, 400, "InvalidRestrictedAction")
        call(
            *("software", "deployment", "delete", deployed["id"]),
            parse=False,
        )
        call("software", "config", "delete", made["id"], parse=False)
        self.assertEqual([], call("software", "config", "list"))
        self.assertEqual([], call("software", "deployment", "list"))
