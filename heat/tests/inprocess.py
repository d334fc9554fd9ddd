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
"""The whole service in this process: API, bus, engine, a real database."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import time
import types
import uuid
from collections.abc import Iterator
from typing import Any

import fixtures
import sqlalchemy as sa
from oslo_config import cfg
from oslo_policy import opts as policy_opts
from werkzeug import test

from heat.api import app
from heat.common import config
from heat.db import session
from heat.engine import plugins
from heat.engine.environment import shared
from heat.engine.service import server
from heat.rpc import clients, local
from heat.tests.unit.db import backends

WAIT_SECONDS = 30


class Service(fixtures.Fixture):
    """A running service; requests come from loopback, as project ``p1``.

    :param policies: a file with the operator's own
    :param options: overrides of ``[DEFAULT]``
    """

    def __init__(self, policies: str | None = None, **options: Any) -> None:
        self.policies = policies
        self.options = options
        self.project = f"p{uuid.uuid4().hex[:8]}"

    def _setUp(self) -> None:
        self.conf = cfg.ConfigOpts()
        config.register(self.conf)
        self.conf(
            [],
            project="heat",
            default_config_files=[],
            default_config_dirs=[],
        )
        self.conf.set_override("auth_strategy", "noauth")
        # What the machine has in /etc must not matter.
        self.conf.set_override("environment_dir", "/nonexistent")
        self.conf.set_override("template_dir", "/nonexistent")
        for name, value in self.options.items():
            self.conf.set_override(name, value)
        policy_opts.set_defaults(self.conf)
        if self.policies is not None:
            self.conf.set_override("policy_file", self.policies, "oslo_policy")
        self.url = self.useFixture(backends.Scratch()).url
        self.db = session.Database(self.conf, url=self.url)
        self.addCleanup(self.db.dispose)
        self.bus = local.LocalBus()
        self.addCleanup(self.bus.close)
        self.addCleanup(shared.install, None)
        self.server = server.EngineServer(
            self.conf,
            self.bus,
            self.db,
            plugins.PluginRegistry.load(self.conf),
            alone=True,
        )
        self.server.start()
        self.addCleanup(self.server.stop)
        self.engine = clients.EngineClient(self.bus)
        self.client = test.Client(app.make_app(self.conf, self.engine))

    def call(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Any:
        """The answer to a request; the path begins behind the project."""
        return self.client.open(
            f"/v1/{self.project}{path}",
            method=method,
            json=body,
            headers=headers,
            environ_overrides={"REMOTE_ADDR": "127.0.0.1"},
        )

    def get(self, path: str) -> Any:
        """The body of a GET that works."""
        answer = self.call("GET", path)
        if answer.status_code == 302:
            location = answer.headers["Location"]
            path = location.partition(f"/v1/{self.project}")[2]
            return self.get(path)
        if answer.status_code != 200:
            raise AssertionError(f"{path}: {answer.status} {answer.text}")
        return answer.get_json()

    def create(self, name: str, template: Any, **body: Any) -> str:
        """Create a stack and wait for it; its id."""
        stack_id = self.begin(name, template, **body)
        self.wait(stack_id, "CREATE_COMPLETE")
        return stack_id

    def begin(self, name: str, template: Any, **body: Any) -> str:
        """Begin to create a stack; its id."""
        answer = self.call(
            "POST",
            "/stacks",
            {"stack_name": name, "template": template} | body,
        )
        if answer.status_code != 201:
            raise AssertionError(f"{name}: {answer.status} {answer.text}")
        stack_id: str = answer.get_json()["stack"]["id"]
        return stack_id

    def wait(self, stack_id: str, status: str) -> dict[str, Any]:
        """Wait until a stack rests, which must be in this status."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            [stack] = self.get(
                f"/stacks?id={stack_id}&show_deleted=1&show_hidden=1"
            )["stacks"]
            if not stack["stack_status"].endswith("_IN_PROGRESS"):
                break
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        if stack["stack_status"] != status:
            raise AssertionError(str(stack))
        return stack

    @contextlib.contextmanager
    def statements(self) -> Iterator[list[str]]:
        """The statements that a block sends to the database."""
        seen: list[str] = []

        def note(conn: Any, cursor: Any, statement: str, *rest: Any) -> None:
            seen.append(statement)

        sa.event.listen(self.db.engine, "before_cursor_execute", note)
        try:
            yield seen
        finally:
            sa.event.remove(self.db.engine, "before_cursor_execute", note)


def with_plugin(
    case: fixtures.TestWithFixtures, name: str, text: str
) -> tuple[Service, types.ModuleType]:
    """A service for a test that has found a plug-in in a folder, and the
    plug-in's module.

    :param name: of the file; nothing else in this process has it
    """
    folder = case.useFixture(fixtures.TempDir()).path
    pathlib.Path(folder, f"{name}.py").write_text(text, "utf-8")
    service = case.useFixture(Service(plugin_dirs=[folder]))
    return service, sys.modules[f"{plugins.__name__}.{name}"]
