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

"""AWS::EC2::Instance: one set of words becomes the other."""

from __future__ import annotations

from heat.engine import properties
from heat.engine.resources.aws.ec2 import instance
from heat.engine.resources.openstack.nova import server_schema
from heat.tests import base

GIVEN = {"ImageId": "i", "InstanceType": "t"}


def as_server(**given):
    props = properties.Properties(
        instance.Instance.properties_schema, {**GIVEN, **given}
    )
    made = instance.Instance.as_server(props)
    return made.data


class WordsTest(base.TestCase):
    def test_table(self):
        for given, wanted in (
            ({}, {}),
            ({"KeyName": "k"}, {"key_name": "k"}),
            ({"AvailabilityZone": "z"}, {"availability_zone": "z"}),
            ({"UserData": "u"}, {"user_data": "u"}),
            (
                {"Tags": [{"Key": "a", "Value": "b"}]},
                {"metadata": {"a": "b"}},
            ),
            (
                {"NovaSchedulerHints": [{"Key": "a", "Value": "b"}]},
                {"scheduler_hints": {"a": "b"}},
            ),
            (
                {"SecurityGroups": ["x"], "SecurityGroupIds": ["y"]},
                {"security_groups": ["y", "x"]},
            ),
            ({"SubnetId": "s"}, {"networks": [{"subnet": "s"}]}),
            (
                {
                    "NetworkInterfaces": [
                        {"NetworkInterfaceId": "p2", "DeviceIndex": "1"},
                        "p1",
                    ]
                },
                {"networks": [{"port": "p1"}, {"port": "p2"}]},
            ),
            (
                {"Volumes": [{"Device": "vdb", "VolumeId": "v"}]},
                {
                    "block_device_mapping": [
                        {"device_name": "vdb", "volume_id": "v"}
                    ]
                },
            ),
            (
                {
                    "BlockDeviceMappings": [
                        {
                            "DeviceName": "vdc",
                            "Ebs": {"SnapshotId": "n", "VolumeSize": "3"},
                        }
                    ]
                },
                {
                    "block_device_mapping": [
                        {
                            "device_name": "vdc",
                            "snapshot_id": "n",
                            "volume_size": "3",
                            "delete_on_termination": True,
                        }
                    ]
                },
            ),
        ):
            with self.subTest(given=given):
                found = as_server(**given)
                self.assertEqual(
                    {"image": "i", "flavor": "t", **wanted}, found
                )
                self.assertLessEqual(set(found), set(server_schema.PROPERTIES))

    def test_what_says_too_little(self):
        for given in (
            {"NetworkInterfaces": [{"DeviceIndex": "1"}]},
            {"BlockDeviceMappings": [{"DeviceName": "vdc"}]},
        ):
            with self.subTest(given=given):
                self.assertRaises(ValueError, as_server, **given)

    def test_addresses(self):
        fixed = {"addr": "10.0.0.1", "OS-EXT-IPS:type": "fixed"}
        floating = {"addr": "8.8.8.8", "OS-EXT-IPS:type": "floating"}
        for shown, wanted in (
            ({}, ("", "")),
            ({"addresses": {"n": [fixed]}}, ("10.0.0.1", "")),
            (
                {"addresses": {"n": [floating, fixed], "m": [fixed]}},
                ("10.0.0.1", "8.8.8.8"),
            ),
        ):
            with self.subTest(shown=shown):
                self.assertEqual(wanted, instance._addresses(shown))
