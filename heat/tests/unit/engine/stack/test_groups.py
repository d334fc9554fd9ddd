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
"""Stories of groups: one child stack, a resource for each member."""

from __future__ import annotations

from heat.common import exception, grouputils
from heat.engine.stack import load
from heat.tests.unit.engine.stack import test_nested as nested

attr, hot, res, text = nested.attr, nested.hot, nested.res, nested.text

NAME = {"str_replace": {"template": "m-N", "params": {"N": "%index%"}}}


def group(count=3, member=None, policy=None, **properties):
    """A ResourceGroup of TestResources that say their number."""
    made = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {
            "count": count,
            "resource_def": member or res("m-%index%"),
            **properties,
        },
    }
    if policy:
        made["update_policy"] = policy
    return made


def outs(**paths):
    return {
        name: {"value": {"get_attr": ["n", *path]}}
        for name, path in paths.items()
    }


class GroupTest(nested.NestedTest):
    def members(self, stack):
        """Name -> value of each member."""
        child = self.child(stack)
        return {
            name: row.physical_id
            for name, row in sorted(self.world.living(child).items())
        }

    def most_at_once(self, stack, states, action):
        """Run on; the most members that were in such an action at once."""
        most = 0

        def done():
            nonlocal most
            try:
                child = self.child(stack)
            except KeyError:
                child = None
            if child:
                busy = [
                    row.name
                    for row in self.world.rows(child)
                    if (row.action, row.status) == (action, "IN_PROGRESS")
                ]
                most = max(most, len(busy))
            found = self.world.stack(stack)
            return f"{found.action}_{found.status}" in states

        self.world.run_until(done)
        return most


class ResourceGroupTest(GroupTest):
    def test_members_and_their_attributes(self):
        stack = self.make(
            hot(
                {"n": group(3), "after": res(attr("n", "resource.1.output"))},
                {
                    **outs(
                        all=["output"],
                        by=["attributes", "output"],
                        one=["resource.0.output"],
                        other=["resource.2", "output"],
                        refs=["refs"],
                        first=["refs", 0],
                        map=["refs_map"],
                        ref=["resource.1"],
                        gone=["removed_rsrc_list"],
                    ),
                    "after": {"value": attr("after")},
                },
            )
        )
        ids = self.members(stack)
        self.assertEqual(
            {
                "all": ["m-0", "m-1", "m-2"],
                "by": {"0": "m-0", "1": "m-1", "2": "m-2"},
                "one": "m-0",
                "other": "m-2",
                "refs": list(ids.values()),
                "first": ids["0"],
                "map": ids,
                "ref": ids["1"],
                "gone": [],
                "after": "m-1",
            },
            self.world.outputs(stack),
        )
        child = self.world.stack(self.child(stack))
        self.assertEqual((stack, 1), (child.owner_id, child.nested_depth))

    def test_what_refers_to_it_gets_the_id_of_its_stack(self):
        ref = {"ref": {"value": {"get_resource": "n"}}}
        stack = self.make(hot({"n": group(1)}, ref))
        self.assertEqual({"ref": self.child(stack)}, self.world.outputs(stack))

    def test_none(self):
        stack = self.make(hot({"n": group(0)}, outs(all=["output"])))
        self.assertEqual({"all": []}, self.world.outputs(stack))
        self.assertEqual({}, self.members(stack))
        self.update(stack, hot({"n": group(2)}, outs(all=["output"])))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"all": ["m-0", "m-1"]}, self.world.outputs(stack))
        self.update(stack, hot({"n": group(0)}))
        self.assertEqual({}, self.members(stack))

    def test_grow_and_shrink(self):
        stack = self.make(hot({"n": group(2)}, outs(all=["output"])))
        before = self.members(stack)
        self.update(stack, hot({"n": group(4)}, outs(all=["output"])))
        grown = self.members(stack)
        self.assertEqual({"0", "1", "2", "3"}, set(grown))
        self.assertEqual(before, {n: grown[n] for n in before})
        self.update(stack, hot({"n": group(1)}, outs(all=["output"])))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"0": before["0"]}, self.members(stack))
        self.assertEqual({"all": ["m-0"]}, self.world.outputs(stack))

    def test_members_change_in_place(self):
        stack = self.make(hot({"n": group(3)}, outs(all=["output"])))
        before = self.members(stack)
        self.update(
            stack,
            hot({"n": group(3, res("x-%index%"))}, outs(all=["output"])),
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.members(stack))
        self.assertEqual(
            {"all": ["x-0", "x-1", "x-2"]}, self.world.outputs(stack)
        )

    def test_an_output_that_is_new(self):
        stack = self.make(hot({"n": group(2)}))
        self.update(stack, hot({"n": group(2)}, outs(all=["output"])))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"all": ["m-0", "m-1"]}, self.world.outputs(stack))

    def test_another_word_for_the_number(self):
        member = res(value="$$$", action_wait_secs={"create": "$$$"})
        stack = self.make(
            hot({"n": group(2, member, index_var="$$$")}, outs(all=["output"]))
        )
        self.assertEqual({"all": ["0", "1"]}, self.world.outputs(stack))

    def test_values_of_other_resources(self):
        stack = self.make(
            hot(
                {"a": res("from a"), "n": group(2, res(attr("a")))},
                outs(all=["output"]),
            )
        )
        self.assertEqual(
            {"all": ["from a", "from a"]}, self.world.outputs(stack)
        )

    def test_members_that_are_templates(self):
        member = {"type": "child.yaml", "properties": {"word": "w%index%"}}
        stack = self.make(
            hot(
                {"n": group(2, member)},
                outs(all=["word"], one=["resource.1.word"]),
            )
        )
        self.assertEqual(
            {"all": ["w0", "w1"], "one": "w1"}, self.world.outputs(stack)
        )
        child = self.child(stack)
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertGone(child)

    def test_a_required_parameter_of_a_member(self):
        """Its value is that of a resource, so not known when it's checked."""
        member = nested.nest(word=attr("other"))
        stack = self.make(
            hot({"other": res("x"), "n": group(2, member)}, outs(w=["word"]))
        )
        self.assertEqual({"w": ["x", "x"]}, self.world.outputs(stack))

    def test_a_failing_member(self):
        stack = self.begin(hot({"n": group(2, res(fail=True))}))
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertEqual(
            "Resource CREATE failed: ValueError: resources.n.resources[0]: "
            "Test Resource failed 0",
            self.world.stack(stack).status_reason,
        )
        self.update(stack, hot({"n": group(2)}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"0", "1"}, set(self.members(stack)))

    def test_what_is_wrong_with_a_member(self):
        for member, words in (
            (
                res(nothing="x"),
                ("resources.n<nested_stack>.resources", "nothing"),
            ),
            ({"type": "No::Such"}, ("resources.n", "No::Such")),
            (res(wait_secs="soon"), ("resources.n", "wait_secs")),
        ):
            with self.subTest(member=member):
                with self.assertRefused(*words):
                    self.begin(hot({"n": group(2, member)}))
        with self.assertRefused("resources.n", "strange"):
            self.begin(hot({"n": group(2)}, outs(a=["strange"])))
        with self.assertRefused("count"):
            self.begin(hot({"n": group(-1)}))

    def test_the_whole_tree_is_counted(self):
        self.world.conf.set_override("max_resources_per_stack", 10)
        self.addCleanup(
            self.world.conf.clear_override, "max_resources_per_stack"
        )
        with self.assertRefused(error=exception.StackResourceLimitExceeded):
            self.begin(hot({"n": group(10)}))
        self.make(hot({"n": group(9)}))


class RemovalTest(GroupTest):
    def remove(self, stack, *names, count=3, **properties):
        self.update(
            stack,
            hot(
                {
                    "n": group(
                        count,
                        removal_policies=[{"resource_list": list(names)}],
                        **properties,
                    )
                },
                outs(gone=["removed_rsrc_list"], all=["output"]),
            ),
        )
        self.assertState("UPDATE_COMPLETE", stack)

    def test_by_name(self):
        stack = self.make(hot({"n": group(3)}))
        before = self.members(stack)
        self.remove(stack, "1")
        self.assertEqual({"0", "2", "3"}, set(self.members(stack)))
        self.assertEqual(before["2"], self.members(stack)["2"])
        self.assertEqual(
            {"gone": ["1"], "all": ["m-0", "m-2", "m-3"]},
            self.world.outputs(stack),
        )
        # The names are never used again.
        self.remove(stack, "0", count=2)
        self.assertEqual({"2", "3"}, set(self.members(stack)))
        self.update(stack, hot({"n": group(3)}))
        self.assertEqual({"2", "3", "4"}, set(self.members(stack)))

    def test_by_id(self):
        stack = self.make(hot({"n": group(3)}))
        self.remove(stack, self.members(stack)["0"], count=2)
        self.assertEqual({"1", "2"}, set(self.members(stack)))

    def test_by_the_id_of_a_template(self):
        member = {"type": "child.yaml", "properties": {"word": "w%index%"}}
        stack = self.make(hot({"n": group(3, member)}))
        gone = self.members(stack)["1"]
        self.update(
            stack,
            hot(
                {
                    "n": group(
                        2,
                        member,
                        removal_policies=[{"resource_list": [gone]}],
                    )
                }
            ),
        )
        self.assertEqual({"0", "2"}, set(self.members(stack)))
        self.assertGone(gone)

    def test_somebody_else(self):
        stack = self.make(hot({"n": group(2)}))
        self.remove(stack, "7", "somebody", count=2)
        self.assertEqual({"0", "1"}, set(self.members(stack)))
        self.assertEqual([], self.world.outputs(stack)["gone"])

    def test_names_that_can_be_used_again(self):
        stack = self.make(hot({"n": group(3)}))
        self.remove(stack, "0")
        self.remove(stack, "1", removal_policies_mode="update")
        self.assertEqual({"0", "2", "3"}, set(self.members(stack)))
        self.assertEqual(["1"], self.world.outputs(stack)["gone"])
        self.remove(stack, removal_policies_mode="update")
        self.assertEqual({"0", "1", "2"}, set(self.members(stack)))


class BatchTest(GroupTest):
    def slow(self, value="m"):
        return res(value, wait_secs=1)

    def test_batches_of_a_create(self):
        policy = {"batch_create": {"max_batch_size": 2, "pause_time": 20}}
        began = self.world.now
        stack = self.begin(hot({"n": group(5, self.slow(), policy)}))
        most = self.most_at_once(stack, ("CREATE_COMPLETE",), "CREATE")
        self.assertEqual(2, most)
        self.assertEqual(5, len(self.members(stack)))
        self.assertGreaterEqual(self.world.now - began, 40)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)

    def test_all_at_once(self):
        stack = self.begin(hot({"n": group(5, self.slow())}))
        most = self.most_at_once(stack, ("CREATE_COMPLETE",), "CREATE")
        self.assertEqual(5, most)

    def rolling(self, **rolling_update):
        policy = {"rolling_update": rolling_update}
        stack = self.make(hot({"n": group(4, self.slow("a"), policy)}))
        before = self.members(stack)
        began = self.world.now
        self.start_update(
            stack,
            hot({"n": group(4, self.slow("b"), policy)}, outs(all=["output"])),
        )
        most = self.most_at_once(stack, ("UPDATE_COMPLETE",), "UPDATE")
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(before, self.members(stack))
        self.assertEqual({"all": ["b"] * 4}, self.world.outputs(stack))
        return most, self.world.now - began

    def test_one_by_one(self):
        most, took = self.rolling(max_batch_size=1, pause_time=10)
        self.assertEqual(1, most)
        self.assertGreaterEqual(took, 30)

    def test_some_stay_in_service(self):
        most, _took = self.rolling(max_batch_size=4, min_in_service=2)
        self.assertEqual(2, most)

    def test_spare_members(self):
        most, _took = self.rolling(max_batch_size=2, min_in_service=4)
        self.assertEqual(1, most)

    def test_no_time_for_the_pauses(self):
        policy = {"batch_create": {"pause_time": 1000}}
        stack = self.begin(hot({"n": group(10, policy=policy)}))
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertIn("pause", self.world.stack(stack).status_reason)


class TakeOverTest(GroupTest):
    """Another traversal goes on where one was stopped."""

    def test_an_update_in_the_middle_of_the_batches(self):
        policy = {
            "batch_create": {"max_batch_size": 1, "pause_time": 10},
            "rolling_update": {"max_batch_size": 1, "pause_time": 10},
        }
        out = outs(all=["output"])
        stack = self.begin(hot({"n": group(4, res("a"), policy)}, out))
        self.world.run_until(self.child_is(stack, "UPDATE_COMPLETE"))
        self.start_update(stack, hot({"n": group(3, res("b"), policy)}, out))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"all": ["b"] * 3}, self.world.outputs(stack))

    def test_a_failure_in_the_middle(self):
        policy = {"rolling_update": {"max_batch_size": 1}}
        out = outs(all=["output"])
        stack = self.make(
            hot({"n": group(3, res("a"), policy)}, out),
            disable_rollback=False,
        )
        before = self.members(stack)
        self.update(
            stack,
            hot({"n": group(3, res("b", fail=True), policy)}, out),
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertEqual(before, self.members(stack))
        self.assertEqual({"all": ["a"] * 3}, self.world.outputs(stack))

    def test_a_delete_in_the_middle(self):
        policy = {"batch_create": {"max_batch_size": 1, "pause_time": 10}}
        stack = self.begin(hot({"n": group(4, policy=policy)}))
        self.world.run_until(self.child_is(stack, "UPDATE_COMPLETE"))
        child = self.child(stack)
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertGone(child)


class PluginTest(GroupTest):
    def test_what_plug_ins_ask_of_a_group(self):
        stack = self.make(hot({"n": group(2)}))
        loaded = load.load(self.engine, self.world.stack(stack))
        rsrc = load.resource(
            self.engine, self.context, loaded, loaded.rows["n"]
        )
        self.assertEqual(2, grouputils.get_size(rsrc))
        self.assertEqual(["0", "1"], grouputils.get_member_names(rsrc))
        self.assertEqual(
            list(self.members(stack).values()),
            grouputils.get_member_refids(rsrc),
        )


class ChainTest(GroupTest):
    def chain(self, *types, value="v", **properties):
        return {
            "type": "OS::Heat::ResourceChain",
            "properties": {
                "resources": list(types),
                "resource_properties": {"value": value},
                **properties,
            },
        }

    def test_one_after_the_other(self):
        value, test = "OS::Heat::Value", "OS::Heat::TestResource"
        stack = self.make(
            hot(
                {"n": self.chain(test, value, test, value="x")},
                outs(refs=["refs"], one=["resource.0.output"]),
            )
        )
        ids = self.members(stack)
        self.assertEqual({"0", "1", "2"}, set(ids))
        self.assertEqual("x", self.world.outputs(stack)["one"])
        self.assertEqual(3, len(self.world.outputs(stack)["refs"]))
        events = self.world.events(self.child(stack))
        self.assertLess(
            events.index(("0", "CREATE_COMPLETE")),
            events.index(("1", "CREATE_IN_PROGRESS")),
        )
        self.update(stack, hot({"n": self.chain(test, value, value="x")}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"0", "1"}, set(self.members(stack)))

    def test_at_once(self):
        test = "OS::Heat::TestResource"
        stack = self.make(
            hot(
                {"n": self.chain(test, test, concurrent=True)},
                outs(all=["attributes", "output"]),
            )
        )
        self.assertEqual(
            {"all": {"0": "v", "1": "v"}}, self.world.outputs(stack)
        )

    def test_what_is_wrong(self):
        with self.assertRefused("resources.n", "No::Such"):
            self.begin(hot({"n": self.chain("No::Such")}))
