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

"""An identity service in memory, as far as users of stacks need one.

It knows what :mod:`heat.engine.clients.stack_domain` asks for. The real one
is asked in heat_integrationtests.
"""

from __future__ import annotations

import itertools
import json
from typing import Any
from urllib import parse

import fixtures
import requests_mock

URL = "http://identity.test/v3"
DOMAIN = "domain-1"


class Keystone(fixtures.Fixture):
    """The service, for as long as a test runs.

    :ivar users, projects, credentials: what there is, by id
    :ivar refuse: (method, collection) that answer with 503
    :ivar catalog: what tokens tell of other services
    :ivar mock: what answers in their place
    """

    def _setUp(self) -> None:
        self._ids = itertools.count(1)
        self.users: dict[str, Any] = {}
        self.projects: dict[str, Any] = {}
        self.credentials: dict[str, Any] = {}
        self.roles = {"role-1": {"id": "role-1", "name": "heat_stack_user"}}
        self.assigned: set[tuple[str, str]] = set()
        self.refuse: set[tuple[str, str]] = set()
        self.calls: list[tuple[str, str]] = []
        self.catalog: list[dict[str, Any]] = []
        self.mock = mock = requests_mock.Mocker()
        mock.start()
        self.addCleanup(mock.stop)
        mock.register_uri(
            requests_mock.ANY, requests_mock.ANY, json=self._answer
        )

    def configure(self, conf: Any) -> None:
        """Let a service use this domain for users of stacks."""
        for name, value in (
            ("auth_strategy", "keystone"),
            ("stack_user_domain_id", DOMAIN),
            ("stack_domain_admin", "admin"),
            ("stack_domain_admin_password", "secret"),
            ("heat_metadata_server_url", "http://cfn.test:8000"),
            ("client_retry_limit", 0),
        ):
            conf.set_override(name, value)
        conf.set_override("auth_uri", URL, group="clients_keystone")

    def _answer(self, request: Any, context: Any) -> Any:
        path = parse.urlsplit(request.url).path.removeprefix("/v3")
        parts = path.strip("/").split("/")
        context.headers["Content-Type"] = "application/json"
        self.calls.append((request.method, path))
        body = json.loads(request.text) if request.text else {}
        if parts == ["auth", "tokens"]:
            return self._token(body, context)
        if (request.method, parts[0]) in self.refuse:
            context.status_code = 503
            return {"error": {"message": "not now"}}
        if len(parts) == 6:
            # projects/P/users/U/roles/R
            self.assigned.add((parts[1], parts[3]))
            context.status_code = 204
            return None
        status, answer = self._serve(request, parts, body)
        context.status_code = status
        return answer

    def _token(self, body: dict[str, Any], context: Any) -> Any:
        who = body["auth"]["identity"]["password"]["user"]
        known = self.users.get(who.get("id"))
        good = known is None or (
            known["enabled"] and known["password"] == who["password"]
        )
        if not good:
            context.status_code = 401
            return {"error": {"message": "No."}}
        context.status_code = 201
        context.headers["X-Subject-Token"] = f"token-{who.get('id')}"
        return {
            "token": {
                "methods": ["password"],
                "expires_at": "2999-01-01T00:00:00.000000Z",
                "issued_at": "2026-01-01T00:00:00.000000Z",
                "user": {"id": "u", "name": "u", "domain": {"id": DOMAIN}},
                "domain": {"id": DOMAIN, "name": "heat"},
                "catalog": self.catalog,
            }
        }

    def _serve(self, request: Any, parts: list[str], body: Any) -> Any:
        plural, key = parts[0], parts[0].rstrip("s")
        if plural == "role_assignments":
            project = request.qs["scope.project.id"][0]
            found = [
                {"user": {"id": user}}
                for scope, user in sorted(self.assigned)
                if scope == project
            ]
            return 200, {plural: found}
        table = getattr(self, plural)
        if request.method == "POST":
            made = {**body[key], "id": f"{key}-{next(self._ids)}"}
            names = {each.get("name") for each in table.values()}
            if made.get("name") in names - {None}:
                return 409, {"error": {"message": "There is one."}}
            table[made["id"]] = made
            return 201, {key: made}
        if len(parts) == 1:
            name = dict(parse.parse_qsl(parse.urlsplit(request.url).query))
            return 200, {
                plural: [
                    each
                    for each in table.values()
                    if each["name"] == name["name"]
                ]
            }
        if parts[1] not in table:
            return 404, {"error": {"message": "None."}}
        if request.method == "DELETE":
            del table[parts[1]]
            self.assigned = {
                each for each in self.assigned if parts[1] not in each
            }
            return 204, None
        table[parts[1]].update(body.get(key) or {})
        return 200, {key: table[parts[1]]}
