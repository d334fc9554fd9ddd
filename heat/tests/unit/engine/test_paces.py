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

"""Which types of resource are run on threads though they don't ask for it."""

import oslotest.base

from heat.engine import paces


class PacesTest(oslotest.base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.paces = paces.Paces(lambda: self.now)

    def step(self, cls, seconds):
        with self.paces.measured(cls):
            self.now += seconds

    def test_table(self):
        for steps, slow in (
            ((), False),
            ((0.0, 0.01), False),
            ((0.1,), True),
            ((0.2, 0.2), True),
            # The process stood still once.
            ((0.0, 0.09, 0.0), False),
            ((2.0, 0.0, 0.0), True),
            ((2.0, 0.0, 0.0, 0.0, 0.0, 0.0), False),
            ((0.2, 0.2, 0.0, 0.0), False),
        ):
            with self.subTest(steps=steps):
                self.paces = paces.Paces(lambda: self.now)
                for seconds in steps:
                    self.step(int, seconds)
                self.assertEqual(slow, self.paces.is_slow(int))
                self.assertFalse(self.paces.is_slow(str))

    def test_a_step_that_fails_counts(self):
        def fail():
            with self.paces.measured(int):
                self.now += 1
                raise ValueError

        self.assertRaises(ValueError, fail)
        self.assertTrue(self.paces.is_slow(int))
