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

"""A server's life, by the public client and over ReST, and its accidents."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid
from typing import Any

from openstack import exceptions as sdk_exc

from heat_integrationtests import cloud, test_cloud
from heat_integrationtests.test_cloud import (
    EXTERNAL,
    OTHER_FLAVOR,
    SECONDS,
    network,
    ref,
    res,
    server,
)

PRIVATE = [{"network": "private"}]


class ClientStory(test_cloud.CloudStory):
    """What a user types."""

    def openstack(self, *args: str, parse: bool = True) -> Any:
        """Run ``openstack args`` as the cloud's user; its JSON."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
        env.update(
            OS_AUTH_TYPE="admin_token",
            OS_ENDPOINT=self.running.endpoint,
            OS_TOKEN=self.cloud.auth_token,
        )
        command = [str(pathlib.Path(sys.executable).with_name("openstack"))]
        command += [*args, *(["-f", "json"] if parse else [])]
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        if not parse:
            return done.stdout
        lines = done.stdout.splitlines()
        # With --wait, events come first.
        first = next(i for i, each in enumerate(lines) if each[:1] in "[{")
        return json.loads("\n".join(lines[first:]))

    def file(self, flavor: str, size: int) -> str:
        """A template in a file."""
        resources = {
            **network(),
            "port": res("Neutron::Port", network=ref("net")),
            "server": server(flavor=flavor, networks=[{"port": ref("port")}]),
            "volume": res("Cinder::Volume", size=size),
            "attachment": res(
                "Cinder::VolumeAttachment",
                instance_uuid=ref("server"),
                volume_id=ref("volume"),
            ),
        }
        outputs = {"id": {"value": ref("server")}}
        with tempfile.NamedTemporaryFile("w", delete=False) as made:
            json.dump(self.template(resources, outputs=outputs), made)
        self.addCleanup(os.unlink, made.name)
        return made.name

    def test_whole_life(self) -> None:
        name = f"story-{uuid.uuid4().hex[:8]}"
        made = self.openstack(
            *("stack", "create", "--wait", name),
            *("-t", self.file(test_cloud.FLAVOR, 1)),
        )
        self.addCleanup(self.delete, made["id"])
        self.assertEqual("CREATE_COMPLETE", made["stack_status"])
        told = self.openstack("stack", "output", "show", name, "id")
        ident = told["output_value"]
        self.assertEqual("ACTIVE", self.cloud.compute.get_server(ident).status)
        listed = self.openstack("stack", "resource", "list", name)
        self.assertEqual(
            {"CREATE_COMPLETE"}, {each["resource_status"] for each in listed}
        )
        changed = self.openstack(
            *("stack", "update", "--wait", name),
            *("-t", self.file(OTHER_FLAVOR, 2)),
        )
        self.assertEqual("UPDATE_COMPLETE", changed["stack_status"])
        shown = self.cloud.compute.get_server(ident)
        self.assertEqual(OTHER_FLAVOR, shown.flavor.name)
        volume = self.physical(made["id"], "volume")
        self.assertEqual(2, self.cloud.block_storage.get_volume(volume).size)
        self.openstack(
            *("stack", "delete", "--yes", "--wait", name), parse=False
        )
        self.assertIsNone(self.cloud.compute.find_server(ident))
        self.assertIsNone(self.cloud.block_storage.find_volume(volume))


class NetworksStory(test_cloud.CloudStory):
    """A server whose cards change, again and again."""

    def cards(self, server: str) -> list[tuple[str, str]]:
        """Network and address of the cards that the server has now."""
        ports = self.cloud.network.ports(device_id=server)
        return sorted(
            (each.network_id, each.fixed_ips[0]["ip_address"])
            for each in ports
        )

    def test_changed_in_place(self) -> None:
        """What is told when an update is complete is so by then."""
        net, other, subnet = ref("net"), ref("other"), ref("subnet")
        first, second = "10.9.0.77", "10.9.0.88"
        others = {
            **network(),
            "other": res("Neutron::Net"),
            "other_subnet": res(
                "Neutron::Subnet", network=other, cidr="10.8.0.0/24"
            ),
            "port": res(
                "Neutron::Port",
                network=net,
                fixed_ips=[{"ip_address": first}],
            ),
        }

        def resources(*networks: dict[str, Any]) -> dict[str, Any]:
            wish = server(networks=list(networks))
            wish["depends_on"] = ["subnet", "other_subnet"]
            return {**others, "server": wish}

        ident = self.create(resources({"network": net}))
        made = self.physical(ident, "server")
        names = {
            self.physical(ident, "net"): "net",
            self.physical(ident, "other"): "other",
        }
        plain, fixed = {"network": net}, {"network": net, "fixed_ip": second}
        for wanted, nets, addresses in (
            ([plain, {"network": other}], ["net", "other"], []),
            ([{"network": other}], ["other"], []),
            ([{"port": ref("port")}], ["net"], [first]),
            ([fixed], ["net"], [second]),
            ([{"subnet": subnet, "fixed_ip": second}], ["net"], [second]),
            ([fixed, plain], ["net", "net"], [second]),
            ([plain], ["net"], []),
            ([{"subnet": subnet}, plain], ["net", "net"], []),
            ([{"allocate_network": "none"}], [], []),
            ([{"port": ref("port")}, fixed], ["net"] * 2, [first, second]),
        ):
            with self.subTest(wanted=wanted):
                self.update(ident, resources(*wanted))
                self.assertEqual(made, self.physical(ident, "server"))
                found = self.cards(made)
                self.assertEqual(nets, sorted(names[n] for n, _ip in found))
                self.assertLessEqual(set(addresses), {ip for _n, ip in found})
                if second not in addresses:
                    self.assertNotIn(second, {ip for _n, ip in found})
        network_id = self.physical(ident, "net")
        ports = self.cloud.network.ports(network_id=network_id)
        left = [e for e in ports if e.device_owner != "network:dhcp"]
        self.assertEqual(2, len(left), "ports made on the way are gone")


class ImageStory(test_cloud.CloudStory):
    """A server on another image: the same one, or a new one."""

    def image(self) -> str:
        """Another image, which is deleted after the test."""
        made = self.cloud.image.create_image(
            f"story-{uuid.uuid4().hex[:8]}",
            disk_format="raw",
            container_format="bare",
            visibility="private",
            data=b"other bytes",
        )
        self.addCleanup(self.cloud.image.delete_image, made.id)
        self.cloud.image.wait_for_status(made, "active", wait=60)
        return str(made.id)

    def test_rebuilt_and_replaced(self) -> None:
        def resources(image: str, policy: str) -> dict[str, Any]:
            return {
                "server": server(
                    image=image,
                    image_update_policy=policy,
                    networks=PRIVATE,
                )
            }

        ident = self.create(resources(test_cloud.IMAGE, "REBUILD"))
        first = self.physical(ident, "server")
        other = self.image()
        self.update(ident, resources(other, "REBUILD"))
        self.assertEqual(first, self.physical(ident, "server"))
        shown = self.cloud.compute.get_server(first)
        self.assertEqual((other, "ACTIVE"), (shown.image.id, shown.status))
        self.update(ident, resources(test_cloud.IMAGE, "REPLACE"))
        self.assertNotEqual(first, self.physical(ident, "server"))
        self.assertIsNone(self.cloud.compute.find_server(first))


class AccidentStory(test_cloud.CloudStory):
    """What happens to objects without Heat."""

    def remove(self, server_id: str) -> None:
        """Delete a server behind Heat's back."""
        self.cloud.compute.delete_server(server_id)
        deadline = time.monotonic() + SECONDS
        while self.cloud.compute.find_server(server_id) is not None:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.5)

    def test_a_server_that_is_gone(self) -> None:
        resources = {"server": server(networks=PRIVATE)}
        ident = self.create(resources)
        first = self.physical(ident, "server")
        self.remove(first)
        stack = self.act(ident, "check", "CHECK_FAILED")
        self.assertIn("resources.server", stack.stack_status_reason)
        self.update(ident, resources)
        second = self.physical(ident, "server")
        self.assertNotEqual(first, second)
        self.assertEqual(
            "ACTIVE", self.cloud.compute.get_server(second).status
        )
        self.act(ident, "check", "CHECK_COMPLETE")

    def test_a_server_in_error(self) -> None:
        resources = {"server": server(networks=PRIVATE)}
        ident = self.create(resources)
        first = self.physical(ident, "server")
        cloud.administrator().compute.reset_server_state(first, "error")
        stack = self.act(ident, "check", "CHECK_FAILED")
        self.assertIn("ERROR", stack.stack_status_reason)
        self.update(ident, resources)
        second = self.physical(ident, "server")
        self.assertNotEqual(first, second)
        self.assertIsNone(self.cloud.compute.find_server(first))

    def test_nothing_is_left_to_delete(self) -> None:
        resources = {
            **network(),
            "port": res("Neutron::Port", network=ref("net")),
            "server": server(networks=[{"port": ref("port")}]),
            "floating": res("Neutron::FloatingIP", floating_network=EXTERNAL),
            "volume": res("Cinder::Volume", size=1),
            "key": res("Nova::KeyPair", name=f"story-{uuid.uuid4().hex}"),
            "group": res("Neutron::SecurityGroup"),
        }
        ident = self.create(resources)
        ids = {name: self.physical(ident, name) for name in resources}
        self.remove(ids["server"])
        self.cloud.compute.delete_keypair(ids["key"])
        self.cloud.block_storage.delete_volume(ids["volume"])
        self.cloud.network.delete_ip(ids["floating"])
        self.cloud.network.delete_port(ids["port"])
        self.cloud.network.delete_subnet(ids["subnet"])
        self.cloud.network.delete_network(ids["net"])
        self.cloud.network.delete_security_group(ids["group"])
        self.heat.stacks.delete(ident)
        self.wait(ident, "DELETE_COMPLETE")

    def test_a_delete_that_must_wait(self) -> None:
        """A network with somebody else's port on it goes when that has."""
        ident = self.create(network())
        net = self.physical(ident, "net")
        port = self.cloud.network.create_port(network_id=net)
        self.heat.stacks.delete(ident)
        time.sleep(4)
        self.assertIsNotNone(self.cloud.network.find_network(net))
        self.cloud.network.delete_port(port)
        self.wait(ident, "DELETE_COMPLETE")
        with self.assertRaises(sdk_exc.NotFoundException):
            self.cloud.network.get_network(net)
