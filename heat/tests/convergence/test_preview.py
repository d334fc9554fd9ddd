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
"""What a preview says is what the update then does."""

from __future__ import annotations

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st

from heat.common import exception
from heat.db import models, stacks
from heat.engine.stack import converge, nested, preview
from heat.tests import base
from heat.tests.convergence import world

GROUPS = ("added", "updated", "replaced", "deleted", "unchanged")


def hot(resources, **sections):
    return {
        "heat_template_version": "2018-08-31",
        "resources": resources,
        **sections,
    }


def res(value="v", depends_on=None, **properties):
    made = {
        "type": "OS::Heat::TestResource",
        "properties": {"value": value, **properties},
    }
    if depends_on:
        made["depends_on"] = depends_on
    return made


def val(value):
    return {"type": "OS::Heat::Value", "properties": {"value": value}}


def attr(name, key="output"):
    return {"get_attr": [name, key]}


def preview_of(w, stack_id, template, **args):
    return preview.update(
        w.engines[0], w.context, w.stack(stack_id), template, {}, {}, args
    )


def names(changes):
    return {
        group: [each.name for each in getattr(changes, group)]
        for group in GROUPS
        if getattr(changes, group)
    }


def contents(db):
    """Every row of every table."""
    return db.read(
        lambda conn: {
            table.name: [
                tuple(map(str, row)) for row in conn.execute(sa.select(table))
            ]
            for table in models.metadata.sorted_tables
        }
    )


class PreviewTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)

    def make(self, resources, **sections):
        stack = self.world.create(hot(resources, **sections))
        self.world.run()
        return stack

    def preview(self, stack, resources, **sections):
        before = contents(self.world.db)
        changes = preview_of(self.world, stack, hot(resources, **sections))
        self.assertEqual(before, contents(self.world.db))
        return changes

    def test_each_kind(self):
        stack = self.make(
            {
                "same": res("a"),
                "moved": res("a"),
                "anew": res("a", update_replace_value="1"),
                "gone": res("a"),
            }
        )
        changes = self.preview(
            stack,
            {
                "same": res("a"),
                "moved": res("b"),
                "anew": res("a", update_replace_value="2"),
                "fresh": res("a"),
            },
        )
        self.assertEqual(
            {
                "added": ["fresh"],
                "updated": ["moved"],
                "replaced": ["anew"],
                "deleted": ["gone"],
                "unchanged": ["same"],
            },
            names(changes),
        )
        self.assertEqual(
            "can't be changed in place: update_replace_value",
            changes.replaced[0].reason,
        )
        self.assertEqual(
            "properties changed: value", changes.updated[0].reason
        )
        for group in GROUPS:
            for each in getattr(changes, group):
                self.assertTrue(each.certain, each)
                self.assertIsNone(each.because_of)

    def test_a_dependant_of_a_replacement_tells_the_first_cause(self):
        def template(number):
            return {
                "a": res("v", update_replace_value=number),
                "b": res({"get_resource": "a"}),
                "c": res(attr("b")),
                "d": res("v", update_replace_value={"get_resource": "a"}),
                "e": res("v", depends_on=["a"]),
            }

        stack = self.make(template("1"))
        changes = self.preview(stack, template("2"))
        self.assertEqual(
            {
                "replaced": ["a"],
                "updated": ["b", "c", "d"],
                "unchanged": ["e"],
            },
            names(changes),
        )
        cause = "a replaced <- can't be changed in place: update_replace_value"
        b, c, d = changes.updated
        self.assertEqual(cause, b.because_of)
        self.assertEqual("b may be updated <- " + cause, c.because_of)
        self.assertEqual(cause, d.because_of)
        self.assertEqual(
            [(False, False), (False, False), (False, True)],
            [(each.certain, each.may_be_replaced) for each in (b, c, d)],
        )

    def test_unknown_values_flow_through_functions(self):
        def template(number):
            return {
                "a": res("v", update_replace_value=number),
                "joined": res({"list_join": ["-", ["x", attr("a")]]}),
                "counted": val(
                    {
                        "yaql": {
                            "expression": "len($.data)",
                            "data": {"get_attr": ["a", "output"]},
                        }
                    }
                ),
                "inside": val({"deep": [1, {"here": attr("a")}]}),
                "aside": val({"if": [False, attr("a"), "x"]}),
            }

        stack = self.make(template("1"))
        changes = self.preview(stack, template("2"))
        self.assertEqual(
            {
                "replaced": ["a"],
                "updated": ["joined", "counted", "inside"],
                "unchanged": ["aside"],
            },
            names(changes),
        )
        known = template("2")
        known["inside"]["properties"]["value"]["deep"][0] = 2
        changes = self.preview(stack, known)
        (inside,) = [each for each in changes.updated if each.name == "inside"]
        # What is known of the value differs, whatever the rest will be.
        self.assertTrue(inside.certain)

    def test_metadata(self):
        def template(number, extra):
            b = res("v")
            b["metadata"] = {"of": {"get_resource": "a"}, "n": extra}
            return {"a": res("v", update_replace_value=number), "b": b}

        stack = self.make(template("1", 1))
        changes = self.preview(stack, template("2", 1))
        self.assertEqual({"replaced": ["a"], "updated": ["b"]}, names(changes))
        self.assertFalse(changes.updated[0].certain)
        changes = self.preview(stack, template("2", 2))
        self.assertTrue(changes.updated[0].certain)
        changes = self.preview(stack, template("1", 1))
        self.assertEqual({"unchanged": ["a", "b"]}, names(changes))

    def test_a_long_chain_is_cut(self):
        def template(number):
            made = {"r0": res("v", update_replace_value=number)}
            for i in range(1, 20):
                made[f"r{i}"] = res(attr(f"r{i - 1}"))
            return made

        stack = self.make(template("1"))
        changes = self.preview(stack, template("2"))
        last = changes.updated[-1].because_of.split(" <- ")
        self.assertEqual(preview.MAX_CAUSES + 1, len(last))
        self.assertIn("...", last)
        self.assertEqual("r0 replaced", last[-2])

    def test_conditions(self):
        def template(value):
            return {
                "conditions": {"on": value},
                "resources": {
                    "a": {**res(), "condition": "on"},
                    "b": res(),
                },
            }

        stack = self.make(**template(False))
        changes = self.preview(stack, **template(True))
        self.assertEqual({"added": ["a"], "unchanged": ["b"]}, names(changes))
        self.world.update(stack, hot(**template(True)))
        self.world.run()
        changes = self.preview(stack, **template(False))
        self.assertEqual(
            {"deleted": ["a"], "unchanged": ["b"]}, names(changes)
        )

    def test_retained_objects(self):
        def template(number):
            kept = res("v", update_replace_value=number)
            kept["deletion_policy"] = "Retain"
            return {"a": kept, "b": res()}

        stack = self.make(template("1"))
        changes = self.preview(stack, {"b": res()})
        self.assertTrue(changes.deleted[0].retained)
        self.assertEqual("deletion_policy: retain", changes.deleted[0].reason)
        changes = self.preview(stack, template("2"))
        self.assertTrue(changes.replaced[0].retained)
        changes = self.preview(stack, {"a": template("1")["a"]})
        self.assertFalse(changes.deleted[0].retained)

    def test_changed_type(self):
        stack = self.make({"a": val("v")})
        (change,) = self.preview(stack, {"a": res("v")}).replaced
        self.assertEqual(
            "type changed: OS::Heat::Value -> OS::Heat::TestResource",
            change.reason,
        )
        self.assertEqual("OS::Heat::TestResource", change.resource_type)

    def test_failed_rows(self):
        stack = self.make({"a": res(fail=True), "b": res(depends_on="a")})
        self.assertEqual("CREATE_FAILED", self.world.state(stack))
        changes = self.preview(stack, {"a": res(), "b": res(depends_on="a")})
        kinds = names(changes)
        self.assertEqual(["b"], kinds.pop("added"))
        self.world.update(stack, hot({"a": res(), "b": res(depends_on="a")}))
        rows = self.world.living(stack)
        self.world.run()
        same = rows["a"].id == self.world.living(stack)["a"].id
        self.assertEqual({"updated" if same else "replaced": ["a"]}, kinds)

    def test_what_the_update_would_refuse(self):
        stack = self.make({"a": res()})
        self.assertRaises(
            exception.StackValidationFailed,
            self.preview,
            stack,
            {"a": {"type": "OS::Heat::Nothing"}},
        )
        self.assertRaises(
            exception.CircularDependencyException,
            self.preview,
            stack,
            {"a": res(depends_on="b"), "b": res(depends_on="a")},
        )
        self.world.delete(stack)
        self.assertRaises(
            exception.ActionInProgress, self.preview, stack, {"a": res()}
        )

    def test_an_update_that_runs_counts_as_ended(self):
        stack = self.make({"a": res("one"), "b": res("one")})
        self.world.update(stack, hot({"a": res("two", wait_secs=60)}))
        self.world.run_until(
            lambda: self.world.living(stack)["a"].claim_id is not None
        )
        changes = self.preview(stack, {"a": res("two", wait_secs=60)})
        self.assertEqual(
            {"unchanged": ["a"], "deleted": ["b"]}, names(changes)
        )
        self.assertFalse(changes.unchanged[0].certain)
        self.assertIn("UPDATE is in progress", changes.unchanged[0].reason)
        changes = self.preview(stack, {"a": res("one"), "b": res("one")})
        self.assertEqual(
            {"updated": ["a"], "unchanged": ["b"]}, names(changes)
        )

    def test_patch(self):
        template = hot(
            {"a": res({"get_param": "p"})},
            parameters={"p": {"type": "string", "default": "x"}},
        )
        stack = self.world.create(template)
        self.world.run()
        w = self.world
        changes = preview.update(
            w.engines[0],
            w.context,
            w.stack(stack),
            None,
            {"parameters": {"p": "y"}},
            {},
            {"existing": True},
        )
        self.assertEqual({"updated": ["a"]}, names(changes))


CHILD = """
heat_template_version: 2018-08-31
parameters:
  text: {type: string}
  fixed: {type: string, default: "1"}
resources:
  x:
    type: OS::Heat::TestResource
    properties:
      value: {get_param: text}
      update_replace_value: {get_param: fixed}
  y:
    type: OS::Heat::TestResource
    properties: {value: {get_attr: [x, output]}}
outputs:
  out: {value: {get_attr: [y, output]}}
"""


class NestedTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)
        for engine in self.world.engines:
            engine.children = nested.Children(engine)

    def template(self, text="t", fixed="1", number="1"):
        return {
            "a": res("v", update_replace_value=number),
            "n": {
                "type": "child.yaml",
                "properties": {"text": text, "fixed": fixed},
            },
        }

    def make(self, resources):
        record = converge.create(
            self.world.engines[0],
            self.world.context,
            "stack",
            hot(resources),
            {},
            {"child.yaml": CHILD},
            {"disable_rollback": True},
        )
        self.world.run()
        self.assertEqual("CREATE_COMPLETE", self.world.state(record.id))
        return record.id

    def preview(self, stack, resources):
        w = self.world
        before = contents(w.db)
        changes = preview.update(
            w.engines[0],
            w.context,
            w.stack(stack),
            hot(resources),
            {},
            {"child.yaml": CHILD},
            {"show_nested": True},
        )
        self.assertEqual(before, contents(w.db))
        return changes

    def test_in_place(self):
        stack = self.make(self.template())
        changes = self.preview(stack, self.template())
        self.assertEqual({"unchanged": ["a", "n", "x", "y"]}, names(changes))
        changes = self.preview(stack, self.template("u"))
        self.assertEqual(
            {"unchanged": ["a"], "updated": ["n", "x", "y"]}, names(changes)
        )
        n, x, y = changes.updated
        self.assertEqual([True, True, False], [e.certain for e in (n, x, y)])
        self.assertEqual((None, "n"), (n.stack, x.stack.parent_resource_name))
        changes = self.preview(stack, self.template(fixed="2"))
        self.assertEqual(["x"], names(changes)["replaced"])

    def test_unknown_values_flow_into_children(self):
        use = {"text": {"get_attr": ["a", "output"]}}
        stack = self.make(self.template(**use))
        changes = self.preview(stack, self.template(**use, number="2"))
        self.assertEqual(
            {"replaced": ["a"], "updated": ["n", "x", "y"]}, names(changes)
        )
        self.assertEqual(
            "n.text <- a replaced <- "
            "can't be changed in place: update_replace_value",
            changes.updated[1].because_of,
        )
        self.assertEqual(
            "x may be updated <- n.text <- a replaced <- "
            "can't be changed in place: update_replace_value",
            changes.updated[2].because_of,
        )

    def test_added_and_deleted(self):
        stack = self.make({"a": res()})
        both = self.template()
        changes = self.preview(stack, {"a": res(), "n": both["n"]})
        self.assertEqual(
            {"unchanged": ["a"], "added": ["n", "x", "y"]}, names(changes)
        )
        self.assertEqual("stack-n", changes.added[1].stack.name)
        stack = self.make_more(both)
        changes = self.preview(stack, {"a": both["a"]})
        self.assertEqual(
            {"unchanged": ["a"], "deleted": ["n", "x", "y"]}, names(changes)
        )
        changes = self.preview(stack, {"a": both["a"], "n": res()})
        self.assertEqual(
            {
                "unchanged": ["a"],
                "replaced": ["n"],
                "deleted": ["x", "y"],
            },
            names(changes),
        )

    def make_more(self, resources):
        for stack in self.world.db.read(
            lambda conn: stacks.list_(conn, tenant=None)
        ):
            self.world.delete(stack.id)
        self.world.run()
        return self.make(resources)


# -- random templates ---------------------------------------------------------

ALL = ("a", "b", "c", "d")


@st.composite
def resource_of(draw, earlier, may_fail=False):
    """A resource that may use those before it."""
    text = st.sampled_from(["x", "y"])
    if earlier:
        names_ = st.sampled_from(earlier)
        source = st.one_of(
            text,
            names_.map(lambda name: {"get_resource": name}),
            names_.map(lambda name: {"list_join": [".", ["p", out(name)]]}),
            names_.map(out),
        )
    else:
        source = text
    if draw(st.booleans()):
        made = {
            "type": "OS::Heat::Value",
            "properties": {"value": draw(source)},
        }
    else:
        made = res(draw(source))
        if draw(st.booleans()):
            made["properties"]["update_replace"] = True
        if draw(st.integers(0, 2)) == 0:
            made["properties"]["update_replace_value"] = draw(source)
        if may_fail and draw(st.integers(0, 5)) == 0:
            made["properties"]["fail"] = True
    if draw(st.integers(0, 3)) == 0:
        made["deletion_policy"] = "Retain"
    if draw(st.integers(0, 3)) == 0:
        made["metadata"] = {"m": draw(source)}
    if earlier and draw(st.integers(0, 3)) == 0:
        made["depends_on"] = [draw(st.sampled_from(earlier))]
    return made


def out(name):
    """All attributes, as text: every type has that."""
    return {"list_join": ["", [{"get_attr": [name, "show"]}, name]]}


@st.composite
def resources_of(draw, may_fail=False):
    chosen = [
        name for name in draw(st.permutations(ALL)) if draw(st.booleans())
    ]
    made = {}
    for name in chosen:
        made[name] = draw(resource_of(list(made), may_fail))
    _read_outputs(made)
    return made


def _read_outputs(made):
    """Let references to attributes name one that the type has."""

    def walk(value):
        if isinstance(value, dict):
            if "get_attr" in value:
                name = value["get_attr"][0]
                value_type = made[name]["type"] == "OS::Heat::Value"
                value["get_attr"][1] = "value" if value_type else "output"
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(made)


def what_happened(w, stack_id, before, events_before):
    after = w.living(stack_id)
    events = w.events(stack_id)[events_before:]
    found = {}
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if new is None:
            found[name] = "deleted"
        elif old is None or old.action == "INIT":
            found[name] = "added"
        elif old.id != new.id:
            found[name] = "replaced"
        elif (name, "UPDATE_COMPLETE") in events:
            found[name] = "updated"
        else:
            found[name] = "unchanged"
    return found


class SameVerdictTest(base.TestCase):
    @hypothesis.settings(max_examples=60, deadline=None)
    @hypothesis.given(resources_of(may_fail=True), resources_of())
    def test_preview_is_what_happens(self, before, after):
        w = world.World()
        try:
            stack = w.create(hot(before))
            w.run()
            rows = w.living(stack)
            count = len(w.events(stack))
            stored = contents(w.db)
            changes = preview_of(w, stack, hot(after))
            self.assertEqual(stored, contents(w.db))
            w.update(stack, hot(after))
            w.run()
            self.assertEqual("UPDATE_COMPLETE", w.state(stack), w.stack(stack))
            self.compare(changes, what_happened(w, stack, rows, count))
            self.compare_retained(changes, w, stack)
        finally:
            w.close()

    def compare(self, changes, happened):
        told = {}
        for group in GROUPS:
            for each in getattr(changes, group):
                allowed = {group}
                if not each.certain:
                    self.assertEqual("updated", group)
                    self.assertTrue(each.because_of)
                    allowed.add("unchanged")
                if each.may_be_replaced:
                    allowed.add("replaced")
                self.assertIsNone(each.error)
                self.assertNotIn(each.name, told)
                told[each.name] = allowed
        self.assertEqual(happened.keys(), told.keys())
        for name, kind in happened.items():
            self.assertIn(kind, told[name], name)

    def compare_retained(self, changes, w, stack):
        released = {
            each.resource_name
            for each in w.db.read(
                lambda conn: conn.execute(sa.select(models.event)).all()
            )
            if "let go" in (each.resource_status_reason or "")
        }
        told = {
            each.name
            for each in [*changes.deleted, *changes.replaced]
            if each.retained
        }
        maybe = {each.name for each in changes.updated if each.may_be_replaced}
        self.assertEqual(told - maybe, released - maybe)
