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
"""Lists of stacks, resources and events, from the request to the rows."""

from __future__ import annotations

import itertools
from urllib import parse

from werkzeug import test

from heat.api import app
from heat.db import stacks
from heat.tests import base, inprocess

HOT = {"heat_template_version": "2016-10-14"}
TWO = HOT | {
    "description": "two",
    "resources": {
        "word": {"type": "OS::Heat::RandomString"},
        "nothing": {"type": "OS::Heat::None", "depends_on": "word"},
    },
}
EMPTY = HOT | {"description": "empty"}


class ListTest(base.TestCase):
    options = {}

    def setUp(self):
        super().setUp()
        self.service = self.useFixture(
            inprocess.Service(hidden_stack_tags=["hidden"], **self.options)
        )

    def names(self, query):
        found = self.service.get(f"/stacks?{query}")["stacks"]
        return [stack["stack_name"] for stack in found]


class StackListTest(ListTest):
    def setUp(self):
        super().setUp()
        self.ids = {
            name: self.service.create(name, template, tags=tags)
            for name, template, tags in (
                ("one", EMPTY, ["red"]),
                ("two", TWO, ["red", "blue"]),
                ("three", EMPTY, ["blue", "green"]),
                ("four", EMPTY, []),
                ("veiled", EMPTY, ["hidden"]),
            )
        }
        # What no plug-in of this test makes: a stack below another.
        self.service.db.run(self._nested)
        answer = self.service.call(
            "DELETE", f"/stacks/four/{self.ids['four']}"
        )
        self.assertEqual(204, answer.status_code)
        self.service.wait(self.ids["four"], "DELETE_COMPLETE")

    def _nested(self, conn):
        found = stacks.get(conn, self.ids["one"])
        self.ids["nested"] = stacks.insert(
            conn,
            {
                "name": "nested",
                "tenant": self.service.project,
                "username": "somebody",
                "owner_id": found.id,
                "action": "UPDATE",
                "status": "FAILED",
                "raw_template_id": found.raw_template_id,
            },
        )

    def test_what_is_shown(self):
        usual = {"one", "two", "three"}
        for query, more in (
            ("", set()),
            ("show_deleted=1", {"four"}),
            ("show_nested=1", {"nested"}),
            ("show_hidden=1", {"veiled"}),
            (
                "show_deleted=1&show_nested=1&show_hidden=1",
                {"four", "nested", "veiled"},
            ),
        ):
            with self.subTest(query=query):
                self.assertEqual(usual | more, set(self.names(query)))

    def test_filters(self):
        ids = self.ids
        project = self.service.project
        for query, wanted in (
            (f"id={ids['two']}", {"two"}),
            (f"id={ids['two']}&id={ids['one']}", {"one", "two"}),
            ("name=two", {"two"}),
            ("stack_name=two", {"two"}),
            ("name=two&name=three", {"two", "three"}),
            ("name=two&id=" + ids["one"], set()),
            ("status=COMPLETE", {"one", "two", "three"}),
            ("stack_status=FAILED", set()),
            ("status=CREATE_COMPLETE", {"one", "two", "three"}),
            ("status=UPDATE_COMPLETE", set()),
            ("status=CREATE_COMPLETE&action=UPDATE", set()),
            ("status=FAILED&show_nested=1", {"nested"}),
            ("action=UPDATE&show_nested=1", {"nested"}),
            ("stack_action=CREATE", {"one", "two", "three"}),
            ("username=somebody&show_nested=1", {"nested"}),
            ("stack_owner=somebody", set()),
            (f"owner_id={ids['one']}", {"nested"}),
            (f"parent={ids['one']}", {"nested"}),
            (f"tenant={project}", {"one", "two", "three"}),
            ("tenant=other", set()),
            ("unknown=1", {"one", "two", "three"}),
        ):
            with self.subTest(query=query):
                self.assertEqual(wanted, set(self.names(query)))

    def test_tags(self):
        for query, wanted in (
            ("tags=red", {"one", "two"}),
            ("tags=red,blue", {"two"}),
            ("tags_any=red,green", {"one", "two", "three"}),
            ("not_tags=red", {"three"}),
            ("not_tags=red,blue", {"one", "three"}),
            ("not_tags_any=red,green", set()),
            ("not_tags_any=green", {"one", "two"}),
            ("tags=blue&not_tags=red", {"three"}),
            ("tags=hidden", set()),
            ("tags=hidden&show_hidden=1", {"veiled"}),
        ):
            with self.subTest(query=query):
                self.assertEqual(wanted, set(self.names(query)))

    def test_sorting(self):
        born = ["one", "two", "three"]
        names = sorted(born)
        for query, wanted in (
            ("", born[::-1]),
            ("sort_keys=stack_name&sort_dir=asc", names),
            ("sort_keys=name&sort_dir=desc", names[::-1]),
            ("sort_keys=creation_time&sort_dir=asc", born),
            ("sort_keys=created_at", born),
            ("sort_dir=asc", born),
            ("sort_keys=stack_name", names),
            ("sort_keys=stack_status,stack_name&sort_dir=asc", names),
            ("sort_keys=stack_status;stack_name&sort_dir=asc", names),
            ("sort_keys=action&sort_keys=name&sort_dir=asc", names),
            ("sort_keys=id&sort_dir=asc", sorted(born, key=self.ids.get)),
        ):
            with self.subTest(query=query):
                self.assertEqual(wanted, self.names(query))

    def test_pages(self):
        for sort in ("", "&sort_keys=name&sort_dir=asc", "&sort_keys=status"):
            with self.subTest(sort=sort):
                every = self.names(f"show_nested=1{sort}")
                seen, marker = [], ""
                while True:
                    body = self.service.get(
                        f"/stacks?limit=2&show_nested=1{sort}{marker}"
                    )
                    page = body["stacks"]
                    self.assertLessEqual(len(page), 2)
                    self.assertEqual(len(page) == 2, "links" in body)
                    if not page:
                        break
                    seen += [stack["stack_name"] for stack in page]
                    marker = f"&marker={page[-1]['id']}"
                self.assertEqual(every, seen)

    def test_a_full_page_names_the_next(self):
        query = "sort_keys=name&limit=1&tags_any=red"
        seen = []
        while query:
            body = self.service.get(f"/stacks?{query}")
            seen += [stack["stack_name"] for stack in body["stacks"]]
            [link] = body.get("links") or [None]
            if link:
                self.assertEqual("next", link["rel"])
                where, _mark, query = link["href"].partition("?")
                self.assertTrue(where.endswith("/stacks"), where)
                self.assertEqual(1, query.count("marker="))
            else:
                query = ""
        self.assertEqual(sorted(self.names("tags=red")), seen)

    def test_an_empty_page(self):
        self.assertNotIn("links", self.service.get("/stacks?limit=0"))
        self.assertEqual([], self.names("limit=0"))

    def test_count(self):
        for query, wanted in (
            ("", 3),
            ("limit=1", 3),
            ("show_deleted=1", 4),
            ("tags=red", 2),
            ("name=two", 1),
            ("name=no", 0),
        ):
            with self.subTest(query=query):
                body = self.service.get(f"/stacks?with_count=1&{query}")
                self.assertEqual(wanted, body["count"])
        self.assertNotIn("count", self.service.get("/stacks"))

    def test_all_projects(self):
        """An operator allows it by a policy; the list tells whose each is."""
        path = self.create_tempfiles(
            [("policy", '"stacks:global_index": "role:admin"\n')],
            ext=".yaml",
        )[0]
        self.service.conf.set_override(
            "policy_file", path, group="oslo_policy"
        )
        self.service.client = test.Client(
            app.make_app(self.service.conf, self.service.engine)
        )
        mine = self.service.project
        self.service.project = "other"
        theirs = self.service.create("theirs", EMPTY)
        found = self.service.get("/stacks?global_tenant=1")["stacks"]
        whose = {stack["stack_name"]: stack["project"] for stack in found}
        self.assertEqual(mine, whose["one"])
        self.assertEqual("other", whose["theirs"])
        found = self.service.get("/stacks")["stacks"]
        self.assertEqual([theirs], [stack["id"] for stack in found])

    def test_other_projects(self):
        answer = self.service.call("GET", "/stacks?global_tenant=1")
        self.assertEqual(403, answer.status_code)
        mine = self.service.project
        self.service.project = "other"
        self.assertEqual([], self.names(""))
        self.assertEqual([], self.names(f"tenant={mine}"))
        self.assertEqual(
            404,
            self.service.call("GET", f"/stacks/{self.ids['one']}").status_code,
        )

    def test_refused(self):
        for query, words in (
            ("limit=-1", "limit"),
            ("limit=x", "limit"),
            ("limit=99999999999", "limit"),
            ("sort_keys=tenant", "sort_keys"),
            ("sort_keys=owner", "sort_keys"),
            ("sort_dir=up", "sort_dir"),
            ("show_deleted=maybe", "show_deleted"),
            ("marker=nobody", "marker"),
            ("tags=,", "tags"),
        ):
            with self.subTest(query=query):
                answer = self.service.call("GET", f"/stacks?{query}")
                self.assertEqual(400, answer.status_code, answer.text)
                self.assertIn(words, answer.get_json()["error"]["message"])

    def test_detail(self):
        found = self.service.get("/stacks/detail?name=two")["stacks"]
        self.assertEqual(["two"], [stack["stack_name"] for stack in found])
        self.assertEqual(["red", "blue"], found[0]["tags"])


class CostTest(ListTest):
    def test_statements(self):
        """A list costs as much for many stacks as for one."""
        for number in range(12):
            self.service.create(f"s{number}", EMPTY, tags=["a", "b"])
        # What ends the last stack may still be at work beside one of them.
        lists = []
        for _again in range(3):
            with self.service.statements() as seen:
                found = self.service.get("/stacks?with_count=0")["stacks"]
            self.assertEqual(12, len(found))
            lists.append(list(seen))
        seen = min(lists, key=len)
        self.assertLessEqual(len(seen), 5, seen)


class ResourceListTest(ListTest):
    def test_lists(self):
        stack = f"/stacks/two/{self.service.create('two', TWO)}"
        every = self.service.get(f"{stack}/resources")["resources"]
        self.assertEqual(
            ["nothing", "word"], [each["resource_name"] for each in every]
        )
        physical = every[1]["physical_resource_id"]
        for query, wanted in (
            ("name=word", {"word"}),
            ("name=word&name=nothing", {"word", "nothing"}),
            ("type=OS::Heat::None", {"nothing"}),
            ("status=COMPLETE", {"word", "nothing"}),
            ("status=FAILED", set()),
            ("action=CREATE&type=OS::Heat::RandomString", {"word"}),
            (f"physical_resource_id={parse.quote(physical)}", {"word"}),
            ("id=nobody", set()),
            ("nested_depth=3", {"word", "nothing"}),
        ):
            with self.subTest(query=query):
                found = self.service.get(f"{stack}/resources?{query}")
                self.assertEqual(
                    wanted,
                    {each["resource_name"] for each in found["resources"]},
                )
        for query in ("strange=1", "nested_depth=x", "with_detail=maybe"):
            answer = self.service.call("GET", f"{stack}/resources?{query}")
            self.assertEqual(400, answer.status_code, query)

    def test_details(self):
        stack = f"/stacks/two/{self.service.create('two', TWO)}"
        found = self.service.get(f"{stack}/resources?with_detail=1")
        word = found["resources"][1]
        self.assertEqual(32, len(word["attributes"]["value"]))


class EventListTest(ListTest):
    def setUp(self):
        super().setUp()
        self.stack = f"/stacks/two/{self.service.create('two', TWO)}"

    def events(self, query, below=""):
        return self.service.get(f"{self.stack}{below}/events?{query}")[
            "events"
        ]

    def test_filters(self):
        every = self.events("")
        self.assertEqual(6, len(every))
        for query, wanted in (
            ("resource_name=word", 2),
            ("resource_name=word&resource_name=two", 4),
            ("resource_status=COMPLETE", 3),
            ("resource_action=CREATE", 6),
            ("resource_action=DELETE", 0),
            ("resource_type=OS::Heat::None", 2),
            ("resource_name=word&resource_status=IN_PROGRESS", 1),
            ("nested_depth=2", 6),
        ):
            with self.subTest(query=query):
                self.assertEqual(wanted, len(self.events(query)))
        self.assertEqual(2, len(self.events("", "/resources/word")))

    def test_pages_and_order(self):
        every = [event["id"] for event in self.events("")]
        self.assertEqual(
            every, [e["id"] for e in self.events("sort_dir=desc")]
        )
        self.assertEqual(
            every[::-1], [e["id"] for e in self.events("sort_dir=asc")]
        )
        seen, marker = [], ""
        for _page in itertools.count():
            page = self.events(f"limit=4{marker}")
            if not page:
                break
            seen += [event["id"] for event in page]
            marker = f"&marker={page[-1]['id']}"
        self.assertEqual(every, seen)
        names = [
            event["resource_name"]
            for event in self.events("sort_keys=resource_name&sort_dir=asc")
        ]
        self.assertEqual(sorted(names), names)

    def test_refused(self):
        for query in (
            "limit=x",
            "marker=nobody",
            "sort_keys=strange",
            "sort_dir=up",
            "nested_depth=-1",
        ):
            with self.subTest(query=query):
                answer = self.service.call(
                    "GET", f"{self.stack}/events?{query}"
                )
                self.assertEqual(400, answer.status_code, answer.text)
