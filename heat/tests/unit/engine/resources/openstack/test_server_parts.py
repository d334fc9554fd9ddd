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

"""What a server is asked for with: disks and ports."""

from __future__ import annotations

import dataclasses
import itertools
import json
import uuid
from unittest import mock

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import resource
from heat.engine.clients import errors
from heat.engine.resources.openstack.nova import (
    server_disks,
    server_networks,
)
from heat.tests import base
from heat.tests.unit.engine import stacks


def server(metadata=None, **properties):
    """A server's resource, with no cloud."""
    section = {
        "type": "OS::Nova::Server",
        "properties": {"flavor": "f", **properties},
    }
    if metadata:
        section["metadata"] = metadata
    registry = stacks.registry()
    view = stacks.view({"r": section})
    context = heat_context.RequestContext()
    values = dataclasses.replace(view.values, context=context)
    stack = resource.StackView(view.definition, values=values)
    definition = view.definition.resource_definitions["r"]
    rsrc = registry.get("OS::Nova::Server")("r", definition, stack)
    rsrc.load_state(uuid=str(uuid.uuid4()))
    return rsrc


class DisksTest(base.TestCase):
    def test_refused(self):
        image = {"image": "i", "volume_size": 1}
        for disks, words in (
            ([{}], "block_device_mapping_v2[0]"),
            ([image, {"delete_on_termination": True}], "v2[1]"),
            ([{"volume_id": "v", "snapshot_id": "s"}], "same time"),
            ([image, {"swap_size": 1, "ephemeral_size": 1}], "same time"),
            ([{"image": "i"}], "volume_size"),
            ([{"volume_id": "v", "volume_type": "t"}], "volume_type"),
            ([{"swap_size": 64}], "boots from"),
            ([], "boots from"),
        ):
            with self.subTest(disks=disks):
                rsrc = server(block_device_mapping_v2=disks)
                error = self.assertRaises(
                    exception.HeatException, rsrc.validate
                )
                self.assertIn(words, str(error))

    def test_more_refused(self):
        disk = {"image": "i", "volume_size": 1, "volume_type": "t"}
        for properties, words in (
            (
                {"block_device_mapping_v2": [disk], "personality": {"a": "b"}},
                "properties.personality",
            ),
            ({"image": "i", "reservation_id": "r"}, "reservation_id"),
            (
                {
                    "block_device_mapping": [
                        {"device_name": "vda", "volume_id": "v"}
                    ],
                    "block_device_mapping_v2": [disk],
                },
                "same time",
            ),
        ):
            with self.subTest(properties=properties):
                error = self.assertRaises(
                    exception.HeatException, server(**properties).validate
                )
                self.assertIn(words, str(error))

    def wanted(self, *disks, **properties):
        rsrc = server(block_device_mapping_v2=list(disks), **properties)
        rsrc.validate()
        return server_disks.wanted(rsrc.properties)

    def test_the_first_that_can_boots(self):
        found = self.wanted(
            {"swap_size": 64},
            {"volume_id": "v"},
            {"image": "i", "volume_size": 2},
        )
        self.assertEqual([-1, 0, -1], [each["boot_index"] for each in found])

    def test_unless_something_else_does(self):
        found = self.wanted(
            {"volume_id": "v"},
            {"image": "i", "volume_size": 2, "boot_index": 0},
        )
        self.assertEqual([-1, 0], [each["boot_index"] for each in found])
        [extra] = self.wanted({"volume_id": "v"}, image="i")
        self.assertEqual(-1, extra["boot_index"])

    def test_sources(self):
        for disk, asked in (
            (
                {"snapshot_id": "s", "volume_type": "fast"},
                {
                    "uuid": "s",
                    "source_type": "snapshot",
                    "destination_type": "volume",
                    "volume_type": "fast",
                    "boot_index": -1,
                },
            ),
            (
                {"ephemeral_size": 3, "ephemeral_format": "xfs"},
                {
                    "source_type": "blank",
                    "destination_type": "local",
                    "volume_size": 3,
                    "guest_format": "xfs",
                    "boot_index": -1,
                },
            ),
            (
                {"swap_size": 64},
                {
                    "source_type": "blank",
                    "destination_type": "local",
                    "volume_size": 64,
                    "guest_format": "swap",
                    "boot_index": -1,
                },
            ),
        ):
            with self.subTest(disk=disk):
                self.assertEqual([asked], self.wanted(disk, image="i"))

    def test_the_old_form(self):
        rsrc = server(
            block_device_mapping=[
                {
                    "device_name": "vda",
                    "snapshot_id": "s",
                    "volume_size": 3,
                    "delete_on_termination": True,
                },
                {"device_name": "vdb", "volume_id": "v"},
            ]
        )
        rsrc.validate()
        self.assertEqual(
            {"vda": "s:snap:3:1", "vdb": "v"},
            server_disks.legacy(rsrc.properties),
        )


class PortsTest(base.TestCase):
    def test_left_beside_a_server_that_is_let_go(self):
        """What somebody uses stays, and is told of."""
        ports = {"used": {"device_id": "s"}, "free": {"device_id": ""}}

        class Ports:
            def get(self, ident):
                if ident not in ports:
                    raise errors.NotFound("gone")
                return ports[ident]

            def delete(self, ident):
                if ports.pop(ident, None) is None:
                    raise errors.NotFound("gone")

        rsrc = server()
        key = server_networks.OWN_PORTS
        self.assertEqual({key, rsrc.USER_ID}, set(type(rsrc).beside))
        rsrc.data_set(key, json.dumps(["used", "free", "gone"]))
        with mock.patch.object(
            server_networks, "_neutron", lambda *_args: Ports()
        ):
            left = rsrc.forget_beside()
        self.assertEqual([("OS::Neutron::Port", "used")], left)
        self.assertEqual({"used"}, set(ports))
        self.assertEqual(["used"], json.loads(rsrc.data()[key]))


class Cards:
    """Nova and Neutron as far as a server's cards go."""

    def __init__(self, rsrc, *ports):
        self.rsrc, self.done, self.ids = rsrc, [], itertools.count(1)
        self.ports = {}
        self.slow = 0
        for each in ports:
            self.add(device_id="server", **each)

    def __call__(self, _server, entity):
        return {"port": self, "subnet": self}[entity]

    def add(self, ident=None, ip="", subnet="sub", **values):
        ident = ident or f"port{next(self.ids)}"
        fixed = [{"subnet_id": subnet, "ip_address": ip}]
        self.ports[ident] = {"id": ident, "fixed_ips": fixed, **values}
        return self.ports[ident]

    def list(self, device_id):
        self.slow -= 1
        for ident in [*self.ports]:
            port = self.ports[ident]
            if port["device_id"] == "leaving" and self.slow < 0:
                port["device_id"] = ""
        wanted = (device_id, "leaving")
        return [e for e in self.ports.values() if e["device_id"] in wanted]

    def get(self, ident):
        if ident not in self.ports:
            return {"network_id": "net"}
        return self.ports[ident]

    def create(self, body):
        self.done.append(("create", body.get("fixed_ips")))
        return self.add(device_id="", network_id=body["network_id"])

    def delete(self, ident):
        self.done.append(("delete", ident))
        del self.ports[ident]

    def call(self, name, server_id, *args, **_more):
        self.done.append((name, *args[:3]))
        if name == "interface_detach":
            self.ports[args[0]]["device_id"] = "leaving"
        elif any(each["device_id"] == "leaving" for each in self.list("-")):
            raise AssertionError("attached before it was detached")


class NetworksTest(base.TestCase):
    A = {"network": "net", "network_id": "net"}

    def change(self, before, after, *ports, own=(), slow=0):
        """What is done; the ports are those that the server has."""
        rsrc = server(networks=before)
        rsrc.resource_id_set("server")
        rsrc.data_set(server_networks.OWN_PORTS, json.dumps(list(own)))
        cards = Cards(rsrc, *ports)
        cards.slow = slow
        wanted = server(networks=after).properties
        with (
            mock.patch.object(server_networks, "_neutron", cards),
            mock.patch.object(server_networks, "_DETACH_SECONDS", 0),
            mock.patch.object(type(rsrc), "collection", lambda _self: cards),
        ):
            server_networks.change(rsrc, rsrc.properties, wanted)
        self.left = json.loads(rsrc.data()[server_networks.OWN_PORTS])
        return cards.done

    def test_one_more_and_one_less(self):
        one, two = {"network": "n1"}, {"network": "n2"}
        first = {"ident": "p1", "network_id": "n1"}
        second = {"ident": "p2", "network_id": "n2"}
        attached = ("interface_attach", None, "n2", None)
        self.assertEqual([attached], self.change([one], [one, two], first))
        self.assertEqual(
            [("interface_detach", "p1")],
            self.change([one, two], [two], first, second),
        )
        self.assertEqual([], self.change([one, two], [two, one], first))

    def test_attached_when_the_old_one_is_gone(self):
        for after, attached in (
            ({"port": "p9"}, ("p9", None, None)),
            (
                {"network": "n1", "fixed_ip": "10.0.0.9"},
                (None, "n1", "10.0.0.9"),
            ),
        ):
            done = self.change(
                *([{"network": "n1"}], [after]),
                {"ident": "p1", "network_id": "n1", "ip": "10.0.0.5"},
                slow=3,
            )
            self.assertEqual(
                [("interface_detach", "p1"), ("interface_attach", *attached)],
                done,
            )

    def test_a_port_made_here_goes_with_its_card(self):
        one = {"network": "n1", "subnet": "s1"}
        port = {"ident": "p1", "network_id": "n1", "subnet": "s1"}
        done = self.change([one], [{"port": "p9"}], port, own=["p1", "p2"])
        self.assertEqual(
            [
                ("interface_detach", "p1"),
                ("delete", "p1"),
                ("interface_attach", "p9", None, None),
            ],
            done,
        )
        self.assertEqual(["p2"], self.left)
        done = self.change([{"port": "p1"}], [{"subnet": "s2"}], port)
        self.assertEqual(
            [
                ("interface_detach", "p1"),
                ("create", [{"subnet_id": "s2"}]),
                ("interface_attach", "port1", None, None),
            ],
            done,
        )
        self.assertEqual(["port1"], self.left)

    def test_of_two_on_a_network_the_right_one(self):
        fixed = {"network": "n1", "fixed_ip": "10.0.0.5"}
        six = {"network": "n1", "fixed_ip": "2001:db8:0::5"}
        ports = [
            {"ident": "p1", "network_id": "n1", "ip": "2001:db8::5"},
            {"ident": "p2", "network_id": "n1", "ip": "10.0.0.5"},
            {"ident": "p3", "network_id": "n1", "ip": "10.0.0.7"},
        ]
        plain = {"network": "n1"}
        for gone, port in ((plain, "p3"), (fixed, "p2"), (six, "p1")):
            before = [plain, fixed, six]
            after = [each for each in before if each != gone]
            self.assertEqual(
                [("interface_detach", port)],
                self.change(before, after, *ports),
            )

    def test_a_port_that_a_changed_card_asks_for_stays(self):
        port = {"ident": "p1", "network_id": "n1", "subnet": "s1"}
        port["ip"] = "10.0.0.5"
        cards = (
            {"network": "n1"},
            {"subnet": "s1"},
            {"network": "n1", "subnet": "s1"},
            {"network": "n1", "fixed_ip": "10.0.0.5"},
        )
        for before, after in itertools.permutations(cards, 2):
            with self.subTest(before=before, after=after):
                own = ["p1"] if "subnet" in before else []
                self.assertEqual(
                    [], self.change([before], [after], port, own=own)
                )
                self.assertEqual(own, self.left)
        self.assertEqual([], self.change(cards[:1], [{"port": "p1"}], port))
        gone = ("interface_detach", "p1")
        attached = ("interface_attach", None, "n1", None)
        for before, after in (
            ({"port": "p1"}, {"network": "n1"}),
            ({"network": "n1"}, {"network": "n1", "tag": "a"}),
        ):
            with self.subTest(before=before, after=after):
                done = self.change([before], [after], port)
                self.assertEqual([gone, attached], done)

    def test_three_cards_that_change_places(self):
        ports = [
            {"ident": "p1", "network_id": "n1", "subnet": "s1"},
            {"ident": "p2", "network_id": "n1", "subnet": "s1", "ip": "::7"},
            {"ident": "p3", "network_id": "n1", "subnet": "s1"},
        ]
        net, subnet = {"network": "n1"}, {"subnet": "s1"}
        done = self.change(
            [net, {**net, "fixed_ip": "::7"}, subnet],
            [subnet, net, {**net, **subnet}],
            *ports,
            own=["p3"],
        )
        self.assertEqual([], done)

    def test_what_nova_chose(self):
        """It goes for what is named, or is just that, and comes again."""
        auto = [{"allocate_network": "auto"}]
        none = [{"allocate_network": "none"}]
        named = [{"network": "n2"}]
        first = {"ident": "p1", "network_id": "n1"}
        second = {"ident": "p2", "network_id": "n2"}
        gone = ("interface_detach", "p1")
        attached = ("interface_attach", None, "n2", None)
        chosen = ("interface_attach", None, None, None)
        for before, after, ports, done in (
            (None, named, [first], [gone, attached]),
            ([], named, [first], [gone, attached]),
            (auto, named, [first], [gone, attached]),
            (None, named, [second], []),
            (None, auto, [first], []),
            (None, none, [first], [gone]),
            (none, named, [], [attached]),
            (named, [], [second], [("interface_detach", "p2"), chosen]),
            (named, auto, [second], [("interface_detach", "p2"), chosen]),
            (named, none, [second], [("interface_detach", "p2")]),
            # An earlier try came as far as that.
            (named, [], [first], []),
            (named, [{"port": "p1"}], [first], []),
        ):
            with self.subTest(before=before, after=after, ports=ports):
                self.assertEqual(done, self.change(before, after, *ports))
