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

"""Matching, redirects, bodies and the caller's project."""

from __future__ import annotations

import io

from heat.api import routes
from heat.common import exception
from heat.tests.fakes import engine
from heat.tests.unit.api import client

ROOT, S, R = client.ROOT, client.S, client.R
NEW = {"stack_name": "s", "template": client.TEMPLATE}
ARN = f"arn:openstack:heat::{engine.TENANT}:stacks/"


def url_of(route):
    filled = route.replace("{stack_name}", engine.NAME)
    filled = filled.replace("{stack_id}", engine.STACK_ID)
    filled = filled.replace("{resource_name}", "server")
    filled = filled.replace(
        "arn:{arn}", f"{ARN}{engine.NAME}/{engine.STACK_ID}"
    )
    return ROOT + filled.replace("{", "").replace("}", "")


class MethodsTest(client.ApiTestCase):
    def test_methods_that_are_not_listed(self):
        for route, methods in routes.ROUTES.items():
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"):
                if method in methods:
                    continue
                with self.subTest(route=route, method=method):
                    response = self.request(method, url_of(route))
                    self.assert_fault(response, 405, "HTTPMethodNotAllowed")
                    self.assertEqual(
                        ", ".join(methods), response.headers["Allow"]
                    )

    def test_options(self):
        for route, methods in routes.ROUTES.items():
            with self.subTest(route=route):
                response = self.request("OPTIONS", url_of(route))
                self.assertEqual(", ".join(methods), response.headers["Allow"])
                wanted = 405 if route == "/services" else 204
                self.assertEqual(wanted, response.status_code)

    def test_head(self):
        whole = self.get(S)
        response = self.request("HEAD", S)
        self.assertEqual(200, response.status_code)
        self.assertEqual(b"", response.data)
        self.assertEqual(
            whole.headers["Content-Length"], response.headers["Content-Length"]
        )

    def test_paths_that_are_not_there(self):
        for path in (
            "/v1",
            "/v1/t1/nothing",
            "/v1//stacks",
            f"{ROOT}//stacks",
            f"{ROOT}/stacks//{engine.STACK_ID}",
            f"{S}/nothing",
            "/stacks",
            f"{ROOT}/stacks/a%00b",
            f"{ROOT}/resource_types/",
        ):
            with self.subTest(path=path):
                response = self.get(path)
                if path == "/v1":
                    self.assertEqual(300, response.status_code)
                elif path.endswith("types/"):
                    self.assertEqual(200, response.status_code)
                else:
                    self.assert_fault(response, 404, "HTTPNotFound")

    def test_a_slash_at_the_end(self):
        for path in ("/stacks/", "/build_info/", f"{S[len(ROOT) :]}/"):
            self.assertEqual(200, self.get(ROOT + path).status_code, path)

    def test_every_answer_has_a_request_id(self):
        for path in ("/", S, f"{ROOT}/nothing"):
            response = self.get(path)
            self.assertTrue(
                response.headers["x-openstack-request-id"].startswith("req-")
            )


class VersionsTest(client.ApiTestCase):
    def test_versions(self):
        for path in ("/", "/v1", "/v1/", "/v2/x", "/v1.0", "/v3"):
            with self.subTest(path=path):
                response = self.get(path, base_url="http://h:1/")
                self.assertEqual(300, response.status_code)
                self.assertEqual(
                    {
                        "versions": [
                            {
                                "id": "v1.0",
                                "status": "CURRENT",
                                "links": [
                                    {"href": "http://h:1/v1/", "rel": "self"}
                                ],
                            }
                        ]
                    },
                    response.get_json(),
                )

    def test_other_methods(self):
        response = self.request("POST", "/")
        self.assert_fault(response, 405, "HTTPMethodNotAllowed")
        self.assertEqual("GET", response.headers["Allow"])
        self.assertEqual(204, self.request("OPTIONS", "/").status_code)
        self.assertEqual(300, self.request("HEAD", "/").status_code)


class LookupTest(client.ApiTestCase):
    def redirect(self, method, path, **kwargs):
        response = self.request(method, path, **kwargs)
        self.assertEqual(302, response.status_code, response.text)
        self.assertEqual(
            {"code", "message", "title"}, set(response.get_json())
        )
        return response.headers["Location"]

    def test_by_name(self):
        for route, methods in routes.ROUTES.items():
            rules = {entry.policy for entry in methods.values()}
            if rules != {"stacks:lookup"} or "{arn}" in route:
                continue
            below = route.partition("{stack_name}")[2]
            for method in methods:
                with self.subTest(route=route, method=method):
                    location = self.redirect(
                        method, f"{ROOT}/stacks/teststack{below}?a=b%20c&d"
                    )
                    self.assertEqual(
                        f"http://localhost{S}{below}?a=b%20c&d", location
                    )
                    self.assertEqual(
                        ("identify_stack", {"stack_name": "teststack"}),
                        self.call,
                    )

    def test_a_body_is_not_looked_at(self):
        self.redirect("PUT", f"{ROOT}/stacks/teststack", data=b"{not json")

    def test_by_arn(self):
        for tail in ("", "/resources/server"):
            for arn in (
                f"{ARN}teststack/id{tail}",
                f"{ARN}teststack/id{tail}".replace("/", "%2F").replace(
                    ":", "%3A"
                ),
            ):
                location = self.redirect("GET", f"{ROOT}/stacks/{arn}?x=1")
                self.assertEqual(
                    f"http://localhost{ROOT}/stacks/teststack/id{tail}?x=1",
                    location,
                )
        self.assertEqual([], self.engine.calls)

    def test_a_broken_arn(self):
        response = self.get(f"{ROOT}/stacks/arn:openstack:heat::t1:nope")
        self.assert_fault(response, 400, "ValueError", "ARN")

    def test_behind_a_proxy(self):
        headers = {
            "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "cloud.example",
            "X-Forwarded-Prefix": "/heat",
        }
        path = f"{ROOT}/stacks/teststack"
        location = self.redirect("GET", path, headers=headers)
        self.assertEqual(f"http://localhost{S}", location)
        self.believe_proxies()
        location = self.redirect("GET", path, headers=headers)
        self.assertEqual(f"https://cloud.example/heat{S}", location)

    def test_a_stack_that_is_not_there(self):
        self.engine.answers["identify_stack"] = exception.EntityNotFound(
            entity="Stack", name="x"
        )
        self.assert_fault(
            self.get(f"{ROOT}/stacks/x"), 404, "EntityNotFound", "Stack (x)"
        )


class BodyTest(client.ApiTestCase):
    conf_overrides = {"max_json_body_size": 5000}

    def create(self, **kwargs):
        return self.request("POST", f"{ROOT}/stacks", **kwargs)

    def test_what_is_not_json(self):
        for data, words in (
            (b'{"a":\n 1,}', "line 2, column"),
            (b"", "expected an object; got null"),
            (b"null", "expected an object; got null"),
            (b"[]", "expected an object; got a list"),
            (b'"text"', "expected an object"),
            (b"\xff\xfe", "not UTF-8"),
            (b'{"a": NaN}', "NaN is not a JSON number"),
            (b'{"a": 1e999}', "too large"),
            (b'{"a": ' + b"9" * 4500 + b"}", "not JSON"),
            (b'{"stack_name": "a", "x": "\\ud800"}', "surrogate"),
            (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", "nested"),
            (b"[" * 2400 + b"]" * 2400, "nested"),
        ):
            with self.subTest(data=data[:40]):
                self.assert_fault(
                    self.create(data=data), 400, "HTTPBadRequest", words
                )
        self.assertEqual([], self.engine.calls)

    def test_too_long(self):
        data = b'{"stack_name": "' + b"a" * 5000 + b'"}'
        self.assert_fault(
            self.create(data=data), 400, "RequestLimitExceeded", "5000 bytes"
        )

    def test_too_long_without_a_length(self):
        response = self.create(
            input_stream=io.BytesIO(b" " * 6000),
            environ={"wsgi.input_terminated": True},
        )
        self.assert_fault(response, 400, "RequestLimitExceeded")

    def test_chunked(self):
        response = self.create(
            input_stream=io.BytesIO(
                b'{"stack_name": "a", "template": {"x": 1}}'
            ),
            environ={"wsgi.input_terminated": True},
        )
        self.assertEqual(201, response.status_code, response.text)

    def test_any_content_type(self):
        response = self.create(
            data=b'{"stack_name": "a", "template": {"x": 1}}',
            content_type="application/octet-stream",
        )
        self.assertEqual(201, response.status_code)

    def test_names_and_rules(self):
        for change, words in (
            ({"stack_name": "1a"}, "stack_name: expected a letter, then"),
            ({"stack_name": "a\n"}, "stack_name: expected a letter, then"),
            ({"stack_name": "a" * 256}, "255 characters at most"),
            ({"stack_name": None}, "stack_name"),
            ({"timeout_mins": -1}, "number of minutes"),
            ({"timeout_mins": "abc"}, "timeout_mins"),
            ({"timeout_mins": 1.5}, "timeout_mins"),
            ({"timeout_mins": True}, "timeout_mins"),
            ({"timeout_mins": 10**30}, "timeout_mins"),
            ({"disable_rollback": "maybe"}, "disable_rollback: expected true"),
            ({"disable_rollback": 1}, "disable_rollback: expected true"),
            ({"tags": "a,,b"}, "tags: a tag may not be empty"),
            ({"tags": ["a", 3]}, "tags[1]: expected text"),
            ({"tags": ["x" * 81]}, "longer than 80"),
            ({"files": {"a": {}}}, "files.a: expected text; got an object"),
            ({"environment_files": "a"}, "environment_files: expected a list"),
            ({"parameters": []}, "parameters: expected an object or null"),
            ({"template": "["}, "template"),
            ({"template": "a scalar"}, "template: expected a map"),
            ({"template": None}, "No template specified"),
            ({"environment": "- a"}, "environment: expected a map"),
            (
                {"environment": {"parameters": None}, "parameters": {"a": 1}},
                "the section parameters",
            ),
            ({"template": None, "template_url": "file:///etc/passwd"}, "http"),
        ):
            with self.subTest(change=str(change)[:60]):
                response = self.create(json={**NEW, **change})
                self.assertEqual(400, response.status_code, response.text)
                message = response.get_json()["error"]["message"]
                self.assertIn(words, message)
        self.assertEqual([], self.engine.calls)

    def test_the_actions(self):
        for body, words in (
            ({}, "expected exactly one of suspend, resume"),
            ({"suspend": None, "check": None}, "expected exactly one of"),
            ({"dance": None}, 'unexpected "dance"; expected: suspend'),
            ({"lock": {"level": "some"}}, "lock.level: expected one of all"),
            ({"lock": {"depth": 1}}, 'lock: unexpected "depth"'),
            ({"lock": {"expires_in": 0}}, "lock.expires_in"),
        ):
            with self.subTest(body=body):
                response = self.request("POST", f"{S}/actions", json=body)
                self.assert_fault(response, 400, "HTTPBadRequest", words)

    def test_other_bodies(self):
        for method, path, body, words in (
            ("PATCH", R, {}, "mark_unhealthy is missing"),
            ("PATCH", R, {"mark_unhealthy": "x"}, "mark_unhealthy"),
            ("PATCH", R, {"mark_unhealthy": True, "a": 1}, 'unexpected "a"'),
            ("POST", f"{R}/signal", [1], "expected an object or null"),
            ("POST", f"{S}/snapshots", {"name": "x" * 256}, "at most 255"),
            ("PUT", S, {}, "No template specified"),
            ("PUT", f"{S}/preview", {}, "No template specified"),
            ("POST", f"{ROOT}/validate", {}, "No template specified"),
            ("POST", f"{ROOT}/software_deployments", {}, "is missing"),
        ):
            with self.subTest(path=path):
                response = self.request(method, path, json=body)
                self.assert_fault(response, 400, "HTTPBadRequest", words)

    def test_queries(self):
        for path, words in (
            ("/stacks?limit=-1", "limit: expected a whole number"),
            ("/stacks?limit=x", "limit"),
            ("/stacks?limit=" + "9" * 30, "limit"),
            ("/stacks?limit=%D9%A1", "limit"),
            ("/stacks?show_nested=maybe", "show_nested: expected true or"),
            ("/stacks?sort_keys=nothing", "sort_keys[0]: expected one of"),
            ("/stacks?sort_dir=up", "sort_dir: expected one of asc, desc"),
            ("/stacks?tags=a,,b", "tags[1]"),
            ("/stacks?name=a%00", "NUL"),
            (f"{S}/resources?nested_depth=x", "nested_depth"),
            (f"{S}/resources?limit=1", 'Unknown parameter "limit"'),
            (f"{S}/events?sort_keys=nothing", "sort_keys[0]"),
            ("/resource_types/x/template?template_type=y", "cfn, hot"),
        ):
            with self.subTest(path=path):
                url = path if path.startswith("/v1") else ROOT + path
                response = self.get(url)
                self.assert_fault(response, 400, "HTTPBadRequest", words)
        self.assertEqual([], self.engine.calls)
