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

"""What an error of a cloud service means, in one place.

Four libraries raise four families of exceptions; :func:`call` turns all of
them into :class:`ServiceError`, whose text is what the service itself said,
and tries again what can be tried again. The questions (:func:`is_not_found`
...) take exceptions of the libraries as well, since plug-ins that use a
library's client directly ask them.

    ServiceError
    |- BadRequest, Unauthorized, Forbidden, NotFound, Conflict, OverLimit
    |- ServiceFault                      the service failed (5xx)
    `- Unreachable                       there was no answer
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import keystoneauth1.exceptions
import requests.exceptions

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import settings

LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: seconds before the first repetition; doubled each time up to the second
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 4.0


class ServiceError(exception.Error):
    """A service refused, failed or did not answer.

    :param service: as plug-ins name it, such as ``nova``
    :param words: what the service said
    :ivar status_code: HTTP status, None when there was no answer
    """

    def __init__(
        self,
        message: object = "",
        service: str = "",
        words: str = "",
        status_code: int | None = None,
        request_id: str | None = None,
    ) -> None:
        self.service, self.words = service, words
        self.status_code, self.request_id = status_code, request_id
        notes = [service, f"HTTP {status_code}" if status_code else ""]
        notes.append(request_id or "")
        if not message:
            noted = ", ".join(note for note in notes if note)
            message = f"{words} ({noted})" if noted else words
        super().__init__(message)


class BadRequest(ServiceError):
    """The service doesn't accept what was sent."""


class Unauthorized(ServiceError):
    """The token is not accepted (any more)."""


class Forbidden(ServiceError):
    """The user may not do that."""


class NotFound(ServiceError):
    """There is no such object, as far as the user can see."""


class Conflict(ServiceError):
    """The object's state, or another object, forbids it."""


class OverLimit(ServiceError):
    """A quota, or a rate, is used up."""


class ServiceFault(ServiceError):
    """The service failed."""


class Unreachable(ServiceError):
    """There was no answer."""


_CLASSES: dict[int, type[ServiceError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}
_NO_ANSWER = (
    requests.exceptions.ConnectionError,
    requests.exceptions.Timeout,
    keystoneauth1.exceptions.ConnectFailure,
    keystoneauth1.exceptions.ConnectTimeout,
    keystoneauth1.exceptions.DiscoveryFailure,
    ConnectionError,
)
#: The token can't be had, or can't be used.
_NO_TOKEN = (
    keystoneauth1.exceptions.AuthorizationFailure,
    keystoneauth1.exceptions.AuthPluginException,
)


def status(ex: BaseException) -> int | None:
    """The HTTP status an error carries, under the names libraries use."""
    for name in ("http_status", "status_code", "code"):
        value = getattr(ex, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def is_not_found(ex: BaseException) -> bool:
    return status(ex) == 404 or isinstance(ex, exception.EntityNotFound)


def is_over_limit(ex: BaseException) -> bool:
    """Whether a quota or rate is used up.

    Services say so in three ways: 413 (the old one), 429, or a 403 or 409
    whose text tells of a quota.
    """
    code = status(ex)
    if code in (403, 409):
        return "quota" in words(ex).lower()
    return code in (413, 429)


def is_conflict(ex: BaseException) -> bool:
    return status(ex) == 409 and not is_over_limit(ex)


def is_unauthorized(ex: BaseException) -> bool:
    return status(ex) == 401


def is_forbidden(ex: BaseException) -> bool:
    return status(ex) == 403 and not is_over_limit(ex)


def is_transient(ex: BaseException) -> bool:
    """Whether the same call may well succeed in a moment."""
    if isinstance(ex, (Unreachable, *_NO_ANSWER)):
        return True
    code = status(ex)
    return code == 429 or (code is not None and code >= 500 and code != 501)


def words(ex: BaseException) -> str:
    """What the service said, without addresses and class names."""
    if isinstance(ex, ServiceError):
        return ex.words
    if described := _described(getattr(ex, "response", None)):
        return described
    for name in ("details", "message"):
        said = getattr(ex, name, None)
        if isinstance(said, str) and said and said != "Error":
            return said.strip()
    return str(ex) or type(ex).__name__


def _described(response: Any) -> str | None:
    """What an answer says beside its title, if it is of that kind.

    Of such an answer libraries tell the title, or that they can't read it.
    """
    try:
        said = response.json()["description"]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return said.strip() if isinstance(said, str) else None


def is_of_a_library(ex: BaseException) -> bool:
    """Whether a client library raised it (else it is a bug of ours)."""
    if isinstance(ex, (*_NO_ANSWER, *_NO_TOKEN)):
        return True
    roots = ("openstack", "novaclient", "glanceclient", "keystoneauth1")
    return any(
        cls.__module__.partition(".")[0] in roots for cls in type(ex).__mro__
    )


def translate(service: str, ex: BaseException) -> ServiceError:
    """The error as one of ours.

    :param service: as plug-ins name it
    """
    if isinstance(ex, ServiceError):
        return ex
    code = status(ex)
    request_id = getattr(ex, "request_id", None)
    if isinstance(ex, _NO_ANSWER):
        return Unreachable(service=service, words=_no_answer(service, ex))
    if code is None and isinstance(ex, _NO_TOKEN):
        return Unauthorized(service=service, words=_no_token(str(ex)))
    kind: type[ServiceError] = ServiceError
    if is_over_limit(ex):
        kind = OverLimit
    elif code is not None:
        kind = _CLASSES.get(code, BadRequest if code < 500 else ServiceFault)
    said = _no_token(words(ex)) if kind is Unauthorized else words(ex)
    return kind(
        service=service, words=said, status_code=code, request_id=request_id
    )


def _no_answer(service: str, ex: BaseException) -> str:
    return _("The service %(name)s doesn't answer: %(error)s") % {
        "name": service,
        "error": ex,
    }


def _no_token(said: str) -> str:
    return _(
        "The credentials of the request aren't accepted: %s. A token may have "
        "expired since: repeat the operation with a new one. Operations "
        "outlive tokens where [trustee] is configured."
    ) % said.rstrip(".")


def call(
    service: str,
    function: Callable[[], T],
    *,
    idempotent: bool,
    retries: int | None = None,
    pause: Callable[[float], Any] = time.sleep,
) -> T:
    """Call a service.

    keystoneauth gets a new token once when one is refused, where it has
    what it needs for that.

    :param idempotent: doing it twice is the same as once, so it is repeated
        when there is no answer or the service fails
    :param retries: most repetitions; None: option ``client_retry_limit``
    :raises ServiceError: for every error of a service
    """
    if retries is None:
        retries = int(settings.option("client_retry_limit", 2))
    done = 0
    while True:
        try:
            return function()
        except Exception as ex:
            if not is_of_a_library(ex) and not isinstance(ex, ServiceError):
                raise
            if not (idempotent and is_transient(ex) and done < retries):
                raise translate(service, ex) from ex
            LOG.info("%s: trying again after: %s", service, words(ex))
        wait = min(LONGEST_PAUSE, FIRST_PAUSE * 2**done)
        pause(wait * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
        done += 1
