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

"""What is read for a request: enough for a right answer, and no more."""

from __future__ import annotations

from heat.tests import base, inprocess


def value(text, **more):
    return {"type": "OS::Heat::Value", "properties": {"value": text}} | more


def template(outputs, count=8, **resources):
    made = {f"r{n}": value(f"v{n}") for n in range(count)}
    return {
        "heat_template_version": "2018-08-31",
        "parameters": {"which": {"type": "string", "default": "r7"}},
        "resources": made | resources,
        "outputs": {
            name: {"value": snippet} for name, snippet in outputs.items()
        },
    }


def read(service, path):
    """What is answered, and the statements that it takes.

    The engine has statements of its own now and then, too.
    """
    counts = []
    for _time in range(3):
        with service.statements() as seen:
            body = service.get(path)
        counts.append(len(seen))
    return body, min(counts)


class ReadingTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(inprocess.Service())

    def outputs(self, path, statements):
        found, most = read(self.service, path)
        self.assertLessEqual(most, statements)
        shown = found["stack"]["outputs"]
        return {each["output_key"]: each["output_value"] for each in shown}

    def test_outputs_that_refer_to_few(self):
        made = template(
            {
                "one": {"get_attr": ["r1", "value"]},
                "chosen": {"get_attr": [{"get_param": "which"}, "value"]},
                "fixed": "text",
                "off": {"get_resource": "off"},
            },
            conditions={"no": {"equals": [1, 2]}},
            off=value("x", condition="no"),
        )
        conditions = made["resources"].pop("conditions")
        stack_id = self.service.create("s", made | {"conditions": conditions})
        # On SQLite the transaction begins with a statement, too.
        self.assertEqual(
            {"one": "v1", "chosen": "v7", "fixed": "text", "off": None},
            self.outputs(f"/stacks/s/{stack_id}", 5),
        )

    def test_outputs_that_refer_to_all(self):
        names = [f"r{n}" for n in range(8)]
        stack_id = self.service.create(
            "s",
            template({name: {"get_attr": [name, "value"]} for name in names}),
        )
        self.assertEqual(
            {name: f"v{name[1:]}" for name in names},
            self.outputs(f"/stacks/s/{stack_id}", 5),
        )

    def test_one_resource(self):
        needs = value({"get_attr": ["r1", "value"]})
        stack_id = self.service.create(
            "s", template({}, a=needs, b=value("x", depends_on=["r1"]))
        )
        path = f"/stacks/s/{stack_id}/resources"
        for name, expected, needed_by in (
            ("r1", "v1", ["a", "b"]),
            ("a", "v1", []),
        ):
            shown = self.service.get(f"{path}/{name}")["resource"]
            self.assertEqual(expected, shown["attributes"]["value"])
            self.assertEqual(needed_by, shown["required_by"])
        listed = self.service.get(path)["resources"]
        self.assertEqual(10, len(listed))
        for each in listed:
            name = each["resource_name"]
            one = self.service.get(f"{path}/{name}")["resource"]
            del one["attributes"], one["description"]
            self.assertEqual(one, each)

    def test_a_resource_that_is_a_stack(self):
        stack_id = self.service.create(
            "s",
            template(
                {},
                group={
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {"count": 1, "resource_def": value("x")},
                },
            ),
        )
        path = f"/stacks/s/{stack_id}/resources"
        for query in ("", "?nested_depth=1", "/group"):
            found = self.service.get(path + query)
            [group] = [
                each
                for each in found.get("resources", [found.get("resource")])
                if each["resource_name"] == "group"
            ]
            self.assertIn(
                "nested", {link["rel"] for link in group["links"]}, query
            )


class ManyTest(base.TestCase):
    """More stacks than are asked for their tags by name."""

    def test_tags_and_locks(self):
        service = self.useFixture(inprocess.Service())
        empty = {"heat_template_version": "2018-08-31"}
        ids = {}
        for number in range(25):
            name = f"s{number}"
            tags = ["a", name] if number % 2 else []
            ids[name] = service.create(name, empty, tags=tags)
        locked = service.call(
            "POST",
            f"/stacks/s3/{ids['s3']}/actions",
            {"lock": {"level": "stacks", "reason": "why"}},
        )
        self.assertLess(locked.status_code, 300, locked.text)
        service.wait(ids["s3"], "LOCK_COMPLETE")
        body, most = read(service, "/stacks")
        self.assertLessEqual(most, 5)
        found = body["stacks"]
        self.assertEqual(
            {f"s{n}": ["a", f"s{n}"] if n % 2 else None for n in range(25)},
            {each["stack_name"]: each["tags"] for each in found},
        )
        locks = {each["stack_name"]: each["lock"] for each in found}
        self.assertEqual("why", locks.pop("s3")["reason"])
        self.assertEqual({None}, set(locks.values()))
        page = service.get("/stacks?limit=23&sort_keys=name")["stacks"]
        for each in page:
            self.assertEqual(
                [x for x in found if x["id"] == each["id"]], [each]
            )
