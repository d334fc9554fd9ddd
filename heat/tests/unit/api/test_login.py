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

"""Logging in by a password, with an identity service in memory."""

from __future__ import annotations

import json

import requests
import requests_mock
from werkzeug import test

from heat.api import app
from heat.tests import base
from heat.tests.fakes import engine
from heat.tests.unit.api import client

OWN, OTHER = "http://keystone.test", "http://other.test/identity"
WHO = {"X-Auth-User": "jo", "X-Auth-Key": "secret"}
STACKS = f"{client.ROOT}/stacks"


def token(project: str) -> dict:
    return {
        "token": {
            "methods": ["password"],
            "user": {"id": "u1", "name": "jo", "domain": {"id": "default"}},
            "project": {"id": project, "name": "p", "domain": {"id": "d"}},
            "roles": [{"id": "r", "name": "member"}],
            "catalog": [],
            "expires_at": "2100-01-01T00:00:00.000000Z",
            "issued_at": "2000-01-01T00:00:00.000000Z",
        }
    }


class LoginCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.engine = engine.FakeEngine()
        self.conf = client.make_conf(
            auth_strategy="keystone", region_name_for_services="home"
        )
        self.conf.set_override("auth_uri", OWN, group="clients_keystone")
        app.make_app(self.conf, self.engine)  # registers the options
        self.conf.set_override(
            "www_authenticate_uri", OWN, group="keystone_authtoken"
        )
        self.keystone = requests_mock.Mocker()
        self.keystone.start()
        self.addCleanup(self.keystone.stop)
        for url in (OWN, OTHER):
            self.keystone.post(f"{url}/v3/auth/tokens", json=self._answer)

    def _answer(self, request, context):
        self.asked = json.loads(request.text)["auth"]
        user = self.asked["identity"]["password"]["user"]
        context.headers["Content-Type"] = "application/json"
        if user["password"] != WHO["X-Auth-Key"]:
            context.status_code = 401
            return {"error": {"message": "no", "code": 401}}
        context.status_code = 201
        context.headers["X-Subject-Token"] = "told"
        return token(self.asked["scope"]["project"]["id"])

    def ask(self, path=STACKS, **headers):
        made = app.make_app(self.conf, self.engine)
        given = {k.replace("_", "-"): v for k, v in headers.items()}
        return test.Client(made).get(path, headers={**WHO, **given})

    @property
    def urls(self):
        return [each.url for each in self.keystone.request_history]


class StandaloneTest(LoginCase):
    def setUp(self):
        super().setUp()
        self.conf.set_override("flavor", "standalone", group="paste_deploy")

    def test_logged_in(self):
        answer = self.ask(X_Roles="admin", X_Project_Id="other")
        self.assertEqual(200, answer.status_code, answer.text)
        context = self.engine.contexts[-1]
        self.assertEqual(engine.TENANT, context.project_id)
        self.assertEqual(["member"], context.roles)
        self.assertFalse(context.is_admin)
        self.assertEqual(("u1", "jo"), (context.user_id, context.username))
        self.assertEqual("told", context.auth_token)
        self.assertEqual("secret", context.password)
        self.assertEqual("home", context.region_name)
        self.assertEqual(
            token(engine.TENANT), context.to_dict()["auth_token_info"]
        )
        self.assertTrue(context.request_id.startswith("req-"))

    def test_the_domain(self):
        self.ask()
        user = self.asked["identity"]["password"]["user"]
        self.assertEqual({"id": "default"}, user["domain"])
        self.ask(X_User_Domain_Name="there")
        user = self.asked["identity"]["password"]["user"]
        self.assertEqual({"name": "there"}, user["domain"])

    def test_refused(self):
        answer = self.ask(X_Auth_Key="wrong")
        self.assertEqual(401, answer.status_code)
        self.assertNotIn("wrong", answer.text)
        self.assertEqual([], self.engine.contexts)

    def test_no_answer(self):
        self.keystone.post(
            f"{OWN}/v3/auth/tokens", exc=requests.exceptions.ConnectionError
        )
        self.assertEqual(503, self.ask().status_code)

    def test_a_url_of_the_callers_does_not_count(self):
        self.assertEqual(200, self.ask(X_Auth_Url=OTHER).status_code)
        self.assertEqual([f"{OWN}/v3/auth/tokens"], self.urls)

    def test_without_a_password_a_token_is_needed(self):
        self.assertEqual(401, self.ask(X_Auth_Key="").status_code)
        self.assertEqual([], self.urls)


class MultiCloudTest(LoginCase):
    def setUp(self):
        super().setUp()
        group = "auth_password"
        self.conf.set_override("multi_cloud", True, group=group)
        self.conf.set_override("allowed_auth_uris", [f"{OTHER}/v3"], group)

    def test_logged_in_elsewhere(self):
        for url in (OTHER, f"{OTHER}/", f"{OTHER}/v3", f"{OTHER}/v3/"):
            answer = self.ask(X_Auth_Url=url)
            self.assertEqual(200, answer.status_code, answer.text)
            context = self.engine.contexts[-1]
            self.assertEqual(f"{OTHER}/v3", context.auth_url)
            # Our region is none of that cloud's.
            self.assertIsNone(context.region_name)
        self.assertEqual({f"{OTHER}/v3/auth/tokens"}, set(self.urls))

    def test_elsewhere_not_allowed(self):
        for url in ("", OWN, f"{OTHER}.evil", f"{OTHER}/more", "http://["):
            with self.subTest(url):
                answer = self.ask(X_Auth_Url=url)
                self.assertEqual(401, answer.status_code)
        self.assertEqual([], self.urls)


class OffTest(LoginCase):
    def test_passwords_are_not_taken(self):
        self.assertEqual(401, self.ask().status_code)
        self.assertEqual([], self.urls)
