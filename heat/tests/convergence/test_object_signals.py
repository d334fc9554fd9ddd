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

"""Stories of signals and metadata that travel through an object store."""

from __future__ import annotations

import json

import requests

from heat.engine.software import deployments
from heat.engine.stack import actions
from heat.tests.convergence import test_signals, test_software
from heat.tests.convergence import test_stories as stories
from heat.tests.fakes import object_store


class Stories(test_signals.SignalStory):
    def setUp(self) -> None:
        super().setUp()
        self.store = self.useFixture(object_store.Store())
        self.world.context.keystone_session = self.store.session

    def put(self, url, said=None, text=None):
        body = json.dumps(said) if text is None else text
        answer = requests.put(url, data=body, timeout=10)
        return answer.status_code


class HandleTest(Stories):
    """OS::Heat::WaitConditionHandle with TEMP_URL_SIGNAL."""

    TYPES = ("OS::Heat::WaitConditionHandle", "OS::Heat::WaitCondition")
    PROPERTIES = {"signal_transport": "TEMP_URL_SIGNAL"}
    ADDRESS = "signal"

    def template(self, count=1, timeout=100):
        handle, wait = self.TYPES
        return stories.hot(
            {
                "handle": {"type": handle, "properties": self.PROPERTIES},
                "wait": {
                    "type": wait,
                    "properties": {
                        "handle": {"get_resource": "handle"},
                        "count": count,
                        "timeout": timeout,
                    },
                },
            },
            {
                "told": {"value": {"get_attr": ["handle", self.ADDRESS]}},
                "data": {"value": {"get_attr": ["wait", "data"]}},
            },
        )

    def begun(self, **kwargs):
        """A stack that waits, and the URL to signal to."""
        stack = self.world.create(self.template(**kwargs))
        self.until(stack, "wait", "CREATE", "IN_PROGRESS")
        return stack, self.address(self.world.outputs(stack)["told"])

    def address(self, told):
        return json.loads(told)["alarm_url"]

    def data(self, stack):
        return json.loads(self.world.outputs(stack)["data"])

    def test_a_signal(self):
        stack, url = self.begun()
        self.assertEqual(201, self.put(url, {"data": "hello"}))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual({"1": "hello"}, self.data(stack))

    def test_every_signal_counts(self):
        """Each takes the place of the one before, and none is lost."""
        stack, url = self.begun(count=5)
        for number in range(5):
            self.put(url, {"data": number})
        self.put(url, {"id": "a", "data": "x"})
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(
            {**{str(n + 1): n for n in range(5)}, "a": "x"}, self.data(stack)
        )

    def test_one_id_counts_once(self):
        stack, url = self.begun(count=2, timeout=30)
        self.put(url, {"id": "a"})
        self.put(url, {"id": "a"})
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("1 of 2 signals", self.world.stack(stack).status_reason)

    def test_no_body_is_a_success(self):
        stack, url = self.begun()
        self.assertEqual(201, self.put(url, text=""))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)

    def test_failure(self):
        stack, url = self.begun()
        self.put(url, {"status": "FAILURE", "reason": "no disk"})
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("no disk", self.world.stack(stack).status_reason)

    def test_what_is_no_signal_is_passed_over(self):
        stack, url = self.begun()
        for text in ("{", "[1]", '{"other": 1}', '"' + "x" * 2**20 + '"'):
            self.put(url, text=text)
        self.put(url, {"data": "good"})
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual({"1": "good"}, self.data(stack))

    def test_a_store_without_versions(self):
        self.store.keeps = "none"
        stack, url = self.begun()
        self.put(url, {"data": "first"})
        self.put(url, {"data": "last"})
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual({"1": "last"}, self.data(stack))

    def test_suspended(self):
        """While its stack is suspended nobody can signal it."""
        stack, url = self.begun()
        self.put(url, {"data": "x"})
        self.world.run()
        self.act(stack, "SUSPEND")
        self.assertEqual(401, self.put(url, {}))
        self.act(stack, "RESUME")
        self.assertEqual(201, self.put(url, {}))

    def act(self, stack, action):
        begin = {"SUSPEND": actions.suspend, "RESUME": actions.resume}[action]
        world = self.world
        begin(world.engines[0], world.context, world.stack(stack))
        world.run()
        self.assertState(f"{action}_COMPLETE", stack)

    def test_nothing_is_left(self):
        stack, url = self.begun(count=2)
        self.assertNotEqual({}, self.store.objects)
        for _number in range(3):
            self.put(url, {})
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertEqual({}, self.store.objects)


class OldStoreTest(HandleTest):
    """Of a store that moves older versions into a second container."""

    def setUp(self) -> None:
        super().setUp()
        self.store.keeps = "beside"


class SwiftSignalTest(HandleTest):
    """OS::Heat::SwiftSignal and its handle."""

    TYPES = ("OS::Heat::SwiftSignalHandle", "OS::Heat::SwiftSignal")
    PROPERTIES = {}
    ADDRESS = "endpoint"

    def address(self, told):
        return told

    def test_another_url(self):
        for url in ("no url", "http://127.0.0.1/elsewhere/c/o"):
            template = self.template()
            wait = template["resources"]["wait"]["properties"]
            wait["handle"] = url
            stack = self.world.create(template, name=f"s{len(url)}")
            self.world.run()
            self.assertState("CREATE_FAILED", stack)
            self.assertIn(url, self.world.stack(stack).status_reason)


class DeploymentTest(Stories):
    """Deployments with TEMP_URL_SIGNAL."""

    def begun(self, wish=None):
        wish = wish or test_software.deployed("TEMP_URL_SIGNAL")
        stack = self.world.create(test_software.template(wish))
        self.until(stack, "deployment", "CREATE", "IN_PROGRESS")
        return stack, self.inputs()

    def inputs(self):
        [config] = deployments.metadata(
            self.world.db, self.world.context, "server-1"
        )
        return {each["name"]: each["value"] for each in config["inputs"]}

    def test_a_whole_life(self):
        stack, first = self.begun()
        self.assertEqual("PUT", first["deploy_signal_verb"])
        report = {"said": "hello", "deploy_status_code": 0}
        self.put(first["deploy_signal_id"], report)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual("hello", self.world.outputs(stack)["said"])
        wish = test_software.deployed(
            "TEMP_URL_SIGNAL", input_values={"word": "bye"}
        )
        self.world.update(stack, test_software.template(wish))
        self.until(stack, "deployment", "UPDATE", "IN_PROGRESS")
        second = self.inputs()
        # What reported on the first does not end the second.
        self.put(first["deploy_signal_id"], {"said": "late"})
        for _number in range(5):
            self.world.step()
        self.until(stack, "deployment", "UPDATE", "IN_PROGRESS")
        self.put(second["deploy_signal_id"], {"said": "bye"})
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("bye", self.world.outputs(stack)["said"])
        self.world.delete(stack)
        self.world.run()
        self.assertEqual({}, self.store.objects)

    def test_reports_of_failure(self):
        for number, text in enumerate(
            ('{"deploy_status_code": 7}', "no report at all", "[1]")
        ):
            wish = test_software.deployed("TEMP_URL_SIGNAL")
            stack = self.world.create(
                test_software.template(wish), name=f"s{number}"
            )
            self.until(stack, "deployment", "CREATE", "IN_PROGRESS")
            self.put(self.inputs()["deploy_signal_id"], text=text)
            self.world.run()
            self.assertState("CREATE_FAILED", stack)
            self.world.delete(stack)
            self.world.run()

    def test_the_store_fails_for_a_while(self):
        stack, inputs = self.begun()
        self.put(inputs["deploy_signal_id"], {"said": "hello"})
        self.store.broken = True
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.store.broken = False
        self.world.delete(stack)
        self.world.run()
        self.assertIsNotNone(self.world.stack(stack).deleted_at)
        self.assertEqual({}, self.store.objects)


class PolledServerTest(Stories):
    """OS::Heat::DeployedServer with POLL_TEMP_URL."""

    def template(self, where=None, transport="POLL_TEMP_URL", **metadata):
        server = {
            "type": "OS::Heat::DeployedServer",
            "properties": {
                "software_config_transport": transport,
                "deployment_swift_data": where or {},
            },
            "metadata": metadata,
        }
        wish = test_software.deployed("NO_SIGNAL")
        wish["properties"]["server"] = {"get_resource": "server"}
        return stories.hot(
            {
                "config": test_software.CONFIG,
                "deployment": wish,
                "server": server,
            },
            {
                "agent": {
                    "value": {"get_attr": ["server", "os_collect_config"]}
                }
            },
        )

    def made(self, **kwargs):
        stack = self.world.create(self.template(**kwargs))
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def agent(self, stack):
        return self.world.outputs(stack)["agent"]

    def read(self, stack):
        """What the agent of the server reads."""
        url = self.agent(stack)["request"]["metadata_url"]
        return requests.get(url, timeout=10).json()

    def test_a_whole_life(self):
        stack = self.made(word="a")
        self.assertEqual(
            ["ec2", "request", "local"], self.agent(stack)["collectors"]
        )
        found = self.read(stack)
        self.assertEqual("a", found["word"])
        self.assertEqual(self.agent(stack), found["os-collect-config"])
        [deployment] = found["deployments"]
        self.assertEqual("script", deployment["group"])
        self.world.update(stack, self.template(word="b"))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        found = self.read(stack)
        self.assertEqual(("b", 1), (found["word"], len(found["deployments"])))
        self.world.delete(stack)
        self.world.run()
        self.assertEqual({}, self.store.objects)

    def test_a_container_of_the_user(self):
        """It keeps its key, and all that is in it but the metadata."""
        self.store.objects["mine"] = {"x": ("1", b"x")}
        self.store.headers["mine"] = {
            "X-Container-Meta-Temp-URL-Key": "my key"
        }
        stack = self.made(where={"container": "mine", "object": "a b"})
        self.assertEqual({"x", "a b"}, self.store.objects["mine"].keys())
        self.assertEqual(1, len(self.read(stack)["deployments"]))
        self.assertEqual(
            "my key",
            self.store.headers["mine"]["X-Container-Meta-Temp-URL-Key"],
        )
        self.world.delete(stack)
        self.world.run()
        self.assertEqual({"x"}, self.store.objects["mine"].keys())

    def test_it_moves(self):
        stack = self.made(where={"container": "one"})
        self.world.update(stack, self.template(where={"container": "two"}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(1, len(self.read(stack)["deployments"]))
        self.assertEqual({}, self.store.objects["one"])
        self.assertEqual(1, len(self.store.objects["two"]))

    def test_the_store_fails(self):
        self.store.broken = True
        stack = self.world.create(self.template())
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.store.broken = False
        self.world.update(stack, self.template())
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(1, len(self.read(stack)["deployments"]))
