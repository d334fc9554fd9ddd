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
"""Stories of stacks with nested stacks that are abandoned and adopted."""

from __future__ import annotations

import json

import sqlalchemy as sa

from heat.db import models, resource_data, stacks
from heat.engine.resource import child
from heat.engine.stack import abandon, adopt, converge, nested, snapshots
from heat.engine.traversal import recovery
from heat.tests.convergence.test_snapshots_and_adoption import Stories
from heat.tests.convergence.test_stories import attr, hot, res

PARAMS = {"value": {"type": "string", "default": "d"}}
FILES = {
    "child.yaml": json.dumps(
        hot({"in": res({"get_param": "value"}), "two": res(attr("in"))})
        | {"parameters": PARAMS}
    ),
    "middle.yaml": json.dumps(hot({"deep": {"type": "child.yaml"}})),
}


def group(count=2, type_="child.yaml", **properties):
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": {
            "count": count,
            "resource_def": {"type": type_},
            **properties,
        },
    }


def scaled(**properties):
    return {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {
            "min_size": 1,
            "max_size": 5,
            "resource": res("member"),
            **properties,
        },
    }


ALL = {
    "plain": res("x"),
    "provider": {"type": "child.yaml", "properties": {"value": "own"}},
    "middle": {"type": "middle.yaml"},
    "group": group(),
    "scaled": scaled(desired_capacity=2),
}


class Dead(BaseException):
    """The engine is gone."""


class Refusing(nested.Children):
    """A port by which no stack is made."""

    def create(self, *args, **kwargs):
        raise ValueError("not today")


class NestedStories(Stories):
    def begin(self, resources, name="stack", **args):
        world = self.world
        return converge.create(
            world.engines[0],
            world.context,
            name,
            hot(resources),
            {},
            FILES,
            {"disable_rollback": True, **args},
        ).id

    def make(self, resources=None, **args):
        stack = self.begin(resources or ALL, **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def update(self, stack, resources):
        world = self.world
        record = world.stack(stack)
        converge.update(
            world.engines[0],
            world.context,
            record,
            hot(resources),
            {},
            FILES,
            {},
        )
        world.run()

    def below(self, stack):
        """Ids of the stacks in a stack, by the names that lead there."""
        found = {}
        for each in self.world.db.read(
            lambda conn: stacks.children(conn, stack)
        ):
            name = each.parent_resource_name
            found[name] = each.id
            for path, ident in self.below(each.id).items():
                found[f"{name}.{path}"] = ident
        return found

    def leaves(self, stack):
        """Objects that are no stacks, by the names that lead there."""
        every = {"": stack, **self.below(stack)}
        return {
            f"{path}.{name}".lstrip("."): row.physical_id
            for path, ident in every.items()
            for name, row in self.world.living(ident).items()
            if f"{path}.{name}".lstrip(".") not in every
        }

    def whole(self, stack):
        return [stack, *self.below(stack).values()]

    def assertNothingMade(self, stack):
        for ident in self.whole(stack):
            happened = {what for _name, what in self.world.events(ident)}
            self.assertFalse(
                happened & {"CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS"},
                self.world.events(ident),
            )

    def assertAdopted(self, stack, leaves):
        self.assertState("ADOPT_COMPLETE", stack)
        self.assertEqual(leaves, self.leaves(stack))
        self.assertNothingMade(stack)
        for ident in self.whole(stack):
            self.assertState("ADOPT_COMPLETE", ident)
            for row in self.world.rows(ident):
                self.assertEqual(
                    ("ADOPT", "COMPLETE", False),
                    (row.action, row.status, row.external),
                )


class AdoptTest(NestedStories):
    def test_abandoned_and_adopted(self):
        old = self.make()
        leaves, below = self.leaves(old), self.below(old)
        gone = self.whole(old)
        self.assertEqual(1 + 2 + 2 + 4 + 2, len(leaves))
        told = self.abandon(old)
        for ident in gone:
            self.assertState("DELETE_COMPLETE", ident)
            self.assertEqual([], self.world.rows(ident))
        for path, ident in below.items():
            started = {
                name
                for name, what in self.world.events(ident)
                if what == "DELETE_IN_PROGRESS"
            }
            names = {each.split(".")[-1] for each in below}
            self.assertLessEqual(
                started - {self.world.stack(ident).name}, names, path
            )
        new = self.adopt(told)
        self.assertAdopted(new, leaves)
        self.assertEqual(below.keys(), self.below(new).keys())
        self.assertFalse({*below.values()} & {*self.below(new).values()})

    def test_what_the_data_have(self):
        told = self.abandon(self.make())
        entry = told["resources"]["provider"]
        self.assertEqual("child.yaml", entry["type"])
        self.assertEqual({"value": "own"}, entry["environment"]["parameters"])
        self.assertEqual({"in", "two"}, set(entry["resources"]))
        self.assertEqual(json.loads(FILES["child.yaml"]), entry["template"])
        self.assertEqual(entry["id"], entry["resource_id"])
        self.assertTrue(entry["name"].startswith("stack-provider-"))
        # What the parent says as well is not said again.
        self.assertEqual({}, entry["files"])
        self.assertNotIn("parameter_defaults", entry["environment"])
        deep = told["resources"]["middle"]["resources"]["deep"]
        self.assertEqual({"in", "two"}, set(deep["resources"]))

    def test_the_next_update_finds_nothing_to_do(self):
        new = self.adopt(self.abandon(self.make()))
        leaves = self.leaves(new)
        before = {each: len(self.world.events(each)) for each in leaves}
        self.update(new, ALL)
        self.assertState("UPDATE_COMPLETE", new)
        self.assertEqual(leaves, self.leaves(new))
        before = {
            each: len(self.world.events(each))
            for each in self.below(new).values()
        }
        self.update(new, {**ALL, "plain": res("y")})
        self.assertEqual(
            before,
            {
                each: len(self.world.events(each))
                for each in self.below(new).values()
            },
        )

    def test_what_is_kept_is_dropped_once_it_is_used(self):
        new = self.adopt(self.abandon(self.make()))
        for ident in self.whole(new):
            rows = [row.id for row in self.world.rows(ident)]
            for data in self.world.db.read(
                lambda conn, rows=rows: resource_data.get_many(conn, rows)
            ).values():
                self.assertEqual([], child.packed(data))

    def test_names_that_were_removed_stay_unused(self):
        members = group(count=2, removal_policies=[{"resource_list": ["0"]}])
        old = self.make({"g": group(count=2)})
        self.update(old, {"g": members})
        leaves = self.leaves(old)
        self.assertEqual({"g.1", "g.2"}, {each[:3] for each in leaves})
        new = self.adopt(self.abandon(old))
        self.assertAdopted(new, leaves)
        members["properties"]["count"] = 3
        self.update(new, {"g": members})
        self.assertEqual({"1", "2", "3"}, {e[2] for e in self.leaves(new)})
        self.assertLessEqual(leaves.items(), self.leaves(new).items())

    def test_the_size_that_a_policy_chose(self):
        old = self.make({"g": scaled(desired_capacity=3)})
        leaves = self.leaves(old)
        told = self.abandon(old)
        for kept in ({"size": "3"}, {}):
            with self.subTest(kept=kept):
                told["resources"]["g"]["resource_data"] = kept
                told["template"]["resources"]["g"] = scaled()
                new = self.adopt(told, name=f"kept{len(kept)}")
                self.assertAdopted(new, leaves)
                self.abandon(new)

    def test_a_child_of_much(self):
        """What it takes over does not fit into one piece."""
        old = self.make({"g": group(count=12, type_="middle.yaml")})
        leaves = self.leaves(old)
        told = self.abandon(old)
        for each in told["resources"]["g"]["resources"].values():
            each["metadata"] = {"long": "x" * 9000}
        self.assertAdopted(self.adopt(told), leaves)

    def test_a_snapshot_is_as_it_was(self):
        stack = self.make()
        world = self.world
        made = snapshots.take(
            world.engines[0], world.context, world.stack(stack), "s"
        )
        world.run()
        kept = snapshots.get(world.engines[0], world.stack(stack), made.id)
        for each in kept.data["resources"].values():
            self.assertNotIn("resources", each)


class FailureTest(NestedStories):
    def fail(self, told, **args):
        stack = self.adopt(told, **args)
        self.assertNothingMade(stack)
        return stack

    def test_no_data_for_a_stack(self):
        told = self.abandon(self.make())
        # As data are that know only the id of the old stack.
        del told["resources"]["provider"]["resources"]
        stack = self.fail(told)
        self.assertState("ADOPT_FAILED", stack)
        row = self.world.living(stack)["provider"]
        self.assertIn("stack of its own", row.status_reason)
        self.assertIsNone(row.physical_id)
        self.assertFalse(row.external)
        self.assertNotIn("provider", self.below(stack))

    def test_nothing_at_all_for_a_stack(self):
        told = self.abandon(self.make())
        del told["resources"]["group"]
        stack = self.fail(told)
        self.assertState("ADOPT_FAILED", stack)
        row = self.world.living(stack)["group"]
        self.assertIn("stack of its own", row.status_reason)

    def test_what_could_not_be_made_is_passed_on(self):
        """A stack whose adoption failed is adopted with the same data."""
        old = self.make({"provider": ALL["provider"], "plain": res("x")})
        leaves = self.leaves(old)
        told = self.abandon(old)
        engine = self.world.engines[0]
        engine.children, port = Refusing(engine), engine.children
        failed = self.fail(told)
        engine.children = port
        self.assertState("ADOPT_FAILED", failed)
        row = self.world.living(failed)["provider"]
        self.assertIn("not today", row.status_reason)
        again = self.abandon(failed)
        entry = again["resources"]["provider"]
        self.assertEqual({"in", "two"}, set(entry["resources"]))
        self.assertFalse(child.packed(entry["resource_data"]))
        self.assertAdopted(self.adopt(again, name="again"), leaves)

    def test_a_stack_for_what_is_none(self):
        told = self.abandon(self.make())
        told["resources"]["plain"]["resources"] = {"x": {"resource_id": "y"}}
        stack = self.fail(told)
        self.assertState("ADOPT_FAILED", stack)
        row = self.world.living(stack)["plain"]
        self.assertIn("as if it were a stack", row.status_reason)
        self.assertIsNone(row.physical_id)

    def test_a_resource_below_is_missing(self):
        told = self.abandon(self.make())
        del told["resources"]["group"]["resources"]["1"]["resources"]["two"]
        stack = self.fail(told)
        self.assertState("ADOPT_FAILED", stack)
        self.assertIn("two", self.world.stack(stack).status_reason)

    def test_a_rollback_deletes_nothing(self):
        told = self.abandon(self.make())
        del told["resources"]["group"]["resources"]["1"]["resources"]["two"]
        stack = self.adopt(told, disable_rollback=False)
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))
        self.assertEqual({}, self.below(stack))
        below = models.stack.c.owner_id.is_not(None)
        every = self.world.db.read(
            lambda conn: conn.scalars(
                sa.select(models.stack.c.id).where(below)
            ).all()
        )
        for ident in every:
            self.assertState("DELETE_COMPLETE", ident)
            for name, what in self.world.events(ident):
                if name in ("in", "two"):
                    self.assertNotEqual("DELETE_IN_PROGRESS", what)

    def test_broken_data(self):
        deep = {"resource_id": "x"}
        for _level in range(100):
            deep = {"resources": {"a": deep}}
        for inner in ([1], {"a": 1}, {"a": {"resource_id": 5}}, deep):
            with self.subTest(inner=str(inner)[:20]):
                data = {"resources": {"n": {"resources": inner}}}
                if inner is deep:
                    data = deep
                self.assertRaises(ValueError, adopt.read, data)

    def test_not_while_a_stack_below_is_busy(self):
        stack = self.make({"provider": ALL["provider"]})
        (below,) = self.below(stack).values()
        world = self.world
        converge.update(
            world.engines[0],
            world.context,
            world.stack(below),
            None,
            None,
            None,
            {"existing": True},
        )
        self.assertRaises(
            abandon.exception.ActionInProgress, self.abandon, stack
        )


class InterruptionTest(NestedStories):
    def adopt_and_die(self, point, times):
        """Adopt what was abandoned; the engine dies when it passes a point
        for so manyth time."""
        old = self.make({"provider": ALL["provider"]})
        leaves = self.leaves(old)
        told = self.abandon(old)
        left = [times]

        def probe(passed):
            left[0] -= passed == point
            if not left[0]:
                raise Dead

        world = self.world
        world.engines[0].probe = probe
        try:
            self.adopt(told)
        except Dead:
            world.engines[0].probe = lambda _point: None
        else:
            raise AssertionError("it lives")
        (made,) = [
            each
            for each in world.db.read(stacks.in_progress)
            if each.owner_id is None
        ]
        return made.id, leaves

    def test_an_update_instead(self):
        """It goes on with what was to be adopted."""
        old = self.make({"provider": ALL["provider"]})
        leaves = self.leaves(old)
        told = self.abandon(old)
        world = self.world
        made = converge.create(
            world.engines[0],
            world.context,
            "again",
            told["template"],
            told["environment"],
            told["files"],
            {"disable_rollback": True},
            adopted=adopt.read(told),
        )
        self.update(made.id, {"provider": ALL["provider"], "new": res("n")})
        self.assertState("UPDATE_COMPLETE", made.id)
        new = self.leaves(made.id)
        self.assertEqual({"new"}, new.keys() - leaves.keys())
        self.assertLessEqual(leaves.items(), new.items())
        for ident in self.below(made.id).values():
            self.assertNothingMade(ident)

    def test_the_engine_dies(self):
        for point, times in (("claimed", 1), ("called", 1), ("finishing", 1)):
            with self.subTest(point=point):
                stack, leaves = self.adopt_and_die(point, times)
                world = self.world
                world._waiting.clear()
                world._claimed.clear()
                world.bus.messages.clear()
                world.engines[0] = world.make_engine(f"engine-{point}")
                recovery.resume(world.engines[0], alone=True)
                world.run()
                self.assertState("ADOPT_COMPLETE", stack)
                self.assertEqual(leaves, self.leaves(stack))
                self.assertNothingMade(stack)
                for ident in self.whole(stack):
                    for row in world.rows(ident):
                        self.assertFalse(row.external, row.name)
                self.abandon(stack)
