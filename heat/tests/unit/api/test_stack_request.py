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

"""Bodies of creates and updates, unpacked."""

from __future__ import annotations

import json

from heat.api import faults, stack_request
from heat.tests import base

TEMPLATE = {"heat_template_version": "2013-05-23"}


def read(fetch=None, **body):
    return stack_request.read(body, fetch or (lambda url: url), 1000)


class StackRequestTest(base.TestCase):
    def test_texts_are_read(self):
        asked = read(
            template='heat_template_version: "2013-05-23"',
            environment="parameters:\n  a: 2013-05-23\n",
        )
        self.assertEqual(TEMPLATE, asked.template)
        self.assertEqual({"parameters": {"a": "2013-05-23"}}, asked.params)
        self.assertEqual({}, read(environment="").params)
        self.assertEqual(TEMPLATE, read(template=str(TEMPLATE)).template)

    def test_explicit_parameters_win_and_are_named(self):
        asked = read(
            environment={
                "parameters": {"a": 1, "b": 2},
                "parameter_defaults": {"c": 3},
            },
            parameters={"b": 20, "d": None},
            explicit_parameters=["forged"],
        )
        self.assertEqual(
            {
                "parameters": {"a": 1, "b": 20, "d": None},
                "parameter_defaults": {"c": 3},
            },
            asked.params,
        )
        self.assertEqual(["b", "d"], asked.args["explicit_parameters"])

    def test_arguments(self):
        for body, args in (
            ({"timeout_mins": "60"}, {"timeout_mins": 60}),
            # What a client sends to take all tags away.
            ({"tags": ""}, {"tags": []}),
            ({"tags": " "}, {"tags": []}),
            ({"tags": "a, b,a"}, {"tags": ["a", "b"]}),
            ({"timeout_mins": 60.0}, {"timeout_mins": 60}),
            ({"timeout_mins": 0}, {}),
            ({"timeout_mins": "0"}, {}),
            ({"timeout_mins": None, "tags": None}, {}),
            ({"disable_rollback": "True"}, {"disable_rollback": True}),
            ({"disable_rollback": False}, {"disable_rollback": False}),
            ({"converge": "false"}, {"converge": False}),
            ({"tags": "a, b,a"}, {"tags": ["a", "b"]}),
            ({"tags": []}, {"tags": []}),
            ({"clear_parameters": ["x"]}, {"clear_parameters": ["x"]}),
            ({"anything": {"else": 1}}, {"anything": {"else": 1}}),
            (
                {"environment_files_remove": ["x"]},
                {"environment_files_remove": ["x"]},
            ),
            ({"files": None, "environment_files": None}, {}),
        ):
            with self.subTest(body=body):
                found = read(**body)
                self.assertEqual(
                    {**args, "explicit_parameters": []}, found.args
                )
                self.assertEqual({}, found.files)

    def test_own_keys_are_no_arguments(self):
        asked = read(
            stack_name="a",
            template=TEMPLATE,
            template_url="u",
            files={"f": "x"},
            environment_files=["f"],
            files_container="c",
        )
        self.assertEqual({"explicit_parameters": []}, asked.args)
        self.assertEqual({"f": "x"}, asked.files)
        self.assertEqual(["f"], asked.environment_files)
        self.assertEqual("c", asked.files_container)

    def test_a_url_is_read_only_without_a_template(self):
        asked = read(lambda url: '{"from": "url"}', template_url="u")
        self.assertEqual({"from": "url"}, asked.template)
        asked = read(self.fail, template=TEMPLATE, template_url="u")
        self.assertEqual(TEMPLATE, asked.template)

    def test_adopt(self):
        data = {"template": TEMPLATE, "environment": {"parameters": {"a": 1}}}
        for given in (data, str(data)):
            asked = read(adopt_stack_data=given, environment={})
            self.assertEqual(TEMPLATE, asked.template)
            self.assertEqual({"parameters": {"a": 1}}, asked.params)
            text = asked.args["adopt_stack_data"]
            self.assertEqual(data, json.loads(text))
        asked = read(
            adopt_stack_data=data, environment={"parameters": {"b": 1}}
        )
        self.assertEqual({"parameters": {"b": 1}}, asked.params)
        for broken in ({}, {"template": 1}, {**data, "environment": []}):
            self.assertRaises(faults.HTTPError, read, adopt_stack_data=broken)

    def test_too_long_a_template(self):
        text = "a: " + "x" * 2000
        self.assertRaises(ValueError, read, template=text)
