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
"""OS::Swift::Container, with a store at the edge of HTTP."""

from __future__ import annotations

from urllib import parse

import requests_mock

from heat.common import exception
from heat.engine.clients import errors
from heat.engine.resource import lifecycle, outcomes
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

ACCOUNT = cloud.SERVICES["object-store"]
MARK = "x-container-meta-heat-resource"


class Store:
    """Containers, their headers and objects, and what was asked.

    :ivar lags: answers of 409 that an empty container still gives
    """

    def __init__(self, mock):
        self.containers: dict[str, dict[str, str]] = {}
        self.objects: dict[str, list[tuple[str, str]]] = {}
        self.account: dict[str, str] = {}
        self.asked: list[str] = []
        self.lags = 0
        mock.add_matcher(self._answer)

    def add(self, name, *objects, **headers):
        self.containers[name] = headers
        self.objects[name] = [(each, "null") for each in objects]

    def _answer(self, request):
        url = parse.urlsplit(request.url)
        root = parse.urlsplit(ACCOUNT)
        if url.netloc != root.netloc:
            return None
        path = url.path.removeprefix(root.path)
        self.asked.append(f"{request.method} {path}")
        container, _slash, name = path.lstrip("/").partition("/")
        status, headers, body = self._serve(
            request, parse.unquote(container), parse.unquote(name), url.query
        )
        return requests_mock.create_response(
            request, status_code=status, headers=headers, json=body
        )

    def _serve(self, request, container, name, query):
        sent = {
            key.lower(): value
            for key, value in request.headers.items()
            if key.lower().startswith(("x-container-", "x-account-"))
        }
        if not container:
            self.account.update(sent)
            return 204, {}, None
        if request.method == "PUT":
            found = {**self.containers.get(container, {}), **sent}
            self.containers[container] = {k: v for k, v in found.items() if v}
            self.objects.setdefault(container, [])
            return 201, {}, None
        if container not in self.containers:
            return 404, {}, None
        held = self.objects[container]
        if request.method == "HEAD":
            return 204, self.containers[container], None
        if request.method == "GET":
            limit = int(parse.parse_qs(query)["limit"][0])
            rows = [{"name": n, "version_id": v} for n, v in held[:limit]]
            return 200, {}, rows
        if name:
            version = parse.parse_qs(query).get("version-id", ["null"])[0]
            held.remove((name, version))
            return 204, {}, None
        if held or self.lags:
            self.lags -= not held
            return 409, {}, None
        del self.containers[container]
        return 204, {}, None


class ContainerTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.store = Store(self.cloud.mock)

    def made(self, ident=None, data=None, row=None, **given):
        kind, context = "OS::Swift::Container", self.cloud.context
        return stacks.in_cloud(
            context, kind, given, row, physical_id=ident, data=data
        )

    def deleted(self, rsrc):
        """Delete it; how often it was looked at."""
        operation = lifecycle.Operation(rsrc, "DELETE")
        looks, outcome = 1, operation.start()
        while outcome != lifecycle.Done():
            looks, outcome = looks + 1, operation.poll()
        return looks

    def test_made_with_a_name_of_its_own(self):
        rsrc = self.made(
            **{
                "X-Container-Read": ".r:*",
                "X-Container-Meta": {"Colour": "grün", "Count": 3},
                "X-Account-Meta": {"Owner": "me"},
            }
        )
        stacks.run(rsrc, "CREATE")
        name = rsrc.physical_resource_name()
        self.assertEqual(name, rsrc.resource_id)
        self.assertEqual(name, rsrc.FnGetRefId())
        self.assertEqual(
            {
                "x-container-read": ".r:*",
                "x-container-meta-count": "3",
                "x-container-meta-colour": "grün".encode().decode("latin-1"),
            },
            self.store.containers[name],
        )
        self.assertEqual({"x-account-meta-owner": "me"}, self.store.account)
        self.assertEqual(["POST /", f"PUT /{name}"], self.store.asked)
        self.assertEqual(name, self.made(row=rsrc.uuid).find_made())

    def test_a_name_that_a_user_chose(self):
        rsrc = self.made(name="ä b?")
        stacks.run(rsrc, "CREATE")
        self.assertIn("PUT /%C3%A4%20b%3F", self.store.asked)
        self.assertEqual({MARK: rsrc.uuid}, self.store.containers["ä b?"])
        again = self.made(row=rsrc.uuid, name="ä b?")
        self.assertEqual("ä b?", again.find_made())
        self.assertEqual(rsrc.data(), again.data())
        self.assertIsNone(self.made(name="ä b?").find_made())

    def test_refused_names(self):
        for name in ("a/b", "ä" * 129):
            with self.subTest(name):
                self.assertRaises(
                    exception.StackValidationFailed,
                    self.made(name=name).validate,
                )
        self.made(name="ä" * 128).validate()

    def test_a_replacement_has_what_was_in_it_only(self):
        old = self.made(
            **{
                "name": "c",
                "X-Container-Read": ".r:*",
                "X-Container-Meta": {"Colour": "red", "Kept": "1"},
            }
        )
        stacks.run(old, "CREATE")
        self.store.objects["c"].append(("precious", "null"))
        old.prepare_for_replace()
        new = self.made(name="c", **{"X-Container-Meta": {"Kept": "2"}})
        stacks.run(new, "CREATE")
        self.assertEqual(
            {MARK: new.uuid, "x-container-meta-kept": "2"},
            self.store.containers["c"],
        )
        # What was replaced leaves it alone.
        self.assertEqual(1, self.deleted(old))
        self.assertIn("c", self.store.containers)
        # Wanted again, it has it back.
        self.assertTrue(old.changed_beyond())
        stacks.run(old, "UPDATE")
        self.assertEqual("", old.changed_beyond())
        self.assertEqual(
            ".r:*", self.store.containers["c"]["x-container-read"]
        )
        self.assertEqual(1, self.deleted(new))
        self.assertEqual(old.uuid, self.store.containers["c"][MARK])

    def test_what_a_user_put_on_his_own_stays(self):
        self.store.add("c", **{"x-container-meta-a": "his"})
        rsrc = self.made(name="c")
        stacks.run(rsrc, "CREATE")
        self.assertEqual(
            {MARK: rsrc.uuid, "x-container-meta-a": "his"},
            self.store.containers["c"],
        )

    def test_one_that_is_not_empty_stays(self):
        self.store.add("c", "precious")
        refused = self.assertRaises(
            exception.ResourceFailure, self.deleted, self.made("c")
        )
        self.assertIn("is not empty", str(refused))
        self.assertEqual([("precious", "null")], self.store.objects["c"])

    def test_purge(self):
        self.store.add("c", "a/ü?", *map(str, range(120)))
        self.store.objects["c"].append(("twice", "17.01"))
        # The last one counts for a moment.
        self.store.lags = 1
        looks = self.deleted(self.made("c", PurgeOnDelete=True))
        self.assertEqual({}, self.store.containers)
        self.assertEqual([], self.store.objects["c"])
        self.assertEqual(5, looks)

    def test_a_conflict_that_does_not_end(self):
        self.store.add("c")
        self.store.lags = 10**6
        rsrc = self.made("c", PurgeOnDelete=True)
        refused = self.assertRaises(
            exception.ResourceFailure, self.deleted, rsrc
        )
        self.assertIsInstance(refused.exc, errors.Conflict)

    def test_one_that_is_gone(self):
        rsrc = self.made("c")
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        self.assertEqual(1, self.deleted(rsrc))
        again = self.made("c")
        self.assertEqual({}, again.get_live_state(again.properties))
        self.assertTrue(again.changed_beyond())
        stacks.run(again, "UPDATE")
        self.assertIn("c", self.store.containers)

    def test_attributes(self):
        self.store.add(
            "c d",
            **{
                "x-container-bytes-used": "14",
                "x-container-object-count": "2",
            },
        )
        rsrc = self.made("c d")
        self.assertEqual(14, rsrc.FnGetAtt("BytesUsed"))
        self.assertEqual(2, rsrc.FnGetAtt("ObjectCount"))
        self.assertEqual(self.store.containers["c d"], rsrc.FnGetAtt("show"))
        self.assertEqual("object", rsrc.FnGetAtt("DomainName"))
        self.assertEqual(ACCOUNT, rsrc.FnGetAtt("RootURL"))
        self.assertEqual(f"{ACCOUNT}/c%20d", rsrc.FnGetAtt("WebsiteURL"))
        self.assertIsNone(self.made().FnGetAtt("ObjectCount"))

    def test_compared_when_handed_back(self):
        self.store.add("c", **{"x-container-read": ".r:*"})
        rsrc = self.made(
            "c", **{"X-Container-Read": "", "X-Container-Write": "a:b"}
        )
        self.assertEqual(
            {
                "name": "c",
                "X-Container-Read": ".r:*",
                "X-Container-Write": "",
            },
            rsrc.live_fixed(rsrc.properties, rsrc.shown()),
        )

    def test_no_look_takes_long(self):
        self.store.add("c", *map(str, range(200)))
        rsrc = self.made("c", PurgeOnDelete=True)
        delay = self.assertRaises(
            outcomes.PollDelay,
            rsrc.check_delete_complete,
            rsrc.handle_delete(),
        )
        self.assertEqual(0, delay.period)
        self.assertEqual(150, len(self.store.objects["c"]))
