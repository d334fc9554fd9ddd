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

"""Works in one transaction do what each does alone."""

from __future__ import annotations

import datetime
import uuid

import hypothesis
import sqlalchemy as sa
import testscenarios
from hypothesis import strategies as st

from heat.common import exception
from heat.db import (
    claims,
    events,
    going,
    holders,
    models,
    plural,
    properties_data,
    resources,
    stacks,
    sync_points,
    templates,
    together,
    trees,
)
from heat.engine.traversal import wanted
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

NOW = datetime.datetime(2030, 1, 1)
ROWS = 3


def stack_id(number):
    return str(uuid.UUID(int=number + 1))


def traversal(number):
    return sync_points.Traversal(stack_id(number), f"t{number}")


class Life:
    """What engines do to a stack; each answers what it was told."""

    def __init__(self, conn, number):
        self.conn = conn
        self.number = number
        self.id = stack_id(number)
        self.traversal = traversal(number)

    def rows(self):
        return resources.list_for_stack(self.conn, self.id)

    def make(self):
        made = templates.insert(
            self.conn, {"of": self.number}, {"parameters": {}}, {}
        )
        values = {
            "id": self.id,
            "name": f"s{self.number}",
            "tenant": "t",
            "raw_template_id": made,
            "status": "IN_PROGRESS",
            "current_traversal": self.traversal.traversal_id,
        }
        stacks.insert(self.conn, values)
        for count in (1, ROWS - 1):
            new = [
                wanted.new_row(
                    self.id,
                    f"r{count}{each}",
                    "Some::Type",
                    made,
                    NOW,
                    root_stack_id=self.id,
                )
                for each in range(count)
            ]
            resources.insert_many(self.conn, new)
        keys = {(row.id, True): at for at, row in enumerate(self.rows())}
        sync_points.insert_many(self.conn, self.traversal, keys)

    def look(self):
        found = stacks.get(self.conn, self.id)
        again = going.rows(self.conn, self.id, everything=True)
        return found and (found.name, found.status_reason), len(again)

    def say(self, text):
        return stacks.update(
            self.conn,
            self.id,
            status_reason=text,
            current_deps={"of": text},
            last_complete_template_id=len(text) if text else None,
        )

    def begin(self, *, really=True):
        return stacks.compare_and_set(
            self.conn,
            self.id,
            self.traversal.traversal_id if really else "another",
            {"status": "COMPLETE"},
        )

    def claim(self, which):
        rows = [self.rows()[at] for at in which]
        claim_id = f"{self.number}-{'-'.join(map(str, which))}"
        taken = resources.claim(
            self.conn,
            [row.id for row in rows],
            claim_id,
            f"engine-{self.number}",
            "CREATE",
            NOW,
            atomic_key=0,
            replaced=False,
            requires={row.id: [self.number] for row in rows[1:]},
        )
        self.tell([row.uuid for row in rows if row.id in taken])
        return [row.name for row in rows if row.id in taken]

    def tell(self, uuids):
        engine_id = f"engine-{self.number}"
        for each in uuids:
            holders.record(self.conn, each, engine_id, f"{engine_id}-made")

    def finish(self, claim_id, value):
        row = self.rows()[0]
        [kept] = properties_data.put_many(self.conn, [{"value": value}])
        done = resources.update_claimed(
            self.conn,
            row.id,
            claim_id,
            {
                "status": "COMPLETE",
                "status_reason": value,
                "rsrc_prop_data_id": kept,
                "attr_data_id": None if value else kept,
                "requires": [self.number] if value else [],
                "metadata": {"of": self.number} if value else {},
            },
        )
        marked = sync_points.mark_done(
            self.conn, self.traversal, [(row.id, True)]
        )
        read = properties_data.get_many(self.conn, [kept])
        return done, len(marked), list(read.values())

    def happen(self, names):
        events.insert_many(
            self.conn,
            [
                {"stack_id": self.id, "resource_name": name, "uuid": None}
                for name in names
            ],
        )

    def forget(self):
        sync_points.delete_for_stack(self.conn, self.id)

    def lose(self, which):
        resources.delete_many(self.conn, [self.rows()[at].id for at in which])


TEXTS = st.sampled_from(["", "a", "it's", "é%s:x", None])
ROW = st.integers(0, ROWS - 1)
DEEDS = st.one_of(
    st.just(("look",)),
    st.tuples(st.just("say"), TEXTS),
    st.tuples(st.just("claim"), st.lists(ROW, unique=True, max_size=ROWS)),
    st.tuples(
        st.just("finish"),
        st.sampled_from(["0-0", "1-0", "lost"]),
        st.sampled_from(["", "done", "100 %"]),
    ),
    st.tuples(st.just("happen"), st.lists(TEXTS, max_size=3)),
    st.just(("forget",)),
)


def living(number, deeds, answers):
    """A work: all of these, in this order."""

    def work(conn):
        told = answers[number] = []
        life = Life(conn, number)
        for name, *args in deeds:
            told.append(getattr(life, name)(*args))
        return number

    return work


def left(conn):
    """All that is in the database, whatever numbers rows have."""
    found = []
    for table in (
        models.stack,
        models.resource,
        models.sync_point,
        models.event,
        models.resource_properties_data,
        models.raw_template,
    ):
        numbers = {"id", "raw_template_id", "current_template_id", "uuid"}
        numbers |= {"rsrc_prop_data_id", "entity_id", "created_at"}
        # Drawn for each statement.
        numbers |= {"atomic_key"} if table is models.sync_point else set()
        columns = [each for each in table.c if each.name not in numbers]
        if table is models.resource:
            columns = [c for c in columns if c.name != "attr_data_id"]
        rows = conn.execute(sa.select(*columns))
        found.append((table.name, sorted(str(tuple(row)) for row in rows)))
    return found


class SameTest(backends.DatabaseTestCase):
    def setUp(self):
        super().setUp()
        self.one = self.useFixture(backends.Scratch(self.backend)).db
        self.empty = self.one.read(left)

    def together(self, db, works):
        made = [
            together.Work(each, "life", stack_id(at))
            for at, each in enumerate(works)
        ]
        db.together(made)
        return [each.made for each in made]

    def clear(self, db):
        def work(conn):
            for table in reversed(models.metadata.sorted_tables):
                conn.execute(table.delete())

        db.run(work)

    def check(self, deeds):
        """Alone, and all in one transaction; whether that is possible."""
        seen = []
        for mode in ("alone", "together"):
            self.clear(self.one)
            made, answers = {}, {}
            for at in range(len(deeds)):
                self.one.run(living(at, [("make",)], made))
            works = [
                living(at, each, answers) for at, each in enumerate(deeds)
            ]
            try:
                if mode == "together":
                    self.together(self.one, works)
                else:
                    for each in works:
                        self.one.run(each)
            except plural.Apart:
                return False
            seen.append((answers, self.one.read(left)))
        self.assertEqual(*seen)
        return True

    def test_as_if_each_were_alone(self):
        examples = 60 if self.backend is backends.SQLITE else 20
        possible = []

        @hypothesis.settings(max_examples=examples, deadline=None)
        @hypothesis.given(
            st.lists(
                st.lists(DEEDS, min_size=1, max_size=4), min_size=2, max_size=5
            )
        )
        def check(deeds):
            possible.append(self.check(deeds))

        check()
        self.assertGreater(possible.count(True), examples // 4)

    def usual_life(self, count):
        """What all do alike; how many statements that takes."""
        deeds = [
            [
                ("look",),
                ("begin",),
                ("say", f"of {at}"),
                ("claim", [0]),
                ("claim", [1]),
                ("finish", f"{at}-0", f"done {at}"),
                ("happen", ["a", "b"]),
                ("lose", [0, 1]),
                ("forget",),
                ("look",),
            ]
            for at in range(count)
        ]
        self.assertTrue(self.check(deeds))
        self.clear(self.one)
        for at in range(count):
            self.one.run(living(at, [("make",)], {}))
        seen = []

        def note(conn, cursor, statement, *more):
            seen.append(statement)

        sa.event.listen(self.one.engine, "before_cursor_execute", note)
        self.together(
            self.one, [living(at, each, {}) for at, each in enumerate(deeds)]
        )
        sa.event.remove(self.one.engine, "before_cursor_execute", note)
        return len(seen)

    def test_one_statement_for_all(self):
        more = 0
        if self.backend is backends.SQLITE:
            # Rows whose numbers are asked for are inserted one by one.
            more = 6
        self.assertEqual(self.usual_life(1) + more, self.usual_life(7))

    def test_they_begin_to_be(self):
        works = [living(at, [("make",)], {}) for at in range(5)]
        self.assertEqual([0, 1, 2, 3, 4], self.together(self.one, works))
        alone = self.one.read(left)
        self.clear(self.one)
        for each in works:
            self.one.run(each)
        self.assertEqual(self.one.read(left), alone)
        names = self.one.read(
            lambda conn: [
                stacks.get(conn, stack_id(at)).name for at in range(5)
            ]
        )
        self.assertEqual([f"s{at}" for at in range(5)], names)

    def test_values_keep_their_types(self):
        """Lists and maps are texts in the database, each as alone."""
        deeds = [[("claim", [0]), ("finish", "0-0", "done")]]
        deeds.append([("claim", [0]), ("finish", "1-0", "done")])
        self.assertTrue(self.check(deeds))
        rows = self.one.read(
            lambda conn: [
                row
                for at in range(len(deeds))
                for row in resources.list_for_stack(conn, stack_id(at))
                if row.status_reason == "done"
            ]
        )
        self.assertEqual(
            [((0,), {"of": 0}), ((1,), {"of": 1})],
            [(row.requires, row.metadata) for row in rows],
        )

    def test_each_is_told_its_own_number(self):
        def work(number):
            def insert(conn):
                return templates.insert(conn, {"of": number}, {}, {})

            return insert

        ids = self.together(self.one, [work(at) for at in range(5)])
        found = self.one.read(lambda conn: templates.get_many(conn, ids))
        self.assertEqual(
            [{"of": at} for at in range(5)],
            [found[each].template for each in ids],
        )

    def test_rows_without_a_key(self):
        """How many there are is told to each, where no key names them."""
        for at in range(3):
            self.one.run(living(at, [("make",)], {}))
        unnamed = sa.update(models.stack).where(
            models.stack.c.live_name_key.is_(None),
            models.stack.c.name != sa.bindparam("but"),
        )
        clear = sa.update(models.stack).values(live_name_key=None)
        self.one.run(lambda conn: conn.execute(clear))

        def work(name):
            def count(conn):
                given = {"but": name, "status_reason": name}
                return conn.execute(unnamed, given).rowcount

            return count

        told = self.together(self.one, [work("s0"), work("other")])
        self.assertEqual([2, 3], told)

    def ask(self, *asks):
        """What each is told alone, and in one transaction; how many
        statements that takes."""
        alone = [self.one.read(each) for each in asks]
        seen = []

        def note(conn, cursor, statement, *more):
            if "BEGIN" not in statement:
                seen.append(statement)

        sa.event.listen(self.one.engine, "before_cursor_execute", note)
        told = self.together(self.one, asks)
        sa.event.remove(self.one.engine, "before_cursor_execute", note)
        self.assertEqual(alone, told)
        return told, len(seen)

    def test_who_holds_their_objects(self):
        for at in range(3):
            self.one.run(living(at, [("make",)], {}))
        held = (
            sa.update(models.resource)
            .where(models.resource.c.stack_id != stack_id(2))
            .values(nova_instance="x", external=True)
        )
        self.one.run(lambda conn: conn.execute(held))

        def holders_of(*ids):
            return lambda conn: resources.held_external(conn, "t", set(ids))

        told, statements = self.ask(
            holders_of("x"), holders_of("y"), holders_of("x", "z")
        )
        self.assertEqual([["x"], [], ["x"]], [sorted(each) for each in told])
        self.assertEqual(2 * ROWS, len(told[0]["x"]))
        self.assertEqual(1, statements)

    def test_whose_versions_are_not_used(self):
        for at in range(3):
            self.one.run(living(at, [("make",)], {}))
        query = sa.select(models.stack.c.raw_template_id).order_by("id")
        used = self.one.read(lambda conn: conn.execute(query).scalars().all())
        other = self.one.run(lambda conn: templates.insert(conn, {}, {}, {}))
        drop = sa.update(models.stack).values(raw_template_id=other)
        self.one.run(lambda conn: conn.execute(drop))
        drop = sa.update(models.resource).where(
            models.resource.c.stack_id == stack_id(1)
        )
        drop = drop.values(current_template_id=None)
        self.one.run(lambda conn: conn.execute(drop))

        def unused(at):
            which = {"the_ids": [used[at]], "the_stack": stack_id(at)}
            return lambda conn: [
                tuple(row)
                for row in conn.execute(templates._UNUSED, which)  # noqa: SLF001
            ]

        told, statements = self.ask(unused(0), unused(1), unused(2))
        self.assertEqual(
            [[], [used[1]], []], [[row[0] for row in each] for each in told]
        )
        self.assertEqual(1, statements)

    def test_below_whom_something_is_locked(self):
        for at in range(7):
            self.one.run(living(at, [("make",)], {}))

        def put(below, above, level=None):
            query = sa.update(models.stack).where(
                models.stack.c.id == stack_id(below)
            )
            owner = stack_id(above)
            query = query.values(
                owner_id=owner, nested_depth=below, lock_level=level
            )
            self.one.run(lambda conn: conn.execute(query))

        # 0 <- 3 <- 4 (locked) <- 5 (locked); 1 <- 6 (locked); 2
        put(3, 0)
        put(4, 3, "all")
        put(5, 4, "stacks")
        put(6, 1, "all")

        def locked(at):
            def work(conn):
                found = trees.locked_below(conn, stack_id(at))
                return found and found.name

            return work

        told, statements = self.ask(locked(0), locked(1), locked(2), locked(4))
        self.assertEqual(["s4", "s6", None, "s5"], told)
        # The walk, and the stacks that it found.
        self.assertEqual(2, statements)

    def test_nobody_changes_what_others_read(self):
        """Two read one row, and each does with it what it likes."""
        self.one.run(living(0, [("make",)], {}))
        [made] = self.one.read(
            lambda conn: conn.execute(
                sa.select(models.stack.c.raw_template_id)
            ).scalars()
        )

        def spoil(wanted):
            def work(conn):
                found = templates.get_many(conn, wanted)[made].template
                seen = dict(found)
                found.clear()
                return seen

            return work

        for asked in ([made], [made]), ([made], [made, made + 1]):
            told = self.together(self.one, [spoil(each) for each in asked])
            self.assertEqual([{"of": 0}, {"of": 0}], told)


class ApartTest(backends.DatabaseTestCase):
    """What can't be told together is undone."""

    def setUp(self):
        super().setUp()
        self.db = self.useFixture(backends.Scratch(self.backend)).db
        for at in range(3):
            self.db.run(living(at, [("make",)], {}))
        self.before = self.db.read(left)

    def refuse(self, error, *works):
        made = [
            together.Work(each, "x", str(at)) for at, each in enumerate(works)
        ]
        self.assertRaises(error, self.db.together, made)
        self.assertEqual(self.before, self.db.read(left))

    def of(self, number, call):
        return lambda conn: call(Life(conn, number))

    def test_one_is_not_as_expected(self):
        self.refuse(
            plural.Apart,
            self.of(0, lambda life: life.begin()),
            self.of(1, lambda life: life.begin(really=False)),
        )

    def test_two_write_one_row(self):
        self.refuse(
            plural.Apart,
            self.of(0, lambda life: life.say("one")),
            self.of(0, lambda life: life.say("another")),
        )

    def test_one_fails(self):
        def fail(conn):
            Life(conn, 1).say("never")
            raise exception.Error("no")

        self.refuse(
            exception.Error, self.of(0, lambda life: life.say("x")), fail
        )

    def test_there_is_one_already(self):
        self.refuse(
            Exception,
            self.of(0, lambda life: life.make()),
            self.of(7, lambda life: life.make()),
        )

    def test_who_asks_of_objects_is_alone(self):
        claim = claims.Claim(None, "t", "kind", "x", stack_id(0), 1)
        self.refuse(
            plural.Apart,
            lambda conn: claims.take(conn, claim, lambda _type: True),
            self.of(1, lambda life: life.say("x")),
        )

    def test_what_may_be_undone_by_itself(self):
        def nested(conn):
            with conn.begin_nested():
                pass

        self.refuse(
            plural.Apart, nested, self.of(1, lambda life: life.say("x"))
        )
