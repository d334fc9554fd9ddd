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

"""Stories of signals, hooks, wait conditions and marks."""

from __future__ import annotations

import json
import threading
import unittest.mock

from heat.common import exception
from heat.db import events
from heat.engine.stack import signals
from heat.tests.convergence import test_stories as stories

HANDLE = {
    "type": "OS::Heat::WaitConditionHandle",
    "properties": {"signal_transport": "NO_SIGNAL"},
}


def waiting(count=1, timeout=60):
    return stories.hot(
        {
            "handle": HANDLE,
            "wait": {
                "type": "OS::Heat::WaitCondition",
                "properties": {
                    "handle": {"get_resource": "handle"},
                    "count": count,
                    "timeout": timeout,
                },
            },
        },
        {"data": {"value": {"get_attr": ["wait", "data"]}}},
    )


class SignalStory(stories.StoryTest):
    def signal(self, stack_id, name, details=None):
        engine = self.world.engines[0]
        signals.signal(
            engine,
            self.world.context,
            self.world.stack(stack_id),
            name,
            details,
        )

    def row(self, stack_id, name):
        return self.world.living(stack_id)[name]

    def until(self, stack_id, name, action, status):
        def reached():
            row = self.world.living(stack_id).get(name)
            return row is not None and (row.action, row.status) == (
                action,
                status,
            )

        self.world.run_until(reached)

    def reasons(self, stack_id, name):
        found = self.world.db.read(lambda c: events.list_(c, [stack_id]))
        return [
            each.resource_status_reason
            for each in found
            if each.resource_name == name
        ]


class WaitConditionTest(SignalStory):
    def begin(self, **properties):
        stack = self.world.create(waiting(**properties))
        self.until(stack, "wait", "CREATE", "IN_PROGRESS")
        return stack

    def test_enough_signals(self):
        stack = self.begin(count=2)
        self.signal(stack, "handle", {"data": "one", "id": "a"})
        for _step in range(5):
            self.world.step()
        self.assertState("CREATE_IN_PROGRESS", stack)
        self.signal(stack, "handle", {"data": "two"})
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        data = json.loads(self.world.outputs(stack)["data"])
        self.assertEqual({"a": "one", "2": "two"}, data)
        self.assertIn(
            "status:SUCCESS reason:Signal a received",
            self.reasons(stack, "handle"),
        )

    def test_the_same_id_counts_once(self):
        stack = self.begin(count=2)
        self.signal(stack, "handle", {"id": "a"})
        self.signal(stack, "handle", {"id": "a"})
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("1 of 2", self.world.stack(stack).status_reason)

    def test_a_failure_fails(self):
        stack = self.begin()
        self.signal(
            stack, "handle", {"status": "FAILURE", "reason": "no disk"}
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("no disk", self.world.stack(stack).status_reason)

    def test_no_signal_times_out(self):
        stack = self.begin(timeout=5)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        reason = self.world.stack(stack).status_reason
        self.assertIn("0 of 1 signals received", reason)

    def test_more_signals_than_needed_do_no_harm(self):
        stack = self.begin()
        for number in range(3):
            self.signal(stack, "handle", {"data": number})
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.signal(stack, "handle", {"data": "late"})
        self.assertEqual(4, len(self.row(stack, "handle").metadata))

    def test_a_bad_signal_is_refused_and_told(self):
        stack = self.begin()
        for bad in ({"status": "MAYBE"}, {"colour": "red"}, ["x"]):
            self.assertRaises(ValueError, self.signal, stack, "handle", bad)
        self.assertEqual({}, self.row(stack, "handle").metadata)
        found = self.world.db.read(lambda c: events.list_(c, [stack]))
        states = [
            (e.resource_action, e.resource_status)
            for e in found
            if e.resource_action == "SIGNAL"
        ]
        self.assertEqual([("SIGNAL", "FAILED")] * 3, states)

    def test_an_update_of_the_count_waits_again(self):
        stack = self.begin()
        self.signal(stack, "handle")
        self.world.run()
        self.world.update(stack, waiting(count=2))
        self.until(stack, "wait", "UPDATE", "IN_PROGRESS")
        self.signal(stack, "handle")
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_an_update_handle_is_made_anew(self):
        template = waiting()
        template["resources"] = {
            "handle": {"type": "OS::Heat::UpdateWaitConditionHandle"},
            "wait": {
                "type": "AWS::CloudFormation::WaitCondition",
                "properties": {
                    "Handle": {"get_resource": "handle"},
                    "Timeout": 60,
                },
            },
        }
        template["outputs"] = {
            "data": {"value": {"get_attr": ["wait", "Data"]}}
        }
        stack = self.world.create(template)
        self.until(stack, "wait", "CREATE", "IN_PROGRESS")
        self.signal(
            stack, "handle", {"Status": "SUCCESS", "UniqueId": "1", "Data": 1}
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        before = self.row(stack, "handle").physical_id
        self.world.update(stack, template)
        self.until(stack, "wait", "CREATE", "IN_PROGRESS")
        self.signal(stack, "handle", {"UniqueId": "2", "Data": 2})
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(before, self.row(stack, "handle").physical_id)
        self.assertEqual('{"2": 2}', self.world.outputs(stack)["data"])

    def test_transports_that_are_not_there(self):
        template = stories.hot(
            {
                "handle": {
                    "type": "OS::Heat::WaitConditionHandle",
                    "properties": {"signal_transport": "CFN_SIGNAL"},
                }
            }
        )
        stack = self.world.create(template)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("HEAT_SIGNAL", self.world.stack(stack).status_reason)

    def test_no_signal_is_lost_among_many(self):
        stack = self.world.create(stories.hot({"handle": HANDLE}))
        self.world.run()

        def send(first):
            for number in range(first, first + 10):
                self.signal(stack, "handle", {"id": str(number)})

        threads = [
            threading.Thread(target=send, args=(10 * each,))
            for each in range(8)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(
            {str(number) for number in range(80)},
            set(self.row(stack, "handle").metadata),
        )


class EarlySignalTest(SignalStory):
    """Signals to what is not finished yet."""

    def during(self, template, send):
        """Make a stack; a handle gets signals before its row is written."""
        engine, sent = self.world.engines[0], []

        def probe(point):
            row = self.world.living(sent[0]).get("handle")
            if point == "finishing" and row.status == "IN_PROGRESS":
                send(sent[0])
                sent.append(point)

        stack = self.world.create(template)
        sent.append(stack)
        engine.probe = probe
        self.world.run_until(lambda: len(sent) > 1)
        engine.probe = lambda _point: None
        return stack

    def test_before_the_create_of_a_handle_ends(self):
        self.told_early({**HANDLE, "metadata": {"mine": 1}}, {"id": "a"})

    def test_before_the_create_of_an_aws_handle_ends(self):
        kind = "AWS::CloudFormation::WaitConditionHandle"
        self.told_early(
            {"type": kind, "metadata": {"mine": 1}},
            {"UniqueId": "a", "Status": "SUCCESS"},
        )

    def told_early(self, handle, word):
        stack = self.during(
            stories.hot({"handle": handle}),
            lambda stack: self.signal(stack, "handle", word),
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        found = self.row(stack, "handle").metadata
        self.assertEqual({"a", "mine"}, set(found))

    def test_a_wait_condition_counts_it(self):
        stack = self.during(
            waiting(count=2, timeout=20),
            lambda stack: [
                self.signal(stack, "handle", {"id": each}) for each in "ab"
            ],
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual({"a", "b"}, set(self.row(stack, "handle").metadata))

    def test_while_the_metadata_are_updated(self):
        def template(value):
            handle = {**HANDLE, "metadata": {"mine": value}}
            return stories.hot({"handle": handle})

        stack = self.world.create(template(1))
        self.world.run()
        engine = self.world.engines[0]

        def probe(point):
            if point == "finishing":
                engine.probe = lambda _point: None
                self.signal(stack, "handle", {"id": "a"})

        self.world.update(stack, template(2))
        engine.probe = probe
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        found = self.row(stack, "handle").metadata
        self.assertEqual(2, found["mine"])
        self.assertIn("a", found)

    def test_nobody_asks_twice_without_a_signal(self):
        with unittest.mock.patch(
            "heat.engine.traversal.rows.signals.hold"
        ) as hold:
            stack = self.world.create(
                stories.hot(
                    {
                        "handle": {**HANDLE, "metadata": {"mine": 1}},
                        "slow": {**stories.res(wait_secs=5)},
                    }
                )
            )
            self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        hold.assert_not_called()


class SignalTest(SignalStory):
    def test_a_type_that_takes_none(self):
        stack = self.world.create(stories.hot({"a": stories.res()}))
        self.world.run()
        error = self.assertRaises(
            exception.ResourceActionNotSupported, self.signal, stack, "a"
        )
        self.assertIn("OS::Heat::TestResource", str(error))

    def test_no_such_resource(self):
        stack = self.world.create(stories.hot({"a": stories.res()}))
        self.assertRaises(exception.ResourceNotFound, self.signal, stack, "b")


class UnhealthyTest(SignalStory):
    def mark(self, stack_id, name, unhealthy=True, reason=None):
        signals.mark_unhealthy(
            self.world.engines[0],
            self.world.stack(stack_id),
            self.row(stack_id, name),
            unhealthy,
            reason,
        )

    def test_the_next_update_replaces_it(self):
        template = stories.hot({"a": stories.res(), "b": stories.res()})
        stack = self.world.create(template)
        self.world.run()
        before = self.physical(stack)
        self.mark(stack, "a", reason="it smells")
        row = self.row(stack, "a")
        self.assertEqual(("CHECK", "FAILED"), (row.action, row.status))
        self.assertIn("it smells", self.reasons(stack, "a"))
        self.world.update(stack, template)
        self.world.run()
        after = self.physical(stack)
        self.assertNotEqual(before["a"], after["a"])
        self.assertEqual(before["b"], after["b"])

    def test_well_again(self):
        template = stories.hot({"a": stories.res()})
        stack = self.world.create(template)
        self.world.run()
        before = self.physical(stack)
        self.mark(stack, "a", unhealthy=False)
        self.assertEqual("CREATE", self.row(stack, "a").action)
        self.mark(stack, "a")
        self.mark(stack, "a", unhealthy=False)
        row = self.row(stack, "a")
        self.assertEqual(("CHECK", "COMPLETE"), (row.action, row.status))
        self.world.update(stack, template)
        self.world.run()
        self.assertEqual(before, self.physical(stack))

    def test_not_while_somebody_works_on_it(self):
        stack = self.world.create(stories.hot({"a": stories.res(wait_secs=9)}))
        self.until(stack, "a", "CREATE", "IN_PROGRESS")
        self.assertRaises(exception.ActionInProgress, self.mark, stack, "a")


class HookTest(SignalStory):
    def start(self, hook, template=None):
        template = template or stories.hot(
            {"a": stories.res(), "b": stories.res(stories.attr("a"))}
        )
        env = {"resource_registry": {"resources": {"a": {"hooks": hook}}}}
        return self.world.create(template, env)

    def clear(self, stack_id, name, hook):
        self.signal(stack_id, name, {"unset_hook": hook})

    def test_before_a_create(self):
        stack = self.start("pre-create")
        self.world.run()
        self.assertState("CREATE_IN_PROGRESS", stack)
        row = self.row(stack, "a")
        self.assertEqual(("INIT", None), (row.action, row.claim_id))
        paused = "CREATE paused until Hook pre-create is cleared"
        self.assertEqual([paused], self.reasons(stack, "a"))
        self.assertRaises(
            exception.InvalidBreakPointHook,
            self.clear,
            *(stack, "a", "pre-update"),
        )
        self.clear(stack, "a", "pre-create")
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertIn("Hook pre-create is cleared", self.reasons(stack, "a"))
        self.assertRaises(
            exception.InvalidBreakPointHook,
            self.clear,
            *(stack, "a", "pre-create"),
        )

    def test_before_an_update_and_again(self):
        stack = self.start("pre-update")
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        env = {
            "resource_registry": {
                "resources": {"a": {"hooks": ["pre-update"]}}
            }
        }
        for value in ("x", "y"):
            template = stories.hot(
                {"a": stories.res(value), "b": stories.res(stories.attr("a"))}
            )
            self.world.update(stack, template, env)
            self.world.run()
            self.assertState("UPDATE_IN_PROGRESS", stack)
            self.assertIsNone(self.row(stack, "a").claim_id)
            self.clear(stack, "a", "pre-update")
            self.world.run()
            self.assertState("UPDATE_COMPLETE", stack)

    def test_before_an_update_that_changes_nothing(self):
        template = stories.hot(
            {"a": stories.res(), "b": stories.res(stories.attr("a"))}
        )
        stack = self.start("pre-update", template)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        before = self.physical(stack)
        env = {"resource_registry": {"resources": {"a": self.both()}}}
        for _again in range(2):
            self.world.update(stack, template, env)
            self.world.run()
            self.assertState("UPDATE_IN_PROGRESS", stack)
            row = self.row(stack, "a")
            self.assertEqual(("CREATE", "COMPLETE"), (row.action, row.status))
            self.assertIsNone(row.claim_id)
            self.clear(stack, "a", "pre-update")
            self.world.run()
            self.assertState("UPDATE_COMPLETE", stack)
            self.assertEqual(before, self.physical(stack))

    def both(self):
        return {"hooks": ["pre-update", "post-create"]}

    def test_before_an_update_not_of_what_it_has_made(self):
        stack = self.world.create(stories.hot({"b": stories.res()}))
        self.world.run()
        env = {"resource_registry": {"resources": {"a": self.both()}}}
        template = stories.hot({"a": stories.res(), "b": stories.res()})
        self.world.update(stack, template, env)
        self.world.run()
        self.assertState("UPDATE_IN_PROGRESS", stack)
        self.clear(stack, "a", "post-create")
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_before_a_delete(self):
        stack = self.start("pre-delete")
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_IN_PROGRESS", stack)
        self.clear(stack, "a", "pre-delete")
        self.world.run()
        self.assertIsNotNone(self.world.stack(stack).deleted_at)

    def test_a_delete_passes_a_hook_before_a_create(self):
        stack = self.start("pre-create")
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertIsNotNone(self.world.stack(stack).deleted_at)

    def test_after_a_create(self):
        stack = self.start("post-create")
        self.world.run()
        self.assertState("CREATE_IN_PROGRESS", stack)
        row = self.row(stack, "a")
        self.assertEqual(("CREATE", "COMPLETE"), (row.action, row.status))
        self.assertEqual("INIT", self.row(stack, "b").action)
        self.clear(stack, "a", "post-create")
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)

    def test_after_an_update(self):
        stack = self.start("post-update")
        self.world.run()
        env = {
            "resource_registry": {"resources": {"a": {"hooks": "post-update"}}}
        }
        template = stories.hot(
            {"a": stories.res("x"), "b": stories.res(stories.attr("a"))}
        )
        self.world.update(stack, template, env)
        self.world.run()
        self.assertState("UPDATE_IN_PROGRESS", stack)
        self.clear(stack, "a", "post-update")
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_after_a_delete(self):
        stack = self.start("post-delete")
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_IN_PROGRESS", stack)
        self.clear(stack, "a", "post-delete")
        self.world.run()
        self.assertIsNotNone(self.world.stack(stack).deleted_at)
