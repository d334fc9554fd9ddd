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
"""Stories of groups that policies make larger and smaller."""

from __future__ import annotations

from heat.common import exception
from heat.engine.stack import actions, signals
from heat.tests.unit.engine.stack import test_groups as groups

attr, hot, res, outs = groups.attr, groups.hot, groups.res, groups.outs


def group(member=None, **properties):
    given = {"min_size": 1, "max_size": 4, "resource": member or res("m")}
    given.update(properties)
    return {"type": "OS::Heat::AutoScalingGroup", "properties": given}


def policy(adjustment=1, kind="change_in_capacity", **properties):
    return {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "auto_scaling_group_id": {"get_resource": "n"},
            "adjustment_type": kind,
            "scaling_adjustment": adjustment,
            **properties,
        },
    }


def template(adjustment=1, member=None, more=None, **properties):
    return hot(
        {"n": group(member, **properties), "p": policy(adjustment)}
        | (more or {}),
        outs(size=["current_size"], all=["outputs_list", "output"]),
    )


class AutoScalingTest(groups.GroupTest):
    def signal(self, stack, name="p", details=None):
        record = self.world.stack(stack)
        signals.signal(self.engine, self.context, record, name, details)
        self.world.run()

    def assertSize(self, size, stack):
        self.assertEqual(size, len(self.members(stack)))
        self.assertEqual(size, self.world.outputs(stack)["size"])

    def test_a_group(self):
        stack = self.make(
            hot(
                {"n": group(desired_capacity=2)},
                outs(
                    size=["current_size"],
                    all=["outputs_list", "output"],
                    by=["outputs", "output"],
                    refs=["refs_map"],
                ),
            )
        )
        self.assertEqual(
            {
                "size": 2,
                "all": ["m", "m"],
                "by": {"0": "m", "1": "m"},
                "refs": self.members(stack),
            },
            self.world.outputs(stack),
        )

    def test_up_and_down(self):
        stack = self.make(template(2, more={"down": policy(-3)}))
        self.assertSize(1, stack)
        self.signal(stack)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertSize(3, stack)
        self.signal(stack)
        self.assertSize(4, stack)
        self.signal(stack, "down", {"current": "alarm"})
        self.assertSize(1, stack)

    def test_the_size_stays_in_other_updates(self):
        stack = self.make(template())
        self.signal(stack)
        self.assertSize(2, stack)
        self.update(stack, template(member=res("new")))
        self.assertSize(2, stack)
        self.assertEqual(["new"] * 2, self.world.outputs(stack)["all"])
        self.update(stack, template(member=res("new"), desired_capacity=3))
        self.assertSize(3, stack)
        self.update(stack, template(member=res("new"), max_size=2))
        self.assertSize(2, stack)

    def test_when_nothing_happens(self):
        stack = self.make(template(more={"c": policy(cooldown=600)}))
        self.signal(stack, details={"current": "ok"})
        self.assertSize(1, stack)
        self.signal(stack, "c")
        self.assertSize(2, stack)
        self.signal(stack, "c")
        self.assertSize(2, stack)
        self.signal(stack)
        self.assertSize(3, stack)
        self.assertIn(("p", "SIGNAL_COMPLETE"), self.world.events(stack))

    def test_two_signals_while_the_stack_is_busy(self):
        stack = self.make(template(member=res("m", wait_secs=5)))
        record = self.world.stack(stack)
        signals.signal(self.engine, self.context, record, "p", None)
        signals.signal(self.engine, self.context, record, "p", None)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertSize(3, stack)

    def test_a_suspended_stack(self):
        stack = self.make(template())
        actions.suspend(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        with self.assertRefused(error=exception.HeatException):
            self.signal(stack)
        actions.resume(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.update(stack, template(member=res("new")))
        self.assertSize(1, stack)

    def test_a_refused_signal_leaves_nothing(self):
        stack = self.make(template(cooldown=600))

        class Refuses:
            def do_pre_op(self, cnxt, stack, current=None, action=None):
                raise ValueError("not now")

        self.engine.plugins.lifecycle.append(Refuses())
        with self.assertRefused("not now"):
            self.signal(stack)
        self.engine.plugins.lifecycle.clear()
        self.update(stack, template(member=res("new"), cooldown=600))
        self.assertSize(1, stack)
        # What was refused does not cool down either.
        self.signal(stack)
        self.assertSize(2, stack)

    def test_the_group_cools_down(self):
        stack = self.make(template(cooldown=600))
        self.signal(stack)
        self.signal(stack)
        self.assertSize(2, stack)

    def test_what_is_wrong(self):
        for properties, word in (
            ({"min_size": 5}, "min_size"),
            ({"desired_capacity": 9}, "desired_capacity"),
            ({"member": res(nothing="x")}, "nothing"),
        ):
            with self.subTest(word=word), self.assertRefused(word):
                self.begin(template(**properties))
        with self.assertRefused("min_adjustment_step"):
            self.begin(hot({"n": group(), "p": policy(min_adjustment_step=1)}))
