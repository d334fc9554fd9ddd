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
"""Groups, as users meet them: many resources of one definition."""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any

import yaml

from heat.tests.functional import base

LEAF: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "parameters": {"word": {"type": "string"}},
    "resources": {
        "thing": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_param": "word"}},
        }
    },
    "outputs": {"word": {"value": {"get_attr": ["thing", "output"]}}},
}


def template(count: int, word: str = "one", **properties: Any) -> dict:
    """A template with one group, of members that are templates."""
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "count": count,
                    "resource_def": {
                        "type": "leaf.yaml",
                        "properties": {"word": f"{word}-%index%"},
                    },
                    **properties,
                },
            }
        },
        "outputs": {
            "words": {"value": {"get_attr": ["group", "word"]}},
            "first": {"value": {"get_attr": ["group", "resource.0.word"]}},
            "refs": {"value": {"get_attr": ["group", "refs"]}},
        },
    }


FILES = {"leaf.yaml": json.dumps(LEAF)}


class GroupRestTest(base.FunctionalTest):
    def change(self, *args: Any, **properties: Any) -> None:
        changed = self.project.update(
            "many", template(*args, **properties), files=FILES
        )
        self.assertEqual(202, changed.status_code, changed.text)
        self.project.wait("many", "UPDATE_COMPLETE")

    def test_a_group_is_made_changed_and_deleted(self):
        made = self.project.create("many", template(3), files=FILES)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("many", "CREATE_COMPLETE")
        found = self.project.outputs("many")
        self.assertEqual(["one-0", "one-1", "one-2"], found["words"])
        self.assertEqual("one-0", found["first"])
        path = self.project.path("many")
        listed = self.project.get(
            f"{path}/resources", params={"nested_depth": 1}
        )["resources"]
        self.assertEqual(
            ["0", "1", "2", "group"],
            sorted(each["resource_name"] for each in listed),
        )
        shown = self.project.get(
            f"{path}/resources/group", params={"with_attr": "word"}
        )["resource"]["attributes"]
        self.assertEqual(found["words"], shown["word"])
        self.assertEqual(found["refs"], shown["refs"])

        self.change(2, "two")
        found = self.project.outputs("many")
        self.assertEqual(["two-0", "two-1"], found["words"])
        self.change(2, "two", removal_policies=[{"resource_list": ["0"]}])
        found = self.project.outputs("many")
        self.assertEqual(["two-1", "two-2"], found["words"])
        self.assertIsNone(found["first"])

        self.project.delete("many")
        self.project.wait_gone("many")
        listed = self.project.get("/stacks", params={"show_nested": "true"})
        self.assertEqual([], listed["stacks"])

    def test_what_is_wrong_with_a_member(self):
        self.assert_fault(
            self.project.create("many", template(2)),
            400,
            "StackValidationFailed",
            "resources.group",
            "leaf.yaml",
        )
        self.assertEqual({}, self.project.stacks())


SCALING: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {
                "min_size": 1,
                "max_size": 3,
                "resource": {"type": "OS::Heat::TestResource"},
            },
        },
        "more": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        },
    },
    "outputs": {
        "size": {"value": {"get_attr": ["group", "current_size"]}},
        "url": {"value": {"get_attr": ["more", "signal_url"]}},
    },
}


class ScalingRestTest(base.FunctionalTest):
    def test_a_signal_makes_the_group_larger(self):
        made = self.project.create("scaled", SCALING)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("scaled", "CREATE_COMPLETE")
        found = self.project.outputs("scaled")
        self.assertEqual(1, found["size"])
        path = self.project.path("scaled")
        signal = f"{path}/resources/more/signal"
        self.assertTrue(found["url"].endswith(signal), found["url"])
        for size in (2, 3, 3):
            sent = self.project.call("POST", signal)
            self.assertEqual(200, sent.status_code, sent.text)
            self.project.wait("scaled", "UPDATE_COMPLETE")
            self.assertEqual(size, self.project.outputs("scaled")["size"])


class GroupClientTest(base.FunctionalTest):
    """The client sends the template of the members along."""

    def test_create_and_look(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        folder = pathlib.Path(held.name)
        (folder / "leaf.yaml").write_text(yaml.safe_dump(LEAF))
        (folder / "top.yaml").write_text(yaml.safe_dump(template(2)))
        self.openstack(
            *("stack", "create", "many", "--wait"),
            *("-t", folder / "top.yaml"),
        )
        listed = self.openstack("stack", "resource", "list", "many", "-n", 2)
        self.assertEqual(5, len(listed))
        shown = self.openstack("stack", "output", "show", "many", "words")
        self.assertEqual('["one-0", "one-1"]', _flat(shown["output_value"]))
        self.openstack(
            *("stack", "delete", "many", "--yes", "--wait"), parse=False
        )


def _flat(value: Any) -> str:
    found = json.loads(value) if isinstance(value, str) else value
    return json.dumps(found)
