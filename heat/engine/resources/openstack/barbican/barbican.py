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

"""What the types of the key manager have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common.i18n import _
from heat.engine import attributes
from heat.engine.clients import barbican
from heat.engine.resource import notation, rest


class BarbicanResource(rest.RestResource):
    """An object of the key manager; none of them can be changed.

    What others are told is its reference, which is a URL.
    """

    default_client_name = "barbican"
    status_key: ClassVar[str | None] = "status"
    pending = frozenset({"PENDING"})

    def get_reference_id(self) -> str:
        """The reference, also where a user told a plain id."""
        ident = self.resource_id
        if ident is None or "/" in ident:
            return ident or self.name
        return str(self.shown()["id"])

    def fault(self, shown: Mapping[str, Any]) -> str:
        code = shown.get("error_status_code")
        told = shown.get("error_reason")
        if not told:
            return super().fault(shown)
        return f"{told} ({code})" if code else str(told)


class Container(BarbicanResource):
    """References to secrets under one."""

    entity = "containers"
    #: what the service calls such a container
    kind_of_container: ClassVar[str] = ""
    attributes_schema = notation.attributes("""
        consumers list -- Who has said to use the container: name and URL
            -- each.
        container_ref string -- Its reference, which is a URL.
        secret_refs list -- The secrets in it: name and reference each.
        status string -- Its state.
    """)

    def refs(self, properties: Any) -> list[dict[str, Any]]:
        """What the container holds: name and ``secret_ref`` each."""
        return [
            {"name": name.removesuffix("_ref"), "secret_ref": properties[name]}
            for name in self.properties_schema
            if name != self.name_property and properties[name] is not None
        ]

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        naming = {"name": body["name"], "type": self.kind_of_container}
        return {**naming, "secret_refs": self.refs(properties)}

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base. The secrets are compared by their references."""
        found = {"name": resource_data.get("name")}
        live = {
            each.get("name"): each.get("secret_ref")
            for each in resource_data.get("secret_refs") or ()
        }
        for name in self.properties_schema:
            if name == self.name_property:
                continue
            wanted = resource_properties[name]
            other = live.get(name.removesuffix("_ref"))
            found[name] = wanted if _same(wanted, other) else other
        return found


def _same(wanted: str | None, live: str | None) -> bool:
    """Whether two references, or ids, are those of one secret."""
    return barbican.plain_id(wanted or "") == barbican.plain_id(live or "")


def told_anew(*names: str) -> dict[str, attributes.Schema]:
    """Attributes that are secrets: read each time, and kept nowhere."""
    described = {
        "certificate": _("The certificate that was ordered."),
        "decrypted_payload": _(
            "What the secret hides; in base64 unless it is text."
        ),
        "intermediates": _("Certificates between that one and a root."),
        "private_key": _("The private half of a pair that was ordered."),
        "public_key": _("The public half of a pair that was ordered."),
    }
    schema = attributes.Schema
    return {
        name: schema(
            described[name],
            cache_mode=schema.CACHE_NONE,
            type=schema.STRING,
        )
        for name in names
    }
