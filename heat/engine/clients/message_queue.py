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
"""Queues of a messaging service, as users of stacks see them.

A queue is in the project of such users, so that one who was told of it may
write into it and read from it. The engine does so as the same user.
"""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Self
from urllib import parse

from keystoneauth1 import adapter

from heat.engine.clients import errors, stack_domain

SERVICE, SERVICE_TYPE = "zaqar", "messaging"

#: Seconds until a message that nobody has read is gone.
TTL = 24 * 60 * 60

#: Characters of the longest name that the service takes.
LONGEST_NAME = 64


def endpoint() -> str | None:
    """Where the service is; None: there is none, or no users of stacks."""
    if not stack_domain.is_configured():
        return None
    return stack_domain.get().endpoint(SERVICE_TYPE, SERVICE)


@dataclasses.dataclass(frozen=True)
class Place:
    """A queue, and as whom it is used.

    :ivar project_id: of the user
    """

    name: str
    project_id: str
    user_id: str
    password: str

    @classmethod
    def read(
        cls, text: str, user_id: str | None, password: str | None
    ) -> Self | None:
        """The reverse of :meth:`text`; None: the user is gone."""
        if user_id is None or password is None:
            return None
        return cls(**json.loads(text), user_id=user_id, password=password)

    def text(self) -> str:
        """What is kept of it beside the user."""
        kept = {"name": self.name, "project_id": self.project_id}
        return json.dumps(kept)


class Queue:
    """One queue.

    Every method asks the service, and raises
    :class:`heat.engine.clients.errors.ServiceError` when it refuses.
    """

    def __init__(self, place: Place) -> None:
        domain = stack_domain.get()
        self._adapter = adapter.Adapter(
            domain.user_session(
                place.user_id, place.project_id, place.password, SERVICE
            ),
            endpoint_override=endpoint(),
            # Who reads what another one has written.
            additional_headers={"Client-ID": str(uuid.uuid4())},
        )
        self._path = f"/v2/queues/{parse.quote(place.name, safe='')}"

    def _do(self, method: str, path: str, **kwargs: Any) -> Any:
        return errors.call(
            SERVICE,
            lambda: self._adapter.request(
                path, method, raise_exc=True, log=False, **kwargs
            ),
            idempotent=True,
        )

    def make(self) -> None:
        """Make it; one that is there stays as it is."""
        self._do("PUT", self._path, json={})

    def delete(self) -> None:
        """Delete it, with what is in it; one that is gone is no error."""
        try:
            self._do("DELETE", self._path)
        except errors.NotFound:
            return

    def post(self, body: Mapping[str, Any]) -> None:
        """Put a message into it."""
        messages = [{"body": dict(body), "ttl": TTL}]
        self._do("POST", f"{self._path}/messages", json={"messages": messages})

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Id and body of each message, the oldest first; they stay."""
        path = f"{self._path}/messages?echo=true&include_claimed=true"
        while path:
            try:
                answer = self._do("GET", path)
            except errors.NotFound:
                return
            found = answer.json() if answer.content else {}
            listed = found.get("messages") or []
            for each in listed:
                yield _id_of(each), each.get("body")
            links = found.get("links") if listed else ()
            path = next(
                (link["href"] for link in links or () if "href" in link), ""
            )

    def remove(self, message_id: str) -> None:
        """Delete a message; one that is gone is no error."""
        try:
            self._do("DELETE", f"{self._path}/messages/{message_id}")
        except errors.NotFound:
            return


def _id_of(message: Mapping[str, Any]) -> str:
    """The id of a message; a service of old tells its path only."""
    path = parse.urlsplit(str(message.get("href"))).path
    return str(message.get("id") or path.rpartition("/")[2])
