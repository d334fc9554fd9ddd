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

"""heat-api and heat-engine as processes, with RabbitMQ between them.

Each concurrency backend runs a stack's whole life. Needs a broker:
HEAT_TEST_RABBIT_URL, with a virtual host that no other engine uses.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from heat.db import migration
from heat.tests.unit.cmd import test_standalone

RABBIT = os.environ.get("HEAT_TEST_RABBIT_URL")
REQUIRED = os.environ.get("HEAT_TEST_REQUIRE_SERVICES") == "1"

CONF = """
[DEFAULT]
auth_strategy = noauth
transport_url = {rabbit}
rpc_response_timeout = 5
concurrency_backend = {backend}
num_engine_workers = 2
log_file = {directory}/heat.log
[database]
connection = sqlite:///{directory}/heat.db
[engine]
heartbeat_interval = 0.5
dead_after = 2
recovery_interval = 0.5
[heat_api]
bind_port = {port}
workers = 2
"""


class Processes(test_standalone.Http):
    backend = ""

    def setUp(self):
        super().setUp()
        if not RABBIT:
            if REQUIRED:
                self.fail("HEAT_TEST_RABBIT_URL is not set")
            self.skipTest("HEAT_TEST_RABBIT_URL is not set")
        scratch = tempfile.TemporaryDirectory(prefix="heat-test-")
        self.addCleanup(scratch.cleanup)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.file = os.path.join(scratch.name, "heat.conf")
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(
                CONF.format(
                    rabbit=RABBIT,
                    backend=self.backend,
                    directory=scratch.name,
                    port=port,
                )
            )
        migration.upgrade(f"sqlite:///{scratch.name}/heat.db")
        self.url = f"http://127.0.0.1:{port}/v1/p1"

    def launch(self, program):
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                f"heat.cmd.{program}",
                "--config-file",
                self.file,
            ],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.kill_group, process.pid)
        return process

    @staticmethod
    def kill_group(group):
        """Workers outlive a master that is killed."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    def engines(self):
        return [
            each
            for each in self.ask("GET", f"{self.url}/services")["services"]
            if each["status"] == "up"
        ]

    def begin(self):
        engine, api = self.launch("engine"), self.launch("api")
        # A request that comes before an engine listens gets no answer.
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                if len(self.engines()) == 2:
                    return engine, api
            except OSError:
                pass
            time.sleep(0.2)
        self.fail("the processes do not serve")

    def test_life_of_a_stack(self):
        engine, api = self.begin()
        stack = self.create(self.url, test_standalone.SLOW)
        self.wait(stack, "CREATE_COMPLETE")
        changed = test_standalone.slow("y")
        self.ask("PUT", stack, {"template": changed})
        self.wait(stack, "UPDATE_COMPLETE")
        self.ask("DELETE", stack)
        self.wait(stack, "DELETE_COMPLETE")
        began = time.monotonic()
        for process in (api, engine):
            process.send_signal(signal.SIGTERM)
        for process in (api, engine):
            _out, err = process.communicate(timeout=30)
            self.assertEqual(0, process.returncode, err)
            self.assertNotIn("Traceback", err)
        self.assertLess(time.monotonic() - began, 15)


class ThreadingTest(Processes):
    backend = "threading"

    def is_at_work(self, stack):
        """Likewise while there is no engine to answer."""
        try:
            return self.status(stack).endswith("IN_PROGRESS")
        except OSError:
            return True

    def test_a_killed_worker_is_replaced(self):
        engine, _api = self.begin()
        stack = self.create(self.url, test_standalone.SLOW)
        known = {each["engine_id"] for each in self.engines()}
        listed = subprocess.run(
            ["ps", "--ppid", str(engine.pid), "-o", "pid="],
            capture_output=True,
            text=True,
            check=True,
        )
        for pid in listed.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        until = time.monotonic() + 90
        while self.is_at_work(stack):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.2)
        self.assertFalse(known & {e["engine_id"] for e in self.engines()})
        self.ask("DELETE", stack)
        self.wait(stack, "DELETE_COMPLETE")


class EventletTest(Processes):
    backend = "eventlet"


# Only its sub-classes are tests.
del Processes
