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

"""OS::Barbican::Order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.barbican import barbican

_KEYS: Final = ("key", "asymmetric")
#: What only some orders are about.
_OF_KEYS: Final = ("algorithm", "bit_length")
_OF_CERTIFICATES: Final[tuple[str, ...]] = (
    *("ca_id", "profile", "request_data", "request_type"),
    *("source_container_ref", "subject_dn"),
)
_FROM_CONTAINER: Final = frozenset(
    {"certificate", "intermediates", "private_key", "public_key"}
)


class Order(barbican.BarbicanResource):
    """A key, a pair of keys or a certificate that the key manager makes.

    What it made is not the order's: that stays when the order is deleted.
    Many services make no certificates (any more) and refuse such orders.
    """

    support_status = support.SupportStatus(version="2014.2")

    entity = "orders"
    properties_schema = notation.properties("""
        algorithm string -- Algorithm of the key, such as aes or rsa.
        bit_length integer -- Bits of the key.
        ca_id string -- Id of the authority that issues the certificate.
        expiration string (is expiration) -- The moment, as ISO 8601, after
            -- which what was made can't be read any more.
        mode string -- Mode of the algorithm, such as cbc.
        name string -- What that which is made is called; made up when left
            -- out.
        pass_phrase string -- What opens the private half of a pair.
        payload_content_type string -- What the key is to be told as.
        profile string -- Kind of the certificate, in its authority's words.
        request_data string -- The certificate's request, in base64.
        request_type string (in ["stored-key", "simple-cmc", "custom"]) --
            -- How a certificate is asked for.
        source_container_ref string (is barbican.container) -- Reference, id
            -- or name of the container with the keys of the certificate.
        subject_dn string -- Whom the certificate is for.
        type string (required, in ["key", "asymmetric", "certificate"]) --
            -- What is ordered: a key, a pair of keys or a certificate.
    """)
    attributes_schema = {
        **barbican.told_anew(*sorted(_FROM_CONTAINER)),
        **notation.attributes("""
            container_ref string -- Reference of the container that was made.
            order_ref string -- The order's reference, which is a URL.
            secret_ref string -- Reference of the secret that was made.
            status string -- Its state.
        """),
    }
    body_keys = {"source_container_ref": "container_ref"}
    finds = {"source_container_ref": "barbican.container"}

    def validate(self) -> None:
        super().validate()
        kind = self.properties["type"]
        needed, foreign = (
            (_OF_KEYS, _OF_CERTIFICATES)
            if kind in _KEYS
            else (("request_type",), ())
        )
        for name in needed:
            if not self.properties[name]:
                raise rest.refused(
                    name, _("An order of the type %s needs it.") % kind
                )
        for name in foreign:
            if self.properties[name] is not None:
                raise rest.refused(name, _("Only a certificate has one."))

    def create_body(self, properties: Any) -> dict[str, Any]:
        meta = super().create_body(properties)
        return {"type": meta.pop("type"), "meta": meta}

    def find_made(self) -> str | None:
        """See the base; the name is that of what is made."""
        if self.uuid is None:
            return None
        name = self.physical_resource_name()
        for each in self.listed(meta=name):
            if (each.get("meta") or {}).get("name") == name:
                return str(each["id"])
        return None

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        told = {**(resource_data.get("meta") or {}), **resource_data}
        found = super().live_fixed(resource_properties, told)
        # It is shown in another form.
        found.pop("expiration", None)
        return found

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None or name not in _FROM_CONTAINER:
            return super()._resolve_attribute(name)
        reference = self.shown().get("container_ref")
        if reference is None:
            return None
        plugin = self.client_plugin()
        held = {
            each["name"]: each["secret_ref"]
            for each in plugin.collection("container").get(reference)[
                "secret_refs"
            ]
        }
        if name not in held:
            return None
        return plugin.key_text(held[name])


def resource_mapping() -> dict[str, Any]:
    return {"OS::Barbican::Order": Order}
