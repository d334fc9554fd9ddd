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

"""AWS::EC2::Volume and VolumeAttachment."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine.resource import notation, outcomes, rest
from heat.engine.resources.openstack.cinder import volume, volume_attachment


class Volume(volume.Volume):
    """A disk that can be attached to an instance.

    Its tags are metadata; a snapshot of it is a backup.
    """

    properties_schema = notation.properties("""
        AvailabilityZone string (required, immutable) -- Zone that it is in.
        Size integer (immutable, range 1..None) -- Size in GiB; needed unless
            -- it is made from a snapshot.
        SnapshotId string (immutable, is cinder.backup) -- Backup to make it
            -- from.
        Tags list{* map{
            Key string (required) -- Name of the tag.
            Value string (required) -- Its value.
        }} (immutable) -- Keys and values that are kept with it.
    """)
    attributes_schema = {}
    backup_property = "SnapshotId"
    body_keys = {"AvailabilityZone": "availability_zone", "Size": "size"}
    not_sent = frozenset({"SnapshotId", "Tags"})
    finds = {"SnapshotId": "cinder.backup"}
    renamed = {}
    attribute_keys = {}

    def validate(self) -> None:
        # What a volume checks is about words that this one has not.
        rest.RestResource.validate(self)
        given = self.properties.data.get
        if given("Size") is None and given("SnapshotId") is None:
            raise exception.PropertyUnspecifiedError("Size", "SnapshotId")

    def marked(self, body: dict[str, Any]) -> dict[str, Any]:
        # The name tells.
        return body

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        tags = properties["Tags"] or ()
        if tags:
            body["metadata"] = {each["Key"]: each["Value"] for each in tags}
        return body

    def finish_ready(self) -> None:
        """Let what a backup was restored into grow to the size wanted."""
        wanted = self.properties["Size"]
        if wanted and int(self.shown()["size"]) < wanted:
            self.collection().act(
                self.resource_id, "os-extend", {"new_size": wanted}
            )
            raise outcomes.PollDelay(rest.POLL_SECONDS)

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        # Nothing of it can be changed.
        return {}


class VolumeAttachment(volume_attachment.VolumeAttachment):
    """Attaches a volume to an instance."""

    properties_schema = notation.properties("""
        Device string (required, immutable, re) -- Device that the volume
            -- should be, such as /dev/vdb; the hypervisor may choose another.
        InstanceId string (required, immutable, is nova.server) -- Name or id
            -- of the instance.
        VolumeId string (required, immutable, is cinder.volume) -- Name or id
            -- of the volume.
    """)
    finds = {"InstanceId": "nova.server", "VolumeId": "cinder.volume"}
    server_property = "InstanceId"
    device_property = "Device"
    volume_property = "VolumeId"

    def needs_replace_failed(self) -> bool:
        # Nothing can be changed in place, not even of what was never made.
        return self.action == self.CREATE or super().needs_replace_failed()


def resource_mapping() -> dict[str, Any]:
    return {
        "AWS::EC2::Volume": Volume,
        "AWS::EC2::VolumeAttachment": VolumeAttachment,
    }
