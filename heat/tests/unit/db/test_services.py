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

from heat.db import clock, models, services
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class ServiceTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def add(self, engine_id, silent_for=0):
        key = self.call(
            services.register,
            engine_id,
            host="h",
            hostname="h.example",
            binary="heat-engine",
            topic="engine",
            report_interval=60,
        )

        def age(conn):
            before = datetime.timedelta(seconds=silent_for)
            conn.execute(
                sa.update(models.service)
                .where(models.service.c.id == key)
                .values(updated_at=clock.now(conn) - before)
            )

        if silent_for:
            self.call(age)
        return key

    def test_clock(self):
        found = self.call(clock.now)
        off = abs((found - clock.utcnow()).total_seconds())
        self.assertLess(off, 60)
        self.assertIsNone(found.tzinfo)

    def test_living_and_dead(self):
        self.add("new")
        self.add("old", silent_for=100)
        # An engine that came back under its own id lives.
        self.add("both", silent_for=100)
        self.add("both")
        self.assertEqual({"new", "both"}, self.call(services.living, 20))
        self.assertEqual({"old"}, self.call(services.dead, 20))
        self.assertEqual(
            {"new", "both", "old"}, self.call(services.living, 200)
        )

    def test_heartbeat(self):
        key = self.add("e", silent_for=100)
        self.assertTrue(self.call(services.heartbeat, "e"))
        self.assertEqual({"e"}, self.call(services.living, 20))
        self.assertFalse(self.call(services.heartbeat, "other"))
        self.assertTrue(self.call(services.delete, key))
        self.assertFalse(self.call(services.delete, key))
        self.assertFalse(self.call(services.heartbeat, "e"))
        self.assertEqual(set(), self.call(services.living, 20))

    def test_list(self):
        key = self.add("e", silent_for=50)
        (found,) = self.call(services.list_)
        self.assertEqual(
            (key, "e", "h", "h.example", "heat-engine", "engine", 60, None),
            (
                found.id,
                found.engine_id,
                found.host,
                found.hostname,
                found.binary,
                found.topic,
                found.report_interval,
                found.deleted_at,
            ),
        )
        self.assertTrue(45 < found.silent_for < 60, found)
        self.call(services.delete, key)
        self.assertEqual([], self.call(services.list_))
        (found,) = self.call(services.list_, show_deleted=True)
        self.assertIsNotNone(found.deleted_at)
        self.assertTrue(self.call(services.delete, key, soft=False))
        self.assertEqual([], self.call(services.list_, show_deleted=True))

    def test_clean(self):
        self.add("lives", silent_for=100)
        self.add("gone", silent_for=130)
        self.call(services.delete, self.add("deleted"))
        gone = self.call(services.clean)
        self.assertEqual(
            {"gone", "deleted"}, {each.engine_id for each in gone}
        )
        (left,) = self.call(services.list_, show_deleted=True)
        self.assertEqual("lives", left.engine_id)
