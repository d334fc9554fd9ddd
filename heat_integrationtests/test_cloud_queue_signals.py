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

"""Stories of signals and metadata that travel through a real queue."""

from __future__ import annotations

import json
import uuid
from typing import Any

from heat_integrationtests import test_cloud, test_cloud_signals

ref, res = test_cloud.ref, test_cloud.res


class QueueStory(test_cloud_signals.SignedStory):
    """Guests that log in as the user they were told, and use its queue."""

    def messaging(self, told: dict[str, Any]) -> Any:
        """Speaks to the service, by what a guest was told."""
        user = self.login(told)
        path = f"/v2/queues/{told['queue_id']}/messages"

        def speak(method: str, query: str = "", **kwargs: Any) -> Any:
            return user.request(
                path + query,
                method,
                endpoint_filter={"service_type": "messaging"},
                headers={"Client-ID": str(uuid.uuid4())},
                **kwargs,
            )

        return speak

    def send(self, told: dict[str, Any], *bodies: Any) -> None:
        messages = [{"body": body, "ttl": 600} for body in bodies]
        answer = self.messaging(told)("POST", json={"messages": messages})
        self.assertEqual(201, answer.status_code)

    def told(self, ident: str, name: str) -> Any:
        """An output, once it is known."""

        def look() -> Any:
            stack = self.heat.stacks.get(ident)
            return next(
                (
                    each.get("output_value")
                    for each in stack.outputs
                    if each["output_key"] == name
                ),
                None,
            )

        return self.eventually(look, name)


class WaitStory(QueueStory):
    def begin_waiting(self, count: int) -> tuple[str, dict[str, Any]]:
        outputs = {
            "told": {"value": {"get_attr": ["handle", "signal"]}},
            "data": {"value": {"get_attr": ["wait", "data"]}},
        }
        resources = {
            "handle": self.handle("ZAQAR_SIGNAL"),
            "wait": self.wait_for("handle", count),
        }
        ident = self.begin(resources, sections={"outputs": outputs})
        return ident, json.loads(self.told(ident, "told"))

    def test_a_whole_life(self) -> None:
        ident, told = self.begin_waiting(3)
        self.send(told, {"data": "one"}, {"id": "x", "data": "two"})
        self.send(told, "no signal", {"data": "three"})
        self.wait(ident, "CREATE_COMPLETE")
        data = self.told(ident, "data")
        for word in ("one", "two", "three"):
            self.assertIn(word, data)
        # What was taken is taken out.
        left = self.messaging(told)("GET", "?echo=true")
        found = left.json() if left.content else {}
        self.assertEqual([], found.get("messages", []))
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        self.delete(ident)

    def test_failure(self) -> None:
        ident, told = self.begin_waiting(1)
        self.send(told, {"status": "FAILURE", "reason": "no disk"})
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("no disk", stack.stack_status_reason)


class DeploymentStory(QueueStory):
    def resources(self, word: str) -> dict[str, Any]:
        return {
            "config": test_cloud_signals.CONFIG,
            "server": res(
                "Heat::DeployedServer",
                software_config_transport="ZAQAR_MESSAGE",
            ),
            "deployment": res(
                "Heat::SoftwareDeployment",
                config=ref("config"),
                server=ref("server"),
                input_values={"word": word},
                signal_transport="ZAQAR_SIGNAL",
            ),
        }

    OUTPUTS = {
        "agent": {
            "value": {"get_attr": ["server", "os_collect_config", "zaqar"]}
        },
        "said": {"value": {"get_attr": ["deployment", "said"]}},
    }

    def next_inputs(self, agent: dict[str, Any], word: str) -> dict[str, Any]:
        """What the agent takes out of its queue, until it is told of this."""
        speak = self.messaging(agent)

        def look() -> Any:
            answer = speak("DELETE", "?pop=1")
            for message in answer.json().get("messages", ()):
                for each in message["body"].get("deployments", ()):
                    inputs = {i["name"]: i["value"] for i in each["inputs"]}
                    if inputs["word"] == word:
                        return inputs
            return None

        found: dict[str, Any] = self.eventually(look, word)
        return found

    def report(self, inputs: dict[str, Any], said: Any) -> None:
        names = ("auth_url", "user_id", "password", "project_id", "queue_id")
        self.send({name: inputs[f"deploy_{name}"] for name in names}, said)

    def test_a_whole_life(self) -> None:
        sections = {"outputs": self.OUTPUTS}
        ident = self.begin(self.resources("one"), sections=sections)
        agent = self.told(ident, "agent")
        first = self.next_inputs(agent, "one")
        self.report(first, {"said": "one!", "deploy_status_code": 0})
        self.wait(ident, "CREATE_COMPLETE")
        self.assertEqual("one!", self.told(ident, "said"))
        self.heat.stacks.update(
            stack_id=ident,
            template=self.template(self.resources("two"), **sections),
        )
        second = self.next_inputs(agent, "two")
        self.assertNotEqual(
            first["deploy_queue_id"], second["deploy_queue_id"]
        )
        self.report(second, {"said": "two!"})
        self.wait(ident, "UPDATE_COMPLETE")
        self.assertEqual("two!", self.told(ident, "said"))
        self.delete(ident)

    def test_what_is_no_report(self) -> None:
        ident = self.begin(
            self.resources("one"), sections={"outputs": self.OUTPUTS}
        )
        inputs = self.next_inputs(self.told(ident, "agent"), "one")
        self.report(inputs, ["no map"])
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("map", stack.stack_status_reason)
