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
"""Stories of LOCK and UNLOCK: levels, trees, failures, crashes."""

from __future__ import annotations

import datetime
import functools
import json
from collections import Counter
from unittest import mock

import fixtures
import sqlalchemy as sa
from oslo_db import exception as db_exc
from oslo_utils import timeutils

from heat.common import exception
from heat.db import events, locks, resources, stacks, trees
from heat.db import snapshots as snapshot_rows
from heat.engine import plugins, resource
from heat.engine.resources.openstack.heat import test_resource
from heat.engine.stack import (
    actions,
    adopt,
    converge,
    delete,
    export,
    lock,
    snapshots,
)
from heat.engine.traversal import begin, finish, outcome, recovery
from heat.tests import base
from heat.tests.convergence import prepared, world

LOCKED_TYPE = "Test::Lockable"


@functools.cache
def registry():
    found = plugins.PluginRegistry.load(prepared.conf())
    found.add(LOCKED_TYPE, Lockable)
    return found


class Cloud:
    """Objects that can be locked, as a service would keep them."""

    def __init__(self):
        #: physical id -> who holds the lock
        self.locked = {}
        self.calls = Counter()
        self.fail_lock = 0
        self.fail_unlock = 0
        self.taken_over = set()
        self.gone = set()
        self.waits = 0
        self.looks = 0
        self.seconds = 0
        self.on_lock = None


class Lockable(test_resource.TestResource):
    __test__ = False
    cloud = Cloud()

    def find_lock_state(self):
        self.cloud.calls["find"] += 1
        return {"locked": self.resource_id in self.cloud.locked}

    def handle_lock(self, level, reason):
        cloud = self.cloud
        cloud.calls["lock"] += 1
        if cloud.on_lock:
            cloud.on_lock(self)
        if cloud.fail_lock:
            cloud.fail_lock -= 1
            raise exception.Error("the cloud is away")
        cloud.locked.setdefault(self.resource_id, f"us: {level}, {reason}")
        cloud.looks = 0
        return self._now() + cloud.seconds

    def check_lock_complete(self, token):
        self.cloud.looks += 1
        return self.cloud.looks > self.cloud.waits and self._now() >= token

    def handle_unlock(self):
        cloud = self.cloud
        cloud.calls["unlock"] += 1
        if cloud.fail_unlock:
            cloud.fail_unlock -= 1
            raise exception.Error("the cloud is away")
        if self.resource_id in cloud.gone:
            raise exception.NotFound("no such object")
        if self.resource_id in cloud.taken_over:
            raise resource.LockTakenOver("an administrator holds it")
        if not (self.lock_found or {}).get("locked"):
            cloud.locked.pop(self.resource_id, None)


def hot(resources_, **sections):
    return {
        "heat_template_version": "2018-08-31",
        "resources": resources_,
        **sections,
    }


def res(value="v", type_="OS::Heat::TestResource", depends_on=None, **props):
    made = {"type": type_, "properties": {"value": value, **props}}
    if depends_on:
        made["depends_on"] = depends_on
    return made


def lockable(value="v", **more):
    return res(value, LOCKED_TYPE, **more)


LEAF = hot({"in": lockable()})
FILES = {
    "leaf.yaml": json.dumps(LEAF),
    "plain.yaml": json.dumps(hot({"in": res()})),
    "branch.yaml": json.dumps(hot({"n": {"type": "leaf.yaml"}})),
}


class LockTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MockPatchObject(prepared, "plugins", registry)
        )
        self.world = world.World()
        self.addCleanup(self.world.close)
        self.engine = self.world.engines[0]
        self.context = self.world.context
        self.cloud = Lockable.cloud = Cloud()

    def make(self, template, files=None, **args):
        args.setdefault("disable_rollback", True)
        record = converge.create(
            self.engine,
            self.context,
            "stack",
            template,
            {},
            files or {},
            args,
        )
        self.world.run()
        return record.id

    def lock(self, stack, level="all", **terms):
        self.begin_lock(stack, level, **terms)
        self.world.run()

    def begin_lock(self, stack, level="all", **terms):
        lock.lock(
            self.engine, self.context, self.world.stack(stack), level, **terms
        )

    def unlock(self, stack):
        lock.unlock(self.engine, self.context, self.world.stack(stack))
        self.world.run()

    def update(self, stack, template, files=None):
        converge.update(
            self.engine,
            self.context,
            self.world.stack(stack),
            template,
            {},
            files or {},
            {},
        )
        self.world.run()

    def delete(self, stack):
        delete.delete(self.engine, self.context, self.world.stack(stack))
        self.world.run()

    def shown(self, stack):
        return {
            row.name: "_".join(row.shown)
            for row in self.world.rows(stack)
            if row.replaced_by is None
        }

    def physical(self, stack, name):
        return self.world.living(stack)[name].physical_id

    def children(self, stack):
        return self.world.db.read(lambda conn: stacks.children(conn, stack))

    def child(self, stack):
        [found] = self.children(stack)
        return found

    def assertState(self, state, stack):
        found = self.world.stack(stack)
        self.assertEqual(
            state, f"{found.action}_{found.status}", found.status_reason
        )

    def assertUnlocked(self, stack):
        found = self.world.stack(stack)
        for column in locks.NO_LOCK:
            self.assertIsNone(getattr(found, column), column)

    def stack_events(self, stack):
        return [
            what for name, what in self.world.events(stack) if name == "stack"
        ]

    def reasons(self, stack):
        found = self.world.db.read(lambda conn: events.list_(conn, [stack]))
        return [each.resource_status_reason or "" for each in found]

    def statements(self, call):
        seen = []

        def note(conn, cursor, statement, *rest):
            seen.append(statement)

        sa.event.listen(self.world.db.engine, "before_cursor_execute", note)
        try:
            call()
        finally:
            sa.event.remove(
                self.world.db.engine, "before_cursor_execute", note
            )
        return seen


class LevelStacksTest(LockTest):
    def test_it_is_done_at_once_and_touches_no_object(self):
        stack = self.make(hot({"a": lockable(), "b": res()}))
        self.begin_lock(stack, "stacks", reason="repair", expires_in=60)
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual([], self.world.bus.messages)
        self.assertEqual(
            {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}, self.shown(stack)
        )
        self.assertFalse(self.cloud.calls)
        found = self.world.stack(stack)
        self.assertEqual(
            ("stacks", stack, "repair", "user", ("CREATE", "COMPLETE")),
            (
                found.lock_level,
                found.lock_root,
                found.lock_reason,
                found.locked_by,
                found.base,
            ),
        )
        self.assertEqual(
            datetime.timedelta(seconds=60),
            found.lock_expires_at - found.locked_at,
        )

    def test_unlock_goes_back_to_the_base(self):
        stack = self.make(hot({"a": res()}))
        self.lock(stack, "stacks")
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertUnlocked(stack)
        self.update(stack, hot({"a": res("new")}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertIsNone(self.world.stack(stack).base_action)
        self.assertEqual(
            [
                "CREATE_IN_PROGRESS",
                "CREATE_COMPLETE",
                "LOCK_IN_PROGRESS",
                "LOCK_COMPLETE",
                "UNLOCK_IN_PROGRESS",
                "UNLOCK_COMPLETE",
                "UPDATE_IN_PROGRESS",
                "UPDATE_COMPLETE",
            ],
            self.stack_events(stack),
        )

    def test_the_same_level_again_changes_the_record(self):
        stack = self.make(hot({"a": res()}))
        self.lock(stack, "stacks", reason="one", expires_in=5)
        self.lock(stack, "stacks", reason="two")
        found = self.world.stack(stack)
        self.assertEqual(
            ("two", None), (found.lock_reason, found.lock_expires_at)
        )
        self.assertEqual(("CREATE", "COMPLETE"), found.base)
        self.assertEqual(2, self.stack_events(stack).count("LOCK_COMPLETE"))

    def test_as_many_statements_for_many_stacks_as_for_few(self):
        few = self.make_tree(2)
        few_cost = len(self.statements(lambda: self.begin_lock(few, "stacks")))
        self.world.db.run(
            lambda conn: stacks.update(conn, few, live_name_key=None)
        )
        many = self.make_tree(12)
        cost = len(self.statements(lambda: self.begin_lock(many, "stacks")))
        self.assertLessEqual(cost, few_cost)
        for child in self.children(many):
            self.assertState("LOCK_COMPLETE", child.id)
        self.assertEqual({"LOCK_COMPLETE"}, set(self.shown(many).values()))

    def test_as_many_statements_for_many_resources_as_for_few(self):
        costs = []
        for count in (2, 80):
            stack = self.make(hot({f"r{i}": res() for i in range(count)}))
            costs += [
                len(self.statements(lambda s=stack: self.lock(s, "stacks"))),
                len(self.statements(lambda s=stack: self.unlock(s))),
            ]
            self.world.db.run(
                lambda conn, s=stack: stacks.update(
                    conn, s, live_name_key=None
                )
            )
        self.assertEqual(costs[:2], costs[2:])
        self.assertLess(costs[0], 25)

    def make_tree(self, width):
        nests = {f"n{i}": {"type": "plain.yaml"} for i in range(width)}
        return self.make(hot(nests), FILES)


class LevelAllTest(LockTest):
    def test_objects_are_locked_and_given_back(self):
        stack = self.make(
            hot(
                {
                    "a": lockable(),
                    "b": lockable(depends_on="a"),
                    "c": res(depends_on="b"),
                }
            )
        )
        self.begin_lock(stack, reason="repair")
        self.assertState("LOCK_IN_PROGRESS", stack)
        self.assertRaises(
            exception.StackLocked, self.update, stack, hot({"a": res()})
        )
        self.world.run()
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual({"LOCK_COMPLETE"}, set(self.shown(stack).values()))
        ids = {self.physical(stack, name) for name in "ab"}
        self.assertEqual(ids, set(self.cloud.locked))
        self.assertEqual({"us: all, repair"}, set(self.cloud.locked.values()))
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertEqual({"UNLOCK_COMPLETE"}, set(self.shown(stack).values()))
        self.assertEqual({}, self.cloud.locked)
        for row in self.world.rows(stack):
            self.assertIsNone(row.lock_found)
            self.assertEqual(("CREATE", "COMPLETE"), (row.action, row.status))

    def test_what_was_locked_before_stays_locked(self):
        stack = self.make(hot({"a": lockable()}))
        physical = self.physical(stack, "a")
        self.cloud.locked[physical] = "an administrator"
        self.lock(stack)
        self.unlock(stack)
        self.assertEqual({physical: "an administrator"}, self.cloud.locked)

    def test_what_was_found_is_recorded_before_the_call(self):
        stack = self.make(hot({"a": lockable()}))
        recorded = []
        self.cloud.on_lock = lambda _rsrc: recorded.append(
            self.world.living(stack)["a"].lock_found
        )
        self.lock(stack)
        self.assertEqual([{"locked": False}], recorded)

    def test_what_was_found_can_not_be_recorded_yet(self):
        """The object is not locked before that, as its engine may die: the
        lock would then be found, and left as somebody else's."""
        stack = self.make(hot({"a": lockable()}))
        recorded = []
        self.cloud.on_lock = lambda _rsrc: recorded.append(
            self.world.living(stack)["a"].lock_found
        )
        real, tries = finish.checkpoint, []

        def checkpoint(*args):
            tries.append(args)
            if len(tries) < 3:
                raise db_exc.DBConnectionError
            real(*args)

        with mock.patch.object(finish, "checkpoint", checkpoint):
            self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual([{"locked": False}], recorded)
        self.assertEqual(1, self.cloud.calls["find"])

    def test_what_was_found_survives_a_second_lock(self):
        stack = self.make(hot({"a": lockable()}))
        self.cloud.fail_lock = 1
        self.lock(stack)
        self.assertState("LOCK_FAILED", stack)
        # Our own lock, made after all, must not pass for somebody else's.
        self.cloud.locked[self.physical(stack, "a")] = "us"
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual(1, self.cloud.calls["find"])
        self.unlock(stack)
        self.assertEqual({}, self.cloud.locked)

    def test_locked_twice_visits_nothing(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack)
        self.begin_lock(stack, reason="other")
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual(1, self.cloud.calls["lock"])
        self.assertEqual("other", self.world.stack(stack).lock_reason)

    def test_objects_are_waited_for_together(self):
        self.cloud.seconds = 30
        stack = self.make(hot({f"r{i}": lockable() for i in range(40)}))
        begun = self.world.now
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual(40, len(self.cloud.locked))
        self.assertLess(self.world.now - begun, 60)

    def test_a_plug_in_may_take_its_time(self):
        self.cloud.waits = 3
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)

    def test_a_lock_taken_over_is_theirs(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack)
        physical = self.physical(stack, "a")
        self.cloud.taken_over.add(physical)
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertIn(physical, self.cloud.locked)
        self.assertIn(
            "left locked: an administrator holds it", self.reasons(stack)
        )

    def test_an_object_that_is_gone_is_unlocked(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack)
        self.cloud.gone.add(self.physical(stack, "a"))
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertIn("the object is gone", self.reasons(stack))

    def test_the_users_objects_are_left_alone(self):
        stack = self.make(hot({"a": lockable(), "b": lockable()}))
        row = self.world.living(stack)["a"]
        self.world.db.run(
            lambda conn: resources.set_values(
                conn, [row.id], {"external": True}
            )
        )
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual(
            {"a": "CREATE_COMPLETE", "b": "LOCK_COMPLETE"}, self.shown(stack)
        )
        self.assertEqual(1, self.cloud.calls["lock"])
        self.assertIn(
            "the object is external: left alone", self.reasons(stack)
        )

    def test_what_became_the_users_while_it_was_being_locked(self):
        """Its engine stopped, and an adoption that ran on took the object."""
        stack = self.make(hot({"a": lockable(), "b": lockable()}))
        row = self.world.living(stack)["a"]
        self.begin_lock(stack)
        self.world.db.run(
            lambda conn: resources.set_values(
                conn,
                [row.id],
                {
                    "external": True,
                    "action": "LOCK",
                    "status": "FAILED",
                    "base_action": "CREATE",
                    "base_status": "COMPLETE",
                },
            )
        )
        self.world.run()
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual("CREATE_COMPLETE", self.shown(stack)["a"])

    def test_what_still_runs_is_waited_for(self):
        for level in ("all", "stacks"):
            with self.subTest(level=level):
                stack = self.slow_failure(level)
                self.begin_lock(stack, level)
                self.assertState("LOCK_IN_PROGRESS", stack)
                self.world.run()
                self.assertState("LOCK_COMPLETE", stack)
                rows = self.world.living(stack)
                self.assertEqual("COMPLETE", rows["slow"].status)
                self.assertEqual(
                    "LOCK_COMPLETE" if level == "all" else "CREATE_COMPLETE",
                    self.shown(stack)["slow"],
                )
                stack_record = self.world.stack(stack)
                self.assertEqual(("CREATE", "FAILED"), stack_record.base)

    def slow_failure(self, name):
        record = converge.create(
            self.engine,
            self.context,
            name,
            hot(
                {
                    "slow": res(action_wait_secs={"create": 50}),
                    "bad": res(fail=True),
                }
            ),
            {},
            {},
            {"disable_rollback": True},
        )
        self.world.run_until(
            lambda: self.world.state(record.id) == "CREATE_FAILED"
        )
        return record.id


class BaseStateTest(LockTest):
    def test_a_suspended_stack_is_suspended_after_unlock(self):
        stack = self.make(hot({"a": lockable()}))
        actions.suspend(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.lock(stack)
        self.unlock(stack)
        self.assertRaises(
            exception.NotSupported, self.update, stack, hot({"a": lockable()})
        )
        actions.resume(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.assertState("RESUME_COMPLETE", stack)
        self.assertEqual("RESUME", self.world.living(stack)["a"].action)

    def test_a_failed_row_is_repaired_after_unlock(self):
        stack = self.make(hot({"a": lockable(), "b": lockable(fail=True)}))
        self.assertState("CREATE_FAILED", stack)
        failed = self.physical(stack, "b")
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.unlock(stack)
        row = self.world.living(stack)["b"]
        self.assertEqual(("CREATE", "FAILED"), (row.action, row.status))
        self.update(stack, hot({"a": lockable(), "b": lockable()}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(failed, self.physical(stack, "b"))

    def test_an_update_after_unlock_keeps_what_is_equal(self):
        template = hot({"a": lockable(), "b": res()})
        stack = self.make(template)
        before = self.physical(stack, "a")
        self.lock(stack)
        self.unlock(stack)
        self.update(stack, template)
        self.assertEqual(before, self.physical(stack, "a"))
        self.assertNotIn(("a", "UPDATE_IN_PROGRESS"), self.world.events(stack))

    def test_outputs_are_read_while_it_is_locked(self):
        stack = self.make(
            hot(
                {"a": res("word")},
                outputs={"o": {"value": {"get_attr": ["a", "output"]}}},
            )
        )
        self.lock(stack)
        self.assertEqual({"o": "word"}, self.world.outputs(stack))

    def test_delete_after_unlock(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack)
        self.unlock(stack)
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual(1, self.cloud.calls["unlock"])


class ChangeTest(LockTest):
    def test_from_stacks_to_all(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack, "stacks")
        self.begin_lock(stack, "all")
        self.assertEqual("stacks", self.world.stack(stack).lock_level)
        self.world.run()
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual("all", self.world.stack(stack).lock_level)
        self.assertEqual(1, len(self.cloud.locked))

    def test_from_all_to_stacks(self):
        stack = self.make(hot({"a": lockable(), "b": res()}))
        self.lock(stack, "all")
        self.lock(stack, "stacks")
        self.assertState("LOCK_COMPLETE", stack)
        self.assertEqual("stacks", self.world.stack(stack).lock_level)
        self.assertEqual({}, self.cloud.locked)
        self.assertEqual({"UNLOCK_COMPLETE"}, set(self.shown(stack).values()))

    def test_the_old_level_holds_when_it_fails(self):
        for before, after in (("stacks", "all"), ("all", "stacks")):
            with self.subTest(before=before):
                record = self.named(before)
                self.lock(record, before)
                self.cloud.fail_lock = self.cloud.fail_unlock = 1
                self.lock(record, after)
                self.cloud.fail_lock = self.cloud.fail_unlock = 0
                self.assertState("LOCK_FAILED", record)
                found = self.world.stack(record)
                self.assertEqual(before, found.lock_level)
                self.assertIsNone(found.lock_wanted)
                self.assertRaises(
                    exception.StackLocked, self.update, record, hot({})
                )
                self.lock(record, after)
                self.assertState("LOCK_COMPLETE", record)
                self.assertEqual(after, self.world.stack(record).lock_level)
                self.unlock(record)
                self.assertEqual({}, self.cloud.locked)

    def named(self, name):
        record = converge.create(
            self.engine,
            self.context,
            name,
            hot({"a": lockable()}),
            {},
            {},
            {"disable_rollback": True},
        )
        self.world.run()
        return record.id


class FailureTest(LockTest):
    def test_lock_failed_then_unlocked(self):
        stack = self.make(hot({"a": lockable(), "b": lockable()}))
        self.cloud.fail_lock = 1
        self.lock(stack)
        self.assertState("LOCK_FAILED", stack)
        self.assertIn("cloud is away", self.world.stack(stack).status_reason)
        # One failed, the other is locked all the same: there is no order.
        self.assertEqual(1, len(self.cloud.locked))
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)

    def test_unlock_failed_then_unlocked(self):
        stack = self.make(hot({"a": lockable(), "b": lockable()}))
        self.lock(stack)
        self.cloud.fail_unlock = 1
        self.unlock(stack)
        self.assertState("UNLOCK_FAILED", stack)
        self.assertEqual(1, len(self.cloud.locked))
        self.assertRaises(exception.StackLocked, self.begin_lock, stack)
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)

    def test_delete_releases_first(self):
        for step in ("lock", "unlock"):
            with self.subTest(step=step):
                stack = self.failed(step)
                released = self.cloud.calls["unlock"]
                self.delete(stack)
                self.assertState("DELETE_COMPLETE", stack)
                self.assertEqual([], self.world.rows(stack))
                self.assertEqual({}, self.cloud.locked)
                self.assertGreater(self.cloud.calls["unlock"], released)
                self.assertUnlocked(stack)

    def test_delete_that_can_not_release_fails_and_may_be_repeated(self):
        stack = self.failed("unlock")
        self.engine.conf.set_override("action_retry_limit", 0)
        self.addCleanup(self.engine.conf.clear_override, "action_retry_limit")
        self.cloud.fail_unlock = 1
        self.delete(stack)
        self.assertState("DELETE_FAILED", stack)
        self.assertEqual(1, len(self.cloud.locked))
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)

    def test_delete_releases_what_it_retains(self):
        stack = self.failed("unlock", deletion_policy="Retain")
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)
        self.assertTrue(
            any("let go" in reason for reason in self.reasons(stack))
        )

    def test_a_locked_stack_is_not_deleted(self):
        stack = self.make(hot({"a": res()}))
        self.lock(stack)
        error = self.assertRaises(exception.StackLocked, self.delete, stack)
        self.assertIn("level all", str(error))
        self.assertIn("locked by user", str(error))

    def failed(self, step, **more):
        thing = {**lockable(), **more}
        stack = self.make(hot({"a": thing, "b": lockable()}))
        if step == "lock":
            self.cloud.fail_lock = 1
        self.lock(stack)
        if step == "unlock":
            self.cloud.fail_unlock = 1
            self.unlock(stack)
        self.assertState(f"{step.upper()}_FAILED", stack)
        self.assertEqual(1, len(self.cloud.locked))
        return stack

    def test_it_runs_out_of_time(self):
        self.cloud.waits = 10**6
        stack = self.make(hot({"n": {"type": "leaf.yaml"}}), FILES)
        self.begin_lock(stack)
        child = self.child(stack).id
        for _step in range(20):
            self.world.step()
        outcome.time_out(self.engine, self.world.stack(stack))
        self.world.run()
        self.assertState("LOCK_FAILED", stack)
        self.assertIn("timed out", self.world.stack(stack).status_reason)
        self.assertState("LOCK_FAILED", child)
        self.cloud.waits = 0
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertState("UNLOCK_COMPLETE", child)
        self.assertEqual({}, self.cloud.locked)


class CrashTest(LockTest):
    def test_an_engine_that_stops_at_any_point(self):
        for point in ("claimed", "called", "finishing", "finished"):
            for action in ("lock", "unlock"):
                with self.subTest(point=point, action=action):
                    self.crash(point, action)

    def crash(self, point, action):
        stack = self.named(f"{point}-{action}")
        physical = self.physical(stack, "a")
        if action == "unlock":
            self.lock(stack)
        passed = []

        class Killed(BaseException):
            pass

        def probe(name):
            if name == point and not passed:
                passed.append(name)
                raise Killed

        self.engine.probe = probe
        try:
            self.lock(stack) if action == "lock" else self.unlock(stack)
        except Killed:
            pass
        self.engine.probe = lambda _name: None
        self.assertTrue(passed)
        self.world.bus.messages.clear()
        self.world._waiting.clear()
        recovery.resume(self.engine, alone=False)
        recovery.release(self.engine, lambda _row: True)
        recovery.resume(self.engine, alone=False)
        self.world.run()
        self.assertState(f"{action.upper()}_COMPLETE", stack)
        if action == "lock":
            self.assertIn(physical, self.cloud.locked)
            self.unlock(stack)
        self.assertNotIn(physical, self.cloud.locked)

    named = ChangeTest.named


class TreeTest(LockTest):
    def test_all_levels_below_are_locked_and_unlocked(self):
        stack = self.make(
            hot({"t": {"type": "branch.yaml"}, "p": {"type": "plain.yaml"}}),
            FILES,
        )
        ids = self.world.db.read(lambda conn: trees.descendants(conn, stack))
        self.assertEqual(3, len(ids))
        self.lock(stack)
        for each in (stack, *ids):
            self.assertState("LOCK_COMPLETE", each)
            self.assertEqual("all", self.world.stack(each).lock_level)
            self.assertEqual(stack, self.world.stack(each).lock_root)
            self.assertEqual({"LOCK_COMPLETE"}, set(self.shown(each).values()))
        self.assertEqual(1, len(self.cloud.locked))
        self.unlock(stack)
        for each in (stack, *ids):
            self.assertState("UNLOCK_COMPLETE", each)
            self.assertUnlocked(each)
            self.assertEqual(
                {"UNLOCK_COMPLETE"}, set(self.shown(each).values())
            )
        self.assertEqual({}, self.cloud.locked)
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)

    def test_level_stacks_shows_the_nested_stacks_alone(self):
        stack = self.make(
            hot({"t": {"type": "leaf.yaml"}, "a": lockable()}), FILES
        )
        self.lock(stack, "stacks")
        self.assertEqual(
            {"t": "LOCK_COMPLETE", "a": "CREATE_COMPLETE"}, self.shown(stack)
        )
        child = self.child(stack)
        self.assertState("LOCK_COMPLETE", child.id)
        self.assertEqual({"in": "CREATE_COMPLETE"}, self.shown(child.id))
        self.lock(stack, "all")
        self.assertEqual(2, len(self.cloud.locked))
        self.lock(stack, "stacks")
        self.assertEqual({}, self.cloud.locked)
        self.assertEqual(
            {"t": "LOCK_COMPLETE", "a": "UNLOCK_COMPLETE"}, self.shown(stack)
        )

    def test_a_child_is_unlocked_through_its_root_alone(self):
        stack = self.make(hot({"t": {"type": "leaf.yaml"}}), FILES)
        self.lock(stack, "stacks")
        child = self.child(stack).id
        for call in (self.unlock, self.begin_lock, self.delete):
            error = self.assertRaises(exception.StackLocked, call, child)
            self.assertIn(stack, str(error))

    def test_a_child_locked_on_its_own_stays_so(self):
        template = hot({"t": {"type": "leaf.yaml"}})
        stack = self.make(template, FILES)
        child = self.child(stack)
        self.lock(child.id, reason="mine")
        self.lock(stack, reason="yours")
        self.assertEqual(child.id, self.world.stack(child.id).lock_root)
        self.assertEqual("mine", self.world.stack(child.id).lock_reason)
        # While what it stands in is locked it stays locked too.
        error = self.assertRaises(exception.StackLocked, self.unlock, child.id)
        self.assertIn("yours", str(error))
        self.assertState("LOCK_COMPLETE", child.id)
        self.unlock(stack)
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertState("LOCK_COMPLETE", child.id)
        for call in (
            lambda: self.update(stack, hot({}), FILES),
            lambda: self.delete(stack),
            lambda: actions.suspend(
                self.engine, self.context, self.world.stack(stack)
            ),
        ):
            error = self.assertRaises(exception.StackLocked, call)
            self.assertIn(child.name, str(error))
        self.unlock(child.id)
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)

    def test_a_delete_that_is_refused_keeps_the_snapshots(self):
        stack = self.make(hot({"t": {"type": "leaf.yaml"}}), FILES)
        call = (self.engine, self.context)
        snapshots.take(*call, self.world.stack(stack), "s")
        self.world.run()
        child = self.child(stack).id
        self.lock(child)
        self.refuse_delete(stack, self.world.stack(stack))
        self.unlock(child)
        # One that was read before the lock came.
        before = self.world.stack(stack)
        self.lock(stack)
        self.refuse_delete(stack, before)
        self.unlock(stack)
        snapshots.delete_all(*call, self.world.stack(stack))
        self.assertEqual([], self.kept(stack))

    def refuse_delete(self, stack, read):
        self.assertRaises(
            exception.StackLocked,
            snapshots.delete_all,
            self.engine,
            self.context,
            read,
        )
        self.assertEqual(1, len(self.kept(stack)))

    def kept(self, stack):
        return self.world.db.read(
            lambda conn: snapshot_rows.list_(conn, stack)
        )

    def test_a_busy_child_refuses_the_lock_of_its_parent(self):
        stack = self.make(hot({"t": {"type": "leaf.yaml"}}), FILES)
        child = self.child(stack)
        actions.check(self.engine, self.context, child)
        error = self.assertRaises(
            exception.ActionInProgress, self.begin_lock, stack
        )
        self.assertIn(child.name, str(error))
        self.assertState("CREATE_COMPLETE", stack)
        self.assertUnlocked(stack)
        self.world.run()
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)

    def test_a_child_that_fails_fails_its_parents(self):
        stack = self.make(hot({"t": {"type": "branch.yaml"}}), FILES)
        self.cloud.fail_lock = 1
        self.lock(stack)
        self.assertState("LOCK_FAILED", stack)
        self.assertIn("cloud is away", self.world.stack(stack).status_reason)
        self.lock(stack)
        self.assertState("LOCK_COMPLETE", stack)
        self.cloud.fail_unlock = 1
        self.unlock(stack)
        self.assertState("UNLOCK_FAILED", stack)
        self.delete(stack)
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)

    def test_a_child_is_repaired_after_unlock(self):
        files = {**FILES, "bad.yaml": json.dumps(hot({"in": res(fail=True)}))}
        stack = self.make(hot({"t": {"type": "bad.yaml"}}), files)
        self.assertState("CREATE_FAILED", stack)
        self.lock(stack)
        self.unlock(stack)
        files["bad.yaml"] = json.dumps(hot({"in": res()}))
        self.update(stack, hot({"t": {"type": "bad.yaml"}}), files)
        self.assertState("UPDATE_COMPLETE", stack)

    def test_what_a_failure_left_running_makes_no_child(self):
        guard = self.world.db.run(
            lambda conn: stacks.insert(
                conn,
                {
                    "name": "p",
                    "tenant": "project",
                    "raw_template_id": 1,
                    "action": "CREATE",
                    "status": "FAILED",
                    "lock_level": "all",
                },
            )
        )
        self.assertRaises(
            exception.StackLocked,
            self.world.db.run,
            lambda conn: locks.share_unlocked(conn, guard, "update"),
        )


class ExpiryTest(LockTest):
    def sweep(self):
        recovery.Sweeper(
            self.engine, 60, living=lambda: {self.engine.engine_id}
        ).sweep()

    def expire(self, stack):
        past = timeutils.utcnow() - datetime.timedelta(seconds=1)
        self.world.db.run(
            lambda conn: stacks.update(conn, stack, lock_expires_at=past)
        )

    def test_an_expired_lock_is_released(self):
        stack = self.make(
            hot({"a": lockable(), "t": {"type": "leaf.yaml"}}), FILES
        )
        self.lock(stack, expires_in=100)
        self.sweep()
        self.assertState("LOCK_COMPLETE", stack)
        self.expire(stack)
        self.sweep()
        self.world.run()
        self.assertState("UNLOCK_COMPLETE", stack)
        self.assertEqual({}, self.cloud.locked)
        self.assertIn(
            "Stack UNLOCK started: the lock has expired", self.reasons(stack)
        )
        self.assertUnlocked(self.child(stack).id)

    def test_one_that_can_not_be_released_is_tried_later(self):
        stack = self.make(hot({"a": lockable()}))
        self.lock(stack, expires_in=100)
        self.expire(stack)
        self.cloud.fail_unlock = 1
        self.sweep()
        self.world.run()
        self.assertState("UNLOCK_FAILED", stack)
        self.sweep()
        self.world.run()
        self.assertState("UNLOCK_FAILED", stack)
        self.expire(stack)
        self.sweep()
        self.world.run()
        self.assertState("UNLOCK_COMPLETE", stack)


class ExportTest(LockTest):
    """A lock stays with the stack that has it."""

    def exported(self, stack):
        return export.export(
            self.engine, self.context, self.world.stack(stack)
        )

    def test_an_export_says_nothing_of_locks(self):
        stack = self.make(
            hot({"a": lockable(), "b": res(), "t": {"type": "leaf.yaml"}}),
            FILES,
        )
        before = self.exported(stack)
        self.lock(stack, reason="repair", expires_in=60)
        self.assertEqual(before, self.exported(stack))
        self.unlock(stack)
        self.assertEqual(before, self.exported(stack))
        self.assertNotIn("LOCK", json.dumps(before))

    def test_what_is_adopted_from_it_is_not_locked(self):
        template = hot({"a": lockable()})
        stack = self.make(template)
        physical = self.physical(stack, "a")
        self.lock(stack)
        made = converge.create(
            self.engine,
            self.context,
            "other",
            template,
            {},
            {},
            {},
            adopted=adopt.read(self.exported(stack)),
        ).id
        self.world.run()
        self.assertState("ADOPT_COMPLETE", made)
        self.assertUnlocked(made)
        row = self.world.living(made)["a"]
        self.assertEqual((physical, None), (row.physical_id, row.lock_found))
        self.update(made, hot({"a": lockable("new")}))
        self.assertState("UPDATE_COMPLETE", made)


class OwnerTest(LockTest):
    """A stack that is made below one that is named as its owner."""

    def make_below(self, owner_id):
        return converge.create(
            self.engine,
            self.context,
            "below",
            hot({"a": res()}),
            {},
            {},
            {},
            owner_id=owner_id,
            nested_depth=1,
        )

    def test_not_below_one_that_is_locked(self):
        stack = self.make(hot({"a": res()}))
        for level in ("stacks", "all"):
            self.lock(stack, level, reason="repair")
            error = self.assertRaises(
                exception.StackLocked, self.make_below, stack
            )
            self.assertIn("repair", str(error))
            self.assertEqual([], self.children(stack))
        self.unlock(stack)
        self.make_below(stack)
        self.world.run()
        self.assertState("CREATE_COMPLETE", self.child(stack).id)


class RaceTest(LockTest):
    """One thread, but each acts on what it read before the other acted."""

    def test_the_second_loses(self):
        template = hot({"a": lockable()})
        stack = self.make(template)
        read = self.world.stack(stack)
        self.begin_lock(stack)
        self.assertRaises(
            exception.StackLocked,
            converge.update,
            self.engine,
            self.context,
            read,
            template,
            {},
            {},
            {},
        )
        self.assertRaises(
            exception.StackLocked,
            lock.lock,
            self.engine,
            self.context,
            read,
        )
        self.world.run()
        self.unlock(stack)
        read = self.world.stack(stack)
        self.update(stack, template)
        self.assertRaises(
            exception.ActionInProgress,
            lock.lock,
            self.engine,
            self.context,
            read,
        )
        self.assertState("UPDATE_COMPLETE", stack)

    def test_a_repeated_transaction_knows_its_own_work(self):
        stack = self.make(hot({"a": lockable()}))
        real = self.engine.db.run
        answers = []

        def twice(work):
            answers.append(real(work))
            return real(work)

        with fixtures.MockPatchObject(self.engine.db, "run", twice):
            lock.lock(self.engine, self.context, self.world.stack(stack))
        self.assertEqual(1, len(answers))
        self.world.run()
        self.assertState("LOCK_COMPLETE", stack)

    def test_every_walk_is_known_to_begin(self):
        self.assertLessEqual(locks.LOCKING, begin.WALKS.keys())
