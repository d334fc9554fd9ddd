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

"""A modest number of seeds, for every run of the tests; CI runs thousands."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys

from oslo_utils import timeutils

from heat.tests import base
from heat.tests.convergence import mutants, simulate, simulation


class SimulationTest(base.TestCase):
    def test_seeds(self):
        failures = simulate.run_seeds(range(60))
        self.assertEqual([], failures, f"{simulate.COMMAND} --seed N -v")

    def test_the_same_seed_is_the_same_story(self):
        """Here, and where sets of texts have another order."""
        with simulate.quick():
            first, again = (
                [simulate.digest(seed) for seed in range(20)]
                for _time in range(2)
            )
        self.assertEqual(20, len(set(first)))
        self.assertEqual(first, again)
        other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        found = subprocess.run(
            [sys.executable, "-m", simulate.__name__]
            + ["--seeds", "20", "--digests"],
            env={**os.environ, "PYTHONHASHSEED": other},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(first, found.stdout.split())

    def test_the_time_of_day_is_the_worlds(self):
        before = timeutils.utcnow
        with simulation.SimulatedWorld(1) as world:
            world.pass_time(7.0)
            self.assertEqual(
                simulation.EPOCH + datetime.timedelta(seconds=7),
                timeutils.utcnow(),
            )
        self.assertIs(before, timeutils.utcnow)


class MutantTest(base.TestCase):
    """What the simulation does not catch, it does not prove."""

    def assertCaught(self, mutant):
        found = simulate.catch(mutant, range(400))
        self.assertIsNotNone(found, mutant)

    def test_no_fencing(self):
        self.assertCaught("no fencing")

    def test_delete_before_repoint(self):
        self.assertCaught("delete before re-point")

    def test_compare_and_set_last(self):
        self.assertCaught("compare-and-set last")

    def test_no_done_mark(self):
        self.assertCaught("no done mark")

    def test_no_acting_row(self):
        self.assertCaught("no acting row")

    def test_stored_flag_ignored(self):
        self.assertCaught("stored flag ignored")

    def test_only_the_row_counts(self):
        self.assertCaught("only the row counts")

    def test_deletion_policy_ignored(self):
        self.assertCaught("deletion policy ignored")

    def test_no_guard(self):
        self.assertCaught("no guard")

    def test_no_timer(self):
        self.assertCaught("no timer")

    def test_nothing_held(self):
        self.assertCaught("nothing held")

    def test_every_mutant_has_a_test(self):
        self.assertEqual(11, len(mutants.MUTANTS))
