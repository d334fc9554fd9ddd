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
from hypothesis import strategies as st

from heat.common import exception
from heat.db import pagination
from heat.tests import base

_METADATA = sa.MetaData()
_TABLE = sa.Table(
    "page",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("a", sa.Integer),
    sa.Column("b", sa.String(8)),
)
_COLUMNS = {"a": _TABLE.c.a, "b": _TABLE.c.b}


class PaginationTest(base.TestCase):
    @hypothesis.given(
        st.lists(
            st.tuples(
                st.none() | st.integers(0, 2),
                st.none() | st.sampled_from("xy"),
            ),
            max_size=12,
        ),
        st.lists(st.sampled_from(["a", "b"]), unique=True),
        st.sampled_from([None, "asc", "desc"]),
        st.integers(1, 5),
    )
    def test_pages_make_the_whole(self, rows, sort_keys, sort_dir, limit):
        engine = sa.create_engine("sqlite://")
        with engine.begin() as conn:
            _METADATA.create_all(conn)
            records = [
                {"id": number, "a": a, "b": b}
                for number, (a, b) in enumerate(rows)
            ]
            if records:
                conn.execute(sa.insert(_TABLE), records)
            found = []
            marker = None
            while True:
                ids = self._page(conn, sort_keys, sort_dir, marker, limit)
                found += ids
                if len(ids) < limit:
                    break
                marker = ids[-1]
        engine.dispose()

        def rank(record):
            return [
                (record[key] is not None, record[key])
                for key in [*(sort_keys or ["a"]), "id"]
            ]

        down = sort_dir == "desc" or not (sort_dir or sort_keys)
        records.sort(key=rank, reverse=down)
        self.assertEqual([each["id"] for each in records], found)

    def _page(self, conn, sort_keys, sort_dir, marker, limit):
        order = pagination.order(
            _COLUMNS, sort_keys, sort_dir, ("a", "desc"), _TABLE.c.id
        )
        query = pagination.page(
            conn,
            sa.select(_TABLE.c.id),
            order,
            None if marker is None else _TABLE.c.id == marker,
            limit,
        )
        return conn.execute(query).scalars().all()

    def test_what_is_refused_is_named(self):
        for keys, direction, part in (
            (["c"], None, "'c'"),
            (None, "up", "'up'"),
        ):
            error = self.assertRaises(
                exception.Invalid,
                pagination.order,
                _COLUMNS,
                keys,
                direction,
                ("a", "asc"),
                _TABLE.c.id,
            )
            self.assertIn(part, str(error))
        error = self.assertRaises(
            exception.Invalid, pagination.matches, _COLUMNS, {"d": 1}
        )
        self.assertIn("'d'", str(error))
