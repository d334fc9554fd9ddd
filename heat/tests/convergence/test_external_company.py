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
"""Scenarios of external resources in the company of everything else."""

from __future__ import annotations

import json

from heat.common import exception
from heat.engine.stack import converge
from heat.tests.convergence.test_external import ExternalCase, ext, known
from heat.tests.convergence.test_stories import hot, res

MEMBER = json.dumps(
    {
        "heat_template_version": "2018-08-31",
        "parameters": {"id": {"type": "string"}},
        "resources": {
            "r": {
                "type": "OS::Heat::TestResource",
                "external_id": {"get_param": "id"},
            }
        },
    }
)
CONDITION = {
    "heat_template_version": "2018-08-31",
    "parameters": {"by_hand": {"type": "boolean", "default": True}},
    "conditions": {"by_hand": {"get_param": "by_hand"}},
}


class CompanyTest(ExternalCase):
    def begin(self, stack, resources):
        self.world.update(stack, hot(resources))

    def test_swapped_again_while_it_is_swapped(self):
        """The last word counts, and nobody else's object is touched."""
        for last in ("third", "first"):
            for steps in range(8):
                with self.subTest(last=last, steps=steps):
                    name = f"s-{last}-{steps}"
                    stack = self.create(hot({"a": ext("first")}), name)
                    self.begin(stack, {"a": ext("second"), "z": res("z")})
                    for _step in range(steps):
                        self.world.step()
                    self.update(stack, {"a": ext(last)})
                    self.assertState("UPDATE_COMPLETE", stack)
                    row = self.row(stack)
                    self.assertEqual(
                        (last, True), (row.physical_id, row.external)
                    )
                    self.assertEqual(1, len(self.world.rows(stack)))
                    self.assertEqual(set(), self.objects())

    def test_taken_back_while_it_is_given_up(self):
        """Handed back is the object that it has by then; until it has
        another one that is its first, which nobody destroys for nothing."""
        swapped = set()
        for steps in range(8):
            with self.subTest(steps=steps):
                stack = self.create(hot({"a": res("one")}), f"s-{steps}")
                mine = self.row(stack).physical_id
                self.begin(stack, {"a": ext("theirs"), "z": res("z")})
                for _step in range(steps):
                    self.world.step()
                self.update(stack, {"a": res("one")})
                self.assertState("UPDATE_COMPLETE", stack)
                row = self.row(stack)
                self.assertFalse(row.external)
                self.assertIn(row.physical_id, (mine, "theirs"))
                swapped.add(row.physical_id != mine)
                self.assertEqual(
                    {row.physical_id} - {"theirs"}, self.objects()
                )
                self.remove(stack)
                self.assertEqual(set(), self.objects())
        self.assertEqual({True, False}, swapped)

    def test_a_policy_beside_it(self):
        """It counts again from the hand-back on."""
        kept = {**res("one"), "deletion_policy": "retain"}
        stack = self.make({"a": kept})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": {**kept, "external_id": mine}})
        self.update(stack, {"a": kept})
        self.remove(stack)
        self.assertEqual({mine}, self.objects())
        self.assertEqual([(mine, "retain")], self.released())

    def grouped(self, group):
        record = converge.create(
            self.world.engines[0],
            self.world.context,
            "group",
            hot({"g": group}),
            {},
            {"member.yaml": MEMBER},
            {"disable_rollback": True},
        )
        self.world.run()
        self.assertState("CREATE_COMPLETE", record.id)
        return record.id

    def regroup(self, stack, group):
        converge.update(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            hot({"g": group}),
            {},
            {"member.yaml": MEMBER},
            {},
        )
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)

    def test_members_of_a_group(self):
        def group(count):
            member = {"type": "member.yaml", "properties": {"id": "o-%index%"}}
            return {
                "type": "OS::Heat::ResourceGroup",
                "properties": {"count": count, "resource_def": member},
            }

        stack = self.grouped(group(2))
        self.regroup(stack, group(1))
        self.assertEqual([("o-1", "external")], self.released())
        self.remove(stack)
        self.assertEqual(
            [("o-0", "external"), ("o-1", "external")], self.released()
        )

    def test_members_of_a_scaling_group(self):
        def group(size):
            return {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {
                    "min_size": size,
                    "max_size": size,
                    "resource": {
                        "type": "member.yaml",
                        "properties": {"id": "one"},
                    },
                },
            }

        stack = self.grouped(group(2))
        self.regroup(stack, group(1))
        self.assertEqual([("one", "external")], self.released())

    def test_by_a_condition(self):
        mine = {"if": ["by_hand", "theirs", None]}
        template = {**CONDITION, "resources": {"a": ext(mine, value="one")}}
        stack = self.create(template)
        for by_hand in (False, True, False):
            told = {"parameters": {"by_hand": by_hand}}
            self.world.update(stack, template, told)
            self.world.run()
            self.assertState("UPDATE_COMPLETE", stack)
            row = self.row(stack)
            self.assertEqual(
                ("theirs", by_hand), (row.physical_id, row.external)
            )

    def test_by_the_condition_of_the_resource(self):
        wish = {**ext("theirs"), "condition": "by_hand"}
        template = {**CONDITION, "resources": {"a": wish}}
        stack = self.create(template)
        told = {"parameters": {"by_hand": False}}
        self.world.update(stack, template, told)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual([], self.world.rows(stack))
        self.assertEqual([("theirs", "external")], self.released())

    def test_an_empty_parameter(self):
        template = hot(
            {"a": ext({"get_param": "p"})},
            parameters={"p": {"type": "string", "default": ""}},
        )
        with self.assertRaises(exception.StackValidationFailed) as raised:
            self.world.create(template)
        self.assertIn("resources.a.external_id", str(raised.exception))

    def test_swapped_for_what_is_not_there(self):
        stack = self.make({"a": known("one")})
        row = self.row(stack)
        with self.assertRaises(exception.StackValidationFailed):
            self.update(stack, {"a": known(external_id="nowhere")})
        self.assertEqual(row, self.row(stack))
        self.assertState("CREATE_COMPLETE", stack)

    def test_another_type_for_the_same_object(self):
        for name, before in (("ours", res("one")), ("theirs", ext("x"))):
            with self.subTest(name):
                stack = self.create(hot({"a": before}), name)
                mine = self.row(stack).physical_id
                there = self.objects()
                self.update(stack, {"a": known(external_id=mine)})
                self.assertState("UPDATE_COMPLETE", stack)
                row = self.row(stack)
                self.assertEqual((mine, True), (row.physical_id, row.external))
                self.assertEqual(1, len(self.world.rows(stack)))
                self.remove(stack)
                self.assertEqual(there, self.objects())

    def test_one_object_read_twice(self):
        stack = self.make({"a": ext("x"), "b": ext("x")})
        self.update(stack, {"a": ext("x"), "b": res("own")})
        self.assertState("UPDATE_COMPLETE", stack)
        own = self.row(stack, "b").physical_id
        self.assertEqual({own}, self.objects())
        self.assertEqual("x", self.row(stack).physical_id)
        self.remove(stack)
        self.assertEqual(set(), self.objects())

    def test_rolled_back_after_a_failed_hand_back(self):
        stack = self.make({"a": res("one", update_replace_value="x")})
        mine = self.row(stack).physical_id
        self.update(stack, {"a": ext(mine)})
        self.update(
            stack,
            {"a": res("one", update_replace_value="y")},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        row = self.row(stack)
        self.assertEqual((mine, True), (row.physical_id, row.external))
        self.assertEqual({mine}, self.objects())
