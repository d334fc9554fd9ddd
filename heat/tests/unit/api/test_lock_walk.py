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

"""The table of LOCK and UNLOCK, walked: every state, every call.

The routes and the RPC methods are those that there are. One that changes
something and is not asked for here fails the test, as does one that no rule
knows.
"""

from __future__ import annotations

import ast
import pathlib

import sqlalchemy as sa

import heat.api
from heat.api import routes
from heat.api.handlers import actions
from heat.common import context as heat_context
from heat.common import exception
from heat.db import models
from heat.engine.resource import state
from heat.engine.stack import lock
from heat.tests import base, inprocess
from heat.tests.unit.engine.service import test_locks

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"r": {"type": "OS::Heat::TestResource"}},
}
HELD = (
    "LOCK_IN_PROGRESS",
    "LOCK_COMPLETE",
    "LOCK_FAILED",
    "UNLOCK_IN_PROGRESS",
    "UNLOCK_FAILED",
)
S = "/stacks/{stack_name}/{stack_id}"
D = "/software_deployments"
HOOK = {"unset_hook": "pre-update"}
#: (method, route) -> (kind, body) of each request that is refused
REQUESTS = {
    ("PUT", S): [("update", {"template": TEMPLATE})],
    ("PATCH", S): [("update", {"parameters": {}})],
    ("DELETE", S): [("delete", None)],
    ("DELETE", f"{S}/abandon"): [("abandon", None)],
    ("POST", f"{S}/snapshots"): [("snapshot", {})],
    ("DELETE", f"{S}/snapshots/{{snapshot_id}}"): [("delete_snapshot", None)],
    ("POST", f"{S}/snapshots/{{snapshot_id}}/restore"): [("restore", None)],
    ("POST", f"{S}/actions"): [
        ("suspend", {"suspend": None}),
        ("resume", {"resume": None}),
        ("check", {"check": None}),
        ("cancel_update", {"cancel_update": None}),
        ("cancel_update", {"cancel_without_rollback": None}),
        ("lock", {"lock": None}),
        ("lock", {"lock": {"level": "stacks"}}),
        ("unlock", {"unlock": None}),
    ],
    ("PATCH", f"{S}/resources/{{resource_name}}"): [
        ("mark_unhealthy", {"mark_unhealthy": True})
    ],
    ("POST", f"{S}/resources/{{resource_name}}/signal"): [
        ("clear_hook", HOOK)
    ],
    ("POST", D): [
        ("deployment", {"server_id": "SERVER", "config_id": "CONFIG"})
    ],
    ("PUT", f"{D}/{{deployment_id}}"): [
        ("deployment", {"action": "UPDATE", "status": "IN_PROGRESS"}),
        ("deployment", {"input_values": {"a": "b"}}),
        ("deployment", {"config_id": "CONFIG"}),
    ],
    ("DELETE", f"{D}/{{deployment_id}}"): [("deployment", None)],
}
#: Requests that a lock has no say in, with the reason.
FREE = {
    ("POST", "/stacks"): "a new stack",
    ("POST", "/software_configs"): "a config belongs to no stack",
    ("DELETE", "/software_configs/{config_id}"): "a config never changes",
    ("POST", "/stacks/preview"): "it tells only",
    ("PUT", f"{S}/preview"): "it tells only",
    ("PATCH", f"{S}/preview"): "it tells only",
}


def writes():
    """(method, route) of whatever does more than read."""
    for path, methods in routes.ROUTES.items():
        for method, entry in methods.items():
            if method == "GET" or entry.handler.__name__ in test_locks.LOCAL:
                continue
            called = test_locks.WalkTest.called_by(None, entry.handler)
            if entry.handler is actions.action or not all(
                test_locks.is_read(each) for each in called
            ):
                yield method, path


class WalkTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(inprocess.Service())
        self.context = heat_context.RequestContext(
            project_id=self.service.project, user_id="u", username="bob"
        )

    def make(self, name):
        """A stack with all that requests may be about."""
        made = self.service.create(name, TEMPLATE)
        self.identity = {
            "tenant": self.service.project,
            "stack_name": name,
            "stack_id": made,
            "path": "",
        }
        path = f"/stacks/{name}/{made}"
        shown = self.service.get(f"{path}/resources/r")["resource"]
        server = shown["physical_resource_id"]
        config = self.answer("POST", "/software_configs", {"name": "c"})[
            "software_config"
        ]["id"]
        deployment = self.answer(
            "POST", D, {"server_id": server, "config_id": config}
        )["software_deployment"]["id"]
        snapshot = self.answer("POST", f"{path}/snapshots", {})["id"]
        self.service.wait(made, "SNAPSHOT_COMPLETE")
        self.names = {
            "stack_name": name,
            "stack_id": made,
            "resource_name": "r",
            "snapshot_id": snapshot,
            "deployment_id": deployment,
        }
        self.words = {"SERVER": server, "CONFIG": config}
        return made

    def answer(self, method, path, body):
        answer = self.service.call(method, path, body)
        self.assertLess(answer.status_code, 300, answer.text)
        return answer.get_json()

    def put_into(self, stack_id, shown, **more):
        action, _under, status = shown.partition("_")
        table = models.stack
        self.service.db.run(
            lambda conn: conn.execute(
                sa.update(table)
                .where(table.c.id == stack_id)
                .values(action=action, status=status, **more)
            )
        )

    def lock_into(self, stack_id, shown):
        self.put_into(
            stack_id,
            shown,
            base_action="CREATE",
            base_status="COMPLETE",
            lock_level="stacks",
            lock_root=stack_id,
            lock_reason="repair",
            locked_by="bob",
        )

    def row(self, stack_id):
        table = models.stack
        found = self.service.db.read(
            lambda conn: conn.execute(
                sa.select(table).where(table.c.id == stack_id)
            ).one()
        )._asdict()
        del found["lock_blocked"]
        return found

    def send(self, method, path, body):
        body = {
            key: self.words.get(value, value) if isinstance(value, str)
            else value
            for key, value in body.items()
        } if body is not None else None  # fmt: skip
        return self.service.call(method, path.format(**self.names), body)

    # -- the walks -----------------------------------------------------------

    def test_every_write_of_the_routes_is_asked_for(self):
        self.assertEqual(set(writes()), {*REQUESTS, *FREE})
        asked = [kind for each in REQUESTS.values() for kind, _body in each]
        # Resource metadata has no route that writes it.
        self.assertEqual({*lock.ACTIONS}, {*asked, "metadata"})
        self.assertEqual(
            set(actions.ACTIONS),
            {
                key
                for _kind, body in REQUESTS["POST", f"{S}/actions"]
                for key in body
            },
        )

    def test_every_request_in_every_locked_state(self):
        made, refused = self.make("one"), 0
        for shown in HELD:
            self.lock_into(made, shown)
            before = self.row(made)
            for (method, path), requests in REQUESTS.items():
                for kind, body in requests:
                    if kind in lock.allowed(shown):
                        continue
                    with self.subTest(state=shown, verb=method, path=path):
                        answer = self.send(method, path, body)
                        self.assertEqual(409, answer.status_code, answer.text)
                        fault = answer.get_json()["error"]
                        self.assertEqual("StackLocked", fault["type"])
                        self.assertIn("reason: repair", fault["message"])
                        self.assertEqual(before, self.row(made))
                    refused += 1
        self.assertEqual(101, refused)

    def test_what_a_locked_state_allows(self):
        allowed = {
            (shown, kind) for shown in HELD for kind in lock.allowed(shown)
        }
        for number, (shown, kind) in enumerate(sorted(allowed)):
            with self.subTest(state=shown, kind=kind):
                made = self.make(f"s{number}")
                self.lock_into(made, shown)
                if kind == "delete":
                    answer = self.send("DELETE", S, None)
                else:
                    answer = self.send("POST", f"{S}/actions", {kind: None})
                self.assertIn(answer.status_code, (200, 204), answer.text)
                self.service.wait(made, f"{kind.upper()}_COMPLETE")
        self.assertEqual(7, len(allowed))

    def test_lock_and_unlock_in_every_other_state(self):
        made = self.make("one")
        for action in state.ACTIONS:
            for status in ("IN_PROGRESS", "COMPLETE", "FAILED"):
                shown = f"{action}_{status}"
                if shown not in HELD:
                    with self.subTest(state=shown):
                        self.check_unlocked(made, shown)

    def check_unlocked(self, made, shown):
        self.put_into(made, shown, base_action=None, base_status=None)
        before = self.row(made)
        answer = self.send("POST", f"{S}/actions", {"unlock": None})
        self.assertEqual(409, answer.status_code, answer.text)
        self.assertEqual("StackNotLocked", answer.get_json()["error"]["type"])
        self.assertEqual(before, self.row(made))
        answer = self.send("POST", f"{S}/actions", {"lock": None})
        if "lock" in lock.allowed(shown):
            self.assertEqual(200, answer.status_code, answer.text)
            self.service.wait(made, "LOCK_COMPLETE")
            self.send("POST", f"{S}/actions", {"unlock": None})
            self.service.wait(made, "UNLOCK_COMPLETE")
            now = self.row(made)
            if shown != "UNLOCK_COMPLETE":
                covered = f"{now['base_action']}_{now['base_status']}"
                self.assertEqual(shown, covered)
            return
        self.assertEqual(409, answer.status_code, answer.text)
        busy = shown.endswith("_IN_PROGRESS")
        self.assertEqual(
            "ActionInProgress" if busy else "StackNotLockable",
            answer.get_json()["error"]["type"],
        )
        self.assertEqual(before, self.row(made))

    def test_after_an_unlock_nothing_is_refused(self):
        made = self.make("one")
        last = ("abandon", "delete")
        asked = [
            (kind, method, path, body)
            for (method, path), requests in REQUESTS.items()
            for kind, body in requests
            if kind not in ("lock", "unlock", *last)
        ]
        for kind, method, path, body in asked:
            with self.subTest(kind=kind):
                self.put_into(
                    made,
                    "UNLOCK_COMPLETE",
                    base_action="CREATE",
                    base_status="COMPLETE",
                )
                answer = self.send(method, path, body)
                self.assertNotIn("StackLocked", answer.text)
                self.assertLess(answer.status_code, 500, answer.text)
                self.rest(made)
        self.put_into(made, "UNLOCK_COMPLETE")
        answer = self.send("DELETE", S, None)
        self.assertEqual(204, answer.status_code, answer.text)

    def rest(self, made):
        until = inprocess.time.monotonic() + inprocess.WAIT_SECONDS
        while self.row(made)["status"] == "IN_PROGRESS":
            self.assertLess(inprocess.time.monotonic(), until)
            inprocess.time.sleep(0.01)

    def test_every_rpc_method_in_every_locked_state(self):
        made = self.make("one")
        calls = self.rpc_calls()
        known = {
            name: rule.kind
            for name, rule in lock.METHODS.items()
            if rule.kind != lock.FREE
        }
        self.assertEqual(set(known), set(calls))
        for shown in HELD:
            self.lock_into(made, shown)
            before = self.row(made)
            for name, call in calls.items():
                if known[name] in lock.allowed(shown):
                    continue
                with self.subTest(state=shown, method=name):
                    self.assertRaises(exception.StackLocked, call)
                    self.assertEqual(before, self.row(made))

    def rpc_calls(self):
        """Name of the method -> what calls it."""
        engine, ctx, stack = self.service.engine, self.context, self.identity
        deployment = self.names["deployment_id"]
        snapshot = self.names["snapshot_id"]
        return {
            "update_stack": lambda: engine.update_stack(
                ctx, stack, TEMPLATE, {}, {}, {}
            ),
            "delete_stack": lambda: engine.delete_stack(
                ctx, stack, cast=False
            ),
            "abandon_stack": lambda: engine.abandon_stack(ctx, stack),
            "stack_cancel_update": lambda: engine.stack_cancel_update(
                ctx, stack
            ),
            "stack_suspend": lambda: engine.stack_suspend(ctx, stack),
            "stack_resume": lambda: engine.stack_resume(ctx, stack),
            "stack_check": lambda: engine.stack_check(ctx, stack),
            "stack_lock": lambda: engine.stack_lock(ctx, stack),
            "stack_unlock": lambda: engine.stack_unlock(ctx, stack),
            "stack_snapshot": lambda: engine.stack_snapshot(ctx, stack, "s"),
            "delete_snapshot": lambda: engine.delete_snapshot(
                ctx, stack, snapshot
            ),
            "stack_restore": lambda: engine.stack_restore(
                ctx, stack, snapshot
            ),
            "resource_signal": lambda: engine.resource_signal(
                ctx, stack, "r", HOOK
            ),
            "resource_mark_unhealthy": (
                lambda: engine.resource_mark_unhealthy(ctx, stack, "r", True)
            ),
            "create_software_deployment": (
                lambda: engine.create_software_deployment(
                    ctx, self.words["SERVER"], self.words["CONFIG"]
                )
            ),
            "update_software_deployment": (
                lambda: engine.update_software_deployment(
                    ctx, deployment, action="UPDATE"
                )
            ),
            "delete_software_deployment": (
                lambda: engine.delete_software_deployment(ctx, deployment)
            ),
        }

    def test_what_is_data_passes(self):
        made = self.make("one")
        for shown in HELD:
            self.lock_into(made, shown)
            with self.subTest(state=shown):
                answer = self.send(
                    "PUT",
                    f"{D}/{{deployment_id}}",
                    {"status": "COMPLETE", "output_values": {"a": "b"}},
                )
                self.assertEqual(200, answer.status_code, answer.text)

    def test_the_guard_costs_no_statement(self):
        """As many as without a lock, up to where the answer is known."""
        made = self.make("one")
        free = self.cost("check")
        self.service.wait(made, "CHECK_COMPLETE")
        self.lock_into(made, "LOCK_COMPLETE")
        with self.service.statements() as seen:
            self.send("POST", f"{S}/actions", {"check": None})
        looked = [each for each in seen if each.startswith("SELECT")]
        self.assertLess(len(looked), free)

    def cost(self, action):
        with self.service.statements() as seen:
            self.send("POST", f"{S}/actions", {action: None})
            return len(seen)


class CallersTest(base.TestCase):
    def test_whatever_the_apis_call_has_a_rule(self):
        """Those of other APIs than ReST go by the same methods."""
        seen = set()
        for path in pathlib.Path(heat.api.__file__).parent.rglob("*.py"):
            for name in called(ast.parse(path.read_text())):
                seen.add(name)
                with self.subTest(file=path.name, method=name):
                    self.assertTrue(
                        name in lock.METHODS or test_locks.is_read(name)
                    )
        self.assertIn("resource_signal", seen)


def called(tree):
    """Names of what is called on something named engine."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            name = getattr(owner, "attr", getattr(owner, "id", ""))
            if name == "engine":
                yield node.func.attr
