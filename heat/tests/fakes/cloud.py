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

"""A cloud at the edge of HTTP, for tests of clients and resource types.

The real client libraries talk to it. A service is a store of objects behind
the usual five requests; what is odd about one is registered by the test.
"""

from __future__ import annotations

import itertools
import json
import uuid
from typing import Any

import fixtures
import requests_mock
from keystoneauth1 import fixture as ks_fixture

from heat.common import context as heat_context
from heat.engine.clients import cache

AUTH = "http://keystone/v3"
PROJECT = uuid.UUID(int=1).hex
SERVICES = {
    "network": "http://network",
    "compute": "http://compute/v2.1",
    "block-storage": f"http://volume/v3/{PROJECT}",
    "identity": AUTH,
    "image": "http://image",
    "messaging": "http://message",
    "object-store": f"http://object/v1/AUTH_{PROJECT}",
    "key-manager": "http://keys",
    "load-balancer": "http://balancer",
    "alarming": "http://alarms",
}


class Objects:
    """The objects of one kind.

    :ivar stored: id -> object
    :ivar calls: (method, path, decoded body) of every request
    :ivar refuse: (method, status, body) of answers to give first
    """

    def __init__(
        self, mock: Any, url: str, key: str, plural: str, **defaults: Any
    ) -> None:
        self.key, self.plural, self.defaults = key, plural, defaults
        self.stored: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, str, Any]] = []
        self.refuse: list[tuple[str, int, Any]] = []
        self._ids = itertools.count(1)
        self._url = url
        mock.add_matcher(self._answer)

    def add(self, **values: Any) -> dict[str, Any]:
        ident = values.pop("id", None) or str(uuid.UUID(int=next(self._ids)))
        self.stored[ident] = {**self.defaults, **values, "id": ident}
        return self.stored[ident]

    def methods(self) -> list[str]:
        return [method for method, _path, _body in self.calls]

    def _answer(self, request: Any) -> Any:
        url = f"{request.scheme}://{request.netloc}{request.path}"
        if not url.startswith(self._url):
            return None
        path = url[len(self._url) :]
        if path and not path.startswith("/"):
            return None
        body = json.loads(request.body) if request.body else None
        self.calls.append((request.method, path, body))
        for refused in self.refuse:
            if refused[0] == request.method:
                self.refuse.remove(refused)
                return self._reply(request, refused[1], refused[2])
        return self._reply(request, *self._serve(request, path, body))

    def _serve(self, request: Any, path: str, body: Any) -> Any:
        ident = path.strip("/")
        if request.method == "POST":
            return 201, {self.key: self.add(**body[self.key])}
        if not ident:
            wanted = {key: each[0] for key, each in request.qs.items()}
            found = [
                each
                for each in self.stored.values()
                if all(
                    str(each.get(key, "")).lower() == value
                    for key, value in wanted.items()
                )
            ]
            return 200, {self.plural: found}
        if ident not in self.stored:
            return 404, {"error": {"message": f"No {self.key} {ident}"}}
        if request.method == "DELETE":
            del self.stored[ident]
            return 204, None
        if request.method in ("PUT", "PATCH"):
            self.stored[ident].update(body[self.key])
        return 200, {self.key: self.stored[ident]}

    @staticmethod
    def _reply(request: Any, status: int, body: Any) -> Any:
        return requests_mock.create_response(
            request,
            status_code=status,
            json=body,
            headers={"Content-Type": "application/json"},
        )


class Cloud(fixtures.Fixture):
    """The cloud, and a user of it.

    :ivar context: with a token and the catalogue
    :ivar networks: the networks
    """

    def __init__(self, services: tuple[str, ...] = tuple(SERVICES)) -> None:
        self._services = services

    def _setUp(self) -> None:
        self.mock = requests_mock.Mocker()
        self.mock.start()
        self.addCleanup(self.mock.stop)
        for each in (cache.CONSTRAINTS, cache.FINDERS, cache.EXTENSIONS):
            each.clear()
        for url in SERVICES.values():
            self._versions(url)
        self.context = heat_context.RequestContext(
            auth_token="secret",
            auth_token_info=self._token(),
            auth_url=AUTH,
            project_id=PROJECT,
            user_id="u",
            region_name="RegionOne",
        )
        self.networks = self.objects(
            "http://network/v2.0/networks",
            "network",
            "networks",
            status="ACTIVE",
        )

    def objects(self, *args: Any, **defaults: Any) -> Objects:
        """Serve objects of another kind; see :class:`Objects`."""
        return Objects(self.mock, *args, **defaults)

    def _versions(self, url: str) -> None:
        versions = [
            {
                "id": "v2.0",
                "status": "CURRENT",
                "links": [{"rel": "self", "href": f"{url}/v2.0"}],
            }
        ]
        if "network" in url:
            self.mock.get(f"{url}/", json={"versions": versions})

    def _token(self) -> Any:
        token = ks_fixture.V3Token(project_id=PROJECT)
        for kind in self._services:
            token.add_service(kind).add_standard_endpoints(
                public=SERVICES[kind], region="RegionOne"
            )
        return dict(token)
