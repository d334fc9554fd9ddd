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

"""RPC methods on software configs and deployments."""

from __future__ import annotations

from typing import Any

from heat.common.context import RequestContext
from heat.engine.service import base
from heat.engine.software import configs, deployments
from heat.engine.stack import lock
from heat.rpc import api

Dict = dict[str, Any]


class SoftwareEndpoint(base.Endpoint):
    """Configs, and deployments of them.

    What is not there, or is another project's, is an EntityNotFound.
    """

    @base.request
    def show_software_config(
        self, context: RequestContext, config_id: str
    ) -> Dict:
        """One config."""
        return configs.show(self._engine.db, context, config_id)

    @base.request
    def list_software_configs(
        self,
        context: RequestContext,
        limit: int | None = None,
        marker: str | None = None,
        tenant_safe: bool | None = None,
    ) -> list[Dict]:
        """A page of the project's configs, in brief."""
        return configs.list_(self._engine.db, context, limit, marker)

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
        """Make a config.

        :raises ValueError: an input or output is wrong
        :raises RequestLimitExceeded: the project has too many
        """
        return configs.create(
            self._engine.db,
            context,
            context.project_id,
            self._engine.conf.max_software_configs_per_tenant,
            group=group,
            name=name,
            config=config,
            inputs=inputs,
            outputs=outputs,
            options=options,
        )

    @base.request
    def delete_software_config(
        self, context: RequestContext, config_id: str
    ) -> None:
        """Delete a config that no deployment uses."""
        configs.delete(self._engine.db, context, config_id)

    @base.request
    def list_software_deployments(
        self, context: RequestContext, server_id: str | None
    ) -> list[Dict]:
        """The deployments of the project, or of one server."""
        return deployments.list_(self._engine.db, context, server_id)

    @base.request
    def metadata_software_deployments(
        self, context: RequestContext, server_id: str
    ) -> list[Any]:
        """The configs that a server has to deploy."""
        return deployments.metadata(self._engine.db, context, server_id)

    @base.request
    def show_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> Dict:
        """One deployment."""
        return deployments.show(self._engine.db, context, deployment_id)

    @base.request
    def check_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        timeout: float | None,
    ) -> Dict:
        """One deployment; reports come by themselves, none is fetched."""
        return deployments.show(self._engine.db, context, deployment_id)

    @base.request
    def create_software_deployment(
        self,
        context: RequestContext,
        server_id: str | None,
        config_id: str | None,
        input_values: Dict | None,
        action: str = "INIT",
        status: str = "COMPLETE",
        status_reason: str | None = None,
        stack_user_project_id: str | None = None,
        deployment_id: str | None = None,
    ) -> Dict:
        """Make a deployment.

        :raises ValueError: no server is named
        :raises RequestLimitExceeded: the project has too many
        :raises StackLocked: the server's stack is locked
        """
        server = deployments.server(server_id)
        lock.guard_object(self._engine, server, "deployment")
        return deployments.create(
            self._engine.db,
            context,
            context.project_id,
            self._engine.conf.max_software_deployments_per_tenant,
            id=deployment_id,
            server_id=server,
            config_id=config_id,
            input_values=input_values,
            action=action,
            status=status,
            status_reason=status_reason,
            stack_user_project_id=stack_user_project_id,
        )

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
        """Change a deployment; what is None stays.

        :raises StackLocked: the server's stack is locked, and this is more
            than a report
        """
        if (config_id, input_values, action) != (None, None, None):
            self._guard(context, deployment_id)
        return deployments.update(
            self._engine.db,
            context,
            deployment_id,
            config_id=config_id,
            input_values=input_values,
            output_values=output_values,
            action=action,
            status=status,
            status_reason=status_reason,
            updated_at=updated_at,
        )

    @base.request
    def delete_software_deployment(
        self, context: RequestContext, deployment_id: str
    ) -> None:
        """Delete a deployment; its config stays.

        :raises StackLocked: the server's stack is locked
        """
        self._guard(context, deployment_id)
        deployments.delete(self._engine.db, context, deployment_id)

    @base.request
    def signal_software_deployment(
        self,
        context: RequestContext,
        deployment_id: str,
        details: Any,
        updated_at: str | None,
    ) -> Any:
        """Report the end of a deployment.

        :returns: a sentence that says what came of it, or None
        """
        return deployments.signal(
            self._engine.db, context, deployment_id, details, updated_at
        )

    def _guard(self, context: RequestContext, deployment_id: str) -> None:
        found = deployments.show(self._engine.db, context, deployment_id)
        server_id = found[api.SOFTWARE_DEPLOYMENT_SERVER_ID]
        lock.guard_object(self._engine, server_id, "deployment")
