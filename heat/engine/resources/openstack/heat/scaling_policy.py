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

"""OS::Heat::ScalingPolicy: changes the size of a group when it is told."""

from __future__ import annotations

from heat.engine.resource import notation
from heat.engine.resources import scaling_policy
from heat.scaling import scalingutil


class ScalingPolicy(scaling_policy.PolicyResource):
    """Changes the size of a group at each signal.

    Nothing happens while the policy, or the group, cools down, nor when the
    size stays as it is.
    """

    (
        GROUP,
        ADJUSTMENT,
        KIND,
        COOLDOWN,
        LEAST,
    ) = (
        "auto_scaling_group_id",
        "scaling_adjustment",
        "adjustment_type",
        "cooldown",
        "min_adjustment_step",
    )

    group_property, adjustment_property = GROUP, ADJUSTMENT
    kind_property, cooldown_property = KIND, COOLDOWN
    least_property = LEAST
    percent = scalingutil.PERCENT_CHANGE_IN_CAPACITY

    properties_schema = notation.properties("""
        auto_scaling_group_id string (required) -- The group: what
        -- get_resource gives for it.
        scaling_adjustment number (required, update) -- How much is added,
        -- less than 0 to take away; or the size itself.
        adjustment_type string (required, update,
            in ["change_in_capacity", "exact_capacity",
                "percent_change_in_capacity"]) -- What the number means.
        cooldown number (update) -- Seconds after this policy has acted in
        -- which it does not act again.
        min_adjustment_step integer (update, range 0..None) -- The fewest
        -- members that a percentage adds or takes away.
    """)
    attributes_schema = notation.attributes("""
        alarm_url string -- Where a signal is sent.
        signal_url string -- Where a user of the cloud sends a signal.
    """)


def resource_mapping() -> dict[str, type[ScalingPolicy]]:
    return {"OS::Heat::ScalingPolicy": ScalingPolicy}
