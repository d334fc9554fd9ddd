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
"""An environment: parameter values, and what resource types stand for.

It must not know any template, nor where its parts came from.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from heat.common import template_format, values
from heat.common.i18n import _
from heat.engine.environment import registry, shared

PARAMETERS: Final = "parameters"
PARAMETER_DEFAULTS: Final = "parameter_defaults"
RESOURCE_REGISTRY: Final = "resource_registry"
ENCRYPTED_PARAM_NAMES: Final = "encrypted_param_names"
EVENT_SINKS: Final = "event_sinks"
MERGE_STRATEGIES: Final = "parameter_merge_strategies"

#: Section -> type of its value.
SECTIONS: Final[Mapping[str, type]] = {
    PARAMETERS: dict,
    RESOURCE_REGISTRY: dict,
    PARAMETER_DEFAULTS: dict,
    ENCRYPTED_PARAM_NAMES: list,
    EVENT_SINKS: list,
    MERGE_STRATEGIES: dict,
}


def check(data: Any, what: str = "environment") -> int:
    """Check the sections of an environment.

    :param what: what it is, for errors: ``environment``, or a file's name
    :returns: its size, as :func:`heat.common.template_format.check_bounds`
        counts it
    :raises ValueError: naming ``what`` and the section that's unknown, null
        or of the wrong type, or ``what`` that is too deep or too large
    """
    size = 0
    if isinstance(data, Mapping):
        size = template_format.check_bounds(data, what)
    check_sections(data, what)
    return size


def check_sections(data: Any, what: str = "environment") -> None:
    """As :func:`check`, for what is known to be within the limits."""
    if not isinstance(data, Mapping):
        raise ValueError(_("The %s must be a map of sections") % what)
    for section, value in data.items():
        kind = SECTIONS.get(section)
        if kind is None:
            raise ValueError(
                _(
                    'The %(what)s has an unknown section "%(section)s", '
                    "known are: %(known)s"
                )
                % {
                    "what": what,
                    "section": section,
                    "known": ", ".join(SECTIONS),
                }
            )
        if not isinstance(value, kind):
            raise ValueError(
                _(
                    'The section "%(section)s" of the %(what)s must be a '
                    "%(kind)s, not %(found)s"
                )
                % {
                    "what": what,
                    "section": section,
                    "kind": "map" if kind is dict else "list",
                    "found": "null"
                    if value is None
                    else repr(type(value).__name__),
                }
            )


class Environment:
    """The environment of a stack.

    :param data: its sections; None for an empty one
    :param base: what the operator registered for everybody; None: what
        was installed (see :mod:`.shared`)
    :param bounded: it is known to be within the limits
    :raises ValueError: naming a section that's unknown, null or of the
        wrong type
    :raises InvalidBreakPointHook: for an unknown hook
    :raises InvalidRestrictedAction: for an unknown restricted action
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        base: registry.Registry | None = None,
        bounded: bool = False,
    ) -> None:
        data = {} if data is None else data
        if bounded:
            check_sections(data)
        else:
            check(data)
        self.params: dict[str, Any] = dict(data.get(PARAMETERS, {}))
        # Those of a tree are one object, which nobody changes: in a large
        # one there are thousands of them, and thousands of stacks.
        self.param_defaults: Mapping[str, Any] = data.get(
            PARAMETER_DEFAULTS, {}
        )
        self.encrypted_param_names: list[str] = list(
            data.get(ENCRYPTED_PARAM_NAMES, [])
        )
        self.event_sinks: list[Any] = list(data.get(EVENT_SINKS, []))
        self._shared = shared.current()
        if base is None:
            base = self._shared.registry
        self.registry = registry.Registry(
            data.get(RESOURCE_REGISTRY), base=base
        )

    def all_defaults(self) -> Mapping[str, Any]:
        """Values for parameters of these names, the operator's too."""
        if not self._shared.param_defaults:
            return self.param_defaults
        return {**self._shared.param_defaults, **self.param_defaults}

    @functools.cached_property
    def defaults_digest(self) -> str:
        """Stands for the defaults that the environment itself has."""
        text = json.dumps(self.param_defaults, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def all_event_sinks(self) -> list[Any]:
        """Where events go, the operator's sinks first."""
        return [*self._shared.event_sinks, *self.event_sinks]

    def shared_files(self) -> Mapping[str, str]:
        """The templates that the operator's registry names."""
        return self._shared.files

    def as_dict(self) -> dict[str, Any]:
        """The stored and public form.

        Its sections are copies, but for the parameter defaults; neither
        these nor the values of parameters are to be changed: in a large
        tree there are millions of them.
        """
        return {
            PARAMETERS: dict(self.params),
            PARAMETER_DEFAULTS: self.param_defaults,
            RESOURCE_REGISTRY: values.copied(self.registry.as_dict()),
            ENCRYPTED_PARAM_NAMES: list(self.encrypted_param_names),
            EVENT_SINKS: values.copied(self.event_sinks),
        }

    def child(
        self, resource_name: str, params: Mapping[str, Any] | None = None
    ) -> Environment:
        """The environment of the stack nested in a resource.

        Defaults, sinks and the registry go down; parameters don't.

        :param params: values of the child's parameters
        """
        made = Environment()
        made.params = dict(params or {})
        made.param_defaults = self.param_defaults
        made.event_sinks = list(self.event_sinks)
        made.registry = self.registry.child(resource_name)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Environment):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]
