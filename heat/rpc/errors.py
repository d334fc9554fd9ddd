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

"""Errors on their way over RPC.

An error travels as class, module, text and arguments, and is made anew at
the other end when its module is allowed. Whatever carried it, the caller
sees the plain class with the plain text: no ``_Remote`` class, no traceback
behind the text.
"""

from __future__ import annotations

import builtins
import logging
import types
from typing import Any

import oslo_messaging

from heat.common import exception

LOG = logging.getLogger(__name__)

# Only errors of these modules are made anew at the other end.
ALLOWED_MODULES = ("heat.common.exception", "builtins")

_MODULES: dict[str, types.ModuleType] = {
    "heat.common.exception": exception,
    "builtins": builtins,
}
_SUFFIX = "_Remote"
_TRACEBACK = "\nTraceback (most recent call last):\n"


def rebuild(
    name: str,
    module: str,
    message: str,
    kwargs: dict[str, Any] | None = None,
) -> Exception:
    """The error of the class ``name`` with the text ``message``.

    :param module: where the class is; outside of ``ALLOWED_MODULES`` the
        result is an ``oslo_messaging.RemoteError``
    :param kwargs: keyword arguments of the original, if known
    """
    cls = getattr(_MODULES.get(module), name, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        unknown: Exception = oslo_messaging.RemoteError(name, message, [])
        return unknown
    if not issubclass(cls, exception.HeatException):
        return _with_text(cls.__new__(cls), message)
    try:
        made = cls(**(kwargs or {}))
    except TypeError:
        # Another make's arguments, or none: the text is all there is.
        made = cls.__new__(cls)
        made.kwargs = {}
    return _with_text(made, message)


def plain(error: Exception) -> Exception:
    """What the caller should see of an error that oslo.messaging raised."""
    if isinstance(error, oslo_messaging.RemoteError):
        return _from_remote_error(error)
    cls = type(error)
    if cls.__name__.endswith(_SUFFIX):
        original = cls.__mro__[1]
        text, trace = _split(str(error))
        _log(original.__name__, trace)
        error.__class__ = original
        return _with_text(error, text)
    if cls.__module__ == "builtins" and error.args:
        text, trace = _split(str(error.args[0]))
        if trace:
            _log(cls.__name__, trace)
            return _with_text(cls.__new__(cls), text)
    return error


def is_too_new(error: Exception) -> bool:
    """Whether a call failed because the other end is older than it."""
    if isinstance(error, oslo_messaging.RPCVersionCapError):
        return True
    # Raised over there, in a module that is not allowed to come here.
    name = str(getattr(error, "exc_type", type(error).__name__))
    return name.removesuffix(_SUFFIX) == "UnsupportedVersion"


def _from_remote_error(error: Any) -> Exception:
    """Find the class where oslo.messaging could not call it."""
    name = str(error.exc_type)
    for module in ALLOWED_MODULES:
        if hasattr(_MODULES[module], name):
            _log(name, "".join(error.traceback or []))
            return rebuild(name, module, str(error.value))
    return error  # type: ignore[no-any-return]


def _with_text(error: Exception, text: str) -> Exception:
    if isinstance(error, exception.HeatException):
        error.message = text
        if isinstance(error, exception.HeatExceptionWithPath):
            error.__dict__.setdefault("error", "")
            error.__dict__.setdefault("path", [])
            error.__dict__.setdefault("error_message", text)
    else:
        error.args = (text,)
    return error


def _split(text: str) -> tuple[str, str]:
    """Text and traceback, which oslo.messaging glues together."""
    message, found, trace = text.partition(_TRACEBACK)
    return (message, trace) if found else (text.rstrip("\n"), "")


def _log(name: str, trace: str) -> None:
    if trace:
        LOG.debug("Remote %s:\n%s", name, trace)
