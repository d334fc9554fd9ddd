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

"""OS::Barbican::Secret."""

from __future__ import annotations

import base64
import binascii
import datetime
from collections.abc import Mapping
from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.barbican import barbican

_PAYLOAD = "payload"
_CONTENT_TYPE = "payload_content_type"
_ENCODING = "payload_content_encoding"


class Secret(barbican.BarbicanResource):
    """What the key manager keeps so that nobody else can read it."""

    support_status = support.SupportStatus(version="2014.2")

    entity = "secrets"
    properties_schema = notation.properties("""
        algorithm string -- Algorithm that it is for, such as aes.
        bit_length integer (range 0..None) -- Bits of a key.
        expiration string (is expiration) -- The moment, as ISO 8601, after
            -- which it can't be read any more.
        mode string -- Mode of the algorithm, such as cbc.
        name string -- What it is called; made up when left out.
        payload string -- What it hides.
        payload_content_encoding string (in ["base64"]) -- How the payload
            -- is written here; left out for text.
        payload_content_type string (in ["text/plain",
            "application/octet-stream"]) -- What the payload is; text unless
            -- it is written in base64.
        secret_type string (="opaque", in ["symmetric", "public", "private",
            "certificate", "passphrase", "opaque"]) -- Kind of the secret.
    """)
    attributes_schema = {
        **barbican.told_anew("decrypted_payload"),
        **notation.attributes("status string -- Its state."),
    }

    def validate(self) -> None:
        super().validate()
        given = self.properties
        if given[_PAYLOAD] is None:
            for name in (_CONTENT_TYPE, _ENCODING):
                if given[name] is not None:
                    raise rest.refused(name, _("There is no payload."))
            return
        binary = given[_ENCODING] is not None
        kind = given[_CONTENT_TYPE]
        if kind is not None and binary != (kind != "text/plain"):
            raise rest.refused(
                _ENCODING,
                _("base64 goes with application/octet-stream, and no other."),
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        if _PAYLOAD in body:
            usual = (
                "application/octet-stream"
                if _ENCODING in body
                else "text/plain"
            )
            body.setdefault(_CONTENT_TYPE, usual)
        return body

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base. The payload is compared as well, and not told."""
        found = super().live_fixed(resource_properties, resource_data)
        wanted = resource_properties[_PAYLOAD]
        if wanted is not None:
            live = self.client_plugin().payload(self.resource_id)
            binary = resource_properties[_ENCODING] is not None
            same = live is not None and _plain(wanted, binary) == live
            found[_PAYLOAD] = wanted if same else None
        moment = resource_properties["expiration"]
        if moment is not None:
            live = resource_data.get("expiration")
            same = live is not None and _moment(moment) == _moment(live)
            found["expiration"] = moment if same else live
        return found

    def _resolve_attribute(self, name: str) -> Any:
        if name == "decrypted_payload" and self.resource_id is not None:
            return self.client_plugin().payload(self.resource_id)
        return super()._resolve_attribute(name)


def _plain(payload: str, binary: bool) -> str:
    """A payload as the client plug-in tells it."""
    if not binary:
        # The service doesn't keep what is around a text.
        return payload.strip()
    try:
        return base64.b64encode(base64.b64decode(payload)).decode("ascii")
    except binascii.Error:
        return payload


def _moment(text: str) -> datetime.datetime:
    """What ISO 8601 says; without a zone it is UTC."""
    found = datetime.datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Barbican::Secret": Secret}
