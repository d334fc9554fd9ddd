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

"""What a request may ask for, checked behind the APIs of every make.

Ours checks it before; another make's hands some of it on as it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from oslo_utils import strutils

from heat.common import exception, identifier
from heat.common.i18n import _
from heat.rpc import api

_NAME = re.compile(identifier.STACK_NAME)
_FLAGS = (
    api.PARAM_DISABLE_ROLLBACK,
    api.PARAM_CONVERGE,
    api.PARAM_EXISTING,
    api.PARAM_SHOW_NESTED,
)


def stack_name(name: Any) -> str:
    """The name that a new stack is to have.

    :raises StackValidationFailed: no stack can have it
    """
    if not (isinstance(name, str) and _NAME.match(name)):
        raise exception.StackValidationFailed(
            message=_(
                "Invalid stack name %s: it must be a letter, then letters, "
                "digits, underscores, periods or hyphens, 255 characters at "
                "most."
            )
            % name
        )
    return name


def arguments(args: Mapping[str, Any] | None) -> dict[str, Any]:
    """The ``args`` of a create, update or preview; flags may be text.

    :raises Invalid: a flag is neither true nor false
    """
    read = dict(args or {})
    for name in _FLAGS:
        if read.get(name) is not None:
            read[name] = _flag(name, read[name])
    return read


def _flag(name: str, value: Any) -> bool:
    try:
        return bool(strutils.bool_from_string(value, strict=True))
    except ValueError as error:
        raise exception.Invalid(reason=f"{name}: {error}") from error
