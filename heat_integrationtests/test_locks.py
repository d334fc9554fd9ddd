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
"""LOCK and UNLOCK with heat-api and two engines, over real services.

A resource type of the test's own can be locked; its objects are files, so
that what was locked outlives the engine that did it.
"""

from __future__ import annotations

import concurrent.futures
import json
import threading
import time
from typing import Any

from heat.tests.functional import base, deployment
from heat_integrationtests import test_stories

ROUNDS, AT_ONCE = 200, 4
PLUGIN = '''
import pathlib
import time

from heat.engine import properties, resource


class Lockable(resource.Resource):
    """An object that is a file, and whose lock is another."""

    properties_schema = {
        "folder": properties.Schema("String", "Where.", required=True),
        "seconds": properties.Schema("Number", "How long.", default=0),
    }

    def _lock(self):
        folder = pathlib.Path(self.properties["folder"])
        return folder / (self.resource_id + ".lock")

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())

    def handle_delete(self):
        pass

    def find_lock_state(self):
        return {"locked": self._lock().exists()}

    def handle_lock(self, level, reason):
        self._lock().touch()
        return time.time() + self.properties["seconds"]

    def check_lock_complete(self, token):
        return time.time() >= token

    def handle_unlock(self):
        if not self.lock_found["locked"]:
            self._lock().unlink(missing_ok=True)
        return time.time() + self.properties["seconds"]

    check_unlock_complete = check_lock_complete


def resource_mapping():
    return {"Test::Lockable": Lockable}
'''


def template(resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": resources,
        **more,
    }


def res(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": properties}


class LockCase(base.FunctionalTest):
    kind = "lockable"
    running: deployment.Cluster

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        made = deployment.Cluster(
            test_stories.address(test_stories.MYSQL),
            test_stories.address(test_stories.RABBIT),
            engines=2,
        )
        plugins = made.folder / "plugins"
        plugins.mkdir()
        (plugins / "lockable.py").write_text(PLUGIN)
        made.options = (f"plugin_dirs = {plugins}",)
        return made

    def setUp(self) -> None:
        super().setUp()
        self.objects = self.running.folder / self.project.id
        self.objects.mkdir()

    def lockable(self, seconds: float = 0) -> dict[str, Any]:
        return {
            "type": "Test::Lockable",
            "properties": {"folder": str(self.objects), "seconds": seconds},
        }

    def locked(self) -> set[str]:
        """Objects that are locked, by what they are called."""
        return {each.stem for each in self.objects.glob("*.lock")}

    def make(
        self,
        name: str,
        resources: dict[str, Any],
        status: str = "CREATE_COMPLETE",
        **more: Any,
    ) -> str:
        made = self.project.create(
            name, template(resources), disable_rollback=True, **more
        )
        self.assertEqual(201, made.status_code, made.text)
        self.project.wait(name, status)
        return str(made.json()["stack"]["id"])

    def act(self, name: str, **body: Any) -> Any:
        return self.project.call("POST", f"/stacks/{name}/actions", body)

    def do(self, name: str, action: str, value: Any = None) -> Any:
        answer = self.act(name, **{action: value})
        self.assertIn(answer.status_code, (200, 201), answer.text)
        return self.project.wait(name, f"{action.upper()}_COMPLETE")

    def assert_locked(self, answer: Any, *words: str) -> None:
        self.assert_fault(answer, 409, "StackLocked", *words)


class RaceTest(LockCase):
    def test_lock_and_update_at_the_same_instant(self):
        """Each wins at times, and never both or none."""
        names = [f"s{number}" for number in range(AT_ONCE)]
        for name in names:
            self.make(name, self.wanted(0), files=FILES)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            won = sum(pool.map(self.rounds, names), start=[])
        self.assertEqual(ROUNDS, len(won))
        self.assertEqual({"lock", "update"}, set(won))

    @staticmethod
    def wanted(number: int) -> dict[str, Any]:
        """An update takes so long that a lock can't come after its end."""
        slow = {"create": 0, "update": 1}
        return {
            "a": res(value=str(number), action_wait_secs=slow),
            "n": {"type": "leaf.yaml"},
        }

    def rounds(self, name: str) -> list[str]:
        """Who won, round by round."""
        won = []
        with concurrent.futures.ThreadPoolExecutor(2) as pair:
            for number in range(1, ROUNDS // AT_ONCE + 1):
                won.append(self.round(pair, name, number))
        return won

    def round(self, pair: Any, name: str, number: int) -> str:
        mine, other = (
            base.Project(self.url, self.project.id) for _client in range(2)
        )
        ready = threading.Barrier(2)
        level = ("all", "stacks")[number % 2]

        def lock() -> Any:
            ready.wait()
            path = f"/stacks/{name}/actions"
            return mine.call("POST", path, {"lock": {"level": level}})

        def update() -> Any:
            body = {"template": template(self.wanted(number)), "files": FILES}
            ready.wait()
            return other.call("PUT", f"/stacks/{name}", body)

        asked = (pair.submit(lock), pair.submit(update))
        locked, updated = (each.result() for each in asked)
        codes = (locked.status_code, updated.status_code)
        if codes == (200, 409):
            self.assertIn("StackLocked", updated.text)
            mine.wait(name, "LOCK_COMPLETE")
            children = self.levels(mine, name)
            self.assertEqual({level}, children)
            unlocked = mine.call(
                "POST", f"/stacks/{name}/actions", {"unlock": None}
            )
            self.assertEqual(200, unlocked.status_code, unlocked.text)
            mine.wait(name, "UNLOCK_COMPLETE")
            return "lock"
        self.assertEqual((409, 202), codes, locked.text + updated.text)
        self.assertIn("ActionInProgress", locked.text)
        mine.wait(name, "UPDATE_COMPLETE")
        self.assertEqual({None}, self.levels(mine, name))
        return "update"

    @staticmethod
    def levels(project: Any, name: str) -> set[str | None]:
        """The level of the lock of a stack and of each below it."""
        found = project.get("/stacks", params={"show_nested": True})["stacks"]
        return {
            (each["lock"] or {}).get("level")
            for each in found
            if each["stack_name"].startswith(name)
        }


FILES = {"leaf.yaml": json.dumps(template({"in": res()}))}


class KilledTest(LockCase):
    """An engine dies in the middle: it ends, whatever comes of it."""

    def test_one_of_two_is_killed(self):
        for action in ("lock", "unlock"):
            with self.subTest(action=action):
                self.check(action, ["engine-0"])

    def test_all_are_killed(self):
        self.check("lock", ["engine-0", "engine-1"])

    def check(self, action: str, victims: list[str]) -> None:
        name = f"{action}{len(victims)}"
        self.make(name, {f"r{i}": self.lockable(3) for i in range(8)})
        if action == "unlock":
            self.do(name, "lock")
        before = self.locked()
        answer = self.act(name, **{action: None})
        self.assertEqual(200, answer.status_code, answer.text)
        deadline = time.monotonic() + 30
        while self.locked() == before:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual(
            f"{action.upper()}_IN_PROGRESS",
            self.project.stack(name)["stack_status"],
        )
        for each in victims:
            self.running.kill(each)
        for each in victims:
            self.running.start_engine(each)
        ended = f"{action.upper()}_COMPLETE", f"{action.upper()}_FAILED"
        stack = self.rest(name, *ended)
        if stack["stack_status"] == "LOCK_COMPLETE":
            self.assertEqual(8, len(self.locked()))
        if stack["lock"]:
            self.assert_locked(self.act(name, suspend=None))
            self.do(name, "unlock")
        self.assertEqual(set(), self.locked())
        changed = self.project.update(name, template({"a": res()}))
        self.assertEqual(202, changed.status_code, changed.text)
        self.rest(name, "UPDATE_COMPLETE")

    def rest(self, name: str, *statuses: str) -> dict[str, Any]:
        """As ``wait``, while engines may be away for a while."""
        deadline = time.monotonic() + base.WAIT_SECONDS
        while True:
            got = self.project.call("GET", f"/stacks?name={name}")
            if got.status_code == 200:
                [listed] = got.json()["stacks"]
                if listed["stack_status"] in statuses:
                    return self.project.stack(name)
            self.assertLess(time.monotonic(), deadline, got.text)
            time.sleep(0.2)


class NestingTest(LockCase):
    def test_three_levels(self):
        files = {
            "one.yaml": json.dumps(template({"n": {"type": "two.yaml"}})),
            "two.yaml": json.dumps(template({"n": {"type": "three.yaml"}})),
            "three.yaml": json.dumps(template({"a": self.lockable()})),
        }
        root = self.make(
            "top",
            {"n": {"type": "one.yaml"}, "a": self.lockable()},
            files=files,
        )
        below = self.below("top")
        self.assertEqual(3, len(below))
        for level, count in (("stacks", 0), ("all", 2), ("stacks", 0)):
            self.do("top", "lock", {"level": level, "reason": "repair"})
            self.assertEqual(count, len(self.locked()))
            for each in self.below("top"):
                self.assertEqual("LOCK_COMPLETE", each["stack_status"])
                self.assertEqual(level, each["lock"]["level"])
        for each in below:
            path = f"/stacks/{each['stack_name']}/{each['id']}"
            for body in ({"unlock": None}, {"suspend": None}, {"lock": None}):
                answer = self.project.call("POST", f"{path}/actions", body)
                self.assert_locked(answer, root, "repair")
            self.assert_locked(self.project.call("DELETE", path), root)
        self.do("top", "unlock")
        for each in self.below("top"):
            self.assertEqual("UNLOCK_COMPLETE", each["stack_status"])
            self.assertIsNone(each["lock"])
        self.project.delete("top")
        self.project.wait_gone("top")

    def below(self, name: str) -> list[dict[str, Any]]:
        found = self.project.get("/stacks", params={"show_nested": True})
        return [
            each
            for each in found["stacks"]
            if each["stack_name"].startswith(f"{name}-")
        ]


class BaseStateTest(LockCase):
    """LOCK and UNLOCK cover the state of a stack, they don't change it."""

    def test_a_suspended_stack(self):
        self.make("s", {"a": self.lockable()})
        self.do("s", "suspend")
        self.do("s", "lock")
        self.assert_locked(self.act("s", resume=None))
        self.do("s", "unlock")
        refused = self.project.update("s", template({"a": res()}))
        self.assertEqual(400, refused.status_code, refused.text)
        self.assertIn("suspended", refused.text)
        self.do("s", "resume")
        self.assertEqual(set(), self.locked())

    def test_a_failed_stack(self):
        self.make(
            "s", {"a": self.lockable(), "b": res(fail=True)}, "CREATE_FAILED"
        )
        before = self.project.resources("s")["a"]["physical_resource_id"]
        self.do("s", "lock")
        self.do("s", "unlock")
        changed = self.project.update(
            "s", template({"a": self.lockable(), "b": res()})
        )
        self.assertEqual(202, changed.status_code, changed.text)
        self.project.wait("s", "UPDATE_COMPLETE")
        after = self.project.resources("s")
        self.assertEqual(before, after["a"]["physical_resource_id"])
        self.assertEqual("CREATE_COMPLETE", after["b"]["resource_status"])
