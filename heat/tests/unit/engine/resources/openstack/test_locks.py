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

"""LOCK and UNLOCK of servers and images: what is asked, what is left."""

from __future__ import annotations

import dataclasses
import uuid

from heat.common import exception
from heat.engine import resource
from heat.engine.clients import errors
from heat.engine.resource import outcomes
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

COMPUTE = "http://compute/v2.1"
IMAGES = "http://image/v2/images"
OLD, NEW = "2.72", "2.96"


def resource_of(made, physical_id, kind, **properties):
    """A resource that has an object in a cloud."""
    view = stacks.view({"r": {"type": kind, "properties": properties}})
    values = dataclasses.replace(view.values, context=made.context)
    stack = resource.StackView(view.definition, values=values)
    definition = view.definition.resource_definitions["r"]
    rsrc = stacks.registry().get(kind)("r", definition, stack)
    rsrc.load_state(
        uuid=str(uuid.uuid4()), physical_id=physical_id, action="CREATE"
    )
    return rsrc


class Compute:
    """One server of a compute service, as Nova treats its owner.

    :ivar asked: (action, what it came with, version) of each action
    :ivar by_admin: an administrator holds the lock
    """

    def __init__(self, made, newest):
        self.mock, self.newest = made.mock, newest
        self.server = {"id": "s", "locked": False, "locked_reason": None}
        self.asked = []
        self.by_admin = self.gone = False
        version = {
            "id": "v2.1",
            "status": "CURRENT",
            "version": newest,
            "min_version": "2.1",
            "links": [{"rel": "self", "href": f"{COMPUTE}/"}],
        }
        self.mock.get(COMPUTE, json={"version": version})
        self.mock.get(f"{COMPUTE}/", json={"version": version})
        self.mock.get(f"{COMPUTE}/servers/s", json=self.show)
        self.mock.post(f"{COMPUTE}/servers/s/action", json=self.act)

    def show(self, request, answer):
        if self.gone:
            answer.status_code = 404
            return {"itemNotFound": {"message": "no server s", "code": 404}}
        shown = dict(self.server)
        if self.version(request) < (2, 73):
            del shown["locked_reason"]
        return {"server": shown}

    def act(self, request, answer):
        [(action, given)] = request.json().items()
        self.asked.append((action, given, self.version(request)))
        answer.status_code = 202
        if self.gone:
            answer.status_code = 404
            return {"itemNotFound": {"message": "no server s", "code": 404}}
        if action == "unlock" and self.by_admin:
            answer.status_code = 403
            return {"forbidden": {"message": "not by you", "code": 403}}
        if action == "unlock":
            self.server.update(locked=False, locked_reason=None)
        elif not self.server["locked"]:
            reason = (given or {}).get("locked_reason")
            self.server.update(locked=True, locked_reason=reason)
        return {}

    @staticmethod
    def version(request):
        told = request.headers["OpenStack-API-Version"].split()[-1]
        return tuple(int(part) for part in told.split("."))


class ServerLockTest(base.TestCase):
    def make(self, newest=NEW):
        self.cloud = self.useFixture(cloud.Cloud())
        self.compute = Compute(self.cloud, newest)
        self.rsrc = resource_of(
            self.cloud, "s", "OS::Nova::Server", flavor="f", image="i"
        )
        return self.rsrc

    def lock(self, reason="repair"):
        """As the engine does: what is found is recorded once."""
        if self.rsrc.lock_found is None:
            self.rsrc.lock_found = self.rsrc.find_lock_state()
        stacks.run(self.rsrc, "LOCK", arguments=("all", reason))

    def unlock(self):
        stacks.run(self.rsrc, "UNLOCK")

    def test_with_the_reason(self):
        self.make()
        self.lock()
        self.assertEqual(
            [("lock", {"locked_reason": "repair"}, (2, 73))],
            self.compute.asked,
        )
        self.assertFalse(self.rsrc.lock_found["locked"])
        self.unlock()
        self.assertFalse(self.compute.server["locked"])

    def test_without_a_reason_it_names_the_stack(self):
        self.make()
        self.lock(None)
        self.assertIn(
            self.rsrc.stack.name, self.compute.server["locked_reason"]
        )

    def test_a_long_reason_is_cut(self):
        self.make()
        self.lock("x" * 300)
        self.assertEqual("x" * 255, self.compute.server["locked_reason"])
        self.unlock()
        self.assertFalse(self.compute.server["locked"])

    def test_an_old_service_gets_no_reason(self):
        self.make(OLD)
        self.lock()
        [(action, given, version)] = self.compute.asked
        self.assertEqual(("lock", None), (action, given))
        self.assertLess(version, (2, 73))
        self.unlock()
        self.assertFalse(self.compute.server["locked"])

    def test_locked_before_stays_locked(self):
        self.make()
        self.compute.server.update(locked=True, locked_reason="mine")
        self.lock()
        self.unlock()
        self.assertEqual([], self.compute.asked)
        self.assertTrue(self.compute.server["locked"])

    def test_a_second_lock_with_other_words(self):
        """The first one's end was not recorded: it is ours all the same."""
        self.make()
        self.lock("one")
        self.rsrc.lock_found = {"locked": False}
        self.lock("two")
        self.assertEqual("one", self.compute.server["locked_reason"])
        self.unlock()
        self.assertFalse(self.compute.server["locked"])

    def test_unlocked_by_somebody_else(self):
        self.make()
        self.lock()
        self.compute.server.update(locked=False, locked_reason=None)
        self.unlock()
        self.assertEqual(1, len(self.compute.asked))

    def test_taken_over_with_another_reason(self):
        self.make()
        self.lock()
        self.compute.server["locked_reason"] = "evidence"
        self.assertIn("evidence", str(self.left()))
        self.assertTrue(self.compute.server["locked"])
        self.assertEqual(1, len(self.compute.asked))

    def test_taken_over_by_an_administrator(self):
        for newest in (NEW, OLD):
            with self.subTest(newest=newest):
                self.make(newest)
                self.lock()
                self.compute.by_admin = True
                self.assertIn("not by you", str(self.left()))
                self.assertTrue(self.compute.server["locked"])

    def left(self):
        failed = self.assertRaises(exception.ResourceFailure, self.unlock)
        self.assertIsInstance(failed.exc, outcomes.LockTakenOver)
        return failed.exc

    def test_gone(self):
        self.make()
        self.lock()
        self.compute.gone = True
        for call in (self.lock, self.unlock):
            failed = self.assertRaises(exception.ResourceFailure, call)
            self.assertTrue(errors.is_not_found(failed.exc))


class ImageLockTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.image = {"id": "i", "protected": False, "status": "active"}
        self.answer = 200
        self.patches = []
        self.cloud.mock.get(f"{IMAGES}/i", json=lambda *_: self.image)
        self.cloud.mock.patch(f"{IMAGES}/i", json=self.patch)
        self.cloud.mock.get(
            "http://image/v2/schemas/image",
            json={
                "name": "image",
                "properties": {
                    "id": {"type": "string"},
                    "status": {"type": "string"},
                    "protected": {"type": "boolean"},
                },
            },
        )
        self.rsrc = resource_of(
            self.cloud,
            "i",
            "OS::Glance::WebImage",
            container_format="bare",
            disk_format="raw",
            location="http://somewhere/image",
        )

    def patch(self, request, answer):
        answer.status_code = self.answer
        answer.headers["Content-Type"] = "application/json"
        if self.answer != 200:
            return {"error": {"message": "not by you"}}
        for each in request.json():
            self.patches.append((each["path"], each["value"]))
            self.image[each["path"].lstrip("/")] = each["value"]
        return self.image

    def lock(self):
        self.rsrc.lock_found = self.rsrc.find_lock_state()
        self.rsrc.handle_lock("all", "repair")

    def test_protected_and_given_back(self):
        self.lock()
        self.assertEqual([("/protected", True)], self.patches)
        self.rsrc.handle_unlock()
        self.assertEqual(("/protected", False), self.patches[-1])

    def test_protected_before_stays(self):
        self.image["protected"] = True
        self.lock()
        self.rsrc.handle_unlock()
        self.assertEqual([], self.patches)

    def test_unprotected_by_somebody_else(self):
        self.lock()
        self.image["protected"] = False
        self.rsrc.handle_unlock()
        self.assertEqual(1, len(self.patches))

    def test_no_more_ours_to_change(self):
        self.lock()
        self.answer = 403
        self.assertRaises(outcomes.LockTakenOver, self.rsrc.handle_unlock)
