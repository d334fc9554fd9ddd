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

"""Handles of wait conditions whose signals look as those of AWS do."""

from __future__ import annotations

from typing import Any

from heat.common.exception import UpdateReplace
from heat.common.i18n import _
from heat.engine import resource, support
from heat.engine.resources import wait_condition


class WaitConditionHandle(wait_condition.BaseWaitConditionHandle):
    """The address of the signals for a wait condition.

    A signal is a map with ``Status`` (SUCCESS or FAILURE), ``Reason``,
    ``Data`` and ``UniqueId``. It is sent with PUT to the signed URL that the
    reference is. Without a domain for users of stacks there is none: signals
    are sent to the resource, through the native API.
    """

    support_status = support.SupportStatus(version="2014.1")

    KEYS = (DATA, REASON, STATUS, UNIQUE_ID) = (
        "Data",
        "Reason",
        "Status",
        "UniqueId",
    )

    def get_reference_id(self) -> str:
        """The signed URL; without one, the identity of the handle."""
        signed = self.signed_url(self.WAITCONDITION)
        return signed or super().get_reference_id()


class UpdateWaitConditionHandle(WaitConditionHandle):
    """A handle that each update of its stack makes anew.

    So is the wait condition that refers to it: after every update the
    signals have to come again.
    """

    support_status = support.SupportStatus(version="2014.1")

    def changed_beyond(self) -> str:
        return _("a handle serves one update")

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        raise UpdateReplace(self.name)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {
        "AWS::CloudFormation::WaitConditionHandle": WaitConditionHandle,
        "OS::Heat::UpdateWaitConditionHandle": UpdateWaitConditionHandle,
    }
