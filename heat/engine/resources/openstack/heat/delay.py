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

"""OS::Heat::Delay: a resource that takes its time."""

from __future__ import annotations

import random
import time
from typing import Any

from heat.common.i18n import _
from heat.engine import constraints, properties, resource, support


class Delay(resource.Resource):
    """A pause between the resources that it stands between.

    To the least wait comes a random part, so that many stacks that are made
    at once do not all go on at once.
    """

    support_status = support.SupportStatus(version="11.0.0")
    resumes_create = True

    PROPERTIES = (MIN_WAIT, MAX_JITTER, MULTIPLIER, ACTIONS_) = (
        "min_wait",
        "max_jitter",
        "jitter_multiplier",
        "actions",
    )

    properties_schema = {
        MIN_WAIT: properties.Schema(
            properties.Schema.NUMBER,
            _("Seconds to wait at least."),
            default=0,
            update_allowed=True,
            constraints=[constraints.Range(min=0)],
        ),
        MAX_JITTER: properties.Schema(
            properties.Schema.NUMBER,
            _("The random part is up to this, times the multiplier."),
            default=0,
            update_allowed=True,
            constraints=[constraints.Range(min=0)],
        ),
        MULTIPLIER: properties.Schema(
            properties.Schema.NUMBER,
            _("Seconds that one unit of the random part stands for."),
            default=1.0,
            update_allowed=True,
            constraints=[constraints.Range(min=0)],
        ),
        ACTIONS_: properties.Schema(
            properties.Schema.LIST,
            _("The actions that are delayed."),
            default=["CREATE"],
            update_allowed=True,
            schema=properties.Schema(
                properties.Schema.STRING,
                constraints=[
                    constraints.AllowedValues(
                        ["CREATE", "DELETE", "SUSPEND", "RESUME"]
                    )
                ],
            ),
        ),
    }

    def _begin(self, action: str) -> float:
        """When the wait is over."""
        props = self.properties
        if action not in props[self.ACTIONS_]:
            return 0.0
        most = props[self.MAX_JITTER] * props[self.MULTIPLIER]
        jitter = random.uniform(0, most)  # noqa: S311 - no secret
        return self._clock() + float(props[self.MIN_WAIT]) + jitter

    def _clock(self) -> float:
        ports = self.stack.values.ports
        return float(ports.monotonic() if ports else time.monotonic())

    def _is_over(self, until: float) -> bool:
        left = until - self._clock()
        if left > 0:
            raise resource.PollDelay(left)
        return True

    def handle_create(self) -> float:
        self.resource_id_set(self.physical_resource_name())
        return self._begin("CREATE")

    def resume_create(self, found: bool) -> float:
        """Nobody knows how much of the wait is over: it begins again."""
        return self._begin("CREATE")

    def check_create_complete(self, until: float) -> bool:
        return self._is_over(until)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        """The next action waits as long as is said now."""

    def handle_delete(self) -> float:
        return self._begin("DELETE")

    def check_delete_complete(self, until: float) -> bool:
        return self._is_over(until)

    def handle_suspend(self) -> float:
        return self._begin("SUSPEND")

    def check_suspend_complete(self, until: float) -> bool:
        return self._is_over(until)

    def handle_resume(self) -> float:
        return self._begin("RESUME")

    def check_resume_complete(self, until: float) -> bool:
        return self._is_over(until)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::Delay": Delay}
