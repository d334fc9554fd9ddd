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
"""Environment files through HTTP.

The rows of the table of requests, and every 400 of the design: after each the
stored stack is byte for byte what it was.
"""

from __future__ import annotations

import json
from typing import Any

from heat.tests.functional import (
    base,
    deployment,
    test_snapshots_and_adoption,
)
from heat.tests.functional.environment_samples import (
    MISTAKES,
    PARAMETERS,
    TEMPLATE,
    A,
    B,
    C,
    files,
)


class EnvironmentFilesTest(base.FunctionalTest):
    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return test_snapshots_and_adoption.Permitting()

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

    def stored(self) -> list[bytes]:
        """All that is told of the stack, byte for byte."""
        path = self.project.path("s")
        wanted = (
            *("", "/template", "/environment?with_sources=true", "/files"),
            *("/resources?with_detail=true", "/events", "/export"),
        )
        return [
            self.project.call("GET", path + part).content for part in wanted
        ]

    def test_mistakes(self):
        self.make(**files(A, B, C), parameters={"names": "n"})
        before = self.stored()
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
            with self.subTest(name=mistake.name):
                self.assertEqual(before, self.stored())

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

    def test_patch_lists_what_is_stored(self):
        """A name that is stored needs no content, and keeps its place."""
        self.make(**files(A, B))
        values = self.change(environment_files=["0.yaml"])
        self.assertEqual("b", values["flavor"])
        self.assertEqual(
            ["0.yaml", "1.yaml"],
            self.environment(with_sources=True)["environment_files"],
        )

    def test_what_the_client_has_merged_is_not_kept(self):
        """It sends the files, and what they make together as well."""
        hooks = {"one": {"hooks": "pre-update"}}
        merged = {
            "parameters": {
                "flavor": "b",
                "sizes": {"x": 1, "y": 2},
                "names": "inline",
            },
            "resource_registry": {"resources": hooks},
        }
        self.make(**files(A, B), environment=merged)
        self.assertEqual(["inline"], self.values()["names"])
        shown = self.environment(with_sources=True)
        self.assertEqual(hooks, shown["resource_registry"]["resources"])
        sources = shown["sources"]["parameters"]
        self.assertEqual("1.yaml", sources["flavor"]["file"])
        self.assertEqual("inline", sources["names"]["layer"])
        # Had it been kept, this would be hidden below it.
        got = self.project.update(
            "s", patch=True, files={"1.yaml": "parameters: {count: 2}"}
        )
        self.assertEqual(202, got.status_code, got.text)
        self.assertEqual("a", self.environment()["parameters"]["flavor"])

    def test_a_name_listed_twice_counts_twice(self):
        self.make(files={"a": A, "b": B}, environment_files=["a", "b", "a"])
        self.assertEqual("a", self.values()["flavor"])
        self.assertEqual(
            ["a", "b", "a"],
            self.environment(with_sources=True)["environment_files"],
        )

    def test_preview_quotes_the_file(self):
        self.make(**files(A, B), parameters={"names": "x"})
        path = self.project.path("s")

        def reason(**body: Any) -> str:
            got = self.project.call("PATCH", f"{path}/preview", body)
            self.assertEqual(200, got.status_code, got.text)
            [change] = got.json()["updated"]
            return str(change["reason"])

        self.assertEqual(
            "properties changed: value; flavor changed: 2.yaml "
            "parameters.flavor over 1.yaml, 0.yaml, was 1.yaml "
            "parameters.flavor over 0.yaml",
            reason(
                environment_files=["2.yaml"],
                files={"2.yaml": "parameters: {flavor: c}"},
            ),
        )
        self.assertEqual(
            "properties changed: value; count changed: explicit "
            "parameters.count, was the default of the template",
            reason(parameters={"count": 5}),
        )
        self.assertEqual(
            "properties changed: value; flavor changed: 0.yaml "
            "parameters.flavor, was 1.yaml parameters.flavor over 0.yaml; "
            "sizes changed: 0.yaml parameters.sizes, was 1.yaml "
            "parameters.sizes with 0.yaml",
            reason(environment_files_remove=["1.yaml"]),
        )
        # Nothing that a resource reads has changed.
        got = self.project.call(
            "PATCH", f"{path}/preview", {"parameters": {"key": "s3cr3t"}}
        )
        self.assertEqual([], got.json()["updated"])

    def test_layers_go_with_the_stack(self):
        """Restore, and export and adopt."""
        self.make(**files(A, B), parameters={"count": 3})
        self.change(environment={"parameters": {"names": "inline"}})
        self.change(clear_parameters=["sizes"])
        path = self.project.path("s")
        before = self.environment(with_sources=True)
        got = self.project.call("POST", f"{path}/snapshots", {"name": "n"})
        snapshot = got.json()["id"]
        self.project.wait("s", "SNAPSHOT_COMPLETE")
        self.change(environment_files_remove=["0.yaml", "1.yaml"])
        self.assertEqual("tiny", self.values()["flavor"])
        got = self.project.call("POST", f"{path}/snapshots/{snapshot}/restore")
        self.assertEqual(202, got.status_code, got.text)
        self.project.wait("s", "RESTORE_COMPLETE")
        self.assertEqual(before, self.environment(with_sources=True))
        data = self.project.get(f"{path}/export")
        self.assertEqual(
            ["file", "file", "inline", "explicit"],
            [layer["kind"] for layer in data["environment_layers"]],
        )
        got = self.project.call(
            "POST", "/stacks", {"stack_name": "t", "adopt_stack_data": data}
        )
        self.assertEqual(201, got.status_code, got.text)
        self.project.wait("t", "ADOPT_COMPLETE", "ADOPT_FAILED")
        there = self.project.path("t")
        self.assertEqual(
            before,
            self.project.get(f"{there}/environment?with_sources=true"),
        )
        # What the request says replaces it.
        got = self.project.call(
            "POST",
            "/stacks",
            {
                "stack_name": "u",
                "adopt_stack_data": data,
                "environment": {"parameters": {"flavor": "new"}},
            },
        )
        self.assertEqual(201, got.status_code, got.text)
        there = self.project.path("u")
        self.assertEqual(
            {"flavor": "new"},
            self.project.get(f"{there}/environment")["parameters"],
        )
        for layers in ("x", ["x"], [{"kind": "x"}], [{"kind": "file"}]):
            bad = {**data, "environment_layers": layers}
            got = self.project.call(
                "POST", "/stacks", {"stack_name": "v", "adopt_stack_data": bad}
            )
            self.assert_fault(got, 400, None, "environment_layers")

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
