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
"""Scenarios of stacks that a resource refers to, in place of making one."""

from __future__ import annotations

import json

from heat.common import exception
from heat.engine.stack import converge
from heat.tests.convergence import prepared
from heat.tests.convergence.test_external import ExternalCase
from heat.tests.convergence.test_stories import hot, res

LEAF = {
    "heat_template_version": "2018-08-31",
    "resources": {"r": res("inner")},
    "outputs": {"word": {"value": {"get_attr": ["r", "output"]}}},
}


class NestedTest(ExternalCase):
    """The id of a stack, where a stack of its own would be."""

    GROUP = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": res("x")},
    }

    def leaf(self):
        return self.create(LEAF, "leaf")

    def refer(self, wish, ident, attribute="word", name="stack"):
        wish = {**wish, "external_id": ident}
        record = converge.create(
            self.world.engines[0],
            self.world.context,
            name,
            hot(
                {"a": wish},
                {
                    "word": {"value": {"get_attr": ["a", attribute]}},
                    "ref": {"value": {"get_resource": "a"}},
                },
            ),
            {},
            {"leaf.yaml": _text(LEAF)},
            {"disable_rollback": True},
        )
        self.world.run()
        return record.id

    def test_referenced(self):
        leaf = self.leaf()
        before = self.world.events(leaf)
        for name, wish in (
            ("one", {"type": "leaf.yaml"}),
            ("two", self.GROUP),
        ):
            with self.subTest(name):
                stack = self.refer(wish, leaf, name=name)
                self.assertState("CREATE_COMPLETE", stack)
                self.assertEqual(
                    {"word": "inner", "ref": leaf}, self.world.outputs(stack)
                )
                self.assertIsNone(self.world.stack(leaf).owner_id)
                self.remove(stack)
        # Nothing has been done to it, not even a check.
        self.assertEqual(before, self.world.events(leaf))
        self.assertState("CREATE_COMPLETE", leaf)

    def test_refused(self):
        parent = converge.create(
            self.world.engines[0],
            self.world.context,
            "parent",
            hot({"n": {"type": "leaf.yaml"}}),
            {},
            {"leaf.yaml": _text(LEAF)},
            {"disable_rollback": True},
        ).id
        self.world.run()
        nested = self.row(parent, "n").physical_id
        other = self.leaf()
        prepared.raw(self.world.db).execute(
            "UPDATE stack SET tenant = 'other' WHERE id = ?", (other,)
        )
        for wrong, word in (
            ("nothing", "could not be found"),
            (nested, "nested stack without its parent"),
            (other, "could not be found"),
        ):
            with self.subTest(wrong):
                with self.assertRaises(
                    exception.StackValidationFailed
                ) as raised:
                    self.refer({"type": "leaf.yaml"}, wrong)
                self.assertIn(word, str(raised.exception))

    def test_not_handed_back(self):
        leaf = self.leaf()
        stack = self.refer({"type": "leaf.yaml"}, leaf)
        converge.update(
            self.world.engines[0],
            self.world.context,
            self.world.stack(stack),
            hot({"a": {"type": "leaf.yaml"}}),
            {},
            {"leaf.yaml": _text(LEAF)},
            {"disable_rollback": True},
        )
        self.world.run()
        self.assertState("UPDATE_FAILED", stack)
        self.assertIn(
            "can't become a nested one", self.row(stack).status_reason
        )
        self.remove(stack)
        self.assertState("CREATE_COMPLETE", leaf)


def _text(template):
    return json.dumps(template)
