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

"""What the types have in common that are the quota of a project.

There is one quota of a project in each service, from its beginning: it is
set and reset, never made. So a failed one is set again in place; to replace
it would reset, in the end, what was set just before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import rest


class Quota(rest.RestResource):
    """How much a project may have in one service."""

    name_property = None
    not_sent = frozenset({"project"})
    finds = {"project": "keystone.project"}
    always_replace_on_check_failed = False

    def validate(self) -> None:
        super().validate()
        if not self.limits(self.properties):
            raise exception.StackValidationFailed(
                path=["properties"],
                message=_("Give at least one limit beside the project."),
            )

    def needs_replace_failed(self) -> bool:
        return False

    def limits(self, properties: Any) -> dict[str, Any]:
        """The limits that are set, as the service takes them."""
        return self.create_body(properties)

    def _apply(self, properties: Any) -> None:
        project = properties["project"]
        self.resource_id_set(project)
        self.collection().update(project, self.limits(properties))

    def handle_create(self) -> Any:
        self._apply(self.properties)
        return None

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        after = self.properties_of(json_snippet)
        taken_away = [key for key in prop_diff if after[key] is None]
        if taken_away and self.resource_id is not None:
            # A single limit can't be reset, all of them can.
            self.collection().delete(self.resource_id)
        self._apply(after)
        return None
