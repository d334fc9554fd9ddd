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

"""The main story: a stack is made, looked at, changed, and removed.

Told twice: through plain HTTP, where each answer is looked at closely, and
through the real ``openstack`` client. Other deployments run the same classes
(heat_integrationtests).
"""

from __future__ import annotations

import copy
import tempfile
from typing import Any

import yaml

from heat.tests.functional import base

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": "A secret, a sentence about it, and one that waits.",
    "parameters": {
        "length": {
            "type": "number",
            "default": 12,
            "constraints": [{"range": {"min": 4, "max": 64}}],
        },
        "word": {"type": "string"},
        "fail": {"type": "boolean", "default": False},
    },
    "resources": {
        "secret": {
            "type": "OS::Heat::RandomString",
            "properties": {"length": {"get_param": "length"}},
        },
        "sentence": {
            "type": "OS::Heat::Value",
            "properties": {
                "value": {
                    "str_replace": {
                        "template": "WORD is SECRET",
                        "params": {
                            "WORD": {"get_param": "word"},
                            "SECRET": {"get_attr": ["secret", "value"]},
                        },
                    }
                }
            },
        },
        "last": {
            "type": "OS::Heat::TestResource",
            "depends_on": "sentence",
            "properties": {
                "value": {"get_param": "word"},
                "fail": {"get_param": "fail"},
            },
        },
    },
    "outputs": {
        "secret": {
            "description": "What was made up",
            "value": {"get_attr": ["secret", "value"]},
        },
        "sentence": {"value": {"get_attr": ["sentence", "value"]}},
        "last": {"value": {"get_attr": ["last", "output"]}},
    },
}


class RestStoryTest(base.FunctionalTest):
    def make(self, name: str = "tale", **body: Any) -> dict[str, Any]:
        body.setdefault("parameters", {"word": "one"})
        made = self.project.create(name, TEMPLATE, **body)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait(name, "CREATE_COMPLETE")
        return made.json()["stack"]

    def test_create_answers_at_once_with_a_link(self):
        made = self.project.create("tale", TEMPLATE, parameters={"word": "w"})
        self.assertEqual(201, made.status_code, made.text)
        stack = made.json()["stack"]
        self.assertEqual({"id", "links"}, set(stack))
        self.assertIn(stack["id"], made.headers["Location"])
        [link] = stack["links"]
        self.assertEqual("self", link["rel"])
        self.project.wait("tale", "CREATE_COMPLETE")
        shown = self.project.get(link["href"])["stack"]
        self.assertEqual(stack["id"], shown["id"])

    def test_create_show_and_outputs(self):
        self.make(tags="blue,green", timeout_mins=5)
        stack = self.project.stack("tale")
        self.assertEqual("CREATE_COMPLETE", stack["stack_status"])
        self.assertEqual(
            TEMPLATE["description"], stack["template_description"]
        )
        self.assertEqual("12", str(stack["parameters"]["length"]))
        self.assertEqual("tale", stack["parameters"]["OS::stack_name"])
        self.assertEqual(["blue", "green"], sorted(stack["tags"]))
        outputs = self.project.outputs("tale")
        self.assertEqual(12, len(outputs["secret"]))
        self.assertEqual(f"one is {outputs['secret']}", outputs["sentence"])
        self.assertEqual("one", outputs["last"])
        path = self.project.path("tale")
        listed = self.project.get(f"{path}/outputs")["outputs"]
        self.assertEqual(
            {"secret", "sentence", "last"},
            {output["output_key"] for output in listed},
        )
        one = self.project.get(f"{path}/outputs/sentence")["output"]
        self.assertEqual(outputs["sentence"], one["output_value"])
        self.assertEqual(
            TEMPLATE["resources"].keys(),
            self.project.get(f"{path}/template")["resources"].keys(),
        )

    def test_events_follow_the_dependencies(self):
        self.make()
        seen = [
            (event["resource_name"], event["resource_status"])
            for event in self.project.events("tale")
        ]
        self.assert_order(
            [
                ("tale", "CREATE_IN_PROGRESS"),
                ("secret", "CREATE_IN_PROGRESS"),
                ("secret", "CREATE_COMPLETE"),
                ("sentence", "CREATE_IN_PROGRESS"),
                ("sentence", "CREATE_COMPLETE"),
                ("last", "CREATE_IN_PROGRESS"),
                ("last", "CREATE_COMPLETE"),
                ("tale", "CREATE_COMPLETE"),
            ],
            seen,
        )
        self.assertEqual(len(seen), len(set(seen)), seen)

    def test_resources(self):
        self.make()
        resources = self.project.resources("tale")
        self.assertEqual({"secret", "sentence", "last"}, set(resources))
        secret = resources["secret"]
        self.assertEqual("OS::Heat::RandomString", secret["resource_type"])
        self.assertEqual("CREATE_COMPLETE", secret["resource_status"])
        self.assertEqual(["sentence"], secret["required_by"])
        path = self.project.path("tale")
        shown = self.project.get(f"{path}/resources/secret")["resource"]
        self.assertEqual(
            self.project.outputs("tale")["secret"],
            shown["attributes"]["value"],
        )

    def test_update_in_place_keeps_identities(self):
        made = self.make()
        before = self.project.resources("tale")
        secret = self.project.outputs("tale")["secret"]
        got = self.project.update("tale", TEMPLATE, parameters={"word": "two"})
        self.assertEqual(202, got.status_code, got.text)
        stack = self.project.wait("tale", "UPDATE_COMPLETE")
        self.assertEqual(made["id"], stack["id"])
        after = self.project.resources("tale")
        self.assertEqual(
            {n: r["physical_resource_id"] for n, r in before.items()},
            {n: r["physical_resource_id"] for n, r in after.items()},
        )
        outputs = self.project.outputs("tale")
        self.assertEqual(secret, outputs["secret"])
        self.assertEqual(f"two is {secret}", outputs["sentence"])
        self.assertEqual("two", outputs["last"])

    def test_update_with_nothing_to_change(self):
        self.make()
        before = self.project.resources("tale")
        got = self.project.update("tale", TEMPLATE, parameters={"word": "one"})
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "UPDATE_COMPLETE")
        after = self.project.resources("tale")
        self.assertEqual(
            {n: r["physical_resource_id"] for n, r in before.items()},
            {n: r["physical_resource_id"] for n, r in after.items()},
        )
        touched = {
            event["resource_name"]
            for event in self.project.events("tale")
            if event["resource_status"].startswith(("UPDATE", "DELETE"))
        }
        self.assertEqual({"tale"}, touched)

    def test_update_that_replaces(self):
        self.make()
        before = self.project.resources("tale")
        old = self.project.outputs("tale")["secret"]
        got = self.project.update(
            "tale", TEMPLATE, parameters={"word": "one", "length": 20}
        )
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "UPDATE_COMPLETE")
        after = self.project.resources("tale")
        self.assertNotEqual(
            before["secret"]["physical_resource_id"],
            after["secret"]["physical_resource_id"],
        )
        self.assertEqual(
            before["sentence"]["physical_resource_id"],
            after["sentence"]["physical_resource_id"],
        )
        outputs = self.project.outputs("tale")
        self.assertEqual(20, len(outputs["secret"]))
        self.assertNotEqual(old, outputs["secret"])
        self.assertEqual(f"one is {outputs['secret']}", outputs["sentence"])
        # First the new one, then its user, and only then the old one goes.
        self.assert_order(
            [
                ("secret", "CREATE_COMPLETE"),
                ("secret", "CREATE_COMPLETE"),
                ("sentence", "UPDATE_COMPLETE"),
                ("secret", "DELETE_COMPLETE"),
                ("tale", "UPDATE_COMPLETE"),
            ],
            [
                (event["resource_name"], event["resource_status"])
                for event in self.project.events("tale")
            ],
        )

    def test_update_adds_and_removes(self):
        self.make()
        changed = copy.deepcopy(TEMPLATE)
        del changed["resources"]["last"]
        del changed["outputs"]["last"]
        del changed["parameters"]["fail"]
        changed["resources"]["extra"] = {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_attr": ["sentence", "value"]}},
        }
        got = self.project.update("tale", changed, parameters={"word": "one"})
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "UPDATE_COMPLETE")
        self.assertEqual(
            {"secret", "sentence", "extra"},
            set(self.project.resources("tale")),
        )

    def test_patch_keeps_what_is_not_given(self):
        self.make(parameters={"word": "one", "length": 15})
        got = self.project.update(
            "tale", patch=True, parameters={"word": "three"}
        )
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "UPDATE_COMPLETE")
        outputs = self.project.outputs("tale")
        self.assertEqual(15, len(outputs["secret"]))
        self.assertEqual("three", outputs["last"])

    def test_failing_update_rolls_back(self):
        self.make()
        before = self.project.resources("tale")
        outputs = self.project.outputs("tale")
        got = self.project.update(
            "tale",
            TEMPLATE,
            parameters={"word": "bad", "length": 30, "fail": True},
            disable_rollback=False,
        )
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "ROLLBACK_COMPLETE")
        self.assertEqual(outputs, self.project.outputs("tale"))
        after = self.project.resources("tale")
        self.assertEqual(
            before["secret"]["physical_resource_id"],
            after["secret"]["physical_resource_id"],
            "the living old one must be taken back, not a third one made",
        )
        self.assertEqual(set(before), set(after))
        failed = [
            event
            for event in self.project.events("tale")
            if event["resource_status"].endswith("FAILED")
        ]
        self.assertEqual("last", failed[0]["resource_name"])
        # It is not stuck: the next update goes through.
        got = self.project.update("tale", TEMPLATE, parameters={"word": "ok"})
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("tale", "UPDATE_COMPLETE")
        self.assertEqual("ok", self.project.outputs("tale")["last"])

    def test_failing_update_without_rollback(self):
        self.make()
        got = self.project.update(
            "tale",
            TEMPLATE,
            parameters={"word": "bad", "fail": True},
            disable_rollback=True,
        )
        self.assertEqual(202, got.status_code, got.text)
        stack = self.project.wait("tale", "UPDATE_FAILED")
        self.assertIn("last", stack["stack_status_reason"])

    def test_failing_create(self):
        made = self.project.create(
            "tale", TEMPLATE, parameters={"word": "w", "fail": True}
        )
        self.assertEqual(201, made.status_code, made.text)
        stack = self.project.wait("tale", "CREATE_FAILED", "ROLLBACK_COMPLETE")
        self.assertIn("last", stack["stack_status_reason"])
        self.assertEqual(204, self.project.delete("tale").status_code)
        self.project.wait_gone("tale")

    def test_delete(self):
        self.make()
        path = self.project.path("tale")
        self.assertEqual(204, self.project.delete("tale").status_code)
        self.project.wait_gone("tale")
        self.assertEqual({}, self.project.stacks())
        # By its id it can still be looked at.
        shown = self.project.get(path)["stack"]
        self.assertEqual("DELETE_COMPLETE", shown["stack_status"])
        # The name is free again.
        self.make()

    def test_many_side_by_side(self):
        """A join of many waits once, not in turn."""
        template = {
            "heat_template_version": "2021-04-16",
            "resources": {
                f"w{number}": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"wait_secs": 2},
                }
                for number in range(40)
            },
        }
        template["resources"]["join"] = {
            "type": "OS::Heat::Value",
            "properties": {
                "value": [
                    {"get_attr": [f"w{number}", "output"]}
                    for number in range(40)
                ]
            },
        }
        made = self.project.create("wide", template)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("wide", "CREATE_COMPLETE")
        self.assertEqual(41, len(self.project.resources("wide")))
        self.assertEqual(204, self.project.delete("wide").status_code)
        self.project.wait_gone("wide")


class ClientStoryTest(base.FunctionalTest):
    """The same through the real client, as a user would type it."""

    def test_a_whole_life(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(TEMPLATE, file)
            file.flush()
            self.live(file.name)

    def live(self, file: str) -> None:
        call = self.openstack
        made = call(
            *("stack", "create", "--wait", "--poll", 1, "-t", file),
            *("--parameter", "word=one", "--parameter", "length=16", "tale"),
        )
        self.assertEqual("CREATE_COMPLETE", made["stack_status"])
        [listed] = call("stack", "list")
        self.assertEqual("tale", listed["Stack Name"])
        self.assertEqual(made["id"], listed["ID"])
        self.assertEqual("CREATE_COMPLETE", listed["Stack Status"])
        shown = call("stack", "show", "tale")
        self.assertEqual(made["id"], shown["id"])
        secret = call("stack", "output", "show", "tale", "secret")
        self.assertEqual(16, len(secret["output_value"]))
        before = {
            row["resource_name"]: row["physical_resource_id"]
            for row in call("stack", "resource", "list", "tale")
        }
        self.assertEqual({"secret", "sentence", "last"}, set(before))
        events = call("stack", "event", "list", "tale")
        self.assertIn(
            "CREATE_COMPLETE", {row["resource_status"] for row in events}
        )
        updated = call(
            *("stack", "update", "--wait", "--existing"),
            *("--parameter", "word=two", "--parameter", "length=20", "tale"),
        )
        self.assertEqual("UPDATE_COMPLETE", updated["stack_status"])
        after = {
            row["resource_name"]: row["physical_resource_id"]
            for row in call("stack", "resource", "list", "tale")
        }
        self.assertNotEqual(before["secret"], after["secret"])
        self.assertEqual(before["sentence"], after["sentence"])
        mistake = self.assertRaises(
            base.ClientFailed,
            call,
            *("stack", "update", "--existing", "--parameter", "nope=1"),
            "tale",
        )
        self.assertIn("nope", str(mistake))
        call("stack", "delete", "--yes", "--wait", "tale", parse=False)
        self.assertEqual([], call("stack", "list"))
