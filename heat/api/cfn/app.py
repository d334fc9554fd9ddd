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

"""The CloudFormation API as one WSGI application, for any server.

The layers are those of :mod:`heat.api.app`, but for who asks: a signature in
the request takes the place of a token. Three kinds of requests are served::

    PUT, POST /v1/waitcondition/ARN    a signal, in JSON
    POST, PUT /v1/signal/ARN           a signal, in JSON
    GET, POST / or /v1/                an action, in the query or a form
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi, request_id
from werkzeug import wrappers

from heat.api import request as api_request
from heat.api import settings as api_settings
from heat.api import validation
from heat.api.cfn import actions, answers, ec2, faults
from heat.api.cfn.request import Query
from heat.common import context as heat_context
from heat.common import identifier
from heat.policies import enforcement
from heat.rpc import clients

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

_SIGNALS: Final = ("/v1/waitcondition/", "/v1/signal/")
_SIGNAL_METHODS: Final = ("PUT", "POST")
_RESOURCE: Final = "/resources/"
_FORM: Final = "application/x-www-form-urlencoded"


def make_app(
    conf: cfg.ConfigOpts,
    engine_client: clients.EngineClient,
    checker: ec2.Checker | None = None,
) -> wsgi_types.WSGIApplication:
    """Compose the application.

    :param conf: loaded configuration, see :mod:`heat.common.config`
    :param engine_client: what is called
    :param checker: tells who has signed a request; None: Keystone does
    """
    settings = api_settings.Settings.read(conf)
    app: Any = Requests(
        engine_client,
        settings,
        enforcement.Enforcer(conf),
        checker or ec2.Keystone(conf, settings),
    )
    app = faults.CfnFaults(app)
    app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    made: wsgi_types.WSGIApplication = request_id.RequestId(app, conf)
    return made


class Requests:
    """The application inside all middleware.

    :param checker: tells who has signed a request
    """

    def __init__(
        self,
        engine: clients.EngineClient,
        settings: api_settings.Settings,
        enforcer: enforcement.Enforcer,
        checker: ec2.Checker,
    ) -> None:
        self._engine = api_request.guard(engine)
        self._settings = settings
        self._policy = enforcer
        self._checker = checker

    def __call__(
        self,
        environ: wsgi_types.WSGIEnvironment,
        start_response: wsgi_types.StartResponse,
    ) -> Iterable[bytes]:
        request = wrappers.Request(environ)
        body = self._body(request)
        for prefix in _SIGNALS:
            if request.path.startswith(prefix):
                arn = request.path.removeprefix(prefix)
                response = self._signal(request, arn, body)
                break
        else:
            response = self._action(request, body)
        return response(environ, start_response)

    def _body(self, request: wrappers.Request) -> bytes:
        """The body as it came.

        :raises RequestLimitExceeded: it is longer than the limit
        :raises CfnError: the connection broke
        """
        raw = validation.read_body(request.environ, self._settings.max_body)
        if raw is None:
            raise faults.CfnError(
                "IncompleteBody",
                "The connection broke before the whole body had arrived.",
            )
        return raw

    def _caller(
        self,
        request: wrappers.Request,
        given: dict[str, str],
        body: bytes,
        rule: str,
    ) -> heat_context.RequestContext:
        """Who has signed the request, and may do what it asks for.

        :raises CfnError, Forbidden: nobody
        """
        context = self._checker(ec2.read(request, given, body))
        context.request_id = request.environ.get(
            faults.ENV_REQUEST_ID, context.request_id
        )
        context.is_admin = self._policy.is_admin(context)
        self._policy.require(context, rule, context.project_id or "")
        return context

    # -- signals -------------------------------------------------------------

    def _signal(
        self, request: wrappers.Request, arn: str, body: bytes
    ) -> wrappers.Response:
        """Pass a signal on to the resource that the URL names."""
        if request.method not in _SIGNAL_METHODS:
            raise faults.CfnError(
                "InvalidAction",
                f"A signal is sent with {' or '.join(_SIGNAL_METHODS)}.",
                405,
            )
        given = dict(request.args.items())
        context = self._caller(request, given, body, "resource:signal")
        identity, name = _resource(arn)
        self._engine.resource_signal(
            context,
            dict(identity.stack()),
            name,
            details=validation.parse_json(body),
        )
        return self._success(request, "SignalResource", {})

    # -- actions -------------------------------------------------------------

    def _action(
        self, request: wrappers.Request, body: bytes
    ) -> wrappers.Response:
        """Do what the parameter ``Action`` names."""
        if request.path.rstrip("/") not in ("", "/v1"):
            raise faults.CfnError(
                "InvalidAction", "There is nothing at this address.", 404
            )
        given = _parameters(request, body)
        action = given.get("Action")
        if not action:
            raise faults.missing("Action")
        known = actions.ACTIONS.get(action)
        if known is None:
            raise faults.CfnError(
                "InvalidAction",
                "There is no such action; there are "
                f"{', '.join(sorted(actions.ACTIONS))}.",
            )
        rule, handler = known
        context = self._caller(request, given, body, rule)
        query = Query(context, self._engine, self._settings, given)
        return self._success(request, action, handler(query), given)

    @staticmethod
    def _success(
        request: wrappers.Request,
        action: str,
        result: Any,
        given: dict[str, str] | None = None,
    ) -> wrappers.Response:
        as_json = answers.wants_json(request.environ) or (
            (given or {}).get("ContentType") == "JSON"
        )
        told = str(request.environ.get(faults.ENV_REQUEST_ID, "-"))
        return answers.success(action, result, told, as_json=as_json)


def _parameters(request: wrappers.Request, body: bytes) -> dict[str, str]:
    """The query, and the fields of a form."""
    given = dict(request.args.items())
    if request.method == "POST" and request.mimetype == _FORM:
        form = wrappers.Request(
            {"QUERY_STRING": body.decode("latin-1")},
        )
        given.update(form.args.items())
    elif request.method not in ("GET", "HEAD", "POST"):
        raise faults.CfnError(
            "InvalidAction", "An action is asked for with GET or POST.", 405
        )
    return given


def _resource(arn: str) -> tuple[identifier.HeatIdentifier, str]:
    """The resource that an ARN names.

    :raises CfnError: it names none
    """
    try:
        found = identifier.HeatIdentifier.from_arn(arn)
    except ValueError as error:
        raise faults.CfnError("InvalidParameterValue", str(error)) from error
    name = found.path.removeprefix(_RESOURCE)
    if not found.path.startswith(_RESOURCE) or not name or "/" in name:
        raise faults.CfnError(
            "InvalidParameterValue", "The URL names no resource of a stack."
        )
    return found, name
