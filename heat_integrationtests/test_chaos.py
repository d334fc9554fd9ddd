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
"""A short form of the chaos run (see :mod:`.chaos`)."""

from __future__ import annotations

import os

import fixtures

from heat.tests import base
from heat_integrationtests import chaos

# A request whose answer the faults have eaten is waited for a minute.
_SECONDS = "900"


class ChaosTest(base.TestCase):
    """Its name is not a service's: the folder says what it needs."""

    def setUp(self) -> None:
        if "OS_TEST_TIMEOUT" in os.environ:
            given = fixtures.EnvironmentVariable("OS_TEST_TIMEOUT", _SECONDS)
            self.useFixture(given)
        super().setUp()

    def test_nothing_is_lost_or_doubled(self):
        wrong = chaos.run(engines=3, stacks=4, resources=6)
        self.assertEqual([], wrong)

    def test_members_of_groups(self):
        wrong = chaos.run(engines=2, stacks=2, members=10, seed=1)
        self.assertEqual([], wrong)
