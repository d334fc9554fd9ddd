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

"""AWS::CloudFormation::WaitCondition: done when signals came."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource, support
from heat.engine.resources import wait_condition


class WaitCondition(wait_condition.BaseWaitCondition):
    """A resource that is complete when enough signals have come.

    It fails when a signal says so, and when time is up.
    """

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (HANDLE, TIMEOUT, COUNT) = ("Handle", "Timeout", "Count")
    ATTRIBUTES = (DATA,) = ("Data",)

    DATA_KEY, REASON_KEY, STATUS_KEY = "Data", "Reason", "Status"

    properties_schema = {
        HANDLE: properties.Schema(
            properties.Schema.STRING,
            _("The handle that is signalled (Ref of it)."),
            required=True,
        ),
        TIMEOUT: properties.Schema(
            properties.Schema.INTEGER,
            _("Seconds to wait for the signals."),
            required=True,
            constraints=[constraints.Range(1, 43200)],
        ),
        COUNT: properties.Schema(
            properties.Schema.INTEGER,
            _("How many signals of success are awaited."),
            default=1,
            update_allowed=True,
            constraints=[constraints.Range(min=1)],
        ),
    }
    attributes_schema = {
        DATA: attributes.Schema(
            _("What the signals carried: a JSON map of id to data."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }

    def wanted(self, props: Any) -> tuple[str, int, float]:
        return props[self.HANDLE], props[self.COUNT], props[self.TIMEOUT]

    def _resolve_attribute(self, name: str) -> Any:
        return self.received_data() if name == self.DATA else None


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::CloudFormation::WaitCondition": WaitCondition}
