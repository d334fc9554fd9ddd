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

"""The surface plug-ins call: names, data, attributes, the stack view."""

from __future__ import annotations

import string

from heat.common import exception
from heat.engine import attributes, definition, properties, resource
from heat.engine.resource import external, hooks, state
from heat.tests import base
from heat.tests.unit.engine import stacks

S = properties.Schema


class NameTest(base.TestCase):
    def test_physical_name(self):
        rsrc = stacks.one(resource.Resource)
        name = rsrc.physical_resource_name()
        self.assertTrue(name.startswith("st-r-"), name)
        short = name.rpartition("-")[2]
        self.assertEqual(12, len(short))
        self.assertEqual(short, short.lower())
        self.assertTrue(set(short) <= set(string.ascii_lowercase + "234567"))
        self.assertEqual(name, rsrc.physical_resource_name())

    def test_before_a_row(self):
        rsrc = stacks.one(resource.Resource, row=False)
        self.assertIsNone(rsrc.physical_resource_name())
        self.assertEqual("r", rsrc.physical_resource_name_or_FnGetRefId())

    def test_limit(self):
        class Short(resource.Resource):
            physical_resource_name_limit = 20

        full = "some-long-stack-resource-abcdefghijkl"
        reduce = resource.Resource.reduce_physical_resource_name
        for limit, name in (
            (40, full),
            (20, "some-lo-abcdefghijkl"),
            (13, "-abcdefghijkl"),
            (5, "hijkl"),
        ):
            self.assertEqual(name, reduce(full, limit))
        self.assertRaises(ValueError, reduce, full, 3)
        rsrc = stacks.one(Short, name="a-very-long-name-indeed")
        self.assertEqual(20, len(rsrc.physical_resource_name()))

    def test_reference(self):
        rsrc = stacks.one(resource.Resource)
        self.assertEqual("r", rsrc.reference_id())
        rsrc.resource_id_set("p")
        self.assertEqual("p", rsrc.FnGetRefId())

    def test_identity(self):
        rsrc = stacks.one(resource.Resource)
        self.assertEqual("/resources/r", rsrc.identifier().path)
        self.assertEqual("Any::Type", rsrc.type())


class MemoryTest(base.TestCase):
    def test_changes(self):
        rsrc = stacks.one(resource.Resource)
        self.assertFalse(rsrc.changes())
        rsrc.resource_id_set("p")
        rsrc.data_set("a", "1")
        rsrc.data_set("b", "2", redact=True)
        self.assertTrue(rsrc.data_delete("a"))
        self.assertFalse(rsrc.data_delete("zz"))
        rsrc.metadata_set({"m": 1})
        changes = rsrc.changes()
        self.assertEqual((True, "p"), changes_id(changes))
        self.assertEqual({"b": ("2", True)}, changes.data)
        self.assertEqual(frozenset("a"), changes.data_deleted)
        self.assertEqual({"m": 1}, changes.metadata)
        rsrc.mark_saved()
        self.assertFalse(rsrc.changes())
        self.assertEqual({"b": "2"}, rsrc.data())

    def test_metadata(self):
        rsrc = stacks.one(resource.Resource, more={"metadata": {"t": 1}})
        self.assertEqual({"t": 1}, rsrc.metadata_get())
        rsrc.metadata_set(
            {"n": 2}, merge_metadata=lambda new, old: {**old, **new}
        )
        self.assertEqual({"t": 1, "n": 2}, rsrc.metadata_get())

    def test_hooks(self):
        rsrc = stacks.one(resource.Resource)
        hooks.set_hook(rsrc, hooks.HOOK_PRE_UPDATE)
        self.assertTrue(rsrc.has_hook("pre-update"))
        rsrc.clear_hook("pre-update")
        rsrc.clear_hook("pre-update")
        self.assertFalse(rsrc.has_hook("pre-update"))
        self.assertRaises(ValueError, hooks.set_hook, rsrc, "strange")

    def test_state_words(self):
        rsrc = stacks.one(resource.Resource)
        rsrc.state_set("CHECK", "FAILED", "why")
        self.assertEqual("why", rsrc.status_reason)
        self.assertRaises(ValueError, rsrc.state_set, "DO", "FAILED")
        self.assertRaises(ValueError, rsrc.state_set, "CHECK", "MAYBE")


def changes_id(changes):
    return changes.physical_id_changed, changes.physical_id


class WithAttributes(resource.Resource):
    properties_schema = {"list": S(S.LIST, default=[1])}
    attributes_schema = {
        "good": attributes.Schema("good"),
        "bad": attributes.Schema("bad"),
        "fresh": attributes.Schema(cache_mode=attributes.Schema.CACHE_NONE),
    }

    def _resolve_attribute(self, name):
        if name == "bad":
            raise RuntimeError("gone")
        return {"name": name, "list": self.properties["list"]}

    def _show_resource(self):
        return {"shown": True}


class AttributeTest(base.TestCase):
    def test_resolve(self):
        rsrc = stacks.one(WithAttributes)
        keys = [("good",), ("good", "list", 0), ("bad",), ("zz",), ("show",)]
        self.assertEqual(
            {
                ("good",): {"name": "good", "list": [1]},
                ("good", "list", 0): 1,
                ("bad",): None,
                ("zz",): None,
                ("show",): {"shown": True},
            },
            rsrc.resolve_attributes(keys),
        )
        every = rsrc.resolve_attributes([("*",)])[("*",)]
        self.assertEqual(["bad", "fresh", "good"], sorted(every))

    def test_unknown(self):
        rsrc = stacks.one(WithAttributes)
        self.assertRaises(
            exception.InvalidTemplateAttribute, rsrc.FnGetAtt, "zz"
        )

    def test_loaded(self):
        rsrc = stacks.one(WithAttributes, row=False)
        rsrc.load_state(
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            attributes={("good",): "kept", "fresh": "stale"},
        )
        self.assertEqual("kept", rsrc.FnGetAtt("good"))
        self.assertEqual("fresh", rsrc.FnGetAtt("fresh", "name"))

    def test_check_conditions(self):
        rsrc = stacks.one(resource.Resource)
        checks = [
            {"attr": "a", "expected": 1, "current": 1},
            {"attr": "b", "expected": "x", "current": "y"},
        ]
        exc = self.assertRaises(
            exception.Error, rsrc._verify_check_conditions, checks
        )
        self.assertEqual("'b': expected 'x', got 'y'", str(exc))


class StoredTest(base.TestCase):
    def test_properties_of_what_was_made(self):
        rsrc = stacks.one(WithAttributes, {"list": [2]}, stored={"list": [1]})
        self.assertEqual([1], rsrc.properties["list"])
        self.assertEqual({"list": [2]}, rsrc.stored_properties())
        frozen = rsrc.frozen_definition()
        self.assertEqual({"list": [1]}, frozen.freeze()._properties)
        self.assertEqual([1], rsrc.frozen_properties()["list"])


class ViewTest(base.TestCase):
    def test_names(self):
        view = stacks.view(
            {
                "a": {"type": "Any::Type"},
                "b": {"type": "Any::Type", "depends_on": "a"},
            }
        )
        self.assertEqual("st", view.name)
        self.assertEqual("tenant", view.identifier().tenant)
        self.assertEqual(3600, view.timeout_secs())
        self.assertEqual(["a", "b"], list(view))
        self.assertEqual(2, view.total_resources())
        for name in (
            "id t env parameters timeout_mins disable_rollback clients "
            "context action status stack_user_project_id nested_depth "
            "user_creds_id strict_validate convergence state"
        ).split():
            getattr(view, name)
        self.assertRaises(AttributeError, lambda: view.strange)
        view.register_access_allowed_handler("cred", print)
        defn = view.definition.resource_definitions["a"]
        rsrc = resource.Resource("a", defn, view)
        self.assertEqual(["b"], rsrc.required_by())

    def test_by_reference(self):
        view = stacks.view({"a": {"type": "Any::Type"}})
        self.assertIsNone(view.resource_by_refid("p"))
        view.definition.set_node(
            "a",
            definition.NodeData(
                1, "u", "p", {("x", "y"): 1}, "CREATE", "COMPLETE"
            ),
        )
        found = view.resource_by_refid("p")
        self.assertEqual(("a", "Any::Type"), (found.name, found.type()))
        self.assertEqual(1, found.FnGetAtt("x", "y"))


class StateTest(base.TestCase):
    def test_moves(self):
        for before, after, allowed in (
            ("INIT COMPLETE", "CREATE IN_PROGRESS", True),
            ("INIT COMPLETE", "DELETE IN_PROGRESS", True),
            ("INIT COMPLETE", "UPDATE IN_PROGRESS", False),
            ("CREATE IN_PROGRESS", "CREATE COMPLETE", True),
            ("CREATE IN_PROGRESS", "UPDATE COMPLETE", False),
            ("CREATE COMPLETE", "CREATE IN_PROGRESS", False),
            ("CREATE FAILED", "UPDATE IN_PROGRESS", True),
            ("UPDATE COMPLETE", "CHECK FAILED", True),
            ("CHECK FAILED", "CHECK COMPLETE", True),
            ("SUSPEND COMPLETE", "RESUME IN_PROGRESS", True),
            ("DELETE FAILED", "DELETE IN_PROGRESS", True),
            ("DELETE COMPLETE", "DELETE IN_PROGRESS", False),
            ("DELETE FAILED", "UPDATE IN_PROGRESS", False),
        ):
            pair = tuple(before.split()), tuple(after.split())
            self.assertEqual(allowed, state.is_allowed(*pair), pair)
            if not allowed:
                self.assertRaises(ValueError, state.check_move, *pair)

    def test_every_started_action_can_end(self):
        for _before, after in state.MOVES:
            action, status = after
            if status == "IN_PROGRESS":
                for end in ("COMPLETE", "FAILED"):
                    state.check_move(after, (action, end))


class AllowedTest(base.TestCase):
    def test_table(self):
        for owned, policy, delete, update in (
            (True, "Delete", True, True),
            (True, "retain", False, True),
            (True, "snapshot", True, True),
            (False, "Delete", False, False),
            (False, "Retain", False, False),
        ):
            found = external.allowed(not owned, policy)
            self.assertEqual((delete, update), (found.delete, found.update))
        self.assertTrue(external.allowed(False, "Snapshot").snapshot_first)
