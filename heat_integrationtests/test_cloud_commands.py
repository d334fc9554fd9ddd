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
"""Every command of the public clients, as a user of a real Keystone."""

from __future__ import annotations

from typing import Any

from heat.tests.functional import test_commands
from heat_integrationtests import cloud


class CloudMatrixTest(test_commands.MatrixTest):
    """The rows on heat-api and heat-engine that Keystone guards."""

    kind = "cloud"

    @classmethod
    def setUpClass(cls) -> None:
        cloud.check_environment()
        super().setUpClass()

    @classmethod
    def make_deployment(cls) -> Any:
        return cloud.CloudCluster(engines=2)

    def setUp(self) -> None:
        # An administrator: the list of services is theirs.
        self.admin = cloud.administrator()
        self.token = str(self.admin.auth_token)
        self.endpoint = f"{self.url}/v1/{self.admin.current_project_id}"
        super().setUp()

    def user(self) -> dict[str, str]:
        return {
            **super().user(),
            "OS_AUTH_TYPE": "admin_token",
            "OS_TOKEN": self.token,
            "OS_ENDPOINT": self.endpoint,
        }

    def legacy(self) -> tuple[str, ...]:
        return (
            "--os-no-client-auth",
            *("--heat-url", self.endpoint, "--os-auth-token", self.token),
        )
