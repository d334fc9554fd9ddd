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
"""Hooks on commands of the public client, without the command."""

from __future__ import annotations

import argparse
import pathlib

import fixtures
from osc_lib import exceptions

from heat.osc import environments
from heat.tests import base


class EnvironmentListTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write(self, text: str) -> str:
        path = self.folder / "list"
        path.write_text(text, "utf-8")
        return str(path)

    # text, names in the folder of the list (absolute ones as they are)
    TABLE = (
        ("", []),
        ("# nothing\n", []),
        ("a.yaml\n  b/ü.yaml  \n\n# c\n", ["a.yaml", "b/ü.yaml"]),
        ("- a.yaml\n- 'b c.yaml'\n", ["a.yaml", "b c.yaml"]),
        ("[a.yaml, ../b.yaml]", ["a.yaml", "../b.yaml"]),
        ("/abs/a.yaml\nhttp://x/b.yaml", ["/abs/a.yaml", "http://x/b.yaml"]),
        ("a: b.yaml\nc.yaml", ["a: b.yaml", "c.yaml"]),
    )

    def test_read(self):
        for text, names in self.TABLE:
            with self.subTest(text=text):
                path = self.write(text)
                self.assertEqual(
                    names, environments.read_list(path, relative=False)
                )
                self.assertEqual(
                    [
                        name
                        if name[0] == "/" or "://" in name
                        else str(self.folder / name)
                        for name in names
                    ],
                    environments.read_list(path),
                )

    def test_wrong(self):
        for text in ("- 1", "- [a]", "- ''", "- null"):
            with self.subTest(text=text):
                error = self.assertRaises(
                    exceptions.CommandError,
                    environments.read_list,
                    self.write(text),
                )
                self.assertIn("list", str(error))
        (self.folder / "list").write_bytes(b"\xff\xfe")
        for name in ("list", "none", "."):
            with self.subTest(name=name):
                self.assertRaises(
                    exceptions.CommandError,
                    environments.read_list,
                    str(self.folder / name),
                )

    def test_order(self):
        """The hook comes first; the command has an option of its own."""
        hook = environments.EnvironmentList(command=None)
        parser = argparse.ArgumentParser()
        hook.get_parser(parser)
        parser.add_argument("-e", "--environment", action="append")
        parser.add_argument("--files-container")
        path = self.write("x\ny\n")
        for words, names in (
            ([], None),
            (["-e", "a"], ["a"]),
            (
                ["-e", "a", "--environment-list", path, "-e", "b"],
                ["a", f"{self.folder}/x", f"{self.folder}/y", "b"],
            ),
            (
                ["--environment-list", path, "--files-container", "c"],
                ["x", "y"],
            ),
        ):
            with self.subTest(words=words):
                found = hook.before(parser.parse_args(words))
                self.assertEqual(names, found.environment)
