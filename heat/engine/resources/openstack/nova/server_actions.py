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

"""Suspending, resuming and snapshots of a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import outcomes, rest
from heat.engine.resources import server_agent
from heat.engine.resources.openstack.nova import server_lock

#: key of the resource's data: the image that the last snapshot made
_SNAPSHOT = "snapshot_image_id"


class ActingServer(server_lock.LockableServer, server_agent.PolledServer):
    """A server, and what can be done with it beside changing it."""

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        # Nova takes a name for a regular expression.
        asked = {
            key: re.escape(each)
            for key, each in filters.items()
            # Only an administrator can ask for one.
            if key != "description"
        }
        return super().listed(**asked)

    def _ask(self, action: str) -> None:
        self.collection().call(action, self.resource_id, idempotent=False)

    def handle_suspend(self) -> Any:
        """Suspend it, and keep its user out."""
        super().handle_suspend()
        if self.judge(self.shown()) != "SUSPENDED":
            self._ask("suspend")
        return "SUSPENDED"

    def check_suspend_complete(self, token: Any) -> bool:
        return self._reached(token)

    def handle_resume(self) -> Any:
        """Let the user in again before the agent awakes."""
        super().handle_resume()
        if self.judge(self.shown()) != "ACTIVE":
            self._ask("resume")
        return "ACTIVE"

    def check_resume_complete(self, token: Any) -> bool:
        return self._reached(token)

    def _reached(self, wanted: str) -> bool:
        if self.judge(self.shown()) == wanted:
            return True
        raise outcomes.PollDelay(rest.POLL_SECONDS)

    # -- snapshots -----------------------------------------------------------

    def _images(self) -> Any:
        return self.client_plugin("glance").collection("images")

    def handle_snapshot(self) -> Any:
        """Make an image of the server's disk."""
        image = self.collection().call(
            "create_image",
            self.resource_id,
            f"{self.physical_resource_name()}-snapshot",
            idempotent=False,
        )
        self.data_set(_SNAPSHOT, image)
        return image

    def check_snapshot_complete(self, token: Any) -> bool:
        shown = self._images().get(token)
        status = str(shown["status"]).upper()
        if status == "ACTIVE":
            return True
        if status in ("QUEUED", "SAVING", "IMPORTING", "UPLOADING"):
            raise outcomes.PollDelay(rest.POLL_SECONDS)
        raise exception.ResourceInError(
            resource_status=status,
            status_reason=_("the image of the server could not be made"),
        )

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> Any:
        image = _image_of(snapshot)
        if image:
            try:
                self._images().delete(image)
            except Exception as exc:
                self.client_plugin("glance").ignore_not_found(exc)
        return None

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        """The definition that brings the server back: the snapshot's image
        in the place of its own."""
        image = _image_of(restore_data)
        if not image:
            return defn
        given = dict(defn.section("properties") or {})
        return defn.freeze(properties={**given, "image": image})


def _image_of(snapshot: Mapping[str, Any]) -> str | None:
    found = (snapshot.get("resource_data") or {}).get(_SNAPSHOT)
    return str(found) if found else None
