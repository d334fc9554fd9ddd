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

"""One resource: the plug-in surface and how an action runs on it.

Public names for plug-ins; the parts are in the modules of this package.
"""

from __future__ import annotations

from heat.engine.resource.base import Resource
from heat.engine.resource.memory import Changes
from heat.engine.resource.outcomes import (
    LockTakenOver,
    NoActionRequired,
    PollDelay,
    UpdateReplace,
    UpdateStack,
)
from heat.engine.resource.view import StackValues, StackView

__all__ = (
    "Changes",
    "LockTakenOver",
    "NoActionRequired",
    "PollDelay",
    "Resource",
    "StackValues",
    "StackView",
    "UpdateReplace",
    "UpdateStack",
)
