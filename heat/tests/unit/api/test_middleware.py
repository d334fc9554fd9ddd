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

"""Who is asking, and from where."""

from __future__ import annotations

from werkzeug import test

from heat.api import app, dispatch, middleware
from heat.api import settings as api_settings
from heat.policies import enforcement
from heat.tests import base
from heat.tests.fakes import engine
from heat.tests.unit.api import client

ROOT, S = client.ROOT, client.S


class FakeSocket:
    def __init__(self, address):
        self.address = address

    def getsockname(self):
        return self.address


class LoopbackTest(client.ApiTestCase):
    def status(self, headers=None, **environ):
        return self.get(
            f"{ROOT}/stacks", environ=environ, headers=headers or {}
        ).status_code

    def test_local(self):
        for environ in (
            {"REMOTE_ADDR": "127.0.0.1"},
            {"REMOTE_ADDR": "127.1.2.3"},
            {"REMOTE_ADDR": "::1"},
            {"REMOTE_ADDR": "::ffff:127.0.0.1"},
            {"SERVER_NAME": "0.0.0.0"},
            {"SERVER_NAME": "127.0.0.1"},
            {"SERVER_ADDR": "::1"},
            {"gunicorn.socket": FakeSocket(("127.0.0.1", 8004))},
            {"werkzeug.socket": FakeSocket("/run/socket")},
        ):
            with self.subTest(environ=environ):
                self.assertEqual(200, self.status(**environ))

    def test_not_local(self):
        for environ in (
            {"REMOTE_ADDR": "10.0.0.1"},
            {"REMOTE_ADDR": ""},
            {"REMOTE_ADDR": "localhost"},
            {"REMOTE_ADDR": "fe80::1%eth0"},
            {"REMOTE_ADDR": "::ffff:10.0.0.1"},
            {"SERVER_ADDR": "192.0.2.1"},
            {"SERVER_NAME": "192.0.2.1"},
            {"werkzeug.socket": FakeSocket(("192.0.2.1", 8004))},
        ):
            with self.subTest(environ=environ):
                self.assertEqual(403, self.status(**environ))

    def test_headers(self):
        for status, headers in (
            (200, {"X-Forwarded-For": "127.0.0.1"}),
            (403, {"X-Forwarded-For": "10.1.1.1, 127.0.0.1"}),
            (403, {"X-Real-IP": "10.1.1.1"}),
            (403, {"Forwarded": 'for="[2001:db8::1]:47";proto=http'}),
            (200, {"Forwarded": 'proto=http;for="[::1]:47", for=127.0.0.1:9'}),
            (403, {"Forwarded": "for=unknown"}),
            (200, {"Origin": "http://localhost:3000"}),
            (200, {"Origin": "http://[::1]:3000"}),
            (403, {"Origin": "http://evil.example"}),
            (403, {"Origin": "null"}),
        ):
            with self.subTest(headers=headers):
                self.assertEqual(status, self.status(headers=headers))

    def test_a_proxys_word_does_not_make_a_caller_local(self):
        self.believe_proxies()
        headers = {"X-Forwarded-For": "127.0.0.1"}
        self.assertEqual(
            403, self.status(headers=headers, REMOTE_ADDR="10.0.0.1")
        )

    def test_the_fault(self):
        response = self.get(S, environ={"REMOTE_ADDR": "10.0.0.1"})
        self.assert_fault(response, 403, "Forbidden", "loopback")
        self.assertIn("x-openstack-request-id", response.headers)


class NoauthContextTest(client.ApiTestCase):
    def test_the_project_is_the_urls(self):
        self.get(
            "/v1/some-project/stacks",
            headers={
                "X-Project-Id": "other",
                "X-Roles": "nothing",
                "X-Auth-User": "jo",
                "X-Auth-Token": "tok",
            },
        )
        context = self.engine.contexts[-1]
        self.assertEqual("some-project", context.project_id)
        self.assertEqual("some-project", context.tenant)
        self.assertEqual("noauth", context.user_id)
        self.assertEqual("jo", context.username)
        self.assertEqual("tok", context.auth_token)
        self.assertEqual({"admin", "member", "reader"}, set(context.roles))
        self.assertTrue(context.is_admin)
        self.assertTrue(context.request_id.startswith("req-"))


class KeystoneContextTest(base.TestCase):
    """The layers inside of auth_token, with the headers that it sets."""

    def setUp(self):
        super().setUp()
        self.engine = engine.FakeEngine()
        conf = client.make_conf(auth_strategy="keystone")
        enforcer = enforcement.Enforcer(conf)
        settings = api_settings.Settings.read(conf)
        inner = dispatch.Dispatcher(self.engine, settings, enforcer)
        layers = middleware.Context(inner, settings, enforcer)
        self.client = test.Client(middleware.Faults(layers))

    def ask(self, roles, path, method="GET", project=engine.TENANT, **kwargs):
        headers = {
            "X-Roles": roles,
            "X-User-Id": "u",
            "X-User-Name": "jo",
            "X-Auth-Token": "tok",
        }
        if project is not None:
            headers["X-Project-Id"] = project
        headers.update(kwargs.pop("headers", {}))
        return self.client.open(path, method=method, headers=headers, **kwargs)

    def test_the_context(self):
        self.ask(
            "reader",
            S,
            headers={"X-Region-Name": "r", "X-Auth-Key": "pw"},
            environ_overrides={"keystone.token_info": {"token": {}}},
        )
        context = self.engine.contexts[-1]
        values = context.to_dict()
        for key, value in (
            ("project_id", engine.TENANT),
            ("username", "jo"),
            ("auth_token", "tok"),
            ("region_name", "r"),
            ("password", "pw"),
            ("auth_token_info", {"token": {}}),
            ("roles", ["reader"]),
            ("is_admin", False),
        ):
            self.assertEqual(value, values[key], key)

    def test_personas(self):
        signal = (f"{client.R}/signal", "POST")
        new = {"stack_name": "a", "template": client.TEMPLATE}
        for roles, path, method, body, status in (
            ("reader", S, "GET", None, 200),
            ("member", S, "GET", None, 200),
            ("", S, "GET", None, 403),
            ("reader", S, "DELETE", None, 403),
            ("member", S, "DELETE", None, 204),
            ("reader", f"{ROOT}/stacks", "POST", new, 403),
            ("member", f"{ROOT}/stacks", "POST", new, 201),
            ("heat_stack_user", S, "GET", None, 403),
            ("heat_stack_user", *signal, {}, 200),
            ("heat_stack_user", f"{ROOT}/stacks/teststack", "GET", None, 302),
            ("reader", *signal, {}, 403),
            ("member", f"{ROOT}/services", "GET", None, 403),
            ("admin", f"{ROOT}/services", "GET", None, 200),
            ("reader", f"{S}/actions", "POST", {"check": None}, 200),
            ("reader", f"{S}/actions", "POST", {"suspend": None}, 403),
            ("member", f"{S}/actions", "POST", {"suspend": None}, 200),
            ("heat_stack_user", f"{S}/actions", "POST", {"check": 0}, 403),
        ):
            with self.subTest(roles=roles, path=path, method=method):
                kwargs = {} if body is None else {"json": body}
                response = self.ask(roles, path, method, **kwargs)
                self.assertEqual(status, response.status_code, response.text)
                if status == 403:
                    self.assertIn(
                        "You are not authorized to use", response.text
                    )

    def test_another_project(self):
        self.assertEqual(
            403, self.ask("member", S, project="other").status_code
        )
        self.assertEqual([], self.engine.calls)
        self.assertEqual(
            200, self.ask("admin", S, project="other").status_code
        )
        self.assertEqual("other", self.engine.contexts[-1].project_id)

    def test_another_projects_arn(self):
        path = f"{ROOT}/stacks/arn:openstack:heat::other:stacks/a/b"
        response = self.ask("member", path)
        self.assertEqual(403, response.status_code)
        self.assertIn("InvalidTenant", response.text)
        self.assertEqual(302, self.ask("admin", path).status_code)

    def test_an_administrator_of_the_system(self):
        response = self.ask(
            "admin",
            f"{ROOT}/stacks",
            project=None,
            headers={"OpenStack-System-Scope": "all"},
        )
        self.assertEqual(200, response.status_code, response.text)
        # Without a project the engine would list those of everybody.
        self.assertEqual(engine.TENANT, self.engine.contexts[-1].project_id)


class KeystoneAppTest(base.TestCase):
    def setUp(self):
        super().setUp()
        conf = client.make_conf(auth_strategy="keystone")
        app.make_app(conf, engine.FakeEngine())  # registers the options
        conf.set_override(
            "www_authenticate_uri",
            "http://keystone.test",
            group="keystone_authtoken",
        )
        self.client = test.Client(app.make_app(conf, engine.FakeEngine()))

    def test_a_token_is_needed(self):
        response = self.client.get(f"{ROOT}/stacks")
        self.assertEqual(401, response.status_code)
        self.assertIn("x-openstack-request-id", response.headers)

    def test_identity_headers_of_a_client_do_not_count(self):
        response = self.client.get(
            f"{ROOT}/stacks",
            headers={"X-Project-Id": engine.TENANT, "X-Roles": "admin"},
        )
        self.assertEqual(401, response.status_code)

    def test_versions_need_none(self):
        self.assertEqual(300, self.client.get("/").status_code)


class CorsTest(client.ApiTestCase):
    def setUp(self):
        super().setUp()
        self.conf = client.make_conf()
        app.make_app(self.conf, self.engine)  # registers the options
        self.conf.set_override(
            "allowed_origin", ["http://localhost:3000"], group="cors"
        )
        self.client = test.Client(app.make_app(self.conf, self.engine))

    def test_faults_carry_the_headers(self):
        response = self.get(
            f"{ROOT}/nothing", headers={"Origin": "http://localhost:3000"}
        )
        self.assertEqual(404, response.status_code)
        self.assertEqual(
            "http://localhost:3000",
            response.headers["Access-Control-Allow-Origin"],
        )
