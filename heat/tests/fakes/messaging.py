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
"""A messaging service in memory, as far as signals and metadata need one.

Users log in at :class:`heat.tests.fakes.keystone.Keystone`. The real service
is asked in heat_integrationtests.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any
from urllib import parse

import fixtures
import requests_mock

from heat.tests.fakes import keystone

URL = "http://messaging.test"

_LONGEST_NAME = 64


class Messaging(fixtures.Fixture):
    """The service, in the catalogue of an identity service.

    :ivar queues: name -> id of a message -> its body
    :ivar refuse: methods that answer with 503
    """

    def __init__(self, identity: keystone.Keystone) -> None:
        self.identity = identity

    def _setUp(self) -> None:
        self._ids = itertools.count(1)
        self.queues: dict[str, dict[str, Any]] = {}
        self.refuse: set[str] = set()
        endpoint = {
            "id": "e",
            "interface": "public",
            "region_id": None,
            "url": URL,
        }
        self.identity.catalog.append(
            {"type": "messaging", "name": "zaqar", "endpoints": [endpoint]}
        )
        self.identity.mock.register_uri(
            requests_mock.ANY, re.compile(f"^{URL}/"), json=self._answer
        )

    def post(self, queue: str, *bodies: Any) -> None:
        """What a guest does."""
        for body in bodies:
            self.queues[queue][f"m{next(self._ids):04}"] = body

    def _answer(self, request: Any, context: Any) -> Any:
        user = request.headers["X-Auth-Token"].removeprefix("token-")
        known = self.identity.users.get(user)
        if known is None or not known["enabled"]:
            context.status_code = 401
            return None
        if request.method in self.refuse:
            context.status_code = 503
            return {"title": "Service Unavailable", "description": "Not now"}
        split = parse.urlsplit(request.url)
        _v2, _queues, name, *rest = split.path.strip("/").split("/")
        body = json.loads(request.text) if request.text else {}
        given = dict(parse.parse_qsl(split.query))
        context.status_code = {"PUT": 201, "POST": 201, "DELETE": 204}.get(
            request.method, 200
        )
        if len(name) > _LONGEST_NAME:
            context.status_code = 400
            return {"title": "Invalid queue", "description": "Not that name"}
        if not rest:
            if request.method == "PUT":
                self.queues.setdefault(name, {})
            else:
                self.queues.pop(name, None)
            return None
        messages = self.queues.setdefault(name, {})
        if request.method == "POST":
            self.post(name, *(each["body"] for each in body["messages"]))
            return {"resources": []}
        if request.method == "DELETE":
            messages.pop(rest[1], None)
            return None
        path = f"/v2/queues/{name}/messages"
        page = [key for key in messages if key > given.get("marker", "")][:2]
        last = page[-1] if page else given.get("marker", "")
        return {
            "messages": [
                {"id": key, "href": f"{path}/{key}", "body": messages[key]}
                for key in page
            ],
            "links": [
                {"rel": "next", "href": f"{path}?marker={last}&echo=true"}
            ],
        }
