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

"""Stories of signals and metadata that travel through a real object store."""

from __future__ import annotations

import json
import uuid
from concurrent import futures
from typing import Any

import requests

from heat_integrationtests import test_cloud, test_cloud_signals
from heat_integrationtests.test_cloud_signals import SECONDS

ref, res = test_cloud.ref, test_cloud.res

_ACCOUNT_KEY = "X-Account-Meta-Temp-Url-Key"


class ObjectStory(test_cloud.AloneStory, test_cloud_signals.SignedStory):
    """With nothing left in the store when it is over.

    Nobody else's containers come and go there.
    """

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.make_project()

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.connect()
        self.heat = self.running.heat(self.cloud)
        self.store = self.cloud.object_store
        self.before = self.containers()
        self.store.post("", headers={_ACCOUNT_KEY: "the user's own"})

    def containers(self) -> set[str]:
        return {each.name for each in self.store.containers()}

    def assert_nothing_left(self) -> None:
        self.assertEqual(self.before, self.containers())
        account = self.store.head("")
        self.assertEqual("the user's own", account.headers[_ACCOUNT_KEY])

    def send(self, url: str, said: Any = None) -> int:
        data = said if isinstance(said, bytes) else json.dumps(said)
        return requests.put(url, data=data, timeout=30).status_code

    def told(self, ident: str, name: str) -> str:
        """An output, once it is known."""
        return str(self.eventually(lambda: self.reference(ident, name), name))


class HandleStory(ObjectStory):
    """Wait conditions of both kinds, signalled by PUT."""

    def waiting(
        self, handle: dict[str, Any], kind: str, count: int
    ) -> dict[str, Any]:
        wait = {"handle": ref("handle"), "timeout": SECONDS, "count": count}
        return {"handle": handle, "wait": res(f"Heat::{kind}", **wait)}

    def begin_waiting(self, kind: str, count: int) -> tuple[str, str]:
        if kind == "SwiftSignal":
            handle, name = res("Heat::SwiftSignalHandle"), "endpoint"
        else:
            handle, name = self.handle("TEMP_URL_SIGNAL"), "signal"
        outputs = {
            "told": {"value": {"get_attr": ["handle", name]}},
            "data": {"value": {"get_attr": ["wait", "data"]}},
        }
        ident = self.begin(
            self.waiting(handle, kind, count), sections={"outputs": outputs}
        )
        told = self.told(ident, "told")
        if name == "signal":
            told = json.loads(told)["alarm_url"]
        return ident, told

    def test_a_crowd(self) -> None:
        """Many signals at once to one object: each counts, and once."""
        for kind in ("WaitCondition", "SwiftSignal"):
            with self.subTest(kind):
                self.crowd(*self.begin_waiting(kind, 21))
        self.assert_nothing_left()

    def crowd(self, ident: str, url: str) -> None:
        forged = url.replace("temp_url_sig=", "temp_url_sig=0")
        self.assertEqual(401, self.send(forged, {}))
        self.assertEqual(401, requests.get(url, timeout=30).status_code)
        with futures.ThreadPoolExecutor(5) as pool:
            sent = [{"id": f"i{n}", "data": n} for n in range(20)]
            codes = list(pool.map(lambda said: self.send(url, said), sent))
        # 202: one that came in meanwhile is newer.
        self.assertLessEqual(set(codes), {201, 202})
        self.assertEqual(201, self.send(url, b"{no signal"))
        # A second of the same id takes the place of the first.
        self.assertEqual(201, self.send(url, {"id": "i0", "data": 7}))
        self.assertEqual(201, self.send(url, b""))
        self.wait(ident, "CREATE_COMPLETE")
        data = json.loads(self.reference(ident, "data"))
        self.assertEqual(21, len(data))
        self.assertEqual((7, 19), (data["i0"], data["i19"]))
        self.delete(ident)

    def test_suspended(self) -> None:
        for kind in ("WaitCondition", "SwiftSignal"):
            with self.subTest(kind):
                ident, url = self.begin_waiting(kind, 1)
                self.assertEqual(201, self.send(url, {"status": "SUCCESS"}))
                self.wait(ident, "CREATE_COMPLETE")
                self.act(ident, "suspend", "SUSPEND_COMPLETE")
                self.assertEqual(401, self.send(url, {}))
                self.act(ident, "resume", "RESUME_COMPLETE")
                self.assertEqual(201, self.send(url, {}))
                self.delete(ident)
        self.assert_nothing_left()

    def test_failure(self) -> None:
        for kind in ("WaitCondition", "SwiftSignal"):
            with self.subTest(kind):
                ident, url = self.begin_waiting(kind, 1)
                said = {"status": "FAILURE", "reason": "no disk"}
                self.assertEqual(201, self.send(url, said))
                stack = self.wait(ident, "CREATE_FAILED")
                self.assertIn("no disk", stack.stack_status_reason)
                self.delete(ident)
        self.assert_nothing_left()


class DeploymentStory(ObjectStory):
    """Agents that reach the object store, and nothing else."""

    SERVER = {
        "software_config_transport": "POLL_TEMP_URL",
    }

    def resources(self, word: str, **server: Any) -> dict[str, Any]:
        return {
            "config": test_cloud_signals.CONFIG,
            "server": res("Heat::DeployedServer", **self.SERVER, **server),
            "deployment": res(
                "Heat::SoftwareDeployment",
                config=ref("config"),
                server=ref("server"),
                input_values={"word": word},
                signal_transport="TEMP_URL_SIGNAL",
            ),
        }

    OUTPUTS = {
        "url": {
            "value": {
                "get_attr": [
                    "server",
                    "os_collect_config",
                    "request",
                    "metadata_url",
                ]
            }
        },
        "said": {"value": {"get_attr": ["deployment", "said"]}},
    }

    def read(self, url: str) -> dict[str, Any]:
        answer = requests.get(url, timeout=30)
        self.assertEqual(200, answer.status_code, answer.text)
        return dict(answer.json())

    def deploy(self, url: str, word: str) -> None:
        """What an agent does: read what there is to do, do it, report."""

        def found() -> Any:
            for each in self.read(url)["deployments"]:
                inputs = {i["name"]: i["value"] for i in each["inputs"]}
                if inputs["word"] == word:
                    return inputs
            return None

        inputs = self.eventually(found, f"{word} is not to be deployed")
        self.assertEqual("TEMP_URL_SIGNAL", inputs["deploy_signal_transport"])
        self.assertEqual("PUT", inputs["deploy_signal_verb"])
        report = {"said": f"{word}!", "deploy_status_code": 0}
        code = self.send(inputs["deploy_signal_id"], report)
        self.assertEqual(201, code)

    def test_a_whole_life(self) -> None:
        ident = self.begin(
            self.resources("one"), sections={"outputs": self.OUTPUTS}
        )
        url = self.told(ident, "url")
        # The engine that goes on has nothing but what the stack has stored.
        self.running.kill("engine-0")
        self.deploy(url, "one")
        self.running.start_engine("engine-0")
        self.wait(ident, "CREATE_COMPLETE")
        self.assertEqual("one!", self.reference(ident, "said"))
        self.heat.stacks.update(
            stack_id=ident,
            template=self.template(
                self.resources("two"), outputs=self.OUTPUTS
            ),
        )
        self.deploy(url, "two")
        self.wait(ident, "UPDATE_COMPLETE")
        self.assertEqual("two!", self.reference(ident, "said"))

        # What is added by the API reaches the agent, too.
        server = self.heat.resources.get(ident, "server").physical_resource_id
        config = self.heat.software_configs.create(
            name="c", group="script", config="true"
        )
        more = self.heat.software_deployments.create(
            server_id=server,
            config_id=config.id,
            action="CREATE",
            status="IN_PROGRESS",
        )
        self.assertEqual(2, len(self.read(url)["deployments"]))
        self.heat.software_deployments.delete(more.id)
        self.assertEqual(1, len(self.read(url)["deployments"]))
        self.heat.software_configs.delete(config.id)
        self.delete(ident)
        self.assert_nothing_left()

    def test_a_container_of_the_user(self) -> None:
        name = f"story-{uuid.uuid4().hex[:8]}"
        self.store.create_container(name)
        self.addCleanup(self.store.delete_container, name)
        self.store.upload_object(name, "mine", data=b"mine")
        self.addCleanup(self.store.delete_object, "mine", container=name)
        where = {"container": name, "object": "of the server"}
        ident = self.begin(
            self.resources("one", deployment_swift_data=where),
            sections={"outputs": self.OUTPUTS},
        )
        self.deploy(self.told(ident, "url"), "one")
        self.wait(ident, "CREATE_COMPLETE")
        self.delete(ident)
        left = [each.name for each in self.store.objects(name)]
        self.assertEqual(["mine"], left)

    def test_a_server_of_nova(self) -> None:
        resources = {
            "server": test_cloud.server(
                networks=[{"allocate_network": "none"}],
                user_data_format="SOFTWARE_CONFIG",
                software_config_transport="POLL_TEMP_URL",
            )
        }
        outputs = {"url": self.OUTPUTS["url"]}
        ident = self.create(resources, sections={"outputs": outputs})
        found = self.read(self.reference(ident, "url"))
        self.assertEqual([], found["deployments"])
        self.delete(ident)
        self.assert_nothing_left()
