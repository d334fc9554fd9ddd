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

"""LOCK and UNLOCK of a server: Nova's own lock, with the reason.

Nova tells its users whether a server is locked and, from 2.73 on, why; not
by whom. A lock that its owner may not release, or whose reason is not the
one that we saw after ours, was taken over by somebody else.
"""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import outcomes, rest

#: Locks have a reason since.
REASONS_SINCE = "2.73"
#: So many characters a reason may have.
_LONGEST = 255


class LockableServer(rest.RestResource):
    """A server that LOCK with the level ``all`` locks in Nova."""

    def find_lock_state(self) -> dict[str, Any]:
        return {"locked": bool(self._seen()["locked"])}

    def handle_lock(self, level: str, reason: str | None) -> None:
        """Lock it, unless it was locked when we came.

        :param level: of the stack's lock
        :param reason: what the user gave for it
        """
        found = self.lock_found or {}
        if found.get("locked"):
            return
        collection = self._collection()
        words: dict[str, str] = {}
        if self._has_reasons():
            # An owner's second lock changes nothing in Nova: what counts is
            # the reason that stands there afterwards.
            words["reason"] = self._words(reason)
        collection.call("lock", self.resource_id, **words)
        if words:
            shown = collection.get(self.resource_id)
            self.lock_found = {**found, "reason": shown.get("locked_reason")}

    def handle_unlock(self) -> None:
        """Unlock it if it is our lock that it has.

        :raises LockTakenOver: it is somebody else's by now
        """
        found = self.lock_found or {}
        if found.get("locked"):
            return
        seen = self._seen()
        if not seen["locked"]:
            return
        if "reason" in found and seen["reason"] != found["reason"]:
            raise outcomes.LockTakenOver(
                _("somebody else locked the server meanwhile: %s")
                % (seen["reason"] or _("no reason given"))
            )
        try:
            self._collection().call("unlock", self.resource_id)
        except errors.Forbidden as exc:
            raise outcomes.LockTakenOver(
                _("an administrator locked the server meanwhile: %s")
                % errors.words(exc)
            ) from exc

    # -- parts ---------------------------------------------------------------

    def _seen(self) -> dict[str, Any]:
        shown = self._collection().get(self.resource_id)
        return {
            "locked": shown.get("locked"),
            "reason": shown.get("locked_reason"),
        }

    def _has_reasons(self) -> bool:
        return bool(self.client_plugin().is_at_least(REASONS_SINCE))

    def _collection(self) -> Any:
        """The servers, as the version tells of them that has reasons."""
        version = REASONS_SINCE if self._has_reasons() else None
        return self.client_plugin().collection("servers", version)

    def _words(self, reason: str | None) -> str:
        # Never empty: it is by its reason that a lock is known.
        text = reason or _("locked with the stack %s") % self.stack.name
        return text[:_LONGEST]
