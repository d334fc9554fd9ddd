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
"""Users and engines that are after the same object in the same instant.

Two threads, each with an engine, a bus and connections of its own, on every
database that is there (see :mod:`heat.tests.unit.db.backends`). One of them is
held up in the middle of its transaction, where it has just asked.
"""

from __future__ import annotations

import threading
import time
from unittest import mock

import fixtures
import testscenarios

from heat.common import exception
from heat.db import claims, resources, session
from heat.engine.traversal import claims as traversal_claims
from heat.engine.traversal import finish, strays, tasks
from heat.tests.convergence import prepared, world
from heat.tests.convergence.test_external import known
from heat.tests.convergence.test_stories import hot
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

#: long enough for the other to have asked too, if nothing kept it
PAUSE = 0.4


class RaceTest(backends.DatabaseTestCase):
    def setUp(self):
        super().setUp()
        self.one, self.two = self.place("one"), self.place("two")
        self.useFixture(
            fixtures.MockPatchObject(
                prepared.KnownResource, "handle_check", self.is_there
            )
        )

    def is_there(self, *_args):
        """What the service says of the one object of a test."""
        if not self.objects():
            raise exception.EntityNotFound(entity="Known", name="the object")

    def place(self, name):
        """All that an engine has, on this test's database."""
        db = session.Database(url=self.url)
        self.addCleanup(db.dispose)
        with mock.patch.object(prepared, "database", lambda: db):
            made = world.World()
        made.engines = [made.make_engine(name)]
        return made

    def make(self, place, name, wish):
        stack = place.create(hot({"a": wish}), name=name)
        place.run()
        self.assertEqual("CREATE_COMPLETE", place.state(stack))
        return stack

    def row(self, stack):
        return self.one.living(stack)["a"]

    def state(self, stack):
        return self.one.state(stack)

    def race(self, first, then, module, question):
        """``then`` begins when ``first`` has asked, and not yet committed."""
        asked = threading.Event()
        real = getattr(module, question)
        slow = threading.Thread(target=first)

        def ask(*args, **kwargs):
            answer = real(*args, **kwargs)
            if threading.current_thread() is slow and not asked.is_set():
                asked.set()
                time.sleep(PAUSE)
            return answer

        with mock.patch.object(module, question, ask):
            slow.start()
            self.assertTrue(asked.wait(60))
            then()
            slow.join()

    def owned(self):
        """A stack with an object of a kind that services know."""
        stack = self.make(self.one, "owner", known("v"))
        return stack, self.row(stack).physical_id

    def reads(self, ident):
        """A stack that is about to adopt the object."""
        return self.two.create(
            hot({"a": known(external_id=ident)}), name="reader"
        )

    def assertOneGotIt(self, reader, ident):
        """It is there and the reader's, or it is neither."""
        deleted = ident not in self.objects()
        state = "CREATE_FAILED" if deleted else "CREATE_COMPLETE"
        self.assertEqual(state, self.state(reader))
        return deleted

    def objects(self):
        with self.one.db.engine.connect() as conn:
            found = conn.exec_driver_sql("SELECT id FROM test_object")
            return {row[0] for row in found}

    def test_deleted_while_it_is_adopted(self):
        owner, made = self.owned()
        self.one.delete(owner)
        reader = self.reads(made)
        self.race(self.two.run, self.one.run, resources, "being_deleted")
        self.assertFalse(self.assertOneGotIt(reader, made))
        self.assertEqual("DELETE_COMPLETE", self.state(owner))

    def test_adopted_while_it_is_deleted(self):
        owner, made = self.owned()
        reader = self.reads(made)
        self.one.delete(owner)
        self.race(self.one.run, self.two.run, traversal_claims, "spare")
        self.assertTrue(self.assertOneGotIt(reader, made))

    def test_a_stray_deleted_while_it_is_adopted(self):
        owner, made = self.owned()
        self.stray(owner)
        reader = self.reads(made)
        reaper = strays.Reaper(self.one.engines[0])
        self.race(self.two.run, reaper.look, resources, "being_deleted")
        self.assertFalse(self.assertOneGotIt(reader, made))

    def test_a_stray_adopted_while_it_is_deleted(self):
        owner, made = self.owned()
        self.stray(owner)
        reader = self.reads(made)
        reaper = strays.Reaper(self.one.engines[0])
        self.race(reaper.look, self.two.run, resources, "held_external")
        self.assertTrue(self.assertOneGotIt(reader, made))

    def stray(self, stack):
        values = {"action": "CREATE", "status": "FAILED", "stray": True}
        ids = [self.row(stack).id]
        self.one.db.run(lambda conn: resources.set_values(conn, ids, values))

    def test_handed_back_to_two(self):
        self.owned()
        places = {
            self.make(self.one, "first", known(external_id="x")): self.one,
            self.make(self.two, "second", known(external_id="x")): self.two,
        }
        for stack, place in places.items():
            place.update(stack, hot({"a": known("v", wait_secs=1)}))
        self.race(self.one.run, self.two.run, claims, "manager")
        self.assertEqual(
            ["UPDATE_COMPLETE", "UPDATE_FAILED"],
            sorted(self.state(each) for each in places),
        )
        [loser] = [s for s in places if self.state(s) == "UPDATE_FAILED"]
        self.assertTrue(self.row(loser).external)
        self.assertIn("managed by stack", self.row(loser).status_reason)

    def test_found_by_a_resumed_create_while_it_is_put_down(self):
        """Its row goes on with an object that was to become a stray."""
        owner, made = self.owned()
        row = self.row(owner)
        self.one.db.run(
            lambda conn: resources.set_values(
                conn, [row.id], {"physical_id": None, "claim_id": "goes on"}
            )
        )
        lost = mock.Mock(action="CREATE", prop_data_id=None)
        node = mock.Mock(row=self.row_without(owner))
        node.rsrc.resource_id = made
        result = tasks.Result(node, lost)

        def go_on():
            def work(conn):
                resources.update_claimed(
                    conn, row.id, "goes on", {"physical_id": made}
                )
                resources.find_physical(conn, made)

            self.two.db.run(work)

        self.race(
            go_on,
            lambda: finish.record_stray(self.one.engines[0], result),
            resources,
            "find_physical",
        )
        self.assertEqual([row.id], [r.id for r in self.one.rows(owner)])

    def row_without(self, stack):
        [row] = self.one.rows(stack)
        return row
