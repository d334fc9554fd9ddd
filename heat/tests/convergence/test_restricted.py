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
"""Updates that an environment forbids."""

from __future__ import annotations

from heat.engine.environment import registry, shared
from heat.tests import base
from heat.tests.convergence import world


def template(value, force=False):
    return {
        "heat_template_version": "2016-10-14",
        "resources": {
            "kept": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": value, "update_replace": force},
            },
            "other": {"type": "OS::Heat::TestResource"},
        },
    }


def environment(*actions):
    return {
        "resource_registry": {
            "resources": {"ke*": {"restricted_actions": list(actions)}}
        }
    }


class RestrictedTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)

    def made(self, params):
        stack_id = self.world.create(template("a"), params)
        self.world.run()
        self.assertEqual("CREATE_COMPLETE", self.world.state(stack_id))
        return stack_id, self.world.living(stack_id)["kept"].physical_id

    def test_what_is_forbidden_fails_and_the_object_stays(self):
        for actions, force, wanted in (
            (("update",), False, "UPDATE_FAILED"),
            (("replace",), True, "UPDATE_FAILED"),
            (("update", "replace"), True, "UPDATE_FAILED"),
            (("replace",), False, "UPDATE_COMPLETE"),
            (("update",), True, "UPDATE_COMPLETE"),
        ):
            with self.subTest(actions=actions, force=force):
                self.world = world.World()
                self.addCleanup(self.world.close)
                params = environment(*actions)
                stack_id, physical = self.made(params)
                self.world.update(stack_id, template("b", force), params)
                self.world.run()
                stack = self.world.stack(stack_id)
                self.assertEqual(wanted, self.world.state(stack_id))
                if wanted == "UPDATE_FAILED":
                    row = self.world.living(stack_id)["kept"]
                    self.assertEqual(physical, row.physical_id)
                    self.assertIn(
                        "is restricted for resource", stack.status_reason
                    )

    def test_nothing_changes_nothing_forbidden(self):
        params = environment("update", "replace")
        stack_id, _physical = self.made(params)
        self.world.update(stack_id, template("a"), params)
        self.world.run()
        self.assertEqual("UPDATE_COMPLETE", self.world.state(stack_id))

    def test_lifted_by_the_next_update(self):
        stack_id, _physical = self.made(environment("update"))
        self.world.update(stack_id, template("b"), environment("update"))
        self.world.run()
        self.assertEqual("UPDATE_FAILED", self.world.state(stack_id))
        self.world.update(stack_id, template("b"), {})
        self.world.run()
        self.assertEqual("UPDATE_COMPLETE", self.world.state(stack_id))

    def test_by_the_operator(self):
        self.addCleanup(shared.install, None)
        shared.install(
            shared.Shared(
                registry.Registry(environment("update")["resource_registry"])
            )
        )
        stack_id, _physical = self.made({})
        self.world.update(stack_id, template("b"))
        self.world.run()
        self.assertEqual("UPDATE_FAILED", self.world.state(stack_id))

    def test_rolls_back(self):
        params = environment("replace")
        stack_id, physical = self.made(params)
        self.world.update(
            stack_id, template("b", True), params, disable_rollback=False
        )
        self.world.run()
        self.assertEqual("ROLLBACK_COMPLETE", self.world.state(stack_id))
        row = self.world.living(stack_id)["kept"]
        self.assertEqual(physical, row.physical_id)
