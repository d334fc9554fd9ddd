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
"""Lists as the openstack command asks for them."""

from __future__ import annotations

from typing import Any

from heat.tests.functional import base

TEMPLATE = """
heat_template_version: 2016-10-14
description: two
resources:
  word: {type: OS::Heat::RandomString}
  nothing: {type: OS::Heat::None, depends_on: word}
"""


class ClientListTest(base.FunctionalTest):
    """One story, as each command starts a program."""

    def setUp(self) -> None:
        super().setUp()
        for name, tags in (("one", "red"), ("two", "red,blue"), ("three", "")):
            body: dict[str, Any] = {"stack_name": name, "template": TEMPLATE}
            if tags:
                body["tags"] = tags
            answer = self.project.call("POST", "/stacks", body)
            self.assertEqual(201, answer.status_code, answer.text)
            self.project.wait(name, "CREATE_COMPLETE")

    def names(self, *args: object) -> list[str]:
        rows = self.openstack("stack", "list", *args)
        return [row["Stack Name"] for row in rows]

    def events(self, *args: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.openstack(
            "stack", "event", "list", *args
        )
        return found

    def test_stack_list(self) -> None:
        born = ["three", "two", "one"]
        two = self.project.stack("two")["id"]
        for args, wanted in (
            ((), born),
            (("--property", "stack_name=two"), ["two"]),
            (
                ("--property", "name=two", "--property", "status=COMPLETE"),
                ["two"],
            ),
            (("--property", f"id={two}"), ["two"]),
            (("--property", "status=FAILED"), []),
            (("--tags", "red,blue"), ["two"]),
            (("--tags", "red", "--tag-mode", "any"), ["two", "one"]),
            (("--tags", "blue", "--tag-mode", "not"), ["three", "one"]),
            (("--sort", "stack_name:asc"), ["one", "three", "two"]),
            (("--sort", "stack_status:asc,creation_time:desc"), born),
            (("--limit", "2"), born[:2]),
            (("--limit", "2", "--marker", two), ["one"]),
            (("--hidden",), born),
        ):
            with self.subTest(args=args):
                self.assertEqual(wanted, self.names(*args))

    def test_event_list(self) -> None:
        every = self.events("two")
        self.assertEqual(6, len(every))
        for args, wanted in (
            (("--filter", "resource_name=word"), 2),
            (("--filter", "resource_status=COMPLETE"), 3),
            (("--resource", "word"), 2),
            (("--limit", "4"), 4),
            (("--nested-depth", "2"), 6),
        ):
            with self.subTest(args=args):
                self.assertEqual(wanted, len(self.events(*args, "two")))
        backwards = self.events("--sort", "event_time:desc", "two")
        self.assertEqual(
            [each["resource_name"] for each in every],
            [each["resource_name"] for each in reversed(backwards)],
        )

    def test_resource_list(self) -> None:
        for args, wanted in (
            ((), {"word", "nothing"}),
            (("--filter", "type=OS::Heat::None"), {"nothing"}),
            (("--filter", "name=word"), {"word"}),
            (("--long",), {"word", "nothing"}),
        ):
            with self.subTest(args=args):
                rows = self.openstack(
                    "stack", "resource", "list", *args, "two"
                )
                self.assertEqual(
                    wanted, {row["resource_name"] for row in rows}
                )

    def test_types_and_versions(self) -> None:
        def types(*args: object) -> set[str]:
            rows = self.openstack(
                "orchestration", "resource", "type", "list", *args
            )
            return {row["Resource Type"] for row in rows}

        every = types()
        self.assertLessEqual(
            {"OS::Heat::Value", "OS::Nova::Server", "AWS::EC2::Instance"},
            every,
        )
        self.assertIn("OS::Neutron::Net", types("--filter", "name=OS::Neu"))
        self.assertNotIn(
            "OS::Heat::Value", types("--filter", "support_status=DEPRECATED")
        )
        shown = self.openstack(
            "orchestration", "resource", "type", "show", "OS::Trove::Cluster"
        )
        self.assertEqual("OS::Trove::Cluster", shown["resource_type"])
        made = self.openstack(
            *("orchestration", "resource", "type", "show"),
            *("--template-type", "hot", "OS::Swift::Container"),
        )
        self.assertIn("Container", made["resources"])
        versions = self.openstack(
            "orchestration", "template", "version", "list"
        )
        self.assertEqual(13, len({version["Version"] for version in versions}))
        functions = self.openstack(
            *("orchestration", "template", "function", "list"),
            "HeatTemplateFormatVersion.2012-12-12",
        )
        self.assertIn("Fn::FindInMap", {row["Functions"] for row in functions})
