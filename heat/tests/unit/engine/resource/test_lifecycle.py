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

"""Running actions and weighing updates, with tiny plug-ins."""

from __future__ import annotations

from heat.common import exception
from heat.engine import properties, resource
from heat.engine.resource import lifecycle
from heat.tests import base
from heat.tests.unit.engine import stacks

S = properties.Schema


class Slow(resource.Resource):
    """Needs as many checks as its property says."""

    properties_schema = {"checks": S(S.INTEGER, default=0)}

    def handle_create(self):
        self.resource_id_set("an-id")
        return {"left": self.properties["checks"]}

    def check_create_complete(self, token):
        token["left"] -= 1
        return token["left"] < 0

    def handle_create_cancel(self, token):
        token["left"] = "cancelled"


class Updatable(resource.Resource):
    properties_schema = {
        "fixed": S(S.STRING),
        "free": S(S.STRING, default="d", update_allowed=True),
        "more": S(S.STRING, update_allowed=True),
        "never": S(S.STRING, immutable=True),
        "map": S(
            S.MAP,
            schema={"a": S(S.STRING), "b": S(S.INTEGER, default=2)},
            update_allowed=True,
        ),
    }
    calls = None
    error = None

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if self.error:
            raise self.error
        self.calls = (
            json_snippet.properties(self.properties_schema)["free"],
            self.properties["free"],
            dict(prop_diff),
            tmpl_diff.properties_changed(),
        )
        return "token"

    def check_update_complete(self, token):
        assert token == "token"
        assert self.properties["free"] == self.calls[1]
        return True


class RunTest(base.TestCase):
    def test_create(self):
        rsrc = stacks.one(Slow, {"checks": 2})
        operation = lifecycle.Operation(rsrc, "CREATE")
        self.assertEqual(lifecycle.Waiting(1.0), operation.start())
        self.assertEqual(("CREATE", "IN_PROGRESS"), rsrc.state)
        self.assertEqual(lifecycle.Waiting(1.0), operation.poll())
        self.assertEqual(lifecycle.Done(), operation.poll())
        self.assertEqual(("CREATE", "COMPLETE"), rsrc.state)

    def test_absent_handlers(self):
        for action in ("CREATE", "DELETE", "SUSPEND", "CHECK", "UPDATE"):
            rsrc = stacks.one(resource.Resource)
            stacks.run(rsrc, action)
            self.assertEqual((action, "COMPLETE"), rsrc.state)

    def test_arguments(self):
        class Adopting(resource.Resource):
            pass

        rsrc = stacks.one(Adopting)
        data = {"resource_id": "x", "resource_data": {"k": "v"}}
        stacks.run(rsrc, "ADOPT", arguments=(data,))
        self.assertEqual("x", rsrc.resource_id)
        self.assertEqual({"k": "v"}, rsrc.data())

    def test_poll_delay(self):
        class Delaying(resource.Resource):
            def check_create_complete(self, token):
                raise resource.PollDelay(7)

        clock = stacks.Clock()
        operation = lifecycle.Operation(
            stacks.one(Delaying),
            "CREATE",
            timeout_at=clock.now + 10,
            monotonic=clock,
        )
        self.assertEqual(lifecycle.Waiting(7), operation.start())
        clock.now += 7
        self.assertEqual(lifecycle.Waiting(3), operation.poll())
        clock.now += 3
        exc = self.assertRaises(exception.ResourceFailure, operation.poll)
        self.assertIn("resources.r: CREATE of Any::Type", str(exc))
        self.assertIn("Delaying", str(exc))
        self.assertIn("timed out after 10 seconds", str(exc))

    def test_generator(self):
        seen = []

        class Stepping(resource.Resource):
            def handle_create(self):
                seen.append(1)
                yield
                seen.append(2)
                return "token"

            def check_create_complete(self, token):
                seen.append(token)
                return True

        operation = lifecycle.Operation(stacks.one(Stepping), "CREATE")
        self.assertEqual(lifecycle.Waiting(1.0), operation.start())
        self.assertEqual(lifecycle.Done(), operation.poll())
        self.assertEqual([1, 2, "token"], seen)

    def test_failures_name_the_resource(self):
        for error, text in (
            (ValueError("no"), "ValueError: resources.fails: no"),
            (
                exception.StackValidationFailed(
                    "Property error",
                    ["resources", "fails", "properties", "a"],
                    "bad",
                ),
                "Property error: resources.fails.properties.a: bad",
            ),
            (
                exception.ResourceInError("reason", "ERROR"),
                "ResourceInError: resources.fails: "
                'Went to status ERROR due to "reason"',
            ),
            (
                exception.UpdateReplace("fails"),
                "Error: resources.fails: it asked to be replaced too late",
            ),
        ):

            class Failing(resource.Resource):
                def handle_create(self, error=error):
                    raise error

            rsrc = stacks.one(Failing, name="fails")
            exc = self.assertRaises(
                exception.ResourceFailure,
                lifecycle.Operation(rsrc, "CREATE").start,
            )
            self.assertEqual(text, str(exc))
            self.assertEqual(("CREATE", "FAILED"), rsrc.state)
            self.assertEqual(text, rsrc.status_reason)

    def test_interrupts_pass(self):
        class Interrupted(resource.Resource):
            def handle_create(self):
                raise KeyboardInterrupt

        operation = lifecycle.Operation(stacks.one(Interrupted), "CREATE")
        self.assertRaises(KeyboardInterrupt, operation.start)

    def test_create_checks_properties(self):
        operation = lifecycle.Operation(
            stacks.one(Slow, {"checks": "x"}), "CREATE"
        )
        exc = self.assertRaises(exception.ResourceFailure, operation.start)
        self.assertEqual(
            "Property error: resources.r.properties.checks: "
            "Value 'x' is not an integer",
            str(exc),
        )

    def test_who_is_late_is_told(self):
        clock = stacks.Clock()
        operation = lifecycle.Operation(
            stacks.one(Slow, {"checks": 9}),
            "CREATE",
            timeout_at=clock.now + 1,
            monotonic=clock,
        )
        operation.start()
        clock.now += 1
        self.assertRaises(exception.ResourceFailure, operation.poll)
        self.assertEqual({"left": "cancelled"}, operation.token)

    def test_cancel(self):
        operation = lifecycle.Operation(
            stacks.one(Slow, {"checks": 2}), "CREATE"
        )
        operation.start()
        operation.cancel()
        self.assertEqual({"left": "cancelled"}, operation.token)


class UpdateTest(base.TestCase):
    def updated(self, stored, props, **kwargs):
        return stacks.one(
            Updatable,
            props,
            stored=stored,
            state=("CREATE", "COMPLETE"),
            physical_id="p",
            **kwargs,
        )

    def test_what_the_plugin_is_told(self):
        rsrc = self.updated(
            {"free": "old", "more": "gone", "map": {"a": "x"}},
            {"free": "new", "map": {"a": "y"}},
        )
        self.assertEqual("old", rsrc.properties["free"])
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(
            (
                "new",
                "old",
                {"free": "new", "more": None, "map": {"a": "y", "b": 2}},
                True,
            ),
            rsrc.calls,
        )
        self.assertEqual("new", rsrc.properties["free"])

    def test_before_handed_in(self):
        rsrc = self.updated(None, {"free": "new"})
        before = lifecycle.Before({"free": "older"})
        self.assertEqual(("free",), lifecycle.verdict(rsrc, before).changed)
        stacks.run(rsrc, "UPDATE", before=before)
        self.assertEqual("older", rsrc.calls[1])

    def test_template_metadata_follows(self):
        rsrc = self.updated({}, {}, more={"metadata": {"a": 1}})
        old = rsrc.target.freeze(metadata={"a": 0})
        before = lifecycle.Before({}, old)
        verdict = lifecycle.verdict(rsrc, before)
        self.assertEqual((True, False), verdict_pair(verdict))
        stacks.run(rsrc, "UPDATE", before=before)
        self.assertEqual({"a": 1}, rsrc.changes().metadata)

    def test_replace_from_handle_update(self):
        rsrc = self.updated({}, {"free": "new"})
        rsrc.error = resource.UpdateReplace("r")
        operation = lifecycle.Operation(rsrc, "UPDATE")
        self.assertRaises(resource.UpdateReplace, operation.start)

    def test_verdicts(self):
        for stored, props, needs, changed in (
            ({}, {}, (False, False), ()),
            # Naming the default changes nothing, nor does another spelling.
            ({}, {"free": "d"}, (False, False), ()),
            ({"free": "1"}, {"free": 1}, (False, False), ()),
            (
                {"map": {"a": "x"}},
                {"map": {"a": "x", "b": 2}},
                (False, False),
                (),
            ),
            ({}, {"free": "n"}, (True, False), ("free",)),
            ({"free": "n"}, {}, (True, False), ("free",)),
            ({}, {"fixed": "n", "free": "n"}, (True, True), ("fixed", "free")),
        ):
            with self.subTest(stored=stored, props=props):
                verdict = lifecycle.verdict(self.updated(stored, props))
                self.assertEqual(needs, verdict_pair(verdict))
                self.assertEqual(changed, verdict.changed)

    def test_immutable(self):
        rsrc = self.updated({"never": "a"}, {"never": "b"})
        exc = self.assertRaises(
            exception.NotSupported, lifecycle.verdict, rsrc
        )
        self.assertEqual(
            "Update to properties never of r (Any::Type) is not supported.",
            str(exc),
        )

    def test_failed(self):
        class Tough(Updatable):
            always_replace_on_check_failed = False

            def needs_replace_failed(self):
                return False

        for cls, action, needs in (
            (Updatable, "CREATE", (True, True)),
            (Updatable, "CHECK", (True, True)),
            (Tough, "UPDATE", (True, False)),
            (Tough, "CHECK", (True, False)),
        ):
            rsrc = stacks.one(cls, stored={}, state=(action, "FAILED"))
            self.assertEqual(needs, verdict_pair(lifecycle.verdict(rsrc)))

    def test_questions(self):
        class Asking(Updatable):
            def needs_replace(self, after_props):
                return after_props["free"] == "after"

            def needs_replace_with_prop_diff(self, changed, after, before):
                assert self.properties["free"] == before["free"] == "old"
                return changed == {"more"}

        for props, replace in (
            ({"free": "after"}, True),
            ({"free": "other"}, False),
            ({"free": "old", "more": "x"}, True),
        ):
            rsrc = stacks.one(
                Asking,
                props,
                stored={"free": "old"},
                state=("CREATE", "COMPLETE"),
            )
            verdict = lifecycle.verdict(rsrc)
            self.assertEqual((True, replace), verdict_pair(verdict))


def verdict_pair(verdict):
    return verdict.needs_update, verdict.needs_replace
