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

"""How well a resource type, property or attribute is supported.

Plug-ins attach a :class:`SupportStatus` to what they declare; the type list
and the schema answers show it. Pure: knows nothing but its own words.
"""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _

SUPPORT_STATUSES = (
    UNKNOWN,
    SUPPORTED,
    DEPRECATED,
    UNSUPPORTED,
    HIDDEN,
) = ("UNKNOWN", "SUPPORTED", "DEPRECATED", "UNSUPPORTED", "HIDDEN")


def is_valid_status(status: object) -> bool:
    """Tell whether ``status`` is one of the known words."""
    return status in SUPPORT_STATUSES


class SupportStatus:
    """A status with the release it dates from and what came before it.

    :param status: one of ``SUPPORT_STATUSES``; any other word gives UNKNOWN
        with a message that names it
    :param message: what the user should do instead, or None
    :param version: release in which this status began, such as ``"5.0.0"``
    :param previous_status: an earlier :class:`SupportStatus`, or None
    :param substitute_class: the class that may take over existing resources
        of this type without a replacement, or None
    """

    __slots__ = (
        "message",
        "previous_status",
        "status",
        "substitute_class",
        "version",
    )

    def __init__(
        self,
        status: str = SUPPORTED,
        message: str | None = None,
        version: str | None = None,
        previous_status: SupportStatus | None = None,
        substitute_class: type | None = None,
    ) -> None:
        self.status = status
        self.message = message
        self.version = version
        self.previous_status = previous_status
        self.substitute_class = substitute_class
        if not is_valid_status(status):
            self.status = UNKNOWN
            self.message = _(
                "Specified status is invalid, defaulting to %s"
            ) % (UNKNOWN,)
            self.version = None
            self.previous_status = None

    def validate(self) -> None:
        """Check the chain of earlier statuses.

        :raises heat.common.exception.InvalidSchemaError: when an earlier
            status is no :class:`SupportStatus`
        """
        if self.previous_status is None:
            return
        if not isinstance(self.previous_status, SupportStatus):
            raise exception.InvalidSchemaError(
                message=_("previous_status must be a SupportStatus, not %s")
                % type(self.previous_status).__name__
            )
        self.previous_status.validate()

    def to_dict(self) -> dict[str, Any]:
        """The form the schema answer carries."""
        previous = self.previous_status
        return {
            "status": self.status,
            "message": self.message,
            "version": self.version,
            "previous_status": previous.to_dict() if previous else None,
        }

    def is_substituted(self, substitute_class: type | None) -> bool:
        """Tell whether ``substitute_class`` may take over from this type."""
        return (
            self.substitute_class is not None
            and substitute_class is self.substitute_class
        )
