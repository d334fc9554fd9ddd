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
"""Signals and metadata that travel through queues.

A real engine, an identity and a messaging service in memory.
"""

from __future__ import annotations

import json
import time

from heat.db import resources
from heat.tests.fakes import messaging
from heat.tests.unit.engine.service import test_stack_users

hot = test_stack_users.hot


def waiting(count=1):
    return hot(
        handle={
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "ZAQAR_SIGNAL"},
        },
        wait={
            "type": "OS::Heat::WaitCondition",
            "properties": {
                "handle": {"get_resource": "handle"},
                "count": count,
                "timeout": 30,
            },
        },
    )


def deploying(word):
    return hot(
        config={
            "type": "OS::Heat::SoftwareConfig",
            "properties": {
                "inputs": [{"name": "word"}],
                "outputs": [{"name": "said"}],
            },
        },
        server={
            "type": "OS::Heat::DeployedServer",
            "properties": {"software_config_transport": "ZAQAR_MESSAGE"},
        },
        deployment={
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": {"get_resource": "server"},
                "input_values": {"word": word},
                "signal_transport": "ZAQAR_SIGNAL",
            },
        },
    )


class QueueTest(test_stack_users.StackUserTest):
    def setUp(self):
        super().setUp()
        self.messaging = self.useFixture(messaging.Messaging(self.keystone))

    def begun(self, template, name="s"):
        return self.client.create_stack(
            self.ctx, f"{name}{time.monotonic_ns()}", template, {}, {}, {}
        )

    def eventually(self, look, what):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            found = look()
            if found:
                return found
            time.sleep(0.02)
        return self.fail(what)

    def until_failed(self, identity):
        state = "CREATE", "FAILED"
        self.eventually(lambda: self.state(identity) == state, "no failure")

    def signals(self, identity):
        found = self.metadata(self.ctx, identity, "handle")
        return {key: value["data"] for key, value in found.items()}


class HandleTest(QueueTest):
    def queue(self):
        return self.eventually(
            lambda: next(iter(self.messaging.queues), None), "no queue"
        )

    def begun_waiting(self, count=1):
        identity = self.begun(waiting(count))
        return identity, self.queue()

    def test_a_whole_life(self):
        identity, queue = self.begun_waiting(3)
        told = [{"data": "a"}, "no signal", {"id": "x", "data": "b"}]
        self.messaging.post(queue, *told, {"data": "c"})
        self.wait(identity, "CREATE")
        self.assertEqual(
            {"1": "a", "x": "b", "3": "c"}, self.signals(identity)
        )
        self.assertEqual({queue: {}}, self.messaging.queues)
        found = self.data(identity, "handle")
        self.assertEqual(queue, json.loads(found["signal_queue"])["name"])
        shown = self.client.describe_stack_resource(
            self.ctx, identity, "handle", with_attr=["signal"]
        )
        # A map as JSON, which guests get as it is.
        told = json.loads(shown["attributes"]["signal"])
        self.assertEqual(queue, told["queue_id"])
        self.client.stack_suspend(self.ctx, identity)
        self.wait(identity, "SUSPEND")
        self.client.delete_stack(self.ctx, identity)
        self.until_gone(identity)
        self.assertEqual({}, self.messaging.queues)
        self.assertEqual({}, self.keystone.users)

    def test_one_that_can_not_be_taken_out_counts_once(self):
        """As when an engine ends between keeping it and taking it out."""
        identity, queue = self.begun_waiting(2)
        self.messaging.refuse = {"DELETE"}
        self.messaging.post(queue, {"data": "a"})
        self.until_failed(identity)
        self.messaging.refuse = set()
        self.messaging.post(queue, {"data": "b"})
        self.client.update_stack(self.ctx, identity, waiting(2), {}, {}, {})
        self.wait(identity, "UPDATE")
        self.assertEqual({"1": "a", "2": "b"}, self.signals(identity))


class DeploymentTest(QueueTest):
    def server_queue(self, identity):
        row = self.row(identity, "server")
        found = self.data(identity, "server") if row else {}
        text = found.get("metadata_queue")
        return json.loads(text)["name"] if text else None

    def row(self, identity, name):
        rows = self.db.read(
            lambda c: resources.list_for_stack(c, identity["stack_id"])
        )
        return next((each for each in rows if each.name == name), None)

    def inputs(self, identity, word):
        """What an agent finds that takes messages out, the oldest first."""

        def look():
            queue = self.server_queue(identity)
            messages = self.messaging.queues.get(queue) or {}
            for key in list(messages):
                body = messages.pop(key)
                for each in body["deployments"]:
                    found = {i["name"]: i["value"] for i in each["inputs"]}
                    if found["word"] == word:
                        return found
            return None

        return self.eventually(look, f"{word} is not told")

    def test_a_whole_life(self):
        identity = self.begun(deploying("one"))
        first = self.inputs(identity, "one")
        self.assertEqual("ZAQAR_SIGNAL", first["deploy_signal_transport"])
        user = self.keystone.users[first["deploy_user_id"]]
        self.assertEqual(user["password"], first["deploy_password"])
        self.messaging.post(first["deploy_queue_id"], {"said": "1"})
        self.wait(identity, "CREATE")
        self.client.update_stack(
            self.ctx, identity, deploying("two"), {}, {}, {}
        )
        second = self.inputs(identity, "two")
        self.assertNotIn(first["deploy_queue_id"], self.messaging.queues)
        self.messaging.post(second["deploy_queue_id"], {"said": "2"})
        self.wait(identity, "UPDATE")
        self.client.delete_stack(self.ctx, identity)
        self.until_gone(identity)
        self.assertEqual({}, self.messaging.queues)

    def test_a_long_name(self):
        """The service takes no longer names than 64 characters."""
        identity = self.begun(deploying("one"), "s" * 60)
        inputs = self.inputs(identity, "one")
        self.assertIn(inputs["deploy_queue_id"], self.messaging.queues)
        self.messaging.post(inputs["deploy_queue_id"], {"said": "1"})
        self.wait(identity, "CREATE")

    def test_a_refusal_in_the_services_words(self):
        self.messaging.refuse = {"POST"}
        identity = self.begun(deploying("one"))
        self.until_failed(identity)
        row = self.row(identity, "server")
        self.assertIn("Not now", row.status_reason)

    def test_what_is_no_report(self):
        identity = self.begun(deploying("one"))
        inputs = self.inputs(identity, "one")
        self.messaging.post(inputs["deploy_queue_id"], ["no map"])
        self.until_failed(identity)
        row = self.row(identity, "deployment")
        self.assertIn("map", row.status_reason)
