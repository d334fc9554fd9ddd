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

"""RPC methods on software configs and deployments: still to come."""

from __future__ import annotations

from typing import Any

from heat.common.context import RequestContext
from heat.db import software
from heat.engine.service import base
from heat.engine.stack import lock

Dict = dict[str, Any]

_CONFIGS = "Software configs"
_DEPLOYMENTS = "Software deployments"


class SoftwareEndpoint(base.Endpoint):
    """Every method says that this release does not serve it."""

    @base.request
    def show_software_config(
        self, context: RequestContext, config_id: str
    ) -> Dict:
        raise base.not_yet(_CONFIGS)

    @base.request
    def list_software_configs(
        self,
        context: RequestContext,
        limit: int | None = None,
        marker: str | None = None,
        tenant_safe: bool | None = None,
    ) -> list[Dict]:
        raise base.not_yet(_CONFIGS)

    @base.request
    def create_software_config(
        self,
        context: RequestContext,
        group: str | None,
        name: str,
        config: str | None,
        inputs: list[Any] | None,
        outputs: list[Any] | None,
        options: Dict | None,
    ) -> Dict:
        raise base.not_yet(_CONFIGS)

    @base.request
    def delete_software_config(
        self, context: RequestContext, config_id: str
    ) -> None:
        raise base.not_yet(_CONFIGS)

    @base.request
    def list_software_deployments(
        self, context: RequestContext, server_id: str | None
    ) -> list[Dict]:
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def metadata_software_deployments(
        self, context: RequestContext, server_id: str
    ) -> list[Any]:
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def show_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> Dict:
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def check_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        timeout: float | None,
    ) -> Dict:
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def create_software_deployment(
        self,
        context: RequestContext,
        server_id: str,
        config_id: str | None,
        input_values: Dict | None,
        action: str = "INIT",
        status: str = "COMPLETE",
        status_reason: str | None = None,
        stack_user_project_id: str | None = None,
        deployment_id: str | None = None,
    ) -> Dict:
        lock.guard_object(self._engine, server_id, "deployment")
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def update_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        config_id: str | None,
        input_values: Dict | None,
        output_values: Dict | None,
        action: str | None,
        status: str | None,
        status_reason: str | None,
        updated_at: str | None,
    ) -> Dict:
        # Status, outputs and reason are data: what the server reports.
        if (config_id, input_values, action) != (None, None, None):
            self._guard(deployment_id)
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def delete_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> None:
        self._guard(deployment_id)
        raise base.not_yet(_DEPLOYMENTS)

    @base.request
    def signal_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        details: Any,
        updated_at: str | None,
    ) -> Any:
        raise base.not_yet(_DEPLOYMENTS)

    def _guard(self, deployment_id: str) -> None:
        """Check that no stack that holds the server is locked.

        :raises StackLocked: quoting the record of the lock
        """
        found = self._engine.db.read(
            lambda conn: software.get_deployment(conn, deployment_id)
        )
        if found is not None:
            lock.guard_object(self._engine, found.server_id, "deployment")
