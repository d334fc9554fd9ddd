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

"""What the stories share: a running service, a project, and two clients.

A class of tests starts the service it wants (``make_deployment``), or uses the
one that HEAT_TEST_ENDPOINT names. Every test has a project of its own, so that
a list of its stacks is its own.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
import uuid
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import requests

from heat.tests import base
from heat.tests.functional import deployment

WAIT_SECONDS = 90


class Project:
    """One project, through the ReST API, as plain as a client could be."""

    def __init__(self, url: str, project: str | None = None) -> None:
        self.id = project or uuid.uuid4().hex
        self.url = f"{url}/v1/{self.id}"
        self.session = requests.Session()

    def call(
        self, method: str, path: str, body: Any = None, **kwargs: Any
    ) -> requests.Response:
        """One request; redirects are followed with the same method."""
        kwargs.setdefault("allow_redirects", False)
        kwargs.setdefault("timeout", 60)
        if body is not None:
            kwargs["json"] = body
        url = path if path.startswith("http") else f"{self.url}{path}"
        got = self.session.request(method, url, **kwargs)
        if got.status_code == 302:
            return self.session.request(
                method, got.headers["Location"], **kwargs
            )
        return got

    def get(self, path: str, **kwargs: Any) -> Any:
        """The body of a GET that must succeed."""
        got = self.call("GET", path, **kwargs)
        if got.status_code != 200:
            raise AssertionError(f"GET {path}: {got.status_code} {got.text}")
        return got.json()

    def create(
        self, name: str, template: Any, **body: Any
    ) -> requests.Response:
        body.update(stack_name=name, template=template)
        return self.call("POST", "/stacks", body)

    def update(
        self, name: str, template: Any = None, patch: bool = False, **body: Any
    ) -> requests.Response:
        if template is not None:
            body["template"] = template
        method = "PATCH" if patch else "PUT"
        return self.call(method, f"/stacks/{name}", body)

    def delete(self, name: str) -> requests.Response:
        return self.call("DELETE", f"/stacks/{name}")

    def stack(self, name: str) -> dict[str, Any]:
        return self.get(f"/stacks/{name}")["stack"]

    def stacks(self) -> dict[str, str]:
        """Name -> status of every stack of the project."""
        return {
            stack["stack_name"]: stack["stack_status"]
            for stack in self.get("/stacks")["stacks"]
        }

    def outputs(self, name: str) -> dict[str, Any]:
        return {
            output["output_key"]: output.get("output_value")
            for output in self.stack(name)["outputs"]
        }

    def resources(self, name: str) -> dict[str, dict[str, Any]]:
        path = self.path(name)
        return {
            resource["resource_name"]: resource
            for resource in self.get(f"{path}/resources")["resources"]
        }

    def events(self, name: str) -> list[dict[str, Any]]:
        path = self.path(name)
        return self.get(f"{path}/events", params={"sort_dir": "asc"})["events"]

    def path(self, name: str) -> str:
        """Where the stack is: /stacks/{name}/{id}."""
        return f"/stacks/{name}/{self.stack(name)['id']}"

    def wait(self, name: str, *statuses: str) -> dict[str, Any]:
        """Wait for one of the statuses; another resting one is a failure."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            stack = self.stack(name)
            status = stack["stack_status"]
            if status in statuses:
                return stack
            moving = status.endswith("_IN_PROGRESS")
            # UPDATE_FAILED may be seen for a moment before its rollback.
            rolling = status == "UPDATE_FAILED" and any(
                wanted.startswith("ROLLBACK") for wanted in statuses
            )
            if time.monotonic() > deadline or not (moving or rolling):
                raise AssertionError(
                    f"{name}: {status}, not {' or '.join(statuses)}: "
                    f"{stack['stack_status_reason']}"
                )
            time.sleep(0.1)

    def wait_gone(self, name: str) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            got = self.call("GET", f"/stacks/{name}")
            if got.status_code == 404:
                return
            status = got.json()["stack"]["stack_status"]
            if status == "DELETE_FAILED" or time.monotonic() > deadline:
                raise AssertionError(f"{name}: {status}: {got.text}")
            time.sleep(0.1)


class ClientFailed(Exception):
    """The openstack command ended with an error; the text is its output."""


class OpenStack:
    """The real ``openstack`` command, on one project."""

    def __init__(self, url: str, project: str) -> None:
        self.program = pathlib.Path(sys.executable).with_name("openstack")
        self.env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("OS_")
        }
        self.env["OS_AUTH_TYPE"] = "none"
        self.env["OS_ENDPOINT"] = f"{url}/v1/{project}"

    def __call__(self, *args: object, parse: bool = True) -> Any:
        """Run ``openstack args``; the answer is its JSON.

        :param parse: False for a command that prints no JSON: its text
        :raises ClientFailed: with what it printed
        """
        command = [str(self.program), *map(str, args)]
        if parse:
            command += ["-f", "json"]
        done = subprocess.run(
            command,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * WAIT_SECONDS,
        )
        if done.returncode:
            raise ClientFailed(done.stdout + done.stderr)
        return json.loads(_json_part(done.stdout)) if parse else done.stdout


def _json_part(text: str) -> str:
    """The JSON in an output that begins with events (--wait)."""
    for number, line in enumerate(text.splitlines()):
        if line[:1] in ("{", "["):
            return "\n".join(text.splitlines()[number:])
    raise ClientFailed(f"no JSON in {text!r}")


class FunctionalTest(base.TestCase):
    """A test that has a service (``url``) and a project of its own."""

    url: ClassVar[str]
    running: ClassVar[deployment.Deployment | None] = None
    #: Classes with the same one share a deployment when they follow upon one
    #: another; None: it is for this class alone.
    kind: ClassVar[Hashable] = None

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        """What to start; a sub-class for another deployment overrides it."""
        return deployment.Standalone()

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        given = os.environ.get("HEAT_TEST_ENDPOINT")
        if given:
            cls.url = given.rstrip("/")
            return
        if cls.kind is None:
            cls.running = cls.make_deployment().start()
            cls.addClassCleanup(cls.running.stop)
        else:
            cls.running = deployment.keep(cls.kind, cls.make_deployment)
        cls.url = cls.running.url

    def setUp(self) -> None:
        super().setUp()
        self.project = Project(self.url)
        self.openstack = OpenStack(self.url, self.project.id)
        self.addOnException(self._show_logs)

    def _show_logs(self, _exc_info: object) -> None:
        if self.running is not None:
            logs = self.running.logs()
            self.addDetail("service", _text(logs))

    def assert_fault(
        self,
        answer: requests.Response,
        status: int,
        error: str | None,
        *words: str,
    ) -> dict[str, Any]:
        """The answer is a fault of this status and class, with these words.

        :returns: the body of the fault
        """
        self.assertEqual(status, answer.status_code, answer.text)
        fault = answer.json()
        self.assertEqual(status, fault["code"])
        if error is not None:
            self.assertEqual(error, fault["error"]["type"], answer.text)
        message = fault["error"]["message"]
        for word in words:
            self.assertIn(word, message)
        self.assertNotIn("Traceback", answer.text)
        return fault

    def assert_order(
        self, wanted: Iterable[object], events: Iterable[object]
    ) -> None:
        """The wanted things occur in this order, others may lie between."""
        left = iter(events)
        for item in wanted:
            self.assertTrue(
                any(item == other for other in left),
                f"{item} does not come where it should",
            )


def _text(text: str) -> Any:
    from testtools import content

    return content.text_content(text)
