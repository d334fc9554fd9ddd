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

"""Many signals to two engines, and the notifications that they send."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

import kombu

from heat.tests.functional import base, deployment, test_scaling
from heat_integrationtests import test_stories


class MariaDBManySignalsTest(
    test_stories._Cluster, test_scaling.ManySignalsTest
):
    pass


class RabbitMQNotificationsTest(base.FunctionalTest):
    """What heat-engine notifies, read from the broker."""

    topic = f"notifications-{uuid.uuid4().hex[:8]}"

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return deployment.Cluster(
            test_stories.address(test_stories.MYSQL),
            test_stories.address(test_stories.RABBIT),
            engines=1,
            options=(
                "default_publisher_id = orchestrator",
                "[oslo_messaging_notifications]",
                "driver = messagingv2",
                f"topics = {cls.topic}",
            ),
        )

    def told(self, wanted: int) -> list[dict[str, Any]]:
        """The messages that have come, at least so many."""
        found: list[dict[str, Any]] = []
        url = test_stories.address(test_stories.RABBIT)
        url = url.replace("rabbit://", "amqp://", 1)
        deadline = time.monotonic() + 30
        with kombu.Connection(url) as connection:
            channel = connection.channel()
            while len(found) < wanted and time.monotonic() < deadline:
                for level in ("info", "error"):
                    found += self._read(channel, f"{self.topic}.{level}")
                time.sleep(0.1)
        return found

    def _read(self, channel: Any, name: str) -> list[dict[str, Any]]:
        channel.queue_declare(name, durable=False, auto_delete=False)
        found = []
        while (message := channel.basic_get(name, no_ack=True)) is not None:
            body = json.loads(message.body)
            found.append(json.loads(body["oslo.message"]))
        return found

    def tearDown(self) -> None:
        url = test_stories.address(test_stories.RABBIT)
        url = url.replace("rabbit://", "amqp://", 1)
        with kombu.Connection(url) as connection:
            for level in ("info", "error"):
                connection.channel().queue_delete(f"{self.topic}.{level}")
        super().tearDown()

    def test_a_life(self) -> None:
        self.assertEqual([], self.told(0))
        # The exchange routes to queues that are there.
        self.told(0)
        made = self.project.create("s", test_scaling.template())
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("s", "CREATE_COMPLETE")
        ident = self.project.stack("s")["id"]
        path = f"{self.project.path('s')}/resources/policy/signal"
        self.assertEqual(200, self.project.call("POST", path).status_code)
        time.sleep(0.5)
        self.project.wait("s", "UPDATE_COMPLETE")
        self.project.delete("s")
        self.project.wait_gone("s")
        told = [
            each
            for each in self.told(16)
            if each["payload"]["stack_name"] == "s"
        ]
        self.assertEqual(
            [
                "orchestration.stack.create.start",
                "orchestration.stack.create.end",
                "orchestration.stack.update.start",
                "orchestration.autoscaling.start",
                "orchestration.autoscaling.end",
                "orchestration.stack.update.end",
                "orchestration.stack.delete.start",
                "orchestration.stack.delete.end",
            ],
            [each["event_type"] for each in told],
        )
        self.assertEqual(
            {"orchestrator"}, {each["publisher_id"] for each in told}
        )
        self.assertEqual({"INFO"}, {each["priority"] for each in told})
        payload = told[1]["payload"]
        self.assertEqual("CREATE_COMPLETE", payload["state"])
        self.assertEqual(self.project.id, payload["tenant_id"])
        self.assertTrue(payload["stack_identity"].endswith(f"/s/{ident}"))
        self.assertEqual(1, told[3]["payload"]["capacity"])
