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

"""From a WSGI environment to a handler of the route table, and back.

Matches the path, answers 404, 405 and OPTIONS from the table, holds the
caller to the project in the URL, enforces the entry's rule, reads and checks
query and body, and turns the handler's answer into a response. Errors are
raised: the fault middleware around makes answers of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug import exceptions as http_errors
from werkzeug import routing, wrappers

from heat.api import faults, routes, validation, views
from heat.api import request as api_request
from heat.api import settings as api_settings
from heat.common import context as heat_context
from heat.common import exception, quick_json
from heat.common.i18n import _
from heat.policies import enforcement
from heat.rpc import clients

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

# Where the context middleware leaves the caller's context.
ENV_CONTEXT = "heat.context"
PREFIX = "/v1/{tenant_id}"


class Dispatcher:
    """The application inside all middleware.

    :param engine: client of the engine; handlers call nothing else
    """

    def __init__(
        self,
        engine: clients.EngineClient,
        settings: api_settings.Settings,
        enforcer: enforcement.Enforcer,
    ) -> None:
        self._engine = api_request.guard(engine)
        self._settings = settings
        self._policy = enforcer
        self._map = url_map(routes.ROUTES)

    def __call__(
        self,
        environ: wsgi_types.WSGIEnvironment,
        start_response: wsgi_types.StartResponse,
    ) -> Iterable[bytes]:
        request = wrappers.Request(environ)
        return self._answer(request)(environ, start_response)

    def _answer(self, request: wrappers.Request) -> wrappers.Response:
        route, path = self._match(request.path)
        methods = routes.ROUTES[route]
        if request.method == "OPTIONS" and route not in routes.NO_OPTIONS:
            return faults.empty({"Allow": _allow(methods)})
        method = "GET" if request.method == "HEAD" else request.method
        entry = methods.get(method)
        if entry is None:
            raise faults.HTTPError(
                405,
                _("%(method)s is not allowed here; allowed: %(allowed)s")
                % {"method": request.method[:20], "allowed": _allow(methods)},
                {"Allow": _allow(methods)},
            )
        return _response(
            entry.handler(self._call(request, entry, route, path))
        )

    def _match(self, path: str) -> tuple[str, dict[str, Any]]:
        """The row of the table for a path, and the path's variables.

        :raises HTTPError: 404
        """
        try:
            if "\0" in path:
                raise http_errors.NotFound
            route, found = self._map.bind("").match(path.rstrip("/") or "/")
        except http_errors.HTTPException:
            raise faults.not_found(faults.EXPLANATIONS[404]) from None
        return str(route), dict(found)

    def _call(
        self,
        request: wrappers.Request,
        entry: routes.Entry,
        route: str,
        path: dict[str, Any],
    ) -> api_request.Call:
        """Everything a handler needs; every check that needs no handler."""
        tenant = path.pop("tenant_id")
        context = _for_project(request.environ[ENV_CONTEXT], tenant)
        if entry.enforced:
            self._policy.require(context, entry.policy, tenant)
        query: dict[str, Any] = {}
        if entry.query is not None:
            query = entry.query.read(request.args)
        body = None
        if entry.body is not None:
            body = entry.body.check(self._body(request))
        return api_request.Call(
            context=context,
            engine=self._engine,
            policy=self._policy,
            settings=self._settings,
            links=views.Links(request.root_url.rstrip("/")),
            tenant=tenant,
            route=route,
            path=path,
            query=query,
            raw_query=request.query_string.decode("latin-1"),
            body=body,
        )

    def _body(self, request: wrappers.Request) -> Any:
        """The body as JSON.

        :raises RequestLimitExceeded: it is longer than the limit
        """
        raw = validation.read_body(request.environ, self._settings.max_body)
        if raw is None:
            raise faults.bad_request(
                _("The connection broke before the whole body had arrived")
            )
        return validation.parse_json(raw)


def _for_project(
    context: heat_context.RequestContext, tenant: str
) -> heat_context.RequestContext:
    """The caller's context, when it may speak of the project in the URL.

    :raises Forbidden: it may not
    """
    if tenant == context.project_id:
        return context
    if not context.is_admin:
        raise exception.Forbidden(action=_("this project"))
    if context.project_id is not None:
        return context
    # An administrator of the system has no project. Over RPC that would
    # mean all of them, but the URL names one.
    values = {**context.to_dict(), "project_id": tenant}
    return heat_context.RequestContext.from_dict(values, overwrite=False)


def url_map(table: Iterable[str]) -> routing.Map:
    """The table for werkzeug; the endpoint of a rule is its path."""
    rules = []
    for route in table:
        pattern = (PREFIX + route).replace("{arn}", "{path:arn}")
        rules.append(
            routing.Rule(
                pattern.replace("{", "<").replace("}", ">"), endpoint=route
            )
        )
    return routing.Map(rules, strict_slashes=False, merge_slashes=False)


def _allow(methods: routes.Methods) -> str:
    return ", ".join(methods)


def _response(answer: api_request.Answer) -> wrappers.Response:
    if answer.status == 204:
        return faults.empty(answer.headers)
    return wrappers.Response(
        quick_json.ascii_dumps(answer.body),
        status=answer.status,
        headers=dict(answer.headers),
        content_type="application/json",
    )
