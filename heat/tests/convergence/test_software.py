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

"""Stories of software configs and deployments in stacks."""

from __future__ import annotations

from heat.engine.software import configs, deployments
from heat.tests.convergence import test_signals
from heat.tests.convergence import test_stories as stories

CONFIG = {
    "type": "OS::Heat::SoftwareConfig",
    "properties": {
        "group": "script",
        "config": "#!/bin/sh\necho $word > $heat_outputs_path.said",
        "inputs": [{"name": "word", "default": "hello"}],
        "outputs": [
            {"name": "said"},
            {"name": "trouble", "error_output": True},
        ],
    },
}


def deployed(transport="HEAT_SIGNAL", kind="Software", **properties):
    return {
        "type": f"OS::Heat::{kind}Deployment",
        "properties": {
            "config": {"get_resource": "config"},
            "server": "server-1",
            "signal_transport": transport,
            **properties,
        },
    }


def template(deployment, config=CONFIG):
    return stories.hot(
        {"config": config, "deployment": deployment},
        {"said": {"value": {"get_attr": ["deployment", "said"]}}},
    )


class DeploymentTest(test_signals.SignalStory):
    def metadata(self):
        return deployments.metadata(
            self.world.db, self.world.context, "server-1"
        )

    def inputs(self):
        [config] = self.metadata()
        return {each["name"]: each["value"] for each in config["inputs"]}

    def counts(self):
        db, context = self.world.db, self.world.context
        return (
            len(configs.list_(db, context)),
            len(deployments.list_(db, context, None)),
        )

    def test_a_whole_life(self):
        stack = self.world.create(template(deployed()))
        self.until(stack, "deployment", "CREATE", "IN_PROGRESS")
        self.assertEqual("hello", self.inputs()["word"])
        self.assertEqual("CREATE", self.inputs()["deploy_action"])
        self.signal(
            stack,
            "deployment",
            {"said": "hello", "deploy_status_code": 0, "other": 1},
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual("hello", self.world.outputs(stack)["said"])
        self.world.update(
            stack, template(deployed(input_values={"word": "bye"}))
        )
        self.until(stack, "deployment", "UPDATE", "IN_PROGRESS")
        self.assertEqual("bye", self.inputs()["word"])
        self.signal(stack, "deployment", {"said": "bye"})
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("bye", self.world.outputs(stack)["said"])
        self.assertEqual((2, 1), self.counts())
        self.world.delete(stack)
        self.world.run()
        self.assertEqual((0, 0), self.counts())

    def test_a_config_shows_all_it_is(self):
        """A config without a group, and how ``show`` tells of it."""
        config = {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {"config": "true"},
        }
        shown = {"shown": {"value": {"get_attr": ["config", "show"]}}}
        stack = self.world.create(stories.hot({"config": config}, shown))
        self.world.run()
        told = self.world.outputs(stack)["shown"]
        self.assertEqual(
            ("true", "Heat::Ungrouped", []),
            (told["config"], told["group"], told["inputs"]),
        )
        row = self.world.living(stack)["config"]
        self.assertEqual(row.physical_id, told["id"])

    def test_what_fails(self):
        for number, report in enumerate(
            ({"trouble": "no disk"}, {"deploy_status_code": "7"})
        ):
            with self.subTest(report=report):
                stack = self.world.create(
                    template(deployed()), name=f"stack{number}"
                )
                self.until(stack, "deployment", "CREATE", "IN_PROGRESS")
                self.signal(stack, "deployment", report)
                self.world.run()
                self.assertState("CREATE_FAILED", stack)
                reason = self.world.stack(stack).status_reason
                self.assertIn(str(list(report.values())[0]), reason)
                self.world.delete(stack)
                self.world.run()

    def test_nobody_waits_without_a_signal(self):
        stack = self.world.create(template(deployed("NO_SIGNAL")))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(1, len(self.metadata()))

    def test_other_actions_deploy_nothing(self):
        stack = self.world.create(template(deployed(actions=["DELETE"])))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual([], self.metadata())
        self.world.delete(stack)
        self.until(stack, "deployment", "DELETE", "IN_PROGRESS")
        self.assertEqual("DELETE", self.inputs()["deploy_action"])
        self.signal(stack, "deployment", {})
        self.world.run()
        self.assertIsNotNone(self.world.stack(stack).deleted_at)

    def test_a_transport_that_is_not_there(self):
        for transport in ("ZAQAR_SIGNAL", "TEMP_URL_SIGNAL"):
            wish = template(deployed(transport))
            stack = self.world.create(wish, name=transport)
            self.world.run()
            self.assertState("CREATE_FAILED", stack)
            self.assertIn("HEAT_SIGNAL", self.world.stack(stack).status_reason)
            self.world.delete(stack)
            self.world.run()
            self.assertIsNotNone(self.world.stack(stack).deleted_at)

    def test_inputs_in_structured_configs(self):
        config = {
            "type": "OS::Heat::StructuredConfig",
            "properties": {
                "config": {"a": [{"get_input": "x"}], "b": "plain"}
            },
        }
        wish = deployed("NO_SIGNAL", "Structured", input_values={"x": 3})
        stack = self.world.create(template(wish, config))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        [found] = self.metadata()
        self.assertEqual({"a": [3], "b": "plain"}, found["config"])
        wish = deployed(
            "NO_SIGNAL", "Structured", input_values_validate="STRICT"
        )
        stack = self.world.create(template(wish, config), name="strict")
        self.world.run()
        self.assertState("CREATE_FAILED", stack)

    def test_a_component_by_action(self):
        config = {
            "type": "OS::Heat::SoftwareComponent",
            "properties": {
                "configs": [
                    {"tool": "script", "config": "make"},
                    {"tool": "puppet", "config": "x", "actions": ["DELETE"]},
                ]
            },
        }
        wish = deployed("NO_SIGNAL", actions=["CREATE", "DELETE"])
        stack = self.world.create(template(wish, config))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        [found] = self.metadata()
        self.assertEqual(("script", "make"), (found["group"], found["config"]))

    def test_user_data(self):
        resources = {
            "cloud": {
                "type": "OS::Heat::CloudConfig",
                "properties": {"cloud_config": {"users": ["me"]}},
            },
            "mime": {
                "type": "OS::Heat::MultipartMime",
                "properties": {
                    "parts": [
                        {"config": {"get_resource": "cloud"}},
                        {"config": "echo", "subtype": "x-shellscript"},
                    ]
                },
            },
        }
        stack = self.world.create(
            stories.hot(
                resources,
                {"text": {"value": {"get_attr": ["mime", "config"]}}},
            )
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        text = self.world.outputs(stack)["text"]
        self.assertIn("#cloud-config", text)
        self.assertIn("text/x-shellscript", text)

    def test_a_delay(self):
        began = self.world.now
        stack = self.world.create(
            stories.hot(
                {
                    "pause": {
                        "type": "OS::Heat::Delay",
                        "properties": {"min_wait": 30, "max_jitter": 1},
                    }
                }
            )
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertTrue(30 <= self.world.now - began < 40)
