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

"""Stories of objects that somebody changed behind Heat's back."""

from __future__ import annotations

from heat.common import exception
from heat.engine.resources.openstack.heat import test_resource
from heat.engine.stack import actions
from heat.tests.convergence.test_stories import StoryTest, attr, hot, res


class DriftTest(StoryTest):
    """What objects are is told by :attr:`live`, by resource name."""

    TEMPLATE = hot({"a": res("one"), "b": res(attr("a")), "c": res("three")})

    def setUp(self):
        super().setUp()
        self.live = {}
        self.asked = []

        def get_live_state(rsrc, _properties):
            self.asked.append(rsrc.name)
            found = self.live.get(rsrc.name, {})
            if isinstance(found, Exception):
                raise found
            return found

        self.patch(
            test_resource.TestResource, "get_live_state", get_live_state
        )
        self.stack = self.world.create(self.TEMPLATE)
        self.world.run()
        self.made = self.physical(self.stack)

    def update(self, **args):
        before = len(self.world.events(self.stack))
        self.world.update(self.stack, self.TEMPLATE, **args)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", self.stack)
        events = self.world.events(self.stack)[before:]
        return [each for each in events if each[0] != "stack"]

    def reason(self, name):
        return self.world.living(self.stack)[name].status_reason

    def test_a_check_tells_what_differs_and_completes(self):
        self.live["a"] = {"value": "two"}
        actions.check(self.world.engines[0], None, self.stack_record())
        self.world.run()
        self.assertState("CHECK_COMPLETE", self.stack)
        self.assertEqual(
            "differs from the template: resources.a.properties.value: "
            'expected "one", found "two"',
            self.reason("a"),
        )
        self.assertEqual("state changed", self.reason("c"))

    def stack_record(self):
        return self.world.stack(self.stack)

    def test_an_update_looks_at_nothing_by_itself(self):
        self.live["a"] = {"value": "two"}
        self.assertEqual([], self.update())
        self.assertEqual([], self.asked)

    def test_what_differs_is_repaired_in_place(self):
        self.live["a"] = {"value": "two"}
        self.assertEqual(
            [("a", "UPDATE_IN_PROGRESS"), ("a", "UPDATE_COMPLETE")],
            self.update(converge=True),
        )
        self.assertEqual(self.made, self.physical(self.stack))
        self.assertEqual(["a", "b", "c"], sorted(self.asked))

    def test_what_is_gone_is_made_again(self):
        self.live["c"] = exception.EntityNotFound(entity="Thing", name="c")
        self.update(converge=True)
        now = self.physical(self.stack)
        self.assertNotEqual(self.made.pop("c"), now.pop("c"))
        self.assertEqual(self.made, now)

    def test_by_the_operators_choice(self):
        conf = self.world.engines[0].conf
        conf.set_override("observe_on_update", True)
        self.addCleanup(conf.clear_override, "observe_on_update")
        self.live["a"] = {"value": "two"}
        self.assertEqual([], self.update(converge=False))
        self.assertEqual(2, len(self.update()))

    def test_what_can_not_be_seen_fails_the_update(self):
        self.live["a"] = exception.Error("the service is away")
        self.world.update(self.stack, self.TEMPLATE, converge=True)
        self.world.run()
        self.assertState("UPDATE_FAILED", self.stack)
        self.assertIn(
            "the service is away", self.world.stack(self.stack).status_reason
        )
