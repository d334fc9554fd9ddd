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
"""Every route of the table, to a real engine: each of them does its work."""

from __future__ import annotations

import itertools
from typing import Any

from heat.api import routes
from heat.tests import base, inprocess

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "one": {"type": "OS::Heat::TestResource", "properties": {"value": 1}},
        "handle": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "TOKEN_SIGNAL"},
        },
    },
    "outputs": {"o": {"value": {"get_attr": ["one", "output"]}}},
}
STACK = "/stacks/{stack_name}/{stack_id}"
#: What requests bring, where a body is needed.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/validate"): {"template": TEMPLATE},
    ("POST", "/stacks"): {"stack_name": "new", "template": TEMPLATE},
    ("POST", "/stacks/preview"): {"stack_name": "p", "template": TEMPLATE},
    ("PUT", STACK): {"template": TEMPLATE},
    ("PATCH", STACK): {},
    ("PUT", f"{STACK}/preview"): {"template": TEMPLATE},
    ("PATCH", f"{STACK}/preview"): {},
    ("POST", f"{STACK}/actions"): {"check": None},
    ("POST", f"{STACK}/snapshots"): {"name": "n"},
    ("PATCH", f"{STACK}/resources/{{resource_name}}"): {
        "mark_unhealthy": True
    },
    ("POST", f"{STACK}/resources/{{resource_name}}/signal"): {
        "status": "SUCCESS"
    },
    ("POST", "/software_configs"): {"name": "c", "group": "script"},
    ("PUT", "/software_deployments/{deployment_id}"): {"status": "COMPLETE"},
}


class EveryRouteTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(
            inprocess.Service(
                enable_stack_abandon=True, enable_stack_adopt=True
            )
        )
        self.numbers = itertools.count()

    def rows(self) -> list[tuple[str, str]]:
        return [
            (method, route)
            for route, methods in routes.ROUTES.items()
            for method in methods
        ]

    def test_each_does_its_work(self):
        rows = self.rows()
        self.assertGreater(len(rows), 60)
        for method, route in rows:
            with self.subTest(method=method, route=route):
                names = self.names(route)
                path = route.format(**names)
                body = BODIES.get((method, route))
                if (method, route) == ("POST", "/software_deployments"):
                    body = self.deployment()
                answer = self.service.call(method, path, body)
                self.assertLess(answer.status_code, 400, answer.text)

    def names(self, route: str) -> dict[str, str]:
        """Values for the variables of a path; what they name is there."""
        names = {
            "resource_name": "handle" if "signal" in route else "one",
            "type_name": "OS::Heat::Value",
            "template_version": "heat_template_version.2021-04-16",
            "output_key": "o",
            "server_id": "a-server",
        }
        if "{stack_name}" in route or "{arn}" in route:
            name = f"s{next(self.numbers)}"
            made = self.service.create(name, TEMPLATE)
            project = self.service.project
            names |= {
                "stack_name": name,
                "stack_id": made,
                "arn": f"openstack:heat::{project}:stacks/{name}/{made}",
            }
            path = f"/stacks/{name}/{made}"
            if "{event_id}" in route:
                events = self.service.get(f"{path}/resources/one/events")
                names["event_id"] = events["events"][0]["id"]
            if "{snapshot_id}" in route:
                taken = self.service.call("POST", f"{path}/snapshots", {})
                names["snapshot_id"] = taken.get_json()["id"]
                self.service.wait(made, "SNAPSHOT_COMPLETE")
        if "{config_id}" in route:
            names["config_id"] = self.config()
        if "{deployment_id}" in route:
            answer = self.service.call(
                "POST", "/software_deployments", self.deployment()
            )
            made = answer.get_json()["software_deployment"]
            names["deployment_id"] = made["id"]
        return names

    def config(self) -> str:
        body = BODIES["POST", "/software_configs"]
        answer = self.service.call("POST", "/software_configs", body)
        return str(answer.get_json()["software_config"]["id"])

    def deployment(self) -> dict[str, str]:
        return {"config_id": self.config(), "server_id": "a-server"}
