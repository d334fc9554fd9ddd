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

"""The key manager, by openstacksdk.

It calls its objects by references, which are URLs: an id is the reference
here, as templates give it to other services. Where one is asked for, the
plain id is good, too.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import collection, errors, sdk

_TEXT = "text/plain"
_BINARY = "application/octet-stream"
#: The service shows ten unless it is asked for more, and never more than so.
_AT_ONCE = 100


def plain_id(reference: str) -> str:
    """The last part of a reference; a plain id is one already."""
    return reference.rstrip("/").rpartition("/")[2]


class Referred(collection.Bare):
    """Objects that say by a reference who they are."""

    def key_of_id(self) -> str:
        return f"{self._key}_ref"

    def get(self, ident: str) -> dict[str, Any]:
        return super().get(plain_id(ident))

    def delete(self, ident: str) -> None:
        super().delete(plain_id(ident))

    def list(self, **filters: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            page = super().list(
                **filters, limit=_AT_ONCE, offset=len(found) or None
            )
            found += [self._inner(each) for each in page]
            if len(page) < _AT_ONCE:
                return found


class BarbicanPlugin(sdk.SdkPlugin):
    """Secrets, containers of them, and orders for new ones."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["key-manager"]
    service: ClassVar[str] = "barbican"
    proxy_name: ClassVar[str] = "key_manager"
    #: As resource types and constraints name them.
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "secrets": {"key": "secret", "plural": "secrets"},
        "orders": {"key": "order", "plural": "orders"},
        "containers": {"key": "container", "plural": "containers"},
    }

    def collection(self, entity: str) -> collection.Rest:
        """The objects of one kind.

        :param entity: ``secret`` or ``secrets``, and so on
        """
        plural = f"{entity.removesuffix('s')}s"
        return Referred(self.service, self.adapter, **self.entities[plural])

    def payload(self, reference: str) -> str | None:
        """What a secret hides: text as it is, all else in base64.

        :param reference: of the secret
        :returns: None: it has no payload
        :raises heat.engine.clients.errors.ServiceError: it can't be read
        """
        kind, content = self._content(reference)
        if content is None:
            return None
        if kind == _TEXT:
            return content.decode()
        return base64.b64encode(content).decode("ascii")

    def key_text(self, reference: str) -> str | None:
        """A key or certificate, which is text (PEM) in most stores.

        One that isn't is given in base64. Errors as :meth:`payload`.
        """
        _kind, content = self._content(reference)
        if content is None:
            return None
        try:
            return content.decode("ascii")
        except UnicodeDecodeError:
            return base64.b64encode(content).decode("ascii")

    def _content(self, reference: str) -> tuple[str, bytes | None]:
        """The type of a payload, and its bytes."""
        shown = self.collection("secret").get(reference)
        kind = (shown.get("content_types") or {}).get("default")
        if kind is None:
            return _BINARY, None
        path = f"/secrets/{plain_id(reference)}/payload"

        def read() -> bytes:
            answer = self.adapter().get(
                path, headers={"Accept": kind}, raise_exc=False
            )
            sdk_exceptions.raise_from_response(answer)
            return bytes(answer.content)

        return kind, errors.call(self.service, read, idempotent=True)
