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
"""CloudFormation templates."""

from __future__ import annotations

from heat.common import exception, identifier
from heat.engine import definition, function
from heat.engine.environment import environment
from heat.engine.template import base as template_base
from heat.engine.template import cfn
from heat.engine.template import parameters as reader
from heat.tests import base

VERSIONS = (
    {cfn.AWS_KEY: "2010-09-09"},
    {cfn.HEAT_KEY: "2012-12-12"},
)
HEAT = VERSIONS[1]
STACK = identifier.HeatIdentifier("p1", "stack one", "id-1")
MAPPINGS = {"Region": {"north": {"ami": "a-1", "sizes": [1, 2], "7": "x"}}}
PARAMETERS = {
    "Where": {"Type": "String", "Default": "north"},
    "List": {"Type": "CommaDelimitedList", "Default": "a, b ,c"},
    "Number": {"Type": "Number", "Default": "7"},
    "Map": {"Type": "Json", "Default": {"k": {"l": 1}}},
}
CONDITIONS = {
    "Yes": {"Fn::Equals": [{"Ref": "Where"}, "north"]},
    "No": {"Fn::Not": [{"Condition": "Yes"}]},
    "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
    "One": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
    "Mapped": {
        "Fn::Equals": [
            {"Fn::FindInMap": ["Region", {"Ref": "Where"}, "ami"]},
            "a-1",
        ]
    },
}


def value(content, **more):
    return {
        "Type": "OS::Heat::Value",
        "Properties": {"value": content},
        **more,
    }


def define(params=None, version=HEAT, **sections):
    template = template_base.load({**version, **sections})
    return definition.StackDefinition(
        STACK,
        template,
        environment.Environment({"parameters": params or {}}),
        region="here",
    )


FUNCTIONS = (
    ({"Ref": "Where"}, "north"),
    ({"Ref": "AWS::StackName"}, "stack one"),
    ({"Ref": "AWS::Region"}, "here"),
    ({"Ref": "AWS::StackId"}, STACK.arn()),
    ({"Ref": "other"}, "other"),
    ({"Fn::GetAtt": ["other", "value"]}, None),
    ({"Fn::FindInMap": ["Region", {"Ref": "Where"}, "ami"]}, "a-1"),
    ({"Fn::FindInMap": ["Region", "north", "sizes"]}, [1, 2]),
    ({"Fn::FindInMap": ["Region", "north", {"Ref": "Number"}]}, "x"),
    ({"Fn::Join": ["-", {"Ref": "List"}]}, "a- b -c"),
    ({"Fn::Join": ["", ["x", {"Ref": "Where"}]]}, "xnorth"),
    ({"Fn::Select": [1, {"Ref": "List"}]}, " b "),
    ({"Fn::Select": ["l", {"Fn::Select": ["k", {"Ref": "Map"}]}]}, 1),
    ({"Fn::Split": [",", "a,b"]}, ["a", "b"]),
    ({"Fn::Replace": [{"$a": {"Ref": "Where"}}, "go $a"]}, "go north"),
    ({"Fn::Base64": "text"}, "text"),
    ({"Fn::GetAZs": ""}, ["nova"]),
    (
        {
            "Fn::MemberListToMap": [
                "Name",
                "Value",
                [".member.0.Name=k", ".member.0.Value=v"],
            ]
        },
        {"k": "v"},
    ),
    ({"Fn::ResourceFacade": "Metadata"}, None),
    ({"Fn::If": ["Yes", {"Ref": "Where"}, 2]}, "north"),
    ({"Fn::If": ["No", 1, {"Fn::If": ["One", "in", "out"]}]}, "in"),
    # No function of the language: stays what it is.
    ({"get_param": "Where"}, {"get_param": "Where"}),
    ({"Condition": "Yes"}, {"Condition": "Yes"}),
    # What conditions are made of gives true or false in a value.
    ({"Fn::Equals": [1, 2]}, False),
    ({"Fn::Not": [{"Fn::Equals": [1, 2]}]}, True),
)

ERRORS = (
    ({"Parameters": []}, "Parameters"),
    ({"Strange": {}}, "section is invalid: Strange"),
    ({"resources": {}}, "section is invalid: resources"),
    ({"Parameters": {"p": {"Type": "Strin"}}}, "Parameters.p.Type"),
    ({"Parameters": {"p": {"type": "String"}}}, "Parameters.p.type"),
    (
        {"Parameters": {"p": {"Type": "Number", "MinValue": "x"}}},
        "Parameters.p.MinValue",
    ),
    (
        {"Parameters": {"p": {"Type": "String", "AllowedValues": "x"}}},
        "Parameters.p.AllowedValues",
    ),
    ({"Mappings": {"m": []}}, "Mappings.m"),
    ({"Mappings": {"m": {"k": 1}}}, "Mappings.m.k"),
    ({"Resources": {"r": {"type": "OS::Heat::None"}}}, "Resources.r.type"),
    ({"Resources": {"r": []}}, "Resources.r"),
    ({"Resources": {"r": {}}}, "type"),
    ({"Outputs": {"o": {}}}, "Outputs.o"),
    ({"Outputs": {"o": {"Value": 1, "Export": 2}}}, "Outputs.o.Export"),
    ({"Resources": {"r": value({"Ref": "nobody"})}}, "nobody"),
    ({"Resources": {"r": value({"Ref": ["x"]})}}, "Ref"),
    ({"Resources": {"r": value({"Fn::GetAtt": ["x", "y"]})}}, "x"),
    ({"Resources": {"r": value({"Fn::GetAtt": "x"})}}, "Fn::GetAtt"),
    (
        {"Resources": {"r": value({"Fn::FindInMap": ["m", "n"]})}},
        "Fn::FindInMap",
    ),
    ({"Resources": {"r": value({"Fn::If": ["no", 1, 2]})}}, "no"),
    ({"Resources": {"r": value(1, DependsOn="x")}}, "x"),
    ({"Resources": {"r": value(1, Condition="x")}}, "x"),
    ({"Resources": {"r": value(1, DeletionPolicy="delete")}}, "Delete"),
    ({"Conditions": {"c": {"Condition": "c"}}}, "itself"),
    ({"Conditions": {"c": {"Ref": "r"}}, "Resources": {"r": value(1)}}, "r"),
    ({"Conditions": {"c": {"Fn::GetAtt": ["r", "x"]}}}, "Fn::GetAtt"),
    ({"Conditions": {"c": {"Fn::Not": [True, False]}}}, "Fn::Not"),
)


class CfnTest(base.TestCase):
    def test_functions(self):
        for version in VERSIONS:
            for snippet, wanted in FUNCTIONS:
                with self.subTest(snippet=snippet, version=version):
                    made = define(
                        version=version,
                        Parameters=PARAMETERS,
                        Mappings=MAPPINGS,
                        Conditions=CONDITIONS,
                        Resources={"other": value(1), "r": value(snippet)},
                    )
                    made.validate()
                    defn = made.resource_definitions["r"]
                    found = function.resolve(defn._properties)["value"]
                    self.assertEqual(wanted, found)

    def test_conditions(self):
        made = define(
            Parameters=PARAMETERS,
            Mappings=MAPPINGS,
            Conditions=CONDITIONS,
            Resources={name: value(1, Condition=name) for name in CONDITIONS},
            Outputs={
                name: {"Value": 1, "Condition": name} for name in CONDITIONS
            },
        )
        made.validate()
        holds = {"Yes", "One", "Mapped"}
        self.assertEqual(holds, set(made.resource_definitions))
        self.assertEqual(
            holds,
            {name for name, each in made.outputs.items() if each.get_value()},
        )

    def test_no_value(self):
        nothing = {"Ref": "AWS::NoValue"}
        choice = {"Fn::If": ["No", "x", nothing]}
        for snippet, wanted in (
            ({"a": nothing, "b": 1}, {"b": 1}),
            ([1, nothing, choice, 2], [1, 2]),
            ({"a": {"b": choice}}, {"a": {}}),
            ({"Fn::If": ["Yes", "x", nothing]}, "x"),
        ):
            with self.subTest(snippet=snippet):
                made = define(
                    Parameters=PARAMETERS,
                    Mappings=MAPPINGS,
                    Conditions=CONDITIONS,
                    Resources={
                        "r": value(snippet),
                        "gone": value(choice),
                    },
                )
                made.validate()
                found = made.resource_definitions["r"]._properties
                self.assertEqual(wanted, function.resolve(found)["value"])
                gone = made.resource_definitions["gone"]._properties
                self.assertEqual({}, function.resolve(gone))

    def test_errors(self):
        for sections, words in ERRORS:
            with self.subTest(sections=sections):
                error = self.assertRaises(
                    exception.HeatException,
                    lambda s=sections: define(**s).validate(),
                )
                self.assertIn(words, str(error))

    def test_reference_to_what_is_not_made(self):
        for call, in_outputs in (
            ({"Ref": "off"}, True),
            ({"Fn::GetAtt": ["off", "value"]}, False),
        ):
            off = value(1, Condition="No")
            sections = {"Conditions": CONDITIONS, "Parameters": PARAMETERS}
            sections["Mappings"] = MAPPINGS
            with self.subTest(call=call):
                made = define(
                    Resources={"off": off, "r": value(call)}, **sections
                )
                error = self.assertRaises(
                    exception.InvalidTemplateReference, made.validate
                )
                self.assertIn("its condition is false", str(error))
                made = define(
                    Resources={"off": off},
                    Outputs={"o": {"Value": call}},
                    **sections,
                )
                if in_outputs:
                    made.validate()
                    self.assertIsNone(made.outputs["o"].get_value())
                else:
                    self.assertRaises(
                        exception.InvalidTemplateReference, made.validate
                    )

    def test_no_such_entry_of_a_mapping(self):
        for path in (
            ["No", "a", "b"],
            ["Region", "x", "b"],
            ["Region", "north", "y"],
        ):
            made = define(
                Mappings=MAPPINGS,
                Resources={"r": value({"Fn::FindInMap": path})},
            )
            defn = made.resource_definitions["r"]
            error = self.assertRaises(
                exception.StackValidationFailed,
                function.resolve,
                defn._properties,
            )
            self.assertIn("Mappings", str(error))

    def test_parameters(self):
        made = define(
            Parameters={
                "p": {
                    "Type": "Number",
                    "Default": "3",
                    "Description": "d",
                    "NoEcho": "true",
                    "Label": "L",
                    "MinValue": "1",
                    "MaxValue": 9,
                    "AllowedValues": ["3", 4],
                    "ConstraintDescription": "3 or 4",
                },
                "s": {
                    "Type": "String",
                    "MinLength": "1",
                    "MaxLength": "4",
                    "AllowedPattern": "[a-z]+",
                },
            }
        )
        schemata = made.t.parameter_schemata()
        self.assertEqual(
            {
                "Type": "Number",
                "Description": "d",
                "NoEcho": "true",
                "Label": "L",
                "Default": "3",
                "MinValue": 1,
                "MaxValue": 9,
                "AllowedValues": ["3", 4],
                "ConstraintDescription": "3 or 4",
            },
            reader.validate_answer(schemata["p"]),
        )
        self.assertEqual(
            {
                "Type": "String",
                "Description": "",
                "NoEcho": "false",
                "Label": "s",
                "MinLength": 1,
                "MaxLength": 4,
                "AllowedPattern": "[a-z]+",
            },
            reader.validate_answer(schemata["s"]),
        )
        self.assertEqual(
            {"AWS::StackName", "AWS::StackId", "AWS::Region", "p"},
            set(define(Parameters={"p": PARAMETERS["Where"]}).parameters),
        )

    def test_definitions_are_those_of_hot(self):
        made = define(
            Resources={
                "a": value(
                    1,
                    DependsOn="b",
                    DeletionPolicy="Retain",
                    Metadata={"m": 1},
                    Description="text",
                ),
                "b": value(2, UpdatePolicy={"x": {}}, DependsOn=["c"]),
                "c": value(3),
            }
        )
        made.validate()
        first, second, _third = made.resource_definitions.values()
        self.assertEqual("Retain", first.deletion_policy())
        self.assertEqual({"m": 1}, first.metadata())
        self.assertEqual("text", first.description)
        self.assertEqual(
            {"a": {"b"}, "b": {"c"}, "c": set()}, made.dependencies()
        )

    def test_versions(self):
        known = template_base.known_versions()
        for version in VERSIONS:
            [(key, name)] = version.items()
            self.assertIn(f"{key}.{name}", known)
            error = self.assertRaises(
                exception.InvalidTemplateVersion,
                template_base.load,
                {key: "2000-01-01"},
            )
            self.assertIn(name, str(error))

    def test_installed_classes(self):
        class Other(cfn.CfnTemplate):
            version_key = "other_format"

        self.addCleanup(template_base._added.clear)
        template_base.add("other_format.1.0", Other)
        self.assertIsInstance(
            template_base.load({"other_format": "1.0"}), Other
        )
        self.assertIn("other_format.1.0", template_base.known_versions())
        self.assertRaises(TypeError, template_base.add, "a.b", dict)
        self.assertRaises(ValueError, template_base.add, "nothing", Other)
