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

"""OS::Nova::KeyPair."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest

_PRIVATE_KEY = "private_key"


class KeyPair(rest.RestResource):
    """A key that logs in to servers.

    A public key is registered when one is given; else the compute service
    makes a pair, and its private half can be kept.
    """

    support_status = support.SupportStatus(version="2014.1")

    default_client_name = "nova"
    entity = "keypairs"
    properties_schema = notation.properties("""
        name string (required, len 1..255) -- What it is called.
        public_key string -- The public half; a pair is made when left out.
        save_private_key boolean (=false) -- Keep the private half of a pair
            -- that was made, encrypted, as an attribute.
        type string (in ["ssh", "x509"]) -- Kind of the key.
        user string (is keystone.user) -- Name or id of the user that it is
            -- made for; only an administrator may name another one.
    """)
    attributes_schema = notation.attributes("""
        private_key string -- The private half; empty unless it was kept.
        public_key string -- The public half.
    """)
    body_keys = {"type": "key_type", "user": "user_id"}
    not_sent = frozenset({"save_private_key"})
    finds = {"user": "keystone.user"}
    irrecoverable = {
        _PRIVATE_KEY: _(
            "the private half, which the service showed only once, for "
            "save_private_key"
        )
    }

    def lacks_for_hand_back(self) -> list[str]:
        wants = self.properties_of(self.target)["save_private_key"]
        return super().lacks_for_hand_back() if wants else []

    def get_reference_id(self) -> str:
        return str(self.resource_id or self.properties["name"])

    def handle_create(self) -> Any:
        made = super().handle_create()
        if self.properties["save_private_key"] and made.get(_PRIVATE_KEY):
            self.data_set(_PRIVATE_KEY, made[_PRIVATE_KEY], redact=True)
        return made

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        if not body.get("public_key"):
            body.pop("public_key", None)
        return body

    def shown(self) -> dict[str, Any]:
        if not self.properties["user"]:
            return super().shown()
        found: dict[str, Any] = (
            self.collection()
            .call("get", self.resource_id, user_id=self.properties["user"])
            .to_dict()
        )
        return found

    def delete_object(self) -> bool:
        user = self.properties["user"]
        try:
            self.collection().call(
                "delete",
                self.resource_id,
                **({"user_id": user} if user else {}),
            )
        except Exception as exc:
            self.client_plugin().ignore_not_found(exc)
        return True

    def _resolve_attribute(self, name: str) -> Any:
        if name == _PRIVATE_KEY:
            return self.data().get(_PRIVATE_KEY, "")
        given = None if self.external else self.properties["public_key"]
        return given or super()._resolve_attribute(name)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::KeyPair": KeyPair}
