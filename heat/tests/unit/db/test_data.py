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

import testscenarios

from heat.db import properties_data, resource_data
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class PropertiesDataTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def test_ids_come_in_the_order_of_the_values(self):
        datas = [{"n": number} for number in range(1234)]
        keys = self.call(properties_data.put_many, datas)
        self.assertEqual(1234, len(set(keys)))
        found = self.call(properties_data.get_many, keys)
        self.assertEqual(datas, [found[key] for key in keys])

    def test_equal_values_are_rows_of_their_own(self):
        keys = self.call(properties_data.put_many, [{"a": 1}] * 3)
        self.assertEqual(3, len(set(keys)))

    def test_nothing(self):
        self.assertEqual([], self.call(properties_data.put_many, []))
        self.assertEqual({}, self.call(properties_data.get_many, [None, 9]))

    def test_without_returning(self):
        """As on MySQL proper."""
        dialect = self.db.engine.dialect
        if dialect.name == "postgresql":
            return  # its ids come by RETURNING in any case
        self.db.read(lambda conn: None)
        dialect.use_insertmanyvalues = False
        datas = [{"n": number} for number in range(3)]
        keys = self.call(properties_data.put_many, datas)
        found = self.call(properties_data.get_many, keys)
        self.assertEqual(datas, [found[key] for key in keys])


class ResourceDataTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def test_set_and_delete(self):
        self.call(resource_data.set_, 1, "a", "x")
        self.call(resource_data.set_, 1, "a", "y")
        self.call(resource_data.set_, 1, "b", "z", True)
        self.call(resource_data.set_, 2, "a", "other")
        self.assertEqual(
            {1: {"a": "y", "b": "z"}, 2: {"a": "other"}, 3: {}},
            self.call(resource_data.get_many, [1, 2, 3]),
        )
        self.assertEqual(
            resource_data.DataRecord("z", True),
            self.call(resource_data.get_records, [1])[1]["b"],
        )
        self.assertTrue(self.call(resource_data.delete, 1, "a"))
        self.assertFalse(self.call(resource_data.delete, 1, "a"))
        self.assertEqual(
            {1: {"b": "z"}}, self.call(resource_data.get_many, [1])
        )

    def test_replace_all(self):
        self.call(resource_data.set_, 1, "a", "x")
        secret = resource_data.DataRecord("s", True)
        self.call(resource_data.replace_all, 1, {"b": "y", "c": secret})
        self.assertEqual(
            {"b": resource_data.DataRecord("y"), "c": secret},
            self.call(resource_data.get_records, [1])[1],
        )
        self.call(resource_data.replace_all, 1, {})
        self.assertEqual({1: {}}, self.call(resource_data.get_many, [1]))
