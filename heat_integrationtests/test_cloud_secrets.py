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

"""Stories of secrets, orders and containers in a real key manager."""

from __future__ import annotations

import base64
import json
import os
import uuid
from typing import Any

from heatclient import exc as heat_exc

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import CloudStory, ref, res

BINARY = base64.b64encode(bytes(range(256))).decode()
NOWHERE = "00000000-0000-0000-0000-00000000dead"


def told(*path: str) -> dict[str, Any]:
    return {"value": {"get_attr": list(path)}}


class KeysStory(CloudStory):
    """What the stories look at."""

    def setUp(self) -> None:
        super().setUp()
        self.keys = self.cloud.key_manager

    def shown(self, reference: str) -> dict[str, Any]:
        kind, ident = reference.split("/")[-2:]
        answer = self.keys.get(f"/{kind}/{ident}")
        answer.raise_for_status()
        return dict(answer.json())

    def is_there(self, reference: str) -> bool:
        kind, ident = reference.split("/")[-2:]
        return bool(self.keys.get(f"/{kind}/{ident}").status_code == 200)

    def payload(self, reference: str) -> bytes:
        answer = self.keys.get(
            f"/secrets/{reference.rpartition('/')[2]}/payload",
            headers={"Accept": "*/*"},
        )
        answer.raise_for_status()
        return bytes(answer.content)

    def by_hand(self, payload: str) -> str:
        """A secret that Heat knows nothing of."""
        body = {
            "name": f"story-{uuid.uuid4().hex[:8]}",
            "payload": payload,
            "payload_content_type": "text/plain",
        }
        answer = self.keys.post("/secrets", json=body)
        answer.raise_for_status()
        made = str(answer.json()["secret_ref"])
        self.addCleanup(self.forget, made)
        return made

    def forget(self, reference: str) -> None:
        kind, ident = reference.split("/")[-2:]
        self.keys.delete(f"/{kind}/{ident}")

    def outputs(self, ident: str) -> dict[str, Any]:
        stack = self.heat.stacks.get(ident)
        return {
            each["output_key"]: each["output_value"] for each in stack.outputs
        }


class SecretsStory(KeysStory):
    """All types together."""

    @staticmethod
    def resources(payload: str = "open sesame") -> dict[str, Any]:
        return {
            "word": res("Barbican::Secret", payload=payload),
            "bytes": res(
                "Barbican::Secret",
                payload=BINARY,
                payload_content_type="application/octet-stream",
                payload_content_encoding="base64",
                secret_type="symmetric",  # noqa: S106 - a kind
                algorithm="aes",
                bit_length=256,
                mode="cbc",
                expiration="2999-01-01T00:00:00",
            ),
            "both": res(
                "Barbican::GenericContainer",
                secrets=[
                    {"name": "word", "ref": ref("word")},
                    {"name": "bytes", "ref": ref("bytes")},
                ],
            ),
            "certificate": res(
                "Barbican::CertificateContainer",
                certificate_ref=ref("bytes"),
                private_key_ref=ref("word"),
            ),
            "key": res(
                "Barbican::Order",
                type="key",
                algorithm="aes",
                bit_length=256,
                mode="cbc",
            ),
            "pair": res(
                "Barbican::Order",
                type="asymmetric",
                algorithm="rsa",
                bit_length=2048,
            ),
            "rsa": res(
                "Barbican::RSAContainer",
                private_key_ref=ref("bytes"),
                public_key_ref=ref("word"),
            ),
        }

    sections = {
        "outputs": {
            "word": told("word", "decrypted_payload"),
            "bytes": told("bytes", "decrypted_payload"),
            "key": told("key", "secret_ref"),
            "pair": told("pair", "container_ref"),
            "private": told("pair", "private_key"),
            "public": told("pair", "public_key"),
            "both": told("both", "secret_refs"),
        }
    }

    def ids(self, ident: str) -> dict[str, str]:
        return {
            each.resource_name: each.physical_resource_id
            for each in self.heat.resources.list(ident)
        }

    def test_life(self) -> None:
        ident = self.create(self.resources(), sections=self.sections)
        made = self.ids(ident)
        found = self.outputs(ident)
        for name in ("key", "pair"):
            self.addCleanup(self.forget, found[name])
        self.assertEqual("open sesame", found["word"])
        self.assertEqual(BINARY, found["bytes"])
        self.assertIn("PRIVATE KEY", found["private"])
        self.assertIn("PUBLIC KEY", found["public"])
        self.assertEqual(b"open sesame", self.payload(made["word"]))
        self.assertEqual(bytes(range(256)), self.payload(made["bytes"]))
        # The order was waited for: what it made is there.
        self.assertEqual(32, len(self.payload(found["key"])))
        held = {
            each["name"]: each["secret_ref"]
            for each in self.shown(made["both"])["secret_refs"]
        }
        self.assertEqual({"word": made["word"], "bytes": made["bytes"]}, held)
        for name, kind in (
            ("both", "generic"),
            ("certificate", "certificate"),
            ("rsa", "rsa"),
        ):
            self.assertEqual(kind, self.shown(made[name])["type"])
        self.read_attributes(ident)
        self.act(ident, "check", "CHECK_COMPLETE")

        # None of them can be changed: another payload is another secret.
        self.heat.stacks.update(
            stack_id=ident,
            template=self.template(
                self.resources("close sesame"), **self.sections
            ),
            disable_rollback=True,
        )
        self.wait(ident, "UPDATE_COMPLETE")
        after = self.ids(ident)
        for name in ("word", "both", "certificate", "rsa"):
            self.assertNotEqual(made[name], after[name])
            self.assertFalse(self.is_there(made[name]))
        for name in ("bytes", "key", "pair"):
            self.assertEqual(made[name], after[name])
        self.assertEqual("close sesame", self.outputs(ident)["word"])

        self.delete(ident)
        for name, reference in after.items():
            with self.subTest(name):
                self.assertFalse(self.is_there(reference))
        # What was ordered is nobody's but the user's.
        self.assertTrue(self.is_there(found["key"]))
        self.assertTrue(self.is_there(found["pair"]))

    def read_attributes(self, ident: str) -> None:
        for each in self.heat.resources.list(ident):
            kind = self.heat.resource_types.get(each.resource_type)
            found = self.heat.resources.get(ident, each.resource_name)
            with self.subTest(each.resource_type):
                self.assertLessEqual(
                    {*kind["attributes"]} - {"show"}, {*found.attributes}
                )
                self.assertEqual("ACTIVE", found.attributes["status"])

    def test_deleted_by_hand(self) -> None:
        resources = {
            "word": res("Barbican::Secret", payload="a"),
            "other": res("Barbican::Secret", payload="b"),
            "both": res(
                "Barbican::GenericContainer",
                secrets=[{"name": "word", "ref": ref("word")}],
            ),
        }
        ident = self.create(resources)
        before = self.ids(ident)
        self.forget(before["word"])
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, resources)
        after = self.ids(ident)
        self.assertNotEqual(before["word"], after["word"])
        self.assertEqual(before["other"], after["other"])
        held = self.shown(after["both"])["secret_refs"]
        self.assertEqual(
            [after["word"]], [each["secret_ref"] for each in held]
        )
        for name in ("both", "word"):
            self.forget(after[name])
        self.update(ident, resources, converge=True)
        self.assertTrue(self.is_there(self.physical(ident, "word")))
        self.act(ident, "check", "CHECK_COMPLETE")
        # Gone already when it is to be deleted.
        self.forget(self.physical(ident, "both"))
        self.delete(ident)


class OrderStory(KeysStory):
    """Orders that the service can't fill, and what an update does then."""

    @staticmethod
    def order(**more: Any) -> dict[str, Any]:
        given = {"type": "key", "algorithm": "aes", "bit_length": 256}
        return res("Barbican::Order", **{**given, **more})

    def test_fails_late(self) -> None:
        ident = self.begin({"key": self.order(algorithm="rot13")})
        stack = self.wait(ident, "CREATE_FAILED")
        order = self.shown(self.physical(ident, "key"))
        self.assertEqual("ERROR", order["status"])
        self.assertIn(order["error_reason"], stack.stack_status_reason)

    def test_certificates_are_made_no_more(self) -> None:
        ident = self.begin(
            {
                "key": res(
                    "Barbican::Order",
                    type="certificate",
                    request_type="custom",
                )
            }
        )
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("certificate", stack.stack_status_reason)
        self.assertIn("barbican, HTTP 400", stack.stack_status_reason)

    def test_rolled_back(self) -> None:
        """The new secret goes, the old one was never touched."""

        def resources(payload: str, algorithm: str) -> dict[str, Any]:
            return {
                "word": res("Barbican::Secret", payload=payload),
                "key": {
                    **self.order(algorithm=algorithm),
                    "depends_on": "word",
                },
            }

        ident = self.create(resources("a", "aes"))
        before = self.physical(ident, "word")
        ordered = self.shown(self.physical(ident, "key"))["secret_ref"]
        self.addCleanup(self.forget, ordered)
        self.update(
            ident,
            resources("b", "rot13"),
            "ROLLBACK_COMPLETE",
            disable_rollback=False,
        )
        self.assertEqual(before, self.physical(ident, "word"))
        self.assertEqual(b"a", self.payload(before))

    def test_refused_before_anything_is_made(self) -> None:
        for resource, words in (
            (
                res(
                    "Barbican::GenericContainer",
                    secrets=[{"name": "a", "ref": NOWHERE}],
                ),
                NOWHERE,
            ),
            (self.order(bit_length=None), "bit_length"),
            (res("Barbican::Secret", expiration="1999-01-01"), "expiration"),
        ):
            with self.subTest(words):
                with self.assertRaises(heat_exc.HTTPBadRequest) as raised:
                    self.begin({"a": resource})
                self.assertIn(words, str(raised.exception))


class UsersSecretStory(KeysStory):
    """Secrets of users: read, taken over, given back."""

    def test_all_ways(self) -> None:
        one, two = self.by_hand("one"), self.by_hand("two")
        wish = res("Barbican::Secret", payload="two")
        sections = {"outputs": {"told": told("a", "decrypted_payload")}}
        ident = self.create(
            {"a": {**wish, "external_id": one}}, sections=sections
        )
        self.assertEqual("one", self.outputs(ident)["told"])
        self.update(ident, {"a": {**wish, "external_id": two}})
        self.assertEqual(two, self.physical(ident, "a"))
        # Another payload would be another secret.
        stack = self.update(
            ident, {"a": res("Barbican::Secret", payload="x")}, "UPDATE_FAILED"
        )
        self.assertIn("stays external", stack.stack_status_reason)
        self.assertNotIn("two", stack.stack_status_reason)
        self.update(ident, {"a": wish})
        self.assertEqual(two, self.physical(ident, "a"))
        self.delete(ident)
        self.assertTrue(self.is_there(one))
        self.assertFalse(self.is_there(two))

    def test_a_plain_id(self) -> None:
        """Others are told the reference."""
        made = self.by_hand("word")
        resources = {
            "a": {
                **res("Barbican::Secret"),
                "external_id": made.rpartition("/")[2],
            },
            "b": res(
                "Barbican::GenericContainer",
                secrets=[{"name": "a", "ref": ref("a")}],
            ),
        }
        ident = self.create(resources)
        held = self.shown(self.physical(ident, "b"))["secret_refs"]
        self.assertEqual([made], [each["secret_ref"] for each in held])
        self.delete(ident)
        self.assertTrue(self.is_there(made))

    def test_a_name(self) -> None:
        made = self.by_hand("word")
        name = self.shown(made)["name"]
        ident = self.create(
            {
                "b": res(
                    "Barbican::GenericContainer",
                    secrets=[{"name": "a", "ref": name}],
                )
            }
        )
        held = self.shown(self.physical(ident, "b"))["secret_refs"]
        self.assertEqual([made], [each["secret_ref"] for each in held])


class CredentialStory(KeysStory):
    """A stack elsewhere, by a login that the key manager keeps."""

    inner = json.dumps(
        {
            "heat_template_version": "2021-04-16",
            "resources": {"word": {"type": "OS::Heat::RandomString"}},
        }
    )

    def endpoint(self) -> str:
        """A region whose service is the one under test."""
        identity = cloud.administrator().identity
        region = f"story-{uuid.uuid4().hex[:8]}"
        identity.create_region(id=region)
        self.addCleanup(identity.delete_region, region)
        service = identity.create_service(type="orchestration", name="story")
        self.addCleanup(identity.delete_service, service)
        identity.create_endpoint(
            service_id=service.id,
            interface="public",
            region_id=region,
            url=f"{self.running.url}/v1/%(project_id)s",
        )
        # The catalogue comes with the token.
        self.running.cloud.session.invalidate()
        return region

    def login(self) -> str:
        """A secret with a credential of the user's."""
        user = self.cloud.current_user_id
        identity = self.cloud.identity
        made = identity.create_application_credential(
            user, name=f"story-{uuid.uuid4().hex[:8]}"
        )
        self.addCleanup(identity.delete_application_credential, user, made.id)
        return self.by_hand(
            json.dumps(
                {
                    "auth_type": "v3applicationcredential",
                    "auth": {
                        "auth_url": os.environ["OS_AUTH_URL"],
                        "application_credential_id": made.id,
                        "application_credential_secret": made.secret,
                    },
                }
            )
        )

    def test_life(self) -> None:
        region = self.endpoint()
        secret = self.login()
        for told in (secret, secret.rpartition("/")[2]):
            with self.subTest(told):
                where = {"region_name": region, "credential_secret_id": told}
                ident = self.create(
                    {
                        "far": res(
                            "Heat::Stack", context=where, template=self.inner
                        )
                    }
                )
                far = self.physical(ident, "far")
                found = self.heat.stacks.get(far)
                self.assertEqual("CREATE_COMPLETE", found.stack_status)
                self.delete(ident)
                self.wait(far, "DELETE_COMPLETE")

    def test_no_login(self) -> None:
        """What is wrong with a secret tells nothing of it."""
        where = {
            "region_name": self.endpoint(),
            "credential_secret_id": self.by_hand("not so secret"),
        }
        wish = res("Heat::Stack", context=where, template=self.inner)
        with self.assertRaises(heat_exc.HTTPException) as raised:
            self.begin({"far": wish})
        self.assertIn("is no credential", str(raised.exception))
        self.assertNotIn("not so secret", str(raised.exception))
