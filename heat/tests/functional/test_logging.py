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

"""No secret is logged, however talkative the service is asked to be."""

from __future__ import annotations

import uuid

from heat.tests.functional import base, deployment


class Talkative(deployment.Standalone):
    """heat-standalone that logs whatever it can."""

    def _start(self) -> None:
        conf = self.folder / "debug.conf"
        conf.write_text(
            "[DEFAULT]\ndebug = true\n"
            # The libraries that are quiet by default, too.
            "default_log_levels =\n"
        )
        self.run(
            "standalone",
            "heat.cmd.standalone",
            "--port",
            str(self.port),
            "--state-dir",
            str(self.folder / "state"),
            "--config-file",
            str(conf),
        )


class LoggingTest(base.FunctionalTest):
    running: Talkative

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return Talkative()

    def test_create_and_update(self) -> None:
        secrets = {
            name: f"{name}-{uuid.uuid4().hex}"
            for name in ("token", "password", "hidden", "changed")
        }
        self.project.session.headers.update(
            {
                "X-Auth-Token": secrets["token"],
                "X-Auth-Key": secrets["password"],
            }
        )
        template = {
            "heat_template_version": "2018-08-31",
            "parameters": {"p": {"type": "string", "hidden": True}},
            "resources": {
                "it": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": {"get_param": "p"}},
                },
                "made": {"type": "OS::Heat::RandomString"},
            },
            "outputs": {"made": {"value": {"get_attr": ["made", "value"]}}},
        }
        for method, word, status in (
            (self.project.create, "hidden", "CREATE_COMPLETE"),
            (self.project.update, "changed", "UPDATE_COMPLETE"),
        ):
            parameters = {"p": secrets[word]}
            answer = method("s", template, parameters=parameters)
            self.assertIn(answer.status_code, (201, 202), answer.text)
            self.project.wait("s", status)
        secrets["made"] = self.project.outputs("s")["made"]
        log = self.running.logs(lines=10**9)
        self.assertIn(" DEBUG ", log)
        self.assertIn("stacks:create", log)
        for name, secret in secrets.items():
            with self.subTest(name):
                found = [x for x in log.splitlines() if secret in x]
                self.assertEqual([], found)
