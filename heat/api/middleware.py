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

"""WSGI layers around the dispatcher that are ours.

Each does one thing and knows only what is in the WSGI environment; their
order, and why, is in :mod:`heat.api.app`.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib import parse

from werkzeug import wrappers

from heat.api import dispatch, faults, login, views
from heat.api import settings as api_settings
from heat.common import context as heat_context
from heat.policies import enforcement

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

    Application = wsgi_types.WSGIApplication
    Environ = wsgi_types.WSGIEnvironment
    StartResponse = wsgi_types.StartResponse

ENV_REQUEST_ID = "openstack.request_id"

NOAUTH_USER = "noauth"
# Admin too, so that a standalone engine can be asked for its services.
NOAUTH_ROLES = ("admin", "member", "reader")


class Faults:
    """Makes the answer for whatever is raised further inside."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        try:
            return self._application(environ, start_response)
        except Exception as exc:
            fault = faults.of(exc, str(environ.get(ENV_REQUEST_ID, "-")))
            return fault.response()(environ, start_response)


class LoopbackOnly:
    """Refuses every request that did not stay on this machine.

    Stands in for authentication when there is none. It must see the
    connection's own addresses, so it stands outside of anything that
    believes a proxy's headers.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        why = _not_local(environ)
        if why:
            fault = faults.Fault(
                403,
                "Forbidden",
                "With auth_strategy = noauth only requests from and to "
                f"loopback addresses are served: {why}.",
            )
            return fault.response()(environ, start_response)
        return self._application(environ, start_response)


def _not_local(environ: Environ) -> str:
    """Why a request is not local; empty when it is."""
    if not _is_loopback(str(environ.get("REMOTE_ADDR") or "")):
        return "this one came from elsewhere"
    arrived = _server_addresses(environ)
    if not all(map(_is_loopback, arrived)):
        return f"this one arrived at {arrived[0]}"
    if not all(map(_is_loopback, _forwarded_for(environ))):
        return "this one was forwarded from elsewhere"
    origin = environ.get("HTTP_ORIGIN")
    if origin and not _is_local_origin(str(origin)):
        return "this one was sent by a web page from elsewhere"
    return ""


def _is_loopback(address: str) -> bool:
    """Whether an address, with or without a port, is a loopback one."""
    text = address.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        known = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(known, "ipv4_mapped", None)
    return (mapped or known).is_loopback


def _server_addresses(environ: Environ) -> list[str]:
    """Addresses the request arrived at, as far as the server tells them."""
    found = []
    for key in ("werkzeug.socket", "gunicorn.socket"):
        name: Any = getattr(environ.get(key), "getsockname", tuple)()
        if isinstance(name, tuple) and name:
            found.append(str(name[0]))
    for key in ("SERVER_ADDR", "SERVER_NAME"):
        try:
            address = ipaddress.ip_address(str(environ.get(key)))
        except ValueError:
            continue  # not told, or a name: says nothing of the address
        if not address.is_unspecified:
            found.append(str(address))
    return found


def _forwarded_for(environ: Environ) -> list[str]:
    """Where proxies say that the request came from."""
    found = [
        part.strip()
        for key in ("HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP")
        for part in str(environ.get(key, "")).split(",")
    ]
    for element in re.split("[,;]", str(environ.get("HTTP_FORWARDED", ""))):
        name, _equals, value = element.partition("=")
        if name.strip().lower() == "for":
            found.append(value.strip())
    return [address for address in found if address]


def _is_local_origin(origin: str) -> bool:
    try:
        host = parse.urlsplit(origin).hostname or ""
    except ValueError:
        return False
    return host == "localhost" or _is_loopback(host)


class Versions:
    """Answers what needs no caller: which versions there are.

    ``/`` and ``/v1`` list the versions; so does, as a hint, the URL of a
    version that there is not.
    """

    _OTHER = re.compile(r"/v(?!1(?:/|$))[0-9][0-9.]*(?:/|$)")

    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        request = wrappers.Request(environ)
        known = request.path.rstrip("/") in ("", "/v1")
        if not known and not self._OTHER.match(request.path):
            return self._application(environ, start_response)
        return self._answer(request)(environ, start_response)

    @staticmethod
    def _answer(request: wrappers.Request) -> wrappers.Response:
        if request.method == "OPTIONS":
            return faults.empty({"Allow": "GET"})
        if request.method not in ("GET", "HEAD"):
            raise faults.HTTPError(
                405, "Only GET is allowed here", {"Allow": "GET"}
            )
        links = views.Links(request.root_url.rstrip("/"))
        return wrappers.Response(
            json.dumps(views.versions(links)),
            status=300,
            content_type="application/json",
        )


class Context:
    """Leaves the caller's context for the dispatcher.

    With Keystone, auth_token has checked the token and put what it says
    into headers that no client can set, or the layer that takes passwords
    has left what Keystone told it. Without, the project in the URL is
    the caller's.
    """

    def __init__(
        self,
        application: Application,
        settings: api_settings.Settings,
        enforcer: enforcement.Enforcer,
    ) -> None:
        self._application = application
        self._settings = settings
        self._policy = enforcer

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        if self._settings.auth_strategy == "noauth":
            context = _anonymous(environ)
        else:
            known = environ.pop(login.ENV_LOGGED_IN, None)
            context = known or self._authenticated(environ)
        context.is_admin = self._policy.is_admin(context)
        environ[dispatch.ENV_CONTEXT] = context
        return self._application(environ, start_response)

    def _authenticated(self, environ: Environ) -> heat_context.RequestContext:
        # X-Region-Name and X-Auth-Key are the client's own words: a region
        # is a wish, a password is checked by Keystone when it is used.
        return heat_context.RequestContext.from_environ(
            environ,
            username=environ.get("HTTP_X_USER_NAME"),
            password=environ.get("HTTP_X_AUTH_KEY"),
            auth_token_info=environ.get("keystone.token_info"),
            auth_url=self._settings.auth_url,
            region_name=environ.get("HTTP_X_REGION_NAME")
            or self._settings.region,
        )


def _anonymous(environ: Environ) -> heat_context.RequestContext:
    parts = wrappers.Request(environ).path.split("/")
    project = parts[2] if len(parts) > 2 and parts[1] == "v1" else None
    user = environ.get("HTTP_X_AUTH_USER") or NOAUTH_USER
    return heat_context.RequestContext(
        auth_token=environ.get("HTTP_X_AUTH_TOKEN"),
        user_id=NOAUTH_USER,
        user_name=user,
        username=user,
        project_id=project or None,
        project_name=project or None,
        roles=list(NOAUTH_ROLES),
        request_id=environ.get(ENV_REQUEST_ID),
        global_request_id=environ.get("openstack.global_request_id"),
    )
