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
"""Scenarios of external resources: the rows of the design, one by one."""

from __future__ import annotations

from unittest import mock

from heat.common import exception
from heat.db import events, released, resource_data
from heat.engine.stack import (
    abandon,
    actions,
    adopt,
    converge,
    export,
    signals,
    snapshots,
)
from heat.tests.convergence import prepared
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res


def ext(external_id, **kwargs):
    made = res(**kwargs)
    made["external_id"] = external_id
    return made


def known(*args, external_id=None, **kwargs):
    """Of a type whose service knows its objects."""
    made = {**res(*args, **kwargs), "type": prepared.KNOWN}
    if external_id is not None:
        made["external_id"] = external_id
    return made


class ExternalCase(StoryTest):
    def make(self, resources, **args):
        stack = self.world.create(hot(resources), **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def update(self, stack, resources, **args):
        self.world.update(stack, hot(resources), **args)
        self.world.run()

    def row(self, stack, name="a"):
        return self.world.living(stack)[name]

    def create(self, template, name="stack", **args):
        stack = self.world.create(template, name=name, **args)
        self.world.run()
        return stack

    def remove(self, stack):
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def reasons(self, stack, name="a"):
        found = self.world.db.read(lambda conn: events.list_(conn, [stack]))
        return [
            each.resource_status_reason
            for each in found
            if each.resource_name == name
        ]

    def objects(self):
        return self.world.objects()

    def released(self):
        found = self.world.db.read(
            lambda conn: released.list_(conn, "project")
        )
        return [(each.physical_resource_id, each.reason) for each in found]

    def names(self, stack, what):
        return [n for n, each in self.world.events(stack) if each == what]


class ExternalTest(ExternalCase):
    def test_create_adopts_and_checks(self):
        stack = self.world.create(
            hot(
                {"a": ext("theirs"), "b": res({"get_resource": "a"})},
                {"o": {"value": attr("b")}},
            )
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertEqual("theirs", row.physical_id)
        self.assertEqual(("CHECK", "COMPLETE"), (row.action, row.status))
        self.assertTrue(row.external)
        self.assertEqual({"o": "theirs"}, self.world.outputs(stack))
        events = [e for e in self.world.events(stack) if e[0] == "a"]
        self.assertEqual("ADOPT_IN_PROGRESS", events[0][1])
        self.assertEqual("CHECK_COMPLETE", events[-1][1])

    def test_delete_lets_it_go(self):
        stack = self.make({"a": ext("theirs")})
        self.world.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual([], self.names(stack, "DELETE_IN_PROGRESS")[1:])
        self.assertIn("a", self.names(stack, "DELETE_COMPLETE"))

    def test_the_same_id_passes_ownership(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine, value="whatever")})
        self.assertState("UPDATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertEqual([], self.names(stack, "UPDATE_IN_PROGRESS")[1:])
        self.world.delete(stack)
        self.world.run()
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_another_id_replaces_and_deletes_what_heat_owned(self):
        stack = self.make({"a": res("one"), "b": res({"get_resource": "a"})})
        self.update(
            stack, {"a": ext("theirs"), "b": res({"get_resource": "a"})}
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("theirs", self.row(stack).physical_id)
        self.assertIn("a", self.names(stack, "DELETE_IN_PROGRESS"))
        self.assertEqual(2, len(self.world.rows(stack)))

    def test_another_id_never_deletes_what_was_external(self):
        stack = self.make({"a": ext("first")})
        self.update(stack, {"a": ext("second")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("second", self.row(stack).physical_id)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))
        self.assertEqual(1, len(self.world.rows(stack)))

    def test_the_same_id_again_touches_nothing(self):
        stack = self.make({"a": ext("theirs", value="one")})
        self.update(stack, {"a": ext("theirs", value="two")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("CHECK", self.row(stack).action)
        self.assertNotIn("a", self.names(stack, "UPDATE_IN_PROGRESS"))

    def test_handed_back_in_place(self):
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        self.update(stack, {"a": res("two")})
        self.assertState("UPDATE_COMPLETE", stack)
        row = self.row(stack)
        self.assertFalse(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertIn("a", self.names(stack, "UPDATE_IN_PROGRESS"))
        self.world.delete(stack)
        self.world.run()
        self.assertIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_a_hand_back_that_needs_a_replacement_is_refused(self):
        stack = self.make({"a": res("one", update_replace_value="x")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        self.update(stack, {"a": res("one", update_replace_value="y")})
        self.assertState("UPDATE_FAILED", stack)
        row = self.row(stack)
        self.assertTrue(row.external)
        self.assertEqual(mine, row.physical_id)
        self.assertIn("stays external", row.status_reason)
        # And back to where it was: looked at again, not replaced.
        self.update(stack, {"a": ext(mine)})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack).physical_id)

    def test_rollback_returns_to_the_earlier_owner(self):
        stack = self.make({"a": res("one")}, disable_rollback=False)
        mine = self.row(stack).physical_id
        self.update(
            stack,
            {"a": ext("theirs"), "z": res(fail=True, depends_on="a")},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        row = self.row(stack)
        self.assertEqual(mine, row.physical_id)
        self.assertFalse(row.external)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_an_object_that_became_the_users_is_not_deleted(self):
        """Ownership follows the object: renamed and external at once."""
        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        self.update(stack, {"b": ext(mine)})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(mine, self.row(stack, "b").physical_id)
        self.assertNotIn("a", self.names(stack, "DELETE_IN_PROGRESS"))

    def test_an_empty_id_is_refused(self):
        for wrong in ("", ["x"], 5):
            with self.subTest(external_id=wrong):
                self.assertRaises(
                    exception.StackValidationFailed,
                    self.world.create,
                    hot({"a": ext(wrong)}),
                )

    def test_null_is_as_if_absent(self):
        stack = self.make({"a": ext(None)})
        self.assertFalse(self.row(stack).external)
        self.assertEqual("CREATE", self.row(stack).action)

    def test_another_id_honours_the_policy(self):
        kept = {**res("one"), "deletion_policy": "retain"}
        stack = self.make({"a": kept})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext("theirs")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({mine}, self.objects())
        self.assertEqual([(mine, "retain")], self.released())

    def test_another_id_calls_no_prepare_for_replace(self):
        stack = self.make({"a": ext("first")})
        with mock.patch.object(
            prepared.TestResource,
            "prepare_for_replace",
            side_effect=AssertionError,
        ):
            self.update(stack, {"a": ext("second")})
        self.assertState("UPDATE_COMPLETE", stack)

    def test_restricted_actions_apply(self):
        def registry(action):
            return {
                "resource_registry": {
                    "resources": {"a": {"restricted_actions": action}}
                }
            }

        stack = self.make({"a": res("one")})
        mine = self.row(stack).physical_id
        for action, wish in (
            ("replace", ext("theirs")),
            ("update", res("two")),
        ):
            if action == "update":
                self.update(stack, {"a": ext(mine)})
            self.world.update(stack, hot({"a": wish}), registry(action))
            self.world.run()
            self.assertState("UPDATE_FAILED", stack)
            self.assertEqual(mine, self.row(stack).physical_id)
            self.assertIn("restricted", self.row(stack).status_reason)

    def test_hooks_apply(self):
        env = {
            "resource_registry": {"resources": {"a": {"hooks": "pre-update"}}}
        }
        stack = self.make({"a": res("one")})
        self.world.update(stack, hot({"a": ext("theirs")}), env)
        self.world.run()
        self.assertState("UPDATE_IN_PROGRESS", stack)
        signals.signal(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            "a",
            {"unset_hook": "pre-update"},
        )
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("theirs", self.row(stack).physical_id)

    def test_bad_properties_are_named_in_an_event(self):
        stack = self.make({"a": ext("theirs", nonsense=5)})
        [warning] = [r for r in self.reasons(stack) if "warning" in r]
        self.assertIn("nonsense", warning)

    def test_not_there(self):
        with self.assertRaises(exception.StackValidationFailed) as raised:
            self.world.create(hot({"a": known(external_id="nowhere")}))
        self.assertIn("resources.a.external_id", str(raised.exception))
        self.assertIn("nowhere", str(raised.exception))

    def test_vanished_since(self):
        stack = self.world.create(hot({"a": known(external_id="theirs")}))
        gone = exception.EntityNotFound(entity="Known", name="theirs")
        with mock.patch.object(
            prepared.KnownResource, "handle_check", side_effect=gone
        ):
            self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("theirs", self.row(stack).status_reason)
        # It is back: looked at again, in the same row.
        row_id = self.row(stack).id
        self.update(stack, {"a": known(external_id="theirs")})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(row_id, self.row(stack).id)

    def test_a_version_without_it(self):
        template = {**hot({"a": ext("x")})}
        template["heat_template_version"] = "2016-04-08"
        self.assertRaises(
            exception.StackValidationFailed, self.world.create, template
        )

    def test_a_circle_through_it(self):
        circle = {
            "a": ext({"get_resource": "b"}),
            "b": res({"get_resource": "a"}),
        }
        with self.assertRaises(exception.CircularDependencyException) as found:
            self.world.create(hot(circle))
        self.assertIn("a", str(found.exception))

    def test_a_reference_is_a_dependency(self):
        stack = self.make({"b": res("one"), "a": ext(attr("b"))})
        self.assertEqual("one", self.row(stack).physical_id)
        self.assertEqual((self.row(stack, "b").id,), self.row(stack).requires)
        self.update(stack, {"b": res("two"), "a": ext(attr("b"))})
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("two", self.row(stack).physical_id)

    def test_a_parameter(self):
        template = hot(
            {"a": ext({"get_param": "p"})},
            parameters={"p": {"type": "string"}},
        )
        stack = self.world.create(template, {"parameters": {"p": "one"}})
        self.world.run()
        self.world.update(stack, template, {"parameters": {"p": "two"}})
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("two", self.row(stack).physical_id)

    def test_suspend_resume_check(self):
        stack = self.make({"a": known(external_id="theirs")})
        with mock.patch.object(
            prepared.KnownResource,
            "handle_suspend",
            create=True,
            side_effect=AssertionError,
        ):
            self.act(actions.suspend, stack)
        self.assertState("SUSPEND_COMPLETE", stack)
        self.assertEqual("SUSPEND", self.row(stack).action)
        self.assertIn("left alone", self.reasons(stack)[-1])
        self.act(actions.resume, stack)
        self.assertState("RESUME_COMPLETE", stack)
        gone = exception.EntityNotFound(entity="Known", name="theirs")
        with mock.patch.object(
            prepared.KnownResource, "handle_check", side_effect=gone
        ):
            self.act(actions.check, stack)
        self.assertState("CHECK_FAILED", stack)
        self.assertEqual("theirs", self.row(stack).physical_id)
        self.update(stack, {"a": known(external_id="theirs")})
        self.assertState("UPDATE_COMPLETE", stack)

    def act(self, action, stack):
        action(
            self.world.engines[0], self.world.context, self.world.stack(stack)
        )
        self.world.run()

    def test_marked_unhealthy_is_looked_at(self):
        stack = self.make({"a": ext("theirs")})
        signals.mark_unhealthy(
            self.world.engines[0],
            self.world.stack(stack),
            self.row(stack),
            True,
            None,
        )
        self.assertEqual("FAILED", self.row(stack).status)
        self.update(stack, {"a": ext("theirs")})
        row = self.row(stack)
        self.assertEqual(("CHECK", "COMPLETE"), (row.action, row.status))
        self.assertEqual("theirs", row.physical_id)

    def test_a_signal_is_left_alone(self):
        stack = self.make({"a": ext("theirs")})
        signals.signal(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            "a",
            {"any": "thing"},
        )
        self.assertIn("external: signal ignored", self.reasons(stack)[-1])

    def test_a_snapshot_leaves_it_alone(self):
        stack = self.make({"a": ext("theirs")})
        with mock.patch.object(
            prepared.TestResource,
            "handle_snapshot",
            create=True,
            side_effect=AssertionError,
        ):
            snapshots.take(
                self.world.engines[0],
                self.world.context,
                self.world.stack(stack),
                None,
            )
            self.world.run()
        self.assertState("SNAPSHOT_COMPLETE", stack)
        self.assertIn("left alone", self.reasons(stack)[-1])

    def test_metadata_stays_here_and_data_sleep(self):
        stack = self.make({"a": {**res("one"), "metadata": {"k": "v"}}})
        row = self.row(stack)
        self.update(
            stack, {"a": {**ext(row.physical_id), "metadata": {"k": "w"}}}
        )
        self.update(stack, {"a": res("one")})
        self.assertState("UPDATE_COMPLETE", stack)
        kept = self.world.db.read(
            lambda conn: resource_data.get_many(conn, [row.id])
        )
        self.assertEqual("one", kept[row.id]["value"])

    def test_exported_and_adopted_it_stays_external(self):
        stack = self.make({"a": ext("theirs")})
        engine = self.world.engines[0]
        told = export.export(
            engine, self.world.context, self.world.stack(stack)
        )
        self.assertTrue(told["resources"]["a"]["external"])
        made = converge.create(
            engine,
            self.world.context,
            "again",
            hot({"a": ext("theirs")}),
            {},
            {},
            {"disable_rollback": True},
            adopted=adopt.read(told),
        )
        self.world.run()
        self.assertState("ADOPT_COMPLETE", made.id)
        self.assertTrue(self.row(made.id).external)
        abandon.abandon(engine, self.world.context, self.world.stack(stack))
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual([("theirs", "external")], self.released())
