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

"""Stories of signals from inside of servers, with a real Keystone.

The stack's users are made in the domain ``heat`` by its administrator
``heat_domain_admin``, whose password is that of the service's own user.
"""

from __future__ import annotations

import datetime
import json
import os
import time
from typing import Any
from urllib import parse
from xml.etree import ElementTree

import keystoneauth1.exceptions
import openstack
import requests
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import v3

from heat.common import ec2
from heat.tests.functional import deployment
from heat_integrationtests import cloud, test_cloud

DOMAIN, ADMIN = "heat", "heat_domain_admin"
SECONDS = 60

AWS_HANDLE = "AWS::CloudFormation::WaitConditionHandle"
AWS_WAIT = "AWS::CloudFormation::WaitCondition"
ref, res = test_cloud.ref, test_cloud.res

#: What agents are given a word with, and say something of.
CONFIG = res(
    "Heat::SoftwareConfig",
    group="script",
    config="echo",
    inputs=[{"name": "word"}],
    outputs=[{"name": "said"}],
)


class SignedCluster(cloud.CloudCluster):
    """The service with heat-api-cfn, and a domain for users of stacks."""

    def __init__(self) -> None:
        super().__init__()
        self.cfn_port = deployment.free_port()
        self.cfn = f"http://127.0.0.1:{self.cfn_port}"
        self.domain_password = (
            os.environ.get(cloud.PASSWORD) or os.environ["OS_PASSWORD"]
        )

        self.extra = (
            "[DEFAULT]\n"
            f"heat_metadata_server_url = {self.cfn}\n"
            "[heat_api_cfn]\n"
            "bind_host = 127.0.0.1\n"
            f"bind_port = {self.cfn_port}\n"
            "[clients_heat]\n"
            f"url = {self.endpoint}\n"
        )

    def _start(self) -> None:
        super()._start()
        self.run("cfn", "heat.cmd.api_cfn", "--config-file", str(self.conf))

    def wait_ready(self) -> None:
        super().wait_ready()
        deadline = time.monotonic() + deployment.READY_SECONDS
        while True:
            try:
                requests.get(self.cfn, timeout=10)
            except requests.RequestException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def domain(self) -> Any:
        """A connection of the domain's administrator."""
        auth = v3.Password(
            self.auth_url,
            username=ADMIN,
            password=self.domain_password,
            user_domain_name=DOMAIN,
            domain_name=DOMAIN,
        )
        return openstack.connection.Connection(
            session=ks_session.Session(auth=auth), identity_api_version="3"
        )


class SignedStory(test_cloud.CloudStory):
    @classmethod
    def setUpClass(cls) -> None:
        cls.running = deployment.keep(SignedCluster, SignedCluster)

    # -- helpers -------------------------------------------------------------

    def eventually(self, look: Any, what: str) -> Any:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.5)
        self.fail(f"{what}\n{self.running.logs(30)}")

    def reference(self, ident: str, name: str) -> str:
        """The output of the stack of that name."""
        stack = self.heat.stacks.get(ident)
        values = {
            each["output_key"]: each.get("output_value")
            for each in stack.outputs
        }
        return str(values.get(name) or "")

    def put(self, url: str, body: Any = None, method: str = "PUT") -> Any:
        """Send a signal without any token."""
        data = body if isinstance(body, str) else json.dumps(body or {})
        return requests.request(method, url, data=data, timeout=30)

    def forged(self, url: str) -> str:
        parts = parse.urlsplit(url)
        query = dict(parse.parse_qsl(parts.query))
        true = query["Signature"]
        # One in 64 begins with this very letter.
        query["Signature"] = ("y" if true[0] == "x" else "x") + true[1:]
        return parts._replace(query=parse.urlencode(query)).geturl()

    def assert_error(self, answer: Any, status: int, code: str) -> None:
        self.assertEqual(status, answer.status_code, answer.text)
        root = ElementTree.fromstring(answer.content)  # noqa: S314 - ours
        self.assertEqual("ErrorResponse", root.tag)
        self.assertEqual(code, root.findtext("Error/Code"), answer.text)

    def login(self, told: dict[str, Any]) -> Any:
        """Logged in as a stack user."""
        return ks_session.Session(
            auth=v3.Password(
                told["auth_url"],
                user_id=told["user_id"],
                password=told["password"],
                project_id=told["project_id"],
            )
        )

    def handle(self, transport: str) -> dict[str, Any]:
        return res("Heat::WaitConditionHandle", signal_transport=transport)

    def wait_for(self, handle: str, count: int = 1) -> dict[str, Any]:
        return res(
            "Heat::WaitCondition",
            handle=ref(handle),
            timeout=SECONDS,
            count=count,
        )

    def look(self, keys: dict[str, str], stack: str, name: str) -> Any:
        """Ask for the metadata of a resource, as cfn-init does."""
        query = {
            "Action": "DescribeStackResource",
            "ContentType": "JSON",
            "StackName": stack,
            "LogicalResourceId": name,
            "AWSAccessKeyId": keys["access"],
            "SignatureVersion": "2",
            "SignatureMethod": ec2.METHOD,
        }
        host = parse.urlsplit(self.running.cfn).netloc
        query["Signature"] = ec2.signature(
            keys["secret"], "GET", host, "/v1/", query
        )
        return requests.get(
            f"{self.running.cfn}/v1/", params=query, timeout=30
        )


class HandleStory(SignedStory):
    """Wait conditions that servers signal without a token."""

    def begin_waiting(self) -> tuple[str, str]:
        """A stack that waits, and the URL that it waits at."""
        ident = self.begin(
            {
                "handle": {"type": AWS_HANDLE},
                "wait": {
                    "type": AWS_WAIT,
                    "properties": {
                        "Handle": ref("handle"),
                        "Timeout": str(SECONDS),
                        "Count": 2,
                    },
                },
            },
            sections={"outputs": {"url": {"value": ref("handle")}}},
        )
        url = self.eventually(
            lambda: (
                (found := self.reference(ident, "url")).startswith("http")
                and found
            ),
            "no URL",
        )
        return ident, url

    def test_signed_url(self) -> None:
        ident, url = self.begin_waiting()
        self.assertTrue(url.startswith(f"{self.running.cfn}/v1/waitcondition"))

        self.assert_error(self.put(self.forged(url)), 403, "AccessDenied")
        bare = url.partition("?")[0]
        self.assert_error(self.put(bare), 403, "AccessDenied")
        # The method is signed too.
        self.assert_error(self.put(url, method="POST"), 403, "AccessDenied")
        for garbage in ("{", "[1]", '{"Status": "MAYBE"}', '{"X": 1}'):
            self.assert_error(
                self.put(url, garbage), 400, "InvalidParameterValue"
            )
        self.assertEqual(
            "CREATE_IN_PROGRESS", self.heat.stacks.get(ident).stack_status
        )
        for number in (1, 2):
            answer = self.put(
                url,
                {
                    "Status": "SUCCESS",
                    "UniqueId": f"{number}",
                    "Data": f"from {number}",
                    "Reason": "done",
                },
            )
            self.assertEqual(200, answer.status_code, answer.text)
        self.wait(ident, "CREATE_COMPLETE")

        # Nobody is let in while the stack is suspended.
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        self.assert_error(self.put(url), 403, "AccessDenied")
        self.act(ident, "resume", "RESUME_COMPLETE")
        self.assertEqual(200, self.put(url).status_code)

        project = self.heat.stacks.get(ident).stack_user_project_id
        domain = self.running.domain()
        self.assertTrue(domain.identity.get_project(project))
        self.delete(ident)
        self.assert_error(self.put(url), 403, "AccessDenied")
        self.assertIsNone(domain.identity.find_project(project))

    def test_url_of_another_resource(self) -> None:
        """A signature is good for the URL that it was made for."""
        _ident, one = self.begin_waiting()
        _other, two = self.begin_waiting()
        mixed = two.partition("?")[0] + "?" + one.partition("?")[2]
        self.assert_error(self.put(mixed), 403, "AccessDenied")

    def test_native_transports(self) -> None:
        """CFN_SIGNAL, TOKEN_SIGNAL and HEAT_SIGNAL of the native handle."""
        names = ("CFN_SIGNAL", "TOKEN_SIGNAL", "HEAT_SIGNAL")
        resources: dict[str, Any] = {}
        outputs: dict[str, Any] = {}
        for name in names:
            resources[f"h{name[0]}"] = self.handle(name)
            resources[f"w{name[0]}"] = self.wait_for(f"h{name[0]}")
            outputs[name] = {"value": {"get_attr": [f"h{name[0]}", "signal"]}}
        outputs["curl"] = {"value": {"get_attr": ["hT", "curl_cli"]}}
        ident = self.begin(resources, sections={"outputs": outputs})

        def told() -> Any:
            stack = self.heat.stacks.get(ident)
            values = {
                each["output_key"]: each.get("output_value")
                for each in stack.outputs
            }
            return all(values.get(name) for name in names) and values

        values = self.eventually(told, "no attributes")
        signed = json.loads(values["CFN_SIGNAL"])["alarm_url"]
        answer = self.put(signed, {"data": "by URL"}, "POST")
        self.assertEqual(200, answer.status_code, answer.text)

        told_token = self.heat.resources.get(ident, "hT").attributes
        answer = requests.post(
            told_token["endpoint"],
            headers={"X-Auth-Token": told_token["token"]},
            json={"data": "by token"},
            timeout=30,
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertIn(told_token["endpoint"], values["curl"])

        own = json.loads(values["HEAT_SIGNAL"])
        user = self.login(own)
        answer = user.post(own["alarm_url"], json={"data": "by password"})
        self.assertEqual(200, answer.status_code, answer.text)
        self.wait(ident, "CREATE_COMPLETE")

        # That is all such a user may do.
        stacks = own["alarm_url"].partition("/resources/")[0]
        project = stacks.partition("/stacks/")[0]
        for url, allowed in (
            (f"{stacks}/resources/hH/metadata", True),
            (stacks, False),
            (f"{stacks}/resources", False),
            (f"{stacks}/template", False),
            (f"{project}/stacks", False),
        ):
            answer = user.get(url, raise_exc=False)
            self.assertEqual(200 if allowed else 403, answer.status_code, url)

    def test_user_of_another_stack(self) -> None:
        """A user's project is not enough: it must be one of the stack's."""
        outputs = {"told": {"value": {"get_attr": ["handle", "signal"]}}}
        resources = {"handle": self.handle("HEAT_SIGNAL")}
        one = self.create(resources, sections={"outputs": outputs})
        two = self.create(resources, sections={"outputs": outputs})
        mine, other = (
            json.loads(self.reference(ident, "told")) for ident in (one, two)
        )
        user = self.login(mine)
        for url in (
            other["alarm_url"],
            other["alarm_url"].replace(
                other["project_id"], mine["project_id"]
            ),
        ):
            answer = user.post(url, json={}, raise_exc=False)
            self.assertIn(answer.status_code, (403, 404), url)


class DeploymentStory(SignedStory):
    """Deployments whose servers report without a token of anybody."""

    def resources(self, transport: str) -> dict[str, Any]:
        return {
            "config": res(
                "Heat::SoftwareConfig",
                group="script",
                config="true",
                outputs=[{"name": "said"}],
            ),
            "deployment": res(
                "Heat::SoftwareDeployment",
                config=ref("config"),
                server="2b7d1c50-0000-4000-8000-00000000cafe",
                signal_transport=transport,
                actions=["CREATE"],
            ),
        }

    def begin_deployment(self, transport: str) -> tuple[str, dict[str, str]]:
        """A stack that waits for a report, and the inputs of its config."""
        ident = self.begin(
            self.resources(transport),
            sections={
                "outputs": {
                    "said": {"value": {"get_attr": ["deployment", "said"]}}
                }
            },
        )

        def inputs() -> Any:
            found = self.heat.resources.get(ident, "deployment")
            if not found.physical_resource_id:
                return None
            made = self.heat.software_deployments.get(
                found.physical_resource_id
            )
            config = self.heat.software_configs.get(made.config_id)
            return {each["name"]: each["value"] for each in config.inputs}

        def look() -> Any:
            try:
                return inputs()
            except Exception:
                return None

        return ident, self.eventually(look, "no deployment")

    def test_cfn_signal(self) -> None:
        ident, inputs = self.begin_deployment("CFN_SIGNAL")
        answer = self.put(
            inputs["deploy_signal_id"],
            {"said": "hello", "deploy_status_code": 0},
            inputs["deploy_signal_verb"],
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self.wait(ident, "CREATE_COMPLETE")
        self.assertEqual("hello", self.reference(ident, "said"))

    def test_heat_signal(self) -> None:
        ident, inputs = self.begin_deployment("HEAT_SIGNAL")
        user = self.login(
            {
                name: inputs[f"deploy_{name}"]
                for name in ("auth_url", "user_id", "password", "project_id")
            }
        )
        stack = inputs["deploy_stack_id"]
        url = (
            f"{self.running.url}/v1/{inputs['deploy_project_id']}"
            f"/stacks/{stack}/resources/{inputs['deploy_resource_name']}"
            "/signal"
        )
        answer = user.post(url, json={"said": "it failed"})
        self.assertEqual(200, answer.status_code, answer.text)
        self.wait(ident, "CREATE_COMPLETE")
        metadata = user.get(
            f"{self.running.url}/v1/{inputs['deploy_project_id']}"
            "/software_deployments/metadata/"
            "2b7d1c50-0000-4000-8000-00000000cafe"
        )
        self.assertEqual(1, len(metadata.json()["metadata"]))


class ActionStory(SignedStory):
    """Actions of the CloudFormation API, signed with keys of a user."""

    TEMPLATE = {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Parameters": {"Word": {"Type": "String", "Default": "none"}},
        "Resources": {
            "Thing": {
                "Type": "OS::Heat::RandomString",
                "Metadata": {"word": {"Ref": "Word"}},
            }
        },
        "Outputs": {"Said": {"Value": {"Ref": "Word"}}},
    }

    def setUp(self) -> None:
        super().setUp()
        identity = self.cloud.identity
        made = identity.post(
            f"/users/{self.cloud.current_user_id}/credentials/OS-EC2",
            json={"tenant_id": self.running.project_id},
        ).json()["credential"]
        self.keys = made
        self.addCleanup(
            identity.delete,
            f"/users/{self.cloud.current_user_id}/credentials/OS-EC2/"
            f"{made['access']}",
        )

    def ask(self, action: str, as_json: bool = False, **given: str) -> Any:
        """Do an action; the answer of the service."""
        query = {
            "Action": action,
            "Version": "2010-05-15",
            "AWSAccessKeyId": self.keys["access"],
            "SignatureVersion": "2",
            "SignatureMethod": ec2.METHOD,
            "Timestamp": datetime.datetime.now(datetime.UTC).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            ),
            **{name.replace("__", "."): each for name, each in given.items()},
            **({"ContentType": "JSON"} if as_json else {}),
        }
        host = parse.urlsplit(self.running.cfn).netloc
        query["Signature"] = ec2.signature(
            self.keys["secret"], "POST", host, "/v1/", query
        )
        return requests.post(f"{self.running.cfn}/v1/", data=query, timeout=60)

    def told(self, action: str, path: str, **given: str) -> Any:
        answer = self.ask(action, **given)
        self.assertEqual(200, answer.status_code, answer.text)
        root = ElementTree.fromstring(answer.content)  # noqa: S314 - ours
        self.assertEqual(f"{action}Response", root.tag)
        return root.findtext(f"{action}Result/{path}")

    def until(self, name: str, status: str) -> None:
        self.eventually(
            lambda: (
                self.told(
                    "DescribeStacks",
                    "Stacks/member/StackStatus",
                    StackName=name,
                )
                == status
            ),
            status,
        )

    def test_life_of_a_stack(self) -> None:
        name = f"cfn-{os.urandom(4).hex()}"
        body = json.dumps(self.TEMPLATE)
        made = self.told(
            "CreateStack",
            "StackId",
            StackName=name,
            TemplateBody=body,
            Parameters__member__1__ParameterKey="Word",
            Parameters__member__1__ParameterValue="hello",
        )
        self.addCleanup(self.delete, name)
        self.assertIn(f":stacks/{name}/", made)
        self.until(name, "CREATE_COMPLETE")
        for action, path, value in (
            ("DescribeStacks", "Stacks/member/StackId", made),
            ("DescribeStacks", "Stacks/member/Outputs/member/OutputValue",
             "hello"),
            ("DescribeStackResource", "StackResourceDetail/Metadata",
             '{"word": "hello"}'),
            ("DescribeStackResources",
             "StackResources/member/LogicalResourceId", "Thing"),
            ("ListStackResources",
             "StackResourceSummaries/member/ResourceStatus",
             "CREATE_COMPLETE"),
            ("DescribeStackEvents", "StackEvents/member/StackName", name),
        ):  # fmt: skip
            more = (
                {"LogicalResourceId": "Thing"}
                if action == "DescribeStackResource"
                else {}
            )
            found = self.told(action, path, StackName=name, **more)
            self.assertEqual(value, found, action)
        # By ARN as well; and what is there is in the list.
        text = self.told("GetTemplate", "TemplateBody", StackName=made)
        self.assertEqual(self.TEMPLATE, json.loads(text))
        listed = self.ask("ListStacks", as_json=True).json()
        names = [
            each["StackName"]
            for each in listed["ListStacksResponse"]["ListStacksResult"][
                "StackSummaries"
            ]
        ]
        self.assertIn(name, names)
        self.told(
            "UpdateStack",
            "StackId",
            StackName=name,
            TemplateBody=body,
            Parameters__member__1__ParameterKey="Word",
            Parameters__member__1__ParameterValue="bye",
        )
        self.until(name, "UPDATE_COMPLETE")
        self.told("DeleteStack", ".", StackName=name)
        self.wait(name, "DELETE_COMPLETE")
        self.assert_error(
            self.ask("DescribeStacks", StackName=name),
            400,
            "InvalidParameterValue",
        )

    def test_errors(self) -> None:
        for action, given, status, code in (
            ("Fly", {}, 400, "InvalidAction"),
            ("GetTemplate", {}, 400, "MissingParameter"),
            (
                "CreateStack",
                {"StackName": "x", "TemplateBody": "{"},
                400,
                "InvalidParameterValue",
            ),
            (
                "DescribeStacks",
                {"StackName": "arn:nonsense"},
                400,
                "InvalidParameterValue",
            ),
        ):
            self.assert_error(self.ask(action, **given), status, code)
        found = self.told(
            "ValidateTemplate",
            "Parameters/member/ParameterKey",
            TemplateBody=json.dumps(self.TEMPLATE),
        )
        self.assertEqual("Word", found)
        self.keys = {**self.keys, "secret": "forged"}
        self.assert_error(self.ask("ListStacks"), 403, "AccessDenied")


class AccessStory(SignedStory):
    """Users of stacks that a policy keeps to some resources."""

    def test_policy(self) -> None:
        ident = self.create(
            {
                "one": {
                    "type": "OS::Heat::RandomString",
                    "metadata": {"is": "one"},
                },
                "two": {"type": "OS::Heat::RandomString"},
                "policy": res("Heat::AccessPolicy", AllowedResources=["one"]),
                "user": {
                    "type": "AWS::IAM::User",
                    "properties": {"Policies": [ref("policy")]},
                },
                "key": {
                    "type": "AWS::IAM::AccessKey",
                    "properties": {"UserName": ref("user")},
                },
            },
            sections={
                "outputs": {
                    "access": {"value": ref("key")},
                    "secret": {
                        "value": {"get_attr": ["key", "SecretAccessKey"]}
                    },
                }
            },
        )
        keys = {
            name: self.reference(ident, name) for name in ("access", "secret")
        }
        stack_name = self.heat.stacks.get(ident).stack_name
        answer = self.look(keys, stack_name, "one")
        self.assertEqual(200, answer.status_code, answer.text)
        told = answer.json()["DescribeStackResourceResponse"]
        detail = told["DescribeStackResourceResult"]["StackResourceDetail"]
        self.assertEqual({"is": "one"}, json.loads(detail["Metadata"]))
        answer = self.look(keys, stack_name, "two")
        self.assertEqual(403, answer.status_code, answer.text)

        # Nor may it do anything in another stack of the project.
        other = self.create(
            {"handle": {"type": AWS_HANDLE}},
            sections={"outputs": {"url": {"value": ref("handle")}}},
        )
        url = ec2.signed_url(
            f"{self.running.cfn}/v1/waitcondition",
            ec2.arn_of(self.reference(other, "url")),
            "PUT",
            keys["access"],
            keys["secret"],
        )
        self.assert_error(self.put(url), 400, "InvalidParameterValue")
        answer = self.look(
            keys, self.heat.stacks.get(other).stack_name, "handle"
        )
        self.assertEqual(400, answer.status_code, answer.text)


class AgentStory(SignedStory):
    """A server whose agent asks what there is to do, does it, and reports."""

    def test_agent(self) -> None:
        for transport in ("POLL_SERVER_CFN", "POLL_SERVER_HEAT"):
            ident = self.begin(
                {
                    "machine": res(
                        "Heat::DeployedServer",
                        software_config_transport=transport,
                    ),
                    "config": res(
                        "Heat::SoftwareConfig", group="script", config="true"
                    ),
                    "deployment": res(
                        "Heat::SoftwareDeployment",
                        config=ref("config"),
                        server=ref("machine"),
                        signal_transport="CFN_SIGNAL",
                        actions=["CREATE"],
                    ),
                }
            )

            def agent(ident: str = ident) -> Any:
                found = self.heat.resources.get(ident, "machine")
                return found.attributes.get("os_collect_config")

            told = self.eventually(agent, "no configuration of the agent")
            asked = self.by_cfn if "cfn" in told else self.by_heat
            metadata = self.eventually(
                lambda told=told, asked=asked: (
                    (found := asked(told)).get("deployments") and found
                ),
                "nothing to deploy",
            )
            [config] = metadata["deployments"]
            inputs = {each["name"]: each["value"] for each in config["inputs"]}
            answer = self.put(
                inputs["deploy_signal_id"],
                {"deploy_status_code": 0},
                inputs["deploy_signal_verb"],
            )
            self.assertEqual(200, answer.status_code, answer.text)
            self.wait(ident, "CREATE_COMPLETE")

    def by_cfn(self, told: dict[str, Any]) -> Any:
        keys = {
            "access": told["cfn"]["access_key_id"],
            "secret": told["cfn"]["secret_access_key"],
        }
        name = told["cfn"]["path"].partition(".")[0]
        answer = self.look(keys, told["cfn"]["stack_name"], name)
        self.assertEqual(200, answer.status_code, answer.text)
        body = answer.json()["DescribeStackResourceResponse"]
        detail = body["DescribeStackResourceResult"]["StackResourceDetail"]
        return json.loads(detail["Metadata"])

    def by_heat(self, told: dict[str, Any]) -> Any:
        own = told["heat"]
        user = self.login(own)
        url = (
            f"{self.running.url}/v1/{own['project_id']}/stacks/"
            f"{own['stack_id']}/resources/{own['resource_name']}/metadata"
        )
        return user.get(url).json()["metadata"]

    def test_server_tells_its_agent(self) -> None:
        def server(transport: str) -> dict[str, Any]:
            return {
                "server": test_cloud.server(
                    user_data_format="SOFTWARE_CONFIG",
                    software_config_transport=transport,
                    networks=[{"allocate_network": "none"}],
                )
            }

        ident = self.create(server("POLL_SERVER_CFN"))
        made = self.physical(ident, "server")
        found = self.heat.resources.get(ident, "server")
        by_cfn = found.attributes["os_collect_config"]
        self.assertIn("cfn", self.by_cfn(by_cfn)["os-collect-config"])
        # It learns of another way by the one that it has.
        self.update(ident, server("POLL_SERVER_HEAT"))
        self.assertEqual(made, self.physical(ident, "server"))
        told = self.by_cfn(by_cfn)["os-collect-config"]
        self.assertEqual(["ec2", "heat", "local"], told["collectors"])
        self.assertNotIn("cfn", told)
        self.assertIn("os-collect-config", self.by_heat(told))
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        with self.assertRaises(keystoneauth1.exceptions.Unauthorized):
            self.by_heat(told)
        self.act(ident, "resume", "RESUME_COMPLETE")
        self.assertIn("os-collect-config", self.by_heat(told))
        project = self.heat.stacks.get(ident).stack_user_project_id
        self.delete(ident)
        domain = self.running.domain().identity
        self.assertIsNone(domain.find_project(project))


class PolicyStory(SignedStory):
    """An alarm knows nothing but a URL."""

    def test_group_grows(self) -> None:
        ident = self.create(
            {
                "group": res(
                    "Heat::AutoScalingGroup",
                    min_size=1,
                    max_size=3,
                    resource={"type": "OS::Heat::RandomString"},
                ),
                "more": res(
                    "Heat::ScalingPolicy",
                    auto_scaling_group_id=ref("group"),
                    adjustment_type="change_in_capacity",
                    scaling_adjustment=1,
                ),
            },
            sections={
                "outputs": {
                    "url": {"value": {"get_attr": ["more", "alarm_url"]}},
                    "size": {"value": {"get_attr": ["group", "current_size"]}},
                }
            },
        )
        url = self.reference(ident, "url")
        self.assert_error(
            self.put(self.forged(url), method="POST"), 403, "AccessDenied"
        )
        answer = self.put(url, {"current": "alarm"}, "POST")
        self.assertEqual(200, answer.status_code, answer.text)
        self.eventually(
            lambda: self.reference(ident, "size") == "2", "it did not grow"
        )
        self.wait(ident, "UPDATE_COMPLETE")
