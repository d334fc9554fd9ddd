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
"""Environment files through HTTP and the openstack client.

The rows of the table of requests, every 400, and one story with the public
client: create, change one file, see where values come from, take a file
out, go back.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from typing import Any

import heat
from heat.tests.functional import base

PARAMETERS = {
    "flavor": {"type": "string", "default": "tiny"},
    "count": {"type": "number", "default": 1},
    "sizes": {"type": "json", "default": {}},
    "names": {"type": "comma_delimited_list", "default": ""},
    "key": {"type": "string", "default": "none", "hidden": True},
}
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "parameters": PARAMETERS,
    "resources": {
        "one": {
            "type": "OS::Heat::Value",
            "properties": {
                "value": {
                    name: {"get_param": name}
                    for name in ("flavor", "count", "sizes", "names")
                }
            },
        }
    },
    "outputs": {"all": {"value": {"get_attr": ["one", "value"]}}},
}
A = "parameters:\n  flavor: a\n  sizes:\n    x: 1\n"
B = "parameters:\n  flavor: b\n  sizes:\n    y: 2\n"
C = '{"parameter_defaults": {"count": 7}}'


@dataclasses.dataclass
class Mistake:
    """What is wrong, and the words that the message must have."""

    name: str
    body: dict[str, Any]
    words: tuple[str, ...]
    error: str | None = None


def files(*texts: str, **body: Any) -> dict[str, Any]:
    """A body that lists files 0.yaml, 1.yaml, ..."""
    named = {f"{number}.yaml": text for number, text in enumerate(texts)}
    return {"files": named, "environment_files": list(named), **body}


def strategy(word: str, name: str = "flavor", value: object = "v") -> str:
    return json.dumps(
        {
            "parameters": {name: value},
            "parameter_merge_strategies": {name: word},
        }
    )


MISTAKES = (
    Mistake(
        "no content", {"environment_files": ["x.yaml"]}, ("x.yaml", "files")
    ),
    Mistake("no YAML", files("a: [1"), ("0.yaml", "line 2")),
    Mistake("no map", files("- a"), ("0.yaml", "list")),
    Mistake("one value", files("a"), ("0.yaml", "single value")),
    Mistake("unknown section", files("params: {}"), ("0.yaml", "params")),
    Mistake("null section", files("parameters:"), ("0.yaml", "parameters")),
    Mistake(
        "a section that is a list",
        files(A, "resource_registry: []"),
        ("1.yaml", "resource_registry"),
    ),
    Mistake(
        "a type that stands for a number",
        files("resource_registry:\n  My::Type: 5\n"),
        ("0.yaml", "resource_registry.My::Type"),
    ),
    Mistake(
        "two strategies",
        files(strategy("merge"), A, strategy("overwrite")),
        ("0.yaml", "2.yaml", "flavor"),
        "ConflictingMergeStrategyForParam",
    ),
    Mistake(
        "an unknown strategy",
        files(strategy("melt")),
        ("melt", "flavor"),
        "InvalidMergeStrategyForParam",
    ),
    Mistake(
        "numbers put together",
        files(strategy("merge", "count", 1), strategy("merge", "count", 2)),
        ("merge", "count"),
        "InvalidMergeStrategyForParam",
    ),
    Mistake(
        "an unknown explicit parameter",
        files(A, parameters={"flavr": "x"}),
        ("flavr",),
        "UnknownUserParameter",
    ),
    Mistake(
        "an unknown inline parameter",
        files(A, environment={"parameters": {"flavr": "x"}}),
        ("flavr",),
        "UnknownUserParameter",
    ),
    Mistake(
        "a file to remove that isn't there",
        {"environment_files_remove": ["x.yaml"]},
        ("environment_files_remove",),
    ),
    Mistake("names that are none", {"environment_files": [1]}, ()),
    Mistake("a name that is none", {"environment_files": "a"}, ()),
)


class EnvironmentFilesTest(base.FunctionalTest):
    def values(self, name: str = "s") -> dict[str, Any]:
        return self.project.outputs(name)["all"]

    def make(self, **body: Any) -> None:
        got = self.project.create("s", TEMPLATE, **body)
        self.assertEqual(201, got.status_code, got.text)
        self.project.wait("s", "CREATE_COMPLETE")

    def change(self, patch: bool = True, **body: Any) -> dict[str, Any]:
        template = None if patch else TEMPLATE
        got = self.project.update("s", template, patch=patch, **body)
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("s", "UPDATE_COMPLETE")
        return self.values()

    def environment(self, **query: Any) -> dict[str, Any]:
        path = self.project.path("s")
        return self.project.get(f"{path}/environment", params=query)

    def test_mistakes(self):
        self.make(**files(A, B))
        before = (self.environment(with_sources=True), self.values())
        stacks = self.project.stacks()
        path = self.project.path("s")
        for mistake in MISTAKES:
            create = {"stack_name": "bad", "template": TEMPLATE}
            calls = [
                ("POST", "/stacks", create),
                ("POST", "/stacks/preview", create),
                ("POST", "/validate", {"template": TEMPLATE}),
                ("PUT", "/stacks/s", {"template": TEMPLATE}),
                ("PATCH", "/stacks/s", {}),
                ("PUT", f"{path}/preview", {"template": TEMPLATE}),
                ("PATCH", f"{path}/preview", {}),
            ]
            for method, where, body in calls:
                if where == "/validate" and "remove" in str(mistake.body):
                    continue
                with self.subTest(name=mistake.name, call=(method, where)):
                    got = self.project.call(
                        method, where, {**body, **mistake.body}
                    )
                    self.assert_fault(got, 400, mistake.error, *mistake.words)
                    self.assertEqual(stacks, self.project.stacks())
        after = (self.environment(with_sources=True), self.values())
        self.assertEqual(before, after)

    def test_create_and_update_replace_all(self):
        self.make(
            **files(A, B, C),
            environment={"parameters": {"flavor": "inline", "names": "n"}},
            parameters={"count": 3},
        )
        self.assertEqual(
            {
                "flavor": "b",
                "count": 3,
                "sizes": {"x": 1, "y": 2},
                "names": ["n"],
            },
            self.values(),
        )
        values = self.change(patch=False, **files(B, A))
        self.assertEqual(
            {
                "flavor": "a",
                "count": 1,
                "sizes": {"x": 1, "y": 2},
                "names": [],
            },
            values,
        )

    def test_patch(self):
        self.make(**files(A, B, parameters={"names": "x"}))
        # The content alone: it keeps its place, all is worked out again.
        values = self.change(files={"0.yaml": "parameters: {count: 5}"})
        self.assertEqual(("b", 5), (values["flavor"], values["count"]))
        # A name that is listed keeps its place; a new one is the newest.
        values = self.change(
            environment_files=["0.yaml", "new.yaml"],
            files={"0.yaml": A, "new.yaml": "parameters: {count: 6}"},
        )
        self.assertEqual(("b", 6), (values["flavor"], values["count"]))
        # An environment is newer than the files there are.
        values = self.change(environment={"parameters": {"flavor": "i"}})
        self.assertEqual("i", values["flavor"])
        # Explicit ones are merged over the explicit ones there are.
        values = self.change(parameters={"flavor": "e"})
        self.assertEqual(("e", ["x"]), (values["flavor"], values["names"]))
        values = self.change(
            environment_files=["last.yaml"],
            files={"last.yaml": "parameters: {flavor: last}"},
        )
        self.assertEqual("e", values["flavor"])
        values = self.change(environment_files_remove=["new.yaml", "0.yaml"])
        self.assertEqual((1, {"y": 2}), (values["count"], values["sizes"]))
        self.assertEqual(
            ["1.yaml", "last.yaml"],
            self.environment(with_sources=True)["environment_files"],
        )

    def test_clear(self):
        default = "parameter_defaults: {flavor: d}\n"
        self.make(**files(A, B + default, parameters={"flavor": "e"}))
        self.assertEqual(
            "d", self.change(clear_parameters=["flavor"])["flavor"]
        )
        # Kept when something else of the file changes ...
        values = self.change(files={"0.yaml": A + "  count: 4\n"})
        self.assertEqual(("d", 4), (values["flavor"], values["count"]))
        # ... and lifted when the value does.
        values = self.change(files={"0.yaml": A.replace("a\n", "aa\n")})
        self.assertEqual("aa", values["flavor"])
        self.change(clear_parameters=["flavor"])
        self.assertEqual(
            "n", self.change(parameters={"flavor": "n"})["flavor"]
        )
        self.change(clear_parameters=["flavor"])
        values = self.change(environment={"parameters": {"flavor": "i"}})
        self.assertEqual("i", values["flavor"])
        self.change(clear_parameters=["flavor"])
        values = self.change(
            environment_files=["n.yaml"],
            files={"n.yaml": "parameters: {flavor: new}"},
        )
        self.assertEqual("new", values["flavor"])

    def test_unknown_names_in_files_wait_for_their_template(self):
        self.make(**files("parameters: {later: 1, flavor: f}"))
        shown = self.environment(with_sources=True)
        self.assertEqual({"flavor": "f"}, shown["parameters"])
        self.assertEqual(
            [
                {
                    "layer": "file",
                    "file": "0.yaml",
                    "path": "parameters.later",
                    "value": 1,
                }
            ],
            shown["sources"]["left_out"],
        )
        template = dict(TEMPLATE)
        template["parameters"] = {**PARAMETERS, "later": {"type": "number"}}
        got = self.project.update("s", template, patch=True)
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("s", "UPDATE_COMPLETE")
        self.assertEqual(1, self.environment()["parameters"]["later"])
        # And the way back: what is stored is left out, not refused.
        got = self.project.update("s", TEMPLATE, patch=True)
        self.assertEqual(202, got.status_code, got.text)

    def test_names(self):
        names = (
            "http://example.com/é/ü.yaml",
            "../relative/path.yaml",
            "日本語.json",
        )
        self.make(
            environment_files=list(names),
            files={
                names[0]: A,
                names[1]: "# nothing but this\n",
                names[2]: '{"parameters": {"flavor": "日本"}}',
            },
        )
        self.assertEqual("日本", self.values()["flavor"])
        sources = self.environment(with_sources=True)["sources"]
        source = sources["parameters"]["flavor"]
        self.assertEqual(names[2], source["file"])
        self.assertNotIn("line", source)
        self.assertEqual(names[0], source["overridden"][0]["file"])
        self.assertEqual(2, source["overridden"][0]["line"])
        self.assertEqual(
            set(names),
            set(self.project.get(self.project.path("s") + "/files")),
        )

    def test_secrets(self):
        secret = "s3cr3t-value"
        text = f"parameters:\n  flavor: f\n  key: {secret}\n"
        self.make(**files(text, f"parameters: {{key: {secret}2}}"))
        path = self.project.path("s")
        answers = [
            self.project.get(f"{path}/files"),
            self.project.get(f"{path}/environment"),
            self.environment(with_sources=True),
        ]
        self.assertNotIn(secret, json.dumps(answers))
        self.assertIn("flavor: f\n", answers[0]["0.yaml"])
        if self.running is not None:
            for part in self.running.folder.rglob("heat.db*"):
                self.assertNotIn(secret.encode(), part.read_bytes(), part)
        # The value is there all the same.
        self.change(files={"0.yaml": A})
        self.assertEqual("******", self.environment()["parameters"]["key"])

    def test_warnings(self):
        body = files(
            "parameters: {flavr: x, count: 2}\n",
            "parameter_defaults: {zizes: {}}\nparameters: {count: 3}\n",
            "resource_registry: {'My::Type': 'OS::Heat::None'}\n",
            parameters={"count": 1},
        )
        got = self.project.call(
            "POST", "/validate", {"template": TEMPLATE, **body}
        ).json()
        self.assertEqual(
            [
                "0.yaml parameters.flavr is not declared; did you mean "
                '"flavor"?',
                "1.yaml parameter_defaults.zizes is not a parameter of any "
                'template; did you mean "sizes"?',
                "2.yaml resource_registry.My::Type is a type that no "
                "resource has",
                "nothing of 0.yaml counts: all of it is overridden by "
                "explicit",
                "0.yaml parameters.count does not count: the parameter is "
                "given explicitly",
                "1.yaml parameters.count does not count: the parameter is "
                "given explicitly",
            ],
            got["Warnings"],
        )
        self.assertEqual(
            {
                "event_sinks",
                "parameter_defaults",
                "parameters",
                "resource_registry",
            },
            set(got["Environment"]),
        )
        got = self.project.call(
            "POST", "/validate", {"template": TEMPLATE, **files(A)}
        ).json()
        self.assertNotIn("Warnings", got)


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
