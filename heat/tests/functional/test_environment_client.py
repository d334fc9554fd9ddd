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
"""Environment files with the public client.

One story: create, change one file, see where values come from, take a file
out, go back; and the option that reads the list of files from a file.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

import heat
from heat.tests.functional import base
from heat.tests.functional.environment_samples import TEMPLATE, A, B


class ClientTest(base.FunctionalTest):
    """The public client, with our plug-in as a package would bring it."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heat-env-"))
        install_plugin(self.folder / "site")
        self.openstack.env["PYTHONPATH"] = os.pathsep.join(
            (str(self.folder / "site"), str(root()))
        )
        self.write("t.yaml", json.dumps(TEMPLATE))
        self.write("a.yaml", A)
        self.write("b.yaml", B)
        self.write("c.yaml", "parameters:\n  count: 2\n")

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def stack(self, command: str, *args: object) -> None:
        self.openstack("stack", command, *args, "--wait", parse=False)

    def values(self) -> dict[str, Any]:
        return self.project.outputs("s")["all"]

    def sources(self) -> dict[str, Any]:
        return self.openstack("stack", "environment", "show", "s", "--sources")

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def test_story(self):
        a, b = self.folder / "a.yaml", self.folder / "b.yaml"
        template = self.folder / "t.yaml"
        self.stack("create", "-t", template, "-e", a, "-e", b, "s")
        self.assertEqual("b", self.values()["flavor"])
        self.write("a.yaml", A.replace("x: 1", "x: 10") + "  count: 9\n")
        self.stack("update", "--existing", "-e", a, "s")
        self.assertEqual(
            {"flavor": "b", "count": 9, "sizes": {"x": 10, "y": 2},
             "names": []},
            self.values(),
        )  # fmt: skip
        shown = self.sources()
        self.assertEqual(
            [self.uri("a.yaml"), self.uri("b.yaml")],
            shown["environment_files"],
        )
        flavor = shown["parameters"]["flavor"]
        self.assertEqual(self.uri("b.yaml"), flavor["file"])
        self.assertEqual("parameters.flavor", flavor["path"])
        self.assertEqual("a", flavor["overridden"][0]["value"])
        self.assertIn("merged", shown["parameters"]["sizes"])
        # The client has no option for this yet.
        got = self.project.update(
            "s", patch=True, environment_files_remove=[self.uri("b.yaml")]
        )
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("s", "UPDATE_COMPLETE")
        self.assertEqual("a", self.values()["flavor"])
        self.roll_back()
        self.assertEqual("a", self.values()["flavor"])
        self.assertEqual(
            [self.uri("a.yaml")], self.sources()["environment_files"]
        )

    def roll_back(self) -> None:
        template = json.loads(json.dumps(TEMPLATE))
        template["resources"]["bad"] = {
            "type": "OS::Heat::" + "TestResource",
            "properties": {"fail": True},
        }
        broken = self.write("broken.yaml", json.dumps(template))
        self.openstack(
            "stack", "update", "--existing", "-t", broken,
            "-e", self.folder / "c.yaml", "--rollback", "enabled", "s",
            parse=False,
        )  # fmt: skip
        self.project.wait("s", "ROLLBACK_COMPLETE")

    def test_environment_list(self):
        self.write("lists/e.yaml", "parameters: {flavor: e, names: e}\n")
        self.write("lists/lines", "# comment\n../a.yaml\n\ne.yaml\n")
        self.write("lists/list.yaml", "- ../c.yaml\n- e.yaml\n")
        template = self.folder / "t.yaml"
        got = self.openstack(
            "orchestration", "template", "validate", "-t", template,
            "--environment-list", self.folder / "lists/list.yaml",
            "-e", self.folder / "b.yaml",
        )  # fmt: skip
        self.assertEqual(
            {"count": 2, "flavor": "b", "names": "e", "sizes": {"y": 2}},
            got["Environment"]["parameters"],
        )
        self.stack(
            "create", "-t", template, "-e", self.folder / "b.yaml",
            "--environment-list", self.folder / "lists/lines", "s",
        )  # fmt: skip
        self.assertEqual("e", self.values()["flavor"])
        self.assertEqual(
            [self.uri(n) for n in ("b.yaml", "a.yaml", "lists/e.yaml")],
            self.sources()["environment_files"],
        )
        self.stack(
            "update", "-t", template,
            "--environment-list", self.folder / "lists/list.yaml", "s",
        )  # fmt: skip
        self.assertEqual(
            ("e", 2), (self.values()["flavor"], self.values()["count"])
        )
        failed = self.assertRaises(
            base.ClientFailed,
            self.stack, "update", "-t", template,
            "--environment-list", self.folder / "no-such-file", "s",
        )  # fmt: skip
        self.assertIn("no-such-file", str(failed))


def root() -> pathlib.Path:
    """The folder that has package heat."""
    return pathlib.Path(heat.__file__).parent.parent


def install_plugin(site: pathlib.Path) -> None:
    """Make the entry points of setup.cfg known, as an installation does."""
    import configparser

    read = configparser.ConfigParser()
    read.optionxform = str  # type: ignore[assignment]
    read.read(root() / "setup.cfg")
    lines = []
    for group, points in read["entry_points"].items():
        if group.startswith("openstack."):
            lines += [f"[{group}]", *points.strip().splitlines()]
    info = site / "heat_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: heat_plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
