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

"""OS::Heat::SwiftSignalHandle: an object that signals are written to."""

from __future__ import annotations

import shlex
from typing import Any

from heat.engine import resource, support
from heat.engine.resource import notation
from heat.engine.resources import signal_box


class SwiftSignalHandle(resource.Resource):
    """The address of the signals for an OS::Heat::SwiftSignal.

    It is a URL into the project's object store, by which whoever has it
    writes one object with PUT. The engine is not reached for that, and
    nobody logs in.
    """

    support_status = support.SupportStatus(version="2014.2")
    default_client_name = "swift"

    ATTRIBUTES = (TOKEN, ENDPOINT, CURL_CLI) = (
        "token",
        "endpoint",
        "curl_cli",
    )
    properties_schema = {}
    attributes_schema = notation.attributes("""
        curl_cli string -- A curl command that sends a signal; append
        -- --data-binary and a JSON map.
        endpoint string -- The URL that signals are sent to with PUT.
        token string -- Empty, as nobody logs in.
    """)

    def handle_create(self) -> None:
        signal_box.make(self, signal_box.SIGNAL, versions=True)
        self.resource_id_set(self.data()[signal_box.BOX])

    def handle_delete(self) -> None:
        signal_box.drop(self)

    def get_reference_id(self) -> str:
        return self.data().get(signal_box.URL) or super().get_reference_id()

    def handle_suspend(self) -> None:
        signal_box.close(self)

    def handle_resume(self) -> None:
        signal_box.open_(self)

    def _resolve_attribute(self, name: str) -> Any:
        url = self.data().get(signal_box.URL)
        if url is None:
            return None
        return {
            self.TOKEN: "",
            self.ENDPOINT: url,
            self.CURL_CLI: f"curl -i -X PUT {shlex.quote(url)}",
        }.get(name)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::SwiftSignalHandle": SwiftSignalHandle}
