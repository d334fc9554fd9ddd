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
"""The types of the messaging service, with a Zaqar at the edge of HTTP."""

from __future__ import annotations

import datetime
import json
import uuid
from urllib import parse

import fixtures
import requests_mock

from heat.common import exception
from heat.engine import clients
from heat.engine.resource import lifecycle
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

ROOT = cloud.SERVICES["messaging"]
PATCH = "application/openstack-messaging-v2.0-json-patch"
TRUST = {"trust_id": "t"}


class Zaqar:
    """Queues and subscriptions, and what was asked.

    As the real one, it lists no more than so many at once, in the order of
    their names, and tells of a queue that isn't there as if it were.
    """

    def __init__(self, mock):
        self.queues: dict[str, dict] = {}
        self.subscriptions: dict[str, dict] = {}
        # So many are refused for the moment.
        self.crowded = 0
        self.asked: list[tuple[str, str, object]] = []
        self.kinds: list[str] = []
        versions = [
            {
                "id": "2",
                "status": "CURRENT",
                "links": [{"rel": "self", "href": "/v2/"}],
            }
        ]
        mock.get(f"{ROOT}/", status_code=300, json={"versions": versions})
        mock.add_matcher(self._answer)

    def _answer(self, request):
        if not request.url.startswith(f"{ROOT}/v2/"):
            return None
        uuid.UUID(request.headers["Client-ID"])
        url = parse.urlsplit(request.url)
        path = url.path.removeprefix("/v2")
        body = json.loads(request.body) if request.body else None
        if request.method == "PATCH":
            self.kinds.append(request.headers["Content-Type"])
        if request.method != "GET":
            self.asked.append((request.method, path, body))
        status, found = self._serve(
            request.method,
            path.split("/")[2:],
            dict(parse.parse_qsl(url.query)),
            body,
        )
        return requests_mock.create_response(
            request, status_code=status, json=found
        )

    def _serve(self, method, path, query, body):
        if not path:
            limit = min(20, int(query["limit"]))
            names = sorted(
                name for name in self.queues if name > query.get("marker", "")
            )
            return 200, {"queues": [{"name": n} for n in names[:limit]]}
        if path[1:] == ["share"]:
            if "nothing" in body.get("paths", ()):
                said = "Invalid paths: {'nothing'}"
                return 400, {"title": "Bad", "description": said}
            return 200, {
                "expires": body.get("expires", "later"),
                "methods": body.get("methods", ["GET"]),
                "paths": ["/v2/queues/q/messages"],
                "project": "p",
                "signature": "secret",
            }
        if len(path) > 1:
            return self._serve_subscription(method, path[2:], body)
        return self._serve_queue(method, parse.unquote(path[0]), body)

    def _serve_queue(self, method, name, body):
        if " " in name:
            return 400, {"title": "Bad", "description": "no such name"}
        if method == "GET":
            return 200, {"_default": 1, **self.queues.get(name, {})}
        if method == "PUT":
            self.queues.setdefault(name, dict(body))
        if method == "DELETE":
            self.queues.pop(name, None)
        if method == "PATCH":
            for change in body:
                key = change["path"].removeprefix("/metadata/")
                key = key.replace("~1", "/").replace("~0", "~")
                self.queues[name].pop(key, None)
                if change["op"] == "add":
                    self.queues[name][key] = change["value"]
        return 204, None

    def _serve_subscription(self, method, path, body):
        if method == "POST" and self.crowded:
            self.crowded -= 1
            return 503, {"title": "Busy", "description": "try again"}
        if method == "POST":
            ident = str(uuid.uuid4())
            trust = body["subscriber"].startswith("trust+")
            self.subscriptions[ident] = {
                **body,
                "options": {**body["options"], **(TRUST if trust else {})},
            }
            return 201, {"subscription_id": ident}
        if method == "DELETE":
            self.subscriptions.pop(path[0], None)
            return 204, None
        if path[0] not in self.subscriptions:
            return 404, {"title": "Not found"}
        if method == "PATCH":
            self.subscriptions[path[0]].update(body)
            return 204, None
        return 200, self.subscriptions[path[0]]


class ZaqarCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.zaqar = Zaqar(self.cloud.mock)

    def made(self, kind, row=None, **given):
        kind = f"OS::Zaqar::{kind}"
        return stacks.in_cloud(self.cloud.context, kind, given, row)

    def created(self, kind, **given):
        rsrc = self.made(kind, **given)
        stacks.run(rsrc, "CREATE")
        self.zaqar.asked.clear()
        return rsrc

    def changed(self, rsrc, **given):
        rsrc.target = rsrc.t.freeze(properties=given)
        found = lifecycle.verdict(rsrc)
        if not found.needs_replace:
            stacks.run(rsrc, "UPDATE")
        return found.needs_replace


class QueueTest(ZaqarCase):
    def test_whole_life(self):
        rsrc = self.made("Queue", metadata={"a": 1})
        stacks.run(rsrc, "CREATE")
        name = rsrc.physical_resource_name()
        self.assertLessEqual(len(name), 64)
        self.assertEqual(name, rsrc.FnGetRefId())
        # Made with all it is to have: there is nothing to change.
        self.assertEqual(
            [("PUT", f"/queues/{name}", {"a": 1})], self.zaqar.asked
        )
        self.assertEqual(name, rsrc.FnGetAtt("queue_id"))
        self.assertEqual(f"{ROOT}/v2/queues/{name}", rsrc.FnGetAtt("href"))
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.zaqar.queues)

    def test_metadata_are_changed_in_place(self):
        rsrc = self.created("Queue", name="q", metadata={"a/b~": 1, "c": 2})
        self.zaqar.queues["q"]["user's"] = 1
        self.assertFalse(
            self.changed(rsrc, name="q", metadata={"c": 3, "d": 4})
        )
        self.assertEqual({"c": 3, "d": 4, "user's": 1}, self.zaqar.queues["q"])
        self.assertEqual([PATCH], self.zaqar.kinds)
        self.assertIn(
            {"op": "remove", "path": "/metadata/a~1b~0"},
            self.zaqar.asked[-1][2],
        )
        self.assertTrue(self.changed(rsrc, name="other"))

    def test_one_that_is_there_gets_its_metadata(self):
        self.zaqar.queues["q"] = {"a": 0, "b": 0}
        self.created("Queue", name="q", metadata={"a": 1})
        self.assertEqual({"a": 1, "b": 0}, self.zaqar.queues["q"])

    def test_only_the_list_tells_whether_it_is_there(self):
        for number in range(45):
            self.zaqar.queues[f"a{number:02}"] = {}
        rsrc = self.created("Queue", name="z")
        stacks.run(rsrc, "CHECK")
        del self.zaqar.queues["z"]
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        self.assertEqual({}, rsrc.get_live_state(rsrc.properties))
        self.assertTrue(rsrc.changed_beyond())
        stacks.run(rsrc, "UPDATE")
        self.assertIn("z", self.zaqar.queues)

    def test_found_again(self):
        rsrc = self.created("Queue")
        again = self.made("Queue", row=rsrc.uuid)
        self.assertEqual(rsrc.resource_id, again.find_made())
        self.assertIsNone(self.made("Queue").find_made())
        self.created("Queue", name="q")
        self.assertIsNone(self.made("Queue", name="q").find_made())

    def test_what_the_service_keeps_is_no_difference(self):
        rsrc = self.created("Queue", metadata={"_mine": 1})
        self.assertEqual(
            {"metadata": {"_mine": 1}}, rsrc.get_live_state(rsrc.properties)
        )
        bare = self.created("Queue")
        self.assertEqual(
            {"metadata": None}, bare.get_live_state(bare.properties)
        )

    def test_names_that_the_service_takes(self):
        rule = stacks.registry().constraint("zaqar.queue")()
        self.assertTrue(rule.validate("not-there-yet", self.cloud.context))
        self.assertFalse(rule.validate("not a name", self.cloud.context))
        self.assertIn("no such name", rule.error("not a name"))


class SubscriptionTest(ZaqarCase):
    def test_asked_for_until_there_is_room(self):
        """Trusts of the same two are taken one a second."""
        self.useFixture(
            fixtures.MonkeyPatch("heat.engine.clients.errors.FIRST_PAUSE", 0)
        )
        self.zaqar.crowded = 7
        rsrc = self.created(
            "Subscription", queue_name="q", subscriber="http://one"
        )
        self.assertIn(rsrc.resource_id, self.zaqar.subscriptions)

    def test_whole_life(self):
        rsrc = self.created(
            "Subscription", queue_name="q", subscriber="http://one", ttl=60
        )
        ident = rsrc.resource_id
        self.assertEqual(
            {"subscriber": "http://one", "ttl": 60, "options": {}},
            self.zaqar.subscriptions[ident],
        )
        self.assertFalse(
            self.changed(rsrc, queue_name="q", subscriber="http://two", ttl=60)
        )
        # What is as it was is not sent.
        self.assertEqual(
            [
                (
                    "PATCH",
                    f"/queues/q/subscriptions/{ident}",
                    {"subscriber": "http://two"},
                )
            ],
            self.zaqar.asked,
        )
        stacks.run(rsrc, "CHECK")
        self.assertTrue(
            self.changed(rsrc, queue_name="r", subscriber="http://two")
        )
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.zaqar.subscriptions)
        gone = self.created(
            "Subscription", queue_name="q", subscriber="http://one"
        )
        self.zaqar.subscriptions.clear()
        self.assertRaises(exception.ResourceFailure, stacks.run, gone, "CHECK")

    def test_a_trust_lasts(self):
        given = {"queue_name": "q", "subscriber": "trust+http://one"}
        rsrc = self.created("Subscription", **given)
        options = {"post_headers": {"a": "b"}}
        self.assertFalse(self.changed(rsrc, **given, options=options))
        shown = self.zaqar.subscriptions[rsrc.resource_id]
        self.assertEqual({**options, **TRUST}, shown["options"])
        found = rsrc.get_live_state(rsrc.properties)
        self.assertEqual(options, found["options"])
        # Without one there is none to keep.
        self.assertFalse(
            self.changed(rsrc, queue_name="q", subscriber="http://one")
        )
        self.assertEqual({}, shown["options"])

    def test_only_who_subscribes_gives_a_trust(self):
        rsrc = self.created(
            "Subscription", queue_name="q", subscriber="http://one"
        )
        self.assertTrue(
            self.changed(rsrc, queue_name="q", subscriber="trust+http://one")
        )


class SignedTest(ZaqarCase):
    def test_what_was_signed(self):
        rsrc = self.made(
            "SignedQueueURL",
            queue="q",
            methods=["GET", "POST"],
            paths=["messages"],
            ttl=300,
        )
        stacks.run(rsrc, "CREATE")
        [(_method, path, sent)] = self.zaqar.asked
        self.assertEqual("/queues/q/share", path)
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        until = datetime.datetime.fromisoformat(sent.pop("expires"))
        self.assertAlmostEqual(300, (until - now).total_seconds(), delta=60)
        self.assertEqual(
            {"methods": ["GET", "POST"], "paths": ["messages"]}, sent
        )
        self.assertEqual("secret", rsrc.FnGetAtt("signature"))
        self.assertEqual(["GET", "POST"], rsrc.FnGetAtt("methods"))
        self.assertEqual(["/v2/queues/q/messages"], rsrc.FnGetAtt("paths"))
        query = dict(parse.parse_qsl(rsrc.FnGetAtt("query_str")))
        self.assertEqual("GET,POST", query["methods"])
        self.assertEqual("secret", query["signature"])
        self.assertEqual("p", query["project"])
        stacks.run(rsrc, "CHECK")
        self.zaqar.asked.clear()
        stacks.run(rsrc, "DELETE")
        self.assertEqual([], self.zaqar.asked)

    def test_what_the_service_decides(self):
        self.made("SignedQueueURL", queue="q").handle_create()
        self.assertEqual({}, self.zaqar.asked[-1][2])

    def test_refusal_in_the_services_words(self):
        rsrc = self.made("SignedQueueURL", queue="q", paths=["nothing"])
        refused = self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CREATE"
        )
        self.assertIn("Invalid paths: {'nothing'}", str(refused))

    def test_the_service_is_there(self):
        self.assertEqual(
            (True, None), clients.availability(self.cloud.context, "zaqar")
        )
