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
"""Nested stacks, as users meet them: templates that use templates.

Told through plain HTTP, and through the real ``openstack`` client, which
finds the files that a template uses and sends them along.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
import time
from typing import Any

import yaml

from heat.tests.functional import base

WORD: dict[str, Any] = {"word": {"type": "string"}}

LEAF: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": "One word.",
    "parameters": {**WORD, "fail": {"type": "boolean", "default": False}},
    "resources": {
        "thing": {
            "type": "OS::Heat::TestResource",
            "properties": {
                "value": {"get_param": "word"},
                "fail": {"get_param": "fail"},
            },
        }
    },
    "outputs": {"word": {"value": {"get_attr": ["thing", "output"]}}},
}


def holder(type_: str, **properties: Any) -> dict[str, Any]:
    """A template with one resource ``inner`` that is a template."""
    return {
        "heat_template_version": "2021-04-16",
        "parameters": WORD,
        "resources": {
            "inner": {
                "type": type_,
                "properties": {"word": {"get_param": "word"}, **properties},
            }
        },
        "outputs": {"word": {"value": {"get_attr": ["inner", "word"]}}},
    }


FILES = {
    "leaf.yaml": json.dumps(LEAF),
    "branch.yaml": json.dumps(holder("leaf.yaml")),
}
TOP = holder("branch.yaml")


class NestedRestTest(base.FunctionalTest):
    def make(self, template: Any = TOP, **body: Any) -> None:
        body.setdefault("parameters", {"word": "one"})
        body.setdefault("files", FILES)
        made = self.project.create("tree", template, **body)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("tree", "CREATE_COMPLETE")

    def test_a_tree_is_made_shown_changed_and_deleted(self):
        self.make()
        self.assertEqual({"word": "one"}, self.project.outputs("tree"))
        top = self.project.stack("tree")
        self.assertIsNone(top["parent"])
        inner = self.project.resources("tree")["inner"]
        self.assertEqual("branch.yaml", inner["resource_type"])
        [nested] = [
            link["href"] for link in inner["links"] if link["rel"] == "nested"
        ]
        branch = self.project.get(nested)["stack"]
        self.assertEqual(top["id"], branch["parent"])
        self.assertEqual(inner["physical_resource_id"], branch["id"])
        # Children are listed only when they are asked for.
        self.assertEqual({"tree"}, set(self.project.stacks()))
        listed = self.project.get("/stacks", params={"show_nested": "true"})
        self.assertEqual(3, len(listed["stacks"]))

        changed = self.project.update(
            "tree", TOP, parameters={"word": "two"}, files=FILES
        )
        self.assertEqual(202, changed.status_code, changed.text)
        self.project.wait("tree", "UPDATE_COMPLETE")
        self.assertEqual({"word": "two"}, self.project.outputs("tree"))
        again = self.project.get(nested)["stack"]
        self.assertEqual("UPDATE_COMPLETE", again["stack_status"])

        self.project.delete("tree")
        self.project.wait_gone("tree")
        listed = self.project.get("/stacks", params={"show_nested": "true"})
        self.assertEqual([], listed["stacks"])

    def test_lists_go_down_as_deep_as_asked(self):
        self.make()
        path = self.project.path("tree")
        for depth, names in (
            (0, ["inner"]),
            (1, ["inner", "inner"]),
            (2, ["inner", "inner", "thing"]),
        ):
            listed = self.project.get(
                f"{path}/resources", params={"nested_depth": depth}
            )["resources"]
            self.assertEqual(
                names, sorted(each["resource_name"] for each in listed)
            )
        [thing] = [each for each in listed if each["resource_name"] == "thing"]
        self.assertEqual("inner", thing["parent_resource"])
        events = self.project.get(
            f"{path}/events", params={"nested_depth": 2}
        )["events"]
        self.assertIn("thing", {each["resource_name"] for each in events})

    def test_a_nest_does_not_wait(self):
        """A child's end wakes its parent at once."""
        began = time.monotonic()
        self.make()
        took = time.monotonic() - began
        # Two parents that only looked now and then would take 10 seconds.
        self.assertLess(took, 2.0)
        began = time.monotonic()
        self.project.delete("tree")
        self.project.wait_gone("tree")
        self.assertLess(time.monotonic() - began, 2.0)

    def test_a_failure_is_told_from_the_bottom_up(self):
        made = self.project.create(
            "tree",
            TOP,
            parameters={"word": "one"},
            files={
                **FILES,
                "branch.yaml": json.dumps(holder("leaf.yaml", fail=True)),
            },
        )
        self.assertEqual(201, made.status_code, made.text)
        stack = self.project.wait("tree", "CREATE_FAILED")
        reason = stack["stack_status_reason"]
        for word in ("resources.inner", "resources.thing"):
            self.assertIn(word, reason)
        self.project.delete("tree")
        self.project.wait_gone("tree")

    def test_what_is_wrong_inside_is_said_before_anything_is_made(self):
        bad = holder("leaf.yaml", nothing="x")
        self.assert_fault(
            self.project.create(
                "tree",
                TOP,
                parameters={"word": "one"},
                files={**FILES, "branch.yaml": json.dumps(bad)},
            ),
            400,
            "StackValidationFailed",
            "resources.inner<branch.yaml>.resources.inner.properties",
            "nothing",
        )
        self.assert_fault(
            self.project.create("tree", TOP, parameters={"word": "one"}),
            400,
            "StackValidationFailed",
            '"branch.yaml"',
        )
        self.assertEqual({}, self.project.stacks())


class NestedClientTest(base.FunctionalTest):
    """The client sends the files that it finds in the template."""

    def setUp(self) -> None:
        super().setUp()
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        for name, body in (
            ("leaf.yaml", LEAF),
            ("branch.yaml", holder("My::Leaf")),
            ("top.yaml", TOP),
            ("env.yaml", {"resource_registry": {"My::Leaf": "leaf.yaml"}}),
        ):
            (self.folder / name).write_text(yaml.safe_dump(body))

    def test_create_and_look(self):
        self.openstack(
            *("stack", "create", "tree", "--wait"),
            *("-t", self.folder / "top.yaml", "-e", self.folder / "env.yaml"),
            *("--parameter", "word=one"),
        )
        listed = self.openstack("stack", "resource", "list", "tree", "-n", 2)
        self.assertEqual(3, len(listed))
        self.assertEqual(
            {"tree"}, {each["stack_name"].split("-")[0] for each in listed}
        )
        shown = self.openstack("stack", "output", "show", "tree", "word")
        self.assertEqual("one", shown["output_value"])
        self.openstack(
            *("stack", "delete", "tree", "--yes", "--wait"), parse=False
        )
