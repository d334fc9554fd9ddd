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
"""LOCK and UNLOCK through the endpoints, and that there is no way round.

The walks go over the table of ReST routes and the methods of every
endpoint: whatever is added without a rule fails here.
"""

from __future__ import annotations

import inspect
import re

from heat.api import routes
from heat.api.handlers import actions as action_handlers
from heat.common import exception
from heat.engine.service import actions, server
from heat.engine.stack import lock
from heat.tests import base
from heat.tests.unit.engine.service import test_endpoints

# What only reads, beside what begins with one of these words.
READS = (
    "authenticated_to_backend",
    "check_software_deployment",
    "count_stacks",
    "describe_stack_resource",
    "describe_stack_resources",
    "export_stack",
    "find_physical_resource",
    "generate_template",
    "identify_stack",
    "metadata_software_deployments",
    "preview_stack",
    "preview_update_stack",
    "resource_schema",
    "show_output",
    "stack_list_snapshots",
    "validate_template",
)
READ_WORDS = ("get_", "list_", "show_")

# Methods of the API that reach no engine.
LOCAL = frozenset({"lookup"})


def rpc_methods():
    """The methods that answer on the engine's topic."""
    return {
        name: (endpoint, method)
        for endpoint in server.ENDPOINTS
        for name, method in inspect.getmembers(endpoint, inspect.isfunction)
        if not name.startswith("_")
    }


def is_read(name):
    return name in READS or name.startswith(READ_WORDS)


class WalkTest(base.TestCase):
    def test_every_rpc_method_has_a_rule(self):
        for name in rpc_methods():
            with self.subTest(method=name):
                self.assertTrue(
                    (name in lock.METHODS) != is_read(name),
                    f"{name} neither has a rule in lock.METHODS nor is "
                    "known to read only",
                )

    def test_no_rule_is_left_over(self):
        self.assertEqual(set(), set(lock.METHODS) - set(rpc_methods()))

    def test_every_route_that_writes_leads_to_a_rule(self):
        for path, methods in routes.ROUTES.items():
            for verb, entry in methods.items():
                if verb == "GET" or entry.handler.__name__ in LOCAL:
                    continue
                with self.subTest(path=path, verb=verb):
                    self.check_route(entry)

    def check_route(self, entry):
        called = self.called_by(entry.handler)
        if entry.handler is action_handlers.action:
            for each in action_handlers.ACTIONS.values():
                called |= self.called_by(each)
        self.assertTrue(called)
        known = {
            name for name in called if name in lock.METHODS or is_read(name)
        }
        self.assertEqual(called, known)

    def called_by(self, handler):
        """RPC methods that a handler calls, those of its helpers too."""
        module = inspect.getmodule(handler)
        todo, called, seen = [handler], set(), set()
        while todo:
            function = todo.pop()
            if function in seen:
                continue
            seen.add(function)
            source = inspect.getsource(function)
            called |= set(re.findall(r"\.engine\.(\w+)\b", source))
            for word in re.findall(r"\b(\w+)\b", source):
                other = getattr(module, word, None)
                if inspect.isfunction(other) and (
                    inspect.getmodule(other) is module
                ):
                    todo.append(other)
        return called

    def test_the_walk_sees_a_planted_breach(self):
        entry = routes.Entry(planted, "stacks:update")
        self.assertRaises(AssertionError, self.check_route, entry)


def planted(call):
    call.engine.turn_the_stack_round(call.context)


class LockTest(test_endpoints.EngineTest):
    def lock(self, identity, **terms):
        self.client.stack_lock(self.ctx, identity, **terms)

    def shown(self, identity):
        [found] = self.client.show_stack(
            self.ctx, identity, resolve_outputs=False
        )
        return found

    def test_the_record_is_shown_and_gone(self):
        identity = self.create()
        self.assertIsNone(self.shown(identity)["lock"])
        self.lock(identity, level="stacks", reason="repair", expires_in=60)
        self.assertEqual(("LOCK", "COMPLETE"), self.state(identity))
        [listed] = self.client.list_stacks(self.ctx)
        for found in (self.shown(identity), listed):
            record = found["lock"]
            self.assertEqual(
                ("stacks", "repair", "bob", self.ctx.request_id, {}),
                (
                    record["level"],
                    record["reason"],
                    record["locked_by"],
                    record["request_id"],
                    record["blocked"],
                ),
            )
            self.assertLess(record["locked_at"], record["expires_at"])
        self.client.stack_unlock(self.ctx, identity)
        self.wait(identity, "UNLOCK")
        self.assertIsNone(self.shown(identity)["lock"])

    def test_everything_that_changes_is_refused_and_counted(self):
        identity = self.create()
        self.lock(identity, level="stacks", reason="repair")
        call, ctx = self.client, self.ctx
        refused = {
            "update": lambda: call.update_stack(
                ctx, identity, test_endpoints.NONE, {}, {}, {}
            ),
            "delete": lambda: call.delete_stack(ctx, identity, cast=False),
            "suspend": lambda: call.stack_suspend(ctx, identity),
            "resume": lambda: call.stack_resume(ctx, identity),
            "check": lambda: call.stack_check(ctx, identity),
            "cancel_update": lambda: call.stack_cancel_update(ctx, identity),
            "snapshot": lambda: call.stack_snapshot(ctx, identity, "s"),
            "delete_snapshot": lambda: call.delete_snapshot(
                ctx, identity, "1"
            ),
            "restore": lambda: call.stack_restore(ctx, identity, "1"),
            "abandon": lambda: call.abandon_stack(ctx, identity),
            "mark_unhealthy": lambda: call.resource_mark_unhealthy(
                ctx, identity, "r", True
            ),
            "clear_hook": lambda: call.resource_signal(
                ctx, identity, "r", {"unset_hook": "pre-update"}
            ),
        }
        for kind, attempt in refused.items():
            with self.subTest(kind=kind):
                error = self.assertRaises(exception.StackLocked, attempt)
                self.assertIn("reason: repair", str(error))
        counted = self.shown(identity)["lock"]["blocked"]
        self.assertEqual(set(refused), set(counted))
        self.assertEqual(
            set(lock.KINDS) - {"deployment", "metadata"}, set(refused)
        )
        other = self.as_user("p1")
        self.assertRaises(
            exception.StackLocked, call.stack_check, other, identity
        )
        found = self.shown(identity)["lock"]["blocked"]["check"]
        self.assertEqual(
            (2, "bob", other.request_id),
            (found["count"], found["by"], found["request_id"]),
        )
        call.stack_unlock(ctx, identity)
        self.wait(identity, "UNLOCK")
        reasons = [
            each["resource_status_reason"]
            for each in call.list_events(ctx, identity)
            if each["resource_action"] == "UNLOCK"
        ]
        self.assertIn("check 2 (last by bob)", reasons[0])

    def test_whatever_reads_works(self):
        identity = self.create(template=test_endpoints.TEMPLATE)
        self.lock(identity)
        self.wait(identity, "LOCK")
        call, ctx = self.client, self.ctx
        call.get_template(ctx, identity)
        call.get_environment(ctx, identity)
        call.get_files(ctx, identity)
        call.list_events(ctx, identity)
        self.assertEqual(
            8, call.show_output(ctx, identity, "size")["output_value"]
        )
        for found in call.list_stack_resources(ctx, identity):
            self.assertEqual("LOCK", found["resource_action"])
            self.assertEqual("COMPLETE", found["resource_status"])
        self.assertEqual(
            2,
            len(
                call.list_stack_resources(
                    ctx, identity, filters={"action": "LOCK"}
                )
            ),
        )
        preview = call.preview_update_stack(
            ctx, identity, test_endpoints.TEMPLATE, {}, {}, {}
        )
        self.assertEqual(2, len(preview["unchanged"]))

    def test_wrong_states_and_words(self):
        identity = self.create()
        self.assertRaises(
            exception.StackNotLocked,
            self.client.stack_unlock,
            self.ctx,
            identity,
        )
        self.assertRaises(ValueError, self.lock, identity, level="some")
        self.assertRaises(ValueError, self.lock, identity, expires_in=0)
        self.assertRaises(
            exception.EntityNotFound,
            self.client.stack_lock,
            self.as_user("p2"),
            identity,
        )
        self.client.delete_stack(self.ctx, identity, cast=False)
        self.wait_gone(identity)
        self.assertRaises(exception.StackNotLockable, self.lock, identity)

    def wait_gone(self, identity):
        self.wait(identity, "DELETE")

    def test_the_guard_asks_the_database_nothing(self):
        identity = self.create()
        endpoint = actions.ActionEndpoint(self.engine.engine)
        found = [
            self.statements(endpoint._stack, self.ctx, identity, mutating=kind)
            for kind in (None, "update")
        ]
        self.assertEqual(found[0], found[1])

    def test_a_deployment_on_a_server_of_a_locked_stack(self):
        identity = self.create(template=test_endpoints.TEMPLATE)
        server_id = self.client.describe_stack_resource(
            self.ctx, identity, "word"
        )["physical_resource_id"]
        self.lock(identity)
        self.wait(identity, "LOCK")
        self.assertRaises(
            exception.StackLocked,
            self.client.create_software_deployment,
            self.ctx,
            server_id,
            "c",
            {},
            "CREATE",
            "IN_PROGRESS",
            "",
            "",
            None,
        )
        self.assertIn("deployment", self.shown(identity)["lock"]["blocked"])

    def test_a_signal_is_ignored(self):
        identity = self.create()
        engine = self.engine.engine
        stack = engine.db.read(
            lambda conn: test_endpoints.stacks.get(conn, identity["stack_id"])
        )
        self.assertFalse(lock.ignores_signal(engine, self.ctx, stack, "r"))
        self.lock(identity, level="stacks")
        stack = engine.db.read(
            lambda conn: test_endpoints.stacks.get(conn, identity["stack_id"])
        )
        self.assertFalse(
            lock.ignores_signal(engine, self.ctx, stack, "r", modifies=False)
        )
        self.assertTrue(lock.ignores_signal(engine, self.ctx, stack, "r"))
        last = self.client.list_events(self.ctx, identity)[0]
        self.assertEqual(
            "signal ignored: stack is locked", last["resource_status_reason"]
        )
        self.assertIn("signal", self.shown(identity)["lock"]["blocked"])
