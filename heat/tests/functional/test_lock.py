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
"""A stack is locked and unlocked: plain HTTP, and both command lines."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from heat.tests.functional import base
from heat.tests.functional.test_environment_client import install_plugin, root

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "a": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": "one"},
        },
        "n": {"type": "leaf.yaml"},
    },
    "outputs": {"a": {"value": {"get_attr": ["a", "output"]}}},
}
FILES = {
    "leaf.yaml": json.dumps(
        {
            "heat_template_version": "2018-08-31",
            "resources": {"r": {"type": "OS::Heat::RandomString"}},
        }
    )
}


class LockTest(base.FunctionalTest):
    def make(self) -> None:
        made = self.project.create("one", TEMPLATE, files=FILES)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("one", "CREATE_COMPLETE")

    def act(self, body: Any, path: str | None = None) -> Any:
        return self.project.call(
            "POST", f"{path or self.project.path('one')}/actions", body
        )

    def test_lock_and_unlock(self) -> None:
        self.make()
        path = self.project.path("one")
        answer = self.act({"lock": {"level": "stacks", "reason": "repair"}})
        self.assertEqual(200, answer.status_code, answer.text)
        stack = self.project.stack("one")
        self.assertEqual("LOCK_COMPLETE", stack["stack_status"])
        self.assertEqual(
            ("stacks", "repair"),
            (stack["lock"]["level"], stack["lock"]["reason"]),
        )
        [listed] = self.project.get("/stacks")["stacks"]
        self.assertEqual(stack["lock"], listed["lock"])
        refusals = (
            ("PUT", path, {"template": TEMPLATE, "files": FILES}),
            ("PATCH", path, {"parameters": {}}),
            ("DELETE", path, None),
            ("DELETE", f"{path}/abandon", None),
            ("POST", f"{path}/actions", {"suspend": None}),
            ("POST", f"{path}/actions", {"resume": None}),
            ("POST", f"{path}/actions", {"check": None}),
            ("POST", f"{path}/actions", {"cancel_update": None}),
            ("POST", f"{path}/snapshots", {}),
            ("PATCH", f"{path}/resources/a", {"mark_unhealthy": True}),
            (
                "POST",
                f"{path}/resources/a/signal",
                {"unset_hook": "pre-update"},
            ),
        )
        for verb, where, body in refusals:
            with self.subTest(verb=verb, path=where, body=body):
                self.assert_fault(
                    self.project.call(verb, where, body),
                    409,
                    "StackLocked",
                    "level stacks",
                    "reason: repair",
                )
        self.assertEqual({"a": "one"}, self.project.outputs("one"))
        nested = self.project.resources("one")["n"]
        self.assertEqual("LOCK_COMPLETE", nested["resource_status"])
        for body in ({"lock": None}, {"lock": {}}):
            answer = self.act(body)
            self.assertEqual(200, answer.status_code, answer.text)
            self.project.wait("one", "LOCK_COMPLETE")
        for resource in self.project.resources("one").values():
            self.assertEqual("LOCK_COMPLETE", resource["resource_status"])
        answer = self.act({"unlock": None})
        self.assertEqual(200, answer.status_code, answer.text)
        self.project.wait("one", "UNLOCK_COMPLETE")
        self.assertIsNone(self.project.stack("one")["lock"])
        self.assert_fault(self.act({"unlock": None}), 409, "StackNotLocked")
        changed = self.project.update("one", TEMPLATE, files=FILES)
        self.assertEqual(202, changed.status_code, changed.text)
        self.project.wait("one", "UPDATE_COMPLETE")
        self.project.delete("one")
        self.project.wait_gone("one")

    def test_wrong_words(self) -> None:
        self.make()
        before = self.project.stack("one")
        bodies: tuple[Any, ...] = (
            {"lock": {"level": "some"}},
            {"lock": {"level": "ALL"}},
            {"lock": {"level": None}},
            {"lock": {"level": ["all"]}},
            {"lock": {"depth": 1}},
            {"lock": {"expires_in": 0}},
            {"lock": {"expires_in": -1}},
            {"lock": {"expires_in": 1.5}},
            {"lock": {"expires_in": "60"}},
            {"lock": {"expires_in": True}},
            {"lock": {"expires_in": 2**40}},
            {"lock": {"reason": 7}},
            {"lock": {"reason": {"a": "b"}}},
            {"lock": "all"},
            {"lock": ["all"]},
            {"lock": True},
            {"lock": None, "unlock": None},
            {"lock": None, "suspend": None},
            {"unlocked": None},
            {},
            [],
            None,
        )
        for body in bodies:
            with self.subTest(body=body):
                self.assert_fault(self.act(body), 400, None)
                self.assertEqual(before, self.project.stack("one"))

    def test_wrong_stacks(self) -> None:
        self.make()
        path = self.project.path("one")
        other = base.Project(self.url)
        mine = base.Project(self.url, self.project.id)
        for body in ({"lock": None}, {"unlock": None}):
            with self.subTest(body=body):
                for project, where in (
                    (mine, f"{path[:-1]}x"),
                    (mine, "/stacks/none"),
                    (other, path),
                    (other, "/stacks/one"),
                ):
                    answer = project.call("POST", f"{where}/actions", body)
                    self.assertEqual(404, answer.status_code, answer.text)
        self.assert_fault(self.act({"unlock": None}), 409, "StackNotLocked")
        self.assertEqual(
            "CREATE_COMPLETE", self.project.stack("one")["stack_status"]
        )
        self.project.delete("one")
        self.project.wait_gone("one")
        for action, error in (
            ("lock", "StackNotLockable"),
            ("unlock", "StackNotLocked"),
        ):
            answer = self.act({action: None}, path)
            self.assert_fault(answer, 409, error)


class ClientTest(base.FunctionalTest):
    def setUp(self) -> None:
        super().setUp()
        site = tempfile.TemporaryDirectory()
        self.addCleanup(site.cleanup)
        install_plugin(pathlib.Path(site.name))
        paths = [site.name, str(root()), os.environ.get("PYTHONPATH", "")]
        self.openstack.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        made = self.project.create("one", TEMPLATE, files=FILES)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("one", "CREATE_COMPLETE")

    def test_the_openstack_command(self) -> None:
        [row] = self.openstack(
            "stack", "lock", "--level", "stacks", "--reason", "repair",
            "--expires-in", 600, "--wait", "one",
        )  # fmt: skip
        self.assertEqual("LOCK_COMPLETE", row["Stack Status"])
        record = self.project.stack("one")["lock"]
        self.assertEqual(
            ("stacks", "repair"), (record["level"], record["reason"])
        )
        self.assertIsNotNone(record["expires_at"])
        failed = self.assertRaises(
            base.ClientFailed,
            self.openstack, "stack", "suspend", "one",
        )  # fmt: skip
        self.assertIn("is locked", str(failed))
        [row] = self.openstack("stack", "lock", "--wait", "one")
        self.assertEqual("LOCK_COMPLETE", row["Stack Status"])
        self.assertEqual("all", self.project.stack("one")["lock"]["level"])
        [row] = self.openstack("stack", "unlock", "--wait", "one")
        self.assertEqual("UNLOCK_COMPLETE", row["Stack Status"])
        failed = self.assertRaises(
            base.ClientFailed, self.openstack, "stack", "unlock", "one"
        )
        self.assertIn("nothing to unlock", str(failed))
        failed = self.assertRaises(
            base.ClientFailed, self.openstack, "stack", "lock", "no-such"
        )
        self.assertIn("Stack not found: no-such", str(failed))

    def test_the_words_of_the_old_shell(self) -> None:
        shown = self.heat_lock("action-lock", "one", "--level=stacks")
        self.assertIn("LOCK_COMPLETE", shown)
        self.assertEqual("stacks", self.project.stack("one")["lock"]["level"])
        self.assertIn(
            "UNLOCK_COMPLETE", self.heat_lock("action-unlock", "one")
        )
        # Anything else is the public shell's.
        self.assertIn("one", self.heat_lock("stack-list"))
        self.assertIn("--level", self.heat_lock("help", "action-lock"))

    def heat_lock(self, *args: str) -> str:
        url = f"{self.url}/v1/{self.project.id}"
        done = subprocess.run(
            [sys.executable, "-m", "heat.cmd.lock", *args],
            env={
                **os.environ,
                "PYTHONPATH": str(root()),
                "OS_NO_CLIENT_AUTH": "1",
                "HEAT_URL": url,
                "OS_AUTH_TOKEN": "none",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual(0, done.returncode, done.stderr + done.stdout)
        return done.stdout
