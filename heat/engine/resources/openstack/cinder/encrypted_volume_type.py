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

"""OS::Cinder::EncryptedVolumeType."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine.resource import notation, rest


class EncryptedVolumeType(rest.RestResource):
    """How volumes of a type are encrypted.

    Usually only an administrator may say so, and only as long as no volume
    of the type is there. Its id is that of the volume type.
    """

    default_client_name = "cinder"
    entity = "volume_type"
    name_property = None
    properties_schema = notation.properties("""
        cipher string (update, in ["aes-xts-plain64", "aes-cbc-essiv"]) --
            -- Cipher and mode.
        control_location string (update, ="front-end", in ["front-end",
            "back-end"]) -- Which service encrypts: front-end is Nova.
        key_size integer (update) -- Bits of the key.
        provider string (required, update) -- What encrypts, such as luks.
        volume_type string (required, is cinder.vtype) -- Name or id of the
            -- volume type.
    """)
    not_sent = frozenset({"volume_type"})
    finds = {"volume_type": "cinder.volume_type"}

    def _request(self, method: str, path: str = "", body: Any = None) -> Any:
        sent = None if body is None else {"encryption": body}
        return self.collection().request(
            method, f"/{self.resource_id}/encryption{path}", json=sent
        )

    def handle_create(self) -> Any:
        self.resource_id_set(self.properties["volume_type"])
        self._request("POST", body=self.create_body(self.properties))
        return None

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if prop_diff:
            body = self.update_body(
                prop_diff, self.properties_of(json_snippet)
            )
            ident = self.shown()["encryption_id"]
            self._request("PUT", f"/{ident}", body)
        return None

    def value_for_none(self, name: str) -> Any:
        return None

    def delete_object(self) -> bool:
        try:
            ident = self.shown()["encryption_id"]
            self._request("DELETE", f"/{ident}")
        except Exception as exc:
            self.client_plugin().ignore_not_found(exc)
        return True

    def shown(self) -> dict[str, Any]:
        found = self._request("GET")
        # Not 404: a type without encryption shows nothing.
        if not found or not found.get("encryption_id"):
            raise exception.EntityNotFound(
                entity="Volume type encryption", name=self.resource_id
            )
        return dict(found)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Cinder::EncryptedVolumeType": EncryptedVolumeType}
