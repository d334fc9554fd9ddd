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
"""Stacks whose template is at a URL, which a server here answers."""

from __future__ import annotations

import http.server
import json
import threading

from heat.tests import base, inprocess

TYPE = "AWS::CloudFormation::Stack"
RANDOM = {"Type": "OS::Heat::RandomString", "Properties": {"length": 8}}


def inner(value, **resources):
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"Word": {"Type": "String"}},
        "Resources": {
            "R": {
                "Type": "OS::Heat::TestResource",
                "Properties": {"value": value},
            },
            **resources,
        },
        "Outputs": {
            "Told": {
                "Value": {"Fn::Join": ["-", [value, {"Ref": "Word"}]]},
            },
        },
    }


class UrlTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.texts = {}
        texts = self.texts

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = texts.get(self.path, b"")
                self.send_response(200 if text else 404)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                """Nobody reads it."""

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=self.web.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.web.server_close)
        self.addCleanup(self.web.shutdown)
        self.service = self.useFixture(inprocess.Service())

    def put(self, path, template):
        self.texts[path] = json.dumps(template).encode()

    def url(self, path):
        return f"http://127.0.0.1:{self.web.server_port}{path}"

    def outer(self, path="/one", word="w", **properties):
        return {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Resources": {
                "N": {
                    "Type": TYPE,
                    "Properties": {
                        "TemplateURL": self.url(path),
                        "Parameters": {"Word": word},
                        **properties,
                    },
                }
            },
            "Outputs": {
                "Told": {"Value": {"Fn::GetAtt": ["N", "Outputs.Told"]}},
                "Ref": {"Value": {"Ref": "N"}},
            },
        }

    def outputs(self, stack_id):
        shown = self.service.get(f"/stacks/s/{stack_id}")["stack"]["outputs"]
        return {each["output_key"]: each["output_value"] for each in shown}

    def update(self, stack_id, template):
        path = f"/stacks/s/{stack_id}"
        answer = self.service.call("PUT", path, {"template": template})
        self.assertEqual(202, answer.status_code, answer.text)
        self.service.wait(stack_id, "UPDATE_COMPLETE")

    def test_life(self):
        self.put("/one", inner("first"))
        stack_id = self.service.create("s", self.outer(TimeoutInMinutes=5))
        told = self.outputs(stack_id)
        self.assertEqual("first-w", told["Told"])
        self.assertIn(":stacks/s-N-", told["Ref"])
        # A new word, then what stands there has changed, then elsewhere.
        self.update(stack_id, self.outer(word="v", TimeoutInMinutes=5))
        self.assertEqual("first-v", self.outputs(stack_id)["Told"])
        self.put("/one", inner("second", More=RANDOM))
        self.update(stack_id, self.outer(word="v"))
        self.assertEqual("second-v", self.outputs(stack_id)["Told"])
        self.put("/two", inner("third"))
        self.update(stack_id, self.outer("/two", word="v"))
        after = self.outputs(stack_id)
        self.assertEqual("third-v", after["Told"])
        self.assertEqual(told["Ref"], after["Ref"])
        answer = self.service.call("DELETE", f"/stacks/s/{stack_id}")
        self.assertEqual(204, answer.status_code)
        self.service.wait(stack_id, "DELETE_COMPLETE")

    def test_what_can_not_be_read_is_refused(self):
        self.texts["/bad"] = b"no: template"
        self.put("/wrong", inner("x", Bad={"Type": "OS::No::Such"}))
        for path, words in (
            ("/nothing", "Could not fetch remote template"),
            ("/bad", "Resources.N<"),
            ("/wrong", "OS::No::Such"),
        ):
            with self.subTest(path):
                body = {"stack_name": "s", "template": self.outer(path)}
                answer = self.service.call("POST", "/stacks", body)
                self.assertEqual(400, answer.status_code, answer.text)
                self.assertIn(words, answer.get_json()["error"]["message"])
        self.assertEqual([], self.service.get("/stacks")["stacks"])

    def test_one_that_contains_itself(self):
        word = {"Type": "String", "Default": "w"}
        this = self.outer("/self") | {"Parameters": {"Word": word}}
        self.put("/self", this)
        body = {"stack_name": "s", "template": this}
        answer = self.service.call("POST", "/stacks", body)
        self.assertEqual(400, answer.status_code, answer.text)
        message = answer.get_json()["error"]["message"]
        self.assertIn("The template contains itself", message)

    def test_an_attribute_that_is_none(self):
        self.put("/one", inner("first"))
        template = self.outer()
        told = template["Outputs"]["Told"]
        told["Value"] = {"Fn::GetAtt": ["N", "Told"]}
        body = {"stack_name": "s", "template": template}
        answer = self.service.call("POST", "/stacks", body)
        self.assertEqual(400, answer.status_code, answer.text)
        self.assertIn("(N Told)", answer.get_json()["error"]["message"])
