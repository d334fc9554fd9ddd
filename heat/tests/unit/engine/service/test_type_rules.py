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
"""Which resource types a user may use: policies of the operator."""

from __future__ import annotations

import json

from heat.tests import base, inprocess

FORBIDDEN = "OS::Heat::RandomString"


def hot(**resources):
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            name: {"type": type_} for name, type_ in resources.items()
        },
    }


class TypeRulesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        text = json.dumps({f"resource_types:{FORBIDDEN}": "!"})
        path = self.create_tempfiles([("policy", text)], ext=".yaml")[0]
        self.service = self.useFixture(inprocess.Service(policies=path))

    def assertForbidden(self, method, path, body=None):
        answer = self.service.call(method, path, body)
        self.assertEqual(403, answer.status_code, answer.text)
        error = answer.get_json()["error"]
        self.assertEqual("Forbidden", error["type"])
        self.assertIn(FORBIDDEN, error["message"])

    def bodies(self):
        """Each way in which a template can have it."""
        yield "plain", {"template": hot(a=FORBIDDEN)}
        yield (
            "alias",
            {
                "template": hot(a="My::Type"),
                "environment": {"resource_registry": {"My::Type": FORBIDDEN}},
            },
        )
        yield (
            "nested",
            {
                "template": hot(a="one.yaml"),
                "files": {
                    "one.yaml": json.dumps(hot(b="two.yaml")),
                    "two.yaml": json.dumps(hot(c=FORBIDDEN)),
                },
            },
        )
        group = hot(a="OS::Heat::ResourceGroup")
        group["resources"]["a"]["properties"] = {
            "resource_def": {"type": FORBIDDEN}
        }
        yield "group", {"template": group}

    def test_no_stack_is_made_with_it(self):
        for name, body in self.bodies():
            with self.subTest(name):
                body["stack_name"] = "s"
                self.assertForbidden("POST", "/stacks", body)
                self.assertForbidden("POST", "/stacks/preview", body)
        self.assertEqual([], self.service.get("/stacks")["stacks"])

    def test_no_stack_is_updated_to_it(self):
        stack_id = self.service.create("s", hot(a="OS::Heat::None"))
        path = f"/stacks/s/{stack_id}"
        for name, body in self.bodies():
            with self.subTest(name):
                self.assertForbidden("PUT", path, body)
                self.assertForbidden("PATCH", path, body)
                self.assertForbidden("PUT", f"{path}/preview", body)
        shown = self.service.get(path)["stack"]
        self.assertEqual("CREATE_COMPLETE", shown["stack_status"])
        answer = self.service.call("DELETE", path)
        self.assertEqual(204, answer.status_code)

    def test_nobody_is_told_of_it(self):
        told = self.service.get("/resource_types")["resource_types"]
        self.assertIn("OS::Heat::Value", told)
        self.assertNotIn(FORBIDDEN, told)
        self.assertForbidden("GET", f"/resource_types/{FORBIDDEN}")
        self.assertForbidden("GET", f"/resource_types/{FORBIDDEN}/template")
