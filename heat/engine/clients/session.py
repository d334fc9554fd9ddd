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

"""Sessions: a user's token, and how a service's certificate is checked.

=====================  =======================================================
the context has        a session is authenticated
=====================  =======================================================
a trust                by the service user of [trustee], with the trust
a token and its data   by that token; the catalogue is the one in its data
a token                by that token, which is scoped again at Keystone
a user and password    by these
nothing of it          by what the stack has stored for that
not even that          not at all: there are no clients
=====================  =======================================================

A user's token ends after a while, or is revoked; a stack's operation may not
have ended then. What the stack has stored, a trust or a password, takes its
place (:mod:`.lasting`). When [trustee] names a service user with a project,
its own token goes with each request as well, and services accept the user's
expired one for as long as their ``allow_expired`` window says. With neither,
what is left of the operation fails with 401, saying so; the next update goes
on.
"""

from __future__ import annotations

import threading
from typing import Any

import keystoneauth1.access
import keystoneauth1.exceptions
import keystoneauth1.loading
import keystoneauth1.session
from keystoneauth1 import service_token
from keystoneauth1.identity import access as access_auth
from keystoneauth1.identity import generic

from heat.common import exception
from heat.common.context import Deferred
from heat.common.i18n import _
from heat.engine.clients import lasting, settings

TRUSTEE = "trustee"
_AGENT = "heat"
# A service that takes a call and never answers must not hold a thread.
_ANSWER_SECONDS = 60
_OF_A_SCOPE = (
    "project_id",
    "project_name",
    "project_domain_id",
    "project_domain_name",
    "domain_id",
    "domain_name",
)

_trustee_auth: dict[int, Any] = {}
_lock = threading.Lock()


def has_credentials(context: Any) -> bool:
    """Whether a session can be made in the name of a context."""
    if context is None:
        return False
    if getattr(context, "trust_id", None):
        return True
    if getattr(context, "deferred", None):
        return True
    token = getattr(context, "auth_token", None)
    if token and (
        getattr(context, "auth_token_info", None) or keystone_url(context)
    ):
        return True
    return _has_password(context)


def _has_password(context: Any) -> bool:
    return bool(
        getattr(context, "password", None)
        and getattr(context, "username", None)
        and keystone_url(context)
    )


def keystone_url(context: Any) -> str | None:
    """Where Keystone is, for a context; None: nobody knows."""
    own = getattr(context, "auth_url", None)
    found = own or settings.option("auth_uri", None, "clients_keystone")
    return str(found) if found else None


def _is_own_cloud(context: Any) -> bool:
    """Whether the caller's identity service is this service's, too."""
    own = settings.option("auth_uri", None, "clients_keystone")
    theirs = getattr(context, "auth_url", None)
    return not (own and theirs) or _plain(theirs) == _plain(own)


def _plain(url: str) -> str:
    return str(url).rstrip("/").removesuffix("/v3").rstrip("/")


def auth(context: Any) -> Any:
    """The keystoneauth plug-in of a context.

    :raises heat.common.exception.AuthorizationFailure: when the context has
        nothing to authenticate with
    """
    if getattr(context, "trust_id", None):
        return trust(context.trust_id)
    deferred = getattr(context, "deferred", None)
    token = getattr(context, "auth_token", None)
    if token:
        made = _token(context, token)
        if deferred is not None:
            made = lasting.Lasting(made, lambda: _deferred(deferred))
        # What vouches for the user is nothing for the cloud of another.
        return _with_service(made) if _is_own_cloud(context) else made
    if _has_password(context):
        return generic.Password(
            auth_url=keystone_url(context) or "",
            username=context.username,
            password=context.password,
            user_domain_id=context.user_domain_id or "default",
            project_id=context.project_id,
        )
    if deferred is not None:
        return _deferred(deferred)
    raise exception.AuthorizationFailure(
        _(
            "The request brought no credentials for other services (auth_"
            "strategy is noauth, or the operation went on without its user)."
        )
    )


def user(context: Any) -> Any:
    """The keystoneauth plug-in of the user's own token; None: there is none.

    Neither a service token goes with it, nor does anything replace it.
    """
    token = getattr(context, "auth_token", None)
    return _token(context, token) if token else None


def _token(context: Any, token: str) -> Any:
    info = getattr(context, "auth_token_info", None)
    url = keystone_url(context)
    if info:
        ref = keystoneauth1.access.create(body=info, auth_token=token)
        # A catalogue is what an unscoped token, or a trimmed one, lacks.
        if ref.has_service_catalog():
            return access_auth.AccessInfoPlugin(ref, auth_url=url)
    return generic.Token(
        auth_url=url or "",
        token=token,
        project_id=context.project_id,
    )


def _deferred(stored: Deferred) -> Any:
    if stored.trust_id:
        return trust(stored.trust_id)
    return password(
        stored.user_id, stored.password, stored.project_id, stored.auth_url
    )


def password(
    user_id: str | None,
    secret: str | None,
    project_id: str | None,
    auth_url: str | None,
) -> Any:
    """The keystoneauth plug-in of a user who gave a password."""
    return generic.Password(
        auth_url=auth_url or "",
        user_id=user_id,
        password=secret,
        project_id=project_id,
    )


def _with_service(user: Any) -> Any:
    service = _service()
    if service is None:
        return user
    return service_token.ServiceTokenAuthWrapper(
        user_auth=user, service_auth=service
    )


def _load(**kwargs: Any) -> Any:
    conf = settings.conf()
    if conf is None or not settings.option("auth_type", None, TRUSTEE):
        return None
    return keystoneauth1.loading.load_auth_from_conf_options(
        conf, TRUSTEE, **kwargs
    )


def _service() -> Any:
    """The service user, for service tokens; None: it has no project."""
    made = trustee()
    scoped = any(
        getattr(made, f"_{name}", None)
        for name in ("project_id", "project_name")
    )
    return made if scoped else None


def trustee() -> Any:
    """The service user as [trustee] names it; None: it names none."""
    key = id(settings.conf())
    with _lock:
        if key not in _trustee_auth:
            _trustee_auth[key] = _load()
        return _trustee_auth[key]


def trust(trust_id: str) -> Any:
    """The keystoneauth plug-in of the service user acting by a trust.

    :raises heat.common.exception.AuthorizationFailure: [trustee] names
        nobody
    """
    # A trust brings its own project.
    made = _load(trust_id=trust_id, **dict.fromkeys(_OF_A_SCOPE))
    if made is None:
        raise exception.AuthorizationFailure(
            _(
                "A trust can only be used by the user that [trustee] in "
                "heat.conf names, and none is named there."
            )
        )
    return made


def session(authenticated: Any, service: str) -> Any:
    """A session for a service, by the options of its group.

    :param authenticated: what :func:`auth` gave
    :param service: such as ``nova``
    """
    if settings.client_option(service, "insecure", False):
        verify: Any = False
    else:
        verify = settings.client_option(service, "ca_file") or True
    cert: Any = settings.client_option(service, "cert_file")
    key = settings.client_option(service, "key_file")
    if cert and key:
        cert = (cert, key)
    return keystoneauth1.session.Session(
        auth=authenticated,
        verify=verify,
        cert=cert,
        app_name=_AGENT,
        timeout=_ANSWER_SECONDS,
        # What may be repeated is repeated in one place: errors.call.
        connect_retries=0,
    )


def region(context: Any, service_type: str) -> str | None:
    """The region whose services are used for a context."""
    shared = settings.option("shared_services_types", ["image", "volumev3"])
    if service_type in shared:
        common = settings.option("region_name_for_shared_services")
        if common:
            return str(common)
    own = getattr(context, "region_name", None)
    found = own or settings.option("region_name_for_services")
    return str(found) if found else None
