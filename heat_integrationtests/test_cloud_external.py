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
"""Objects of users in a real cloud: read, taken away, given back to Heat.

The examples of the template guide are run as they stand there, by the public
client. Then every type goes all the ways: an object that is there is looked
up, another takes its place, it is handed back and compared as it is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

from heatclient import exc as heat_exc
from openstack import exceptions as sdk_exc

from heat_integrationtests import cloud, test_cloud_life
from heat_integrationtests.test_cloud import (
    FLAVOR,
    IMAGE,
    CloudStory,
    res,
    server,
)

EXAMPLES = (
    pathlib.Path(__file__).parent.parent / "doc/source/template_guide/examples"
)
NOWHERE = "00000000-0000-0000-0000-00000000dead"


def private() -> list[dict[str, str]]:
    return [{"network": "private"}]


class ExampleStory(CloudStory):
    """The two use cases, by hand as a user would."""

    openstack = test_cloud_life.ClientStory.openstack

    def name(self) -> str:
        return f"external-{uuid.uuid4().hex[:8]}"

    def by_hand(self) -> Any:
        """A server that Heat knows nothing of."""
        network = self.cloud.network.find_network("private")
        made = self.cloud.compute.create_server(
            name=self.name(),
            flavor_id=self.cloud.compute.find_flavor(FLAVOR).id,
            image_id=self.cloud.image.find_image(IMAGE).id,
            networks=[{"uuid": network.id}],
        )
        self.addCleanup(self._forget, made.id)
        return self.cloud.compute.wait_for_server(made)

    def _forget(self, ident: str) -> None:
        with contextlib.suppress(sdk_exc.NotFoundException):
            self.cloud.compute.delete_server(ident)

    def test_a_server_rebuilt_by_hand(self) -> None:
        name, path = self.name(), str(EXAMPLES / "own_server.yaml")
        self.addCleanup(self.delete, name)
        self.openstack("stack", "create", "--wait", "-t", path, name)
        first = self.output(name, "server_id")
        made = self.by_hand()

        self.openstack(
            *("stack", "update", "--wait", "-t", path),
            *("--parameter", f"rebuilt={made.id}", name),
        )
        self.assertEqual(made.id, self.output(name, "server_id"))
        shown = self.cloud.compute.get_server(made.id)
        addresses = [a["addr"] for n in shown.addresses.values() for a in n]
        self.assertIn(self.output(name, "address"), addresses)
        self.assertIsNone(self.cloud.compute.find_server(first))
        self.assertEqual({}, dict(shown.metadata))
        self.assertTrue(self.heat.resources.get(name, "server").external)

        # Handed back: the very server, brought to the template in place.
        self.openstack(
            *("stack", "update", "--wait", "-t", path),
            *("--parameter", "note=second", name),
        )
        self.assertEqual(made.id, self.output(name, "server_id"))
        shown = self.cloud.compute.get_server(made.id)
        self.assertEqual({"note": "second"}, dict(shown.metadata))
        after = [a["addr"] for n in shown.addresses.values() for a in n]
        self.assertEqual(addresses, after)
        self.openstack("stack", "delete", "--wait", "-y", name, parse=False)
        self.assertIsNone(self.cloud.compute.find_server(made.id))

    def test_a_network_that_is_read(self) -> None:
        network = self.cloud.network.create_network(name=self.name())
        self.addCleanup(self.cloud.network.delete_network, network.id)
        name, path = self.name(), str(EXAMPLES / "existing_network.yaml")
        self.openstack(
            *("stack", "create", "--wait", "-t", path),
            *("--parameter", f"network={network.id}", name),
        )
        self.assertEqual(network.name, self.output(name, "name"))
        self.openstack("stack", "delete", "--wait", "-y", name, parse=False)
        left = self.cloud.network.get_network(network.id)
        self.assertEqual(network.name, left.name)

    def output(self, name: str, key: str) -> Any:
        told = self.heat.stacks.output_show(name, key)
        return told["output"]["output_value"]


@dataclasses.dataclass(frozen=True)
class Case:
    """One type.

    :ivar make: makes two objects of it; their ids
    :ivar properties: as the objects are made
    :ivar change: properties that are changed in place when it is handed back
    :ivar fixed: one that can't be, as no object has it
    :ivar show: the object, by id
    """

    kind: str
    make: Callable[[], list[str]]
    properties: dict[str, Any]
    change: dict[str, Any]
    show: Callable[[str], Any]
    fixed: dict[str, Any] = dataclasses.field(default_factory=dict)


class TypesStory(CloudStory):
    """Found, put in another's place, handed back, for each type."""

    def setUp(self) -> None:
        super().setUp()
        self.tag = f"external-{uuid.uuid4().hex[:8]}"

    def both(self, create: Any, delete: Any, **body: Any) -> list[str]:
        made = []
        for number in range(2):
            given = {"name": f"{self.tag}-{number}", **body}
            made.append(create(**given).id)
            self.addCleanup(self._quietly, delete, made[-1])
        return made

    @staticmethod
    def _quietly(delete: Any, ident: str) -> None:
        with contextlib.suppress(
            sdk_exc.NotFoundException, sdk_exc.ConflictException
        ):
            delete(ident)

    def network(self) -> Any:
        return self.cloud.network.find_network("private")

    def cases(self) -> dict[str, Case]:
        net, vol = self.cloud.network, self.cloud.block_storage
        compute = self.cloud.compute
        private_id = self.network().id
        return {
            "net": Case(
                "Neutron::Net",
                lambda: self.both(net.create_network, net.delete_network),
                {},
                {"name": f"{self.tag}-changed"},
                net.get_network,
            ),
            "subnet": Case(
                "Neutron::Subnet",
                self._subnets,
                {"network": self.tag, "cidr": "10.77.0.0/24"},
                {"dns_nameservers": ["10.77.0.9"]},
                net.get_subnet,
                {"cidr": "10.99.0.0/24"},
            ),
            "port": Case(
                "Neutron::Port",
                lambda: self.both(
                    net.create_port, net.delete_port, network_id=private_id
                ),
                {"network": "private"},
                {"name": f"{self.tag}-changed"},
                net.get_port,
                {"mac_address": "fa:16:3e:00:00:99"},
            ),
            "group": Case(
                "Neutron::SecurityGroup",
                lambda: self.both(
                    net.create_security_group, net.delete_security_group
                ),
                {},
                {"description": "changed"},
                net.get_security_group,
            ),
            "floating": Case(
                "Neutron::FloatingIP",
                self._floating,
                {"floating_network": "public"},
                {},
                net.get_ip,
                {"floating_ip_address": "172.24.4.254"},
            ),
            "volume": Case(
                "Cinder::Volume",
                lambda: self.both(self._volume, vol.delete_volume, size=1),
                {"size": 1},
                {"description": "changed"},
                vol.get_volume,
                {"availability_zone": "elsewhere"},
            ),
            "server": Case(
                "Nova::Server",
                self._servers,
                server(networks=private())["properties"],
                {"metadata": {"note": "changed"}},
                compute.get_server,
            ),
        }

    def _subnets(self) -> list[str]:
        """Two subnets of one network of their own."""
        net = self.cloud.network
        own = net.create_network(name=self.tag)
        self.addCleanup(self._quietly, net.delete_network, own.id)
        found = []
        for cidr in ("10.78.0.0/24", "10.77.0.0/24"):
            found.append(
                net.create_subnet(
                    network_id=own.id, cidr=cidr, ip_version=4
                ).id
            )
        return found

    def _floating(self) -> list[str]:
        net = self.cloud.network
        public = net.find_network("public").id
        found = []
        for _number in range(2):
            made = net.create_ip(floating_network_id=public)
            self.addCleanup(self._quietly, net.delete_ip, made.id)
            found.append(made.id)
        return found

    def _volume(self, **body: Any) -> Any:
        storage = self.cloud.block_storage
        return storage.wait_for_status(storage.create_volume(**body))

    def _servers(self) -> list[str]:
        compute = self.cloud.compute

        def make(**body: Any) -> Any:
            return compute.wait_for_server(compute.create_server(**body))

        return self.both(
            make,
            compute.delete_server,
            flavor_id=compute.find_flavor(FLAVOR).id,
            image_id=self.cloud.image.find_image(IMAGE).id,
            networks=[{"uuid": self.network().id}],
        )

    def test_all_ways(self) -> None:
        cases = self.cases()
        pairs = {name: case.make() for name, case in cases.items()}

        def wishes(which: int | None, **more: Any) -> dict[str, Any]:
            made = {}
            for name, case in cases.items():
                extra = more.get(name, {})
                given = {**case.properties, **case.change, **extra}
                made[name] = res(case.kind, **given)
                if which is not None:
                    made[name]["external_id"] = pairs[name][which]
            return made

        ident = self.create(wishes(0))
        for name in cases:
            self.assertEqual(pairs[name][0], self.physical(ident, name))
        self.update(ident, wishes(1))
        for name, case in cases.items():
            self.assertEqual(pairs[name][1], self.physical(ident, name))
            # The first was never Heat's: it is still there.
            self.assertIsNotNone(case.show(pairs[name][0]))

        # Differences that need a new object: refused, and nothing is touched.
        fixed = {n: case.fixed for n, case in cases.items() if case.fixed}
        self.update(ident, wishes(None, **fixed), "UPDATE_FAILED")
        for name in fixed:
            shown = self.heat.resources.get(ident, name)
            with self.subTest(name):
                self.assertTrue(shown.external)
                self.assertEqual(pairs[name][1], shown.physical_resource_id)
        self.update(ident, wishes(None))
        for name, case in cases.items():
            with self.subTest(name):
                shown = self.heat.resources.get(ident, name)
                self.assertEqual(pairs[name][1], shown.physical_resource_id)
                self.assertFalse(getattr(shown, "external", False))
                live = case.show(pairs[name][1]).to_dict()
                for key, value in case.change.items():
                    self.assertEqual(value, live[key])
        self.delete(ident)
        for name, case in cases.items():
            with self.subTest(name):
                self.assertIsNotNone(case.show(pairs[name][0]))
                with self.assertRaises(sdk_exc.NotFoundException):
                    case.show(pairs[name][1])

    def test_key_pair(self) -> None:
        """Its private half is shown once, and can't be recovered."""
        key = self.cloud.compute.create_keypair(name=self.tag)
        self.addCleanup(
            self.cloud.compute.delete_keypair, key.name, ignore_missing=True
        )
        wish = res("Nova::KeyPair", name=self.tag)
        ident = self.create({"key": {**wish, "external_id": self.tag}})
        asked = res("Nova::KeyPair", name=self.tag, save_private_key=True)
        stack = self.update(ident, {"key": asked}, "UPDATE_FAILED")
        self.assertIn("private half", stack.stack_status_reason)
        self.update(ident, {"key": wish})
        self.delete(ident)
        self.assertIsNone(self.cloud.compute.find_keypair(self.tag))

    def swapped(self, wish: dict[str, Any], pair: list[str]) -> str:
        """A stack that has taken the second in the place of the first."""
        ident = self.create({"a": {**wish, "external_id": pair[0]}})
        self.assertEqual(pair[0], self.physical(ident, "a"))
        self.update(ident, {"a": {**wish, "external_id": pair[1]}})
        self.assertEqual(pair[1], self.physical(ident, "a"))
        return ident

    def test_key_pairs_swapped(self) -> None:
        """Their names are their ids."""
        compute = self.cloud.compute
        made = self.both(compute.create_keypair, compute.delete_keypair)
        pair = [compute.get_keypair(each).name for each in made]
        wish = res("Nova::KeyPair", name=pair[1])
        ident = self.swapped(wish, pair)
        # That of the first would be another key.
        other = res("Nova::KeyPair", name=pair[0])
        stack = self.update(ident, {"a": other}, "UPDATE_FAILED")
        self.assertIn("stays external", stack.stack_status_reason)
        self.update(ident, {"a": wish})
        self.delete(ident)
        self.assertIsNotNone(compute.find_keypair(pair[0]))
        self.assertIsNone(compute.find_keypair(pair[1]))

    def test_images_swapped(self) -> None:
        image = self.cloud.image
        pair = self.both(
            image.create_image,
            image.delete_image,
            data=b"0" * 64,
            disk_format="raw",
            container_format="bare",
            validate_checksum=False,
        )
        wish = res(
            "Glance::WebImage",
            location="http://127.0.0.1:1/nothing",
            disk_format="raw",
            container_format="bare",
            tags=["changed"],
        )
        ident = self.swapped(wish, pair)
        stack = self.update(
            ident,
            {
                "a": {
                    **wish,
                    "properties": {**wish["properties"], "id": NOWHERE},
                }
            },
            "UPDATE_FAILED",
        )
        self.assertIn("stays external", stack.stack_status_reason)
        self.update(ident, {"a": wish})
        self.assertEqual(["changed"], image.get_image(pair[1]).tags)
        self.delete(ident)
        self.assertIsNotNone(image.find_image(pair[0]))
        self.assertIsNone(image.find_image(pair[1]))

    def let_go(self) -> set[str]:
        """The ids of what the project's stacks have let go."""
        told = self.heat.http_client.get("/released_objects").json()
        return {
            each["physical_resource_id"] for each in told["released_objects"]
        }

    def _end_server(self, ident: str, port: str) -> None:
        """Neutron deletes no port of a server."""
        compute = self.cloud.compute
        if (found := compute.find_server(ident)) is not None:
            compute.delete_server(found)
            compute.wait_for_delete(found)
        self._quietly(self.cloud.network.delete_port, port)

    def test_ports_made_for_a_server(self) -> None:
        """They stay Heat's when the server is the user's."""
        cards = [{"network": "private", "port_extra_properties": {}}]
        wish = server(networks=cards)
        net, compute = self.cloud.network, self.cloud.compute
        for used in (True, False):
            with self.subTest(used=used):
                ident = self.create({"a": wish})
                made = self.physical(ident, "a")
                [port] = net.ports(device_id=made)
                self.addCleanup(self._end_server, made, port.id)
                self.update(ident, {"a": {**wish, "external_id": made}})
                self.assertIsNotNone(net.find_port(port.id))
                if not used:
                    compute.delete_server(made)
                    compute.wait_for_delete(compute.get_server(made))
                    self.assertIsNotNone(net.find_port(port.id))
                self.delete(ident)
                self.assertEqual(used, net.find_port(port.id) is not None)
                self.assertEqual(used, port.id in self.let_go())
                self.assertIn(made, self.let_go())

    def test_ports_of_a_server_that_comes_back(self) -> None:
        wish = server(
            networks=[{"network": "private", "port_extra_properties": {}}]
        )
        ident = self.create({"a": wish})
        made = self.physical(ident, "a")
        [port] = self.cloud.network.ports(device_id=made)
        self.update(ident, {"a": {**wish, "external_id": made}})
        self.update(ident, {"a": wish})
        self.assertEqual(made, self.physical(ident, "a"))
        self.delete(ident)
        self.assertIsNone(self.cloud.compute.find_server(made))
        self.assertIsNone(self.cloud.network.find_port(port.id))

    def test_a_stack(self) -> None:
        """It is referred to, as it stands."""
        outputs = {"outputs": {"told": {"value": {"get_resource": "net"}}}}
        child = self.create({"net": res("Neutron::Net")}, sections=outputs)
        other = self.create({"net": res("Neutron::Net")}, sections=outputs)
        text = self.template({"net": res("Neutron::Net")}, **outputs)
        files = {"child.yaml": json.dumps(text)}
        wish = {"type": "child.yaml"}
        told = {"outputs": {"net": {"value": {"get_attr": ["a", "told"]}}}}
        ident = self.create(
            {"a": {**wish, "external_id": child}}, files=files, sections=told
        )
        shown = self.heat.stacks.output_show(ident, "net")["output"]
        self.assertEqual(self.physical(child, "net"), shown["output_value"])
        swapped = {"a": {**wish, "external_id": other}}
        self.update(ident, swapped, files=files)
        self.assertEqual(other, self.physical(ident, "a"))
        stack = self.update(ident, {"a": wish}, "UPDATE_FAILED", files=files)
        self.assertIn("stays external", stack.stack_status_reason)
        self.delete(ident)
        for each in (child, other):
            stack = self.heat.stacks.get(each)
            self.assertEqual("CREATE_COMPLETE", stack.stack_status)
        with self.assertRaises(heat_exc.HTTPBadRequest):
            self.begin({"a": {**wish, "external_id": NOWHERE}}, files=files)

    def test_two_stacks_and_one_network(self) -> None:
        owner = self.create({"net": res("Neutron::Net")})
        ident = self.physical(owner, "net")
        reads = {"net": {**res("Neutron::Net"), "external_id": ident}}
        reader = self.create(reads)
        stack = self.update(
            reader, {"net": res("Neutron::Net")}, "UPDATE_FAILED"
        )
        self.assertIn("managed by stack", stack.stack_status_reason)
        # The owner goes; who reads it keeps it.
        self.delete(owner)
        self.addCleanup(
            self._quietly, self.cloud.network.delete_network, ident
        )
        self.assertIsNotNone(self.cloud.network.get_network(ident))

    def test_refused(self) -> None:
        server_id = self.both(
            self.cloud.network.create_network,
            self.cloud.network.delete_network,
        )[0]
        strange = cloud.administrator()
        theirs = strange.network.create_network(name=self.tag)
        self.addCleanup(strange.network.delete_network, theirs.id)
        for kind, ident in (
            ("Nova::Server", NOWHERE),
            # The id of something else.
            ("Nova::Server", server_id),
            ("Neutron::Port", server_id),
            ("Cinder::Volume", server_id),
            # Another project's.
            ("Neutron::Net", theirs.id),
        ):
            with self.subTest(kind):
                wish = {"type": f"OS::{kind}", "external_id": ident}
                with self.assertRaises(heat_exc.HTTPBadRequest) as raised:
                    self.begin({"a": wish})
                self.assertIn("resources.a.external_id", str(raised.exception))


class ProjectStory(CloudStory):
    """A type that only an administrator may make."""

    def test_project(self) -> None:
        admin = cloud.administrator()
        self.heat = self.running.heat(admin)
        name = f"external-{uuid.uuid4().hex[:8]}"
        made = admin.identity.create_project(name=name, domain_id="default")
        self.addCleanup(
            admin.identity.delete_project, made.id, ignore_missing=True
        )
        wish = res("Keystone::Project", name=name, description="ours")
        other = admin.identity.create_project(
            name=f"{name}-other", domain_id="default"
        )
        self.addCleanup(
            admin.identity.delete_project, other.id, ignore_missing=True
        )
        ident = self.create({"p": {**wish, "external_id": other.id}})
        self.update(ident, {"p": {**wish, "external_id": made.id}})
        self.assertEqual(made.id, self.physical(ident, "p"))
        self.assertEqual(other.name, admin.identity.get_project(other.id).name)
        self.assertEqual("", admin.identity.get_project(made.id).description)
        self.update(ident, {"p": wish})
        self.assertEqual(
            "ours", admin.identity.get_project(made.id).description
        )
        self.delete(ident)
        self.assertIsNone(admin.identity.find_project(made.id))
        self.assertIsNotNone(admin.identity.find_project(other.id))
