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

"""The messaging service, by openstacksdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import sdk


class ZaqarPlugin(sdk.SdkPlugin):
    """Queues, and the messages in them."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["messaging"]
    service: ClassVar[str] = "zaqar"
    proxy_name: ClassVar[str] = "message"

    def post(self, queue: str, body: Mapping[str, Any], ttl: int) -> None:
        """Put one message into a queue, which need not exist.

        :param ttl: seconds after which it is gone, read or not
        """
        self.client().post_message(queue, [{"body": dict(body), "ttl": ttl}])
