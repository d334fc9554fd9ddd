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

"""The engine behind an API of another make, which hands on what it is sent."""

from heat.common import exception
from heat.tests.unit.engine.service import test_endpoints

NONE = test_endpoints.NONE
# What that API makes of an environment that was left out.
EMPTY = {"parameters": {}, "resource_registry": {}, "parameter_defaults": {}}


class OtherApiTest(test_endpoints.EngineTest):
    def rolls_back(self, identity):
        [shown] = self.client.show_stack(self.ctx, identity, False)
        return not shown["disable_rollback"]

    def update(self, identity, **args):
        self.client.update_stack(self.ctx, identity, NONE, EMPTY, {}, args)
        self.wait(identity, "UPDATE")

    def test_names_of_stacks(self):
        longest = "n" * 255
        for name in ("1x", "ü", "", "a b", longest + "n", "a\n", 7, None):
            for call in (self.client.create_stack, self.client.preview_stack):
                with self.subTest(name=name, call=call.__name__):
                    error = self.assertRaises(
                        exception.StackValidationFailed,
                        *(call, self.ctx, name, NONE, EMPTY, {}, {}),
                    )
                    self.assertIn(str(name), str(error))
        self.assertEqual([], self.client.list_stacks(self.ctx))
        self.create(longest)

    def test_flags_as_text(self):
        identity = self.create(disable_rollback="False")
        self.assertTrue(self.rolls_back(identity))
        self.update(identity, disable_rollback="true")
        self.assertFalse(self.rolls_back(identity))
        self.update(identity, disable_rollback="false", converge="no")
        self.assertTrue(self.rolls_back(identity))

    def test_flags_of_no_sense(self):
        identity = self.create()
        for flag in ("disable_rollback", "converge", "existing"):
            args = {flag: "maybe"}
            sent = (NONE, EMPTY, {}, args)
            for call, whose in (
                (self.client.create_stack, "other"),
                (self.client.preview_stack, "other"),
                (self.client.update_stack, identity),
                (self.client.preview_update_stack, identity),
            ):
                with self.subTest(flag=flag, call=call.__name__):
                    error = self.assertRaises(
                        exception.Invalid, call, self.ctx, whose, *sent
                    )
                    self.assertIn(flag, str(error))
        self.assertEqual(("CREATE", "COMPLETE"), self.state(identity))

    def test_keys_to_sort_by_in_one_text(self):
        made = [self.create(name) for name in ("b", "a", "c")]
        found = self.client.list_stacks(
            self.ctx, sort_keys=["stack_name,id"], sort_dir="asc"
        )
        self.assertEqual(
            ["a", "b", "c"], [each["stack_name"] for each in found]
        )
        self.client.list_events(
            self.ctx, made[0], sort_keys=["resource_type,event_time"]
        )
