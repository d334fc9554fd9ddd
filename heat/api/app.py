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

"""The ReST API as one WSGI application, for any server.

The layers, outermost first, and why each stands where it stands:

``RequestId``
    Everything inside may quote the id; every answer carries it.
``Faults``
    The last resort: whatever is raised inside becomes a fault body.
``LoopbackOnly`` (only without Keystone)
    Looks at the connection itself, so it stands before anything that
    believes a proxy's headers.
``HTTPProxyToWSGI`` (only where a proxy's headers are believed)
    From here on host and scheme are those that the user typed.
``CORS`` (only when origins are configured)
    Answers preflight requests, which carry no token. The faults of what is
    inside pass through a second ``Faults``, so that a page may read them.
``Versions``
    Discovery works without a token.
``PasswordLogin`` (only where passwords are taken)
    Passes ``AuthProtocol`` by: Keystone itself has told who the caller is.
``AuthProtocol`` (only with Keystone)
    Checks the token before a byte of the body is read.
``Context``
    Needs what the token says.
``Dispatcher``
    Routes, rules, schemas, handlers. It limits a body's size when it reads
    it, so that a request refused earlier costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oslo_config import cfg
from oslo_middleware import cors, http_proxy_to_wsgi, request_id

from heat.api import dispatch, login, middleware
from heat.api import settings as api_settings
from heat.policies import enforcement
from heat.rpc import clients

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

_HEADERS = ("X-Auth-Token", "X-OpenStack-Request-ID")


def make_app(
    conf: cfg.ConfigOpts, engine_client: clients.EngineClient
) -> wsgi_types.WSGIApplication:
    """Compose the application.

    :param conf: loaded configuration, see :mod:`heat.common.config`
    :param engine_client: what handlers call
    """
    settings = api_settings.Settings.read(conf)
    enforcer = enforcement.Enforcer(conf)
    app: Any = dispatch.Dispatcher(engine_client, settings, enforcer)
    app = middleware.Context(app, settings, enforcer)
    if settings.auth_strategy != "noauth":
        app = _keystone(conf, app)
    app = middleware.Versions(app)
    app = _cors(conf, app)
    app = _proxy(conf, app)
    if settings.auth_strategy == "noauth":
        app = middleware.LoopbackOnly(app)
    app = middleware.Faults(app)
    made: wsgi_types.WSGIApplication = request_id.RequestId(app, conf)
    return made


def _keystone(conf: cfg.ConfigOpts, app: Any) -> Any:
    # Imported here: it costs a standalone server half of its start-up.
    from keystonemiddleware import auth_token

    checked = auth_token.AuthProtocol(app, {"oslo_config_config": conf})
    if login.is_wanted(conf):
        return login.PasswordLogin(checked, app, conf)
    return checked


def _proxy(conf: cfg.ConfigOpts, app: Any) -> Any:
    layer = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    # Switched off it changes nothing, and takes a tenth of the time of a
    # small request.
    believed = conf.oslo_middleware.enable_proxy_headers_parsing
    return layer if believed else app


def _cors(conf: cfg.ConfigOpts, app: Any) -> Any:
    cors.set_defaults(
        allow_headers=[*_HEADERS, "X-Auth-Key", "X-Auth-User"],
        expose_headers=list(_HEADERS),
        allow_methods=["GET", "PUT", "POST", "DELETE", "PATCH"],
    )
    layer = cors.CORS(middleware.Faults(app), conf)
    return layer if layer.allowed_origins else app
