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

"""OS::Heat::InstanceGroup: instances, as many as the template says."""

from __future__ import annotations

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import instance_group


class InstanceGroup(instance_group.InstancesResource):
    """Instances that a launch configuration makes, of a fixed number."""

    SIZE = "Size"
    rolling = "RollingUpdate"

    properties_schema = notation.properties("""
        AvailabilityZones list (required) -- Without effect.
        LaunchConfigurationName string (required, update) -- What the
        -- instances are: what Ref gives for a launch configuration.
        LoadBalancerNames list -- Load balancers of the instances. There are
        -- none in this release.
        Size integer (required, update) -- How many instances there are.
        Tags list{* map{
            Key string (required) -- Name of the tag.
            Value string (required) -- Its value.
        }} -- Tags of each instance.
    """)
    attributes_schema = notation.attributes("""
        InstanceList string -- Addresses of the instances, with commas.
    """)
    update_policy_schema = instance_group.update_policy_schema(rolling)
    attributes_schema["InstanceList"].cache_mode = "cache_none"

    def size(self) -> int:
        return int(self.properties[self.SIZE])

    def validate(self) -> None:
        # The schema is public and has no range.
        if (self.properties[self.SIZE] or 0) < 0:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.SIZE],
                message=_("It is less than 0"),
            )
        super().validate()


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::InstanceGroup": InstanceGroup}
