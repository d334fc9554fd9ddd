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

"""Signs of life: a row that is renewed, and what silence leads to."""

from __future__ import annotations

import threading

from oslo_config import cfg

from heat.common import config
from heat.db import services
from heat.engine.service import heartbeat
from heat.tests import base
from heat.tests.unit.db import backends


class Away:
    """A database that nobody can reach."""

    def run(self, work):
        raise OSError("no route")


class HeartbeatTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        config.register(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        self.conf.set_override("heartbeat_interval", 0.1, "engine")
        self.conf.set_override("dead_after", 0.8, "engine")
        self.db = self.useFixture(backends.Scratch()).db
        self.lost = threading.Event()

    def make(self):
        return heartbeat.Heartbeat(
            self.db, self.conf, "e1", "heat-test", self.lost.set
        )

    def rows(self):
        return self.db.read(services.list_)

    def test_life(self):
        beats = self.make()
        beats.start()
        [row] = self.rows()
        self.assertEqual(
            ("e1", "heat-test", "engine", 1),
            (row.engine_id, row.binary, row.topic, row.report_interval),
        )
        self.assertFalse(self.lost.wait(1.2))
        self.assertLess(self.rows()[0].silent_for, 0.6)
        beats.stop()
        self.assertEqual([], self.rows())

    def test_entered_again(self):
        beats = self.make()
        beats.start()
        self.addCleanup(beats.stop)
        [row] = self.rows()
        self.db.run(lambda conn: services.delete(conn, row.id))
        beats.beat()
        [again] = self.rows()
        self.assertNotEqual(row.id, again.id)

    def at(self, clock):
        """Signs of life by a clock that the test sets; none by itself."""
        return heartbeat.Heartbeat(
            self.db,
            self.conf,
            "e1",
            "heat-test",
            self.lost.set,
            monotonic=lambda: clock[0],
        )

    def test_alive_since(self):
        clock = [100.0]
        beats = self.at(clock)
        beats._register()
        self.assertTrue(beats.alive_since(100.0))
        self.assertFalse(beats.alive_since(99.9))
        for _beat in range(3):
            clock[0] += 0.5
            beats.beat()
        self.assertTrue(beats.alive_since(100.0))
        # Nothing is known of a silence that lasts.
        clock[0] += 0.7
        self.assertFalse(beats.alive_since(100.0))
        self.assertFalse(beats.alive_since(clock[0]))
        # Others may have looked in it, but not since.
        beats.beat()
        self.assertFalse(beats.alive_since(100.0))
        self.assertTrue(beats.alive_since(clock[0]))

    def test_alive_since_it_was_entered_again(self):
        clock = [100.0]
        beats = self.at(clock)
        beats._register()
        [row] = self.rows()
        self.db.run(lambda conn: services.delete(conn, row.id))
        clock[0] += 0.1
        beats.beat()
        self.assertFalse(beats.alive_since(100.0))
        self.assertTrue(beats.alive_since(100.1))

    def test_silence_is_noticed_in_time(self):
        beats = self.make()
        beats.start()
        beats._db = Away()
        self.assertTrue(self.lost.wait(5))
        # Sooner than others may call the engine dead.
        self.assertLess(beats.silent_for(), 0.8)
        beats.stop()
