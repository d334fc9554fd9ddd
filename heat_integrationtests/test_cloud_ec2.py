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

"""A network, its ways out, and instances in it, in the words of EC2.

What the services show is compared with what AWS users expect of the words.
"""

from __future__ import annotations

from typing import Any

from heat_integrationtests import test_cloud
from heat_integrationtests.test_cloud import ref
from heat_integrationtests.test_cloud_groups import aws

VPC = {"VpcId": ref("vpc")}
#: As the template gives it, in front of rows of ports and of volumes.
ZONE = "nova"


def att(name: str, attribute: str) -> dict[str, Any]:
    return {"get_attr": [name, attribute]}


def network(gateway: str = "gateway", note: str = "one") -> dict[str, Any]:
    """A VPC with a public subnet and one that is not routed apart.

    :param gateway: which of the two is attached
    :param note: a tag of the route table
    """
    return {
        "vpc": aws("EC2::VPC", CidrBlock="10.60.0.0/16"),
        "subnet": aws(
            "EC2::Subnet",
            **VPC,
            CidrBlock="10.60.1.0/24",
            AvailabilityZone=ZONE,
            Tags=[{"Key": "a", "Value": "b"}],
        ),
        "plain": aws("EC2::Subnet", **VPC, CidrBlock="10.60.2.0/24"),
        "gateway": aws("EC2::InternetGateway"),
        "other_gateway": aws("EC2::InternetGateway"),
        "attached": aws(
            "EC2::VPCGatewayAttachment", **VPC, InternetGatewayId=ref(gateway)
        ),
        "table": aws(
            "EC2::RouteTable", **VPC, Tags=[{"Key": "note", "Value": note}]
        ),
        "joined": aws(
            "EC2::SubnetRouteTableAssociation",
            RouteTableId=ref("table"),
            SubnetId=ref("subnet"),
        ),
    }


def group(port: int) -> dict[str, Any]:
    return aws(
        "EC2::SecurityGroup",
        GroupDescription="web",
        **VPC,
        SecurityGroupIngress=[
            {
                "IpProtocol": "tcp",
                "FromPort": str(port),
                "ToPort": str(port),
                "CidrIp": "0.0.0.0/0",
            },
            {"IpProtocol": "icmp", "FromPort": "-1", "ToPort": "-1"},
        ],
    )


def instance(**properties: Any) -> dict[str, Any]:
    given = {
        "ImageId": test_cloud.IMAGE,
        "InstanceType": test_cloud.FLAVOR,
    }
    return aws("EC2::Instance", **given, **properties)


def machines(card: str = "card", port: int = 80) -> dict[str, Any]:
    """One instance on interfaces, one on a subnet; disks and addresses.

    :param card: the interface of the first, and where its address leads to
    :param port: what the security group lets in
    """
    return {
        "group": group(port),
        "card": aws(
            "EC2::NetworkInterface",
            SubnetId=ref("subnet"),
            PrivateIpAddress="10.60.1.9",
            GroupSet=[ref("group")],
        ),
        "other_card": aws("EC2::NetworkInterface", SubnetId=ref("subnet")),
        "volume": aws(
            "EC2::Volume",
            AvailabilityZone=ZONE,
            Size=1,
            Tags=[{"Key": "a", "Value": "b"}],
        ),
        "other_volume": aws("EC2::Volume", AvailabilityZone=ZONE, Size=1),
        "server": instance(NetworkInterfaces=[ref(card)]),
        "disk": aws(
            "EC2::VolumeAttachment",
            InstanceId=ref("server"),
            VolumeId=ref("volume"),
            Device="/dev/vdc",
        ),
        "second": instance(
            SubnetId=ref("plain"),
            SecurityGroupIds=[ref("group")],
            Volumes=[{"Device": "vdb", "VolumeId": ref("other_volume")}],
        ),
        "address": aws("EC2::EIP", InstanceId=ref("second")),
        "free": aws("EC2::EIP", Domain="vpc"),
        "leads": aws(
            "EC2::EIPAssociation",
            AllocationId=att("free", "AllocationId"),
            NetworkInterfaceId=ref(card),
        ),
    }


OUTPUTS = {
    "zone": att("subnet", "AvailabilityZone"),
    "fixed": att("card", "PrivateIpAddress"),
    "address": ref("address"),
    "free": ref("free"),
}


class Ec2Story(test_cloud.CloudStory):
    """What AWS users build first."""

    def outputs(self, ident: str) -> dict[str, Any]:
        return {
            each["output_key"]: each["output_value"]
            for each in self.heat.stacks.get(ident).outputs
        }

    def ids(self, ident: str) -> dict[str, str]:
        return {
            each.resource_name: each.physical_resource_id
            for each in self.heat.resources.list(ident)
        }

    def routers(self, ident: str) -> dict[str, Any]:
        """The main router of the VPC, and that of its route table."""
        made = self.ids(ident)
        name = self.cloud.network.get_network(made["vpc"]).name
        [main] = self.cloud.network.routers(name=name)
        return {
            "main": main,
            "table": self.cloud.network.get_router(made["table"]),
        }

    def router_of(self, subnet: str) -> str:
        [port] = [
            port
            for port in self.cloud.network.ports(
                device_owner="network:router_interface"
            )
            if port.fixed_ips[0]["subnet_id"] == subnet
        ]
        return str(port.device_id)

    def addresses(self, server: str) -> set[str]:
        """Those that lead to a server; Nova hears of them some time later."""
        network = self.cloud.network
        found: set[str] = set()
        for port in network.ports(device_id=server):
            found |= {each["ip_address"] for each in port.fixed_ips}
            found |= {
                each.floating_ip_address
                for each in network.ips(port_id=port.id)
            }
        return found

    def nothing_is_left(self, ident: str, made: dict[str, str]) -> None:
        """No object has a name of the stack, or is on its network."""
        begins = self.name + "-"
        network = self.cloud.network
        for kind, found in (
            ("network", network.networks()),
            ("subnet", network.subnets()),
            ("router", network.routers()),
            ("port", network.ports()),
            ("group", network.security_groups()),
            ("server", self.cloud.compute.servers()),
            ("volume", self.cloud.block_storage.volumes()),
        ):
            names = [each.name for each in found]
            with self.subTest(kind):
                left = [each for each in names if each.startswith(begins)]
                self.assertEqual([], left)
        self.assertEqual([], list(network.ports(network_id=made["vpc"])))
        for name in ("address", "free"):
            self.assertIsNone(network.find_ip(made[name]))

    def well(self, ident: str) -> None:
        self.act(ident, "check", "CHECK_COMPLETE")
        for each in self.heat.resources.list(ident):
            with self.subTest(each.resource_type):
                self.assertNotIn("differs", each.resource_status_reason)

    def test_whole_life(self) -> None:
        outputs = {key: {"value": value} for key, value in OUTPUTS.items()}
        sections = {"outputs": outputs}
        ident = self.create({**network(), **machines()}, sections=sections)
        self.name = self.heat.stacks.get(ident).stack_name
        made = self.ids(ident)
        told = self.outputs(ident)
        self.assertEqual((ZONE, "10.60.1.9"), (told["zone"], told["fixed"]))
        routers = self.routers(ident)
        public = self.cloud.network.find_network(test_cloud.EXTERNAL).id
        for router in routers.values():
            self.assertEqual(
                public, router.external_gateway_info["network_id"]
            )
        self.assertEqual(made["table"], self.router_of(made["subnet"]))
        self.assertEqual(routers["main"].id, self.router_of(made["plain"]))
        self.assertEqual(
            ["a=b"], self.cloud.network.get_subnet(made["subnet"]).tags
        )
        self.assertEqual(
            {"10.60.1.9", told["free"]}, self.addresses(made["server"])
        )
        self.assertIn(told["address"], self.addresses(made["second"]))
        second = self.cloud.compute.get_server(made["second"])
        self.assertEqual(
            [made["other_volume"]],
            [each.id for each in second.attached_volumes],
        )
        volume = self.cloud.block_storage.get_volume(made["volume"])
        self.assertEqual("b", volume.metadata["a"])
        self.assertEqual(made["server"], volume.attachments[0]["server_id"])
        self.well(ident)

        # Another gateway, route table, card and rule: no other machine.
        changed = {
            **network("other_gateway", note="two"),
            **machines("other_card", port=81),
        }
        self.update(ident, changed)
        after = self.ids(ident)
        other = {name for name in made if made[name] != after[name]}
        self.assertEqual({"attached", "table", "joined"}, other)
        self.assertEqual(after["table"], self.router_of(made["subnet"]))
        for router in self.routers(ident).values():
            self.assertEqual(
                public, router.external_gateway_info["network_id"]
            )
        port = self.cloud.network.get_port(made["other_card"])
        self.assertEqual(made["server"], port.device_id)
        port = self.cloud.network.get_port(made["card"])
        self.assertFalse(port.device_id)
        address = self.cloud.network.get_ip(made["free"])
        self.assertEqual(made["other_card"], address.port_id)
        rules = self.cloud.network.security_group_rules(
            security_group_id=made["group"]
        )
        self.assertIn(81, [each.port_range_min for each in rules])
        self.well(ident)

        # Without a route table of its own, a subnet has the main one.
        del changed["joined"]
        changed["address"]["properties"].pop("InstanceId")
        self.update(ident, changed)
        main = self.routers(ident)["main"].id
        self.assertEqual(main, self.router_of(made["subnet"]))
        self.assertIsNone(self.cloud.network.get_ip(made["address"]).port_id)

        self.delete(ident)
        self.nothing_is_left(ident, made)

    def test_rollback_leaves_the_ways_out_open(self) -> None:
        ident = self.create(network())
        self.name = self.heat.stacks.get(ident).stack_name
        before = self.ids(ident)
        changed = network("other_gateway", note="two")
        # It needs what the update made, and can't be made.
        changed["broken"] = {
            **aws("EC2::Subnet", **VPC, CidrBlock="10.60.1.0/25"),
            "depends_on": ["attached", "joined"],
        }
        self.update(
            ident, changed, "ROLLBACK_COMPLETE", disable_rollback=False
        )
        self.assertEqual(before, self.ids(ident))
        for router in self.routers(ident).values():
            self.assertTrue(router.external_gateway_info)
        self.assertEqual(before["table"], self.router_of(before["subnet"]))

    def test_card_and_machine_that_are_replaced(self) -> None:
        resources = {**network(), **machines()}
        for name in ("disk", "volume", "second", "other_volume", "address"):
            del resources[name]
        ident = self.create(resources)
        self.name = self.heat.stacks.get(ident).stack_name
        before = self.ids(ident)
        resources["card"]["properties"]["Description"] = "another"
        self.update(ident, resources)
        made = self.ids(ident)
        other = {name for name in made if made[name] != before[name]}
        self.assertEqual({"card"}, other)
        free = self.cloud.network.get_ip(made["free"])
        self.assertEqual(made["card"], free.port_id)
        self.assertEqual(
            {"10.60.1.9", free.floating_ip_address},
            self.addresses(made["server"]),
        )
        resources["server"]["properties"]["AvailabilityZone"] = ZONE
        self.update(ident, resources)
        after = self.ids(ident)
        other = {name for name in made if made[name] != after[name]}
        self.assertEqual({"server"}, other)
        port = self.cloud.network.get_port(made["card"])
        self.assertEqual(after["server"], port.device_id)
        self.well(ident)
        self.delete(ident)
        self.nothing_is_left(ident, {**after, "address": after["free"]})

    def test_repaired_when_asked_to(self) -> None:
        resources = {**network(), **machines()}
        for name in ("second", "other_volume", "address"):
            del resources[name]
        ident = self.create(resources)
        made = self.ids(ident)
        network_ = self.cloud.network
        network_.update_ip(made["free"], port_id=made["other_card"])
        [rule] = network_.security_group_rules(
            security_group_id=made["group"], protocol="tcp"
        )
        network_.delete_security_group_rule(rule)
        self.cloud.compute.delete_server_interface(
            made["card"], server=made["server"]
        )
        self.cloud.compute.delete_volume_attachment(
            made["server"], made["volume"]
        )
        volume = self.cloud.block_storage.get_volume(made["volume"])
        self.cloud.block_storage.wait_for_status(volume, "available")
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, resources, converge=True)
        after = self.ids(ident)
        free = network_.get_ip(made["free"])
        self.assertEqual(after["card"], free.port_id)
        rules = network_.security_group_rules(
            security_group_id=made["group"], protocol="tcp"
        )
        self.assertEqual([80], [each.port_range_min for each in rules])
        port = network_.get_port(after["card"])
        self.assertEqual(made["server"], port.device_id)
        volume = self.cloud.block_storage.get_volume(made["volume"])
        self.assertEqual(made["server"], volume.attachments[0]["server_id"])

    def test_in_a_network_of_the_users(self) -> None:
        name = f"story-{test_cloud.RUN}-vpc"
        theirs = self.cloud.network.create_network(name=name)
        self.addCleanup(self.cloud.network.delete_network, theirs)
        router = self.cloud.network.create_router(name=name)
        self.addCleanup(self.cloud.network.delete_router, router)
        resources = network()
        resources["vpc"]["external_id"] = theirs.id
        ident = self.create(resources)
        made = self.ids(ident)
        self.assertEqual(theirs.id, made["vpc"])
        self.assertEqual(router.id, self.router_of(made["plain"]))
        self.delete(ident)
        self.assertEqual(
            [], list(self.cloud.network.subnets(network_id=theirs.id))
        )
        found = self.cloud.network.get_router(router)
        self.assertIsNone(found.external_gateway_info)

    def test_deleted_by_hand_before(self) -> None:
        ident = self.create(
            {
                "vpc": aws("EC2::VPC"),
                "free": aws("EC2::EIP"),
                "volume": aws("EC2::Volume", AvailabilityZone=ZONE, Size=1),
                "group": group(80),
            }
        )
        made = self.ids(ident)
        self.cloud.network.delete_network(made["vpc"])
        self.cloud.network.delete_ip(made["free"])
        self.cloud.network.delete_security_group(made["group"])
        self.cloud.block_storage.delete_volume(made["volume"])
        name = self.heat.stacks.get(ident).stack_name
        self.delete(ident)
        routers = [each.name for each in self.cloud.network.routers()]
        self.assertEqual([], [e for e in routers if e.startswith(name + "-")])
