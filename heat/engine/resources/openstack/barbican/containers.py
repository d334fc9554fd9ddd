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

"""OS::Barbican::GenericContainer, RSAContainer and CertificateContainer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.barbican import barbican


class GenericContainer(barbican.Container):
    """Any secrets, each under a name."""

    support_status = support.SupportStatus(version="6.0.0")

    kind_of_container = "generic"
    properties_schema = notation.properties("""
        name string -- What it is called; made up when left out.
        secrets list{* map{
            name string (required) -- What the secret is called here.
            ref string (required, is barbican.secret) -- Reference, id or
                -- name of the secret.
        }} -- The secrets in it.
    """)
    finds = {"secrets.ref": "barbican.secret"}

    def validate(self) -> None:
        super().validate()
        names = [each["name"] for each in self.properties["secrets"] or ()]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise exception.StackValidationFailed(
                path=["properties", "secrets"],
                message=_("Several secrets are called %s.")
                % ", ".join(sorted(twice)),
            )

    def refs(self, properties: Any) -> list[dict[str, Any]]:
        return [
            {"name": each["name"], "secret_ref": each["ref"]}
            for each in properties["secrets"] or ()
        ]

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        held = [
            {"name": each.get("name"), "ref": each.get("secret_ref")}
            for each in resource_data.get("secret_refs") or ()
        ]
        return {"name": resource_data.get("name"), "secrets": held}


class RSAContainer(barbican.Container):
    """The two halves of an RSA key, and what opens the private one."""

    support_status = support.SupportStatus(version="6.0.0")

    kind_of_container = "rsa"
    properties_schema = notation.properties("""
        name string -- What it is called; made up when left out.
        private_key_passphrase_ref string (is barbican.secret) -- Reference,
            -- id or name of the secret with the passphrase of the private
            -- half.
        private_key_ref string (is barbican.secret) -- Reference, id or name
            -- of the secret with the private half.
        public_key_ref string (is barbican.secret) -- Reference, id or name
            -- of the secret with the public half.
    """)
    finds = {
        "private_key_passphrase_ref": "barbican.secret",
        "private_key_ref": "barbican.secret",
        "public_key_ref": "barbican.secret",
    }


class CertificateContainer(barbican.Container):
    """A certificate with what belongs to it, as load balancers take it."""

    support_status = support.SupportStatus(version="6.0.0")

    kind_of_container = "certificate"
    properties_schema = notation.properties("""
        certificate_ref string (is barbican.secret) -- Reference, id or name
            -- of the secret with the certificate.
        intermediates_ref string (is barbican.secret) -- Reference, id or
            -- name of the secret with the certificates between it and a
            -- root.
        name string -- What it is called; made up when left out.
        private_key_passphrase_ref string (is barbican.secret) -- Reference,
            -- id or name of the secret with the passphrase of the private
            -- key.
        private_key_ref string (is barbican.secret) -- Reference, id or name
            -- of the secret with the private key.
    """)
    finds = {
        "certificate_ref": "barbican.secret",
        "intermediates_ref": "barbican.secret",
        "private_key_passphrase_ref": "barbican.secret",
        "private_key_ref": "barbican.secret",
    }


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Barbican::CertificateContainer": CertificateContainer,
        "OS::Barbican::GenericContainer": GenericContainer,
        "OS::Barbican::RSAContainer": RSAContainer,
    }
