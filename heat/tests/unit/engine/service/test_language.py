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
"""What the service tells of the language: validation, versions, types."""

from __future__ import annotations

from unittest import mock

from heat.engine.resource.overridable import Overridable
from heat.engine.template import base as template_base
from heat.engine.template import core, hot
from heat.tests import base, inprocess

HOT = {"heat_template_version": "2018-08-31"}
SERVER = HOT | {
    "resources": {
        "s": {
            "type": "OS::Trove::Instance",
            "properties": {"flavor": "f", "size": 1},
        },
    }
}


RESOURCE = {"type": "OS::Heat::TestResource"}
GROUPS = ("Parameter Groups error", "parameter_groups")


def declaring(groups=None, **more):
    return HOT | {
        "parameters": {"p": {"type": "string", "default": "x", **more}},
        "parameter_groups": groups,
    }


def having(**more):
    return HOT | {"resources": {"a": RESOURCE | more}}


#: What was accepted once, so that there are stacks that have it.
LATELY_WRONG = (
    (declaring([{"parameters": ["zz"]}]), GROUPS),
    (declaring([{"parameters": ["p"]}, {"parameters": ["p"]}]), GROUPS),
    (declaring([{"label": "x"}]), GROUPS),
    (declaring([{"parameters": "p"}]), GROUPS),
    (declaring(["x"]), GROUPS),
    (
        declaring(tags="x"),
        ("Tags property should be a list for parameter: p",),
    ),
    (
        having(update_policy={"foo": {}}),
        (
            "Property error",
            "resources.a.update_policy",
            "Unknown Property foo",
        ),
    ),
    (
        having(deletion_policy="Snapshot"),
        ('"Snapshot" deletion policy not supported',),
    ),
)


class LanguageTest(base.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = inprocess.Service()
        cls.service.setUp()
        cls.addClassCleanup(cls.service.cleanUp)

    def validate(self, template, query="", **more):
        return self.service.call(
            "POST", f"/validate{query}", {"template": template, **more}
        )

    def refused(self, answer, kind, *words):
        self.assertEqual(400, answer.status_code, answer.text)
        error = answer.get_json()["error"]
        self.assertEqual(kind, error["type"])
        for word in words:
            self.assertIn(word, error["message"])

    def test_parameters_of_a_validation(self):
        given = HOT | {
            "description": "d",
            "parameter_groups": [
                {"label": "l", "description": "g", "parameters": ["s"]}
            ],
            "parameters": {
                "s": {
                    "type": "string",
                    "default": "abc",
                    "label": "A text",
                    "description": "what for",
                    "tags": ["a"],
                    "constraints": [
                        {
                            "length": {"min": 2, "max": 4},
                            "description": "2 to 4",
                        },
                        {"allowed_pattern": "[a-c]+"},
                        {"allowed_values": ["abc", "ab"]},
                    ],
                },
                "n": {
                    "type": "number",
                    "constraints": [
                        {"range": {"min": 1, "max": 9}},
                        {"modulo": {"step": 2, "offset": 1}},
                    ],
                },
                "l": {"type": "comma_delimited_list", "default": "a,b"},
                "j": {"type": "json", "default": {"k": 1}},
                "b": {"type": "boolean", "hidden": True},
            },
        }
        answer = self.validate(
            given, environment={"parameters": {"n": 3}}
        ).get_json()
        wanted = {
            "s": {
                "Type": "String",
                "Description": "what for",
                "NoEcho": "false",
                "Label": "A text",
                "Default": "abc",
                "MinLength": 2,
                "MaxLength": 4,
                "AllowedPattern": "[a-c]+",
                "AllowedValues": ["abc", "ab"],
                "ConstraintDescription": "2 to 4",
                "Tags": ["a"],
            },
            "n": {
                "Type": "Number",
                "Description": "",
                "NoEcho": "false",
                "Label": "n",
                "MinValue": 1,
                "MaxValue": 9,
                "Step": 2,
                "Offset": 1,
                "Value": 3,
            },
            "l": {
                "Type": "CommaDelimitedList",
                "Description": "",
                "NoEcho": "false",
                "Label": "l",
                "Default": "a,b",
            },
            "j": {
                "Type": "Json",
                "Description": "",
                "NoEcho": "false",
                "Label": "j",
                "Default": {"k": 1},
            },
            "b": {
                "Type": "Boolean",
                "Description": "",
                "NoEcho": "true",
                "Label": "b",
            },
        }
        self.assertEqual("d", answer["Description"])
        self.assertEqual(wanted, answer["Parameters"])
        self.assertEqual(given["parameter_groups"], answer["ParameterGroups"])
        self.assertEqual(
            {
                "event_sinks": [],
                "parameter_defaults": {},
                "parameters": {"n": 3},
                "resource_registry": {"resources": {}},
            },
            answer["Environment"],
        )

    def test_nested_parameters(self):
        answer = self.validate(
            HOT | {"resources": {"n": {"type": "a.yaml"}}},
            "?show_nested=1",
            files={
                "a.yaml": "heat_template_version: 2018-08-31\n"
                "description: inner\n"
                "parameters: {p: {type: string, default: x}}"
            },
        )
        nested = answer.get_json()["NestedParameters"]
        self.assertEqual({"n"}, set(nested))
        self.assertEqual("a.yaml", nested["n"]["Type"])
        self.assertEqual("String", nested["n"]["Parameters"]["p"]["Type"])

    def test_wrong_in_a_validation_is_wrong_in_a_stack(self):
        path = self.create("right", having())
        for template, parts in LATELY_WRONG:
            body = {"stack_name": "wrong", "template": template}
            for method, route in (
                ("POST", "/validate"),
                ("POST", "/stacks/preview"),
                ("POST", "/stacks"),
                ("PUT", path),
                ("PUT", f"{path}/preview"),
            ):
                between = ": " if route == "/validate" else ": : "
                words = between.join(parts)
                with self.subTest(words, method=method, route=route):
                    answer = self.service.call(method, route, body)
                    self.refused(answer, "StackValidationFailed", words)

    def test_a_parameter_that_is_not_declared(self):
        missing = {"get_param": "missing"}
        told = "The Parameter (missing) was not provided."
        for more, place in (
            (
                {"properties": {"value": missing}},
                "Property error: : resources.a.properties.value",
            ),
            (
                {"properties": {"value": {"list_join": ["", ["a", missing]]}}},
                "Property error: : resources.a.properties.value.list_join",
            ),
            ({"metadata": {"m": missing}}, "resources.a.metadata.m"),
        ):
            body = {"stack_name": "wrong", "template": having(**more)}
            for route in ("/stacks/preview", "/stacks"):
                with self.subTest(place, route=route):
                    answer = self.service.call("POST", route, body)
                    kind = "StackValidationFailed"
                    self.refused(answer, kind, place, f": : {told}")

    def test_stored_before_it_was_wrong(self):
        """Such stacks can be looked at, repaired and deleted."""
        with (
            mock.patch.object(core.Template, "check_declarations"),
            mock.patch.object(hot.HOTemplate, "check_declarations"),
            mock.patch.object(Overridable, "validate_policies"),
        ):
            paths = [
                self.create(f"stored-{number}", template)
                for number, (template, _words) in enumerate(LATELY_WRONG)
            ]
        for number, path in enumerate(paths):
            self.assertEqual(
                "CREATE_COMPLETE",
                self.service.get(path)["stack"]["stack_status"],
            )
            if number % 2:
                answer = self.service.call("PUT", path, {"template": having()})
                self.assertEqual(202, answer.status_code, answer.text)
                self.wait(path, "UPDATE_COMPLETE")
            answer = self.service.call("DELETE", path)
            self.assertEqual(204, answer.status_code, answer.text)
            self.wait(path, "DELETE_COMPLETE")

    def create(self, name, template):
        answer = self.service.call(
            "POST", "/stacks", {"stack_name": name, "template": template}
        )
        self.assertEqual(201, answer.status_code, answer.text)
        path = f"/stacks/{name}/{answer.get_json()['stack']['id']}"
        self.wait(path, "CREATE_COMPLETE")
        return path

    def wait(self, path, state):
        self.service.wait(path.rpartition("/")[2], state)

    def test_types_without_a_plug_in(self):
        kind = "ResourceTypeUnavailable"
        body = {"stack_name": "s", "template": SERVER}
        for answer in (
            self.validate(SERVER),
            self.service.call("POST", "/stacks", body),
        ):
            self.refused(
                answer,
                kind,
                "HEAT-E99001",
                "Service trove",
                "OS::Trove::Instance",
            )
        answer = self.validate(SERVER, "?ignore_errors=99001")
        self.assertEqual(200, answer.status_code, answer.text)
        wrong = HOT | {
            "resources": {
                "s": {
                    "type": "OS::Trove::Instance",
                    "properties": {"flavor": "f", "size": 1000},
                }
            }
        }
        for query in ("", "?ignore_errors=99001"):
            self.refused(
                self.validate(wrong, query),
                "StackValidationFailed",
                "resources.s.properties.size",
                "150",
            )
        unknown = HOT | {
            "outputs": {"o": {"value": {"get_attr": ["s", "x"]}}},
            "resources": SERVER["resources"],
        }
        self.refused(
            self.validate(unknown, "?ignore_errors=99001"),
            "StackValidationFailed",
            "x",
        )

    def test_places_in_cloudformation_templates(self):
        value = "OS::Heat::Value"
        length = {"length": 0}
        call = {"value": {"Fn::FindInMap": ["a", "b", "c"]}}
        for sections, place in (
            (
                {
                    "Resources": {
                        "r": {
                            "Type": "OS::Heat::RandomString",
                            "Properties": length,
                        }
                    }
                },
                "Resources.r.Properties.length",
            ),
            ({"Resources": {"r": {"Type": "No::Such"}}}, "Resources.r.Type"),
            (
                {"Resources": {"r": {"Type": value, "Properties": call}}},
                "Resources.r.Properties.value.Fn::FindInMap",
            ),
            (
                {
                    "Resources": {
                        "r": {"Type": value, "Properties": {"value": 1}}
                    },
                    "Outputs": {"o": {"Value": {"Fn::GetAtt": ["r", "x"]}}},
                },
                "Outputs.o.Value.Fn::GetAtt",
            ),
        ):
            with self.subTest(place=place):
                answer = self.validate(
                    {"HeatTemplateFormatVersion": "2012-12-12", **sections}
                )
                self.refused(answer, "StackValidationFailed", f"{place}: ")

    def test_resource_types(self):
        def types(query=""):
            return self.service.get(f"/resource_types{query}")[
                "resource_types"
            ]

        every = types()
        self.assertGreaterEqual(len(every), 163)
        self.assertEqual(sorted(every), every)
        self.assertEqual(["OS::Heat::Value"], types("?name=OS::Heat::Val"))
        self.assertEqual(
            ["OS::Aodh::Alarm"],
            [
                each
                for each in types("?support_status=DEPRECATED")
                if each.startswith("OS::Aodh")
            ],
        )
        self.assertIn("OS::Heat::None", types("?version=5.0.0"))
        self.assertEqual([], types("?name=Nobody"))
        [told] = types("?name=OS::Heat::Value$&with_description=1")
        self.assertEqual({"resource_type", "description"}, set(told))
        for query in ("?support_status=GOOD", "?name=("):
            answer = self.service.call("GET", f"/resource_types{query}")
            self.assertEqual(400, answer.status_code, answer.text)

    def test_every_type_has_schema_and_templates(self):
        for name in self.service.get("/resource_types")["resource_types"]:
            with self.subTest(type=name):
                schema = self.service.get(f"/resource_types/{name}")
                self.assertEqual(
                    {
                        "attributes",
                        "properties",
                        "resource_type",
                        "support_status",
                    },
                    set(schema),
                )
                self.assertIn("show", schema["attributes"])
                for kind in ("hot", "cfn"):
                    made = self.service.get(
                        f"/resource_types/{name}/template?template_type={kind}"
                    )
                    template = template_base.load(made)
                    template.parameter_schemata()
                    self.assertEqual(1, len(list(template.resource_names())))
        answer = self.service.call("GET", "/resource_types/No::Such")
        self.assertEqual(404, answer.status_code)

    def test_versions_and_functions(self):
        versions = self.service.get("/template_versions")["template_versions"]
        self.assertEqual(13, len(versions))
        kinds = {each["version"]: each["type"] for each in versions}
        self.assertEqual("cfn", kinds["AWSTemplateFormatVersion.2010-09-09"])
        self.assertEqual("hot", kinds["heat_template_version.2021-04-16"])
        for name in (*kinds, "heat_template_version.rocky"):
            path = f"/template_versions/{name}/functions"
            plain = self.service.get(path)["template_functions"]
            more = self.service.get(f"{path}?with_condition_func=1")
            names = [each["functions"] for each in plain]
            self.assertTrue(all(each["description"] for each in plain))
            self.assertEqual(sorted(names), names)
            self.assertLessEqual(len(plain), len(more["template_functions"]))
        answer = self.service.call("GET", "/template_versions/no.1/functions")
        self.assertEqual(404, answer.status_code)
