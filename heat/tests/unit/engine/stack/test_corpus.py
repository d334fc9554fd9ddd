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
"""Every template of heat/tests/templates is validated, previewed, created.

An output named ``check`` is a pair of lists: what came out, and what must.
Templates of services that are not here are refused by the name of the
service, and validated all the same.
"""

from __future__ import annotations

import json
import pathlib
import time

from heat.common import template_format
from heat.tests import base, inprocess

ROOT = pathlib.Path(base.__file__).parent / "templates"
FILES = {
    "some-file": "content of some-file",
    "inner.yaml": (ROOT / "nested/inner.yaml").read_text("utf-8"),
}
ENVIRONMENT = {"resource_registry": {"My::Inner": "inner.yaml"}}
#: Values for parameters without a default, by template.
PARAMETERS = {
    "cfn/wordpress.json": {"KeyName": "k"},
    "nested/inner.yaml": {"given": 8},
}
#: What may wait for something that never comes.
SLOW = ("clouds/", "cfn/wait")
IGNORE = "/validate?ignore_errors=99001"


def stack_name(name):
    stem, _dot, ending = name.rpartition(".")
    made = "corpus-" + stem.replace("/", "-")
    return made if ending == "yaml" else f"{made}-{ending}"


def corpus():
    for path in sorted(ROOT.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")


class CorpusTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(inprocess.Service())

    def body(self, name, text):
        return {
            "stack_name": stack_name(name),
            "template": text,
            "files": FILES,
            "environment": ENVIRONMENT,
            "parameters": PARAMETERS.get(name, {}),
        }

    def test_there_are_many(self):
        self.assertGreaterEqual(len(list(corpus())), 60)

    def test_validate(self):
        for name, text in corpus():
            with self.subTest(template=name):
                body = self.body(name, text)
                del body["stack_name"]
                answer = self.service.call("POST", IGNORE, body)
                self.assertEqual(200, answer.status_code, answer.text)
                found = answer.get_json()
                self.assertLessEqual(
                    set(found),
                    {
                        *("Description", "Parameters", "ParameterGroups"),
                        *("Environment", "Warnings"),
                    },
                )
                self.assertEqual(
                    {
                        *("event_sinks", "parameter_defaults"),
                        *("parameters", "resource_registry"),
                    },
                    set(found["Environment"]),
                )
                parsed = template_format.load(text)
                declared = parsed.get("parameters", parsed.get("Parameters"))
                self.assertEqual(set(declared or ()), set(found["Parameters"]))

    def test_create(self):
        begun = []
        for name, text in corpus():
            with self.subTest(template=name):
                body = self.body(name, text)
                preview = self.service.call("POST", "/stacks/preview", body)
                answer = self.service.call("POST", "/stacks", body)
                if answer.status_code == 201:
                    begun.append((name, answer.get_json()["stack"]["id"]))
                    self.assertEqual(200, preview.status_code, preview.text)
                else:
                    self.refused(preview)
                    self.refused(answer)
        self.assertGreaterEqual(len(begun), 40)
        for name, stack_id in begun:
            if name.startswith(SLOW):
                continue
            with self.subTest(created=name):
                self.service.wait(stack_id, "CREATE_COMPLETE")
                shown = self.service.get(f"/stacks/{stack_id}")["stack"]
                for output in shown["outputs"]:
                    self.assertNotIn("output_error", output)
                    if output["output_key"] == "check":
                        got, wanted = output["output_value"]
                        self.assertEqual(wanted, got)

    def test_an_output_that_asks_for_no_parameter(self):
        """It has an error; that in a property is refused."""
        template = {
            "heat_template_version": "2018-08-31",
            "resources": {"r": {"type": "OS::Heat::TestResource"}},
            "outputs": {
                "good": {"value": {"get_attr": ["r", "output"]}},
                "bad": {"value": ["x", {"get_param": "foo"}]},
            },
        }
        answer = self.service.call(
            "POST", "/stacks", {"stack_name": "o", "template": template}
        )
        self.assertEqual(201, answer.status_code, answer.text)
        stack_id = answer.get_json()["stack"]["id"]
        self.service.wait(stack_id, "CREATE_COMPLETE")
        shown = self.service.get(f"/stacks/{stack_id}")["stack"]["outputs"]
        self.assertEqual(
            {"good": None, "bad": "The Parameter (foo) was not provided."},
            {each["output_key"]: each.get("output_error") for each in shown},
        )
        template["resources"]["r"]["properties"] = {
            "value": {"get_param": "foo"}
        }
        answer = self.service.call(
            "POST", "/stacks", {"stack_name": "p", "template": template}
        )
        self.assertEqual(400, answer.status_code, answer.text)

    def test_an_output_that_has_an_error_further_down(self):
        """Whoever asks for it has the error, too; others have nothing."""
        inner = {
            "heat_template_version": "2018-08-31",
            "outputs": {
                "good": {"value": "g"},
                "bad": {"value": {"get_param": "foo"}},
            },
        }
        bad = {"get_attr": ["n", "bad"]}
        template = {
            "heat_template_version": "2018-08-31",
            "resources": {
                "n": {"type": "inner.yaml"},
                "g": {
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {"resource_def": {"type": "inner.yaml"}},
                },
                "user": {
                    "type": "OS::Heat::Value",
                    "properties": {"value": {"list_join": ["", ["v", bad]]}},
                },
            },
            "outputs": {
                "good": {"value": {"get_attr": ["n", "good"]}},
                "bad": {"value": bad},
                "used": {"value": {"get_attr": ["user", "value"]}},
                "all": {"value": {"get_attr": ["g", "bad"]}},
            },
        }
        body = {
            "stack_name": "further",
            "template": template,
            "files": {"inner.yaml": json.dumps(inner)},
        }
        answer = self.service.call("POST", "/stacks", body)
        self.assertEqual(201, answer.status_code, answer.text)
        stack_id = answer.get_json()["stack"]["id"]
        wrong = "The Parameter (foo) was not provided."
        one = ("bad", None, f"Error in n output bad: {wrong}")
        each = ("all", None, f"Error in 0 output bad: {wrong}")
        self.service.wait(stack_id, "CREATE_COMPLETE")
        self.assert_outputs(stack_id, one, each)
        del body["stack_name"]
        path = f"/stacks/further/{stack_id}"
        answer = self.service.call("PUT", path, body)
        self.assertEqual(202, answer.status_code, answer.text)
        self.service.wait(stack_id, "UPDATE_COMPLETE")
        self.assert_outputs(stack_id, one, each)
        inner["outputs"]["bad"]["value"] = "mended"
        body["files"]["inner.yaml"] = json.dumps(inner)
        answer = self.service.call("PUT", path, body)
        self.assertEqual(202, answer.status_code, answer.text)
        self.service.wait(stack_id, "UPDATE_COMPLETE")
        self.assert_outputs(
            stack_id,
            ("bad", "mended", None),
            ("all", ["mended"], None),
            used="vmended",
        )

    def assert_outputs(self, stack_id, *bad, used="v"):
        shown = self.service.get(f"/stacks/{stack_id}")["stack"]["outputs"]
        self.assertCountEqual(
            [("good", "g", None), ("used", used, None), *bad],
            [
                (
                    each["output_key"],
                    each["output_value"],
                    each.get("output_error"),
                )
                for each in shown
            ],
        )

    def refused(self, answer):
        self.assertEqual(400, answer.status_code, answer.text)
        error = answer.get_json()["error"]
        # What a group's members are is said below the group.
        below = error["message"].startswith("Resources.")
        wanted = (
            "StackValidationFailed" if below else "ResourceTypeUnavailable"
        )
        self.assertEqual(wanted, error["type"], error)
        self.assertIn("HEAT-E99001 Service ", error["message"])


SERVICES = 50
ROLES = 6
HOT = "heat_template_version: 2018-03-02\n"


def tree():
    """400 files in the manner of a deployment tool: roles use services
    through the registry, some of them turned off."""
    files, registry = {}, {}
    for number in range(400 - ROLES):
        files[f"services/s{number}.yaml"] = (
            HOT
            + "parameters:\n"
            + "".join(
                f"  P{each}: {{type: string, default: d{each}}}\n"
                for each in range(8)
            )
            + "  Default: {type: json, default: {}}\n"
            + "conditions:\n  tls: {equals: [{get_param: P0}, tls]}\n"
            + "outputs:\n  role_data:\n    value:\n"
            + f"      service_name: s{number}\n"
            + "      config:\n        map_merge:\n"
            + "          - {a: {get_param: P1}, b: {if: [tls, 1, 2]}}\n"
            + "          - {get_param: Default}\n"
        )
        if number < SERVICES:
            registry[f"My::Services::S{number}"] = (
                f"services/s{number}.yaml" if number % 5 else "OS::Heat::None"
            )
    for role in range(ROLES):
        lines = [HOT, "resources:\n"]
        for number in range(SERVICES // ROLES * ROLES):
            if number % ROLES == role:
                lines.append(
                    f"  s{number}: {{type: 'My::Services::S{number}'}}\n"
                )
        lines.append("outputs:\n  all:\n    value:\n      list_concat:\n")
        lines += [
            f"        - [{{get_attr: [s{number}, role_data]}}]\n"
            for number in range(SERVICES // ROLES * ROLES)
            if number % ROLES == role
        ]
        files[f"roles/r{role}.yaml"] = "".join(lines)
        registry[f"My::Role{role}"] = f"roles/r{role}.yaml"
    template = {
        "heat_template_version": "2018-03-02",
        "resources": {
            f"role{role}": {"type": f"My::Role{role}"} for role in range(ROLES)
        },
        "outputs": {
            "everything": {
                "value": {
                    "yaql": {
                        "expression": "$.data.where($ != null).len()",
                        "data": [
                            {"get_attr": [f"role{role}", "all"]}
                            for role in range(ROLES)
                        ],
                    }
                }
            }
        },
    }
    return template, files, {"resource_registry": registry}


class TreeTest(base.TestCase):
    def test_a_tree_of_400_files(self):
        service = self.useFixture(inprocess.Service())
        template, files, environment = tree()
        self.assertEqual(400, len(files))
        body = {
            "template": template,
            "files": files,
            "environment": environment,
        }
        began = time.monotonic()
        answer = service.call("POST", IGNORE + "&show_nested=1", body)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual(
            {f"role{role}" for role in range(ROLES)},
            set(answer.get_json().get("NestedParameters", ())),
        )
        answer = service.call(
            "POST", "/stacks/preview", {"stack_name": "tree", **body}
        )
        self.assertEqual(200, answer.status_code, answer.text[:500])
        self.assertLess(time.monotonic() - began, 10)
