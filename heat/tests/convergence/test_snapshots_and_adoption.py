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
"""Stories of abandon and adopt, of snapshot and restore."""

from __future__ import annotations

import json

from heat.common import exception
from heat.db import released, resource_data
from heat.engine.stack import abandon, adopt, converge, snapshots
from heat.engine.traversal import outcome
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res

TWO = {"a": res("one"), "b": res(attr("a"))}


class Stories(StoryTest):
    def make(self, resources=None, **args):
        stack = self.world.create(hot(resources or TWO), **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def abandon(self, stack):
        world = self.world
        told = abandon.abandon(
            world.engines[0], world.context, world.stack(stack)
        )
        world.run()
        return json.loads(json.dumps(told))

    def adopt(self, data, name="adopted", **args):
        world = self.world
        made = converge.create(
            world.engines[0],
            world.context,
            name,
            data["template"],
            data["environment"],
            data["files"],
            {"disable_rollback": True, **args},
            adopted=adopt.read(data),
        )
        world.run()
        return made.id

    def ids(self, stack):
        living = self.world.living(stack)
        return {name: row.physical_id for name, row in living.items()}

    def happened(self, stack, name):
        return [what for who, what in self.world.events(stack) if who == name]


class AbandonTest(Stories):
    def test_nothing_is_deleted(self):
        stack = self.make()
        ids = self.ids(stack)
        told = self.abandon(stack)
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))
        self.assertEqual(
            ids, {n: e["resource_id"] for n, e in told["resources"].items()}
        )
        self.assertNotIn("DELETE_IN_PROGRESS", self.happened(stack, "a"))
        self.assertIn("DELETE_COMPLETE", self.happened(stack, "a"))
        register = self.world.db.read(
            lambda conn: released.list_(conn, "project")
        )
        self.assertEqual(
            {(i, "abandon") for i in ids.values()},
            {(each.physical_resource_id, each.reason) for each in register},
        )

    def test_with_all_stacks_below(self):
        world = self.world
        child = json.dumps(hot({"in": res("x")}))
        record = converge.create(
            world.engines[0],
            world.context,
            "parent",
            hot({"n": {"type": "child.yaml"}}),
            {},
            {"child.yaml": child},
            {},
        )
        world.run()
        self.assertState("CREATE_COMPLETE", record.id)
        below = world.living(record.id)["n"].physical_id
        self.assertRaises(exception.NotSupported, self.abandon, below)
        self.abandon(record.id)
        for stack in (record.id, below):
            self.assertState("DELETE_COMPLETE", stack)
            self.assertEqual([], world.rows(stack))
        self.assertNotIn("DELETE_IN_PROGRESS", self.happened(below, "in"))

    def test_not_while_something_runs(self):
        stack = self.world.create(hot(TWO))
        self.assertRaises(exception.ActionInProgress, self.abandon, stack)


class AdoptTest(Stories):
    def test_abandoned_and_adopted(self):
        told = self.abandon(self.make())
        told["resources"]["a"]["resource_data"] = {"k": "v"}
        stack = self.adopt(told)
        self.assertState("ADOPT_COMPLETE", stack)
        self.assertEqual(
            {n: e["resource_id"] for n, e in told["resources"].items()},
            self.ids(stack),
        )
        self.assertEqual(
            ["ADOPT_IN_PROGRESS", "ADOPT_COMPLETE"],
            self.happened(stack, "a"),
        )
        row = self.world.living(stack)["a"]
        data = self.world.db.read(
            lambda conn: resource_data.get_many(conn, [row.id])
        )
        self.assertEqual("v", data[row.id].get("k"))

    def test_the_next_update_compares(self):
        told = self.abandon(self.make())
        stack = self.adopt(told)
        before = len(self.world.events(stack))
        self.world.update(stack, hot(TWO))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before + 2, len(self.world.events(stack)))
        ids = self.ids(stack)
        self.world.update(stack, hot({"a": res("two"), "b": TWO["b"]}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertIn("UPDATE_COMPLETE", self.happened(stack, "a"))
        self.assertEqual(ids, self.ids(stack))

    def test_what_is_missing_fails(self):
        told = self.abandon(self.make())
        del told["resources"]["b"]
        stack = self.adopt(told)
        self.assertState("ADOPT_FAILED", stack)
        self.assertIn(
            "resource_id", self.world.living(stack)["b"].status_reason
        )

    def test_a_rollback_deletes_nothing(self):
        told = self.abandon(self.make())
        del told["resources"]["b"]
        stack = self.adopt(told, disable_rollback=False)
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))
        self.assertNotIn("DELETE_IN_PROGRESS", self.happened(stack, "a"))

    def test_external_stays_external(self):
        template = {"a": {**res("x"), "external_id": "theirs"}}
        told = self.abandon(self.make(template))
        self.assertTrue(told["resources"]["a"]["external"])
        stack = self.adopt(told)
        self.assertState("ADOPT_COMPLETE", stack)
        row = self.world.living(stack)["a"]
        self.assertEqual(("theirs", True), (row.physical_id, row.external))

    def test_broken_data(self):
        for data in ("{", [1], {"resources": 1}, {"resources": {"a": 1}}):
            with self.subTest(data=data):
                self.assertRaises(ValueError, adopt.read, data)


class SnapshotTest(Stories):
    def act(self, action, stack, *args):
        world = self.world
        done = action(
            world.engines[0], world.context, world.stack(stack), *args
        )
        world.run()
        return done

    def take(self, stack, name="s"):
        made = self.act(snapshots.take, stack, name)
        return self.get(stack, made.id)

    def get(self, stack, snapshot_id):
        world = self.world
        return snapshots.get(world.engines[0], world.stack(stack), snapshot_id)

    def test_taken_and_restored(self):
        stack = self.make()
        ids = self.ids(stack)
        made = self.take(stack)
        self.assertState("SNAPSHOT_COMPLETE", stack)
        self.assertEqual(
            ("CREATE", "COMPLETE", "s"), (made.action, made.status, made.name)
        )
        shown = snapshots.public(made)
        self.assertEqual(
            ids, {n: e["resource_id"] for n, e in shown["resources"].items()}
        )
        self.assertNotIn("raw_template_id", shown)
        self.world.update(stack, hot({"a": res("two"), "c": res("new")}))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.act(snapshots.restore, stack, made)
        self.assertState("RESTORE_COMPLETE", stack)
        self.assertEqual({"a", "b"}, set(self.ids(stack)))
        self.assertEqual(ids["a"], self.ids(stack)["a"])

    def test_limit_and_states(self):
        stack = self.make()
        self.take(stack)
        self.world.conf.set_override("max_snapshots_per_stack", 1)
        self.addCleanup(
            self.world.conf.clear_override, "max_snapshots_per_stack"
        )
        self.assertRaises(
            exception.RequestLimitExceeded, self.take, stack, "t"
        )
        self.assertState("SNAPSHOT_COMPLETE", stack)
        self.assertRaises(exception.SnapshotNotFound, self.get, stack, "other")

    def test_secrets_are_masked(self):
        stack = self.make({"a": {"type": "OS::Heat::RandomString"}})
        made = self.take(stack)
        (row,) = self.world.living(stack).values()
        (kept,) = self.world.db.read(
            lambda conn: resource_data.get_many(conn, [row.id])
        ).values()
        self.assertEqual(32, len(kept["value"]))
        self.assertEqual(kept, made.data["resources"]["a"]["resource_data"])
        shown = snapshots.public(made)["resources"]["a"]
        self.assertEqual({"value": "******"}, shown["resource_data"])
        self.assertNotIn("redacted", shown)

    def test_deleted(self):
        stack = self.make()
        made = self.take(stack)
        self.act(snapshots.delete, stack, made)
        self.assertRaises(exception.SnapshotNotFound, self.get, stack, made.id)

    def test_timed_out(self):
        stack = self.make()
        world = self.world
        made = snapshots.take(
            world.engines[0], world.context, world.stack(stack), "s"
        )
        outcome.time_out(world.engines[0], world.stack(stack))
        self.assertState("SNAPSHOT_FAILED", stack)
        made = self.get(stack, made.id)
        self.assertEqual("FAILED", made.status)
        self.assertRaises(
            exception.NotSupported, self.act, snapshots.restore, stack, made
        )
