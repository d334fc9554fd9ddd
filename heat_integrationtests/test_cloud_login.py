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

"""Users who bring a password in the place of a token."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any

import requests

from heat_integrationtests import cloud, test_cloud

OTHERS = "http://127.0.0.1:9/identity"


class LoginCluster(cloud.CloudCluster):
    """A service that lets users choose between identity services."""

    def __init__(self) -> None:
        super().__init__()
        self.extra = (
            "[DEFAULT]\n"
            "deferred_auth_method = password\n"
            "[auth_password]\n"
            "multi_cloud = true\n"
            f"allowed_auth_uris = {self.auth_url},{OTHERS}\n"
        )


class LoginStory(test_cloud.CloudStory):
    @classmethod
    def setUpClass(cls) -> None:
        cls.running = LoginCluster()
        cls.running.start()
        cls.addClassCleanup(cls.running.stop)

    def ask(
        self, method: str, path: str, body: Any = None, **more: str
    ) -> Any:
        headers = {
            "X-Auth-User": os.environ["OS_USERNAME"],
            "X-Auth-Key": os.environ["OS_PASSWORD"],
            "X-Auth-Url": self.running.auth_url,
            "X-User-Domain-Name": "Default",
            "X-Region-Name": self.running.region,
        }
        headers.update({k.replace("_", "-"): v for k, v in more.items()})
        return requests.request(
            method,
            f"{self.running.endpoint}{path}",
            json=body,
            headers=headers,
            timeout=60,
        )

    def test_life_of_a_stack(self) -> None:
        name = f"login-{uuid.uuid4().hex[:8]}"
        made = self.ask(
            "POST",
            "/stacks",
            {
                "stack_name": name,
                "template": self.template(
                    {"net": test_cloud.res("Neutron::Net")}
                ),
            },
        )
        self.assertEqual(201, made.status_code, made.text)
        ident = made.json()["stack"]["id"]
        self.addCleanup(self.delete, ident)
        deadline = time.monotonic() + test_cloud.SECONDS
        while time.monotonic() < deadline:
            shown = self.ask("GET", f"/stacks/{name}/{ident}").json()["stack"]
            if not shown["stack_status"].endswith("IN_PROGRESS"):
                break
            time.sleep(1)
        self.assertEqual("CREATE_COMPLETE", shown["stack_status"], shown)
        net = self.physical(ident, "net")
        found = self.cloud.network.get_network(net)
        self.assertEqual(self.running.project_id, found.project_id)

    def test_refused(self) -> None:
        for status, more in (
            (401, {"X_Auth_Key": "wrong"}),
            (401, {"X_Auth_User": "nobody"}),
            (401, {"X_Auth_Url": "http://127.0.0.1:1/not/allowed"}),
            (401, {"X_Auth_Url": ""}),
            # Allowed, and not there.
            (503, {"X_Auth_Url": OTHERS}),
        ):
            with self.subTest(**more):
                answer = self.ask("GET", "/stacks", **more)
                self.assertEqual(status, answer.status_code, answer.text)
                self.assertNotIn("wrong", answer.text)
