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
"""The operator's environment and templates."""

from __future__ import annotations

import pathlib
import tempfile
import textwrap

from heat.engine.environment import environment, shared
from heat.engine.service import global_environment
from heat.tests import base, inprocess

FILES = {
    "environment.d/10-first.yaml": """
        resource_registry:
          My::Word: word.yaml
          My::Alias: OS::Heat::RandomString
          OS::Heat::None:
        parameter_defaults: {length: 5, other: 1}
        event_sinks: [{type: zaqar-queue, target: q}]
        """,
    "environment.d/20-second.json": '{"parameter_defaults": {"length": 7}}',
    "environment.d/30-wrong.yaml": "resource_registry: []",
    "environment.d/40-unreadable.yaml": "a: [",
    "environment.d/50-empty.yaml": "",
    "environment.d/notes.txt": "no environment",
    "templates/word.yaml": """
        heat_template_version: 2016-10-14
        parameters: {length: {type: number}}
        resources:
          word:
            type: My::Alias
            properties: {length: {get_param: length}}
        outputs: {word: {value: {get_attr: [word, value]}}}
        """,
    "templates/unused.yaml": "not even a template",
}
TEMPLATE = {
    "heat_template_version": "2016-10-14",
    "parameters": {"length": {"type": "number"}},
    "resources": {
        "a": {
            "type": "My::Alias",
            "properties": {"length": {"get_param": "length"}},
        },
    },
    "outputs": {"word": {"value": {"get_attr": ["a", "value"]}}},
}


class GlobalEnvironmentTest(base.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in FILES.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(textwrap.dedent(text))
        self.service = self.useFixture(
            inprocess.Service(
                environment_dir=str(self.folder / "environment.d"),
                template_dir=str(self.folder / "templates"),
            )
        )

    def outputs(self, stack_id):
        stack = self.service.get(f"/stacks/{stack_id}")["stack"]
        return {
            each["output_key"]: each["output_value"]
            for each in stack["outputs"]
        }

    def test_what_is_read(self):
        found = global_environment.load(self.service.conf)
        self.assertEqual({"length": 7, "other": 1}, found.param_defaults)
        self.assertEqual(
            ({"type": "zaqar-queue", "target": "q"},), found.event_sinks
        )
        url = f"file://{self.folder}/templates/word.yaml"
        self.assertEqual(url, found.registry.resolve("My::Word").name)
        self.assertIn(url, found.files)

    def test_stacks_use_it(self):
        stack_id = self.service.create("one", TEMPLATE)
        self.assertEqual(7, len(self.outputs(stack_id)["word"]))
        shown = self.service.get(f"/stacks/one/{stack_id}/environment")
        self.assertNotIn("My::Alias", str(shown))
        self.assertEqual({}, shown["parameter_defaults"])

    def test_the_users_counts_first(self):
        alias = {
            "type": "My::Alias",
            "properties": {"value": {"get_param": "length"}},
        }
        stack_id = self.service.create(
            "one",
            TEMPLATE | {"resources": {"a": alias}},
            environment={
                "parameter_defaults": {"length": 9},
                "resource_registry": {"My::Alias": "OS::Heat::Value"},
            },
        )
        self.assertEqual(9, self.outputs(stack_id)["word"])

    def test_a_type_taken_away(self):
        template = {
            "heat_template_version": "2016-10-14",
            "resources": {"r": {"type": "OS::Heat::None"}},
        }
        answer = self.service.call("POST", "/validate", {"template": template})
        self.assertEqual(400, answer.status_code)
        self.assertIn("OS::Heat::None", answer.text)

    def test_a_template_as_a_type(self):
        template = TEMPLATE | {
            "parameters": {},
            "resources": {"r": {"type": "My::Word"}},
            "outputs": {"word": {"value": {"get_attr": ["r", "word"]}}},
        }
        stack_id = self.service.create("one", template)
        self.assertEqual(7, len(self.outputs(stack_id)["word"]))

    def test_nothing_there(self):
        self.service.conf.set_override("environment_dir", "/nowhere")
        self.service.conf.set_override("template_dir", "/nowhere")
        found = global_environment.load(self.service.conf)
        self.assertEqual({}, found.param_defaults)
        self.assertEqual({}, found.files)
        shared.install(found)
        self.assertEqual({}, environment.Environment().all_defaults())
