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
"""The environment that the operator gives to every stack.

It is installed once, when an engine starts, and counts under whatever a
stack's own environment says. It's never stored with a stack nor shown as a
part of one. Like the named constraints it belongs to the whole process:
environments are made in too many places to hand it to each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from heat.engine.environment import registry


@dataclasses.dataclass(frozen=True)
class Shared:
    """What every environment builds on.

    :ivar files: contents of the templates that the registry names
    """

    registry: registry.Registry | None = None
    param_defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    event_sinks: tuple[Any, ...] = ()
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)


_current = Shared()


def install(shared: Shared | None) -> None:
    """Let all environments made from now on build on this; None: nothing."""
    global _current
    _current = shared or Shared()


def current() -> Shared:
    """What was installed."""
    return _current
