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
"""Hidden parameters: masked for readers, not readable in the database."""

from __future__ import annotations

import pathlib

import sqlalchemy as sa

from heat.tests import base, inprocess

SECRET = "s3cr3t-of-the-user"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        "password": {"type": "string", "hidden": True},
        "other": {"type": "string", "hidden": True, "default": "known"},
        "shown": {"type": "string", "default": "visible"},
    },
    "resources": {
        "user": {
            "type": "OS::Heat::None",
            "properties": {"password": {"get_param": "password"}},
        },
    },
    "outputs": {"shown": {"value": {"get_param": "shown"}}},
}
CFN = {
    "HeatTemplateFormatVersion": "2012-12-12",
    "Parameters": {"password": {"Type": "String", "NoEcho": "true"}},
}

#: How a value comes in.
WAYS = {
    "parameters": {"parameters": {"password": SECRET}},
    "environment": {"environment": {"parameters": {"password": SECRET}}},
    "default": {"environment": {"parameter_defaults": {"password": SECRET}}},
    "file": {
        "environment_files": ["env.yaml"],
        "files": {"env.yaml": f"parameters: {{password: {SECRET}}}"},
    },
}


class HiddenTest(base.TestCase):
    def made(self, service):
        for name, body in WAYS.items():
            for kind, template in (("hot", TEMPLATE), ("cfn", CFN)):
                stack_id = service.create(f"{name}-{kind}", template, **body)
                yield f"/stacks/{name}-{kind}/{stack_id}", template, body

    def test_masked_for_readers(self):
        service = self.useFixture(inprocess.Service())
        for stack, template, body in self.made(service):
            for path in (
                *("", "/environment", "/files", "/resources", "/events"),
                *("/outputs", "/template", "/resources?with_detail=1"),
            ):
                with self.subTest(stack=stack, path=path):
                    answer = service.call("GET", f"{stack}{path}")
                    self.assertEqual(200, answer.status_code, answer.text)
                    self.assertNotIn(SECRET, answer.text)
            for path, more in (
                ("/validate", {}),
                ("/stacks/preview", {"stack_name": "new"}),
            ):
                with self.subTest(stack=stack, path=path):
                    answer = service.call(
                        "POST", path, {"template": template, **body, **more}
                    )
                    self.assertEqual(200, answer.status_code, answer.text)
                    self.assertNotIn(SECRET, self.parts(answer))

    def test_properties_of_events(self):
        service = self.useFixture(inprocess.Service())
        template = TEMPLATE | {
            "resources": {
                "user": {
                    "type": "OS::Heat::Value",
                    "properties": {
                        "value": [
                            {"get_param": "shown"},
                            {
                                "list_join": [
                                    "-",
                                    ["x", {"get_param": "password"}],
                                ]
                            },
                        ]
                    },
                }
            }
        }
        stack_id = service.create(
            "one", template, parameters={"password": SECRET}
        )
        stack = f"/stacks/one/{stack_id}/resources/user/events"
        told = []
        for event in service.get(stack)["events"]:
            shown = service.get(f"{stack}/{event['id']}")["event"]
            told.append(shown["resource_properties"])
        self.assertIn({"value": ["visible", "x-******"]}, told)
        self.assertNotIn(SECRET, str(told))

    def parts(self, answer):
        """What is told, but for the environment that was just sent, and the
        property that the template itself writes the value to."""
        body = answer.get_json()
        body.pop("Environment", None)
        for shown in body.get("stack", {}).get("resources", ()):
            shown.pop("properties", None)
        return str(body)

    def test_refused_values_are_not_told(self):
        service = self.useFixture(inprocess.Service())
        template = {
            "heat_template_version": "2018-08-31",
            "parameters": {
                "password": {
                    "type": "string",
                    "hidden": True,
                    "constraints": [{"length": {"max": 3}}],
                }
            },
        }
        for way in WAYS.values():
            answer = service.call(
                "POST",
                "/stacks",
                {"stack_name": "s", "template": template} | way,
            )
            self.assertEqual(400, answer.status_code)
            self.assertNotIn(SECRET, answer.text)

    def test_sealed_in_the_database(self):
        service = self.useFixture(
            inprocess.Service(encrypt_parameters_and_properties=True)
        )
        for _stack, _template, _body in self.made(service):
            pass
        folder = pathlib.Path(sa.make_url(service.url).database).parent
        stored = b"".join(
            path.read_bytes() for path in folder.iterdir() if path.is_file()
        )
        self.assertIn(b"HeatTemplateFormatVersion", stored)
        self.assertNotIn(SECRET.encode(), stored)
