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

"""Who passes a state: when that is asked for, and for whom it is told."""

from __future__ import annotations

import dataclasses
import threading
import uuid

import fixtures

from heat.common import exception
from heat.engine import resource
from heat.engine.clients import errors, nova, passing
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

COMPUTE = "http://compute/v2.1"


class Compute:
    """A compute service that counts how often it is asked."""

    def __init__(self, *ids: str) -> None:
        self.ids = set(ids)
        self.asked = 0

    def list(self) -> set[str]:
        self.asked += 1
        return set(self.ids)


class PassingTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 100.0
        self.known = passing.Passing(monotonic=lambda: self.now)

    def test_one_question_for_all_who_wait(self):
        compute = Compute("a", "b")
        told = [self.known.has("p", each, compute.list) for each in "abab"]
        self.assertEqual([True] * 4, told)
        self.assertEqual(1, compute.asked)

    def test_an_answer_ages(self):
        compute = Compute("a")
        self.assertTrue(self.known.has("p", "a", compute.list))
        compute.ids = set()
        self.now += passing.FRESH_SECONDS - 0.1
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
        for number in range(passing.MAX_QUESTIONS + 1):
            self.known.has(number, "a", compute.list)
        self.known.has(0, "a", compute.list)
        self.assertEqual(passing.MAX_QUESTIONS + 2, compute.asked)

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
                "heat.engine.clients.passing.STATES", passing.Passing()
            )
        )
        made = self.useFixture(cloud.Cloud())
        self.asked = made.mock.get(
            f"{COMPUTE}/servers",
            json={"servers": [{"id": "a", "name": "n", "links": []}]},
        )
        self.plugin = nova.NovaPlugin(made.context)

    def test_those_that_build(self):
        self.assertTrue(passing.is_in(self.plugin, "servers", "BUILD", "a"))
        self.assertFalse(passing.is_in(self.plugin, "servers", "BUILD", "b"))
        [request] = self.asked.request_history
        self.assertEqual({"status": ["build"]}, request.qs)

    def test_one_that_was_asked_for(self):
        passing.is_in(self.plugin, "servers", "BUILD", "a")
        passing.note(self.plugin, "servers", "BUILD", "b")
        self.assertTrue(passing.is_in(self.plugin, "servers", "BUILD", "b"))
        self.assertEqual(1, self.asked.call_count)

    def test_those_that_go(self):
        for newest, told, version in (
            ((2, 83), True, "2.83"),
            ((2, 82), False, None),
        ):
            with self.subTest(newest):
                self.asked.reset()
                plugin = nova.NovaPlugin(self.plugin.context)
                plugin.is_at_least = lambda wanted, newest=newest: (
                    tuple(map(int, wanted.split("."))) <= newest
                )
                found = plugin.listed_in("servers", nova.DELETING)
                self.assertEqual({"a"} if told else set(), found)
                for request in self.asked.request_history:
                    self.assertEqual({"task_state": ["deleting"]}, request.qs)
                    self.assertEqual(
                        f"compute {version}",
                        request.headers["OpenStack-API-Version"],
                    )
                self.assertEqual(int(told), self.asked.call_count)


class ManyTest(base.TestCase):
    """Volumes that are made and deleted at the same time."""

    MANY = 20

    def setUp(self) -> None:
        super().setUp()
        self.now = 0.0
        self.useFixture(
            fixtures.MonkeyPatch(
                "heat.engine.clients.passing.STATES",
                passing.Passing(monotonic=lambda: self.now),
            )
        )
        self.cloud = self.useFixture(cloud.Cloud())
        self.volumes = self.cloud.objects(
            f"{cloud.SERVICES['block-storage']}/volumes",
            "volume",
            "volumes",
            status="creating",
        )

    def test_one_question_for_all(self):
        made = []
        for _number in range(self.MANY):
            rsrc = self.made()
            made.append((rsrc, rsrc.handle_create()))
        self.told()
        self.now += 60
        for rsrc, token in made:
            self.assertRaises(
                resource.PollDelay, rsrc.check_create_complete, token
            )
        self.assertEqual(["GET "], self.told())
        for each in self.volumes.stored.values():
            each["status"] = "available"
        self.now += 60
        for rsrc, token in made:
            self.assertTrue(rsrc.check_create_complete(token))
        self.assertEqual(1 + self.MANY, len(self.told()))
        gone = [(rsrc, rsrc.handle_delete()) for rsrc, _token in made]
        self.told()
        for rsrc, _token in gone:
            self.volumes.add(id=rsrc.resource_id, status="deleting")
        for rsrc, token in gone:
            self.assertRaises(
                resource.PollDelay, rsrc.check_delete_complete, token
            )
        self.assertEqual(["GET "], self.told())
        self.volumes.stored.clear()
        self.now += 60
        for rsrc, token in gone:
            self.assertTrue(rsrc.check_delete_complete(token))

    def test_one_that_fails_is_looked_at(self):
        rsrc = self.made()
        token = rsrc.handle_create()
        self.volumes.stored[rsrc.resource_id]["status"] = "error"
        self.now += 60
        self.assertRaises(
            exception.ResourceInError, rsrc.check_create_complete, token
        )

    def test_an_answer_that_says_all(self):
        rsrc = self.made("OS::Neutron::Net")
        token = rsrc.handle_create()
        self.assertTrue(rsrc.check_create_complete(token))
        self.assertEqual(["POST"], self.cloud.networks.methods())

    def test_a_server_is_gone_when_nova_says_so(self):
        """Its record goes later than all that it had."""
        url = f"{cloud.SERVICES['compute']}/servers/s"
        self.useFixture(
            fixtures.MonkeyPatch(
                "heat.engine.clients.nova.NovaPlugin.is_at_least",
                lambda _plugin, _version: False,
            )
        )
        rsrc = self.made("OS::Nova::Server", flavor="f", image="i")
        rsrc.resource_id_set("s")
        token = {"tries": 0, "accepted": True}
        for status, gone in (
            ("ACTIVE", False),
            ("DELETED", True),
            ("SOFT_DELETED", True),
        ):
            with self.subTest(status):
                shown = {
                    "id": "s",
                    "status": status,
                    "OS-EXT-STS:task_state": None if gone else "deleting",
                }
                self.cloud.mock.get(url, json={"server": shown})
                if gone:
                    self.assertTrue(rsrc.is_gone())
                else:
                    self.assertRaises(
                        resource.PollDelay, rsrc.check_delete_complete, token
                    )

    def made(self, kind="OS::Cinder::Volume", **properties):
        if kind == "OS::Cinder::Volume":
            properties["size"] = 1
        view = stacks.view({"r": {"type": kind, "properties": properties}})
        values = dataclasses.replace(view.values, context=self.cloud.context)
        stack = resource.StackView(view.definition, values=values)
        definition = view.definition.resource_definitions["r"]
        rsrc = stacks.registry().get(kind)("r", definition, stack)
        rsrc.load_state(uuid=str(uuid.uuid4()))
        return rsrc

    def told(self):
        """What was asked since the last time."""
        found = [f"{method} {path}" for method, path, _ in self.volumes.calls]
        self.volumes.calls.clear()
        return found
