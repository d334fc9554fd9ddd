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

"""``deletion_policy: Snapshot``: no object goes without a snapshot of it."""

import pathlib
import sys

import fixtures

from heat.tests import base, inprocess

_PLUGIN = """
from heat.common import exception
from heat.engine import properties, resource

#: What was asked, and what is to fail.
seen, failing = [], {}


class Kept(resource.Resource):
    properties_schema = {}

    def _ask(self, what):
        seen.append(what)
        if what in failing:
            raise failing[what]

    def handle_create(self):
        self.resource_id_set("a")
        self._ask("create")

    def handle_snapshot(self):
        self._ask("snapshot")
        return 2

    def check_snapshot_complete(self, token):
        self._ask(f"look {token}")
        return seen.count("look 2") > 1

    def handle_delete(self):
        self._ask("delete")

    def handle_lock(self, level, reason):
        self._ask("lock")

    def handle_unlock(self):
        self._ask("unlock")


class Unlockable(resource.Resource):
    properties_schema = {}

    def handle_create(self):
        self.resource_id_set("b")

    def handle_lock(self, level, reason):
        raise Exception("no")


def resource_mapping():
    return {"Test::Kept": Kept, "Test::Unlockable": Unlockable}
"""

_SNAPSHOT = ["snapshot", "look 2", "look 2"]


class SnapshotFirstTest(base.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        pathlib.Path(folder, "kept_ones.py").write_text(_PLUGIN, "utf-8")
        self.service = self.useFixture(
            inprocess.Service(plugin_dirs=[folder], action_retry_limit=1)
        )
        made = self.service.server.engine.plugins.get("Test::Kept")
        self.module = sys.modules[made.__module__]
        self.module.failing.clear()
        self.end()

    def template(self, policy="Snapshot"):
        kept = {"type": "Test::Kept", "deletion_policy": policy}
        return {
            "heat_template_version": "2018-08-31",
            "resources": {"a": kept},
        }

    def begin(self):
        self.service.create("s", self.template())
        return self.end()

    def end(self):
        seen, self.module.seen[:] = list(self.module.seen), []
        return seen

    def delete(self, status="COMPLETE"):
        [shown] = self.service.get("/stacks?name=s")["stacks"]
        self.service.call("DELETE", f"/stacks/s/{shown['id']}")
        self.service.wait(shown["id"], f"DELETE_{status}")
        return self.end()

    def test_the_stack_is_deleted(self):
        self.begin()
        self.assertEqual([*_SNAPSHOT, "delete"], self.delete())

    def test_the_resource_is_taken_out(self):
        self.begin()
        [shown] = self.service.get("/stacks?name=s")["stacks"]
        empty = {"heat_template_version": "2018-08-31"}
        where = f"/stacks/s/{shown['id']}"
        self.service.call("PUT", where, {"template": empty})
        self.service.wait(shown["id"], "UPDATE_COMPLETE")
        self.assertEqual([*_SNAPSHOT, "delete"], self.end())

    def test_without_one_the_object_stays(self):
        self.begin()
        self.module.failing["snapshot"] = Exception("no room")
        seen = self.delete("FAILED")
        self.assertEqual({"snapshot"}, set(seen))
        self.module.failing.clear()
        self.assertEqual([*_SNAPSHOT, "delete"], self.delete())

    def test_one_is_enough(self):
        self.begin()
        self.module.failing["delete"] = Exception("busy")
        self.assertEqual(
            [*_SNAPSHOT, "delete", "delete"], self.delete("FAILED")
        )

    def test_an_object_that_is_gone(self):
        self.begin()
        gone = sys.modules["heat.common.exception"].NotFound()
        self.module.failing["snapshot"] = gone
        self.assertEqual(["snapshot", "delete"], self.delete())

    def test_an_object_that_never_was_whole(self):
        self.module.failing["create"] = Exception("broken")
        made = self.service.call(
            "POST", "/stacks", {"stack_name": "s", "template": self.template()}
        )
        stack_id = made.get_json()["stack"]["id"]
        self.service.wait(stack_id, "CREATE_FAILED")
        self.end()
        self.assertEqual(["delete"], self.delete())

    def test_another_policy(self):
        self.service.create("s", self.template("Delete"))
        self.end()
        self.assertEqual(["delete"], self.delete())

    def test_after_it_was_released(self):
        template = self.template()
        template["resources"]["b"] = {
            "type": "Test::Unlockable",
            "depends_on": "a",
        }
        stack_id = self.service.create("s", template)
        answer = self.service.call(
            "POST",
            f"/stacks/s/{stack_id}/actions",
            {"lock": {"level": "all"}},
        )
        self.assertLess(answer.status_code, 300, answer.text)
        self.service.wait(stack_id, "LOCK_FAILED")
        self.assertEqual(["create", "lock"], self.end())
        self.assertEqual(["unlock", *_SNAPSHOT, "delete"], self.delete())
