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

"""AWS::EC2: what its words come to in OpenStack's services."""

from __future__ import annotations

import dataclasses
import uuid

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import properties, resource
from heat.engine.resource import lifecycle
from heat.engine.resources.aws.ec2 import instance, network, security_group
from heat.engine.resources.openstack.nova import server_networks
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

NETWORK = "http://network/v2.0"
VOLUMES = cloud.SERVICES["block-storage"]
INTERFACE = "network:router_interface"


class Networking(cloud.Objects):
    """Objects that have calls of their own.

    :ivar ports: where the interfaces of routers are
    """

    ports = None

    def _serve(self, request, path, body):
        ident, _slash, call = path.strip("/").partition("/")
        if not call:
            return super()._serve(request, path, body)
        if ident not in self.stored:
            return 404, {"error": {"message": f"No {self.key} {ident}"}}
        if call == "tags":
            self.stored[ident]["tags"] = body["tags"]
        else:
            return self._interface(call.partition("_")[0], ident, body)
        return 200, body

    def _interface(self, verb, router, body):
        held = [
            port["id"]
            for port in self.ports.stored.values()
            if port["device_id"] == router
            and port["fixed_ips"][0] == {"subnet_id": body["subnet_id"]}
        ]
        if verb == "add":
            self.ports.add(
                network_id="vpc",
                device_id=router,
                device_owner=INTERFACE,
                fixed_ips=[{"subnet_id": body["subnet_id"]}],
            )
        elif not held:
            return 404, {"error": {"message": "no such interface"}}
        else:
            del self.ports.stored[held[0]]
        return 200, {}


class Ec2Test(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.networks = self.serve("network", status="ACTIVE")
        self.subnets = self.serve("subnet")
        self.routers = self.serve("router", status="ACTIVE")
        self.ports = self.serve("port", status="DOWN", device_id="")
        self.routers.ports = self.ports
        self.addresses = self.serve(
            "floatingip", floating_ip_address="172.24.4.9"
        )
        self.networks.add(
            **{"id": "public", "name": "public", "router:external": True}
        )

    def serve(self, key, **defaults):
        return Networking(
            self.cloud.mock,
            f"{NETWORK}/{key}s",
            key,
            f"{key}s",
            **defaults,
        )

    def made(self, kind, **given):
        """A resource, which no cloud knows of yet."""
        section = {"type": f"AWS::EC2::{kind}", "properties": given}
        view = stacks.view({"r": section})
        values = dataclasses.replace(view.values, context=self.cloud.context)
        stack = resource.StackView(view.definition, values=values)
        definition = view.definition.resource_definitions["r"]
        cls = stacks.registry().get(section["type"])
        rsrc = cls("r", definition, stack)
        rsrc.load_state(uuid=str(uuid.uuid4()))
        return rsrc

    def create(self, kind, **given):
        rsrc = self.made(kind, **given)
        stacks.run(rsrc, "CREATE")
        return rsrc

    def vpc(self):
        # Ports of routers are on a network of this id.
        rsrc = self.create("VPC", CidrBlock="10.0.0.0/16")
        made = self.networks.stored.pop(rsrc.resource_id)
        self.networks.stored["vpc"] = {**made, "id": "vpc"}
        rsrc.resource_id_set("vpc")
        [router] = self.routers.stored
        return rsrc, router

    def gateways(self):
        return {
            ident: (each.get("external_gateway_info") or {}).get("network_id")
            for ident, each in self.routers.stored.items()
        }

    def carrier(self):
        [port] = self.ports.stored.values()
        return port["device_id"]


class NetworkTest(Ec2Test):
    def test_a_vpc_is_a_network_and_a_router(self):
        rsrc, router = self.vpc()
        name = rsrc.physical_resource_name()
        self.assertEqual(name, self.networks.stored["vpc"]["name"])
        self.assertEqual(name, self.routers.stored[router]["name"])
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        self.assertEqual({"public"}, set(self.networks.stored))
        self.assertEqual({}, self.routers.stored)

    def test_a_vpc_half_of_which_is_gone(self):
        rsrc, router = self.vpc()
        del self.networks.stored["vpc"]
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.routers.stored)
        rsrc, router = self.vpc()
        del self.routers.stored[router]
        self.assertRaisesRegex(
            exception.ResourceFailure,
            "Router of the VPC",
            stacks.run,
            rsrc,
            "CHECK",
        )
        stacks.run(rsrc, "DELETE")
        self.assertEqual({"public"}, set(self.networks.stored))

    def test_a_router_of_that_name_must_be_one(self):
        rsrc, router = self.vpc()
        self.routers.add(name=self.routers.stored[router]["name"])
        self.assertRaises(
            exception.PhysicalResourceNameAmbiguity,
            network.main_router,
            rsrc,
            "vpc",
        )

    def test_tags(self):
        rsrc = self.create("VPC", Tags=[{"Key": "a", "Value": "b"}, "c"])
        found = self.networks.stored[rsrc.resource_id]
        self.assertEqual(["a=b", "c"], found["tags"])

    def test_a_subnet_is_on_the_router(self):
        _vpc, router = self.vpc()
        for block, version in (("10.0.1.0/24", 4), ("fd00::/64", 6)):
            rsrc = self.create(
                "Subnet", VpcId="vpc", CidrBlock=block, AvailabilityZone="z"
            )
            found = self.subnets.stored[rsrc.resource_id]
            self.assertEqual(
                ("vpc", block, version),
                (found["network_id"], found["cidr"], found["ip_version"]),
            )
            self.assertEqual(router, self.carrier())
            self.assertEqual("z", rsrc.FnGetAtt("AvailabilityZone"))
            stacks.run(rsrc, "DELETE")
            self.assertEqual({}, self.ports.stored)
            self.assertEqual({}, self.subnets.stored)

    def test_an_association_moves_the_subnet_and_back(self):
        _vpc, main = self.vpc()
        subnet = self.create(
            "Subnet", VpcId="vpc", CidrBlock="10.0.1.0/24"
        ).resource_id
        tables = [
            self.create("RouteTable", VpcId="vpc").resource_id for _ in "ab"
        ]
        first, second = (
            self.create(
                "SubnetRouteTableAssociation",
                RouteTableId=table,
                SubnetId=subnet,
            )
            for table in tables
        )
        self.assertEqual(tables[1], self.carrier())
        stacks.run(second, "CHECK")
        self.assertRaises(
            exception.ResourceFailure, stacks.run, first, "CHECK"
        )
        # It moved on: what the first one did is not undone.
        stacks.run(first, "DELETE")
        self.assertEqual(tables[1], self.carrier())
        stacks.run(second, "DELETE")
        self.assertEqual(main, self.carrier())

    def test_an_association_that_makes_way(self):
        """Addresses that lead into the subnet do so all the while."""
        _vpc, main = self.vpc()
        subnet = self.create(
            "Subnet", VpcId="vpc", CidrBlock="10.0.1.0/24"
        ).resource_id
        card = {"subnet_id": subnet, "ip_address": "10.0.1.4"}
        port = self.ports.add(network_id="vpc", fixed_ips=[card])["id"]
        led = {"port_id": port, "fixed_ip_address": "10.0.1.4"}
        address = self.addresses.add(router_id=main, **led)
        self.addresses.add(router_id=main, port_id="p")
        rsrc = self.create(
            "SubnetRouteTableAssociation",
            RouteTableId=self.create("RouteTable", VpcId="vpc").resource_id,
            SubnetId=subnet,
        )
        rsrc.prepare_for_replace()
        network.move(rsrc, subnet, main)
        self.assertTrue(lifecycle.verdict(rsrc).needs_update)
        stacks.run(rsrc, "UPDATE")
        stacks.run(rsrc, "CHECK")
        self.assertEqual(led, {key: address[key] for key in led})
        asked = [
            (path, body["floatingip"])
            for method, path, body in self.addresses.calls
            if method == "PUT"
        ]
        # Nothing of the one that leads elsewhere.
        path = f"/{address['id']}"
        self.assertEqual([(path, {"port_id": None}), (path, led)] * 2, asked)

    def test_an_association_of_what_is_gone(self):
        self.vpc()
        subnet = self.create("Subnet", VpcId="vpc", CidrBlock="10.0.1.0/24")
        table = self.create("RouteTable", VpcId="vpc")
        rsrc = self.create(
            "SubnetRouteTableAssociation",
            RouteTableId=table.resource_id,
            SubnetId=subnet.resource_id,
        )
        self.subnets.stored.clear()
        stacks.run(rsrc, "DELETE")

    def test_a_gateway_opens_all_routers_of_a_vpc(self):
        _vpc, main = self.vpc()
        other = self.routers.add(name="other")["id"]
        early = self.create("RouteTable", VpcId="vpc").resource_id
        rsrc = self.create("VPCGatewayAttachment", VpcId="vpc")
        late = self.create("RouteTable", VpcId="vpc").resource_id
        ours = dict.fromkeys((main, early, late), "public")
        self.assertEqual({**ours, other: None}, self.gateways())
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        self.assertEqual({None}, set(self.gateways().values()))

    def test_an_attachment_that_makes_way(self):
        _vpc, main = self.vpc()
        old = self.create("VPCGatewayAttachment", VpcId="vpc")
        old.prepare_for_replace()
        self.assertEqual({main: "public"}, self.gateways())
        new = self.create("VPCGatewayAttachment", VpcId="vpc")
        # A rollback: the old one is wanted again, the new one goes.
        self.assertTrue(lifecycle.verdict(old).needs_update)
        stacks.run(old, "UPDATE")
        stacks.run(new, "DELETE")
        self.assertEqual({main: "public"}, self.gateways())
        # None: the old one goes.
        self.create("VPCGatewayAttachment", VpcId="vpc")
        stacks.run(old, "DELETE")
        self.assertEqual({main: "public"}, self.gateways())

    def test_an_attachment_without_its_vpc(self):
        self.vpc()
        rsrc = self.create("VPCGatewayAttachment", VpcId="vpc")
        self.networks.stored.clear()
        stacks.run(rsrc, "DELETE")

    def test_no_cloud_is_asked_for_an_internet_gateway(self):
        rsrc = self.create("InternetGateway")
        self.assertEqual(rsrc.physical_resource_name(), rsrc.FnGetRefId())
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")

    def test_outside_is_the_default(self):
        rsrc = self.made("EIP")
        self.assertEqual("public", network.outside(rsrc))
        self.networks.add(
            **{"id": "x", "router:external": True, "is_default": True}
        )
        self.assertEqual("x", network.outside(rsrc))
        self.networks.stored.clear()
        self.assertRaises(exception.EntityNotFound, network.outside, rsrc)


class AddressTest(Ec2Test):
    def setUp(self):
        super().setUp()
        self.servers = cloud.Objects(
            self.cloud.mock,
            f"{cloud.SERVICES['compute']}/servers",
            "server",
            "servers",
        )
        self.server = self.servers.add(name="s")["id"]
        self.cards = [
            self.ports.add(device_id=self.server)["id"] for _ in "ab"
        ]

    def leads_to(self):
        [found] = self.addresses.stored.values()
        return found.get("port_id")

    def test_a_reference_is_the_address(self):
        rsrc = self.create("EIP")
        self.assertEqual("172.24.4.9", rsrc.FnGetRefId())
        self.assertEqual(rsrc.resource_id, rsrc.FnGetAtt("AllocationId"))
        [found] = self.addresses.stored.values()
        self.assertEqual("public", found["floating_network_id"])
        # One that was adopted has no record of it.
        rsrc.data_delete("floating_ip_address")
        self.assertEqual("172.24.4.9", rsrc.FnGetRefId())
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.addresses.stored)

    def test_leads_to_the_first_card_that_it_can(self):
        no_router = ("PUT", 404, {"NeutronError": {"message": "no router"}})
        self.addresses.refuse.append(no_router)
        rsrc = self.create("EIP", InstanceId=self.server)
        self.assertEqual(self.cards[1], self.leads_to())
        self.assertEqual(
            {"InstanceId": self.server},
            rsrc.get_live_state(rsrc.properties),
        )
        self.addresses.refuse.extend([no_router, no_router])
        other = self.made("EIP", InstanceId=self.server)
        self.assertRaisesRegex(
            exception.ResourceFailure,
            "no router",
            stacks.run,
            other,
            "CREATE",
        )

    def test_a_server_without_cards(self):
        self.ports.stored.clear()
        self.assertRaisesRegex(
            exception.ResourceFailure,
            "Network interface of the server",
            stacks.run,
            self.made("EIP", InstanceId=self.server),
            "CREATE",
        )

    def test_an_instance_that_comes_and_goes(self):
        rsrc = self.create("EIP")
        for server, port in ((self.server, self.cards[0]), (None, None)):
            given = {"InstanceId": server} if server else {}
            rsrc.target = rsrc.t.freeze(properties=given)
            stacks.run(rsrc, "UPDATE")
            self.assertEqual(port, self.leads_to())

    def test_an_association_by_all_its_words(self):
        floating = self.create("EIP")
        for address in (
            {"EIP": "172.24.4.9"},
            {"AllocationId": floating.resource_id},
        ):
            for target, port in (
                ({"InstanceId": self.server}, self.cards[0]),
                ({"NetworkInterfaceId": self.cards[1]}, self.cards[1]),
            ):
                with self.subTest(address=address, target=target):
                    rsrc = self.create("EIPAssociation", **address, **target)
                    self.assertEqual(port, self.leads_to())
                    stacks.run(rsrc, "CHECK")
                    stacks.run(rsrc, "DELETE")
                    self.assertIsNone(self.leads_to())

    def test_an_association_that_is_changed(self):
        floating = self.create("EIP").resource_id
        rsrc = self.create(
            "EIPAssociation",
            AllocationId=floating,
            NetworkInterfaceId=self.cards[0],
        )
        rsrc.target = rsrc.t.freeze(
            properties={
                "AllocationId": floating,
                "NetworkInterfaceId": self.cards[1],
            }
        )
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(self.cards[1], self.leads_to())
        # Somebody lets it lead elsewhere.
        self.addresses.stored[floating]["port_id"] = "elsewhere"
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        self.assertEqual("elsewhere", self.leads_to())

    def test_an_association_of_what_is_gone(self):
        rsrc = self.create(
            "EIPAssociation",
            AllocationId=self.create("EIP").resource_id,
            NetworkInterfaceId=self.cards[0],
        )
        self.addresses.stored.clear()
        stacks.run(rsrc, "DELETE")
        self.assertRaisesRegex(
            exception.ResourceFailure,
            "Floating IP",
            stacks.run,
            self.made(
                "EIPAssociation", EIP="10.1.1.1", InstanceId=self.server
            ),
            "CREATE",
        )

    def test_an_association_that_says_too_little_or_too_much(self):
        for given in (
            {"EIP": "172.24.4.9"},
            {"InstanceId": self.server},
            {
                "EIP": "172.24.4.9",
                "AllocationId": "a",
                "InstanceId": self.server,
            },
            {
                "EIP": "172.24.4.9",
                "InstanceId": self.server,
                "NetworkInterfaceId": self.cards[0],
            },
        ):
            with self.subTest(given=given):
                self.assertRaisesRegex(
                    exception.HeatException,
                    "EIP|InstanceId",
                    self.made("EIPAssociation", **given).validate,
                )


class InterfaceTest(Ec2Test):
    def test_life(self):
        groups = cloud.Objects(
            self.cloud.mock,
            f"{NETWORK}/security-groups",
            "security_group",
            "security_groups",
        )
        default = groups.add(name="default", tenant_id="t")["id"]
        web = groups.add(name="web")["id"]
        subnet = self.subnets.add(network_id="vpc")["id"]
        given = {
            "SubnetId": subnet,
            "PrivateIpAddress": "10.0.0.7",
            "Description": "d",
        }
        rsrc = self.create(
            "NetworkInterface", **given, GroupSet=["web"], Tags=["x"]
        )
        port = self.ports.stored[rsrc.resource_id]
        port["tenant_id"] = "t"
        self.assertEqual("10.0.0.7", rsrc.FnGetAtt("PrivateIpAddress"))
        self.assertEqual(
            ("vpc", "d", ["x"], [web], rsrc.physical_resource_name()),
            tuple(
                port[key]
                for key in (
                    "network_id",
                    "description",
                    "tags",
                    "security_groups",
                    "name",
                )
            ),
        )
        rsrc.target = rsrc.t.freeze(properties={**given, "Tags": ["x"]})
        stacks.run(rsrc, "UPDATE")
        self.assertEqual([default], port["security_groups"])
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.ports.stored)


class GroupTest(base.TestCase):
    def test_rules(self):
        table = security_group.SecurityGroup.properties_schema
        for words, wanted in (
            (
                {"IpProtocol": "TCP", "FromPort": "22", "ToPort": "23"},
                {
                    "protocol": "tcp",
                    "port_range_min": 22,
                    "port_range_max": 23,
                },
            ),
            (
                {"IpProtocol": "-1", "FromPort": "1", "ToPort": "2"},
                {},
            ),
            (
                {"IpProtocol": "icmp", "FromPort": "-1", "ToPort": "-1"},
                {"protocol": "icmp"},
            ),
            (
                {"CidrIp": "::/0"},
                {"ethertype": "IPv6", "remote_ip_prefix": "::/0"},
            ),
            ({"SourceSecurityGroupId": "g"}, {"remote_group_id": "g"}),
            ({"SourceSecurityGroupName": "g"}, {"remote_group_id": "g"}),
        ):
            with self.subTest(words=words):
                props = properties.Properties(
                    table,
                    {"GroupDescription": "d", "SecurityGroupIngress": [words]},
                )
                [rule] = props["SecurityGroupIngress"]
                self.assertEqual(
                    {"direction": "ingress", "ethertype": "IPv4", **wanted},
                    security_group._body(rule, "ingress"),
                )


class GroupLifeTest(Ec2Test):
    def test_rules_are_brought_and_told(self):
        groups = cloud.Objects(
            self.cloud.mock,
            f"{NETWORK}/security-groups",
            "security_group",
            "security_groups",
        )
        rules = cloud.Objects(
            self.cloud.mock,
            f"{NETWORK}/security-group-rules",
            "security_group_rule",
            "security_group_rules",
        )
        given = {
            "GroupDescription": "d",
            "SecurityGroupIngress": [{"IpProtocol": "tcp", "FromPort": "1"}],
        }
        rsrc = self.create("SecurityGroup", **given)
        made = groups.stored[rsrc.resource_id]
        self.assertEqual(
            {
                "id": rsrc.resource_id,
                "description": "d",
                "name": rsrc.physical_resource_name(),
            },
            made,
        )
        made["security_group_rules"] = list(rules.stored.values())
        self.assertEqual(
            ["egress", "egress", "ingress"],
            sorted(each["direction"] for each in rules.stored.values()),
        )
        live = rsrc.get_live_state(rsrc.properties)
        self.assertEqual(
            rsrc.properties["SecurityGroupIngress"],
            live["SecurityGroupIngress"],
        )
        self.assertIsNone(live["SecurityGroupEgress"])

        egress = [{"IpProtocol": "udp", "FromPort": "5", "ToPort": "5"}]
        rsrc.target = rsrc.t.freeze(
            properties={**given, "SecurityGroupEgress": egress}
        )
        stacks.run(rsrc, "UPDATE")
        [outward] = [
            each
            for each in rules.stored.values()
            if each["direction"] == "egress"
        ]
        self.assertEqual("udp", outward["protocol"])
        outward["protocol"] = "tcp"
        made["security_group_rules"] = [outward]
        live = rsrc.get_live_state(rsrc.properties)
        self.assertEqual(
            [{**egress[0], "IpProtocol": "tcp"}], live["SecurityGroupEgress"]
        )
        self.assertEqual([], live["SecurityGroupIngress"])


class VolumeTest(Ec2Test):
    def setUp(self):
        super().setUp()
        self.volumes = cloud.Objects(
            self.cloud.mock,
            f"{VOLUMES}/volumes",
            "volume",
            "volumes",
            status="available",
        )

    def test_body(self):
        rsrc = self.create(
            "Volume",
            AvailabilityZone="z",
            Size=2,
            Tags=[{"Key": "a", "Value": "b"}],
        )
        made = self.volumes.stored[rsrc.resource_id]
        self.assertEqual(
            ("z", 2, {"a": "b"}, rsrc.physical_resource_name()),
            tuple(
                made[key]
                for key in ("availability_zone", "size", "metadata", "name")
            ),
        )

    def test_of_a_backup_and_larger(self):
        self.cloud.mock.get(
            f"{VOLUMES}/backups/b", json={"backup": {"id": "b"}}
        )
        volume = self.volumes.add(size=1, id="v")
        self.cloud.mock.post(
            f"{VOLUMES}/backups/b/restore",
            json={"restore": {"volume_id": "v"}},
        )
        grow = self.cloud.mock.post(f"{VOLUMES}/volumes/v/action", json={})
        rsrc = self.made(
            "Volume", AvailabilityZone="z", Size=3, SnapshotId="b"
        )
        operation = lifecycle.Operation(rsrc, "CREATE")
        self.assertIsInstance(operation.start(), lifecycle.Waiting)
        self.assertEqual(
            {"os-extend": {"new_size": 3}}, grow.last_request.json()
        )
        volume["size"] = 3
        self.assertEqual(lifecycle.Done(), operation.poll())

    def test_restored_from_what_a_snapshot_is(self):
        rsrc = self.made("Volume", AvailabilityZone="z", Size=3)
        found = rsrc.handle_restore(
            rsrc.t, {"resource_data": {"backup_id": "b"}}
        )
        self.assertEqual("b", found.section("properties")["SnapshotId"])

    def test_size_or_snapshot(self):
        self.assertRaisesRegex(
            exception.HeatException,
            "Size, SnapshotId",
            self.made("Volume", AvailabilityZone="z").validate,
        )

    def attachment(self):
        """A volume, calls to attach it, and who asks for that."""
        servers = f"{cloud.SERVICES['compute']}/servers"
        self.cloud.mock.get(f"{servers}/s", json={"server": {"id": "s"}})
        attachments = f"{servers}/s/os-volume_attachments"
        asked = self.cloud.mock.post(
            attachments, json={"volumeAttachment": {"id": "v"}}
        )
        self.cloud.mock.delete(f"{attachments}/v", status_code=404)
        rsrc = self.made(
            "VolumeAttachment", InstanceId="s", VolumeId="v", Device="/dev/vdb"
        )
        return self.volumes.add(id="v", attachments=[]), asked, rsrc

    def test_an_attachment(self):
        volume, asked, rsrc = self.attachment()
        volume["status"] = "in-use"
        stacks.run(rsrc, "CREATE")
        self.assertEqual(
            {"volumeId": "v", "device": "/dev/vdb"},
            asked.last_request.json()["volumeAttachment"],
        )
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        self.assertFalse(lifecycle.verdict(rsrc).needs_replace)
        volume["attachments"] = [{"server_id": "s"}]
        stacks.run(rsrc, "CHECK")
        volume["status"] = "available"
        stacks.run(rsrc, "DELETE")

    def test_an_attachment_that_is_refused(self):
        _volume, _asked, rsrc = self.attachment()
        self.cloud.mock.post(
            f"{cloud.SERVICES['compute']}/servers/s/os-volume_attachments",
            status_code=409,
            json={"conflictingRequest": {"message": "no", "code": 409}},
        )
        self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CREATE"
        )
        self.assertIsNone(rsrc.resource_id)
        # Another instance may be named then.
        self.assertTrue(rsrc.needs_replace_failed())


class OrderTest(base.TestCase):
    def needs(self, **resources):
        stacks.registry()
        made = {
            name: {"type": kind, "properties": given}
            for name, (kind, given) in resources.items()
        }
        return stacks.view(made).definition.dependencies()

    def test_what_the_template_does_not_show(self):
        vpc = {"VpcId": {"get_resource": "vpc"}}
        needs = self.needs(
            vpc=("AWS::EC2::VPC", {}),
            subnet=("AWS::EC2::Subnet", {**vpc, "CidrBlock": "10.0.0.0/24"}),
            table=("AWS::EC2::RouteTable", vpc),
            far=("AWS::EC2::RouteTable", {"VpcId": "elsewhere"}),
            gate=("AWS::EC2::VPCGatewayAttachment", vpc),
            join=(
                "AWS::EC2::SubnetRouteTableAssociation",
                {"RouteTableId": "t", "SubnetId": "s"},
            ),
            ip=("AWS::EC2::EIP", {}),
            lead=("AWS::EC2::EIPAssociation", {"EIP": "10.0.0.1"}),
            floating=("OS::Neutron::FloatingIP", {"floating_network": "n"}),
            port=("OS::Neutron::Port", {"network": {"get_resource": "vpc"}}),
        )
        self.assertEqual({"vpc", "table"}, needs["gate"])
        for name in ("ip", "lead", "floating"):
            self.assertEqual({"gate", "join"}, needs[name])
        self.assertEqual({"vpc", "subnet"}, needs["port"])

    def test_an_address_after_the_ways_in_other_words(self):
        needs = self.needs(
            router=(
                "OS::Neutron::Router",
                {"external_gateway_info": {"network": "public"}},
            ),
            inner=("OS::Neutron::Router", {}),
            gate=("OS::Neutron::RouterGateway", {"router_id": "r"}),
            interface=("OS::Neutron::RouterInterface", {"router": "r"}),
            ip=("AWS::EC2::EIP", {}),
        )
        self.assertEqual({"router", "gate", "interface"}, needs["ip"])


class InstanceTest(Ec2Test):
    def test_other_cards_are_no_other_instance(self):
        given = {"ImageId": "i", "InstanceType": "t"}
        # No service is asked for names.
        self.cloud.context = heat_context.RequestContext()
        before = {**given, "NetworkInterfaces": ["one"]}
        rsrc = self.made("Instance", **before)
        rsrc.load_state(
            uuid=rsrc.uuid,
            physical_id="s",
            action="CREATE",
            stored_properties=before,
        )
        rsrc.target = rsrc.t.freeze(
            properties={**given, "NetworkInterfaces": ["two"]}
        )
        found = lifecycle.verdict(rsrc)
        self.assertEqual(
            (True, False), (found.needs_update, found.needs_replace)
        )

    def test_cards_as_they_are(self):
        ports = [
            self.ports.add(
                device_id="s", network_id="n", fixed_ips=[{"subnet_id": net}]
            )["id"]
            for net in ("near", "far")
        ]
        self.ports.add(device_id="other", fixed_ips=[])
        rsrc = self.made("Instance", ImageId="i", InstanceType="t")
        rsrc.resource_id_set("s")
        for given, cards in (
            ({"NetworkInterfaces": ports}, ports),
            ({"NetworkInterfaces": ports[1:]}, ports[::-1]),
            ({"SubnetId": "near"}, ports[1:]),
            ({"SubnetId": "nowhere"}, ports),
        ):
            with self.subTest(given=given):
                found = rsrc._live_cards(self.wished(**given))
                self.assertEqual(
                    {"SubnetId": None, "NetworkInterfaces": cards}, found
                )
        del self.ports.stored[ports[1]]
        found = rsrc._live_cards(self.wished(SubnetId="near"))
        self.assertEqual(
            {"SubnetId": "near", "NetworkInterfaces": None}, found
        )
        self.assertEqual({}, rsrc._live_cards(self.wished()))

    @staticmethod
    def wished(**given):
        return properties.Properties(
            instance.Instance.properties_schema,
            {"ImageId": "i", "InstanceType": "t", **given},
        )

    def test_a_floating_address_comes_later(self):
        rsrc = self.made("Instance", ImageId="i", InstanceType="t")
        addresses = [
            {"addr": "10.0.0.4", "OS-EXT-IPS:type": "fixed"},
            {"addr": "172.24.4.9", "OS-EXT-IPS:type": "floating"},
        ]
        self.cloud.mock.get(
            f"{cloud.SERVICES['compute']}/servers/s",
            json={"server": {"id": "s", "addresses": {"n": addresses}}},
        )
        kept = dict.fromkeys(("PublicIp", "PrivateIp"), "kept")
        rsrc.load_state(uuid=rsrc.uuid, physical_id="s", attributes=kept)
        self.assertEqual("172.24.4.9", rsrc.FnGetAtt("PublicIp"))
        self.assertEqual("kept", rsrc.FnGetAtt("PrivateIp"))

    def test_what_took_its_place_is_known_by_its_name(self):
        rsrc = self.made("Instance", ImageId="i", InstanceType="t")
        servers = cloud.Objects(
            self.cloud.mock,
            f"{cloud.SERVICES['compute']}/servers",
            "server",
            "servers",
        )
        for name, ours in (("st-r-abc", True), ("other", False)):
            other = servers.add(name=name)["id"]
            self.assertEqual(
                ours, server_networks._is_replacement(rsrc, other)
            )
