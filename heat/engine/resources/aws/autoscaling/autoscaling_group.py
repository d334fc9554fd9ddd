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

"""AWS::AutoScaling::AutoScalingGroup: instances, as many as policies want."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource, support
from heat.engine.resource import notation
from heat.engine.resources import instance_group, scaled_group


class AWSAutoScalingGroup(
    scaled_group.ScaledGroup, instance_group.InstancesResource
):
    """Instances that a launch configuration makes, as many as policies want.

    The size that a policy chose survives any other update.
    """

    support_status = support.SupportStatus(version="2014.1")

    rolling = "AutoScalingRollingUpdate"
    INSTANCE_ID, SUBNETS = "InstanceId", "VPCZoneIdentifier"
    fewest_property, most_property = "MinSize", "MaxSize"
    cooldown_property, desired_property = "Cooldown", "DesiredCapacity"

    properties_schema = notation.properties("""
        AvailabilityZones list (required) -- Without effect.
        Cooldown integer (update) -- Seconds after a policy has acted in
        -- which no other one does.
        DesiredCapacity integer (update) -- How many instances there are at
        -- first, and whenever this changes.
        InstanceId string (is nova.server) -- An instance to be like, in
        -- place of a launch configuration.
        LaunchConfigurationName string (update) -- What the instances are:
        -- what Ref gives for a launch configuration.
        LoadBalancerNames list -- Load balancers of the instances. There are
        -- none in this release.
        MaxSize integer (required, update) -- The most instances there may
        -- be.
        MinSize integer (required, update) -- The fewest instances there may
        -- be.
        Tags list{* map{
            Key string (required) -- Name of the tag.
            Value string (required) -- Its value.
        }} -- Tags of each instance.
        VPCZoneIdentifier list{* string} -- The subnet of the instances; no
        -- more than one.
    """)
    attributes_schema = notation.attributes("""
        InstanceList string -- Addresses of the instances, with commas.
    """)
    update_policy_schema = instance_group.update_policy_schema(rolling)
    attributes_schema["InstanceList"].cache_mode = "cache_none"

    def validate(self) -> None:
        given = self.properties.data.get
        if (given(self.LAUNCH_CONFIG) is None) == (
            given(self.INSTANCE_ID) is None
        ):
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties"],
                message=_("Give one of %(launch)s and %(instance)s.")
                % {
                    "launch": self.LAUNCH_CONFIG,
                    "instance": self.INSTANCE_ID,
                },
            )
        if len(self.properties[self.SUBNETS] or ()) > 1:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.SUBNETS],
                message=_("No more than one subnet is supported."),
            )
        super().validate()

    def _launch(self) -> dict[str, Any]:
        like = self.properties[self.INSTANCE_ID]
        if like:
            return instance_group.like_server(self, like)
        return super()._launch()

    def own_properties(self) -> dict[str, Any]:
        found = super().own_properties()
        subnets = self.properties[self.SUBNETS]
        if subnets:
            found["SubnetId"] = subnets[0]
        return found

    def tags(self) -> list[dict[str, Any]]:
        name = self.get_reference_id()
        return [
            *super().tags(),
            {"Key": "metering.AutoScalingGroupName", "Value": name},
        ]


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::AutoScaling::AutoScalingGroup": AWSAutoScalingGroup}
