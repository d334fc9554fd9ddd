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

"""Groups that policies change, when many signals come at once."""

from __future__ import annotations

import time
from concurrent import futures
from typing import Any

from heat.tests.functional import base

SIGNALS = 200
SENDERS = 16


def template(**cooldown: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {
                    "min_size": 0,
                    "max_size": 1000,
                    "desired_capacity": 0,
                    "resource": {"type": "OS::Heat::None"},
                },
            },
            "policy": {
                "type": "OS::Heat::ScalingPolicy",
                "properties": {
                    "auto_scaling_group_id": {"get_resource": "group"},
                    "adjustment_type": "change_in_capacity",
                    "scaling_adjustment": 1,
                    **cooldown,
                },
            },
        },
        "outputs": {
            "size": {"value": {"get_attr": ["group", "current_size"]}}
        },
    }


class ManySignalsTest(base.FunctionalTest):
    def send(self, count: int) -> None:
        """Send signals from several clients at once; each is accepted."""
        path = f"{self.project.path('s')}/resources/policy/signal"

        def one(_number: int) -> tuple[int, str]:
            project = base.Project(self.running.url, self.project.id)
            got = project.call("POST", path, {"state": "alarm"})
            return got.status_code, got.text

        with futures.ThreadPoolExecutor(SENDERS) as pool:
            answers = list(pool.map(one, range(count)))
        refused = [each for each in answers if each[0] != 200]
        self.assertEqual([], refused)

    def settled(self) -> int:
        """The size of the group when nothing happens any more."""
        deadline = time.monotonic() + base.WAIT_SECONDS
        while time.monotonic() < deadline:
            stack = self.project.stack("s")
            self.assertNotIn("FAILED", stack["stack_status"])
            if stack["stack_status"].endswith("COMPLETE"):
                return int(self.project.outputs("s")["size"])
            time.sleep(0.2)
        self.fail("the stack does not come to rest")

    def make(self, **cooldown: Any) -> None:
        made = self.project.create("s", template(**cooldown))
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("s", "CREATE_COMPLETE")
        self.addCleanup(self.project.delete, "s")

    def test_none_is_lost_and_none_counts_twice(self):
        self.make()
        self.send(SIGNALS)
        self.assertEqual(SIGNALS, self.settled())

    def test_one_counts_while_the_policy_cools_down(self):
        self.make(cooldown=600)
        self.send(SIGNALS)
        self.assertEqual(1, self.settled())
