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

"""One request to the CloudFormation API, read and unpacked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from heat.api import settings as api_settings
from heat.api.cfn import faults
from heat.common import context as heat_context
from heat.common import identifier
from heat.rpc import clients

_MEMBER = re.compile(
    r"(?P<list>\w+)\.member\.(?P<number>\d{1,6})(?:\.(?P<key>\w+))?"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """An action with its parameters.

    :param given: parameters by name, as they came
    """

    context: heat_context.RequestContext
    engine: clients.EngineClient
    settings: api_settings.Settings
    given: Mapping[str, str]

    def need(self, name: str) -> str:
        """The value of a parameter.

        :raises CfnError: it is not there
        """
        value = self.given.get(name)
        if not value:
            raise faults.missing(name)
        return value

    def members(self, name: str) -> list[dict[str, str]]:
        """A list of structures: ``NAME.member.1.KEY=VALUE``, in order.

        A member that is a plain value is under the key "".
        """
        found: dict[int, dict[str, str]] = {}
        for parameter, value in self.given.items():
            match = _MEMBER.fullmatch(parameter)
            if match is not None and match["list"] == name:
                entry = found.setdefault(int(match["number"]), {})
                entry[match["key"] or ""] = value
        return [found[number] for number in sorted(found)]

    def identity(self) -> dict[str, Any]:
        """The identity of the stack that ``StackName`` names.

        :raises CfnError: it names none in a form that could be one
        """
        name = self.need("StackName")
        if not name.startswith("arn:"):
            return self.engine.identify_stack(self.context, name)
        try:
            return dict(identifier.HeatIdentifier.from_arn(name).stack())
        except ValueError as error:
            raise faults.CfnError(
                "InvalidParameterValue", str(error)
            ) from error
