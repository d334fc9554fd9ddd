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

"""The CloudFormation API in process: a fake engine, and a fake checker."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib import parse
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from werkzeug import test

from heat.api.cfn import answers, app, faults
from heat.common import context, ec2, exception, identifier
from heat.tests import base
from heat.tests.fakes import engine
from heat.tests.unit.api import client as api_client

ARN = (
    identifier.HeatIdentifier.from_dict(engine.STACK_IDENTITY)
    .resource("server")
    .arn()
)
SECRET = "secret"  # noqa: S105 - of a test


class Checker:
    """Checks signatures of version 2 as Keystone does, for one key."""

    def __init__(self) -> None:
        self.roles = ["member"]
        self.seen: list[Any] = []

    def __call__(self, signed: Any) -> context.RequestContext:
        self.seen.append(signed)
        right = ec2.signature(
            SECRET, signed.verb, signed.host, signed.path, signed.query
        )
        if signed.access != "ak" or signed.signature != right:
            raise faults.denied("no")
        return context.RequestContext(
            project_id=engine.TENANT, user_id="u", roles=self.roles
        )


class CfnTestCase(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.engine = engine.FakeEngine()
        self.checker = Checker()
        conf = api_client.make_conf(
            auth_strategy="keystone", max_json_body_size=10_000
        )
        self.client = test.Client(
            app.make_app(conf, self.engine, self.checker)
        )

    def ask(self, action: str, method: str = "GET", **given_: str) -> Any:
        """A signed action."""
        query = {
            "Action": action,
            "AWSAccessKeyId": "ak",
            "SignatureVersion": "2",
            "SignatureMethod": ec2.METHOD,
            **{name.replace("__", "."): each for name, each in given_.items()},
        }
        query["Signature"] = ec2.signature(
            SECRET, method, "localhost", "/v1/", query
        )
        where = "query_string" if method == "GET" else "data"
        return self.client.open("/v1/", method=method, **{where: query})

    def assert_error(self, answer: Any, status: int, code: str) -> Any:
        self.assertEqual(status, answer.status_code, answer.text)
        root = ElementTree.fromstring(answer.data)  # noqa: S314 - ours
        self.assertEqual(code, root.findtext("Error/Code"), answer.text)
        return root.findtext("Error/Message")


class SignalTest(CfnTestCase):
    def url(self, call: str = "waitcondition", verb: str = "PUT") -> str:
        made = ec2.signed_url(
            f"http://localhost/v1/{call}", ARN, verb, "ak", SECRET
        )
        return made.removeprefix("http://localhost")

    def test_signals(self):
        for call, verb, body, details in (
            ("waitcondition", "PUT", '{"Status": "SUCCESS"}', "map"),
            ("signal", "POST", '{"a": 1}', "map"),
            ("signal", "POST", "", None),
            # curl's type of a body that it is told nothing about.
            ("waitcondition", "PUT", "{}", "map"),
        ):
            answer = self.client.open(
                self.url(call, verb),
                method=verb,
                data=body,
                content_type="application/x-www-form-urlencoded",
            )
            self.assertEqual(200, answer.status_code, answer.text)
            name, args = self.engine.calls[-1]
            self.assertEqual("resource_signal", name)
            self.assertEqual(engine.STACK_IDENTITY, args["stack_identity"])
            self.assertEqual("server", args["resource_name"])
            wanted = json.loads(body) if details else None
            self.assertEqual(wanted, args["details"])

    def test_refused_before_the_engine_is_asked(self):
        good = self.url()
        bare = good.partition("?")[0]
        path, _mark, query = good.partition("?")
        fields = dict(parse.parse_qsl(query))
        without = {k: v for k, v in fields.items() if k != "Signature"}
        cases = (
            ("PUT", bare, 403, "AccessDenied"),
            ("PUT", f"{path}?{parse.urlencode(without)}", 403, "AccessDenied"),
            ("POST", good, 403, "AccessDenied"),
            ("PUT", good.replace("server", "other"), 403, "AccessDenied"),
            ("PUT", good + "&More=1", 403, "AccessDenied"),
            ("GET", good, 405, "InvalidAction"),
            ("DELETE", good, 405, "InvalidAction"),
            ("GET", "/v1/nowhere", 404, "InvalidAction"),
        )
        for method, url, status, code in cases:
            answer = self.client.open(url, method=method)
            self.assert_error(answer, status, code)
        self.assertEqual([], self.engine.calls)

    def test_role_is_needed(self):
        self.checker.roles = ["some_other"]
        answer = self.client.put(self.url(), data="{}")
        self.assert_error(answer, 403, "AccessDenied")
        self.checker.roles = ["heat_stack_user"]
        answer = self.client.put(self.url(), data="{}")
        self.assertEqual(200, answer.status_code)

    def test_bad_bodies(self):
        for body, code in (
            ("{", "InvalidParameterValue"),
            (b"\xff", "InvalidParameterValue"),
            ("NaN", "InvalidParameterValue"),
            ("[" * 4000 + "]" * 4000, "InvalidParameterValue"),
            ("x" * 10_001, "LimitExceeded"),
        ):
            answer = self.client.put(self.url(), data=body)
            self.assert_error(answer, 400, code)
        self.assertEqual([], self.engine.calls)

    def test_no_resource_in_the_url(self):
        stack = ARN.partition("/resources")[0]
        for arn in (stack, "arn:aws:x", f"{stack}/resources/", "nonsense"):
            url = ec2.signed_url(
                "http://localhost/v1/signal", arn, "POST", "ak", SECRET
            ).removeprefix("http://localhost")
            answer = self.client.post(url, data="{}")
            self.assert_error(answer, 400, "InvalidParameterValue")

    def test_what_keystone_is_asked(self):
        self.client.put(self.url(), data='{"a": 1}')
        [signed] = self.checker.seen
        asked = signed.credentials()
        self.assertNotIn("Signature", asked["params"])
        self.assertEqual("PUT", asked["verb"])
        self.assertEqual("localhost", asked["host"])
        self.assertEqual(f"/v1/waitcondition/{ARN}", asked["path"])
        digest = hashlib.sha256(b'{"a": 1}').hexdigest()
        self.assertEqual(digest, asked["body_hash"])

    def test_signature_in_a_header(self):
        self.client.post(
            "/",
            data={"Action": "ListStacks"},
            headers={
                "Authorization": "AWS4-HMAC-SHA256 Credential=key/2026/r/"
                "s/aws4_request, SignedHeaders=host, Signature=ab12"
            },
        )
        [signed] = self.checker.seen
        self.assertEqual("key", signed.access)
        self.assertEqual("ab12", signed.signature)


class ActionTest(CfnTestCase):
    def test_answers(self):
        stack = {"StackName": engine.NAME}
        resource = {**stack, "LogicalResourceId": "server"}
        body = {"TemplateBody": "{}", **stack}
        for action, given_, path, value in (
            ("ListStacks", {}, "StackSummaries/member/StackName", engine.NAME),
            ("DescribeStacks", {}, "Stacks/member/StackStatus",
             "CREATE_COMPLETE"),
            ("DescribeStacks", stack, "Stacks/member/DisableRollback", "true"),
            ("DescribeStackResource", resource,
             "StackResourceDetail/Metadata", '{"some_key": "value"}'),
            ("DescribeStackResources", stack,
             "StackResources/member/PhysicalResourceId", "p-1"),
            ("DescribeStackResources", {"PhysicalResourceId": "p-1"},
             "StackResources/member/ResourceType", "OS::Heat::None"),
            ("ListStackResources", stack,
             "StackResourceSummaries/member/LogicalResourceId", "server"),
            ("DescribeStackEvents", stack, "StackEvents/member/EventId",
             engine.EVENT_ID),
            ("CreateStack", body, "StackId", None),
            ("UpdateStack", body, "StackId", None),
            ("DeleteStack", stack, ".", ""),
            ("CancelUpdateStack", stack, ".", ""),
            ("EstimateTemplateCost", body, "Url", ""),
            ("ValidateTemplate", body, "Capabilities", ""),
        ):  # fmt: skip
            for method in ("GET", "POST"):
                answer = self.ask(action, method, **given_)
                self.assertEqual(200, answer.status_code, answer.text)
                root = ElementTree.fromstring(answer.data)  # noqa: S314
                found = root.findtext(f"{action}Result/{path}")
                if value is None:
                    self.assertTrue(found.startswith("arn:"), found)
                else:
                    self.assertEqual(value, found, action)

    def test_parameters(self):
        self.ask(
            "CreateStack",
            StackName="new",
            TemplateBody='{"HeatTemplateFormatVersion": "2012-12-12"}',
            TimeoutInMinutes="5",
            OnFailure="ROLLBACK",
            Parameters__member__2__ParameterKey="b",
            Parameters__member__2__ParameterValue="2",
            Parameters__member__1__ParameterKey="a",
            Parameters__member__1__ParameterValue="1",
        )
        name, args = self.engine.calls[-1]
        self.assertEqual("create_stack", name)
        self.assertEqual({"a": "1", "b": "2"}, args["params"]["parameters"])
        self.assertEqual(5, args["args"]["timeout_mins"])
        self.assertFalse(args["args"]["disable_rollback"])

    def test_mistakes(self):
        stack = {"StackName": "s"}
        for action, given_, code in (
            ("Fly", {}, "InvalidAction"),
            ("GetTemplate", {}, "MissingParameter"),
            ("DescribeStackResource", stack, "MissingParameter"),
            ("DescribeStackResources", {}, "MissingParameter"),
            ("DescribeStackResources",
             {**stack, "PhysicalResourceId": "p"},
             "InvalidParameterCombination"),
            ("GetTemplate", {"StackName": "arn:x"}, "InvalidParameterValue"),
            ("CreateStack", stack, "MissingParameter"),
            ("CreateStack", {**stack, "TemplateBody": "{"},
             "InvalidParameterValue"),
            ("CreateStack",
             {**stack, "TemplateBody": "{}", "TimeoutInMinutes": "soon"},
             "InvalidParameterValue"),
            ("CreateStack",
             {**stack, "TemplateBody": "{}", "OnFailure": "CRY"},
             "InvalidParameterValue"),
            ("CreateStack",
             {**stack, "TemplateBody": "{}", "OnFailure": "DELETE",
              "DisableRollback": "true"},
             "InvalidParameterCombination"),
        ):  # fmt: skip
            self.assert_error(self.ask(action, **given_), 400, code)
        self.assert_error(self.client.get("/"), 400, "MissingParameter")

    def test_json(self):
        answer = self.ask("ListStacks", ContentType="JSON")
        body = answer.get_json()["ListStacksResponse"]
        listed = body["ListStacksResult"]["StackSummaries"]
        self.assertEqual(engine.NAME, listed[0]["StackName"])
        answer = self.client.get("/?Action=Fly&ContentType=JSON")
        error = answer.get_json()["ErrorResponse"]["Error"]
        self.assertEqual("InvalidAction", error["Code"])


class FaultTest(base.TestCase):
    def test_table(self):
        for error, status, code in (
            (exception.EntityNotFound(entity="Stack", name="x"), 400,
             "InvalidParameterValue"),
            (exception.Forbidden(), 403, "AccessDenied"),
            (exception.StackExists(stack_name="x"), 400, "AlreadyExists"),
            (exception.ActionInProgress(stack_name="x", action="y"), 400,
             "ActionInProgress"),
            (ValueError("bad"), 400, "InvalidParameterValue"),
            (RuntimeError("secret"), 500, "InternalFailure"),
        ):  # fmt: skip
            found = faults.of(error, "req-1")
            self.assertEqual((status, code), (found.status, found.code))
            self.assertNotIn("secret", found.message)


class XmlTest(base.TestCase):
    def test_forms(self):
        made = answers.to_xml(
            {"A": {"L": [1, {"B": True}], "N": None, "T": "<&>", "E": []}}
        )
        root = ElementTree.fromstring(made)  # noqa: S314 - ours
        self.assertEqual("1", root.findtext("L/member"))
        self.assertEqual("true", root.findtext("L/member/B"))
        self.assertIsNone(root.find("N"))
        self.assertEqual("<&>", root.findtext("T"))
        self.assertIsNotNone(root.find("E"))

    @given(st.text())
    def test_any_text(self, text):
        """Whatever a server reports, the answer can be read."""
        root = ElementTree.fromstring(  # noqa: S314 - ours
            answers.to_xml({"A": {"B": text}})
        )
        self.assertLessEqual(len(root.findtext("B")), len(text))
