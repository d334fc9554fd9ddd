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

"""OS::Heat::None, Value, RandomString and TestResource."""

from __future__ import annotations

import string

import sqlalchemy as sa
from oslo_config import cfg

from heat.common import config, exception
from heat.db import models, session
from heat.engine.clients import stand_in
from heat.engine.resource import lifecycle
from heat.tests import base
from heat.tests.unit.engine import stacks


def made(type_name, props=None, **kwargs):
    return stacks.one(stacks.registry().get(type_name), props, **kwargs)


class NoneTest(base.TestCase):
    def test_accepts_anything(self):
        rsrc = made("OS::Heat::None", {"any": ["thing"]})
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        self.assertEqual(rsrc.physical_resource_name(), rsrc.reference_id())
        self.assertIsNone(rsrc.FnGetAtt("anything", "at", "all"))
        other = made("OS::Heat::None", {"now": 1}, stored={})
        self.assertFalse(lifecycle.verdict(other).needs_update)
        stacks.run(rsrc, "DELETE")


class ValueTest(base.TestCase):
    def test_types(self):
        for wanted, given, value in (
            (None, 1, 1),
            (None, {"a": 1}, {"a": 1}),
            ("string", 1, "1"),
            ("string", ["a"], '["a"]'),
            ("number", "1.5", 1.5),
            ("number", "3", 3),
            ("comma_delimited_list", "a,b", ["a", "b"]),
            ("comma_delimited_list", ["a"], ["a"]),
            ("json", '{"a": 1}', {"a": 1}),
            ("json", [1], [1]),
            ("boolean", "True", True),
        ):
            with self.subTest(wanted=wanted, given=given):
                props = {"value": given}
                if wanted is not None:
                    props["type"] = wanted
                rsrc = made("OS::Heat::Value", props)
                rsrc.validate()
                stacks.run(rsrc, "CREATE")
                self.assertEqual(value, rsrc.FnGetAtt("value"))

    def test_bad(self):
        for wanted, given in (
            ("number", "x"),
            ("json", "x"),
            ("comma_delimited_list", 1),
            ("boolean", "maybe"),
            ("strange", "x"),
        ):
            rsrc = made("OS::Heat::Value", {"value": given, "type": wanted})
            exc = self.assertRaises(
                exception.StackValidationFailed, rsrc.validate
            )
            self.assertIn("resources.r.properties.", str(exc))
            self.assertRaises(
                exception.ResourceFailure, stacks.run, rsrc, "CREATE"
            )

    def test_not_known_yet(self):
        view = stacks.view(
            {
                "a": {"type": "OS::Heat::Value", "properties": {"value": 1}},
                "b": {
                    "type": "OS::Heat::Value",
                    "properties": {
                        "type": "number",
                        "value": {"get_attr": ["a", "value"]},
                    },
                },
            }
        )
        cls = stacks.registry().get("OS::Heat::Value")
        cls("b", view.definition.resource_definitions["b"], view).validate()

    def test_update(self):
        rsrc = made(
            "OS::Heat::Value",
            {"value": "2", "type": "number"},
            stored={"value": "1"},
            state=("CREATE", "COMPLETE"),
        )
        self.assertEqual("1", rsrc.FnGetAtt("value"))
        self.assertFalse(lifecycle.verdict(rsrc).needs_replace)
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(2, rsrc.FnGetAtt("value"))


class RandomStringTest(base.TestCase):
    TYPE = "OS::Heat::RandomString"

    def value(self, props):
        rsrc = made(self.TYPE, props)
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        value = rsrc.FnGetAtt("value")
        self.assertEqual(value, rsrc.reference_id())
        self.assertEqual({"value": (value, True)}, rsrc.changes().data)
        self.assertEqual(rsrc.physical_resource_name(), rsrc.resource_id)
        return value

    def test_values(self):
        alnum = string.ascii_letters + string.digits
        for props, length, characters in (
            ({}, 32, alnum),
            ({"length": 5}, 5, alnum),
            ({"sequence": "octdigits"}, 32, string.octdigits),
            (
                {"character_classes": [{"class": "digits"}], "length": 512},
                512,
                string.digits,
            ),
            ({"character_sequences": [{"sequence": "_"}]}, 32, alnum + "_"),
            (
                {
                    "character_sequences": [{"sequence": "ab"}],
                    "character_classes": [],
                },
                32,
                "ab",
            ),
            (
                {
                    "character_sequences": [{"sequence": "_"}],
                    "character_classes": [{"class": "uppercase"}],
                },
                32,
                string.ascii_uppercase + "_",
            ),
        ):
            with self.subTest(props=props):
                value = self.value(props)
                self.assertEqual(length, len(value))
                self.assertTrue(set(value) <= set(characters), value)

    def test_minimums(self):
        value = self.value(
            {
                "length": 6,
                "character_classes": [
                    {"class": "digits", "min": 3},
                    {"class": "lowercase", "min": 2},
                ],
                "character_sequences": [{"sequence": "%", "min": 1}],
            }
        )
        self.assertEqual(3, sum(c.isdigit() for c in value))
        self.assertEqual(2, sum(c.islower() for c in value))
        self.assertEqual(1, value.count("%"))

    def test_own_sequences_go_with_the_default_class(self):
        """A list of sequences leaves character_classes at its default."""
        value = self.value(
            {"length": 2, "character_sequences": [{"sequence": "_"}]}
        )
        self.assertEqual(1, value.count("_"), value)

    def test_too_short(self):
        rsrc = made(
            self.TYPE,
            {
                "length": 2,
                "character_classes": [{"class": "digits", "min": 3}],
            },
        )
        exc = self.assertRaises(exception.StackValidationFailed, rsrc.validate)
        self.assertIn("resources.r.properties.length", str(exc))

    def test_salt_replaces(self):
        rsrc = made(self.TYPE, {"salt": "2"}, stored={"salt": "1"})
        self.assertTrue(lifecycle.verdict(rsrc).needs_replace)

    def test_old_sequence_property(self):
        rsrc = made(self.TYPE, {"sequence": "digits"})
        self.assertEqual(
            {"character_classes": [{"class": "digits", "min": 1}]},
            rsrc.stored_properties(),
        )
        # What was stored is not translated once more.
        again = made(
            self.TYPE, {"sequence": "digits"}, stored=rsrc.stored_properties()
        )
        self.assertFalse(lifecycle.verdict(again).needs_update)


class TestResourceTest(base.TestCase):
    TYPE = "OS::Heat::TestResource"

    def setUp(self):
        super().setUp()
        self.clock = stacks.Clock()

    def made(self, props, **kwargs):
        return made(
            self.TYPE, props, ports={"monotonic": self.clock}, **kwargs
        )

    def test_create(self):
        rsrc = self.made({"value": "x"})
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        self.assertEqual("x", rsrc.FnGetAtt("output"))
        self.assertEqual(rsrc.physical_resource_name(), rsrc.reference_id())

    def test_waits(self):
        for action, props, secs in (
            ("CREATE", {"wait_secs": 5}, 5),
            ("CREATE", {"wait_secs": 5, "action_wait_secs": {"create": 2}}, 2),
            ("DELETE", {"wait_secs": 5, "action_wait_secs": {"create": 2}}, 5),
            ("DELETE", {"action_wait_secs": {"delete": 3}}, 3),
        ):
            rsrc = self.made(props, physical_id="p")
            operation = lifecycle.Operation(rsrc, action)
            self.assertEqual(lifecycle.Waiting(secs), operation.start())
            self.clock.now += secs - 1
            self.assertEqual(lifecycle.Waiting(1), operation.poll())
            self.clock.now += 1
            self.assertEqual(lifecycle.Done(), operation.poll())

    def test_fails_after_waiting(self):
        rsrc = self.made({"fail": True, "wait_secs": 1}, name="fails")
        operation = lifecycle.Operation(rsrc, "CREATE")
        self.assertEqual(lifecycle.Waiting(1), operation.start())
        self.clock.now += 1
        exc = self.assertRaises(exception.ResourceFailure, operation.poll)
        self.assertEqual(
            "ValueError: resources.fails: Test Resource failed fails",
            str(exc),
        )
        self.assertIsNotNone(rsrc.resource_id)
        stacks.run(self.made({"fail": True}, physical_id="p"), "DELETE")

    def test_update(self):
        stored = {"value": "old"}
        for props, replace in (
            ({"value": "new"}, False),
            ({"value": "new", "update_replace": True}, True),
            ({"value": "old", "update_replace": True}, False),
            ({"value": "old", "update_replace_value": "x"}, True),
        ):
            rsrc = self.made(props, stored=stored)
            verdict = lifecycle.verdict(rsrc)
            self.assertEqual(replace, verdict.needs_replace, props)
        rsrc = self.made({"value": "new"}, stored=stored)
        stacks.run(rsrc, "UPDATE")
        self.assertEqual("new", rsrc.FnGetAtt("output"))
        rsrc = self.made({"value": "new", "fail": True}, stored=stored)
        self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "UPDATE"
        )

    def test_constraint(self):
        self.made({"constraint_prop_secs": 0.01}).validate()


class RecordedObjectsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        config.load("heat-test", [], conf=self.conf)
        self.conf.set_override("record_objects", True, stand_in.GROUP)
        self.db = session.Database(url="sqlite://")
        self.addCleanup(self.db.dispose)
        self.db.run(
            lambda conn: models.metadata.create_all(
                conn, tables=[models.test_object]
            )
        )

    def objects(self):
        query = sa.select(models.test_object)
        return self.db.read(lambda conn: conn.execute(query).all())

    def recorded(self, **kwargs):
        rsrc = made("OS::Heat::TestResource", {}, **kwargs)
        ports = rsrc.stack.values.ports
        ports.conf, ports.db = self.conf, self.db
        return rsrc

    def test_life(self):
        rsrc = self.recorded()
        stacks.run(rsrc, "CREATE")
        (row,) = self.objects()
        self.assertEqual(rsrc.resource_id, row.id)
        self.assertEqual(
            ("Any::Type", "r", rsrc.stack.id, "tenant", rsrc.uuid),
            tuple(row)[1:6],
        )
        stacks.run(rsrc, "CHECK")
        self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CREATE"
        )
        stacks.run(rsrc, "DELETE")
        self.assertEqual([], self.objects())
        stacks.run(rsrc, "DELETE")
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")

    def test_off(self):
        self.conf.set_override("record_objects", False, stand_in.GROUP)
        stacks.run(self.recorded(), "CREATE")
        self.assertEqual([], self.objects())
        self.assertFalse(stand_in.is_recording(cfg.ConfigOpts()))
        self.assertFalse(stand_in.is_recording(None))
