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

"""OS::Heat::WaitConditionHandle: what is signalled for a wait condition."""

from __future__ import annotations

import json
import shlex
from typing import Any

from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource, support
from heat.engine.resources import wait_condition


class HeatWaitConditionHandle(wait_condition.BaseWaitConditionHandle):
    """The address of the signals for a wait condition.

    A signal is a map with any of ``status`` (SUCCESS or FAILURE),
    ``reason``, ``data`` and ``id``; two with one id count once.
    """

    support_status = support.SupportStatus(version="2014.2")

    PROPERTIES = (SIGNAL_TRANSPORT,) = ("signal_transport",)
    (TOKEN, ENDPOINT, CURL_CLI, SIGNAL) = (
        "token",
        "endpoint",
        "curl_cli",
        "signal",
    )
    ATTRIBUTES = (TOKEN, ENDPOINT, CURL_CLI, SIGNAL)

    properties_schema = {
        SIGNAL_TRANSPORT: properties.Schema(
            properties.Schema.STRING,
            _("How signals are to be sent."),
            default="TOKEN_SIGNAL",
            constraints=[
                constraints.AllowedValues(
                    [
                        "CFN_SIGNAL",
                        "TEMP_URL_SIGNAL",
                        "HEAT_SIGNAL",
                        "NO_SIGNAL",
                        "ZAQAR_SIGNAL",
                        "TOKEN_SIGNAL",
                    ]
                )
            ],
            support_status=support.SupportStatus(version="6.0.0"),
        ),
    }
    attributes_schema = {
        TOKEN: attributes.Schema(
            _("The token to send along, for transport TOKEN_SIGNAL."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
        ENDPOINT: attributes.Schema(
            _("The URL to send to, for transport TOKEN_SIGNAL."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
        CURL_CLI: attributes.Schema(
            _("A curl command that sends a signal; append a --data-binary."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
        SIGNAL: attributes.Schema(
            _("What a sender needs to know, by transport: a map as JSON."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == self.SIGNAL:
            return json.dumps(self.signal_attribute())
        if self.signal_transport() != self.TOKEN_SIGNAL:
            return None
        if name == self.ENDPOINT:
            return self.signal_url()
        if name == self.TOKEN:
            return self.user_token()
        if name == self.CURL_CLI:
            token = f"X-Auth-Token: {self.user_token()}"
            return " ".join(
                [
                    "curl -i -X POST",
                    f"-H {shlex.quote(token)}",
                    "-H 'Content-Type: application/json'",
                    "-H 'Accept: application/json'",
                    shlex.quote(self.signal_url()),
                ]
            )
        return None


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::WaitConditionHandle": HeatWaitConditionHandle}
