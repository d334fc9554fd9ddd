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
"""Stories of nested stacks: templates as resources, on one engine."""

from __future__ import annotations

import json

import sqlalchemy as sa

from heat.common import exception
from heat.db import models, resources, stacks, trees
from heat.engine.environment import registry, shared
from heat.engine.stack import actions, converge, delete, load, validate
from heat.engine.template import source
from heat.engine.traversal import recovery
from heat.tests import base
from heat.tests.convergence import world


def hot(resources_, outputs=None, parameters=None):
    template = {"heat_template_version": "2018-08-31", "resources": resources_}
    if outputs:
        template["outputs"] = outputs
    if parameters:
        template["parameters"] = parameters
    return template


def res(value="v", depends_on=None, **properties):
    """A resource that does what its properties say."""
    made = {
        "type": "OS::Heat::TestResource",
        "properties": {"value": value, **properties},
    }
    if depends_on:
        made["depends_on"] = depends_on
    return made


def nest(file="child.yaml", depends_on=None, **properties):
    """A resource that is a template."""
    made = {"type": file, "properties": properties}
    if depends_on:
        made["depends_on"] = depends_on
    return made


def attr(name, key="output"):
    return {"get_attr": [name, key]}


def text(template):
    return json.dumps(template)


CHILD = hot(
    {
        "in": res(
            {"get_param": "word"},
            action_wait_secs={"create": {"get_param": "secs"}},
        )
    },
    {"word": {"value": attr("in")}},
    {
        "word": {"type": "string"},
        "secs": {"type": "number", "default": 0},
    },
)
FILES = {"child.yaml": text(CHILD)}


class NestedTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.world = world.World()
        self.addCleanup(self.world.close)
        self.engine = self.world.engines[0]
        self.context = self.world.context

    def begin(self, template, files=FILES, params=None, **args):
        args.setdefault("disable_rollback", True)
        record = converge.create(
            self.engine,
            self.context,
            "stack",
            template,
            params or {},
            files,
            args,
        )
        return record.id

    def make(self, template, files=FILES, params=None, **args):
        stack = self.begin(template, files, params, **args)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        return stack

    def start_update(self, stack, template, files=FILES, params=None, **args):
        converge.update(
            self.engine,
            self.context,
            self.world.stack(stack),
            template,
            params or {},
            files,
            args,
        )

    def update(self, stack, template, files=FILES, params=None, **args):
        self.start_update(stack, template, files, params, **args)
        self.world.run()

    def delete(self, stack):
        delete.delete(self.engine, self.context, self.world.stack(stack))

    def child(self, stack, name="n"):
        return self.world.living(stack)[name].physical_id

    def happened(self, stack, name, what):
        return lambda: (name, what) in self.world.events(stack)

    def child_is(self, stack, state, name="n"):
        """Whether the child is in this state."""

        def reached():
            found = self.world.db.read(
                lambda conn: stacks.children(conn, stack)
            )
            return state in [
                f"{each.action}_{each.status}"
                for each in found
                if each.parent_resource_name == name
            ]

        return reached

    def run_until_killed(self, point, successor):
        """The engine dies at a point, and another finds what it left."""

        class Killed(BaseException):
            pass

        def kill(passed):
            if passed == point:
                raise Killed

        self.engine.probe = kill
        try:
            self.world.run()
        except Killed:
            pass
        else:
            self.fail("it was not killed")
        self.engine.probe = lambda _point: None
        self.engine.engine_id = successor

    def assertState(self, state, stack_id):
        stack = self.world.stack(stack_id)
        self.assertEqual(
            state, f"{stack.action}_{stack.status}", stack.status_reason
        )

    def assertGone(self, stack_id):
        self.assertIsNotNone(self.world.stack(stack_id).deleted_at)

    def assertRefused(self, *words, error=exception.StackValidationFailed):
        """The error of a block, whose text has these words."""
        return _Refused(self, error, words)


class _Refused:
    def __init__(self, test, error, words):
        self.test, self.error, self.words = test, error, words

    def __enter__(self):
        return self

    def __exit__(self, type_, exc, _trace):
        if type_ is None:
            self.test.fail("it was accepted")
        if not isinstance(exc, self.error):
            return False
        for word in self.words:
            self.test.assertIn(word, str(exc))
        return True


class CreateTest(NestedTest):
    def test_a_template_is_a_resource(self):
        stack = self.make(
            hot(
                {"n": nest(word="hello"), "after": res(attr("n", "word"))},
                {
                    "word": {"value": attr("after")},
                    "id": {"value": {"get_resource": "n"}},
                },
            )
        )
        outputs = self.world.outputs(stack)
        self.assertEqual("hello", outputs["word"])
        child = self.world.stack(self.child(stack))
        self.assertIn(f"/{child.id}", outputs["id"])
        self.assertTrue(outputs["id"].startswith("arn:"))
        self.assertEqual(
            (stack, 1, "n", True),
            (
                child.owner_id,
                child.nested_depth,
                child.parent_resource_name,
                child.disable_rollback,
            ),
        )
        self.assertTrue(child.name.startswith("stack-n-"))
        [row] = self.world.rows(child.id)
        self.assertEqual(stack, row.root_stack_id)
        self.assertEqual(
            "child.yaml", self.world.living(stack)["n"].resource_type
        )

    def test_depth_three(self):
        files = {
            "one.yaml": text(
                hot(
                    {"n": nest("two.yaml", word={"get_param": "word"})},
                    {"word": {"value": attr("n", "word")}},
                    {"word": {"type": "string"}},
                )
            ),
            "two.yaml": text(
                hot(
                    {"n": nest(word={"get_param": "word"})},
                    {"word": {"value": attr("n", "word")}},
                    {"word": {"type": "string"}},
                )
            ),
            **FILES,
        }
        stack = self.make(
            hot(
                {"n": nest("one.yaml", word="deep")},
                {"word": {"value": attr("n", "word")}},
            ),
            files,
        )
        self.assertEqual({"word": "deep"}, self.world.outputs(stack))
        ids = self.world.db.read(lambda conn: trees.descendants(conn, stack))
        self.assertEqual(3, len(ids))
        rows = self.world.db.read(
            lambda conn: resources.list_for_stacks(conn, ids)
        )
        self.assertEqual({stack}, {row.root_stack_id for row in rows})

    def test_the_registry_leads_to_a_template(self):
        stack = self.make(
            hot(
                {
                    "n": {
                        "type": "My::Word",
                        "properties": {"word": "mapped"},
                    }
                },
                {"word": {"value": attr("n", "word")}},
            ),
            params={"resource_registry": {"My::Word": "child.yaml"}},
        )
        self.assertEqual({"word": "mapped"}, self.world.outputs(stack))

    def test_parameter_defaults_reach_the_child(self):
        stack = self.make(
            hot({"n": nest()}, {"word": {"value": attr("n", "word")}}),
            params={"parameter_defaults": {"word": "by default"}},
        )
        self.assertEqual({"word": "by default"}, self.world.outputs(stack))

    def test_a_child_says_what_it_is_called(self):
        child = hot(
            {"in": res("x")},
            {"OS::stack_id": {"value": {"get_resource": "in"}}},
        )
        stack = self.make(
            hot(
                {"n": nest("own.yaml"), "o": res({"get_resource": "n"})},
                {
                    "id": {"value": {"get_resource": "n"}},
                    "seen": {"value": attr("o")},
                },
            ),
            {"own.yaml": text(child)},
        )
        inner = self.world.living(self.child(stack))["in"].physical_id
        self.assertEqual(
            {"id": inner, "seen": inner}, self.world.outputs(stack)
        )
        # And says so still, when nothing is done with it.
        self.update(
            stack,
            hot(
                {
                    "n": nest("own.yaml"),
                    "o": res({"get_resource": "n"}, fail=False),
                },
                {"seen": {"value": attr("o")}},
            ),
            {"own.yaml": text(child)},
        )
        self.assertEqual({"seen": inner}, self.world.outputs(stack))

    def test_the_facade(self):
        child = hot(
            {
                "in": res(
                    {
                        "list_join": [
                            " ",
                            [
                                {"get_param": "OS::stack_name"},
                                {"resource_facade": "deletion_policy"},
                            ],
                        ]
                    }
                )
            },
            {
                "meta": {"value": {"resource_facade": "metadata"}},
                "policy": {"value": attr("in")},
            },
        )
        outer = nest("own.yaml")
        outer["metadata"] = {"color": attr("first")}
        stack = self.make(
            hot(
                {"n": outer, "first": res("blue")},
                {
                    "meta": {"value": attr("n", "meta")},
                    "policy": {"value": attr("n", "policy")},
                },
            ),
            {"own.yaml": text(child)},
        )
        outputs = self.world.outputs(stack)
        self.assertEqual({"color": "blue"}, outputs["meta"])
        self.assertTrue(outputs["policy"].endswith(" Delete"))

    def test_any_policy_is_what_the_template_makes_of_it(self):
        outer = nest(word="w") | {
            "deletion_policy": "Snapshot",
            "update_policy": {"any": {"thing": 1}},
        }
        self.make(hot({"n": outer}))

    def test_any_policy_of_what_stands_for_any_type(self):
        outer = {
            "type": "OS::Heat::None",
            "deletion_policy": "Snapshot",
            "update_policy": {"any": {"thing": 1}},
        }
        self.make(hot({"n": outer}))

    def test_attributes_of_what_is_inside(self):
        """Those that no output of the template tells; deeper ones too."""
        middle = hot({"m": nest(word="deep")})
        outs = {
            name: {"value": attr("n", f"resource.{name}")}
            for name in ("m", "m.resource.in", "m.resource.in.output")
        }
        template = hot({"n": nest("middle.yaml")}, outs)
        files = FILES | {"middle.yaml": text(middle)}
        stack = self.make(template, files)
        child = self.child(stack)
        living = self.world.living(self.child(child, "m"))
        wanted = {
            "m.resource.in": living["in"].physical_id,
            "m.resource.in.output": "deep",
        }
        got = self.world.outputs(stack)
        self.assertIn(f"/{self.child(child, 'm')}", got.pop("m"))
        self.assertEqual(wanted, got)
        # Asked for afterwards, and by a resource; what is not there is None.
        path = ["n", "resource.m", "word"]
        template["resources"]["r"] = res({"get_attr": path})
        template["outputs"] = {
            "r": {"value": attr("r")},
            "none": {"value": attr("n", "resource.nobody.x")},
        }
        self.update(stack, template, files)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(
            {"r": "deep", "none": None}, self.world.outputs(stack)
        )

    def test_a_failing_child_fails_its_parent(self):
        child = hot({"in": res(fail=True)})
        stack = self.begin(
            hot({"n": nest("own.yaml")}), {"own.yaml": text(child)}
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertEqual(
            "Resource CREATE failed: ValueError: resources.n.resources.in: "
            "Test Resource failed in",
            self.world.stack(stack).status_reason,
        )
        self.assertState("CREATE_FAILED", self.child(stack))

    def test_a_rollback_leaves_no_child(self):
        stack = self.begin(
            hot({"n": nest(word="w"), "b": res(fail=True, depends_on="n")}),
            disable_rollback=False,
        )
        self.world.run_until(self.happened(stack, "n", "CREATE_COMPLETE"))
        child = self.child(stack)
        self.world.run()
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertGone(child)
        self.assertEqual([], self.world.rows(stack))

    def test_a_rollback_does_not_wait_for_a_busy_child(self):
        stack = self.begin(
            hot(
                {
                    "n": nest(word="w", secs=3000),
                    "b": res(fail=True, wait_secs=5),
                }
            ),
            disable_rollback=False,
        )
        self.world.run_until(self.child_is(stack, "CREATE_IN_PROGRESS"))
        began = self.world.now
        self.world.run()
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertLess(self.world.now - began, 60)
        self.assertEqual(
            [],
            self.world.db.read(lambda conn: trees.descendants(conn, stack)),
        )

    def test_many_of_one_template(self):
        stack = self.make(
            hot({f"n{i}": nest(word=f"w{i}") for i in range(20)})
        )
        ids = self.world.db.read(lambda conn: trees.descendants(conn, stack))
        self.assertEqual(20, len(ids))

    def test_quota_counts_no_children(self):
        self.world.conf.set_override("max_stacks_per_tenant", 1)
        self.addCleanup(
            self.world.conf.clear_override, "max_stacks_per_tenant"
        )
        self.make(hot({"n": nest(word="w")}))

    def test_files_are_stored_once(self):
        self.make(hot({f"n{i}": nest(word="w") for i in range(3)}))
        count = self.world.db.read(
            lambda conn: conn.execute(
                sa.select(sa.func.count()).select_from(
                    models.raw_template_files
                )
            ).scalar()
        )
        self.assertEqual(1, count)

    def test_a_template_of_the_operator(self):
        shared.install(
            shared.Shared(
                registry.Registry({"My::Word": "/etc/word.yaml"}),
                {"word": "the operator's"},
                (),
                {"/etc/word.yaml": text(CHILD)},
            )
        )
        self.addCleanup(shared.install, None)
        stack = self.make(
            hot(
                {"n": {"type": "My::Word"}},
                {"word": {"value": attr("n", "word")}},
            ),
            {},
        )
        self.assertEqual({"word": "the operator's"}, self.world.outputs(stack))


class UpdateTest(NestedTest):
    def test_in_place(self):
        outputs = {"word": {"value": attr("n", "word")}}
        stack = self.make(hot({"n": nest(word="one")}, outputs))
        child = self.child(stack)
        inner = self.world.living(child)["in"].physical_id
        self.update(stack, hot({"n": nest(word="two")}, outputs))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(child, self.child(stack))
        self.assertEqual(inner, self.world.living(child)["in"].physical_id)
        self.assertEqual({"word": "two"}, self.world.outputs(stack))

    def test_nothing_changed_touches_no_child(self):
        stack = self.make(hot({"n": nest(word="one")}))
        self.update(stack, hot({"n": nest(word="one")}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertState("CREATE_COMPLETE", self.child(stack))
        self.assertEqual("CREATE", self.world.living(stack)["n"].action)

    def test_a_changed_file_alone(self):
        stack = self.make(hot({"n": nest(word="one")}))
        child = self.child(stack)
        more = json.loads(text(CHILD))
        more["resources"]["more"] = res("x")
        self.update(
            stack, hot({"n": nest(word="one")}), {"child.yaml": text(more)}
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(child, self.child(stack))
        self.assertEqual({"in", "more"}, set(self.world.living(child)))

    def test_another_path_is_no_replacement(self):
        stack = self.make(hot({"n": nest(word="one")}))
        child = self.child(stack)
        self.update(
            stack,
            hot({"n": nest("moved.yaml", word="one")}),
            {"moved.yaml": text(CHILD)},
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(child, self.child(stack))
        self.assertEqual(
            "moved.yaml", self.world.living(stack)["n"].resource_type
        )

    def test_a_template_instead_of_a_class(self):
        stack = self.make(hot({"n": res("one")}))
        self.update(stack, hot({"n": nest(word="one")}))
        self.assertState("UPDATE_COMPLETE", stack)
        child = self.child(stack)
        self.assertState("CREATE_COMPLETE", child)
        self.update(stack, hot({"n": res("one")}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertGone(child)

    def test_a_failing_update_is_rolled_back(self):
        outputs = {"word": {"value": attr("n", "word")}}
        stack = self.make(
            hot({"n": nest(word="one")}, outputs), disable_rollback=False
        )
        child = self.child(stack)
        inner = self.world.living(child)["in"].physical_id
        self.update(
            stack,
            hot(
                {"n": nest(word="two"), "b": res(fail=True, depends_on="n")},
                outputs,
            ),
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", child)
        self.assertEqual({"word": "one"}, self.world.outputs(stack))
        self.assertEqual(inner, self.world.living(child)["in"].physical_id)

    def test_a_child_that_fails_is_brought_back(self):
        bad = json.loads(text(CHILD))
        bad["resources"]["bad"] = res(fail=True, depends_on="in")
        stack = self.make(hot({"n": nest(word="one")}), disable_rollback=False)
        child = self.child(stack)
        self.update(
            stack,
            hot({"n": nest(word="two")}),
            {"child.yaml": text(bad)},
            disable_rollback=False,
        )
        self.assertState("ROLLBACK_COMPLETE", stack)
        self.assertState("UPDATE_COMPLETE", child)
        self.assertEqual({"in"}, set(self.world.living(child)))

    def test_a_failed_create_is_repaired(self):
        bad = hot({"in": res(fail=True)})
        stack = self.begin(
            hot({"n": nest("own.yaml")}), {"own.yaml": text(bad)}
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        child = self.child(stack)
        self.update(
            stack,
            hot({"n": nest("own.yaml")}),
            {"own.yaml": text(hot({"in": res()}))},
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(child, self.child(stack))
        self.assertState("UPDATE_COMPLETE", child)

    def test_over_a_busy_child(self):
        """A newer update does not wait for what the child was doing."""
        outputs = {"word": {"value": attr("n", "word")}}
        stack = self.begin(hot({"n": nest(word="one", secs=30)}, outputs))
        self.world.run_until(self.child_is(stack, "CREATE_IN_PROGRESS"))
        self.world.run_until(lambda: self.child(stack) is not None)
        child = self.child(stack)
        self.start_update(stack, hot({"n": nest(word="two")}, outputs))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(child, self.child(stack))
        self.assertEqual({"word": "two"}, self.world.outputs(stack))
        self.assertEqual(1, len(self.world.rows(child)))

    def test_a_row_that_was_to_be_something_else(self):
        """Clean-up knows what an interrupted create was making."""
        stack = self.begin(
            hot({"x": res(wait_secs=30), "n": res(depends_on="x")})
        )
        self.start_update(stack, hot({"n": nest(word="w", secs=1000)}))
        self.world.run_until(self.child_is(stack, "CREATE_IN_PROGRESS"))
        self.update(stack, hot({"y": res()}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(
            [],
            self.world.db.read(lambda conn: trees.descendants(conn, stack)),
        )

    def test_a_check_heals_no_child(self):
        """What its update could not make, the next one makes."""
        template = hot({"n": nest(word="w")})
        more = {**CHILD["resources"], "more": res(wait_secs=100)}
        files = {"child.yaml": text({**CHILD, "resources": more})}
        stack = self.make(template)
        child = self.child(stack)
        self.start_update(stack, template, files)
        self.world.run_until(
            self.happened(child, "more", "CREATE_IN_PROGRESS")
        )
        self.act("cancel", stack, rollback=False)
        self.assertState("UPDATE_FAILED", child)
        self.act("check", stack)
        self.assertState("CHECK_FAILED", child)
        self.assertState("CHECK_FAILED", stack)
        self.update(stack, template, files)
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual("COMPLETE", self.world.living(child)["more"].status)

    def act(self, action, stack, **args):
        found = self.world.stack(stack)
        getattr(actions, action)(self.engine, self.context, found, **args)
        self.world.run()

    def test_a_child_somebody_deleted_is_made_anew(self):
        stack = self.make(hot({"n": nest(word="one")}))
        child = self.child(stack)
        self.delete(child)
        self.world.run()
        self.assertGone(child)
        self.update(stack, hot({"n": nest(word="two")}))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertNotEqual(child, self.child(stack))
        self.assertState("CREATE_COMPLETE", self.child(stack))


class DeleteTest(NestedTest):
    def test_children_go_first(self):
        stack = self.make(
            hot({"n": nest(word="w", depends_on="a"), "a": res()})
        )
        child = self.child(stack)
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertGone(child)
        gone = self.world.events(stack)
        self.assertLess(
            gone.index(("n", "DELETE_COMPLETE")),
            gone.index(("a", "DELETE_IN_PROGRESS")),
        )

    def test_a_gone_child_is_no_error(self):
        stack = self.make(hot({"n": nest(word="w")}))
        self.delete(self.child(stack))
        self.world.run()
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_during_the_create_of_a_child(self):
        stack = self.begin(hot({"n": nest(word="w", secs=1000)}))
        self.world.run_until(self.child_is(stack, "CREATE_IN_PROGRESS"))
        began = self.world.now
        self.delete(stack)
        self.world.run_until(
            lambda: self.world.stack(stack).deleted_at is not None
        )
        self.assertLess(self.world.now - began, 60)
        self.assertEqual(
            [],
            self.world.db.read(lambda conn: trees.descendants(conn, stack)),
        )

    def test_a_child_that_can_not_go(self):
        class Stuck(Exception):
            pass

        stack = self.make(hot({"n": nest(word="w")}))
        child = self.child(stack)
        cls = self.world.plugins.get("OS::Heat::TestResource")

        def stuck(_rsrc):
            raise Stuck("it is held")

        kept = cls.handle_delete
        cls.handle_delete = stuck
        self.addCleanup(setattr, cls, "handle_delete", kept)
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_FAILED", stack)
        self.assertIn("it is held", self.world.stack(stack).status_reason)
        cls.handle_delete = kept
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertGone(child)


class OtherActionsTest(NestedTest):
    def test_suspend_check_resume(self):
        stack = self.make(hot({"n": nest(word="w")}))
        child = self.child(stack)
        for action in ("suspend", "resume", "check"):
            record = self.world.stack(stack)
            getattr(actions, action)(self.engine, self.context, record)
            self.world.run()
            self.assertState(f"{action.upper()}_COMPLETE", stack)
            self.assertState(f"{action.upper()}_COMPLETE", child)

    def test_cancel_stops_the_child(self):
        stack = self.begin(hot({"n": nest(word="w", secs=1000)}))
        self.world.run_until(self.child_is(stack, "CREATE_IN_PROGRESS"))
        self.world.run_until(lambda: self.child(stack) is not None)
        child = self.child(stack)
        began = self.world.now
        actions.cancel(
            self.engine, self.context, self.world.stack(stack), rollback=False
        )
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        self.assertState("CREATE_FAILED", child)
        self.assertLess(self.world.now - began, 60)


class CrashTest(NestedTest):
    def test_a_child_and_its_record_are_one(self):
        """The engine dies when it has just made the child."""
        stack = self.begin(hot({"n": nest(word="w")}))
        self.run_until_killed("called", successor="another")
        ids = self.world.db.read(lambda conn: trees.descendants(conn, stack))
        self.assertEqual([self.child(stack)], ids)
        # Another engine finds the claim of a dead one.
        recovery.resume(self.engine, alone=True)
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        ids = self.world.db.read(lambda conn: trees.descendants(conn, stack))
        self.assertEqual([self.child(stack)], ids)

    def test_an_engine_taken_for_dead_makes_no_child(self):
        stack = self.begin(hot({"n": nest(word="w")}))

        def lose(point):
            if point == "claimed":
                self.engine.probe = lambda _point: None
                ids = [row.id for row in self.world.rows(stack)]
                self.world.db.run(
                    lambda conn: resources.set_values(
                        conn,
                        ids,
                        {"claim_id": "c", "engine_id": "another"},
                    )
                )

        self.engine.probe = lose
        self.world.run()
        self.assertEqual(
            [],
            self.world.db.read(lambda conn: trees.descendants(conn, stack)),
        )


class RefusedTest(NestedTest):
    def test_a_missing_file(self):
        with self.assertRefused(
            "resources.n.type", 'template "other.yaml" is missing'
        ):
            self.begin(hot({"n": nest("other.yaml")}))

    def test_a_missing_file_further_down(self):
        files = {"one.yaml": text(hot({"m": nest("two.yaml")}))}
        with self.assertRefused(
            "resources.n<one.yaml>.resources.m.type: ", '"two.yaml"'
        ):
            self.begin(hot({"n": nest("one.yaml")}), files)

    def test_a_file_that_is_no_template(self):
        for bad in ("just words", "a: [", "{}", "- 1"):
            with self.subTest(bad), self.assertRefused("resources.n<x.yaml>"):
                self.begin(hot({"n": nest("x.yaml")}), {"x.yaml": bad})

    def test_a_wrong_property(self):
        with self.assertRefused(
            "resources.n.properties: Unknown Property wrong"
        ):
            self.begin(hot({"n": nest(word="w", wrong=1)}))

    def test_a_missing_property(self):
        with self.assertRefused("resources.n.properties.word"):
            self.begin(hot({"n": nest()}))

    def test_an_unknown_attribute(self):
        with self.assertRefused("no_such"):
            self.begin(
                hot(
                    {"n": nest(word="w")},
                    {"o": {"value": attr("n", "no_such")}},
                )
            )

    def test_a_wrong_property_inside(self):
        bad = hot({"y": res(nothing="x")})
        with self.assertRefused(
            "Property error: resources.n<x.yaml>."
            "resources.y.properties: Unknown Property nothing"
        ):
            self.begin(hot({"n": nest("x.yaml")}), {"x.yaml": text(bad)})

    def test_a_constraint_inside(self):
        child = hot(
            {"in": res({"get_param": "word"})},
            None,
            {
                "word": {
                    "type": "string",
                    "constraints": [{"length": {"max": 3}}],
                }
            },
        )
        with self.assertRefused("resources.n"):
            self.begin(
                hot({"n": nest("x.yaml", word="toolong")}),
                {"x.yaml": text(child)},
            )
        # What isn't known yet isn't refused.
        self.begin(
            hot({"n": nest("x.yaml", word=attr("a")), "a": res("ok")}),
            {"x.yaml": text(child)},
        )
        self.world.run()

    def test_recursion(self):
        files = {
            "one.yaml": text(hot({"m": nest("two.yaml")})),
            "two.yaml": text(hot({"m": nest("one.yaml")})),
        }
        with self.assertRefused(
            "contains itself", "one.yaml -> two.yaml -> one.yaml"
        ):
            self.begin(hot({"n": nest("one.yaml")}), files)

    def test_depth(self):
        files = {
            f"{i}.yaml": text(hot({"m": nest(f"{i + 1}.yaml")}))
            for i in range(6)
        }
        files["6.yaml"] = text(hot({"m": res()}))
        with self.assertRefused("Recursion depth exceeds 5"):
            self.begin(hot({"n": nest("0.yaml")}), files)
        self.begin(hot({"n": nest("2.yaml")}), files)
        self.world.run()

    def test_the_whole_tree_is_counted(self):
        self.world.conf.set_override("max_resources_per_stack", 5)
        self.addCleanup(
            self.world.conf.clear_override, "max_resources_per_stack"
        )
        files = {"x.yaml": text(hot({f"r{i}": res() for i in range(2)}))}
        with self.assertRefused("max_resources_per_stack is 5"):
            self.begin(hot({"n": nest("x.yaml"), "m": nest("x.yaml")}), files)
        self.begin(hot({"n": nest("x.yaml"), "a": res()}), files)

    def test_an_update_is_refused_as_well(self):
        stack = self.make(hot({"n": nest(word="w")}))
        with self.assertRefused("resources.n<child.yaml>"):
            self.start_update(
                stack, hot({"n": nest(word="w")}), {"child.yaml": "words"}
            )
        self.assertState("CREATE_COMPLETE", stack)

    def test_validate_looks_inside(self):
        bad = hot({"y": res(nothing="x")})
        with self.assertRefused("resources.n<x.yaml>.resources.y"):
            validate.validate_template(
                self.engine,
                self.context,
                hot({"n": nest("x.yaml")}),
                {},
                {"x.yaml": text(bad)},
            )

    def test_validate_tells_of_templates_whatever_they_are_given(self):
        """What parameters there are can be asked before all fits."""
        bad = hot({"y": nest("child.yaml", word="w", nothing="x")})
        files = {"x.yaml": text(bad), **FILES}
        asked = hot({"n": nest("x.yaml")})
        told = validate.validate_template(
            self.engine, self.context, asked, {}, files, show_nested=True
        )
        below = told["NestedParameters"]["n"]["NestedParameters"]["y"]
        self.assertEqual({"word", "secs"}, set(below["Parameters"]))
        with self.assertRefused("resources.y.properties: Unknown Property"):
            self.begin(asked, files)
        with self.assertRefused("resources.n.properties: Unknown Property"):
            validate.validate_template(
                self.engine,
                self.context,
                hot({"n": nest("x.yaml", nothing="x")}),
                {},
                files,
                show_nested=True,
            )

    def test_validate_tells_of_what_is_below(self):
        files = {"one.yaml": text(hot({"m": nest(word="w")})), **FILES}
        told = validate.validate_template(
            self.engine,
            self.context,
            hot({"n": nest("one.yaml"), "a": res()}),
            {},
            files,
            show_nested=True,
        )
        one = told["NestedParameters"]["n"]
        self.assertEqual("one.yaml", one["Type"])
        self.assertEqual({}, one["Parameters"])
        two = one["NestedParameters"]["m"]
        self.assertEqual({"word", "secs"}, set(two["Parameters"]))
        self.assertEqual("w", two["Parameters"]["word"]["Value"])
        self.assertEqual({"n"}, set(told["NestedParameters"]))

    def test_a_template_is_read_once(self):
        count = []
        kept = source.parse

        def counted(*args, **kwargs):
            count.append(args)
            return kept(*args, **kwargs)

        source.parse = counted
        self.addCleanup(setattr, source, "parse", kept)
        child = hot({"in": res("only here")})
        self.begin(
            hot({f"n{i}": nest("x.yaml") for i in range(10)}),
            {"x.yaml": text(child)},
        )
        self.assertEqual(1, len(count))


class ViewTest(NestedTest):
    def test_nested(self):
        stack = self.make(hot({"n": nest(word="w")}))
        loaded = load.load(self.engine, self.world.stack(stack))
        rsrc = load.resource(
            self.engine, self.context, loaded, loaded.rows["n"]
        )
        inner = rsrc.nested()
        self.assertEqual(["in"], list(inner))
        self.assertEqual("w", inner.neighbour("in").FnGetAtt("output"))
        self.assertTrue(rsrc.has_nested())
        self.assertEqual({"word": "w"}, rsrc.child_params())
        self.assertEqual("w", rsrc.get_output("word"))
        self.assertRaises(exception.NotFound, rsrc.get_output, "nothing")
        made = rsrc.child_definition()
        self.assertEqual(["in"], list(made.resource_definitions))
