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

"""What a plug-in may raise, or answer, to steer the engine.

These are answers, not errors. Knows nothing of the engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from heat.common.exception import UpdateReplace
from heat.common.i18n import _

__all__ = (
    "LockTakenOver",
    "NoActionRequired",
    "PollDelay",
    "UpdateReplace",
    "UpdateStack",
)


class PollDelay(Exception):
    """Raised by a ``check_*_complete``: not done, ask again later.

    :param period: seconds
    """

    def __init__(self, period: float) -> None:
        if period < 0:
            raise ValueError(_("The period must not be negative"))
        super().__init__(_("Poll again in %s seconds") % period)
        self.period = period


class LockTakenOver(Exception):
    """Raised by ``handle_unlock``: somebody else holds the lock by now.

    It is left to them; the resource counts as unlocked.

    :param reason: text for the event
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or _("somebody else locked the object"))


class NoActionRequired(Exception):
    """Raised by a ``handle_signal``: there was nothing to do.

    :param res_name: name of the resource
    :param reason: text for the event
    """

    def __init__(self, res_name: str = "Unknown", reason: str = "") -> None:
        super().__init__(
            _(
                "The resource %(res)s could not perform scaling action: "
                "%(reason)s"
            )
            % {"res": res_name, "reason": reason}
        )
        self.res_name = res_name
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class UpdateStack:
    """Answered by a ``handle_signal``: the resource's stack is to be updated
    to what it is to be already, with new data for one of its resources.

    Data, update and the signal's event are stored together or not at all.
    If somebody else has changed what the decision was made from, or has
    begun something, nothing is done and ``handle_signal`` is asked again.

    :param reason: text for the event
    :param row_id: of the resource that acts on the data in the update
    :param data: what is to be kept with it, by key
    :param known: its data as they were when this was decided
    """

    reason: str
    row_id: int
    data: Mapping[str, str]
    known: Mapping[str, str]
