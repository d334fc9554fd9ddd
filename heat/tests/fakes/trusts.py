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

"""A Keystone of tokens and trusts, as far as clients can tell from HTTP."""

from __future__ import annotations

import datetime
import re
import uuid
from typing import Any

from keystoneauth1 import fixture
from requests_mock.contrib import fixture as requests_fixture

_ROOT = "http://keystone.example"
URL = f"{_ROOT}/v3"
TRUSTEE = "heat"
_TRUSTS = f"{URL}/OS-TRUST/trusts"


class Keystone(requests_fixture.Fixture):
    """One user ``user`` with roles, one service user ``heat``.

    :ivar trusts: by id, as Keystone shows them
    :ivar refuses: an HTTP status for whoever wants to make a trust
    :ivar away: nobody answers to whoever deletes one
    """

    password = "right"  # noqa: S105 - no secret

    def __init__(self, roles: tuple[str, ...] = ("member", "reader")) -> None:
        super().__init__()
        self.roles = roles
        self.trusts: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, fixture.V3Token] = {}
        self.refuses: int | None = None
        self.away = False
        self.made = 0

    def setUp(self) -> None:
        super().setUp()
        self.get(URL, json={"version": fixture.V3Discovery(URL)})
        found = fixture.DiscoveryList(_ROOT, v2=False)
        self.get(f"{_ROOT}/", json=found)
        self.post(f"{URL}/auth/tokens", json=self._authenticate)
        self.get(_TRUSTS, json=self._list)
        self.post(_TRUSTS, json=self._create)
        one = re.compile(re.escape(_TRUSTS) + "/.+")
        self.get(one, json=self._show)
        self.delete(one, json=self._delete)

    def token(self, user: str = "user") -> str:
        """A new token, of a user in the project ``project``."""
        made = fixture.V3Token(
            user_id=user,
            project_id="project",
            expires=datetime.datetime(2199, 1, 1),
        )
        for role in self.roles:
            made.add_role(id=f"id-{role}", name=role)
        made.add_service("identity").add_standard_endpoints(public=URL)
        key = uuid.uuid4().hex
        self.tokens[key] = made
        return key

    def _authenticate(self, request: Any, context: Any) -> Any:
        auth = request.json()["auth"]
        trust = auth.get("scope", {}).get("OS-TRUST:trust")
        if trust is not None:
            if trust["id"] not in self.trusts:
                return self._error(context, 404)
            user = self.trusts[trust["id"]]["trustor_user_id"]
        elif "token" in auth["identity"]:
            user = str(self.tokens[auth["identity"]["token"]["id"]].user_id)
        else:
            given = auth["identity"]["password"]["user"]
            if given["password"] != self.password:
                return self._error(context, 401)
            user = given.get("id") or given["name"]
        key = self.token(user)
        context.status_code = 201
        context.headers["X-Subject-Token"] = key
        return self.tokens[key]

    def _error(self, context: Any, status: int) -> Any:
        context.status_code = status
        context.headers["Content-Type"] = "application/json"
        return {"error": {"code": status, "message": "No.", "title": "No"}}

    def _user(self, request: Any) -> str:
        known = self.tokens[request.headers["X-Auth-Token"]]
        return str(known.user_id)

    def _create(self, request: Any, context: Any) -> Any:
        wanted = request.json()["trust"]
        if self.refuses:
            return self._error(context, self.refuses)
        if wanted["trustor_user_id"] != self._user(request):
            return self._error(context, 403)
        self.made += 1
        made = {**wanted, "id": f"trust-{self.made}"}
        self.trusts[made["id"]] = made
        context.status_code = 201
        return {"trust": made}

    def _list(self, request: Any, context: Any) -> Any:
        (trustee,) = request.qs["trustee_user_id"]
        if trustee != self._user(request):
            return self._error(context, 403)
        return {
            "trusts": [
                each
                for each in self.trusts.values()
                if each["trustee_user_id"] == trustee
            ]
        }

    def _show(self, request: Any, context: Any) -> Any:
        found = self.trusts.get(request.path.rpartition("/")[2])
        if found is None:
            return self._error(context, 404)
        return {"trust": found}

    def _delete(self, request: Any, context: Any) -> Any:
        found = self.trusts.get(request.path.rpartition("/")[2])
        if self.away:
            return self._error(context, 501)
        if found is None:
            return self._error(context, 404)
        if found["trustor_user_id"] != self._user(request):
            return self._error(context, 403)
        del self.trusts[found["id"]]
        context.status_code = 204
        return None
