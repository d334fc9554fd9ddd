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

"""Requests to the messaging service, and the base of its types."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from heat.engine.clients import errors
from heat.engine.resource import rest

_SERVICE = "zaqar"
#: Version of the API, part of its addresses.
VERSION = "v2"
#: What changes are sent as.
PATCH = "application/openstack-messaging-v2.0-json-patch"
# The most that the service gives, unless its operator changed that.
_PAGE = 20


def ask(
    client: Callable[[], Any],
    method: str,
    path: str,
    *,
    body: Any = None,
    params: Mapping[str, Any] | None = None,
    kind: str | None = None,
    retries: int | None = None,
) -> Any:
    """Call the service.

    All that is sent may be sent twice: queues have names, and a queue has
    one subscription of each subscriber.

    :param client: gives the adapter (made late: it asks for the catalogue)
    :param kind: type of the body, None: JSON
    :param retries: how often it is sent again while the service fails; None:
        as the options say
    :returns: the decoded body, None when there is none
    :raises heat.engine.clients.errors.ServiceError: as it answers
    """
    headers = {"Client-ID": str(uuid.uuid4())}
    if kind is not None:
        headers["Content-Type"] = kind
    more: dict[str, Any] = {} if body is None else {"json": body}
    if params:
        more["params"] = dict(params)

    def send() -> Any:
        response = client().request(
            path, method, raise_exc=True, headers=headers, **more
        )
        return response.json() if response.content else None

    return errors.call(_SERVICE, send, idempotent=True, retries=retries)


class ZaqarResource(rest.RestResource):
    """Something of a queue."""

    default_client_name = "zaqar"
    name_property = None

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """See :func:`ask`."""
        return ask(self.client, method, path, **more)

    def has_queue(self, name: str) -> bool:
        """Whether there is such a queue.

        Only the list tells: what an absent one is asked, it answers.
        """
        return any(each == name for each in self._queues(name))

    def _queues(self, name: str) -> Iterator[str]:
        """Names of queues; all, as not every store heeds the filter."""
        params = {"name": name, "limit": str(_PAGE)}
        while True:
            page = self.ask("GET", "/queues", params=params)["queues"]
            yield from (str(each["name"]) for each in page)
            if len(page) < _PAGE:
                return
            params["marker"] = str(page[-1]["name"])
