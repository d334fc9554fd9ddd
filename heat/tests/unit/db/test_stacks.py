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

from __future__ import annotations

import datetime
import threading
import uuid

import sqlalchemy as sa
import testscenarios
from oslo_db import exception as db_exc

from heat.common import exception
from heat.db import resources, roots, stack_tags, stacks, trees
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class StackCase(backends.DatabaseTestCase):
    def add(self, name, **values):
        columns = {
            "name": name,
            "tenant": "t",
            "raw_template_id": 1,
            "action": "CREATE",
            "status": "COMPLETE",
            "current_traversal": "one",
            **values,
        }
        return self.db.run(lambda conn: stacks.insert(conn, columns))

    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))


class RecordTest(StackCase):
    def test_insert_and_get(self):
        when = datetime.datetime(2026, 1, 2, 3, 4, 5)
        stack_id = self.add(
            "a",
            id="given",
            created_at=when,
            timeout=60,
            disable_rollback=False,
            tags=["y", "x", "y"],
            current_deps=[[1, 2]],
        )
        self.assertEqual("given", stack_id)
        found = self.call(stacks.get, "given")
        self.assertEqual(
            ("a", "t", 60, False, when, ("y", "x"), "one", None),
            (
                found.name,
                found.tenant,
                found.timeout,
                found.disable_rollback,
                found.created_at,
                found.tags,
                found.current_traversal,
                found.lock_level,
            ),
        )
        self.assertEqual([[1, 2]], self.call(stacks.get_deps, "given"))
        self.assertIsNone(self.call(stacks.get, "other"))
        self.assertIsNone(self.call(stacks.get_deps, "other"))
        self.assertEqual(
            {"given": found}, self.call(stacks.get_many, ["given", "other"])
        )

    def test_update_tags_and_lock_columns(self):
        stack_id = self.add("a", tags=["x"])
        self.assertTrue(
            self.call(
                stacks.update,
                stack_id,
                lock_level="all",
                lock_blocked={"update": [2, "me"]},
                status_reason="x" * 100_000,
            )
        )
        self.call(stack_tags.set_, stack_id, ["n", "m"])
        found = self.call(stacks.get, stack_id)
        self.assertEqual(("n", "m"), found.tags)
        self.assertEqual("all", found.lock_level)
        self.assertEqual({"update": [2, "me"]}, found.lock_blocked)
        self.call(stack_tags.set_, stack_id, None)
        self.assertEqual((), self.call(stacks.get, stack_id).tags)
        self.assertFalse(self.call(stacks.update, "none", status="FAILED"))

    def test_name_is_taken_till_the_stack_is_deleted(self):
        first = self.add("a")
        for name, values in (
            ("A", {}),
            ("a", {"tenant": "other"}),
            ("a", {"owner_id": first}),
            ("a", {"owner_id": first}),
        ):
            self.add(name, **values)
        error = self.assertRaises(exception.StackExists, self.add, "a")
        self.assertIn("(a)", str(error))
        self.assertTrue(self.call(stacks.soft_delete, first))
        self.assertFalse(self.call(stacks.soft_delete, first))
        second = self.add("a")
        self.assertEqual(second, self.call(stacks.get_by_name, "t", "a").id)
        self.assertIsNone(self.call(stacks.get, first))
        self.assertIsNotNone(
            self.call(stacks.get, first, show_deleted=True).deleted_at
        )

    def test_a_nested_stack_is_made_once(self):
        """Whoever comes to its resource again is told, deleted or not."""
        first = self.add("a")
        child = self.add("b", owner_id=first)
        again = {"id": child, "owner_id": first}
        self.assertRaises(exception.StackExists, self.add, "b", **again)
        self.call(stacks.soft_delete, child)
        self.assertRaises(exception.StackExists, self.add, "b", **again)

    def test_two_creates_race(self):
        barrier = threading.Barrier(4)
        results = []

        def create():
            barrier.wait(10)
            try:
                results.append(self.add("a"))
            except exception.StackExists:
                results.append(None)

        threads = [threading.Thread(target=create) for _n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(4, len(results))
        self.assertEqual(3, results.count(None))

    def test_same_id_is_no_stack_exists(self):
        self.add("a", id="same")
        self.assertRaises(db_exc.DBDuplicateEntry, self.add, "b", id="same")

    def test_get_by_name(self):
        top = self.add("a")
        self.add("a", owner_id=top)
        nested = self.add("n", owner_id=top)
        self.assertEqual(top, self.call(stacks.get_by_name, "t", "a").id)
        self.assertEqual(nested, self.call(stacks.get_by_name, "t", "n").id)
        self.assertIsNone(self.call(stacks.get_by_name, "t", "N"))
        self.assertIsNone(self.call(stacks.get_by_name, "u", "a"))

    def test_tree(self):
        top = self.add("top")
        left = self.add("l", owner_id=top)
        right = self.add("r", owner_id=top)
        deep = self.add("d", owner_id=left)
        gone = self.add("g", owner_id=left)
        self.call(stacks.soft_delete, gone)
        self.assertEqual(
            {left, right},
            {each.id for each in self.call(stacks.children, top)},
        )
        self.assertEqual(
            sorted([left, right, deep]), self.call(trees.descendants, top)
        )
        self.assertEqual([], self.call(trees.descendants, deep))

    def test_what_a_tree_is_made_of(self):
        """Types of what is no stack itself, of the stack and all below."""
        top = self.add("top")
        inner = self.add("inner", owner_id=top)
        gone = self.add("gone", owner_id=top)
        self.call(stacks.soft_delete, gone, datetime.datetime(2026, 1, 1))
        rows = (
            (top, "group", "Some::Group", inner),
            (top, "plain", "Some::Plain", "an object"),
            (inner, "deep", "Some::Deep", None),
            (inner, "same", "Some::Deep", "another"),
            (gone, "old", "Some::Old", "a third"),
        )
        now = datetime.datetime(2026, 1, 2)
        made = [
            {
                "uuid": str(uuid.uuid4()),
                "stack_id": stack_id,
                "name": name,
                "resource_type": type_,
                "physical_id": physical_id,
                "created_at": now,
            }
            for stack_id, name, type_, physical_id in rows
        ]
        for each in made:
            self.call(resources.insert_many, [each])
        found = self.call(roots.types, top)
        self.assertEqual({"Some::Plain", "Some::Deep"}, found)
        self.assertEqual({"Some::Deep"}, self.call(roots.types, inner))
        self.assertEqual(set(), self.call(roots.types, "unknown"))


class CompareAndSetTest(StackCase):
    def test_conditions(self):
        for expect, options, wanted in (
            ("one", {}, True),
            ("two", {}, False),
            (None, {}, False),
            ("one", {"statuses": {"COMPLETE", "FAILED"}}, True),
            ("one", {"statuses": ["COMPLETE"]}, True),
            ("one", {"statuses": {"FAILED"}}, False),
        ):
            with self.subTest(expect=expect, options=options):
                stack_id = self.add("a")
                self.assertIs(
                    wanted,
                    self.call(
                        stacks.compare_and_set,
                        stack_id,
                        expect,
                        {"current_traversal": "new", "current_deps": {}},
                        **options,
                    ),
                )
                self.assertEqual(
                    "new" if wanted else "one",
                    self.call(stacks.get, stack_id).current_traversal,
                )
                self.call(stacks.soft_delete, stack_id)

    def test_deleted(self):
        stack_id = self.add("a")
        self.call(stacks.soft_delete, stack_id)
        self.assertFalse(
            self.call(
                stacks.compare_and_set, stack_id, "one", {"status": "FAILED"}
            )
        )

    def test_null_is_a_value(self):
        stack_id = self.add("a", current_traversal=None)
        values = {"current_traversal": "new"}
        self.assertTrue(
            self.call(stacks.compare_and_set, stack_id, None, values)
        )
        self.assertFalse(
            self.call(stacks.compare_and_set, stack_id, None, values)
        )

    def test_same_values_count_as_won(self):
        stack_id = self.add("a")
        values = {"status": "COMPLETE"}
        for _turn in range(2):
            self.assertTrue(
                self.call(stacks.compare_and_set, stack_id, "one", values)
            )

    def test_locked(self):
        stack_id = self.add("a", lock_level="stacks")
        values = {"status": "FAILED"}
        self.assertFalse(
            self.call(stacks.compare_and_set, stack_id, "one", values)
        )
        self.assertTrue(
            self.call(
                stacks.compare_and_set,
                stack_id,
                "one",
                values,
                not_locked=False,
            )
        )

    def test_one_of_eight_wins(self):
        stack_id = self.add("a")
        won = []

        def work(number):
            if self.call(
                stacks.compare_and_set,
                stack_id,
                "one",
                {"current_traversal": str(number)},
            ):
                won.append(str(number))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(
            [self.call(stacks.get, stack_id).current_traversal], won
        )


class ListTest(StackCase):
    def setUp(self):
        super().setUp()
        self.ids = {}
        for day, (name, values) in enumerate(
            {
                "a": {"tags": ["red"]},
                "b": {"tags": ["red", "blue"], "status": "FAILED"},
                "c": {"tags": ["blue"], "username": "u"},
                "d": {"tenant": "other"},
                "e": {"tags": ["hidden"]},
                "gone": {},
            }.items(),
            1,
        ):
            self.ids[name] = self.add(
                name,
                created_at=datetime.datetime(2026, 1, day),
                updated_at=(
                    datetime.datetime(2026, 2, 9 - day) if day % 2 else None
                ),
                **values,
            )
        self.add(
            "nested",
            owner_id=self.ids["a"],
            created_at=datetime.datetime(2026, 1, 20),
        )
        self.call(stacks.soft_delete, self.ids["gone"])

    def names(self, **options):
        options.setdefault("tenant", "t")
        return "".join(
            each.name[0] for each in self.call(stacks.list_, **options)
        )

    def test_selection(self):
        hidden = {"hidden_tags": ["hidden"]}
        for options, wanted in (
            ({}, "abce"),
            ({"tenant": None}, "abcde"),
            ({"show_deleted": True}, "abceg"),
            ({"show_nested": True}, "abcen"),
            (hidden, "abc"),
            ({**hidden, "show_hidden": True}, "abce"),
            ({"tags": ["red"]}, "ab"),
            ({"tags": ["red", "blue"]}, "b"),
            ({"tags_any": ["red", "blue", "blue"]}, "abc"),
            ({"not_tags": ["red", "blue"]}, "ace"),
            ({"not_tags_any": ["red", "blue"]}, "e"),
            ({"tags": ["red"], "not_tags": ["blue"]}, "a"),
            ({"filters": {"name": "b"}}, "b"),
            ({"filters": {"name": ["a", "b", "gone"]}}, "ab"),
            ({"filters": {"status": "COMPLETE"}}, "ace"),
            ({"filters": {"username": "u", "action": "CREATE"}}, "c"),
            ({"filters": {"username": None}}, "abe"),
            ({"filters": {"id": [self.ids["c"], "none"]}}, "c"),
            ({"filters": {"owner_id": self.ids["a"]}}, "n"),
            ({"filters": {"name": []}}, ""),
        ):
            with self.subTest(options=options):
                self.assertEqual(wanted, self.names(sort_dir="asc", **options))
                self.assertEqual(
                    len(wanted),
                    self.call(stacks.count, **{"tenant": "t", **options}),
                )

    def test_count_live(self):
        self.assertEqual(4, self.call(stacks.count_live, "t"))

    def test_order_and_pages(self):
        for options, wanted in (
            ({}, "ecba"),
            ({"sort_dir": "asc"}, "abce"),
            ({"sort_keys": ["name"], "sort_dir": "asc"}, "abce"),
            ({"sort_keys": ["status", "name"], "sort_dir": "desc"}, "beca"),
            # b has none, which sorts before all others
            ({"sort_keys": ["updated_at"], "sort_dir": "asc"}, "beca"),
            ({"sort_keys": ["updated_at"], "sort_dir": "desc"}, "aceb"),
        ):
            with self.subTest(options=options):
                self.assertEqual(wanted, self.names(**options))
                found = ""
                marker = None
                while True:
                    page = self.names(limit=1, marker=marker, **options)
                    if not page:
                        break
                    found += page
                    marker = self.ids[page]
                self.assertEqual(wanted, found)
        self.assertEqual("cb", self.names(limit=2, marker=self.ids["e"]))

    def test_refused(self):
        for options in (
            {"filters": {"colour": "red"}},
            {"sort_keys": ["colour"]},
            {"sort_dir": "sideways"},
            {"marker": "none"},
        ):
            with self.subTest(options=options):
                self.assertRaises(exception.Invalid, self.names, **options)

    def test_tags_come_with_one_query(self):
        statements = []

        def note(conn, cursor, statement, *rest):
            statements.append(statement)

        sa.event.listen(self.db.engine, "before_cursor_execute", note)
        found = self.call(stacks.list_, tenant="t")
        self.assertEqual(
            [("hidden",), ("blue",), ("red", "blue"), ("red",)],
            [each.tags for each in found],
        )
        selects = [each for each in statements if each.startswith("SELECT")]
        self.assertEqual(2, len(selects))
