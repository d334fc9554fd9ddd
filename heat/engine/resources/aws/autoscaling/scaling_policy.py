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

"""AWS::AutoScaling::ScalingPolicy: changes the size of a group."""

from __future__ import annotations

from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import scaling_policy
from heat.scaling import scalingutil


class AWSScalingPolicy(scaling_policy.PolicyResource):
    """Changes the size of a group at each signal.

    Nothing happens while the policy, or the group, cools down, nor when the
    size stays as it is.
    """

    GROUP, ADJUSTMENT, KIND, COOLDOWN, LEAST = (
        "AutoScalingGroupName",
        "ScalingAdjustment",
        "AdjustmentType",
        "Cooldown",
        "MinAdjustmentStep",
    )
    group_property, adjustment_property = GROUP, ADJUSTMENT
    kind_property, cooldown_property = KIND, COOLDOWN
    least_property = LEAST
    percent = scalingutil.CFN_PERCENT_CHANGE

    properties_schema = notation.properties("""
        AutoScalingGroupName string (required) -- The group: what Ref gives
        -- for it.
        ScalingAdjustment integer (required, update) -- How much is added,
        -- less than 0 to take away; or the size itself.
        AdjustmentType string (required, update,
            in ["ChangeInCapacity", "ExactCapacity",
                "PercentChangeInCapacity"]) -- What the number means.
        Cooldown integer (update) -- Seconds after this policy has acted in
        -- which it does not act again.
        MinAdjustmentStep integer (update, range 0..None) -- The fewest
        -- members that a percentage adds or takes away.
    """)
    attributes_schema = notation.attributes("""
        AlarmUrl string -- Where a signal is sent.
    """)

    def get_reference_id(self) -> str:
        """As in CloudFormation: the address for an alarm."""
        return self.alarm_url() if self.resource_id else self.name


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::AutoScaling::ScalingPolicy": AWSScalingPolicy}
