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


class RequestContext(oslo_context.RequestContext):
    """Identity and credentials of one request.

    ``tenant_id`` is the older word for ``project_id``; plug-ins use both.
    """

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
