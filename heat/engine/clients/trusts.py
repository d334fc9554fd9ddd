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

"""Trusts: what lets the service user act for a user who has gone.

Keystone gives a trust no name. So that one can be found again whose making
was not recorded (its answer got lost, or this process ended), each is given
an end of its own, centuries away, which is recorded before it is made.
"""

from __future__ import annotations

import dataclasses
import datetime
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from heat.common import exception
from heat.engine.clients import errors, session, settings

_SERVICE = "keystone"
_PATH = "/OS-TRUST/trusts"
_IDENTITY = {"service_type": "identity", "min_version": "3.0"}
# Keystone keeps whole seconds only: there are 2 * 10**10 of them here.
_FIRST_END = datetime.datetime(2200, 1, 1)
_END_SECONDS = 700 * 365 * 86400


@dataclasses.dataclass(frozen=True)
class Trustor:
    """Who delegates what.

    :ivar roles: ids by name, of the token
    """

    user_id: str
    project_id: str
    roles: Mapping[str, str]


def new_mark() -> str:
    """The end of a new trust, as Keystone writes times."""
    seconds = secrets.randbelow(_END_SECONDS)
    end = _FIRST_END + datetime.timedelta(seconds=seconds)
    return end.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def delegated(held: Mapping[str, str], wanted: Collection[str]) -> list[str]:
    """Ids of the roles to delegate. Pure.

    :param held: ids of the user's roles by name
    :param wanted: the option ``trusts_delegated_roles``; empty: all
    :raises MissingCredentialError: the user lacks one that is wanted
    """
    missing = [name for name in wanted if name not in held]
    if missing:
        raise exception.MissingCredentialError(
            required=f"roles {', '.join(sorted(missing))}"
        )
    return sorted(held[name] for name in wanted or held)


def trustor_of(user: Any) -> Trustor:
    """Who a session's user is.

    :param user: a keystoneauth session
    :raises heat.engine.clients.errors.ServiceError: the token isn't accepted
    """
    access = errors.call(_SERVICE, lambda: _access(user), idempotent=True)
    return Trustor(
        access.user_id,
        access.project_id,
        dict(zip(access.role_names, access.role_ids, strict=True)),
    )


def _access(user: Any) -> Any:
    return user.auth.get_access(user)


def create(
    user: Any,
    trustor: Trustor,
    role_ids: Sequence[str],
    mark: str,
    *,
    redelegate: bool,
) -> str:
    """Make a trust from a user to the service user; its id.

    :param user: the user's session
    :param mark: of :func:`new_mark`
    :raises AuthorizationFailure: [trustee] names nobody
    :raises heat.engine.clients.errors.ServiceError: Keystone refuses it
    """
    wanted: dict[str, Any] = {
        "trustor_user_id": trustor.user_id,
        "trustee_user_id": _trustee_id(),
        "project_id": trustor.project_id,
        "impersonation": True,
        "allow_redelegation": redelegate,
        "expires_at": mark,
        "roles": [{"id": each} for each in role_ids],
    }
    made = _ask(user, "POST", _PATH, json={"trust": wanted})
    return str(made["trust"]["id"])


def find(mark: str) -> str | None:
    """The id of the trust with this mark, None when there is none.

    :raises AuthorizationFailure, heat.engine.clients.errors.ServiceError:
        Keystone does not say
    """
    trustee = _trustee_session()
    path = f"{_PATH}?trustee_user_id={_trustee_id()}"
    for each in _ask(trustee, "GET", path)["trusts"]:
        if each["expires_at"] == mark:
            return str(each["id"])
    return None


def delete(trust_id: str) -> None:
    """Delete a trust, acting by that very trust; one that is gone is fine.

    :raises AuthorizationFailure, heat.engine.clients.errors.ServiceError:
        it is not deleted
    """
    acting = session.session(session.trust(trust_id), _SERVICE)
    try:
        _ask(acting, "DELETE", f"{_PATH}/{trust_id}")
    except errors.NotFound:
        return
    except (errors.Unauthorized, errors.Forbidden):
        # So Keystone answers who asks for a token by a trust that is gone,
        # or whose user is.
        if _is_there(trust_id):
            raise


def works(trust_id: str) -> bool:
    """Whether a token can be had by a trust.

    :raises heat.engine.clients.errors.ServiceError: Keystone does not say
    """
    acting = session.session(session.trust(trust_id), _SERVICE)
    try:
        errors.call(_SERVICE, acting.get_token, idempotent=True)
    except (errors.NotFound, errors.Unauthorized, errors.Forbidden):
        return False
    return True


def _is_there(trust_id: str) -> bool:
    try:
        _ask(_trustee_session(), "GET", f"{_PATH}/{trust_id}")
    except errors.NotFound:
        return False
    return True


def _trustee_session() -> Any:
    found = session.trustee()
    if found is None:
        raise exception.AuthorizationFailure(
            "[trustee] in heat.conf names no user"
        )
    return session.session(found, _SERVICE)


def _trustee_id() -> str:
    trustee = _trustee_session()
    return str(errors.call(_SERVICE, trustee.get_user_id, idempotent=True))


def _ask(asking: Any, method: str, path: str, **more: Any) -> Any:
    """The body of the answer of Keystone, None when it has none."""
    answer = errors.call(
        _SERVICE,
        lambda: asking.request(
            path,
            method,
            endpoint_filter={**_IDENTITY, "interface": _interface()},
            **more,
        ),
        idempotent=method != "POST",
    )
    return answer.json() if answer.content else None


def _interface() -> str:
    return str(
        settings.client_option(_SERVICE, "endpoint_type", "public")
    ).removesuffix("URL")
