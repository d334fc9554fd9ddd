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
"""Abandon, adopt and snapshots with two engines and real services."""

from __future__ import annotations

from heat.tests.functional import deployment, test_snapshots_and_adoption
from heat_integrationtests import test_stories


class MariaDBSnapshotsAndAdoptionTest(
    test_snapshots_and_adoption.SnapshotsAndAdoptionTest
):
    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return deployment.Cluster(
            test_stories.address(test_stories.MYSQL),
            test_stories.address(test_stories.RABBIT),
            options=test_snapshots_and_adoption.OPTIONS,
        )
