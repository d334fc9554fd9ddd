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

"""Plug-ins of a vendor, loaded and run as they are.

``plugin_dirs`` is a copy of the modules in ``vendor``; what the vendor's
distribution offers is found by real entry points.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys

import fixtures

from heat.common import exception
from heat.engine import clients, constraints, definition, plugins
from heat.engine.clients import registry as client_registry
from heat.engine.stack import actions, load, signals, snapshots
from heat.engine.template import base as template_base
from heat.tests.unit.engine import vendor
from heat.tests.unit.engine.stack import test_nested as nested
from heat.tests.unit.engine.vendor import installed

SOURCES = pathlib.Path(vendor.__file__).parent
ENTRY_POINTS = """
[heat.clients]
store = {module}:StoreClientPlugin
broken = {module}:NothingOfThatName
[heat.constraints]
store.even = {module}:EvenConstraint
[heat.engine.resources]
Vendor::Store::Lamp = {module}:Lamp
nothing = {module}:SERVICE
[heat.event_sinks]
vendor-sink = {module}:Sink
[heat.stack_lifecycle_plugins]
vendor = {module}:Lifecycle
[heat.templates]
heat_template_version.2026-01-01 = {module}:VendorTemplate
nonsense = {module}:VendorTemplate
"""

hot, attr = nested.hot, nested.attr


def shelf(**properties):
    properties.setdefault("room", {"get_resource": "room"})
    return {"type": "Vendor::Store::Shelf", "properties": properties}


def template(**resources):
    return hot(
        {"room": {"type": "Vendor::Store::Room"}, **resources},
        {
            key: {"value": {"get_attr": ["a", key]}}
            for key in ("free", "keys", "note")
        }
        if "a" in resources
        else None,
    )


class VendorTest(nested.NestedTest):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.install(folder / "site")
        dropped = folder / "plugins"
        dropped.mkdir()
        for name in ("store.py", "alarms.py"):
            shutil.copy(SOURCES / name, dropped)
            module = f"heat.engine.plugins.{name[:-3]}"
            self.addCleanup(sys.modules.pop, module, None)
        self.addCleanup(plugins.__path__.clear)
        self.keep_tables()
        self.log = self.useFixture(fixtures.FakeLogger())
        conf = self.world.conf
        conf.set_override("plugin_dirs", [str(dropped)])
        self.addCleanup(conf.clear_override, "plugin_dirs")
        self.registry = plugins.PluginRegistry.load(conf)
        self.engine.plugins = self.world.plugins = self.registry
        self.service = installed.SERVICE
        self.service.__init__()

    def install(self, site):
        """Make a distribution with entry points, as pip would."""
        info = site / "vendor_store-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Name: vendor-store\nVersion: 1.0\n")
        text = ENTRY_POINTS.format(module=installed.__name__)
        (info / "entry_points.txt").write_text(text)
        sys.path.insert(0, str(site))
        self.addCleanup(sys.path.remove, str(site))
        # Else it is asked for what it found for another test.
        self.useFixture(
            fixtures.MonkeyPatch(
                "stevedore.extension.ExtensionManager.ENTRY_POINT_CACHE", {}
            )
        )

    def keep_tables(self):
        """What plug-ins are entered into belongs to the whole process."""
        for table in (
            client_registry._plugins,
            constraints._registered,
            definition._implied,
            template_base._added,
        ):
            before = dict(table)
            self.addCleanup(table.update, before)
            self.addCleanup(table.clear)
        self.addCleanup(clients.configure, self.world.conf)

    def row(self, stack, name="a"):
        return self.world.living(stack)[name]

    def thing(self, stack, name="a"):
        return self.service.shelves.stored[self.row(stack, name).physical_id]


class EntryPointTest(VendorTest):
    def test_every_group(self):
        self.assertTrue(client_registry.has_client("store"))
        self.assertIn("Vendor::Store::Lamp", self.registry)
        self.assertIs(installed.Sink, self.registry.event_sinks["vendor-sink"])
        [plugin] = self.registry.lifecycle
        self.assertIsInstance(plugin, installed.Lifecycle)
        self.assertIsNotNone(self.registry.constraint("store.even"))
        rule = constraints.CustomConstraint("store.even")
        rule.validate(4)
        error = self.assertRaises(ValueError, rule.validate, 5)
        self.assertIn("it is odd", str(error))
        loaded = template_base.load({"heat_template_version": "2026-01-01"})
        self.assertIsInstance(loaded, installed.VendorTemplate)

    def test_what_is_wrong_is_named_and_left_out(self):
        for name in ("broken", "nothing", "nonsense"):
            self.assertIn(name, self.log.output)
        self.assertFalse(client_registry.has_client("broken"))

    def test_a_stack_in_the_vendor_s_language(self):
        body = template() | {"heat_template_version": "2026-01-01"}
        self.make(body)


class ShelfTest(VendorTest):
    def test_a_life(self):
        self.service.shelves.built_after = 3
        began = self.world.now
        stack = self.make(
            template(a=shelf(title="old name", books=[{"name": "b"}]))
        )
        self.assertGreaterEqual(self.world.now - began, 2)
        made = self.thing(stack)
        # Translated, typed, with defaults, and named by the engine.
        self.assertEqual("old name", made.label)
        self.assertEqual("room-1", made.room)
        self.assertEqual([{"name": "b", "pages": 100}], made.books)
        self.assertLessEqual(len(made.name), 30)
        self.assertEqual(
            {"free": 9, "keys": "keys of floor 0", "note": "made"},
            self.world.outputs(stack),
        )
        self.update(stack, template(a=shelf(label="new", size=20)))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(("new", 20), (made.label, made.size))
        self.assertIs(made, self.thing(stack))
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({}, self.service.shelves.stored)
        self.assertEqual({}, self.service.rooms.stored)
        # The shelf was left with the help of a room that was there still.
        self.assertIn("left with the keys of floor 0", self.log.output)

    def test_what_replaces_it(self):
        stack = self.make(template(a=shelf()))
        seen = [self.row(stack).physical_id]
        for properties in (
            {"material": "steel"},
            {"material": "steel", "size": 5},
            {"material": "steel", "size": 5, "label": "magic"},
        ):
            self.update(stack, template(a=shelf(**properties)))
            self.assertState("UPDATE_COMPLETE", stack)
            seen.append(self.row(stack).physical_id)
        self.assertEqual(4, len(set(seen)))
        self.assertEqual({seen[-1]}, set(self.service.shelves.stored))

    def test_what_is_wrong(self):
        for properties, word in (
            ({"size": 0}, "size"),
            ({"label": "LOUD"}, "label"),
            ({"material": "glass"}, "material"),
            ({"books": [{"pages": 1}]}, "name"),
            ({"size": 1, "books": [{"name": "b"}] * 2}, "More books"),
            ({"room": "nowhere"}, "nowhere"),
        ):
            with self.subTest(word=word), self.assertRefused(word):
                self.begin(template(a=shelf(**properties)))

    def test_a_failure(self):
        self.service.shelves.built_after = 100
        stack = self.begin(template(a=shelf()))
        self.world.run_until(lambda: self.service.shelves.stored)
        self.thing(stack).status = "ERROR"
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("it fell", self.world.stack(stack).status_reason)
        self.service.shelves.built_after = 0
        self.update(stack, template(a=shelf()))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"shelf-2"}, set(self.service.shelves.stored))

    def test_the_order_it_asks_for(self):
        stack = self.make(template(a=shelf(after="b"), b=shelf()))
        self.assertEqual("shelf-1", self.row(stack, "b").physical_id)
        self.assertEqual("shelf-2", self.row(stack, "a").physical_id)
        events = self.world.events(stack)
        self.assertLess(
            events.index(("b", "CREATE_COMPLETE")),
            events.index(("a", "CREATE_IN_PROGRESS")),
        )

    def test_other_actions(self):
        stack = self.make(template(a=shelf()))
        for act, covered in (
            (actions.suspend, True),
            (actions.resume, False),
            (actions.check, False),
        ):
            act(self.engine, self.context, self.world.stack(stack))
            self.world.run()
            self.assertIn("_COMPLETE", self.world.state(stack))
            self.assertEqual(covered, self.thing(stack).covered)
        self.thing(stack).status = "DUSTY"
        actions.check(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.assertState("CHECK_FAILED", stack)
        self.assertIn(
            "'status': expected 'READY', got 'DUSTY'",
            self.world.stack(stack).status_reason,
        )

    def test_a_signal(self):
        stack = self.make(template(a=shelf()))
        record = self.world.stack(stack)
        said = {"note": "dust"}
        signals.signal(self.engine, self.context, record, "a", said)
        self.assertEqual("dust", self.row(stack).metadata["note"])

    def test_snapshots(self):
        stack = self.make(template(a=shelf(label="before")))

        def act(what, *args):
            record = self.world.stack(stack)
            made = what(self.engine, self.context, record, *args)
            self.world.run()
            return made

        ident = act(snapshots.take, "s").id
        self.assertState("SNAPSHOT_COMPLETE", stack)
        self.assertEqual(1, len(self.service.copies.stored))
        taken = snapshots.get(self.engine, self.world.stack(stack), ident)
        act(snapshots.restore, taken)
        self.assertState("RESTORE_COMPLETE", stack)
        self.assertEqual("restored", self.thing(stack).label)
        act(snapshots.delete, taken)
        self.assertEqual({}, self.service.copies.stored)

    def test_what_it_sees_of_the_live_object(self):
        stack = self.make(template(a=shelf(label="told")))
        self.thing(stack).label = "changed"
        self.update(stack, template(a=shelf(label="told")), converge=True)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("told", self.thing(stack).label)

    def test_what_it_sees_in_nested_stacks(self):
        """Nothing of a nested stack changed, but an object in it did."""
        room = {"type": "Vendor::Store::Room"}
        files = {
            "outer.yaml": hot({"inner": {"type": "inner.yaml"}}),
            "inner.yaml": hot({"room": room, "b": shelf(label="told")}),
        }
        wanted = hot({"outer": {"type": "outer.yaml"}})
        files = {name: json.dumps(each) for name, each in files.items()}
        stack = self.make(wanted, files)
        [thing] = self.service.shelves.stored.values()
        thing.label = "changed"
        self.update(stack, wanted, files)
        self.assertEqual("changed", thing.label)
        for _again in range(2):
            self.update(stack, wanted, files, converge=True)
            self.assertState("UPDATE_COMPLETE", stack)
            self.assertEqual("told", thing.label)
        self.assertEqual([thing], list(self.service.shelves.stored.values()))


class BellTest(VendorTest):
    def test_a_bell(self):
        bell = {"type": "Vendor::Bells::Bell"}
        stack = self.make(hot({"a": bell}))
        for said in ({"state": "alarm"}, {"state": "ok"}, {"state": "alarm"}):
            record = self.world.stack(stack)
            signals.signal(self.engine, self.context, record, "a", said)
        loaded = load.load(self.engine, self.world.stack(stack))
        bell = load.resource(
            self.engine, self.context, loaded, loaded.rows["a"]
        )
        self.assertEqual(2, bell.FnGetAtt("rings"))
        self.assertEqual("sesame", bell.FnGetAtt("signal", "password"))
        self.assertEqual(
            3, self.world.events(stack).count(("a", "SIGNAL_COMPLETE"))
        )

    def test_a_tower(self):
        def tower(*words):
            return hot(
                {
                    "n": {
                        "type": "Vendor::Bells::Tower",
                        "properties": {"words": list(words)},
                    }
                },
                {"count": {"value": attr("n", "count")}},
            )

        stack = self.make(tower("x", "y"))
        self.assertEqual({"count": 2}, self.world.outputs(stack))
        child = self.child(stack)
        self.update(stack, tower("x", "y", "z"))
        self.assertEqual({"x", "y", "z"}, set(self.world.living(child)))
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_a_service_that_is_not_there(self):
        error = exception.HeatException
        with self.assertRefused("nobody rings here", error=error):
            self.begin(hot({"a": {"type": "Vendor::Bells::Silent"}}))


class ShownTest(VendorTest):
    def test_schemas_and_templates(self):
        for name in (
            "Vendor::Store::Shelf",
            "Vendor::Bells::Bell",
            "Vendor::Bells::Tower",
        ):
            shown = self.registry.schema(name, with_description=True)
            self.assertTrue(shown["description"])
            for kind in ("hot", "cfn"):
                self.registry.template(name, kind)
        shown = self.registry.schema("Vendor::Store::Shelf")
        self.assertEqual("3.0.0", shown["support_status"]["version"])
        self.assertNotIn("title", shown["properties"])
