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

"""Everything a user can get wrong: refused at once, and nothing is stored.

Each row: a name, the body, words that the message must have (the place, what
is wrong, the remedy), the status, and the class in ``error.type`` (None: any).
After each, the list of the project's stacks is what it was before.
"""

from __future__ import annotations

import dataclasses
import json
import time
import uuid
from typing import Any

from heat.tests.functional import base

VERSION = "2021-04-16"


def hot(**sections: Any) -> dict[str, Any]:
    return {"heat_template_version": VERSION, **sections}


def value(content: Any, **keys: Any) -> dict[str, Any]:
    return {
        "type": "OS::Heat::Value",
        "properties": {"value": content},
        **keys,
    }


GOOD = hot(
    parameters={
        "size": {
            "type": "number",
            "constraints": [{"range": {"min": 1, "max": 9}}],
        }
    },
    resources={"one": value({"get_param": "size"})},
)


@dataclasses.dataclass
class Mistake:
    name: str
    body: Any
    words: tuple[str, ...] = ()
    status: int = 400
    error: str | None = None


def create(template: Any, **body: Any) -> dict[str, Any]:
    return {"stack_name": "bad", "template": template, **body}


BODIES = (
    Mistake("no body at all", None),
    Mistake("a list", []),
    Mistake("a text", "stack"),
    Mistake("no name", {"template": GOOD}, ("stack_name",)),
    Mistake("a name that is a number", create(GOOD) | {"stack_name": 7}),
    Mistake("no template", {"stack_name": "bad"}, ("template",)),
    Mistake("a template that is a list", create([])),
    Mistake("a template that is a number", create(7)),
    Mistake(
        "parameters that are a list",
        create(GOOD, parameters=["size"]),
        ("parameters",),
    ),
    Mistake(
        "files that are a list", create(GOOD, files=["a.yaml"]), ("files",)
    ),
    Mistake(
        "a timeout that is no number",
        create(GOOD, parameters={"size": 1}, timeout_mins="soon"),
        ("timeout_mins",),
    ),
    Mistake(
        "a timeout that is negative",
        create(GOOD, parameters={"size": 1}, timeout_mins=-1),
        ("timeout_mins",),
    ),
    Mistake(
        "disable_rollback that is a word",
        create(GOOD, parameters={"size": 1}, disable_rollback="perhaps"),
        ("disable_rollback",),
    ),
    Mistake(
        "tags with a comma inside one",
        create(GOOD, parameters={"size": 1}, tags=["a,b"]),
        ("tag",),
    ),
    Mistake(
        "a tag that is too long",
        create(GOOD, parameters={"size": 1}, tags="a" * 81),
        ("tag",),
    ),
)

NAMES = (
    "1starts-with-digit",
    "has space",
    "sl/ash",
    "-dash",
    "ümlaut",
    "new\nline",
    "a" * 256,
    "",
)

TEMPLATES = (
    Mistake("nothing", create({}), ("template",)),
    Mistake("no version", create({"resources": {}}), ("version",)),
    Mistake(
        "an unknown version",
        create({"heat_template_version": "1999-01-01"}),
        ("1999-01-01", VERSION),
    ),
    Mistake(
        "an unknown section",
        create(hot(resource={})),
        ("resource",),
    ),
    Mistake(
        "resources that are a list",
        create(hot(resources=["one"])),
        ("resources",),
    ),
    Mistake(
        "a resource that is a text",
        create(hot(resources={"one": "OS::Heat::None"})),
        ("one",),
    ),
    Mistake(
        "a resource without a type",
        create(hot(resources={"one": {"properties": {}}})),
        ("one", "type"),
    ),
    Mistake(
        "an unknown key of a resource",
        create(hot(resources={"one": {"type": "OS::Heat::None", "typ": 1}})),
        ("one", "typ"),
    ),
    Mistake(
        "an unknown resource type",
        create(hot(resources={"one": {"type": "OS::No::Such"}})),
        ("one", "OS::No::Such"),
        status=0,
    ),
    Mistake(
        "an unknown property",
        create(
            hot(
                resources={
                    "one": {
                        "type": "OS::Heat::Value",
                        "properties": {"value": 1, "valeu": 2},
                    }
                }
            )
        ),
        ("one", "valeu"),
    ),
    Mistake(
        "a required property is missing",
        create(hot(resources={"one": {"type": "OS::Heat::Value"}})),
        ("one", "value"),
    ),
    Mistake(
        "a property of the wrong type",
        create(
            hot(
                resources={
                    "one": {
                        "type": "OS::Heat::RandomString",
                        "properties": {"length": "long"},
                    }
                }
            )
        ),
        ("one", "length", "long"),
    ),
    Mistake(
        "a property out of range",
        create(
            hot(
                resources={
                    "one": {
                        "type": "OS::Heat::RandomString",
                        "properties": {"length": 100000},
                    }
                }
            )
        ),
        ("one", "length"),
    ),
    Mistake(
        "two resources in a circle",
        create(
            hot(
                resources={
                    "one": value({"get_attr": ["two", "value"]}),
                    "two": value({"get_attr": ["one", "value"]}),
                }
            )
        ),
        ("one", "two"),
    ),
    Mistake(
        "a resource that depends on itself",
        create(hot(resources={"one": value(1, depends_on="one")})),
        ("one",),
    ),
    Mistake(
        "a circle of three by depends_on",
        create(
            hot(
                resources={
                    "one": value(1, depends_on=["two"]),
                    "two": value(1, depends_on=["three"]),
                    "three": value(1, depends_on=["one"]),
                }
            )
        ),
        ("one", "two", "three"),
    ),
    Mistake(
        "get_resource of nothing",
        create(hot(resources={"one": value({"get_resource": "ghost"})})),
        ("one", "ghost"),
    ),
    Mistake(
        "get_attr of nothing",
        create(hot(resources={"one": value({"get_attr": ["ghost", "x"]})})),
        ("one", "ghost"),
    ),
    Mistake(
        "depends_on nothing",
        create(hot(resources={"one": value(1, depends_on="ghost")})),
        ("one", "ghost"),
    ),
    Mistake(
        "an unknown attribute",
        create(
            hot(
                resources={
                    "one": value(1),
                    "two": value({"get_attr": ["one", "ghost"]}),
                }
            )
        ),
        ("ghost",),
    ),
    Mistake(
        "get_param of nothing",
        create(hot(resources={"one": value({"get_param": "ghost"})})),
        ("ghost",),
    ),
    Mistake(
        "an output without a value",
        create(hot(outputs={"out": {"description": "none"}})),
        ("out", "value"),
    ),
    Mistake(
        "an output about nothing",
        create(hot(outputs={"out": {"value": {"get_resource": "ghost"}}})),
        ("out", "ghost"),
    ),
    Mistake(
        "a function with wrong arguments",
        create(hot(resources={"one": value({"list_join": ["x"]})})),
        ("list_join",),
    ),
    Mistake(
        "a parameter of an unknown type",
        create(hot(parameters={"size": {"type": "float"}})),
        ("size", "float"),
    ),
    Mistake(
        "an unknown constraint",
        create(
            hot(
                parameters={
                    "size": {
                        "type": "number",
                        "constraints": [{"ranch": {"min": 1}}],
                    }
                }
            )
        ),
        ("size", "ranch"),
    ),
    Mistake(
        "a deletion policy that is none",
        create(hot(resources={"one": value(1, deletion_policy="burn")})),
        ("one", "burn"),
    ),
    Mistake(
        "a resource name with a slash",
        create(hot(resources={"a/b": value(1)})),
        ("a/b",),
    ),
)

PARAMETERS = (
    Mistake("missing", create(GOOD), ("size",), error="UserParameterMissing"),
    Mistake(
        "unknown",
        create(GOOD, parameters={"size": 1, "ghost": 2}),
        ("ghost",),
        error="UnknownUserParameter",
    ),
    Mistake(
        "of the wrong type",
        create(GOOD, parameters={"size": "big"}),
        ("size", "big"),
    ),
    Mistake(
        "out of range", create(GOOD, parameters={"size": 10}), ("size", "9")
    ),
    Mistake(
        "unknown section of the environment",
        create(GOOD, environment={"parameter": {"size": 1}}),
        ("parameter",),
    ),
    Mistake(
        "a section of the environment that is null",
        create(GOOD, environment={"parameters": None}),
        ("parameters",),
    ),
    Mistake(
        "an environment that is a list", create(GOOD, environment=["size"])
    ),
)

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


class BadInputTest(base.FunctionalTest):
    def setUp(self) -> None:
        super().setUp()
        self.assertEqual({}, self.project.stacks())

    def check(self, mistakes: tuple[Mistake, ...]) -> None:
        for mistake in mistakes:
            with self.subTest(mistake.name):
                got = self.project.call("POST", "/stacks", mistake.body)
                self.refused(got, mistake)
                self.assertEqual({}, self.project.stacks())

    def refused(self, got: Any, mistake: Mistake) -> None:
        if not mistake.status:
            # Which 4xx it is, is another test's business.
            self.assertIn(got.status_code, range(400, 500), got.text)
            mistake.status = got.status_code
        self.assert_fault(got, mistake.status, mistake.error, *mistake.words)

    def test_bodies(self):
        self.check(BODIES)

    def test_templates(self):
        self.check(TEMPLATES)

    def test_parameters(self):
        self.check(PARAMETERS)

    def test_names(self):
        for name in NAMES:
            with self.subTest(name[:20]):
                body = create(GOOD, parameters={"size": 1})
                got = self.project.call(
                    "POST", "/stacks", body | {"stack_name": name}
                )
                self.assert_fault(got, 400, None)
                self.assertEqual({}, self.project.stacks())

    def test_malformed_json(self):
        for text in ("{", '{"stack_name": "bad",}', "\xff\xfe", "nul"):
            with self.subTest(text):
                got = self.project.call(
                    "POST",
                    "/stacks",
                    data=text.encode("latin-1"),
                    headers={"Content-Type": "application/json"},
                )
                self.assert_fault(got, 400, None)

    def test_malformed_yaml_names_the_line(self):
        text = f"heat_template_version: {VERSION}\nresources:\n  one: [\n"
        got = self.project.create("bad", text)
        self.assert_fault(got, 400, None, "line")
        self.assertEqual({}, self.project.stacks())

    def test_yaml_that_would_run_code(self):
        text = (
            f"heat_template_version: {VERSION}\n"
            "description: !!python/object/apply:os.getcwd []\n"
        )
        got = self.project.create("bad", text)
        self.assert_fault(got, 400, None)
        self.assertEqual({}, self.project.stacks())

    def test_alias_bomb(self):
        """A few hundred bytes that stand for 9 ** 12 words."""
        for what, body in (
            ("template", create(BOMB)),
            (
                "environment",
                create(GOOD, environment=f"parameters:\n  size: 1\n{BOMB}"),
            ),
        ):
            with self.subTest(what):
                began = time.monotonic()
                got = self.project.call("POST", "/stacks", body)
                self.assert_fault(got, 400, None)
                self.assertLess(time.monotonic() - began, 10)
                self.assertEqual({}, self.project.stacks())

    def test_too_deep(self):
        text = f"heat_template_version: {VERSION}\ndescription: "
        got = self.project.create("bad", text + "[" * 5000 + "]" * 5000)
        self.assert_fault(got, 400, None)
        self.assertEqual({}, self.project.stacks())

    def test_too_large_a_template(self):
        text = f"heat_template_version: {VERSION}\ndescription: "
        got = self.project.create("bad", text + "x" * (5 << 20))
        self.assert_fault(got, 400, None, str(4 << 20))
        self.assertEqual({}, self.project.stacks())

    def test_too_large_a_body(self):
        body = json.dumps(create(GOOD, files={"f": "x" * (33 << 20)}))
        got = self.project.call("POST", "/stacks", data=body.encode())
        self.assertIn(got.status_code, (400, 413), got.text)
        self.assertEqual({}, self.project.stacks())

    def test_too_many_resources(self):
        many = {f"r{n}": {"type": "OS::Heat::None"} for n in range(1001)}
        got = self.project.create("bad", hot(resources=many))
        self.assertIn(got.status_code, (400, 403), got.text)
        self.assert_fault(got, got.status_code, None, "1000")
        self.assertEqual({}, self.project.stacks())

    def test_validate_says_the_same(self):
        for mistake in TEMPLATES:
            with self.subTest(mistake.name):
                body = {"template": mistake.body["template"]}
                got = self.project.call("POST", "/validate", body)
                self.assertIn(got.status_code, range(400, 500), got.text)


class BadReferenceTest(base.FunctionalTest):
    """Requests about stacks that are not there, or not in that state."""

    def make(self, name: str = "good") -> dict[str, Any]:
        got = self.project.create(name, GOOD, parameters={"size": 1})
        self.assertEqual(201, got.status_code, got.text)
        return self.project.wait(name, "CREATE_COMPLETE")

    def test_unknown_stack(self):
        nowhere = f"/stacks/ghost/{uuid.uuid4()}"
        body = {"template": GOOD, "parameters": {"size": 1}}
        for method, path in (
            ("GET", "/stacks/ghost"),
            ("DELETE", "/stacks/ghost"),
            ("PUT", "/stacks/ghost"),
            ("PATCH", "/stacks/ghost"),
            ("GET", "/stacks/ghost/resources"),
            ("GET", nowhere),
            ("DELETE", nowhere),
            ("PUT", nowhere),
            ("PATCH", nowhere),
            ("GET", f"{nowhere}/resources"),
            ("GET", f"{nowhere}/events"),
            ("GET", f"{nowhere}/outputs"),
            ("GET", f"{nowhere}/template"),
        ):
            with self.subTest(f"{method} {path}"):
                wanted = body if method in ("PUT", "PATCH") else None
                got = self.project.call(method, path, wanted)
                self.assert_fault(got, 404, "EntityNotFound")

    def test_stack_of_another_project(self):
        made = self.make()
        other = base.Project(self.url)
        path = f"/stacks/good/{made['id']}"
        for method in ("GET", "DELETE"):
            for place in ("/stacks/good", path):
                with self.subTest(f"{method} {place}"):
                    got = other.call(method, place)
                    self.assertIn(got.status_code, (403, 404), got.text)
                    self.assertNotIn("size", got.text)
        self.assertEqual({}, other.stacks())
        self.assertEqual({"good": "CREATE_COMPLETE"}, self.project.stacks())

    def test_unknown_parts_of_a_stack(self):
        self.make()
        path = self.project.path("good")
        for place in ("resources/ghost", "outputs/ghost", "events/ghost"):
            with self.subTest(place):
                got = self.project.call("GET", f"{path}/{place}")
                self.assertEqual(404, got.status_code, got.text)

    def test_name_that_is_taken(self):
        self.make()
        got = self.project.create("good", GOOD, parameters={"size": 2})
        self.assert_fault(got, 409, "StackExists", "good")
        self.assertEqual({"good": "CREATE_COMPLETE"}, self.project.stacks())

    def test_update_with_a_mistake_changes_nothing(self):
        self.make()
        before = self.project.stack("good")
        for mistake in (*TEMPLATES, *PARAMETERS):
            with self.subTest(mistake.name):
                body = dict(mistake.body)
                del body["stack_name"]
                got = self.project.call("PUT", "/stacks/good", body)
                self.assertIn(got.status_code, range(400, 500), got.text)
                self.assertEqual(before, self.project.stack("good"))

    def test_unknown_route_and_method(self):
        self.assertEqual(404, self.project.call("GET", "/nope").status_code)
        got = self.project.call("DELETE", "/stacks")
        self.assertEqual(405, got.status_code, got.text)
        self.assertIn("POST", got.headers["Allow"])

    def test_bad_queries(self):
        for query in ("limit=-1", "limit=some", "sort_dir=up"):
            with self.subTest(query):
                got = self.project.call("GET", f"/stacks?{query}")
                self.assert_fault(got, 400, None)

    def test_unknown_action(self):
        self.make()
        path = self.project.path("good")
        for body in ({"dance": None}, {}, {"check": None, "suspend": None}):
            with self.subTest(str(body)):
                got = self.project.call("POST", f"{path}/actions", body)
                self.assert_fault(got, 400, None)

    def test_update_of_a_stack_that_is_being_deleted(self):
        slow = hot(
            resources={
                "slow": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"action_wait_secs": {"delete": 4}},
                }
            }
        )
        got = self.project.create("going", slow)
        self.assertEqual(201, got.status_code, got.text)
        self.project.wait("going", "CREATE_COMPLETE")
        path = self.project.path("going")
        self.assertEqual(204, self.project.delete("going").status_code)
        self.project.wait("going", "DELETE_IN_PROGRESS")
        for method in ("PUT", "PATCH"):
            with self.subTest(method):
                got = self.project.call(method, path, {"template": slow})
                self.assertIn(got.status_code, (400, 409), got.text)
                self.assert_fault(got, got.status_code, None)
        # A second delete is no mistake.
        self.assertEqual(204, self.project.call("DELETE", path).status_code)
        self.project.wait_gone("going")
