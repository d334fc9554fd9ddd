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

"""The stories with heat-api and two heat-engine processes, real services."""

from __future__ import annotations

import os
import unittest

from heat.tests.functional import (
    base,
    deployment,
    test_bad_input,
    test_main_story,
)

MYSQL = "HEAT_TEST_MYSQL_URL"
POSTGRESQL = "HEAT_TEST_POSTGRESQL_URL"
RABBIT = "HEAT_TEST_RABBIT_URL"


def address(variable: str) -> str:
    """The URL in the variable; without it the test fails or is skipped."""
    url = os.environ.get(variable)
    if url:
        return url
    if os.environ.get("HEAT_TEST_REQUIRE_SERVICES") == "1":
        raise AssertionError(f"{variable} must name a service")
    raise unittest.SkipTest(f"{variable} is not set")


class _Cluster(base.FunctionalTest):
    kind = "MariaDB"
    database = MYSQL
    backend = "threading"

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return deployment.Cluster(
            address(cls.database),
            address(RABBIT),
            engines=2,
            backend=cls.backend,
        )


class MariaDBClientTest(_Cluster, test_main_story.ClientStoryTest):
    pass


class MariaDBThreadingTest(_Cluster, test_main_story.RestStoryTest):
    pass


class MariaDBEventletTest(_Cluster, test_main_story.RestStoryTest):
    kind = None
    backend = "eventlet"


class PostgreSQLTest(_Cluster, test_main_story.RestStoryTest):
    kind = None
    database = POSTGRESQL


class MariaDBBadReferenceTest(_Cluster, test_bad_input.BadReferenceTest):
    pass


class EngineDiesTest(_Cluster):
    """An engine is killed in the middle of its work; the other ends it."""

    kind = None

    def test_create_survives_a_killed_engine(self):
        template = {
            "heat_template_version": "2021-04-16",
            "resources": {
                f"r{number}": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"wait_secs": 3},
                    **({"depends_on": f"r{number - 1}"} if number > 1 else {}),
                }
                for number in range(1, 4)
            },
        }
        made = self.project.create("survivor", template)
        self.assertEqual(201, made.status_code, made.text)
        self.running.kill("engine-0")
        # Whether the killed one held a resource is chance; either way the
        # stack comes to rest, and what failed on the way is said.
        stack = self.project.stack("survivor")
        while stack["stack_status"] == "CREATE_IN_PROGRESS":
            stack = self.project.wait(
                "survivor", "CREATE_COMPLETE", "CREATE_FAILED"
            )
        got = self.project.update("survivor", template)
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("survivor", "UPDATE_COMPLETE")
        self.assertEqual(204, self.project.delete("survivor").status_code)
        self.project.wait_gone("survivor")
