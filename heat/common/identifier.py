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

"""Names of stacks, resources and events as they travel.

An identity is the dictionary ``{tenant, stack_name, stack_id, path}``;
its ARN form is ``arn:openstack:heat::TENANT:stacks/NAME/ID/PATH``.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self
from urllib import parse

_ARN_PREFIX = "arn:openstack:heat::"

#: What the name of a stack that users make looks like.
STACK_NAME = r"\A[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z"


@dataclasses.dataclass(frozen=True)
class HeatIdentifier:
    """The identity of a stack, or of something below it.

    :param path: "" for a stack, ``/resources/NAME`` for a resource,
        ``/resources/NAME/events/ID`` for an event
    """

    tenant: str
    stack_name: str
    stack_id: str | None = None
    path: str = ""

    @classmethod
    def from_dict(cls, identity: dict[str, Any]) -> Self:
        """Read the dictionary form.

        :raises ValueError: when a key is missing or not text
        """
        try:
            tenant = identity["tenant"]
            name = identity["stack_name"]
        except (KeyError, TypeError) as exc:
            raise ValueError(
                "Malformed stack identity: tenant and stack_name are needed"
            ) from exc
        path = identity.get("path") or ""
        if path and not path.startswith("/"):
            path = "/" + path
        return cls(str(tenant), str(name), identity.get("stack_id"), path)

    @classmethod
    def from_arn(cls, arn: str) -> Self:
        """Read the ARN form.

        :raises ValueError: when it is not an ARN of a stack
        """
        if not arn.startswith(_ARN_PREFIX):
            raise ValueError(f'"{arn}" is not a valid ARN')
        tenant, sep, rest = arn[len(_ARN_PREFIX) :].partition(":")
        parts = rest.split("/", 3)
        if not sep or len(parts) < 3 or parts[0] != "stacks":
            raise ValueError(f'"{arn}" is not a valid ARN of a stack')
        path = "/" + parts[3] if len(parts) > 3 and parts[3] else ""
        return cls(
            parse.unquote(tenant),
            parse.unquote(parts[1]),
            parse.unquote(parts[2]),
            parse.unquote(path),
        )

    def arn(self) -> str:
        """The ARN form, each part quoted for a URL."""
        quote = parse.quote
        return (
            f"{_ARN_PREFIX}{quote(self.tenant, '')}:stacks/"
            f"{quote(self.stack_name, '')}/{quote(str(self.stack_id), '')}"
            f"{quote(self.path)}"
        )

    def stack(self) -> HeatIdentifier:
        """The identity of the stack alone."""
        return HeatIdentifier(self.tenant, self.stack_name, self.stack_id)

    def resource(self, name: str) -> HeatIdentifier:
        """The identity of a resource of this stack."""
        return dataclasses.replace(self, path=f"/resources/{name}")

    def event(self, resource_name: str, event_id: str) -> HeatIdentifier:
        """The identity of an event of a resource of this stack."""
        return dataclasses.replace(
            self, path=f"/resources/{resource_name}/events/{event_id}"
        )

    def __iter__(self) -> Any:
        """Allow ``dict(identity)``: the dictionary form that travels."""
        # Lists of hundreds of stacks do this for each of them.
        return iter(
            (
                ("tenant", self.tenant),
                ("stack_name", self.stack_name),
                ("stack_id", self.stack_id),
                ("path", self.path),
            )
        )
