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

"""RPC methods about the engine itself."""

from __future__ import annotations

from typing import Any

from heat.common.context import RequestContext
from heat.db import released, services
from heat.engine.service import base, presenters


class MetaEndpoint(base.Endpoint):
    """Revision, credentials, engines."""

    @base.request
    def get_revision(self, context: RequestContext) -> str:
        """The revision of the build, as the operator configured it."""
        return str(self._engine.conf.revision.heat_revision)

    @base.request
    def authenticated_to_backend(self, context: RequestContext) -> bool:
        """Whether the caller's credentials are good.

        They are: the API has checked them, or the engine trusts anybody.
        """
        return True

    @base.request
    def list_released(self, context: RequestContext) -> list[dict[str, Any]]:
        """Objects that stacks of the caller's project have let go."""
        tenant = context.project_id or ""
        found = self._engine.db.read(lambda conn: released.list_(conn, tenant))
        return [presenters.released(each) for each in found]

    @base.request
    def list_services(self, context: RequestContext) -> list[dict[str, Any]]:
        """The engines, living and dead."""
        dead_after = self._engine.conf.engine.dead_after
        found = self._engine.db.read(services.list_)
        return [presenters.service(each, dead_after) for each in found]
