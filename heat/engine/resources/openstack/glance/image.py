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

"""OS::Glance::WebImage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.glance import image_lock


class WebImage(image_lock.LockableImage):
    """An image that the image service fetches from the web."""

    support_status = support.SupportStatus(version="12.0.0")

    default_client_name = "glance"
    entity = "images"
    properties_schema = notation.properties("""
        active boolean (update, =true) -- Whether its data can be used.
        architecture string (update) -- Processor that it is for.
        container_format string (required, in ["ami", "ari", "aki", "bare",
            "ovf", "ova", "docker"]) -- What is around the disk.
        disk_format string (required, in ["ami", "ari", "aki", "vhd", "vhdx",
            "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"]) -- Form of the
            -- disk.
        extra_properties map (update, ={}) -- Further properties of the
            -- image.
        id string -- Its id; made up when left out.
        kernel_id string (update, re) -- Image of the kernel.
        location string (required) -- Where it is fetched from.
        members list{* string} (update) -- Projects that it is shared with.
        min_disk integer (=0, range 0..None) -- Disk a server needs, in GiB.
        min_ram integer (=0, range 0..None) -- Memory a server needs, in MiB.
        name string -- What it is called; made up when left out.
        os_distro string (update) -- Distribution on it.
        os_version string (update) -- Version of the distribution.
        owner string (update) -- Project that owns it.
        protected boolean (update, =false) -- It can't be deleted.
        ramdisk_id string (update, re) -- Image of the ramdisk.
        tags list (update) -- Tags of the image.
        visibility string (update, ="private", in ["public", "private",
            "community", "shared"]) -- Who sees it.
    """)
    not_sent = frozenset({"active", "location", "members"})
    extra_property = "extra_properties"
    status_key = "status"
    pending = frozenset({"QUEUED", "SAVING", "IMPORTING", "UPLOADING"})
    bad = frozenset({"KILLED"})

    def finish_create(self, properties: Any) -> None:
        self.collection().call(
            "image_import",
            self.resource_id,
            method="web-download",
            uri=properties["location"],
            idempotent=False,
        )
        self._share(properties["members"])

    def is_ready(self) -> bool:
        ready = super().is_ready()
        if ready and not self.properties["active"]:
            self.collection().call("deactivate", self.resource_id)
        return ready

    def judge(self, shown: Mapping[str, Any]) -> str:
        status = super().judge(shown)
        failed = shown.get("os_glance_failed_import")
        if failed and status == "QUEUED":
            raise exception.ResourceInError(
                resource_status=status,
                status_reason=_("the import from %(url)s failed (%(store)s)")
                % {"url": self.properties["location"], "store": failed},
            )
        return status

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "members" in changed:
            self._share(properties["members"])
        if "active" in changed:
            action = "reactivate" if properties["active"] else "deactivate"
            self.collection().call(action, self.resource_id)

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        body = super().update_body(changed, properties)
        if self.extra_property in changed:
            old = self.properties[self.extra_property] or {}
            new = properties[self.extra_property] or {}
            gone = [key for key in old if key not in new]
            if gone:
                body["remove_props"] = gone
        return body

    def _share(self, projects: Any) -> None:
        """Share the image with exactly these projects."""
        wanted = set(projects or ())
        if not wanted and self.action == self.CREATE:
            return
        members = self.client().image_members
        now = {each.member_id for each in members.list(self.resource_id)}
        for project in sorted(wanted - now):
            members.create(self.resource_id, project)
        for project in sorted(now - wanted):
            members.delete(self.resource_id, project)


def resource_mapping() -> dict[str, Any]:
    return {"OS::Glance::WebImage": WebImage}
