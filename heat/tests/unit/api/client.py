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

"""The application in process, with a fake engine behind it."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg
from werkzeug import test

from heat.api import app
from heat.common import config
from heat.tests import base
from heat.tests.fakes import engine

ROOT = f"/v1/{engine.TENANT}"
S = f"{ROOT}/stacks/{engine.NAME}/{engine.STACK_ID}"
R = f"{S}/resources/server"
TEMPLATE = {"heat_template_version": "2013-05-23"}


def make_conf(**overrides: Any) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    config.register(conf)
    conf([], project="heat", default_config_files=[])
    conf.set_override("auth_strategy", "noauth")
    for name, value in overrides.items():
        conf.set_override(name, value)
    return conf


class ApiTestCase(base.TestCase):
    """Requests from loopback, without authentication."""

    conf_overrides: dict[str, Any] = {}

    def setUp(self) -> None:
        super().setUp()
        self.engine = engine.FakeEngine()
        self.conf = make_conf(**self.conf_overrides)
        self.start()

    def start(self) -> None:
        """Make the application, from the configuration as it is."""
        self.app = app.make_app(self.conf, self.engine)
        self.client = test.Client(self.app)

    def believe_proxies(self) -> None:
        self.conf.set_override(
            "enable_proxy_headers_parsing", True, group="oslo_middleware"
        )
        self.start()

    def request(self, method: str, path: str, **kwargs: Any):
        environ = {"REMOTE_ADDR": "127.0.0.1"}
        environ.update(kwargs.pop("environ", {}))
        return self.client.open(
            path, method=method, environ_overrides=environ, **kwargs
        )

    def get(self, path: str, **kwargs: Any):
        return self.request("GET", path, **kwargs)

    def assert_fault(self, response, status: int, kind: str, words: str = ""):
        self.assertEqual(status, response.status_code, response.text)
        body = response.get_json()
        self.assertEqual({"code", "title", "explanation", "error"}, set(body))
        self.assertEqual(status, body["code"])
        self.assertEqual({"type", "message", "traceback"}, set(body["error"]))
        self.assertIsNone(body["error"]["traceback"])
        self.assertEqual(kind, body["error"]["type"])
        self.assertIn(words, body["error"]["message"])

    @property
    def call(self):
        """Method and arguments of the last call to the engine."""
        return self.engine.calls[-1]
