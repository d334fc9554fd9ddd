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

"""Bugs that the simulation found, each as a story.

The seeds themselves would not keep: any change of the simulation draws
other stories from them.
"""

from __future__ import annotations

import contextlib
import gc

import greenlet

from heat.engine.stack import actions, converge, delete
from heat.engine.traversal import gather, scene
from heat.tests import base
from heat.tests.convergence import simulation, story_nested, world
from heat.tests.convergence.test_stories import attr, hot, res
from heat.tests.unit.engine.stack.test_nested import text


class Story(base.TestCase):
    """One engine to begin with; the plan says what befalls it, and where."""

    def enter(self, *plan):
        self.world = simulation.SimulatedWorld(
            1, faults=simulation.Faults(local=1.0), plan=plan
        )
        self.world.__enter__()
        self.addCleanup(self.world.__exit__, None, None, None)
        while len(self.world.engines) > 1:
            self.world.engines.pop()

    def do(self, call):
        owner = self.world.able()[0]
        self.world.start(owner, "request", lambda: call(owner.engine))

    def create(self, resources, files=None, **args):
        args.setdefault("disable_rollback", True)
        self.do(
            lambda engine: converge.create(
                engine,
                self.world.context,
                "s",
                hot(resources),
                {},
                files or {},
                args,
            )
        )
        (self.stack_id,) = self.world.watch.stack_ids()

    def update(self, resources, files=None):
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: converge.update(
                engine,
                self.world.context,
                stack,
                hot(resources),
                {},
                files or {},
                {},
            )
        )

    def delete(self):
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: delete.delete(engine, self.world.context, stack)
        )

    def given_away(self):
        """What a has made has just become external to b, which is all that
        is wanted by now; its id."""
        self.enter()
        self.create({"a": res("x")})
        self.rest("CREATE_COMPLETE", 1)
        (made,) = self.world.watch.objects(self.stack_id)
        self.update({"b": {**res("x"), "external_id": made}})
        self.until("b", "CHECK", "COMPLETE")
        return made

    def rest(self, state, objects):
        """All is at rest in this state, with so many objects."""
        self.world.settle()
        self.world.watch.check_rest(self.stack_id)
        stack = self.world.stack(self.stack_id)
        self.assertEqual(
            state, f"{stack.action}_{stack.status}", stack.status_reason
        )
        found = self.world.watch.objects(self.stack_id)
        self.assertEqual(objects, len(found), found)
        self.assertEqual([], self.world.plan)

    def released(self, action="CREATE"):
        """Whether what an engine held that is taken for dead is free."""
        return any(
            row[1:4] == ("a", action, "FAILED")
            for row in self.world.watch._living_rows(self.stack_id)
        )

    def step_or_sweep(self):
        if not self.world.step():
            self.world.pass_time(simulation.SWEEP_EVERY)
            for owner in self.world.able():
                self.world.start_sweep(owner)

    def until(self, name, *state, at_least=1):
        def count():
            rows = self.world.watch._living_rows(self.stack_id)
            return sum(row[1] == name and row[2:4] == state for row in rows)

        while count() < at_least:
            self.assertTrue(self.world.step())


class FoundTest(Story):
    """What was found, in the order of the finding."""

    def test_the_answer_to_a_claim_is_lost(self):
        """The repeated claim knows its own mark."""
        self.enter(("claim", "repeat"))
        self.create({"a": res("x"), "b": res(attr("a"))})
        while self.world.step():
            pass
        self.rest("CREATE_COMPLETE", 2)

    def test_a_turn_fails_that_has_claimed(self):
        """The engine lives on and lets go of what it has forgotten."""
        self.enter(("claimed", None), ("before a commit", "away"))
        self.create({"a": res(wait_secs=5)})
        self.rest("CREATE_COMPLETE", 1)

    def test_killed_between_the_cloud_and_the_books(self):
        """The object is found by its name, and adopted."""
        self.enter(("called", "kill"))
        self.create({"a": res(), "b": res(attr("a"))})
        self.rest("CREATE_COMPLETE", 2)

    def test_made_by_an_engine_taken_for_dead(self):
        """It wakes when all is over, and cleans up what it has made."""
        self.enter(("claimed", "stall"))
        self.create({"a": res()})
        sleeper = self.world.engines[0]
        self.rest("CREATE_COMPLETE", 1)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)
        self.world.wake(sleeper)
        self.rest("DELETE_COMPLETE", 0)

    def test_a_stale_look_claims_nothing(self):
        """Between a look and the claim another engine came and died."""
        self.enter()
        self.create({"a": res()})
        sleeper = self.world.engines[0]
        self.world.plan[:] = [
            ("before a commit", "stall"),
            ("called", "kill"),
        ]
        self.rest("CREATE_COMPLETE", 1)
        self.world.wake(sleeper)
        self.rest("CREATE_COMPLETE", 1)

    def test_what_failed_to_be_created_hangs_on_others_too(self):
        """So it goes before them; the watch sees to it."""
        self.enter()
        self.create({"a": res(), "b": res(attr("a"), fail=True)})
        self.rest("CREATE_FAILED", 2)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_a_check_heals_nothing(self):
        """What was not created completely is replaced all the same."""
        self.enter()
        broken = {"a": res("x", fail=True)}
        self.create(broken)
        self.rest("CREATE_FAILED", 1)
        (before,) = self.world.watch.objects(self.stack_id)
        stack = self.world.stack(self.stack_id)
        self.do(
            lambda engine: actions.check(engine, self.world.context, stack)
        )
        self.rest("CHECK_FAILED", 1)
        self.update({"a": res("x")})
        self.rest("UPDATE_COMPLETE", 1)
        (after,) = self.world.watch.objects(self.stack_id)
        self.assertNotEqual(before, after)

    def test_another_type_before_the_first_try(self):
        """A row that was waiting is deleted as what it was made as."""
        self.enter()
        value = {
            "type": "OS::Heat::Value",
            "depends_on": "a",
            "properties": {"value": "v"},
        }
        self.create({"a": res(wait_secs=5), "b": value})
        self.world.step()
        self.update({"b": res(fail=True)})
        self.rest("UPDATE_FAILED", 2)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_a_duplicate_of_what_is_done(self):
        """What it has told its dependants stays told."""
        self.enter()
        self.create({"a": res("x"), "b": res(attr("a"))})
        self.rest("CREATE_COMPLETE", 2)
        self.update(
            {
                "a": res("x", update_replace_value="y"),
                "b": res(attr("a"), wait_secs=5),
            }
        )
        rows = {
            row[1]: row for row in self.world.watch._living_rows(self.stack_id)
        }
        self.until("b", "UPDATE", "IN_PROGRESS")
        stack = self.world.stack(self.stack_id)
        self.world.post(
            self.world.context,
            self.stack_id,
            stack.current_traversal,
            [(rows["a"][0], True)],
        )
        self.rest("UPDATE_COMPLETE", 2)
        now = {
            row[1]: row for row in self.world.watch._living_rows(self.stack_id)
        }
        self.assertEqual(f"[{now['a'][0]}]", now["b"][-1])

    def test_nobody_was_told_what_was_to_be_retained(self):
        """What an engine made and did not record is lost to everybody; it
        is found and deleted, whatever the policy."""
        retained = {**res(), "deletion_policy": "retain"}
        self.enter(("called", "kill"))
        self.create({"a": retained})
        self.step_until(lambda: not self.world.plan)
        self.update({"b": res()})
        self.rest("UPDATE_COMPLETE", 1)

    def test_handed_back_to_another_resource(self):
        """Who gave an object away, and was not cleaned up, leaves it."""
        self.enter()
        self.create({"a": res("x")})
        self.rest("CREATE_COMPLETE", 1)
        (made,) = self.world.watch.objects(self.stack_id)
        self.world.faults.local = 0.0
        self.update({"b": {**res("x"), "external_id": made}})
        self.until("b", "CHECK", "COMPLETE")
        self.update({"b": res("x")})
        self.rest("UPDATE_COMPLETE", 1)
        self.assertEqual({made}, self.world.watch.objects(self.stack_id))
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_a_hand_back_that_was_superseded(self):
        """It ends when the object has gone back to who gave it away."""
        made = self.given_away()
        self.update({"b": res("x", wait_secs=30)})
        self.until("b", "UPDATE", "IN_PROGRESS")
        self.update({"a": res("x")})
        self.rest("UPDATE_COMPLETE", 1)
        rows = self.world.watch._rows(
            "SELECT name, external FROM resource WHERE nova_instance = ?", made
        )
        self.assertEqual([("a", 0)], rows)
        self.delete()
        self.rest("DELETE_COMPLETE", 0)

    def test_retained_from_an_engine_taken_for_dead(self):
        """It wakes and finds its row gone; what it had recorded, and what
        others let go since, is not its to clean up."""
        retained = {**res(wait_secs=5), "deletion_policy": "retain"}
        self.enter(("called", None), ("after a commit", "stall"))
        self.create({"a": retained})
        sleeper = self.world.engines[0]
        self.step_until(lambda: not self.world.plan)
        self.update({"b": res()})
        self.rest("UPDATE_COMPLETE", 1)
        self.world.wake(sleeper)
        self.rest("UPDATE_COMPLETE", 1)
        theirs = self.world.watch._rows(
            "SELECT count(*) FROM test_object WHERE stack_id = 'user'"
        )
        self.assertEqual([(1,)], theirs)

    def test_what_an_update_failed_on_becomes_the_users(self):
        """It gets no update any more, so nothing waits for one."""
        self.enter()
        self.create({"a": res("x"), "b": res(attr("a"))})
        self.rest("CREATE_COMPLETE", 2)
        made, _user = self.world.watch.objects_by_name(self.stack_id)["b"]
        changed = res("x", update_replace_value="y")
        self.update({"a": changed, "b": res(attr("a"), fail=True)})
        self.rest("UPDATE_FAILED", 3)
        self.update({"a": changed, "b": {**res(), "external_id": made}})
        self.rest("UPDATE_COMPLETE", 1)

    def test_a_stray_that_a_resumed_create_finds(self):
        """It is found by its name while it is down to be deleted."""
        for wait_secs in (0, 60):
            with self.subTest(wait_secs=wait_secs):
                self.enter(("called", "stall"))
                self.create({"a": res(wait_secs=wait_secs)})
                sleeper = self.world.engines[0]
                while not self.released():
                    self.step_or_sweep()
                self.world.wake(sleeper)
                self.rest("CREATE_COMPLETE", 1)

    def test_a_nested_stack_is_no_stray(self):
        """Whoever is taken for dead once it has made it is too late."""
        self.enter(
            ("claimed", "kill"),
            ("before a call", "stall"),
            # About to release what the sleeper holds.
            ("before a commit", "pause"),
        )
        child = hot({"a": res()})
        self.create({"a": {"type": "child.yaml"}}, {"child.yaml": text(child)})
        while self.world.plan:
            self.step_or_sweep()
        [sleeper] = [each for each in self.world.engines if not each.able]
        [other] = self.world.able()
        self.world.wake(sleeper)
        # It has made the stack, and is about to say so.
        self.world.plan[:] = [("sending", "pause")]
        with self.asleep(other):
            self.step_until(lambda: not self.world.plan)
        with self.asleep(sleeper):
            self.step_until(lambda: self.released("UPDATE"))
        with self.asleep(other):
            while self.world.step():
                self.assertEqual(0, self.strays())
        self.rest("CREATE_COMPLETE", 1)

    def test_what_could_not_begin_begins_later(self):
        """The database is away when its engine wants to know whether it is
        taken for dead: what was not begun then is not asked how far it is."""
        self.enter()
        child = hot({"a": res()})
        self.create({"a": {"type": "child.yaml"}}, {"child.yaml": text(child)})
        [owner] = self.world.engines
        [lane] = owner.lanes.values()
        self.step_until(lambda: lane.threads)
        self.world.pass_time(owner.engine.grace)
        self.world.plan[:] = [("after a read", "away")]
        self.rest("CREATE_COMPLETE", 1)

    @contextlib.contextmanager
    def asleep(self, owner):
        owner.stalled_at = self.world.now
        yield
        self.world.wake(owner)

    def strays(self):
        return sum(
            row[7] for row in self.world.watch._living_rows(self.stack_id)
        )

    def step_until(self, happened):
        while not happened():
            self.assertTrue(self.world.step())

    def test_a_failure_holds_nothing_that_was_forgotten(self):
        """Its traceback held the others of its turn, which then failed."""
        self.enter(
            ("claimed", None), ("called", None), ("before a commit", "away")
        )
        thresholds = gc.get_threshold()
        self.addCleanup(gc.set_threshold, *thresholds)
        gc.set_threshold(10**6)
        self.create({"a": res(wait_secs=5, fail=True), "b": res(wait_secs=5)})
        self.world.settle()
        [owner] = self.world.able()[:1]
        self.assertEqual(set(), owner.engine.in_hand.claims())

    def test_who_was_taken_for_dead_begins_nothing_more(self):
        """What it was about to do, others have done meanwhile."""
        self.enter(("called", "stall"))
        self.create({"a": res(), "b": res()})
        sleeper = self.world.engines[0]
        self.rest("CREATE_COMPLETE", 2)
        self.world.wake(sleeper)
        self.rest("CREATE_COMPLETE", 2)
        # The call that it was in, and those of the others.
        self.assertEqual(2, len(self.world.watch._made))

    def test_what_is_not_begun_uses_nothing(self):
        """So nothing waits for what a sleeper did not get to do."""
        self.enter()
        files = {story_nested.NEST: text(hot({"c": res()}))}
        nested = {"type": story_nested.NEST}
        self.create({"a": res(), "b": {**nested, "depends_on": "a"}}, files)
        [sleeper] = self.world.engines
        [lane] = sleeper.lanes.values()
        self.step_until(lambda: lane.threads)
        self.world.start_engine()
        with self.asleep(sleeper):
            self.rest("CREATE_COMPLETE", 2)
            self.update({"a": res(), "b": nested}, files)
            self.rest("UPDATE_COMPLETE", 2)
        self.rest("UPDATE_COMPLETE", 2)
        self.update({"b": nested}, files)
        self.rest("UPDATE_COMPLETE", 1)

    def test_an_adoption_that_was_superseded(self):
        """It takes nothing from a row that a newer template wants."""
        self.enter()
        self.create({"a": res()})
        self.rest("CREATE_COMPLETE", 1)
        made = self.world.watch.objects(self.stack_id).pop()
        self.world.plan[:] = [("claimed", "pause")]
        self.update({"b": {**res(), "external_id": made}})
        self.step_until(lambda: not self.world.plan)
        self.update({"a": res()})
        self.rest("UPDATE_COMPLETE", 1)
        [row] = self.world.watch._living_rows(self.stack_id)
        self.assertEqual("a", row[1])
        self.world.watch.check_theirs(self.stack_id, {})

    def test_too_early_and_overtaken(self):
        """A node is looked at again that awaits something; before what was
        decided is written, that has come, and is another one."""
        self.enter()
        below = res("x", update_replace_value="y", wait_secs=9)
        self.create({"a": res("x"), "b": res("x", "a", wait_secs=5)})
        self.until("b", "CREATE", "IN_PROGRESS")
        self.update({"a": below, "b": res("x", "a", wait_secs=5)})
        self.until("b", "CREATE", "COMPLETE")
        late = self.overtaken("b", True)
        self.until("a", "CREATE", "COMPLETE", at_least=2)
        self.go_on(late)
        self.rest("UPDATE_COMPLETE", 2)
        now = self.rows()
        self.assertEqual(f"[{now['a'][0]}]", now["b"][-1])

    def test_too_early_and_replaced_then(self):
        """What was the living one when its clean-up was looked at is an old
        one by the time; others go only after it."""
        self.enter()
        self.create({"a": res("x"), "b": res(attr("a"))})
        self.rest("CREATE_COMPLETE", 2)
        fresh = {"update_replace_value": "y", "wait_secs": 5}
        self.update({"a": res("x", **fresh), "b": res(attr("a"), **fresh)})
        self.until("a", "CREATE", "IN_PROGRESS")
        late = self.overtaken("b", False)
        self.until_clean_up()
        self.go_on(late)
        self.rest("UPDATE_COMPLETE", 2)

    def test_cleaned_up_by_an_engine_that_was_told_nothing(self):
        """A nested stack that only cleans up hangs on what it did before;
        the watch must not say that it hangs on what was replaced."""
        nested = {"type": story_nested.NEST, "depends_on": "a"}
        fresh = res("x", update_replace_value="y")
        self.enter()
        self.create(
            {"a": res("x"), "b": nested},
            {story_nested.NEST: text(hot({"c": res("x")}))},
        )
        self.rest("CREATE_COMPLETE", 2)
        self.update(
            {"a": fresh, "b": nested},
            {story_nested.NEST: text(hot({"c": fresh}))},
        )
        self.until_clean_up()
        self.world.kill(self.world.engines[0])
        self.rest("UPDATE_COMPLETE", 2)

    def test_cleaned_up_for_one_while_another_begins(self):
        """What a nested stack cleans up for an earlier update goes on until
        the later one has it begin anew; nothing hangs on that."""

        def files(*args, **props):
            return {story_nested.NEST: text(hot({"c": res(*args, **props)}))}

        nested = {"type": story_nested.NEST}
        slow = {"action_wait_secs": {"delete": 30}}
        self.enter()
        self.create({"a": nested}, files("x", **slow))
        self.rest("CREATE_COMPLETE", 1)
        (old,) = self.world.watch.objects(self.stack_id)
        self.update({"a": nested}, files("x", update_replace_value="y"))
        # It is about to begin when somebody else does.
        self.paused("a", False, "before a call")
        self.update(
            {"a": nested, "b": res(depends_on="a")},
            files("z", update_replace_value="y"),
        )
        late = self.paused("a", True, "after a read")
        self.world.activities.remove(late)
        self.step_until(
            lambda: old not in self.world.watch.objects(self.stack_id)
        )
        self.go_on(late)
        self.rest("UPDATE_COMPLETE", 2)

    def paused(self, name, half, point):
        """An operation that may block gets as far as a point, and stops."""
        [owner] = self.world.able()

        def lane():
            for lane in owner.lanes.values():
                for _scene, task, first in lane.threads:
                    node = task.node
                    if first and (node.row.name, node.key[1]) == (name, half):
                        return lane
            return None

        self.step_until(lane)
        self.world.plan[:] = [(point, "pause")]
        self.world._step_on_thread(owner, lane())
        self.assertEqual([], self.world.plan)
        return self.world.activities[-1]

    def until_clean_up(self):
        """The update half is over, and nothing has been cleaned up."""
        while not self.world.stack(self.stack_id).status_reason.startswith(
            "cleaning up"
        ):
            self.assertTrue(self.world.step())

    def overtaken(self, name, half):
        """Another engine gets a node, and stops when it has looked at it."""
        traversal_id = self.world.stack(self.stack_id).current_traversal
        node = (self.rows()[name][0], half)
        other = self.world.start_engine()
        other.take(self.world.context, self.stack_id, traversal_id, [node])
        # It reads the traversal, then the node.
        self.world.plan[:] = [
            ("after a read", None),
            ("after a read", "pause"),
        ]
        self.world._pump(other, other.lanes[traversal_id])
        self.assertEqual([], self.world.plan)
        late = self.world.activities.pop()
        self.addCleanup(late.let.throw, greenlet.GreenletExit)
        return late

    def go_on(self, late):
        self.world.activities.append(late)
        self.world._resume(late)

    def rows(self):
        """The rows by name, the newest of each."""
        found = self.world.watch._living_rows(self.stack_id)
        return {row[1]: row for row in sorted(found)}


class TooEarlyTest(base.TestCase):
    """Who comes to a node before that has all its inputs."""

    def test_it_takes_nothing_that_was_read_ahead(self):
        """Else they might come while it makes up its mind without them."""
        made = world.World()
        self.addCleanup(made.close)
        stack_id = made.create(hot({"a": res("x"), "b": res(attr("a"))}))
        stack = made.stack(stack_id)
        found = made.db.read(
            lambda conn: scene.Scene.load(
                conn, stack.id, stack.current_traversal, made.context
            )
        )
        ids = {row.name: row.id for row in made.rows(stack_id)}
        nodes, gone = gather.gather(
            made.engines[0], found, [(ids["a"], True), (ids["b"], True)]
        )
        self.assertEqual(["a"], [node.row.name for node in nodes])
        self.assertEqual([], gone)


class CreateAgainTest(base.TestCase):
    """A create whose commit took place and whose answer got lost."""

    def test_it_recognises_its_own_stack(self):
        made = world.World()
        self.addCleanup(made.close)
        run, tries = made.db.run, []

        def twice(work):
            first = run(work)
            if not tries:
                tries.append(first)
                return run(work)
            return first

        made.engines[0].db.run = twice
        self.addCleanup(delattr, made.db, "run")
        stack = made.create(
            {
                "heat_template_version": "2018-08-31",
                "resources": {"a": {"type": "OS::Heat::TestResource"}},
            }
        )
        made.run()
        self.assertEqual("CREATE_COMPLETE", made.state(stack))
        self.assertEqual(1, len(made.rows(stack)))
