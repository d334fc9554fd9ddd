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

"""What engines of another make expect of this API, and answer to it."""

from __future__ import annotations

import json

from heat.tests.fakes import engine
from heat.tests.unit.api import client

ROOT = client.ROOT
S = f"{ROOT}/stacks/{engine.NAME}/{engine.STACK_ID}"


class OtherMakesTest(client.ApiTestCase):
    def test_a_wrong_template_is_told_in_the_answer(self):
        self.engine.answers["validate_template"] = {"Error": "no such type"}
        response = self.request(
            "POST", f"{ROOT}/validate", json={"template": client.TEMPLATE}
        )
        self.assert_fault(response, 400, "HTTPBadRequest", "no such type")

    def test_the_data_of_an_adoption_travel_as_text(self):
        data = {"template": client.TEMPLATE, "resources": {}}
        for given in (data, json.dumps(data)):
            self.request(
                "POST",
                f"{ROOT}/stacks",
                json={"stack_name": "s", "adopt_stack_data": given},
            )
            _method, arguments = self.engine.calls[-1]
            sent = arguments["args"]["adopt_stack_data"]
            self.assertIsInstance(sent, str)
            self.assertEqual(data, json.loads(sent))

    def test_files_find_every_section_to_be_merged_into(self):
        body = {
            "template": client.TEMPLATE,
            "environment": {"parameters": {"a": 1}},
            "environment_files": ["e"],
            "files": {"e": "{}"},
        }
        self.request("POST", f"{ROOT}/validate", json=body)
        _method, arguments = self.engine.calls[-1]
        self.assertEqual(
            {
                "parameters": {"a": 1},
                "parameter_defaults": {},
                "resource_registry": {},
                "encrypted_param_names": [],
                "event_sinks": [],
            },
            arguments["params"],
        )

    def test_a_change_has_identities_where_clients_look_for_it(self):
        shown = self.request(
            "PUT", f"{S}/preview", json={"template": client.TEMPLATE}
        ).get_json()
        [change] = shown["resource_changes"]["updated"]
        self.assertEqual(engine.STACK_IDENTITY, change["stack_identity"])
        self.assertEqual(engine.RESOURCE_IDENTITY, change["resource_identity"])
        [published] = shown["updated"]
        self.assertIsInstance(published["stack_identity"], str)

    def test_a_config_of_a_name_alone(self):
        for given in ({}, {"inputs": None, "outputs": None}):
            self.request(
                "POST", f"{ROOT}/software_configs", json={"name": "c", **given}
            )
            _method, arguments = self.engine.calls[-1]
            self.assertEqual([], arguments["inputs"])
            self.assertEqual([], arguments["outputs"])
