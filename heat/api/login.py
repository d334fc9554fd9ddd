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

"""Logging in by a password: for callers that bring no token.

===============  ==========================================================
``X-Auth-User``  name of the user, in the domain of ``X-User-Domain-Name``
                 (else in the one with the id ``default``)
``X-Auth-Key``   password
``X-Auth-Url``   the identity service; with ``[auth_password] multi_cloud``
                 only, and one of ``allowed_auth_uris`` only
===============  ==========================================================

The project is the one in the path. With ``[paste_deploy] flavor =
standalone`` the identity service is the service's own; with ``multi_cloud``
it is the caller's choice, and stacks are made in the cloud that it belongs
to. Where neither is set, there is no such layer. A token, when there is one,
is what counts.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import keystoneauth1.exceptions
import keystoneauth1.session
from keystoneauth1.identity import v3
from oslo_config import cfg
from werkzeug import wrappers

from heat.api import faults
from heat.common import context as heat_context
from heat.common.i18n import _

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

    Application = wsgi_types.WSGIApplication
    Environ = wsgi_types.WSGIEnvironment
    StartResponse = wsgi_types.StartResponse

#: Where the context of a caller who has logged in is; no header gets there.
ENV_LOGGED_IN = "heat.logged_in"
STANDALONE = "standalone"
_ANSWER_SECONDS = 30


def is_wanted(conf: cfg.ConfigOpts) -> bool:
    """Whether passwords are taken in the place of tokens."""
    return bool(
        conf.auth_password.multi_cloud
        or conf.paste_deploy.flavor == STANDALONE
    )


class PasswordLogin:
    """Logs in who brings a name and a password, but no token.

    :param others: the layer for all other requests, which checks tokens
    :param known: the layer for those who have logged in
    :param conf: loaded configuration
    """

    def __init__(
        self, others: Application, known: Application, conf: cfg.ConfigOpts
    ) -> None:
        self._others, self._known = others, known
        self._own_url = conf.clients_keystone.auth_uri
        self._multi_cloud = bool(conf.auth_password.multi_cloud)
        self._allowed = {
            _plain(each) for each in conf.auth_password.allowed_auth_uris
        }
        self._verify = _verify(conf)
        self._region = conf.region_name_for_services

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        name = str(environ.get("HTTP_X_AUTH_USER") or "")
        secret = str(environ.get("HTTP_X_AUTH_KEY") or "")
        if environ.get("HTTP_X_AUTH_TOKEN") or not (name and secret):
            return self._others(environ, start_response)
        url = self._url(environ)
        domain = environ.get("HTTP_X_USER_DOMAIN_NAME")
        auth = v3.Password(
            auth_url=url,
            username=name,
            password=secret,
            project_id=_project(environ),
            user_domain_id=None if domain else "default",
            user_domain_name=str(domain) if domain else None,
        )
        environ[ENV_LOGGED_IN] = self._context(environ, url, auth)
        return self._known(environ, start_response)

    def _url(self, environ: Environ) -> str:
        """The identity service to log in at, as ``.../v3``.

        :raises heat.api.faults.HTTPError: it is none of those allowed
        """
        url = str(self._own_url or "")
        if self._multi_cloud:
            url = str(environ.get("HTTP_X_AUTH_URL") or "")
            if _plain(url) not in self._allowed:
                raise _refused(
                    _(
                        "X-Auth-Url must name one of the identity services "
                        "that the operator allows."
                    )
                )
        return f"{_plain(url)}/v3"

    def _context(
        self, environ: Environ, url: str, auth: Any
    ) -> heat_context.RequestContext:
        session = keystoneauth1.session.Session(
            auth=auth, verify=self._verify, timeout=_ANSWER_SECONDS
        )
        try:
            access = auth.get_access(session)
        except keystoneauth1.exceptions.HttpError as error:
            if error.http_status < 500:
                raise _refused(
                    _(
                        "The identity service doesn't let this user into "
                        "this project with this password."
                    )
                ) from error
            raise _away(error) from error
        except keystoneauth1.exceptions.ClientException as error:
            raise _away(error) from error
        known = json.loads(auth.get_auth_state())
        own = _plain(url) == _plain(str(self._own_url or ""))
        region = environ.get("HTTP_X_REGION_NAME")
        return heat_context.RequestContext(
            auth_token=access.auth_token,
            auth_token_info=known["body"],
            auth_url=url,
            user_id=access.user_id,
            user_name=access.username,
            username=access.username,
            password=environ.get("HTTP_X_AUTH_KEY"),
            user_domain_id=access.user_domain_id,
            project_id=access.project_id,
            project_name=access.project_name,
            project_domain_id=access.project_domain_id,
            roles=list(access.role_names),
            is_admin_project=_is_of_administrators(known["body"]),
            region_name=region or (self._region if own else None),
            request_id=environ.get("openstack.request_id"),
            global_request_id=environ.get("openstack.global_request_id"),
        )


def _plain(url: str) -> str:
    """An identity service's URL without version and trailing slash."""
    return url.strip().rstrip("/").removesuffix("/v3").rstrip("/")


def _verify(conf: cfg.ConfigOpts) -> bool | str:
    """How the identity service's certificate is checked."""
    own, common = conf.clients_keystone, conf.clients
    insecure = common.insecure if own.insecure is None else own.insecure
    return False if insecure else own.ca_file or common.ca_file or True


def _project(environ: Environ) -> str | None:
    parts = wrappers.Request(environ).path.split("/")
    found = parts[2] if len(parts) > 2 and parts[1] == "v1" else None
    return urllib.parse.unquote(found) if found else None


def _is_of_administrators(body: Mapping[str, Any]) -> bool:
    """As the layer that checks tokens takes it: where the identity service
    has no project for administrators, every project is one."""
    return bool(body["token"].get("is_admin_project", True))


def _refused(why: str) -> faults.HTTPError:
    return faults.HTTPError(401, why)


def _away(error: Exception) -> faults.HTTPError:
    return faults.HTTPError(
        503, _("The identity service doesn't answer: %s") % error
    )
