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

"""Who has signed a request: Keystone knows the keys, so it is asked.

A request is signed in its query (version 2, as in URLs that the engine
gives to servers) or in its headers (version 4, as clients of AWS do now).
Keystone gets what was signed and answers with a token of the keys' user.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import keystoneauth1.exceptions
import keystoneauth1.loading
import keystoneauth1.session
from keystoneauth1 import plugin as ks_plugin
from oslo_config import cfg
from werkzeug import wrappers

from heat.api import settings as api_settings
from heat.api.cfn import faults
from heat.common import context as heat_context
from heat.common import ec2

LOG = logging.getLogger(__name__)

_GROUP: Final = "keystone_authtoken"
_HEADER: Final = re.compile(
    r"AWS4-HMAC-SHA256 .*?Credential=(?P<access>[^/,\s]+)/.*"
    r"Signature=(?P<signature>[0-9a-f]+)",
    re.DOTALL,
)
# Keystone reads these as well as those that were signed.
_SECONDS: Final = 30


@dataclasses.dataclass(frozen=True, slots=True)
class Signed:
    """A request with all that its signature is about.

    :ivar query: everything but the signature; with version 2 also the
        fields of a form
    """

    access: str
    signature: str
    verb: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body_hash: str

    def credentials(self) -> dict[str, Any]:
        """What Keystone is asked with."""
        return {
            "access": self.access,
            "signature": self.signature,
            "verb": self.verb,
            "host": self.host,
            "path": self.path,
            "params": dict(self.query),
            "headers": dict(self.headers),
            "body_hash": self.body_hash,
        }


def read(
    request: wrappers.Request, form: Mapping[str, str], body: bytes
) -> Signed:
    """The signature of a request.

    :param form: the query, and the fields of a form if there was one
    :raises CfnError: there is none
    """
    query = dict(form)
    signature = query.pop(ec2.SIGNATURE, None)
    access = query.get(ec2.ACCESS_KEY)
    header = request.headers.get("Authorization", "")
    found = _HEADER.fullmatch(header.strip()) if header else None
    if found is not None:
        access, signature = found["access"], found["signature"]
    if not access or not signature:
        raise faults.denied("The request is not signed.")
    root = request.environ.get("SCRIPT_NAME", "")
    return Signed(
        access,
        signature,
        request.method,
        request.headers.get("Host", ""),
        f"{root}{request.path}",
        query,
        dict(request.headers),
        hashlib.sha256(body).hexdigest(),
    )


class Keystone:
    """Asks Keystone who has signed a request, as the service's own user.

    :param conf: loaded configuration, with [keystone_authtoken]
    :param settings: what contexts are told of the cloud
    """

    def __init__(
        self, conf: cfg.ConfigOpts, settings: api_settings.Settings
    ) -> None:
        self._settings = settings
        keystoneauth1.loading.register_auth_conf_options(conf, _GROUP)
        keystoneauth1.loading.register_session_conf_options(conf, _GROUP)
        auth = keystoneauth1.loading.load_auth_from_conf_options(conf, _GROUP)
        self._session: keystoneauth1.session.Session = (
            keystoneauth1.loading.load_session_from_conf_options(
                conf, _GROUP, auth=auth, timeout=_SECONDS
            )
        )

    def __call__(self, signed: Signed) -> heat_context.RequestContext:
        """The context of whoever has signed.

        :raises CfnError: nobody has, or Keystone does not answer
        """
        try:
            answer = self._session.post(
                "/ec2tokens",
                json={"credentials": signed.credentials()},
                endpoint_filter={
                    "interface": ks_plugin.AUTH_INTERFACE,
                    "version": (3,),
                },
            )
        except keystoneauth1.exceptions.HttpError as error:
            if error.http_status >= 500:
                raise self._no_answer(error) from error
            LOG.debug("signature of %s: %s", signed.access, error)
            raise faults.denied(
                "The signature is wrong, or its keys are not good any more."
            ) from error
        except keystoneauth1.exceptions.ClientException as error:
            raise self._no_answer(error) from error
        return self._context(
            answer.headers.get("X-Subject-Token", ""), answer.json()
        )

    @staticmethod
    def _no_answer(error: Exception) -> faults.CfnError:
        LOG.error("The identity service can't check a signature: %s", error)
        return faults.CfnError(
            "ServiceUnavailable", "The identity service does not answer.", 503
        )

    def _context(
        self, token: str, info: dict[str, Any]
    ) -> heat_context.RequestContext:
        told = info["token"]
        project, user = told.get("project") or {}, told["user"]
        return heat_context.RequestContext(
            auth_token=token,
            user_id=user["id"],
            user_name=user["name"],
            username=user["name"],
            user_domain_id=user["domain"]["id"],
            project_id=project.get("id"),
            project_name=project.get("name"),
            roles=[role["name"] for role in told.get("roles") or ()],
            auth_token_info=info,
            auth_url=self._settings.auth_url,
            region_name=self._settings.region,
            overwrite=False,
        )


Checker = Callable[[Signed], heat_context.RequestContext]
