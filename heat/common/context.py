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

"""The request context: who asks, for which project, with which credentials.

Over RPC it travels as :meth:`RequestContext.to_dict`: oslo.context's
dictionary plus the keys in ``EXTRA_KEYS``; unknown keys are ignored when
it is read back, so that other makes of API and engine can be talked to.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Self

from oslo_context import context as oslo_context

EXTRA_KEYS = (
    "username",
    "password",
    "aws_creds",
    "trust_id",
    "trustor_user_id",
    "auth_token_info",
    "auth_url",
    "region_name",
    "project_name",
)


@dataclasses.dataclass(frozen=True)
class Deferred:
    """By what an engine acts for a user when the request is over.

    :ivar user_id: of the user in whose name that is
    :ivar trust_id: a trust from that user to the service user, or
    :ivar password: that user's own
    :ivar auth_url: where Keystone is, for the password
    """

    user_id: str | None
    project_id: str | None
    trust_id: str | None = None
    password: str | None = dataclasses.field(default=None, repr=False)
    auth_url: str | None = None


class RequestContext(oslo_context.RequestContext):
    """Identity and credentials of one request.

    ``tenant_id`` is the older word for ``project_id``; plug-ins use both.

    :ivar deferred: what takes the token's place when there is none (any
        more). It does not travel: each engine reads it where it is stored.
    """

    deferred: Deferred | None = None

    def __init__(
        self,
        *,
        username: str | None = None,
        password: str | None = None,
        aws_creds: Any = None,
        trust_id: str | None = None,
        trustor_user_id: str | None = None,
        auth_token_info: dict[str, Any] | None = None,
        auth_url: str | None = None,
        region_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.username = username
        self.password = password
        self.aws_creds = aws_creds
        self.trust_id = trust_id
        self.trustor_user_id = trustor_user_id
        self.auth_token_info = auth_token_info
        self.auth_url = auth_url
        self.region_name = region_name

    @property
    def tenant_id(self) -> str | None:
        return self.project_id

    @property
    def tenant(self) -> str | None:
        return self.project_name

    def with_deferred(self, deferred: Deferred) -> Self:
        """The same request, for an engine that acts on after it."""
        made = copy.copy(self)
        made.deferred = deferred
        made.user_id = self.user_id or deferred.user_id
        return made

    def to_dict(self) -> dict[str, Any]:
        """The form that travels over RPC (keys and plain values)."""
        data = dict(super().to_dict())
        for key in EXTRA_KEYS:
            data[key] = getattr(self, key)
        # Older peers read these names.
        data["tenant_id"] = self.project_id
        data["tenant"] = self.project_name
        return data

    @classmethod
    def from_dict(cls, values: dict[str, Any], **kwargs: Any) -> Self:
        """Read the form that travels; unknown keys are ignored."""
        values = dict(values)
        if not values.get("project_id"):
            values["project_id"] = values.get("tenant_id")
        for key in EXTRA_KEYS:
            if key != "project_name":
                kwargs.setdefault(key, values.get(key))
        made: Self = super().from_dict(values, **kwargs)
        return made

    def to_policy_values(self) -> dict[str, Any]:
        """Credentials as oslo.policy reads them."""
        values = dict(super().to_policy_values())
        values["project_id"] = self.project_id
        values["user_id"] = self.user_id
        return values
