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

"""The domain of the users that the engine makes for resources.

Such a user, with a project of its own, does what is done from inside a
server: it signals a resource and reads metadata, and nothing else. They live
in a domain of their own, apart from the users of the cloud, and are made by
that domain's administrator, whom options name:

* ``stack_user_domain_id``, or ``stack_user_domain_name``
* ``stack_domain_admin`` and ``stack_domain_admin_password``
* ``heat_stack_user_role``: the only role such a user has

Everything here may be done twice: names of projects and users are made of
ids of ours, and what is there already is taken over. So an engine that was
stopped in the middle leaves nothing that nobody knows of.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
import uuid
from collections.abc import Mapping
from typing import Any
from urllib import parse

from keystoneauth1 import adapter
from keystoneauth1.identity import v3

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors, settings
from heat.engine.clients import session as sessions

SERVICE = "keystone"
_PASSWORD_BYTES = 24

_lock = threading.Lock()
_made: dict[int, tuple[Any, StackDomain]] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Keypair:
    """Keys with which a user signs requests.

    :ivar id: of the credential at Keystone
    """

    id: str
    access: str
    secret: str


def is_configured() -> bool:
    """Whether options name a domain and its administrator."""
    return bool(
        settings.option("auth_strategy", "keystone") != "noauth"
        and auth_url()
        and settings.option("stack_domain_admin")
        and settings.option("stack_domain_admin_password")
        and any(_domain())
    )


def auth_url() -> str | None:
    """The URL of the identity service, None when no option names it."""
    for group in ("clients_keystone", sessions.TRUSTEE):
        name = "auth_uri" if group == "clients_keystone" else "auth_url"
        found = settings.option(name, None, group)
        if found:
            return str(found)
    return None


def get() -> StackDomain:
    """The domain that the options name; one object for a process.

    :raises heat.common.exception.AuthorizationFailure: they name none
    """
    conf = settings.conf()
    if not is_configured():
        raise exception.AuthorizationFailure(
            _(
                "There is no domain for users of stacks: heat.conf has to "
                "name it with stack_user_domain_id or stack_user_domain_name, "
                "its administrator with stack_domain_admin and "
                "stack_domain_admin_password, and the identity service with "
                "auth_uri of [clients_keystone]."
            )
        )
    with _lock:
        known = _made.get(id(conf))
        # An id is given to another object when the first is gone.
        if known is None or known[0] is not conf:
            known = _made[id(conf)] = (conf, StackDomain())
        return known[1]


def _domain() -> tuple[str | None, str | None]:
    """Id and name of the domain; the name counts when there is no id."""
    ident = settings.option("stack_user_domain_id")
    name = settings.option("stack_user_domain_name")
    return ident or None, None if ident else name or None


def _identity_url() -> str:
    url = (auth_url() or "").rstrip("/")
    return url if url.endswith("/v3") else f"{url}/v3"


class StackDomain:
    """The domain, through its administrator's eyes. Thread-safe.

    Every method asks Keystone, and raises
    :class:`heat.engine.clients.errors.ServiceError` when it refuses.
    """

    def __init__(self) -> None:
        ident, name = _domain()
        self._auth = v3.Password(
            _identity_url(),
            username=str(settings.option("stack_domain_admin")),
            password=str(settings.option("stack_domain_admin_password")),
            user_domain_id=ident,
            user_domain_name=name,
            domain_id=ident,
            domain_name=name,
        )
        self.session = sessions.session(self._auth, SERVICE)
        self._adapter = adapter.Adapter(
            self.session, endpoint_override=_identity_url()
        )
        self._role: str | None = None
        self._endpoints: dict[str, str | None] = {}

    def endpoint(self, service_type: str, service: str) -> str | None:
        """The address of a service, as those inside of servers see it.

        :param service: as in the options [clients_<service>]
        """
        if service_type not in self._endpoints:
            interface = settings.client_option(
                service, "endpoint_type", "public"
            )
            self._endpoints[service_type] = self._do(
                lambda: self.session.get_endpoint(
                    service_type=service_type,
                    interface=str(interface).removesuffix("URL"),
                    region_name=settings.option("region_name_for_services"),
                )
            )
        return self._endpoints[service_type]

    # -- projects ------------------------------------------------------------

    def domain_id(self) -> str:
        """The id of the domain."""
        found = self._do(lambda: self._auth.get_access(self.session).domain_id)
        return str(found)

    def create_stack_domain_project(self, stack_id: str) -> str:
        """The id of the project of a stack; made at the first call."""
        name = f"heat-stack-{stack_id}"
        made = self._make(
            "project",
            {
                "name": name,
                "domain_id": self.domain_id(),
                "description": f"Users of the stack {stack_id}",
            },
        )
        return str(made["id"])

    def delete_stack_domain_project(self, project_id: str) -> None:
        """Delete a project with its users; one that is gone is no error."""
        users = {
            each["user"]["id"]
            for each in self._list(
                "role_assignments", **{"scope.project.id": project_id}
            )
            if "user" in each
        }
        for user_id in sorted(users):
            self.delete_stack_domain_user(user_id)
        self._delete(f"/projects/{project_id}")

    # -- users ---------------------------------------------------------------

    def create_stack_domain_user(
        self, username: str, project_id: str, password: str | None = None
    ) -> str:
        """The id of the user of that name, who may work in a project.

        :param username: nobody else's in the domain
        :param password: None: one that nobody knows
        """
        password = password or secrets.token_urlsafe(_PASSWORD_BYTES)
        made = self._make(
            "user",
            {
                "name": username,
                "domain_id": self.domain_id(),
                "default_project_id": project_id,
                "password": password,
                "enabled": True,
            },
        )
        if made.pop("found", None):
            # Left by an engine that was stopped: its password went with it.
            self._patch_user(made["id"], password=password, enabled=True)
        path = f"/projects/{project_id}/users/{made['id']}"
        self._do(lambda: self._adapter.put(f"{path}/roles/{self._role_id()}"))
        return str(made["id"])

    def delete_stack_domain_user(self, user_id: str) -> None:
        """Delete a user, and its keys; one that is gone is no error."""
        self._delete(f"/users/{user_id}")

    def enable_stack_domain_user(self, user_id: str) -> None:
        """Let a user in again."""
        self._patch_user(user_id, enabled=True)

    def disable_stack_domain_user(self, user_id: str) -> None:
        """Keep a user out: neither password nor keys are accepted."""
        self._patch_user(user_id, enabled=False)

    def stack_domain_user_token(
        self, user_id: str, project_id: str, password: str
    ) -> str:
        """A token of a user; it ends when Keystone says so."""
        made = self.user_session(user_id, project_id, password)
        return str(self._do(made.get_token))

    def user_session(
        self,
        user_id: str,
        project_id: str,
        password: str,
        service: str = SERVICE,
    ) -> Any:
        """A session in which a user speaks to a service."""
        auth = v3.Password(
            _identity_url(),
            user_id=user_id,
            password=password,
            project_id=project_id,
        )
        return sessions.session(auth, service)

    # -- keys ----------------------------------------------------------------

    def create_stack_domain_user_keypair(
        self, user_id: str, project_id: str
    ) -> Keypair:
        """Keys with which a user signs requests."""
        keys = {"access": uuid.uuid4().hex, "secret": uuid.uuid4().hex}
        body = {
            "type": "ec2",
            "blob": json.dumps(keys),
            "user_id": user_id,
            "project_id": project_id,
        }
        answer = self._do(
            lambda: self._adapter.post(
                "/credentials", json={"credential": body}, log=False
            )
        )
        return Keypair(id=str(answer.json()["credential"]["id"]), **keys)

    def delete_stack_domain_user_keypair(self, credential_id: str) -> None:
        """Take keys away; some that are gone are no error."""
        self._delete(f"/credentials/{credential_id}")

    # -- requests: what holds a secret is not logged -------------------------

    def _do(self, function: Any) -> Any:
        return errors.call(SERVICE, function, idempotent=True)

    def _role_id(self) -> str:
        """The id of the role that such users have.

        :raises heat.common.exception.EntityNotFound: there is none
        """
        if self._role is None:
            name = str(settings.option("heat_stack_user_role"))
            found = self._list("roles", name=name)
            if not found:
                raise exception.EntityNotFound(
                    entity="Role of heat_stack_user_role", name=name
                )
            self._role = str(found[0]["id"])
        return self._role

    def _make(self, key: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make an object, or take over the one of its name.

        :returns: the object, with ``found`` when it was there
        """
        try:
            answer = self._do(
                lambda: self._adapter.post(
                    f"/{key}s", json={key: body}, log=False
                )
            )
        except errors.Conflict:
            found = self._list(
                f"{key}s", name=body["name"], domain_id=body["domain_id"]
            )
            if not found:
                raise
            return {**found[0], "found": True}
        return dict(answer.json()[key])

    def _list(self, plural: str, **filters: str) -> list[dict[str, Any]]:
        path = f"/{plural}?{parse.urlencode(filters)}"
        answer = self._do(lambda: self._adapter.get(path))
        return list(answer.json()[plural])

    def _patch_user(self, user_id: str, **values: Any) -> None:
        self._do(
            lambda: self._adapter.patch(
                f"/users/{user_id}", json={"user": values}, log=False
            )
        )

    def _delete(self, path: str) -> None:
        try:
            self._do(lambda: self._adapter.delete(path))
        except errors.NotFound:
            return
