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

"""Who waits for whom, and who goes along."""

from __future__ import annotations

import threading
import time

import sqlalchemy as sa
import testscenarios

from heat.db import events, models, plural, stacks, together
from heat.tests import base
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

WAIT = 20


class Crowd:
    """Threads that come one after another, while a first one is at work."""

    def __init__(self, share):
        self._share = share
        self._threads = []
        self.answers = {}
        self.first_may_end = threading.Event()
        self._first_is_in = threading.Event()

    def first(self):
        def slow(conn):
            self._first_is_in.set()
            assert self.first_may_end.wait(WAIT)
            return "first"

        self.come("first", slow)
        assert self._first_is_in.wait(WAIT)

    def come(self, name, work, kind="k", owns=None, relies=None):
        def run():
            try:
                made = self._share(work, kind, owns or str(name), relies)
            except Exception as error:
                made = error
            self.answers[name] = made

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def end(self):
        self.first_may_end.set()
        for each in self._threads:
            each.join(WAIT)
        return self.answers


class SharingTest(base.TestCase):
    """Without a database: what goes with what."""

    def setUp(self):
        super().setUp()
        self.together = []
        self.fails = None
        self.use(patience=WAIT)

    def use(self, **limits):
        self.sharing = together.Sharing(
            lambda work: work(None), self.many, **limits
        )

    def many(self, works):
        self.together.append([each.owns for each in works])
        if self.fails is not None:
            raise self.fails
        for each in works:
            each.made = each.do(None)

    def share(self, *args):
        return self.sharing.run(together.Work(*args))

    def crowd(self, *comers):
        """What those that came meanwhile were told."""
        crowd = Crowd(self.share)
        crowd.first()
        for count, (name, *more) in enumerate(comers, 1):
            crowd.come(name, lambda conn, name=name: f"of {name}", *more)
            self.until(lambda count=count: len(self.waiting) == count)
        return crowd.end()

    @property
    def waiting(self):
        return self.sharing._waiting

    def until(self, holds):
        deadline = time.monotonic() + WAIT
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def test_alone(self):
        self.assertEqual("x", self.share(lambda conn: "x", "k", "s"))
        self.assertEqual([], self.together)

    def test_an_error_is_ones_own(self):
        def fail(conn):
            raise ValueError("no")

        self.assertRaises(ValueError, self.share, fail, "k", "s")
        # Nobody has to wait for it.
        self.assertEqual("x", self.share(lambda conn: "x", "k", "s"))

    def test_those_that_came_meanwhile(self):
        told = self.crowd(("a",), ("b",), ("c",))
        self.assertEqual([["a", "b", "c"]], self.together)
        self.assertEqual(
            {"first": "first", "a": "of a", "b": "of b", "c": "of c"}, told
        )

    def test_one_of_them_fails(self):
        self.fails = plural.Apart()
        told = self.crowd(("a",), ("b",))
        self.assertEqual([["a", "b"]], self.together)
        self.assertEqual(("of a", "of b"), (told["a"], told["b"]))

    def test_of_other_kinds(self):
        told = self.crowd(("a", "x"), ("b", "y"), ("c", "x"))
        self.assertEqual([["a", "c"]], self.together)
        self.assertEqual("of b", told["b"])

    def test_of_one_stack(self):
        told = self.crowd(("a", "k", "s"), ("b", "k", "s"), ("c", "k", "t"))
        self.assertEqual([["s", "t"]], self.together)
        self.assertEqual("of b", told["b"])

    def test_who_reads_disturbs_nobody(self):
        reader = together.Work(lambda conn: None, "k")
        writer = together.Work(lambda conn: None, "k", "s", "top")
        self.assertFalse(reader.disturbs(reader))
        self.assertFalse(reader.disturbs(writer))
        self.assertFalse(writer.disturbs(reader))

    def test_two_below_nothing(self):
        works = [together.Work(lambda conn: None, "k", of) for of in "ab"]
        self.assertFalse(works[0].disturbs(works[1]))

    def test_a_stack_and_the_one_above(self):
        self.crowd(
            ("a", "k", "child", "top"),
            ("b", "k", "top"),
            ("c", "k", "other", "top"),
        )
        self.assertEqual([["child", "other"]], self.together)

    def test_no_more_than_the_most(self):
        self.use(most=2, patience=WAIT)
        self.crowd(("a",), ("b",), ("c",), ("d",))
        self.assertEqual([["a", "b"], ["c", "d"]], self.together)

    def test_who_waits_too_long_goes_alone(self):
        self.use(patience=0.01)
        crowd = Crowd(self.share)
        crowd.first()
        crowd.come("a", lambda conn: "of a")
        self.until(lambda: "a" in crowd.answers)
        self.assertEqual("of a", crowd.answers["a"])
        crowd.end()
        self.assertEqual([], self.together)


class DatabaseTest(backends.DatabaseTestCase):
    """With one."""

    def setUp(self):
        super().setUp()
        self.db = self.useFixture(backends.Scratch(self.backend)).db

    def work(self, name):
        def do(conn):
            values = {"id": name, "name": name, "tenant": "t"}
            stacks.insert(conn, {**values, "raw_template_id": 1})
            events.insert_many(conn, [{"stack_id": name}])
            return name

        return do

    def names(self):
        return self.db.read(
            lambda conn: sorted(
                conn.execute(sa.select(models.stack.c.name)).scalars()
            )
        )

    def test_many_threads(self):
        crowd = Crowd(self.db.share)
        crowd.first()
        names = [f"s{number:02}" for number in range(12)]
        for name in names:
            crowd.come(name, self.work(name))
        told = crowd.end()
        self.assertEqual({"first": "first"} | {n: n for n in names}, told)
        self.assertEqual(names, self.names())

    def test_the_one_that_fails_fails_alone(self):
        self.db.run(self.work("s1"))
        crowd = Crowd(self.db.share)
        crowd.first()
        for number in range(3):
            crowd.come(number, self.work(f"s{number}"))
        told = crowd.end()
        self.assertIsInstance(told[1], Exception)
        self.assertEqual(("s0", "s2"), (told[0], told[2]))
        self.assertEqual(["s0", "s1", "s2"], self.names())

    def test_each_journal_is_told_after_the_commit(self):
        told = []

        def committed(entries):
            self.assertEqual(["s0", "s1"], self.names())
            told.append([each["stack_id"] for each in entries])

        self.db.committed = committed
        works = [
            together.Work(self.work(f"s{number}"), "k", str(number))
            for number in range(2)
        ]
        self.db.together(works)
        self.assertEqual([["s0"], ["s1"]], told)

    def test_what_was_undone_is_told_to_nobody(self):
        self.db.committed = self.fail

        def fail(conn):
            raise ValueError("no")

        works = [
            together.Work(self.work("s0"), "k", "0"),
            together.Work(fail, "k", "1"),
        ]
        self.assertRaises(ValueError, self.db.together, works)
        self.assertEqual([], self.names())
        self.assertFalse(self.db.in_transaction)

    def test_many_look_at_once(self):
        for number in range(4):
            self.db.run(self.work(f"s{number}"))
        first_is_in, may_end = threading.Event(), threading.Event()

        def slow(conn):
            first_is_in.set()
            assert may_end.wait(WAIT)

        told = {}

        def look(name):
            told[name] = self.db.look(
                lambda conn: stacks.get(conn, name).name, "stack"
            )

        threads = [threading.Thread(target=self.db.look, args=(slow, "slow"))]
        threads[0].start()
        assert first_is_in.wait(WAIT)
        for number in range(4):
            threads.append(threading.Thread(target=look, args=(f"s{number}",)))
            threads[-1].start()
        may_end.set()
        for each in threads:
            each.join(WAIT)
        self.assertEqual({f"s{at}": f"s{at}" for at in range(4)}, told)

    def test_not_inside_a_transaction(self):
        self.assertRaisesRegex(
            RuntimeError,
            "inside a transaction",
            self.db.run,
            lambda conn: self.db.share(lambda _conn: None, "k", "s"),
        )
        self.assertRaisesRegex(
            RuntimeError,
            "inside a transaction",
            self.db.read,
            lambda conn: self.db.look(lambda _conn: None, "k"),
        )
