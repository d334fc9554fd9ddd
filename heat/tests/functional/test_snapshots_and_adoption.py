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
"""Abandon, adopt and snapshots through the real ``openstack`` client."""

from __future__ import annotations

import json
import tempfile

from heat.tests.functional import base, deployment

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"word": {"type": "string", "default": "x"}},
    "resources": {
        "first": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_param": "word"}},
        },
        "second": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["first", "output"]}},
        },
    },
    "outputs": {"word": {"value": {"get_attr": ["second", "output"]}}},
}


class Permitting(deployment.Standalone):
    """heat-standalone with what an operator has to permit."""

    def _start(self) -> None:
        conf = self.folder / "permit.conf"
        conf.write_text(
            "[DEFAULT]\n"
            "enable_stack_abandon = true\n"
            "enable_stack_adopt = true\n"
            "max_snapshots_per_stack = 2\n"
        )
        self.run(
            "standalone",
            "heat.cmd.standalone",
            "--port",
            str(self.port),
            "--state-dir",
            str(self.folder / "state"),
            "--config-file",
            str(conf),
        )


class SnapshotsAndAdoptionTest(base.FunctionalTest):
    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return Permitting()

    def ids(self, name):
        found = self.project.resources(name)
        return {n: r["physical_resource_id"] for n, r in found.items()}

    def make(self, name):
        made = self.project.create(name, TEMPLATE)
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait(name, "CREATE_COMPLETE")
        return self.ids(name)

    def test_abandon_and_adopt(self):
        ids = self.make("s")
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            self.openstack(
                "stack",
                "abandon",
                "--output-file",
                file.name,
                "s",
                parse=False,
            )
            told = json.load(file)
            self.assertEqual(
                ids,
                {n: r["resource_id"] for n, r in told["resources"].items()},
            )
            self.project.wait_gone("s")
            self.openstack(
                "stack",
                "adopt",
                "--adopt-file",
                file.name,
                "again",
                parse=False,
            )
        self.project.wait("again", "ADOPT_COMPLETE")
        self.assertEqual(ids, self.ids("again"))
        self.assertEqual({"word": "x"}, self.project.outputs("again"))
        self.project.update("again", patch=True, parameters={"word": "y"})
        self.project.wait("again", "UPDATE_COMPLETE")
        self.assertEqual(ids, self.ids("again"))
        self.assertEqual({"word": "y"}, self.project.outputs("again"))

    def test_snapshots(self):
        ids = self.make("s")
        made = self.openstack("stack", "snapshot", "create", "s")
        ident = made["ID"]
        self.project.wait("s", "SNAPSHOT_COMPLETE")
        [listed] = self.openstack("stack", "snapshot", "list", "s")
        self.assertEqual(ident, listed["id"])
        told = self.openstack(
            "stack", "snapshot", "show", "s", ident, parse=False
        )
        self.assertIn(ident, told)
        path = self.project.path("s")
        shown = self.project.get(f"{path}/snapshots/{ident}")["snapshot"]
        self.assertEqual("COMPLETE", shown["status"])
        self.assertEqual(set(ids), set(shown["data"]["resources"]))
        self.project.update("s", patch=True, parameters={"word": "y"})
        self.project.wait("s", "UPDATE_COMPLETE")
        self.openstack("stack", "snapshot", "restore", "s", ident, parse=False)
        self.project.wait("s", "RESTORE_COMPLETE")
        self.assertEqual({"word": "x"}, self.project.outputs("s"))
        self.assertEqual(ids, self.ids("s"))
        got = self.project.call("POST", f"{path}/snapshots", {"name": "t"})
        self.assertEqual(200, got.status_code, got.text)
        self.assertIsNone(got.json()["data"])
        self.project.wait("s", "SNAPSHOT_COMPLETE")
        got = self.project.call("POST", f"{path}/snapshots", {"name": "u"})
        self.assertEqual(400, got.status_code, got.text)
        self.openstack("stack", "snapshot", "delete", "s", ident, parse=False)
        rows = self.project.get(f"{path}/snapshots")["snapshots"]
        self.assertEqual(["t"], [each["name"] for each in rows])
        got = self.project.call("GET", f"{path}/snapshots/{ident}")
        self.assertEqual(404, got.status_code)
        self.project.delete("s")
        self.project.wait_gone("s")
