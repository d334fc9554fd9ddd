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

"""Errors in the words of the CloudFormation API.

What an error is, :mod:`heat.api.faults` has said; here it only gets the code
that clients of this API know, and its form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from werkzeug import wrappers

from heat.api import faults
from heat.api.cfn import answers

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

ENV_REQUEST_ID = "openstack.request_id"

#: kind of a fault -> code; the statuses below are for all others
_BY_KIND: Mapping[str, str] = {
    "StackExists": "AlreadyExists",
    "ActionInProgress": "ActionInProgress",
    "StackLocked": "StackLocked",
    "RequestLimitExceeded": "LimitExceeded",
}
#: status of a fault -> code, and the status of the answer: clients of this
#: API tell errors of theirs by 400
_BY_STATUS: Mapping[int, tuple[str, int]] = {
    400: ("InvalidParameterValue", 400),
    401: ("AccessDenied", 403),
    403: ("AccessDenied", 403),
    404: ("InvalidParameterValue", 400),
    405: ("InvalidAction", 405),
    409: ("InvalidParameterValue", 400),
    501: ("InvalidAction", 400),
    503: ("ServiceUnavailable", 503),
}
_UNKNOWN = ("InternalFailure", 500)


class CfnError(Exception):
    """An error that this API itself finds in a request.

    :param code: as clients know it
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


def missing(parameter: str) -> CfnError:
    """A parameter that an action can't do without is not there."""
    return CfnError(
        "MissingParameter", f"The parameter {parameter} is needed."
    )


def denied(why: str) -> CfnError:
    """Who asks is not known, or may not."""
    return CfnError("AccessDenied", why, 403)


def of(error: Exception, request_id: str) -> CfnError:
    """Any error in the words of this API."""
    if isinstance(error, CfnError):
        return error
    fault = faults.of(error, request_id)
    code, status = _BY_STATUS.get(fault.status, _UNKNOWN)
    return CfnError(_BY_KIND.get(fault.kind, code), fault.message, status)


class CfnFaults:
    """Makes the answer for whatever is raised further inside."""

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(
        self,
        environ: wsgi_types.WSGIEnvironment,
        start_response: wsgi_types.StartResponse,
    ) -> Iterable[bytes]:
        try:
            made: Iterable[bytes] = self._application(environ, start_response)
            return made
        except Exception as exc:
            request_id = str(environ.get(ENV_REQUEST_ID, "-"))
            error = of(exc, request_id)
            response: wrappers.Response = answers.error(
                error.code,
                error.message,
                error.status,
                request_id,
                as_json=answers.wants_json(environ),
            )
            return response(environ, start_response)
