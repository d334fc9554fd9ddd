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
"""External resources over HTTP and through the real ``openstack`` client.

The examples of the template guide are run as they stand there, with test
resources in the place of a cloud's.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any

from heat.tests.functional import base
from heat.tests.functional.test_environment_client import install_plugin, root

EXAMPLES = root() / "doc/source/template_guide/examples"
VERSION = "2018-08-31"


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": VERSION, "resources": resources}


def res(external_id: Any = None, **properties: Any) -> dict[str, Any]:
    made = {"type": "OS::Heat::TestResource", "properties": properties}
    if external_id is not None:
        made["external_id"] = external_id
    return made


class BadInputTest(base.FunctionalTest):
    def test_refused(self) -> None:
        circle = template(
            a=res({"get_resource": "b"}), b=res(value={"get_resource": "a"})
        )
        old = {**template(a=res("x")), "heat_template_version": "2016-04-08"}
        stack = {
            "type": "OS::Heat::ResourceGroup",
            "external_id": "nothing",
            "properties": {"resource_def": res()},
        }
        for body, *words in (
            (template(a=res("")), "resources.a.external_id"),
            (template(a=res(["x"])), "resources.a.external_id"),
            (template(a=res({"k": "v"})), "resources.a.external_id"),
            (old, "external_id"),
            (circle, "a", "b"),
            (template(a=stack), "resources.a.external_id", "nothing"),
        ):
            with self.subTest(body=body):
                answer = self.project.create("one", body)
                self.assert_fault(answer, 400, None, *words)
        self.assertEqual({}, self.project.stacks())

    def test_null_is_as_if_absent(self) -> None:
        made = template(a=res(value="x"))
        made["resources"]["a"]["external_id"] = None
        answer = self.project.create("one", made)
        self.assertEqual(201, answer.status_code, answer.text)
        self.project.wait("one", "CREATE_COMPLETE")
        shown = self.project.resources("one")["a"]
        self.assertNotIn("external", shown)


class ShownTest(base.FunctionalTest):
    def change(self, wish: Any, verb: str = "PUT", path: str = "") -> Any:
        where = self.project.path("one") + path
        answer = self.project.call(verb, where, {"template": template(a=wish)})
        self.assertLess(answer.status_code, 300, answer.text)
        return answer

    def test_preview_and_list(self) -> None:
        self.project.create("one", template(a=res(value="x")))
        self.project.wait("one", "CREATE_COMPLETE")
        mine = self.project.resources("one")["a"]["physical_resource_id"]
        for wish, group, ownership, text in (
            (res(mine), "updated", "becomes external", "not touched"),
            (res("other"), "replaced", "becomes external", "is let go"),
            (res(value="y"), "updated", "handed back", "in place (value)"),
        ):
            with self.subTest(group=group, ownership=ownership):
                told = self.change(wish, path="/preview").json()
                [entry] = told["resource_changes"][group]
                self.assertEqual(ownership, entry["ownership"])
                self.assertIn(text, entry["reason"])
                self.change(wish)
                self.project.wait("one", "UPDATE_COMPLETE")
                shown = self.project.resources("one")["a"]
                self.assertEqual(
                    ownership == "becomes external",
                    shown.get("external", False),
                )
        made = self.project.call(
            "POST",
            "/stacks/preview",
            {"stack_name": "two", "template": template(a=res("their"))},
        ).json()["stack"]
        [entry] = made["resources"]
        self.assertEqual("their", entry["external_id"])

    def test_refused_hand_back(self) -> None:
        self.project.create("one", template(a=res(update_replace_value="x")))
        self.project.wait("one", "CREATE_COMPLETE")
        mine = self.project.resources("one")["a"]["physical_resource_id"]
        self.change(res(mine))
        self.project.wait("one", "UPDATE_COMPLETE")
        wish = res(update_replace_value="y")
        told = self.change(wish, path="/preview").json()
        [entry] = told["resource_changes"]["updated"]
        self.assertEqual("handed back: refused", entry["reason"])
        self.assertIn("update_replace_value", entry["error"])
        self.change(wish)
        stack = self.project.wait("one", "UPDATE_FAILED")
        self.assertIn("stays external", stack["stack_status_reason"])
        self.assertTrue(self.project.resources("one")["a"]["external"])


class ClientTest(base.FunctionalTest):
    def setUp(self) -> None:
        super().setUp()
        site = tempfile.TemporaryDirectory()
        self.addCleanup(site.cleanup)
        install_plugin(pathlib.Path(site.name))
        paths = [site.name, str(root()), os.environ.get("PYTHONPATH", "")]
        self.openstack.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self.folder = pathlib.Path(site.name)

    def example(self, name: str) -> str:
        """An example whose types test resources stand in for."""
        text = (EXAMPLES / name).read_text()
        for before, after in (
            ("OS::Nova::Server", "OS::Heat::TestResource"),
            ("OS::Neutron::Net", "OS::Heat::TestResource"),
            ("      flavor: m1.tiny\n", ""),
            ("      image: cirros-like\n", ""),
            ("      networks: [{network: private}]\n", ""),
            (
                "metadata: {note: {get_param: note}}",
                "value: {get_param: note}",
            ),
            ("first_address", "output"),
            ("network, name", "network, output"),
            ("network, subnets", "network, output"),
        ):
            text = text.replace(before, after)
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def test_the_examples_and_the_register(self) -> None:
        path = self.example("own_server.yaml")
        self.openstack("stack", "create", "--wait", "-t", path, "s")
        first = self.project.outputs("s")["server_id"]
        self.openstack(
            "stack", "update", "--wait", "-t", path,
            "--parameter", "rebuilt=by-hand", "s",
        )  # fmt: skip
        self.assertEqual("by-hand", self.project.outputs("s")["server_id"])
        self.assertNotEqual("by-hand", first)
        self.openstack(
            "stack", "update", "--wait", "-t", path,
            "--parameter", "note=second", "s",
        )  # fmt: skip
        told = self.project.outputs("s")
        self.assertEqual(
            ("by-hand", "second"), (told["server_id"], told["address"])
        )
        path = self.example("existing_network.yaml")
        self.openstack(
            "stack", "create", "--wait", "-t", path,
            "--parameter", "network=theirs", "n",
        )  # fmt: skip
        listed = self.openstack("stack", "resource", "list", "n")
        self.assertEqual("theirs", listed[0]["physical_resource_id"])
        self.openstack("stack", "delete", "--wait", "-y", "n", parse=False)
        listed = self.openstack("stack", "released", "list")
        self.assertEqual(
            [("theirs", "external", "n", "network")],
            [
                (
                    each["physical_resource_id"],
                    each["reason"],
                    each["stack_name"],
                    each["resource_name"],
                )
                for each in listed
            ],
        )
        for reason, count in (("external", 1), ("retain", 0)):
            found = self.openstack(
                "stack", "released", "list", "--reason", reason
            )
            self.assertEqual(count, len(found))
