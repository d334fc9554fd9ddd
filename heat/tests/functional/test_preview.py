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

"""Previews, over HTTP and through the real ``openstack`` client."""

from __future__ import annotations

import json
import tempfile

import yaml

from heat.tests.functional import base

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "description": "two that hang together",
    "parameters": {
        "word": {"type": "string", "default": "x"},
        "password": {"type": "string", "default": "p", "hidden": True},
    },
    "resources": {
        "first": {
            "type": "OS::Heat::TestResource",
            "description": "the first",
            "properties": {
                "value": {"get_param": "word"},
                "update_replace_value": "one",
            },
        },
        "second": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["first", "output"]}},
            "metadata": {"of": {"get_resource": "first"}, "n": 1},
        },
    },
    "outputs": {
        "word": {"value": {"get_param": "word"}},
        "last": {"value": {"get_attr": ["second", "output"]}},
    },
}

PUBLISHED_STACK = {
    "capabilities",
    "creation_time",
    "deletion_time",
    "description",
    "disable_rollback",
    "id",
    "links",
    "notification_topics",
    "outputs",
    "parameters",
    "parent",
    "resources",
    "stack_name",
    "stack_owner",
    "tags",
    "template_description",
    "timeout_mins",
    "updated_time",
}
PUBLISHED_RESOURCE = {
    "attributes",
    "description",
    "metadata",
    "physical_resource_id",
    "properties",
    "required_by",
    "resource_action",
    "resource_identity",
    "resource_name",
    "resource_status",
    "resource_status_reason",
    "resource_type",
    "stack_identity",
    "stack_name",
    "updated_time",
}
PUBLISHED_CHANGE = {
    "updated_time",
    "resource_name",
    "physical_resource_id",
    "resource_action",
    "resource_status",
    "resource_status_reason",
    "resource_type",
    "stack_identity",
    "stack_name",
}
OURS = {"reason", "because_of", "certain", "may_be_replaced", "retained"}


def changed(number):
    template = {**TEMPLATE, "resources": dict(TEMPLATE["resources"])}
    first = dict(template["resources"]["first"])
    first["properties"] = {
        **first["properties"],
        "update_replace_value": number,
    }
    template["resources"]["first"] = first
    return template


class PreviewTest(base.FunctionalTest):
    def test_create(self):
        body = {"stack_name": "s", "template": TEMPLATE, "tags": "a,b"}
        got = self.project.call("POST", "/stacks/preview", body)
        self.assertEqual(200, got.status_code, got.text)
        stack = got.json()["stack"]
        self.assertEqual(PUBLISHED_STACK, stack.keys())
        self.assertEqual(["a", "b"], stack["tags"])
        self.assertEqual("******", stack["parameters"]["password"])
        self.assertEqual(
            {"word": "x", "last": None},
            {o["output_key"]: o["output_value"] for o in stack["outputs"]},
        )
        first, second = stack["resources"]
        for each in (first, second):
            self.assertEqual(
                PUBLISHED_RESOURCE | {"creation_time", "unknown_properties"},
                each.keys(),
            )
        self.assertEqual(["second"], first["required_by"])
        self.assertEqual("the first", first["description"])
        self.assertEqual("x", first["properties"]["value"])
        self.assertEqual(0, first["properties"]["wait_secs"])
        self.assertIsNone(second["properties"]["value"])
        self.assertEqual(["value"], second["unknown_properties"])
        self.assertEqual({"n": 1}, second["metadata"])
        self.assertEqual({}, self.project.stacks())

    def test_create_shows_what_is_below(self):
        """In place of a resource that is a stack, a list of those below."""
        leaf = {
            "heat_template_version": "2018-08-31",
            "parameters": {"value": {"type": "string"}},
            "resources": {
                "inner": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": {"get_param": "value"}},
                }
            },
            "outputs": {"out": {"value": {"get_attr": ["inner", "output"]}}},
        }
        nested = {"type": "leaf.yaml", "properties": {"value": "v"}}
        made = {"get_attr": ["main", "out"]}
        template = {
            "heat_template_version": "2018-08-31",
            "resources": {
                "main": nested,
                "second": {**nested, "properties": {"value": made}},
                "group": {
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {
                        "count": 2,
                        "resource_def": nested,
                    },
                },
                "unknown": {
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {"count": made, "resource_def": nested},
                },
                "waiting": {
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {
                        "count": 2,
                        "resource_def": {
                            **nested,
                            "properties": {"value": made},
                        },
                    },
                },
            },
        }
        body = {
            "stack_name": "s",
            "template": template,
            "files": {"leaf.yaml": json.dumps(leaf)},
        }
        got = self.project.call("POST", "/stacks/preview", body)
        self.assertEqual(200, got.status_code, got.text)
        [inner], [second], group, unknown, waiting = got.json()["stack"][
            "resources"
        ]
        self.assertEqual("inner", inner["resource_name"])
        self.assertEqual("main", inner["parent_resource"])
        self.assertEqual("s-main", inner["stack_name"])
        self.assertEqual("v", inner["properties"]["value"])
        self.assertEqual("None", inner["stack_identity"]["stack_id"])
        self.assertEqual(2, len(group))
        for [each] in group:
            self.assertEqual("inner", each["resource_name"])
            self.assertEqual("v", each["properties"]["value"])
        self.assertIsNone(second["properties"]["value"])
        self.assertEqual(["value"], second["unknown_properties"])
        # The members of this one are known, one of their values is not.
        self.assertEqual(2, len(waiting))
        for [each] in waiting:
            self.assertEqual("inner", each["resource_name"])
            self.assertIsNone(each["properties"]["value"])
            self.assertEqual(["value"], each["unknown_properties"])
        # How many it will have is not known before something exists.
        self.assertEqual("unknown", unknown["resource_name"])
        self.assertEqual({}, self.project.stacks())

    def test_create_is_refused_as_the_create_would_be(self):
        body = {"stack_name": "s", "template": TEMPLATE}
        wrong = {**body, "parameters": {"nonsense": 1}}
        got = self.project.call("POST", "/stacks/preview", wrong)
        self.assert_fault(got, 400, "UnknownUserParameter", "nonsense")
        self.project.create("s", TEMPLATE)
        got = self.project.call("POST", "/stacks/preview", body)
        self.assert_fault(got, 409, "StackExists", "s")

    def test_update(self):
        self.project.create("s", TEMPLATE)
        self.project.wait("s", "CREATE_COMPLETE")
        path = self.project.path("s")
        events = self.project.events("s")
        got = self.project.call(
            "PUT", f"{path}/preview", {"template": changed("two")}
        )
        self.assertEqual(200, got.status_code, got.text)
        groups = got.json()
        (first,), (second,) = groups["replaced"], groups["updated"]
        self.assertEqual(PUBLISHED_CHANGE | OURS, first.keys())
        self.assertIsInstance(first["stack_identity"], str)
        self.assertEqual(
            "first replaced <- "
            "can't be changed in place: update_replace_value",
            second["because_of"],
        )
        self.assertEqual((True, False), (first["certain"], second["certain"]))
        for group in ("added", "deleted", "unchanged"):
            self.assertEqual([], groups[group])
        patch = {"parameters": {"word": "y"}}
        groups = self.project.call("PATCH", f"{path}/preview", patch).json()
        self.assertEqual(
            ["first", "second"],
            [each["resource_name"] for each in groups["updated"]],
        )
        self.assertEqual(events, self.project.events("s"))
        self.assertEqual(
            "CREATE_COMPLETE", self.project.stack("s")["stack_status"]
        )

    def test_dry_runs_of_the_client(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(TEMPLATE, file)
            file.flush()
            made = self.openstack(
                "stack", "create", "--dry-run", "-t", file.name, "s"
            )
            self.assertEqual("s", made["stack_name"])
            self.assertEqual(2, len(made["resources"]))
            self.assertEqual({}, self.project.stacks())
            self.openstack("stack", "create", "--wait", "-t", file.name, "s")
            said = self.openstack(
                *("stack", "update", "--dry-run", "--show-nested"),
                *("--existing", "--parameter", "word=y", "s"),
            )
        self.assertEqual(
            {"added", "deleted", "replaced"} | {"unchanged", "updated"},
            said.keys(),
        )
        self.assertEqual(
            ["first", "second"],
            [each["resource_name"] for each in said["updated"]],
        )
