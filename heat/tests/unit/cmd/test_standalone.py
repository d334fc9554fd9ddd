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

"""heat-standalone as users start it: a process, its line, its exit code."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from heat.tests import base

READY = re.compile(
    r"heat-standalone is ready: (http://[\w.:\[\]]+/v1/)\{project_id\}\n"
)


def slow(value):
    """A template whose one resource takes two seconds."""
    return {
        "heat_template_version": "2016-10-14",
        "resources": {
            "r": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": value, "wait_secs": 2},
            }
        },
    }


SLOW = slow("x")


class Http(base.TestCase):
    """Speaks to a running service."""

    def ask(self, method, url, body=None):
        request = urllib.request.Request(
            url,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def status(self, url):
        return self.ask("GET", url)["stack"]["stack_status"]

    def wait(self, url, status):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            found = self.status(url)
            if found == status:
                return
            time.sleep(0.05)
        self.fail(found)

    def create(self, url, template):
        made = self.ask(
            "POST",
            f"{url}/stacks",
            {"stack_name": "one", "template": template},
        )
        return f"{url}/stacks/one/{made['stack']['id']}"


class StandaloneTest(Http):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory(prefix="heat-test-")
        self.addCleanup(scratch.cleanup)
        self.state = os.path.join(scratch.name, "state")

    def launch(self, *args):
        process = subprocess.Popen(
            [sys.executable, "-m", "heat.cmd.standalone", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ready(self, *args):
        process = self.launch("--port", "0", "--state-dir", self.state, *args)
        line = process.stdout.readline()
        found = READY.fullmatch(line)
        if found is None:
            process.kill()
            self.fail(f"{line!r} {process.stderr.read()}")
        return process, found.group(1) + "p1"

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        self.assertEqual((0, "", ""), (process.returncode, out, err))

    def test_life(self):
        process, url = self.ready()
        mode = stat.S_IMODE(os.stat(self.state).st_mode)
        self.assertEqual(0o700, mode)
        stack = self.create(
            url,
            {
                "heat_template_version": "2016-10-14",
                "resources": {"r": {"type": "OS::Heat::None"}},
            },
        )
        self.wait(stack, "CREATE_COMPLETE")
        self.ask("DELETE", stack)
        self.wait(stack, "DELETE_COMPLETE")
        self.stop(process)
        log = pathlib.Path(self.state, "heat.log").read_text("utf-8")
        self.assertNotIn("ERROR", log)

    def test_what_was_begun_is_finished_after_a_restart(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how=how):
                process, url = self.ready()
                stack = self.create(url, SLOW)
                self.assertEqual("CREATE_IN_PROGRESS", self.status(stack))
                process.send_signal(how)
                process.wait(20)
                process, again = self.ready()
                stack = stack.replace(url, again)
                until = time.monotonic() + 20
                while self.status(stack).endswith("IN_PROGRESS"):
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.05)
                self.ask("DELETE", stack)
                self.wait(stack, "DELETE_COMPLETE")
                self.stop(process, signal.SIGINT)

    def test_refusals(self):
        process, url = self.ready()
        port = url.split(":")[2].split("/")[0]
        other = f"{self.state}-2"
        unusable = os.path.join(self.state, "heat.db", "x")
        for args, code, part in (
            (["--host", "0.0.0.0", "--state-dir", other], 2, "loopback"),
            (["--host", "192.0.2.1", "--state-dir", other], 2, "loopback"),
            (["--port", port, "--state-dir", other], 1, "already in use"),
            (["--port", "0", "--state-dir", self.state], 1, "another"),
            (["--port", "0", "--state-dir", unusable], 1, "cannot"),
            (["--port", "x", "--state-dir", other], 2, "--port"),
            (["--port", "0"], 2, "--state-dir"),
        ):
            with self.subTest(args=args):
                refused = self.launch(*args)
                out, err = refused.communicate(timeout=20)
                self.assertEqual(code, refused.returncode, err)
                self.assertEqual("", out)
                self.assertIn(part, err)
                self.assertNotIn("Traceback", err)
        self.stop(process)

    def test_configuration_file(self):
        path = self.create_tempfiles(
            [("heat", "[DEFAULT]\nmax_stacks_per_tenant = 0\n")], ext=".conf"
        )[0]
        process, url = self.ready("--config-file", path)
        error = self.assertRaises(
            urllib.error.HTTPError, self.create, url, SLOW
        )
        self.addCleanup(error.close)
        self.assertEqual(400, error.code)
        self.stop(process)

    def test_ipv6(self):
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6):
                pass
        except OSError:
            self.skipTest("no IPv6 here")
        process, url = self.ready("--host", "::1")
        self.assertEqual([], self.ask("GET", f"{url}/stacks")["stacks"])
        self.stop(process)
