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

"""Who is being built: when that is asked for, and for whom it is told."""

from __future__ import annotations

import threading

import fixtures

from heat.engine.clients import building, errors, nova
from heat.tests import base
from heat.tests.fakes import cloud

COMPUTE = "http://compute/v2.1"


class Compute:
    """A compute service that counts how often it is asked."""

    def __init__(self, *ids: str) -> None:
        self.ids = set(ids)
        self.asked = 0

    def list(self) -> set[str]:
        self.asked += 1
        return set(self.ids)


class BuildingTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 100.0
        self.known = building.Building(monotonic=lambda: self.now)

    def test_one_question_for_all_who_wait(self):
        compute = Compute("a", "b")
        told = [self.known.has("p", each, compute.list) for each in "abab"]
        self.assertEqual([True] * 4, told)
        self.assertEqual(1, compute.asked)

    def test_an_answer_ages(self):
        compute = Compute("a")
        self.assertTrue(self.known.has("p", "a", compute.list))
        compute.ids = set()
        self.now += building.FRESH_SECONDS - 0.1
        self.assertTrue(self.known.has("p", "a", compute.list))
        self.now += 0.2
        self.assertFalse(self.known.has("p", "a", compute.list))
        self.assertEqual(2, compute.asked)

    def test_who_is_not_listed_is_looked_at(self):
        self.assertFalse(self.known.has("p", "x", Compute("a").list))

    def test_projects_are_apart(self):
        mine, others = Compute("a"), Compute("b")
        self.assertTrue(self.known.has("p", "a", mine.list))
        self.assertFalse(self.known.has("q", "a", others.list))
        self.assertEqual((1, 1), (mine.asked, others.asked))

    def test_what_was_asked_for_since_the_answer(self):
        compute = Compute("a")
        self.known.has("p", "a", compute.list)
        self.known.began("p", "new")
        self.assertTrue(self.known.has("p", "new", compute.list))
        self.assertEqual(1, compute.asked)

    def test_a_service_in_trouble_is_not_asked_by_everybody(self):
        asked = []

        def fails():
            asked.append(1)
            raise errors.ServiceFault(service="nova", words="no")

        for each in "abc":
            self.assertFalse(self.known.has("p", each, fails))
        self.assertEqual(1, len(asked))

    def test_mistakes_of_ours_are_not_hidden(self):
        def wrong():
            raise TypeError

        self.assertRaises(TypeError, self.known.has, "p", "a", wrong)

    def test_bounded(self):
        compute = Compute("a")
        for number in range(building.MAX_PROJECTS + 1):
            self.known.has(number, "a", compute.list)
        self.known.has(0, "a", compute.list)
        self.assertEqual(building.MAX_PROJECTS + 2, compute.asked)

    def test_who_comes_meanwhile_waits_for_the_answer(self):
        asking, go_on = threading.Event(), threading.Event()
        compute = Compute("a", "b")

        def slow():
            asking.set()
            go_on.wait(10)
            return compute.list()

        told = []
        first = threading.Thread(
            target=lambda: told.append(self.known.has("p", "a", slow))
        )
        first.start()
        self.assertTrue(asking.wait(10))
        second = threading.Thread(
            target=lambda: told.append(self.known.has("p", "b", slow))
        )
        second.start()
        go_on.set()
        first.join(10)
        second.join(10)
        self.assertEqual([True, True], told)
        self.assertEqual(1, compute.asked)


class NovaTest(base.TestCase):
    """What Nova is asked, over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        # Answers are kept for the process: these must not meet others'.
        self.useFixture(
            fixtures.MonkeyPatch(
                "heat.engine.clients.building.SERVERS", building.Building()
            )
        )
        made = self.useFixture(cloud.Cloud())
        self.asked = made.mock.get(
            f"{COMPUTE}/servers",
            json={"servers": [{"id": "a", "name": "n", "links": []}]},
        )
        self.plugin = nova.NovaPlugin(made.context)

    def test_those_that_build(self):
        self.assertTrue(self.plugin.is_building("a"))
        self.assertFalse(self.plugin.is_building("b"))
        [request] = self.asked.request_history
        self.assertEqual({"status": ["build"]}, request.qs)

    def test_one_that_was_asked_for(self):
        self.plugin.is_building("a")
        self.plugin.note_build("b")
        self.assertTrue(self.plugin.is_building("b"))
        self.assertEqual(1, self.asked.call_count)
