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
"""The examples of the page on environment files are true."""

from __future__ import annotations

import pathlib
import re

import yaml

import heat
from heat.common.identifier import HeatIdentifier
from heat.engine.stack import prepare
from heat.engine.stack.request import Request
from heat.tests import base

PAGE = (
    pathlib.Path(heat.__file__).parent.parent
    / "doc/source/user/environment_files.rst"
)
_BLOCK = re.compile(
    r"^\.\. code-block:: yaml\n   :caption: (\S+)\n\n((?:   .*\n|\n)+)", re.M
)


def examples(text: str) -> list[dict[str, str]]:
    """Blocks by caption, one example up to each "together"."""
    found: list[dict[str, str]] = [{}]
    for caption, block in _BLOCK.findall(text):
        found[-1][caption] = block
        if caption == "together":
            found.append({})
    return found[:-1]


class ExamplesTest(base.TestCase):
    def test_examples(self):
        if not PAGE.exists():
            self.skipTest("only in the source tree")
        found = examples(PAGE.read_text("utf-8"))
        self.assertEqual(5, len(found))
        for example in found:
            with self.subTest(example=example):
                wanted = yaml.safe_load(example.pop("together"))
                explicit = yaml.safe_load(example.pop("explicit", "{}"))
                self.assertEqual(
                    wanted, self.together(example, explicit, wanted)
                )

    def together(self, files, explicit, wanted):
        names = wanted.get("parameters", {})
        template = {
            "heat_template_version": "2021-04-16",
            "parameters": {
                name: {"type": "json" if type(value) is dict else "string"}
                if not isinstance(value, list)
                else {"type": "comma_delimited_list"}
                for name, value in names.items()
            },
        }
        made = prepare.prepare(
            HeatIdentifier("project", "name", None),
            Request(
                template,
                explicit,
                files,
                {"explicit_parameters": list(explicit.get("parameters", {}))},
                list(files),
            ),
        )
        shown = made.environment
        return {section: shown[section] for section in wanted}


class ReasonTest(base.TestCase):
    def test_reason(self):
        template = {
            "heat_template_version": "2021-04-16",
            "parameters": {"p": {"type": "string"}},
        }
        made = prepare.prepare(
            HeatIdentifier("project", "name", None),
            Request(
                template,
                {},
                {"a": "parameters: {p: 1}", "b": "parameters: {p: 2}"},
                {},
                ["a", "b"],
            ),
        )
        self.assertEqual("b parameters.p over a", made.reason("p"))
