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

"""From an error to the answer a client gets: the only place that knows both.

The table below is contract: it goes by the *name* of a class, because errors
of the engine arrive over RPC under a name (with ``_Remote`` appended). The
base classes of the name count too.

Nothing unexpected is shown to a client: it gets a sentence and the id of its
request, the log gets the traceback beside the same id.
"""

from __future__ import annotations

import builtins
import dataclasses
import http
import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from werkzeug import wrappers

from heat.common import exception
from heat.common.i18n import _

LOG = logging.getLogger(__name__)

_BY_STATUS: Mapping[int, str] = {
    400: "ValueError NotSupported Invalid StackValidationFailed "
    "InvalidSchemaError InvalidTemplateReference InvalidTemplateVersion "
    "InvalidTemplateSection UnknownUserParameter UserParameterMissing "
    "ImmutableParameterModified MissingCredentialError RequestLimitExceeded "
    "DownloadLimitExceeded ResourcePropertyConflict PropertyUnspecifiedError "
    "ResourceActionNotSupported ResourceTypeUnavailable "
    "PhysicalResourceNameAmbiguity PhysicalResourceIDAmbiguity "
    "InvalidBreakPointHook CircularDependencyException "
    "InvalidMergeStrategyForParam ConflictingMergeStrategyForParam",
    403: "Forbidden InvalidTenant",
    404: "EntityNotFound NotFound ResourceNotAvailable",
    409: "StackExists ActionInProgress StackLocked StackNotLocked "
    "StackNotLockable",
    # Ours: a part of the interface that this API or the engine it talks to
    # does not have. The last three are how oslo.messaging says so.
    501: "NotImplementedYet NoSuchMethod UnsupportedVersion "
    "RPCVersionCapError",
}

# Name of an error class -> HTTP status.
STATUS_OF: Mapping[str, int] = {
    name: status
    for status, names in _BY_STATUS.items()
    for name in names.split()
}

# What the status means, in the words that clients have always read.
EXPLANATIONS: Mapping[int, str] = {
    400: "The server could not comply with the request since it is either "
    "malformed or otherwise incorrect.",
    401: "This server could not verify that you are authorized to access "
    "the document you requested.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    405: "The method is not allowed for this resource.",
    409: "There was a conflict when trying to complete your request.",
    500: "The server has either erred or is incapable of performing the "
    "requested operation.",
    501: "The server does not have the functionality that was asked for.",
}

_UNEXPECTED = _(
    "The server met an unexpected error. Quote the request id %s when you "
    "report it."
)
_NO_ANSWER = _(
    "No engine answered in time; the request may still be carried out. Look "
    "at the stack before repeating it. Request id: %s."
)
_MISSING = _(
    "The engine that this service talks to does not offer what was asked for."
)
_REMOTE = "_Remote"
_TRACEBACK = "\nTraceback"


def empty(headers: Mapping[str, str] | None = None) -> wrappers.Response:
    """The answer 204: no body, and so no type of one."""
    response = wrappers.Response(status=204, headers=dict(headers or {}))
    del response.headers["Content-Type"]
    return response


class HTTPError(Exception):
    """An error that the API itself finds in a request.

    :param status: HTTP status
    :param message: for the user: what is wrong and what to do
    :param headers: further headers of the answer
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})

    @property
    def kind(self) -> str:
        """The type shown in the fault, such as ``HTTPBadRequest``."""
        words = http.HTTPStatus(self.status).phrase.split()
        return "HTTP" + "".join(word.capitalize() for word in words)


class NotValid(HTTPError):
    """What is wrong with a template that somebody wanted to know it of."""

    def __init__(self, error: exception.StackValidationFailed) -> None:
        super().__init__(400, _plain(error.message))

    @property
    def kind(self) -> str:
        return exception.StackValidationFailed.__name__


def bad_request(message: str) -> HTTPError:
    """What the user sent is wrong."""
    return HTTPError(400, message)


def not_found(message: str) -> HTTPError:
    """There is no such thing."""
    return HTTPError(404, message)


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """An error as a client sees it."""

    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The body of the answer; its shape is contract."""
        return {
            "code": self.status,
            "title": http.HTTPStatus(self.status).phrase,
            "explanation": EXPLANATIONS.get(
                self.status, http.HTTPStatus(self.status).description
            ),
            "error": {
                "type": self.kind,
                "message": self.message,
                "traceback": None,
            },
        }

    def response(self) -> wrappers.Response:
        """The answer itself."""
        return wrappers.Response(
            json.dumps(self.body()),
            status=self.status,
            headers=dict(self.headers),
            content_type="application/json",
        )


def of(error: Exception, request_id: str) -> Fault:
    """The fault for an error; what nobody expected goes to the log.

    :param request_id: shown for unexpected errors
    """
    if isinstance(error, HTTPError):
        return Fault(error.status, error.kind, error.message, error.headers)
    names = list(class_names(error))
    status = next(
        (STATUS_OF[name] for name in names if name in STATUS_OF), 500
    )
    if status < 500:
        return Fault(status, names[0], _message(error))
    LOG.error(
        "Request %(id)s failed: %(kind)s",
        {"id": request_id, "kind": names[0]},
        exc_info=error if status == 500 else None,
    )
    return Fault(
        status, names[0], _server_message(error, names, status, request_id)
    )


def class_names(error: Exception) -> Iterator[str]:
    """Names of the error's class and its bases, nearest first.

    An error that RPC could not rebuild still tells the name of its class
    (``exc_type``); its bases are then those of our class of that name.
    """
    told = getattr(error, "exc_type", None)
    kind: type = type(error)
    if isinstance(told, str):
        name = told.removesuffix(_REMOTE)
        found = getattr(exception, name, None) or getattr(builtins, name, None)
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            yield name
            return
        kind = found
    for base in kind.__mro__:
        yield base.__name__.removesuffix(_REMOTE)


def _message(error: Exception) -> str:
    """The error's text without what oslo.messaging appends to it."""
    for text in (
        _placed(error),
        getattr(error, "message", None),
        getattr(error, "value", None),
    ):
        if isinstance(text, str) and text:
            return _plain(text)
    return _plain(str(error))


def _plain(text: str) -> str:
    return text.partition(_TRACEBACK)[0].rstrip()


def _placed(error: Exception) -> str | None:
    """The text of an error at a place in a template."""
    if not isinstance(error, exception.StackValidationFailed):
        return None
    # One that was rebuilt without its parts has a text alone.
    return error.as_answered() if hasattr(error, "error_message") else None


def _server_message(
    error: Exception, names: list[str], status: int, request_id: str
) -> str:
    if status == 501:
        return _message(error) if _is_ours(names) else _MISSING
    if "MessagingTimeout" in names:
        return _NO_ANSWER % request_id
    if _is_ours(names) and _is_safe(names[0]):
        return f"{_message(error)} ({request_id})"
    return _UNEXPECTED % request_id


def _is_ours(names: list[str]) -> bool:
    return "HeatException" in names


def _is_safe(name: str) -> bool:
    # A class of ours may say that its text is not for users.
    return bool(getattr(getattr(exception, name, None), "safe", False))
