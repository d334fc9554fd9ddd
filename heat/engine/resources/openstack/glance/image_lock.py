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

"""LOCK and UNLOCK of an image: Glance's protection against deletion."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import outcomes, rest


class LockableImage(rest.RestResource):
    """An image that LOCK with the level ``all`` protects."""

    def find_lock_state(self) -> dict[str, Any]:
        return {"protected": self._is_protected()}

    def handle_lock(self, level: str, reason: str | None) -> None:
        """Protect it.

        :param level: of the stack's lock
        :param reason: what the user gave for it; an image keeps none
        """
        if not (self.lock_found or {}).get("protected"):
            self._protect(True)

    def handle_unlock(self) -> None:
        """Leave it as it was found.

        :raises LockTakenOver: the user may not change it any more
        """
        if (self.lock_found or {}).get("protected"):
            return
        if not self._is_protected():
            return
        try:
            self._protect(False)
        except errors.Forbidden as exc:
            raise outcomes.LockTakenOver(
                _("the image may not be changed any more: %s")
                % errors.words(exc)
            ) from exc

    def _is_protected(self) -> bool:
        return bool(self.shown().get("protected"))

    def _protect(self, wanted: bool) -> None:
        self.collection().update(self.resource_id, {"protected": wanted})
