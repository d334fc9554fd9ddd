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
"""Environment files with heat-api and heat-engine, MariaDB and RabbitMQ."""

from __future__ import annotations

from heat.tests.functional import (
    base,
    deployment,
    test_environment_client,
    test_environment_files,
    test_environment_scale,
)
from heat_integrationtests import test_stories


class _Cluster(base.FunctionalTest):
    kind = "adopting"

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return deployment.Cluster(
            test_stories.address(test_stories.MYSQL),
            test_stories.address(test_stories.RABBIT),
            engines=2,
            options=("enable_stack_adopt = true",),
        )


class MariaDBTest(_Cluster, test_environment_files.EnvironmentFilesTest):
    pass


class MariaDBClientTest(_Cluster, test_environment_client.ClientTest):
    pass


class MariaDBScaleTest(_Cluster, test_environment_scale.ScaleTest):
    pass
