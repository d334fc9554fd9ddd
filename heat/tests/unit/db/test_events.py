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

import sqlalchemy as sa
import testscenarios

from heat.common import exception
from heat.db import events, models, properties_data
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

WHEN = datetime.datetime(2026, 1, 1)


class EventTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def add(self, count, stack_id="s", **values):
        return self.call(
            events.insert_many,
            [
                {
                    "stack_id": stack_id,
                    "created_at": WHEN,
                    "resource_name": f"r{number % 2}",
                    "resource_action": "CREATE",
                    "resource_status": "COMPLETE",
                    "resource_type": "OS::Heat::None",
                    **values,
                }
                for number in range(count)
            ],
        )

    def uuids(self, stack_ids=("s",), **options):
        found = self.call(events.list_, stack_ids, **options)
        return [each.uuid for each in found]

    def test_thousands_at_once(self):
        made = self.add(2100)
        self.assertEqual(made, self.uuids())
        self.assertEqual(2100, self.call(events.count, "s"))
        self.assertEqual([], self.call(events.insert_many, []))

    def test_fields(self):
        (key,) = self.call(properties_data.put_many, [{"p": [1]}])
        self.call(
            events.insert_many,
            [
                {"uuid": "u1", "stack_id": "s", "rsrc_prop_data_id": key},
                {"uuid": "u2", "stack_id": "s", "resource_name": "n"},
            ],
        )
        first, second = self.call(events.list_, ["s"])
        self.assertEqual({"p": [1]}, first.resource_properties)
        self.assertIsNone(second.resource_properties)
        self.assertEqual("n", second.resource_name)
        self.assertEqual(first, self.call(events.get, "s", "u1"))
        self.assertIsNone(self.call(events.get, "other", "u1"))
        (bare, _second) = self.call(events.list_, ["s"], with_properties=False)
        self.assertIsNone(bare.resource_properties)

    def test_filters(self):
        made = self.add(4)
        failed = self.add(1, resource_status="FAILED")
        other = self.add(1, stack_id="o")
        for filters, wanted in (
            ({"resource_name": "r1"}, [made[1], made[3]]),
            ({"resource_name": ["r0", "r1"]}, made + failed),
            ({"resource_status": "FAILED"}, failed),
            ({"resource_action": "DELETE"}, []),
            ({"resource_type": "OS::Heat::None"}, made + failed),
            ({"uuid": [made[2], other[0]]}, [made[2]]),
        ):
            with self.subTest(filters=filters):
                self.assertEqual(wanted, self.uuids(filters=filters))
        self.assertEqual(made + failed + other, self.uuids(("s", "o")))
        self.assertEqual([], self.uuids(()))

    def test_pages(self):
        made = self.add(5)
        self.assertEqual(made[:2], self.uuids(limit=2))
        self.assertEqual(made[2:4], self.uuids(limit=2, marker=made[1]))
        self.assertEqual(made[::-1], self.uuids(sort_dir="desc"))
        by_name = [made[0], made[2], made[4], made[1], made[3]]
        for direction, wanted in (("asc", by_name), ("desc", by_name[::-1])):
            self.assertEqual(
                wanted,
                self.uuids(sort_keys=["resource_name"], sort_dir=direction),
            )
        self.assertRaises(exception.Invalid, self.uuids, marker="none")
        self.assertRaises(exception.Invalid, self.uuids, sort_keys=["x"])

    def test_purge(self):
        for most, batch, wanted in (
            (-1, 10, 20),
            (20, 10, 20),
            (19, 5, 15),
            (10, 100, 10),
            (3, 200, 3),
            (1, 200, 1),
        ):
            with self.subTest(most=most, batch=batch):
                stack_id = f"s{most}"
                made = self.add(20, stack_id)
                gone = self.call(events.purge, stack_id, most, batch)
                self.assertEqual(20 - wanted, gone)
                self.assertEqual(made[20 - wanted :], self.uuids([stack_id]))

    def test_purge_takes_properties_that_nobody_uses(self):
        keys = self.call(
            properties_data.put_many, [{"n": n} for n in range(3)]
        )
        for key in keys:
            self.add(1, rsrc_prop_data_id=key)
        self.add(2)
        self.call(
            lambda conn: conn.execute(
                sa.insert(models.resource).values(
                    stack_id="s", attr_data_id=keys[1]
                )
            )
        )
        self.assertEqual(3, self.call(events.purge, "s", 2, 1))
        self.assertEqual(
            {keys[1]: {"n": 1}}, self.call(properties_data.get_many, keys)
        )
