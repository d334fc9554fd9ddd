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

"""The types of the key manager, at the edge of HTTP."""

from __future__ import annotations

import base64
import uuid

from heat.common import exception
from heat.engine import clients
from heat.engine.clients import errors
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

URL = "http://keys/v1"
SECRET, OTHER = (str(uuid.UUID(int=number)) for number in (7, 8))
NEVER = "2999-01-01T00:00:00"


class Keys(cloud.Objects):
    """Bare bodies with references; at most two objects a page."""

    page = 100

    def _serve(self, request, path, body):
        ident = path.strip("/")
        if request.method == "POST":
            made = self.add(**body, status="ACTIVE")
            return 201, {f"{self.key}_ref": self.ref(made["id"])}
        status, found = super()._serve(request, path, body)
        if ident:
            return status, self.told(found.get(self.key)) if found else None
        return self.paged(request)

    def paged(self, request):
        asked = {key: each[0] for key, each in request.qs.items()}
        start = int(asked.pop("offset", 0))
        asked.pop("limit")
        found = [
            self.told(each)
            for each in self.stored.values()
            if all(str(each.get(k)).lower() == v for k, v in asked.items())
        ]
        return 200, {self.plural: found[start : start + self.page]}

    def told(self, found):
        if found is None:
            return {"code": 404, "description": "Not Found"}
        shown = {key: found[key] for key in found if key != "id"}
        shown[f"{self.key}_ref"] = self.ref(found["id"])
        return shown

    def ref(self, ident):
        return f"{self._url}/{ident}"


class KeysCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        links = [{"rel": "self", "href": URL}]
        version = {"id": "v1", "status": "CURRENT", "links": links}
        self.cloud.mock.get("http://keys/", json={"versions": [version]})
        self.secrets, self.orders, self.containers = (
            Keys(self.cloud.mock, f"{URL}/{key}s", key, f"{key}s")
            for key in ("secret", "order", "container")
        )

    def made(self, kind, **given):
        kind = f"OS::Barbican::{kind}"
        return stacks.in_cloud(self.cloud.context, kind, given)

    def payload(self, ident, content):
        return self.cloud.mock.get(
            f"{URL}/secrets/{ident}/payload", content=content
        )

    def plugin(self):
        return clients.of(self.cloud.context).client_plugin("barbican")


class SecretTest(KeysCase):
    def test_life(self):
        rsrc = self.made("Secret", payload="open", expiration=NEVER)
        stacks.run(rsrc, "CREATE")
        [made] = self.secrets.stored.values()
        self.assertEqual(self.secrets.ref(made["id"]), rsrc.resource_id)
        self.assertEqual(rsrc.resource_id, rsrc.reference_id())
        self.assertEqual(
            {
                "name": rsrc.physical_resource_name(),
                "payload": "open",
                "payload_content_type": "text/plain",
                "secret_type": "opaque",
                "expiration": NEVER,
            },
            {k: made[k] for k in made if k not in ("id", "status")},
        )
        self.assertEqual(rsrc.resource_id, rsrc.find_made())
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.secrets.stored)
        stacks.run(rsrc, "DELETE")

    def test_gone(self):
        rsrc = self.made("Secret")
        stacks.run(rsrc, "CREATE")
        self.secrets.stored.clear()
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        self.assertRaises(
            exception.EntityNotFound, rsrc.get_live_resource_data
        )

    def test_payload_as_it_is_told(self):
        for kind, content, told in (
            ("text/plain", "ünd".encode(), "ünd"),
            ("application/octet-stream", b"text", "dGV4dA=="),
            (None, b"", None),
        ):
            with self.subTest(kind):
                types = {"default": kind} if kind else None
                self.secrets.add(id=SECRET, content_types=types)
                asked = self.payload(SECRET, content)
                rsrc = self.made("Secret")
                rsrc.resource_id_set(SECRET)
                self.assertEqual(told, rsrc.FnGetAtt("decrypted_payload"))
                if kind:
                    accepted = asked.last_request.headers["Accept"]
                    self.assertEqual(kind, accepted)
        self.assertTrue(type(rsrc).varies("decrypted_payload"))

    def test_a_payload_that_may_not_be_read(self):
        self.secrets.add(id=SECRET, content_types={"default": "text/plain"})
        self.cloud.mock.get(
            f"{URL}/secrets/{SECRET}/payload",
            status_code=403,
            json={"code": 403, "title": "Forbidden", "description": "Not he"},
        )
        error = self.assertRaises(
            errors.Forbidden, self.plugin().payload, f"{URL}/secrets/{SECRET}"
        )
        self.assertEqual("Not he", errors.words(error))

    def test_a_plain_id_becomes_a_reference(self):
        self.secrets.add(id=SECRET, name="n")
        rsrc = self.made("Secret")
        rsrc.resource_id_set(SECRET)
        self.assertEqual(self.secrets.ref(SECRET), rsrc.reference_id())
        for value in (SECRET, self.secrets.ref(SECRET), "n"):
            with self.subTest(value):
                self.assertEqual(
                    self.secrets.ref(SECRET),
                    self.plugin().find("secret", value),
                )

    def test_an_object_of_the_users_is_compared(self):
        when = "2999-01-01T00:00:00.000000"
        self.secrets.add(
            id=SECRET,
            expiration=when,
            content_types={"default": "application/octet-stream"},
        )
        self.payload(SECRET, b"\x00\x01")
        encoded = base64.b64encode(b"\x00\x01").decode()
        for payload, found in ((encoded, encoded), ("AAE", None)):
            rsrc = self.made(
                "Secret",
                payload=payload,
                payload_content_encoding="base64",
                expiration="2999-01-01T01:00:00+01:00",
            )
            rsrc.resource_id_set(SECRET)
            live = rsrc.live_fixed(
                rsrc.properties, rsrc.get_live_resource_data()
            )
            with self.subTest(payload):
                self.assertEqual(found, live["payload"])
                self.assertEqual(
                    "2999-01-01T01:00:00+01:00", live["expiration"]
                )

    def test_every_page_is_read(self):
        self.secrets.page = 100
        for number in range(230):
            self.secrets.add(name=f"n{number}")
        found = self.plugin().collection("secrets").list()
        self.assertEqual(230, len(found))
        self.assertEqual(230, len({each["id"] for each in found}))

    def test_refused(self):
        for kind, given, words in (
            ("Secret", {"payload_content_type": "text/plain"}, "no payload"),
            (
                "Secret",
                {
                    "payload": "x",
                    "payload_content_type": "text/plain",
                    "payload_content_encoding": "base64",
                },
                "goes with application/octet-stream",
            ),
            (
                "Secret",
                {
                    "payload": "x",
                    "payload_content_type": "application/octet-stream",
                },
                "goes with application/octet-stream",
            ),
            ("Order", {"type": "key", "bit_length": 8}, "algorithm"),
            ("Order", {"type": "asymmetric", "algorithm": "a"}, "bit_length"),
            ("Order", {"type": "certificate"}, "request_type"),
            (
                "Order",
                {
                    "type": "key",
                    "algorithm": "aes",
                    "bit_length": 256,
                    "subject_dn": "cn",
                },
                "Only a certificate",
            ),
            (
                "GenericContainer",
                {"secrets": [{"name": "a", "ref": "n"}] * 2},
                "Several secrets are called a",
            ),
            ("RSAContainer", {"public_key_ref": OTHER}, OTHER),
        ):
            self.secrets.add(id=SECRET, name="n")
            with self.subTest(kind, given=given):
                error = self.assertRaises(
                    exception.HeatException, self.made(kind, **given).validate
                )
                self.assertIn(words, str(error))


class ContainerTest(KeysCase):
    def test_life(self):
        one, two = (
            self.secrets.add(id=ident, name=name)
            for ident, name in ((SECRET, "one"), (OTHER, "two"))
        )
        refs = {
            each["name"]: self.secrets.ref(each["id"]) for each in (one, two)
        }
        for kind, given, body in (
            (
                "GenericContainer",
                {"secrets": [{"name": "a", "ref": "one"}]},
                {"type": "generic", "secret_refs": {"a": refs["one"]}},
            ),
            ("GenericContainer", {}, {"type": "generic", "secret_refs": {}}),
            (
                "RSAContainer",
                {"public_key_ref": SECRET, "private_key_ref": refs["two"]},
                {
                    "type": "rsa",
                    "secret_refs": {
                        "public_key": refs["one"],
                        "private_key": refs["two"],
                    },
                },
            ),
            (
                "CertificateContainer",
                {"certificate_ref": refs["one"], "name": "c"},
                {
                    "type": "certificate",
                    "name": "c",
                    "secret_refs": {"certificate": refs["one"]},
                },
            ),
        ):
            with self.subTest(kind, given=given):
                rsrc = self.made(kind, **given)
                stacks.run(rsrc, "CREATE")
                [made] = self.containers.stored.values()
                held = {
                    each["name"]: each["secret_ref"]
                    for each in made["secret_refs"]
                }
                found = {**made, "secret_refs": held}
                self.assertEqual(body, {key: found[key] for key in body})
                live = rsrc.live_fixed(
                    rsrc.properties, rsrc.get_live_resource_data()
                )
                given = rsrc.stored_properties()
                self.assertEqual(given, {key: live[key] for key in given})
                self.assertEqual(
                    rsrc.resource_id, rsrc.FnGetAtt("container_ref")
                )
                stacks.run(rsrc, "DELETE")
                self.assertEqual({}, self.containers.stored)


class OrderTest(KeysCase):
    given = {"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}

    def test_body_and_what_it_made(self):
        rsrc = self.made("Order", **self.given)
        stacks.run(rsrc, "CREATE")
        [made] = self.orders.stored.values()
        name = rsrc.physical_resource_name()
        self.assertEqual("asymmetric", made["type"])
        self.assertEqual(
            {"name": name, "algorithm": "rsa", "bit_length": 2048},
            made["meta"],
        )
        # The real service looks for the text in the whole of it.
        self.orders.paged = lambda request: (
            200,
            {"orders": [self.orders.told(made)]},
        )
        self.assertEqual(rsrc.resource_id, rsrc.find_made())
        made["meta"] = {"name": f"{name}b"}
        self.assertIsNone(rsrc.find_made())

        self.assertIsNone(rsrc.FnGetAtt("private_key"))
        self.secrets.add(
            id=SECRET,
            content_types={"default": "application/octet-stream"},
        )
        self.payload(SECRET, b"-----BEGIN KEY")
        self.secrets.add(
            id=OTHER, content_types={"default": "application/octet-stream"}
        )
        self.payload(OTHER, b"\xff\x00")
        held = [
            {"name": "private_key", "secret_ref": self.secrets.ref(SECRET)},
            {"name": "public_key", "secret_ref": self.secrets.ref(OTHER)},
        ]
        container = self.containers.add(secret_refs=held)["id"]
        made["container_ref"] = self.containers.ref(container)
        for name, told in (
            ("private_key", "-----BEGIN KEY"),
            ("public_key", "/wA="),
            ("certificate", None),
            ("container_ref", made["container_ref"]),
            ("order_ref", rsrc.resource_id),
        ):
            with self.subTest(name):
                rsrc.attributes.cached_attrs = {}
                self.assertEqual(told, rsrc.FnGetAtt(name))
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.orders.stored)
        self.assertEqual(2, len(self.secrets.stored))

    def test_one_that_fails(self):
        rsrc = self.made("Order", **self.given)
        self.orders.defaults = {
            "error_status_code": "400",
            "error_reason": "no such algorithm",
        }
        answered = self.orders.add
        self.orders.add = lambda **more: answered(
            **{**more, "status": "ERROR"}
        )
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CREATE"
        )
        self.assertIn("no such algorithm (400)", str(error))
