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

"""What a plug-in may raise to steer the engine.

These are answers, not errors. Knows nothing of the engine.
"""

from __future__ import annotations

from heat.common.exception import UpdateReplace
from heat.common.i18n import _

__all__ = (
    "LockTakenOver",
    "NoActionRequired",
    "PollDelay",
    "UpdateReplace",
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
