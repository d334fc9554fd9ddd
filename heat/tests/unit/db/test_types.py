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

import hypothesis
import sqlalchemy as sa
import testscenarios
from hypothesis import strategies as st

from heat.db import models, types
from heat.tests import base
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class StoredTest(backends.DatabaseTestCase):
    def _round_trip(self, data):
        table = models.resource_properties_data

        def work(conn):
            conn.execute(sa.delete(table))
            conn.execute(sa.insert(table).values(data=data))
            return conn.execute(sa.select(table.c.data)).scalar()

        return self.db.run(work)

    def test_json(self):
        for value in (
            None,
            {},
            [],
            0,
            "",
            False,
            {"b": 1, "a": [None, {"x": "\0 \ud800 \U0001f600 \u00e9"}]},
            {"big": "x" * 200_000},
        ):
            with self.subTest(str(value)[:40]):
                self.assertEqual(value, self._round_trip(value))

    def test_order_of_keys_is_kept(self):
        self.assertEqual(
            ["z", "a", "m"], list(self._round_trip({"z": 1, "a": 2, "m": 3}))
        )

    def test_reasons_are_cut(self):
        def work(conn):
            conn.execute(
                sa.insert(models.event).values(
                    stack_id="s", resource_status_reason="\0\u20ac" * 300
                )
            )
            conn.execute(
                sa.insert(models.resource).values(
                    stack_id="s", status_reason="\U0001f600" * 70_000
                )
            )
            return (
                conn.scalar(sa.select(models.event.c.resource_status_reason)),
                conn.scalar(sa.select(models.resource.c.status_reason)),
            )

        short, long = self.db.run(work)
        self.assertEqual("\u20ac" * 252 + "...", short)
        self.assertEqual(16000, len(long))

    def test_names_are_case_sensitive(self):
        def work(conn):
            conn.execute(
                sa.insert(models.resource),
                [{"stack_id": "s", "name": name} for name in ("A", "a")],
            )
            return (
                conn.execute(
                    sa.select(models.resource.c.name).where(
                        models.resource.c.name == "a"
                    )
                )
                .scalars()
                .all()
            )

        self.assertEqual(["a"], self.db.run(work))

    def test_ids_are_not_given_twice(self):
        table = models.resource

        def insert(conn):
            return conn.execute(
                sa.insert(table).values(stack_id="s")
            ).inserted_primary_key[0]

        first = self.db.run(insert)
        self.db.run(lambda conn: conn.execute(sa.delete(table)))
        self.assertGreater(self.db.run(insert), first)


class JsonTest(base.TestCase):
    @hypothesis.given(_VALUES)
    def test_round_trip(self, value):
        column = types.Json()
        dialect = sa.create_engine("sqlite://").dialect
        stored = column.process_bind_param(value, dialect)
        if stored is not None:
            stored.encode("ascii")
        self.assertEqual(value, column.process_result_value(stored, dialect))
