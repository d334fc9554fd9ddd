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

"""AWS::AutoScaling::LaunchConfiguration: what the members of a group are."""

from __future__ import annotations

import json

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import instance_group


class LaunchConfiguration(resource.Resource):
    """What the instances of a group are.

    It makes nothing. With ``InstanceId`` the instances are like that one,
    as far as nothing else is said of them.
    """

    INSTANCE_ID, IMAGE_ID, INSTANCE_TYPE = (
        "InstanceId",
        "ImageId",
        "InstanceType",
    )

    properties_schema = notation.properties("""
        BlockDeviceMappings list{* map{
            DeviceName string (required) -- Device, such as vda.
            Ebs map{
                DeleteOnTermination boolean (=true) -- The volume goes when
                -- the instance goes.
                SnapshotId string (is cinder.snapshot) -- Snapshot to make
                -- the volume from.
                VolumeSize string -- Size in GiB.
            } -- The volume.
        }} -- Volumes to attach to each instance.
        ImageId string (is glance.image) -- Name or id of the image.
        InstanceId string (is nova.server) -- An instance to be like.
        InstanceType string (is nova.flavor) -- Name or id of the flavor.
        KeyName string (is nova.keypair) -- Key pair that logs in.
        NovaSchedulerHints list{* map{
            Key string (required) -- Name of the hint.
            Value string (required) -- Its value.
        }} -- Hints for placing the instances.
        SecurityGroups list -- Names or ids of security groups.
        UserData string -- What an instance is told at its first boot.
    """)

    def validate(self) -> None:
        super().validate()
        given = self.properties.data
        if given.get(self.INSTANCE_ID) is not None:
            return
        for key in (self.IMAGE_ID, self.INSTANCE_TYPE):
            if given.get(key) is None:
                raise exception.StackValidationFailed(
                    path=["resources", self.name, "properties"],
                    message=_(
                        "Without %(instance)s it needs %(image)s and "
                        "%(flavor)s."
                    )
                    % {
                        "instance": self.INSTANCE_ID,
                        "image": self.IMAGE_ID,
                        "flavor": self.INSTANCE_TYPE,
                    },
                )

    def handle_create(self) -> None:
        like = self.properties[self.INSTANCE_ID]
        found = instance_group.like_server(self, like) if like else {}
        for key, value in self.stored_properties().items():
            if key != self.INSTANCE_ID:
                found[key] = value
        self.data_set(instance_group.LAUNCH, json.dumps(found))
        self.resource_id_set(self.physical_resource_name())


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::AutoScaling::LaunchConfiguration": LaunchConfiguration}
