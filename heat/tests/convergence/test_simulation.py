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

from heat.tests import base
from heat.tests.convergence import mutants, simulate


class SimulationTest(base.TestCase):
    def test_seeds(self):
        failures = simulate.run_seeds(range(60))
        self.assertEqual([], failures, f"{simulate.COMMAND} --seed N -v")

    def test_the_same_seed_is_the_same_story(self):
        stories = []
        for _time in range(2):
            story: list[str] = []
            self.assertIsNone(simulate.run_seed(7, story.append))
            stories.append(story)
        self.assertEqual(*stories)


class MutantTest(base.TestCase):
    """What the simulation does not catch, it does not prove."""

    def assertCaught(self, mutant):
        found = simulate.catch(mutant, range(100))
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

    def test_every_mutant_has_a_test(self):
        self.assertEqual(9, len(mutants.MUTANTS))
