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
"""As many environment files as a whole cloud is deployed with.

300 files of 100 parameters, a registry of 400 entries, a tree of 100 nested
templates; one file is changed.
"""

from __future__ import annotations

import json
import time
from typing import Any
from unittest import mock

from testtools import content

from heat.tests.functional import base

FILES, PARAMETERS, ENTRIES, NESTED = 300, 100, 400, 100
VERSION = "2021-04-16"


def role(number: int) -> str:
    """A nested template: its own parameters come from the files."""
    names = [f"P{number}_{index}" for index in range(5)]
    return json.dumps(
        {
            "heat_template_version": VERSION,
            "parameters": {
                "all": {"type": "json"},
                **{name: {"type": "string"} for name in names},
            },
            "resources": {
                "value": {
                    "type": "OS::Heat::Value",
                    "properties": {
                        "value": {
                            "list_join": [
                                ",",
                                [{"get_param": name} for name in names],
                            ]
                        }
                    },
                }
            },
            "outputs": {"told": {"value": {"get_attr": ["value", "value"]}}},
        }
    )


def template() -> dict[str, Any]:
    return {
        "heat_template_version": VERSION,
        "parameters": {"Shared": {"type": "json", "default": {}}},
        "resources": {
            f"role{number}": {
                "type": f"My::Role{number}",
                "properties": {"all": {"get_param": "Shared"}},
            }
            for number in range(NESTED)
        },
        "outputs": {
            "told": {"value": {"get_attr": ["role7", "told"]}},
        },
    }


def environment(number: int, word: str = "v") -> str:
    """One file; the first ones map types as well."""
    lines = ["parameter_defaults:", f"  Shared: {{k{number}: {number}}}"]
    lines += [
        f"  P{number}_{index}: {word}{number}.{index}"
        for index in range(PARAMETERS - 1)
    ]
    lines.append("resource_registry:")
    each = -(-ENTRIES // FILES)
    for entry in range(number * each, min(ENTRIES, (number + 1) * each)):
        target = f"roles/{entry}.yaml" if entry < NESTED else "OS::Heat::None"
        lines.append(f"  My::Role{entry}: {target}")
    if lines[-1] == "resource_registry:":
        lines.pop()
    return "\n".join(lines) + "\n"


class ScaleTest(base.FunctionalTest):
    def timed(self, what: str, *call: Any, **kwargs: Any) -> Any:
        begun = time.monotonic()
        got = self.project.call(*call, **kwargs)
        self.seconds[what] = time.monotonic() - begun
        self.assertIn(got.status_code, (200, 201, 202), got.text[:1000])
        return got

    @mock.patch.object(base, "WAIT_SECONDS", 300)
    def test_one_of_300_files(self):
        self.seconds: dict[str, float] = {}
        files = {f"env/{n}.yaml": environment(n) for n in range(FILES)}
        body = {
            "template": template(),
            "environment_files": list(files),
            "files": {
                **files,
                **{f"roles/{n}.yaml": role(n) for n in range(NESTED)},
            },
        }
        got = self.timed("validate", "POST", "/validate", body).json()
        self.assertEqual(
            ENTRIES + 1, len(got["Environment"]["resource_registry"])
        )
        self.assertEqual(FILES, len(got["Parameters"]["Shared"]["Default"]))
        self.timed(
            "create", "POST", "/stacks", {"stack_name": "cloud", **body}
        )
        self.project.wait("cloud", "CREATE_COMPLETE")
        self.assertEqual(
            "v7.0,v7.1,v7.2,v7.3,v7.4", self.project.outputs("cloud")["told"]
        )
        path = self.project.path("cloud")
        change = {"files": {"env/7.yaml": environment(7, "new")}}
        got = self.timed("preview", "PATCH", f"{path}/preview", change).json()
        # Every resource may read defaults: the roles are looked into.
        self.assertEqual(
            NESTED, sum(len(got[k]) for k in ("unchanged", "updated"))
        )
        self.timed("patch", "PATCH", path, change)
        self.project.wait("cloud", "UPDATE_COMPLETE")
        self.assertEqual(
            "new7.0,new7.1,new7.2,new7.3,new7.4",
            self.project.outputs("cloud")["told"],
        )
        begun = time.monotonic()
        shown = self.project.get(f"{path}/environment?with_sources=true")
        self.seconds["sources"] = time.monotonic() - begun
        source = shown["sources"]["parameter_defaults"]["P7_3"]
        self.assertEqual(("env/7.yaml", 6), (source["file"], source["line"]))
        self.addDetail("seconds", content.text_content(str(self.seconds)))
        # Far more than on an idle machine; what grew with the square of the
        # number of files would take minutes.
        self.assertLess(self.seconds["validate"], 30)
        self.assertLess(self.seconds["patch"], 30)
