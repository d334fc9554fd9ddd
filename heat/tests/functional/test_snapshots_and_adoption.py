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

CHILD = {
    "heat_template_version": "2018-08-31",
    "parameters": {"word": {"type": "string"}},
    "resources": {
        "inner": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_param": "word"}},
        }
    },
    "outputs": {"word": {"value": {"get_attr": ["inner", "output"]}}},
}

NESTED = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "provider": {"type": "child.yaml", "properties": {"word": "p"}},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": 2,
                "resource_def": {
                    "type": "child.yaml",
                    "properties": {"word": "m%index%"},
                },
            },
        },
        "scaled": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {
                "min_size": 1,
                "max_size": 5,
                "resource": {"type": "OS::Heat::TestResource"},
            },
        },
        "policy": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "scaled"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        },
    },
    "outputs": {
        "words": {"value": {"get_attr": ["group", "word"]}},
        "size": {"value": {"get_attr": ["scaled", "current_size"]}},
    },
}


# What an operator has to permit, and a limit to run into.
OPTIONS = (
    "enable_stack_abandon = true",
    "enable_stack_adopt = true",
    "max_snapshots_per_stack = 2",
)


class Permitting(deployment.Standalone):
    """heat-standalone with what an operator has to permit."""

    def _start(self) -> None:
        conf = self.folder / "permit.conf"
        conf.write_text("\n".join(("[DEFAULT]", *OPTIONS)))
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

    def objects(self, name):
        """Ids of what are no stacks, on every level, by path."""
        path = self.project.path(name)
        found = self.project.get(f"{path}/resources?nested_depth=3")
        rows = found["resources"]
        nested = {
            link["href"].split("/")[-1]: row
            for row in rows
            for link in row["links"]
            if link["rel"] == "nested"
        }

        def whole(row):
            [own] = [
                link["href"].split("/")[-1]
                for link in row["links"]
                if link["rel"] == "stack"
            ]
            above = [whole(nested[own])] if own in nested else []
            return "/".join([*above, row["resource_name"]])

        return {
            whole(row): row["physical_resource_id"]
            for row in rows
            if row not in nested.values()
        }

    def test_nested_stacks(self):
        made = self.project.create(
            "n", NESTED, files={"child.yaml": json.dumps(CHILD)}
        )
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait("n", "CREATE_COMPLETE")
        for size in (2, 3):
            self.openstack(
                "stack", "resource", "signal", "n", "policy", parse=False
            )
            self.project.wait("n", "UPDATE_COMPLETE")
            self.assertEqual(size, self.project.outputs("n")["size"])
        objects = self.objects("n")
        self.assertEqual(
            {
                "provider/inner",
                "group/0/inner",
                "group/1/inner",
                "scaled/0",
                "scaled/1",
                "scaled/2",
                "policy",
            },
            set(objects),
        )
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            self.openstack(
                "stack",
                "abandon",
                "--output-file",
                file.name,
                "n",
                parse=False,
            )
            self.project.wait_gone("n")
            self.openstack(
                "stack",
                "adopt",
                "--adopt-file",
                file.name,
                "again",
                parse=False,
            )
        self.project.wait("again", "ADOPT_COMPLETE")
        self.assertEqual(objects, self.objects("again"))
        self.assertEqual(
            {"words": ["m0", "m1"], "size": 3}, self.project.outputs("again")
        )
        stacks = self.project.get("/stacks?show_nested=1")["stacks"]
        self.assertEqual(
            ["ADOPT_COMPLETE"] * 6, [each["stack_status"] for each in stacks]
        )
        self.openstack(
            "stack", "resource", "signal", "again", "policy", parse=False
        )
        self.project.wait("again", "UPDATE_COMPLETE")
        now = self.objects("again")
        self.assertEqual({"scaled/3"}, now.keys() - objects.keys())
        self.assertLessEqual(objects.items(), now.items())
        self.project.delete("again")
        self.project.wait_gone("again")

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
