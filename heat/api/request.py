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

"""What a handler is given, and what it gives back.

Nothing here knows routes or WSGI: a handler can be called with a made-up
:class:`Call` and its :class:`Answer` looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, cast

from heat.api import settings as api_settings
from heat.api import views
from heat.common import context as heat_context
from heat.common import exception
from heat.policies import enforcement
from heat.rpc import clients


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request.

    :param body: anything JSON can hold; not sent with status 204
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One request, checked and unpacked.

    :param route: path of the route table that was matched, such as
        ``/stacks/{stack_name}``
    :param path: values of the path's variables
    :param query: values of the query, converted to their types
    :param raw_query: the query as it came, without ``?``
    :param body: the body, or None where the route has none
    :param tenant: project in the URL
    """

    context: heat_context.RequestContext
    engine: clients.EngineClient
    policy: enforcement.Enforcer
    settings: api_settings.Settings
    links: views.Links
    tenant: str
    route: str
    path: Mapping[str, str]
    query: Mapping[str, Any]
    raw_query: str = ""
    body: Any = None

    @property
    def identity(self) -> dict[str, Any]:
        """The identity of the stack in the URL, as it travels over RPC."""
        return {
            "tenant": self.tenant,
            "stack_name": self.path["stack_name"],
            "stack_id": self.path["stack_id"],
            "path": "",
        }

    def require(self, rule: str) -> None:
        """Enforce a rule that depends on more than the route.

        :raises Forbidden: the caller may not
        """
        self.policy.require(self.context, rule, self.tenant)

    def given(self, *names: str) -> dict[str, Any]:
        """The named values of the query that were given."""
        return {name: self.query[name] for name in names if name in self.query}

    def everywhere(self) -> heat_context.RequestContext:
        """The caller's context, freed from its project.

        Lists made with it are those of all projects: over RPC an
        administrator's context without a project is not limited to one.
        """
        values = self.context.to_dict()
        for key in ("project_id", "tenant_id", "tenant", "project_name"):
            values[key] = None
        values["is_admin"] = True
        return heat_context.RequestContext.from_dict(values, overwrite=False)


Handler = Callable[[Call], Answer]


class _Guard:
    """An engine client whose missing methods are 501 and not 500."""

    __slots__ = ("_client",)

    def __init__(self, client: object) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name, None)
        if method is None:
            raise exception.NotImplementedYet(feature=name)
        return method


def guard(client: object) -> clients.EngineClient:
    """Wrap the client that the application was given."""
    return cast(clients.EngineClient, _Guard(client))
