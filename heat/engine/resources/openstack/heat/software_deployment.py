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

"""OS::Heat::SoftwareDeployment: a config on a server."""

from __future__ import annotations

from heat.engine import resource, support
from heat.engine.resources import software_deployment


class SoftwareDeployment(software_deployment.DeploymentResource):
    """A software config, deployed on a server.

    The outputs of the config are attributes of the resource.
    """

    entity = "software_deployments"
    support_status = support.SupportStatus(version="2014.1")

    properties_schema = software_deployment.schema()


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::SoftwareDeployment": SoftwareDeployment}
