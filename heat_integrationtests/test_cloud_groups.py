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

"""Groups of instances in a real cloud, in the words of CloudFormation."""

from __future__ import annotations

from typing import Any

from heat_integrationtests import test_cloud


def aws(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": f"AWS::{kind}", "properties": properties}


class InstanceGroupStory(test_cloud.CloudStory):
    def resources(self, maximum: int = 3) -> dict[str, Any]:
        return {
            **test_cloud.network(),
            "launch": aws(
                "AutoScaling::LaunchConfiguration",
                ImageId=test_cloud.IMAGE,
                InstanceType=test_cloud.FLAVOR,
            ),
            "group": aws(
                "AutoScaling::AutoScalingGroup",
                AvailabilityZones=["nova"],
                LaunchConfigurationName=test_cloud.ref("launch"),
                MinSize=1,
                MaxSize=maximum,
                VPCZoneIdentifier=[test_cloud.ref("subnet")],
                Tags=[{"Key": "colour", "Value": "red"}],
            ),
            "more": aws(
                "AutoScaling::ScalingPolicy",
                AutoScalingGroupName=test_cloud.ref("group"),
                AdjustmentType="ChangeInCapacity",
                ScalingAdjustment=1,
            ),
        }

    def servers(self, ident: str) -> list[Any]:
        """The servers of the group, as the compute service shows them."""
        child = self.physical(ident, "group")
        found = self.heat.resources.list(child)
        return [
            self.cloud.compute.get_server(each.physical_resource_id)
            for each in found
        ]

    def addresses(self, ident: str) -> list[str]:
        [output] = self.heat.stacks.get(ident).outputs
        return sorted(output["output_value"].split(","))

    def test_a_group_that_grows(self) -> None:
        addresses = {"value": {"get_attr": ["group", "InstanceList"]}}
        ident = self.create(
            self.resources(), sections={"outputs": {"all": addresses}}
        )
        [server] = self.servers(ident)
        self.assertEqual("ACTIVE", server.status)
        self.assertEqual("red", server.metadata["colour"])
        self.assertIn("metering.AutoScalingGroupName", server.metadata)
        self.heat.resources.signal(ident, "more", {"state": "alarm"})
        self.wait(ident, "UPDATE_COMPLETE")
        servers = self.servers(ident)
        self.assertEqual(2, len(servers))
        shown = sorted(
            each["addr"]
            for one in servers
            for network in one.addresses.values()
            for each in network
        )
        self.assertEqual(shown, self.addresses(ident))
