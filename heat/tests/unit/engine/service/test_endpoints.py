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

"""Endpoints in front of a real engine: SQLite, in-process bus, no mocks."""

from __future__ import annotations

import time
import uuid

import fixtures
import oslo_messaging
import sqlalchemy as sa
from oslo_config import cfg

from heat.common import config, context, exception
from heat.db import stacks
from heat.engine import plugins
from heat.engine.service import server
from heat.rpc import clients, local, transport
from heat.tests import base
from heat.tests.unit.db import backends
from heat.tests.unit.rpc import test_clients

TEMPLATE = {
    "heat_template_version": "2016-10-14",
    "description": "two resources",
    "parameters": {
        "length": {"type": "number", "default": 8},
        "password": {"type": "string", "default": "x", "hidden": True},
    },
    "resources": {
        "word": {
            "type": "OS::Heat::RandomString",
            "description": "some letters",
            "metadata": {"colour": "red"},
            "properties": {"length": {"get_param": "length"}},
        },
        "copy": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_attr": ["word", "value"]}},
        },
    },
    "outputs": {
        "size": {
            "description": "how long",
            "value": {"get_param": "length"},
        },
        "word": {"value": {"get_attr": ["copy", "value"]}},
    },
}
NONE = {
    "heat_template_version": "2016-10-14",
    "resources": {"r": {"type": "OS::Heat::None"}},
}


class EngineTest(base.TestCase):
    """A running engine; ``self.client`` calls it."""

    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        config.register(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        self.conf.set_override("hidden_stack_tags", ["hidden"])
        self.db = self.useFixture(backends.Scratch()).db
        self.bus = local.LocalBus()
        self.addCleanup(self.bus.close)
        self.engine = server.EngineServer(
            self.conf,
            self.bus,
            self.db,
            plugins.PluginRegistry.load(self.conf),
            alone=True,
        )
        self.engine.start()
        self.addCleanup(self.engine.stop)
        self.client = clients.EngineClient(self.bus)
        self.ctx = self.as_user("p1")

    def as_user(self, project, **values):
        return context.RequestContext(
            project_id=project, user_id="u", username="bob", **values
        )

    def create(self, name="one", template=NONE, ctx=None, **args):
        ctx = ctx or self.ctx
        identity = self.client.create_stack(ctx, name, template, {}, {}, args)
        self.wait(identity, "CREATE", ctx)
        return identity

    def state(self, identity, ctx=None):
        [shown] = self.client.show_stack(
            ctx or self.ctx, identity, resolve_outputs=False
        )
        return shown["stack_action"], shown["stack_status"]

    def wait(self, identity, action, ctx=None):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            state = self.state(identity, ctx)
            if state == (action, "COMPLETE"):
                return
            self.assertNotEqual("FAILED", state[1])
            time.sleep(0.02)
        self.fail(f"{action} did not end")

    def statements(self, call, *args, **kwargs):
        """How many statements a call sends to the database."""
        seen = []

        def note(conn, cursor, statement, *rest):
            if "resource_name" in statement or "FROM stack" in statement:
                seen.append(statement)
            elif "raw_template" in statement:
                seen.append(statement)

        sa.event.listen(self.db.engine, "before_cursor_execute", note)
        try:
            call(*args, **kwargs)
        finally:
            sa.event.remove(self.db.engine, "before_cursor_execute", note)
        return len(seen)


class IdentifyTest(EngineTest):
    def test_by_name_id_and_identity(self):
        identity = self.create()
        self.assertEqual(
            {
                "tenant": "p1",
                "stack_name": "one",
                "stack_id": identity["stack_id"],
                "path": "",
            },
            identity,
        )
        for asked in ("one", identity["stack_id"], identity):
            with self.subTest(asked=asked):
                self.assertEqual(
                    identity, self.client.identify_stack(self.ctx, asked)
                )

    def test_others_see_nothing(self):
        identity = self.create()
        stranger = self.as_user("p2")
        admin = self.as_user("p2", is_admin=True)
        stolen = {**identity, "tenant": "p2"}
        for ctx in (stranger, admin, self.as_user(None)):
            for asked in ("one", identity["stack_id"], identity, stolen):
                with self.subTest(ctx=ctx, asked=asked):
                    error = self.assertRaises(
                        exception.EntityNotFound,
                        self.client.identify_stack,
                        ctx,
                        asked,
                    )
                    self.assertIn("could not be found", str(error))

    def test_deleted_ones_only_by_id(self):
        identity = self.create()
        self.client.delete_stack(self.ctx, identity)
        self.wait(identity, "DELETE")
        self.assertEqual(
            identity,
            self.client.identify_stack(self.ctx, identity["stack_id"]),
        )
        self.assertRaises(
            exception.EntityNotFound,
            self.client.identify_stack,
            self.ctx,
            "one",
        )
        self.assertRaises(
            exception.EntityNotFound,
            self.client.delete_stack,
            self.ctx,
            identity,
        )

    def test_wrong_name_beside_the_id(self):
        identity = {**self.create(), "stack_name": "two"}
        self.assertRaises(
            exception.EntityNotFound,
            self.client.show_stack,
            self.ctx,
            identity,
        )

    def test_malformed(self):
        self.assertRaises(
            ValueError, self.client.show_stack, self.ctx, {"stack_id": "x"}
        )


class ProjectTest(EngineTest):
    def test_every_method_checks_the_project(self):
        """Whatever takes an identity refuses one of another project."""
        identity = self.create()
        stranger = self.as_user("p2")
        for method, _version, args in test_clients.calls():
            if "stack_identity" not in args:
                continue
            for asked in (identity, {**identity, "tenant": "p2"}):
                with self.subTest(method=method, asked=asked):
                    values = dict.fromkeys(args)
                    values.update(stack_identity=asked, args={}, params={})
                    if "nested_depth" in values:
                        values["nested_depth"] = 0
                    values = {k: v for k, v in values.items() if k in args}
                    self.assertRaises(
                        exception.EntityNotFound,
                        getattr(self.client, method),
                        stranger,
                        **values,
                    )

    def test_snapshots(self):
        identity = self.create()
        self.wait(identity, "CREATE")
        made = self.client.stack_snapshot(self.ctx, identity, "s")
        self.assertEqual(
            ("CREATE", "IN_PROGRESS", None),
            (made["action"], made["status"], made["data"]),
        )
        self.wait(identity, "SNAPSHOT")
        [listed] = self.client.stack_list_snapshots(self.ctx, identity)
        self.assertEqual(made["id"], listed["id"])
        shown = self.client.show_snapshot(self.ctx, identity, made["id"])
        self.assertEqual("SNAPSHOT", shown["data"]["action"])
        self.client.stack_restore(self.ctx, identity, made["id"])
        self.wait(identity, "RESTORE")
        self.client.delete_snapshot(self.ctx, identity, made["id"])
        for method in ("show_snapshot", "delete_snapshot", "stack_restore"):
            with self.subTest(method=method):
                self.assertRaises(
                    exception.SnapshotNotFound,
                    getattr(self.client, method),
                    self.ctx,
                    identity,
                    made["id"],
                )

    def test_abandon_and_adopt_are_off(self):
        identity = self.create()
        self.assertRaises(
            exception.NotSupported,
            self.client.abandon_stack,
            self.ctx,
            identity,
        )
        self.assertRaises(
            exception.NotSupported,
            self.create,
            "other",
            adopt_stack_data={"resources": {}},
        )


class ListTest(EngineTest):
    def names(self, ctx=None, **asked):
        found = self.client.list_stacks(ctx or self.ctx, **asked)
        return [stack["stack_name"] for stack in found]

    def test_selections(self):
        self.create("a", tags=["red", "big"])
        self.create("b", tags=["red"])
        self.create("c", tags=["hidden"])
        self.create("theirs", ctx=self.as_user("p2"))
        gone = self.create("gone")
        self.client.delete_stack(self.ctx, gone)
        self.wait(gone, "DELETE")
        admin = self.as_user(None, is_admin=True)
        for asked, expected in (
            ({}, "a b"),
            ({"show_hidden": True}, "a b c"),
            ({"show_deleted": True}, "a b gone"),
            ({"tags": "red,big"}, "a"),
            ({"tags_any": ["big", "red"]}, "a b"),
            ({"not_tags_any": ["big"]}, "b"),
            ({"filters": {"name": "b"}}, "b"),
            ({"filters": {"stack_name": ["a", "b"]}}, "a b"),
            ({"filters": {"stack_status": "FAILED"}}, ""),
            ({"filters": {"id": gone["stack_id"]}}, ""),
        ):
            with self.subTest(asked=asked):
                self.assertEqual(expected.split(), sorted(self.names(**asked)))
                self.assertEqual(
                    len(expected.split()),
                    self.client.count_stacks(self.ctx, **asked),
                )
        self.assertEqual(["a", "b", "theirs"], sorted(self.names(admin)))
        self.assertRaises(exception.Forbidden, self.names, self.as_user(None))

    def test_pages(self):
        ids = [self.create(name)["stack_id"] for name in "abc"]
        page = {"sort_keys": ["stack_name"], "sort_dir": "asc", "limit": 2}
        self.assertEqual(["a", "b"], self.names(**page))
        self.assertEqual(["c"], self.names(**page, marker=ids[1]))
        for wrong in (
            {"sort_keys": "colour"},
            {"sort_dir": "up"},
            {"marker": str(uuid.uuid4())},
            {"filters": {"colour": "red"}},
        ):
            with self.subTest(wrong=wrong):
                self.assertRaises(exception.Invalid, self.names, **wrong)

    def test_descriptions(self):
        self.create("one", TEMPLATE)
        [shown] = self.client.list_stacks(self.ctx)
        self.assertEqual("two resources", shown["description"])
        self.assertIsNone(shown["tags"])
        self.assertIsNone(shown["lock"])

    def test_few_statements(self):
        template = self.create("first")
        with_id = self.db.read(
            lambda conn: stacks.get(conn, template["stack_id"])
        )

        def fill(conn):
            for number in range(200):
                values = {
                    "name": f"s{number}",
                    "tenant": "p1",
                    "action": "CREATE",
                    "status": "COMPLETE",
                    "raw_template_id": with_id.raw_template_id,
                }
                stacks.insert(conn, values)

        self.db.run(fill)
        count = self.statements(self.client.list_stacks, self.ctx)
        self.assertEqual(201, len(self.client.list_stacks(self.ctx)))
        self.assertLessEqual(count, 3)


class StackTest(EngineTest):
    def test_show(self):
        identity = self.create("one", TEMPLATE, timeout_mins=7, tags=["t"])
        [shown] = self.client.show_stack(self.ctx, identity)
        self.assertEqual("******", shown["parameters"]["password"])
        self.assertEqual("8", shown["parameters"]["length"])
        self.assertEqual("p1", shown["parameters"]["OS::project_id"])
        values = {o["output_key"]: o for o in shown["outputs"]}
        self.assertEqual(8, values["size"]["output_value"])
        self.assertEqual(8, len(values["word"]["output_value"]))
        self.assertEqual(7, shown["timeout_mins"])
        self.assertEqual(["t"], shown["tags"])
        self.assertEqual("bob", shown["stack_owner"])
        [brief] = self.client.show_stack(self.ctx, identity, False)
        self.assertNotIn("outputs", brief)
        self.assertEqual(
            ["one"],
            [s["stack_name"] for s in self.client.show_stack(self.ctx, None)],
        )

    def test_update(self):
        identity = self.create("one", TEMPLATE)
        self.assertEqual(
            identity,
            self.client.update_stack(
                self.ctx, identity, TEMPLATE, {"parameters": {"length": 5}},
                {}, {},
            ),
        )  # fmt: skip
        self.wait(identity, "UPDATE")
        output = self.client.show_output(self.ctx, identity, "size")
        self.assertEqual(5, output["output_value"])

    def test_two_of_one_name(self):
        self.create()
        self.assertRaises(exception.StackExists, self.create)

    def test_a_bad_template_names_the_place(self):
        wrong = {**NONE, "resources": {"r": {"type": "OS::Nothing"}}}
        error = self.assertRaises(
            exception.HeatException, self.create, template=wrong
        )
        self.assertIn("OS::Nothing", str(error))

    def test_what_it_was_made_of(self):
        identity = self.client.create_stack(
            self.ctx, "one", TEMPLATE,
            {"parameters": {"password": "secret", "length": 9}},
            {"file:///a": "text"}, {},
        )  # fmt: skip
        self.wait(identity, "CREATE")
        self.assertEqual(
            TEMPLATE, self.client.get_template(self.ctx, identity)
        )
        environment = self.client.get_environment(self.ctx, identity)
        self.assertEqual(
            {"password": "******", "length": 9}, environment["parameters"]
        )
        self.assertEqual(
            {
                "parameters",
                "parameter_defaults",
                "resource_registry",
                "encrypted_param_names",
                "event_sinks",
            },
            set(environment),
        )
        self.assertEqual(
            {"file:///a": "text"}, self.client.get_files(self.ctx, identity)
        )

    def test_outputs(self):
        identity = self.create("one", TEMPLATE)
        self.assertEqual(
            {"size": "how long", "word": "No description given"},
            {
                o["output_key"]: o["description"]
                for o in self.client.list_outputs(self.ctx, identity)
            },
        )
        self.assertRaises(
            exception.NotFound,
            self.client.show_output,
            self.ctx,
            identity,
            "none",
        )


class ResourceTest(EngineTest):
    def test_list(self):
        identity = self.create("one", TEMPLATE)
        found = self.client.list_stack_resources(self.ctx, identity)
        self.assertEqual(
            [("copy", []), ("word", ["copy"])],
            [(r["resource_name"], r["required_by"]) for r in found],
        )
        for filters, expected in (
            ({"name": "copy"}, ["copy"]),
            ({"type": ["OS::Heat::RandomString"]}, ["word"]),
            ({"status": "FAILED"}, []),
            (
                {"physical_resource_id": found[1]["physical_resource_id"]},
                ["word"],
            ),
        ):
            with self.subTest(filters=filters):
                chosen = self.client.list_stack_resources(
                    self.ctx, identity, filters=filters
                )
                self.assertEqual(
                    expected, [r["resource_name"] for r in chosen]
                )
        self.assertRaises(
            exception.Invalid,
            self.client.list_stack_resources,
            self.ctx,
            identity,
            filters={"colour": "red"},
        )

    def test_old_versions_are_not_shown(self):
        identity = self.create("one", TEMPLATE)
        changed = {"parameters": {"length": 5}}
        before = self.client.describe_stack_resource(
            self.ctx, identity, "word"
        )
        self.client.update_stack(self.ctx, identity, TEMPLATE, changed, {}, {})
        self.wait(identity, "UPDATE")
        found = self.client.list_stack_resources(self.ctx, identity)
        self.assertEqual(["copy", "word"], [r["resource_name"] for r in found])
        self.assertEqual(["copy"], found[1]["required_by"])
        self.assertNotEqual(
            before["physical_resource_id"], found[1]["physical_resource_id"]
        )

    def test_details(self):
        identity = self.create("one", TEMPLATE)
        one = self.client.describe_stack_resource(self.ctx, identity, "word")
        self.assertEqual("some letters", one["description"])
        self.assertEqual({"colour": "red"}, one["metadata"])
        self.assertEqual(8, len(one["attributes"]["value"]))
        several = self.client.describe_stack_resources(
            self.ctx, identity, None
        )
        self.assertEqual([one], [r for r in several if r == one])
        [same] = self.client.describe_stack_resources(
            self.ctx, identity, "word"
        )
        self.assertEqual(one, same)
        listed = self.client.list_stack_resources(
            self.ctx, identity, with_detail=True, filters={"name": "word"}
        )
        self.assertEqual([one], listed)
        self.assertRaises(
            exception.ResourceNotFound,
            self.client.describe_stack_resource,
            self.ctx,
            identity,
            "none",
        )

    def test_by_physical_id(self):
        identity = self.create("one", TEMPLATE)
        one = self.client.describe_stack_resource(self.ctx, identity, "word")
        physical_id = one["physical_resource_id"]
        self.assertEqual(
            {**identity, "path": "/resources/word"},
            self.client.find_physical_resource(self.ctx, physical_id),
        )
        for ctx, wanted in (
            (self.as_user("p2"), physical_id),
            (self.ctx, "none"),
        ):
            with self.subTest(wanted=wanted):
                self.assertRaises(
                    exception.EntityNotFound,
                    self.client.find_physical_resource,
                    ctx,
                    wanted,
                )


class EventTest(EngineTest):
    def test_events(self):
        identity = self.create()
        found = self.client.list_events(self.ctx, identity, sort_dir="asc")
        newest = self.client.list_events(self.ctx, identity)
        self.assertEqual(found[::-1], newest)
        self.assertEqual(
            [
                ("one", "IN_PROGRESS"),
                ("r", "IN_PROGRESS"),
                ("r", "COMPLETE"),
                ("one", "COMPLETE"),
            ],
            [(e["resource_name"], e["resource_status"]) for e in found],
        )
        self.assertEqual({None}, {e["root_stack_id"] for e in found})
        deep = self.client.list_events(self.ctx, identity, nested_depth=0)
        for each in deep:
            self.assertEqual(identity, each["root_stack_id"])
        page = self.client.list_events(
            self.ctx,
            identity,
            limit=1,
            marker=found[1]["event_identity"]["path"].split("/")[-1],
            sort_keys="event_time",
            sort_dir="asc",
        )
        self.assertEqual([found[2]], page)
        one = self.client.list_events(
            self.ctx, identity, filters={"resource_name": ["one"]}
        )
        self.assertEqual([found[3], found[0]], one)

    def test_of_a_project(self):
        self.create("one")
        self.create("two", ctx=self.as_user("p2"))
        found = self.client.list_events(self.ctx, None)
        self.assertEqual({"one"}, {e["stack_name"] for e in found})


class TemplateTest(EngineTest):
    def test_validate(self):
        answer = self.client.validate_template(self.ctx, TEMPLATE, {})
        self.assertEqual("two resources", answer["Description"])
        self.assertEqual({"length", "password"}, set(answer["Parameters"]))

    def test_versions_and_functions(self):
        versions = self.client.list_template_versions(self.ctx)
        names = [each["version"] for each in versions]
        self.assertIn("heat_template_version.2013-05-23", names)
        aliases = {each["version"]: each["aliases"] for each in versions}
        self.assertEqual(
            ["heat_template_version.newton"],
            aliases["heat_template_version.2016-10-14"],
        )
        for name in names:
            with self.subTest(name=name):
                found = self.client.list_template_functions(self.ctx, name)
                self.assertTrue(all(f["description"] for f in found))
        more = self.client.list_template_functions(
            self.ctx, "heat_template_version.2016-10-14", True
        )
        self.assertIn("equals", [each["functions"] for each in more])
        for wrong in ("heat_template_version.2001-01-01", "x", ""):
            with self.subTest(wrong=wrong):
                self.assertRaises(
                    exception.NotFound,
                    self.client.list_template_functions,
                    self.ctx,
                    wrong,
                )

    def test_types(self):
        names = self.client.list_resource_types(self.ctx)
        self.assertIn("OS::Heat::None", names)
        [one] = self.client.list_resource_types(
            self.ctx, type_name="OS::Heat::Ran", with_description=True
        )
        self.assertEqual("OS::Heat::RandomString", one["resource_type"])
        self.assertTrue(one["description"])
        shown = self.client.resource_schema(self.ctx, "OS::Heat::Value", True)
        self.assertEqual(
            {
                "resource_type",
                "properties",
                "attributes",
                "support_status",
                "description",
            },
            set(shown),
        )
        made = self.client.generate_template(
            self.ctx, "OS::Heat::Value", "hot"
        )
        self.assertIn("heat_template_version", made)
        for call in (
            self.client.resource_schema,
            self.client.generate_template,
        ):
            self.assertRaises(
                exception.EntityNotFound, call, self.ctx, "OS::None"
            )


class MetaTest(EngineTest):
    def test_services(self):
        [one] = self.client.list_services(self.ctx)
        self.assertEqual("up", one["status"])
        self.assertEqual(self.engine.engine_id, one["engine_id"])

    def test_revision(self):
        self.assertEqual("unknown", self.client.get_revision(self.ctx))
        self.assertIs(True, self.client.authenticated_to_backend(self.ctx))

    def test_listener_and_worker(self):
        there = clients.ListenerClient(self.bus, self.engine.engine_id)
        self.assertTrue(there.listening(self.ctx, timeout=1))
        absent = clients.ListenerClient(self.bus, str(uuid.uuid4()))
        self.assertFalse(absent.listening(self.ctx, timeout=1))
        # A node of a traversal that is no more is let fall.
        clients.WorkerClient(self.bus).send(
            self.ctx, "no-stack", "no-traversal", [(1, True)]
        )

    def test_unexpected_errors_are_logged_and_answered(self):
        identity = self.create()
        log = self.useFixture(fixtures.FakeLogger("heat"))
        self.db.run(lambda conn: conn.execute(sa.text("DROP TABLE event")))
        self.assertRaises(
            oslo_messaging.RemoteError,
            self.client.list_events,
            self.ctx,
            identity,
        )
        self.assertIn(
            f"Unexpected error in list_events (request {self.ctx.request_id})",
            log.output,
        )
        # The engine can't say any more that it stops.
        self.db.run(
            lambda conn: conn.execute(sa.text("CREATE TABLE event (id int)"))
        )

    def test_stop_takes_the_engine_off_the_list(self):
        self.engine.stop()
        self.assertRaises(
            transport.MessagingTimeout, self.client.list_services, self.ctx
        )
        rows = self.db.read(
            lambda conn: conn.execute(
                sa.text(
                    "SELECT count(*) FROM service WHERE deleted_at IS NULL"
                )
            ).scalar()
        )
        self.assertEqual(0, rows)
