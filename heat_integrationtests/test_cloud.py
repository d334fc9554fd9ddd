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

"""Stories of stacks in a real cloud: what a user does, what must be there.

What the stack says is compared with what the services themselves show.
"""

from __future__ import annotations

import contextlib
import time
import unittest
import uuid
from typing import Any

from heatclient import exc as heat_exc

from heat.tests.functional import deployment
from heat_integrationtests import cloud

HOT = "2021-04-16"
FLAVOR, OTHER_FLAVOR = "m1.tiny", "m1.small"
IMAGE = "cirros-like"
EXTERNAL = "public"
SECONDS = 180
#: Names that a run which was killed left in the cloud are not this run's.
RUN = uuid.uuid4().hex[:8]


def ref(name: str) -> dict[str, str]:
    return {"get_resource": name}


def res(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": f"OS::{kind}", "properties": properties}


def server(**properties: Any) -> dict[str, Any]:
    given = {"flavor": FLAVOR, "image": IMAGE, "user_data_format": "RAW"}
    return res("Nova::Server", **{**given, **properties})


def network() -> dict[str, Any]:
    return {
        "net": res("Neutron::Net"),
        "subnet": res(
            "Neutron::Subnet", network=ref("net"), cidr="10.9.0.0/24"
        ),
    }


class CloudStory(unittest.TestCase):
    """A running service, and stacks that are deleted at the end."""

    running: Any = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.running = deployment.keep(
            "cloud", lambda: cloud.CloudCluster(engines=2)
        )

    def setUp(self) -> None:
        self.cloud = self.running.cloud
        self.heat = self.running.heat()

    def begin(self, resources: dict[str, Any], **more: Any) -> str:
        """Create a stack, which is deleted after the test."""
        name = f"story-{uuid.uuid4().hex[:8]}"
        made = self.heat.stacks.create(
            stack_name=name,
            template=self.template(resources, **more.pop("sections", {})),
            **{"disable_rollback": True, **more},
        )
        ident = made["stack"]["id"]
        self.addCleanup(self.delete, ident)
        return str(ident)

    @staticmethod
    def template(resources: dict[str, Any], **sections: Any) -> dict[str, Any]:
        return {
            "heat_template_version": HOT,
            "resources": resources,
            **sections,
        }

    def create(self, resources: dict[str, Any], **more: Any) -> str:
        ident = self.begin(resources, **more)
        self.wait(ident, "CREATE_COMPLETE")
        return ident

    def update(
        self,
        ident: str,
        resources: dict[str, Any],
        status: str = "UPDATE_COMPLETE",
        **more: Any,
    ) -> Any:
        self.heat.stacks.update(
            stack_id=ident,
            template=self.template(resources),
            **{"disable_rollback": True, **more},
        )
        return self.wait(ident, status)

    def delete(self, ident: str) -> None:
        with contextlib.suppress(heat_exc.HTTPNotFound):
            self.heat.stacks.delete(ident)
            self.wait(ident, "DELETE_COMPLETE")

    def act(self, ident: str, action: str, status: str) -> Any:
        getattr(self.heat.actions, action)(ident)
        return self.wait(ident, status)

    def wait(self, ident: str, status: str) -> Any:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                stack = self.heat.stacks.get(ident)
            except heat_exc.HTTPNotFound:
                self.assertEqual(status, "DELETE_COMPLETE")
                return None
            if not stack.stack_status.endswith("_IN_PROGRESS"):
                break
            if time.monotonic() > deadline:
                break
            time.sleep(0.5)
        self.assertEqual(
            status,
            stack.stack_status,
            f"{stack.stack_status_reason}\n{self.running.logs(20)}",
        )
        return stack

    def physical(self, ident: str, name: str) -> str:
        found = self.heat.resources.get(ident, name)
        return str(found.physical_resource_id)


class AloneStory(CloudStory):
    """A user, in a project that nobody else works in."""

    @classmethod
    def make_project(cls) -> None:
        """Make both, for this class."""
        cls.keystone = cloud.administrator().identity
        cls.roles = {each.name: each.id for each in cls.keystone.roles()}
        cls.project = cls.keystone.create_project(name=cls.name())
        cls.addClassCleanup(cls.keystone.delete_project, cls.project.id)
        cls.password = f"secret-{uuid.uuid4().hex}"
        cls.user = cls.make_user("member", cls.password)

    @staticmethod
    def name() -> str:
        return f"alone-{uuid.uuid4().hex[:8]}"

    @classmethod
    def make_user(cls, role: str, password: str) -> str:
        """The name of a new user with one role in the project."""
        made = cls.keystone.create_user(name=cls.name(), password=password)
        cls.addClassCleanup(cls.keystone.delete_user, made.id)
        cls.keystone.assign_project_role_to_user(
            cls.project.id, made.id, cls.roles[role]
        )
        return str(made.name)

    @classmethod
    def connect(cls) -> Any:
        """A connection of the user with a token of its own."""
        return cloud.connect(cls.user, cls.project.name, cls.password)


class ServerStory(CloudStory):
    """A server with all that belongs to it."""

    @staticmethod
    def resources(
        note: str = "first", key: str = "one", flavor: str = FLAVOR
    ) -> dict[str, Any]:
        return {
            **network(),
            "key": res(
                "Nova::KeyPair",
                name=f"story-{RUN}-{key}",
                save_private_key=True,
            ),
            "router": res(
                "Neutron::Router", external_gateway_info={"network": EXTERNAL}
            ),
            "interface": res(
                "Neutron::RouterInterface",
                router=ref("router"),
                subnet=ref("subnet"),
            ),
            "group": res(
                "Neutron::SecurityGroup",
                description=note,
                rules=[
                    {
                        "protocol": "tcp",
                        "port_range_min": 22,
                        "port_range_max": 22,
                    },
                    {"remote_mode": "remote_group_id"},
                ],
            ),
            # No reference to the subnet: the order is implied.
            "port": res(
                "Neutron::Port",
                network=ref("net"),
                security_groups=[ref("group")],
            ),
            "server": server(
                flavor=flavor,
                key_name=ref("key"),
                networks=[{"port": ref("port")}],
                metadata={"note": note},
            ),
            # Nor to the router, without which it leads nowhere.
            "floating": res(
                "Neutron::FloatingIP",
                floating_network=EXTERNAL,
                port_id=ref("port"),
            ),
            "volume": res("Cinder::Volume", size=1, description=note),
            "attachment": res(
                "Cinder::VolumeAttachment",
                instance_uuid=ref("server"),
                volume_id=ref("volume"),
            ),
        }

    def test_whole_life(self) -> None:
        outputs = {
            "address": {"value": {"get_attr": ["server", "first_address"]}},
            "floating": {
                "value": {"get_attr": ["floating", "floating_ip_address"]}
            },
            "private": {"value": {"get_attr": ["key", "private_key"]}},
        }
        ident = self.create(self.resources(), sections={"outputs": outputs})
        told = {
            each["output_key"]: each["output_value"]
            for each in self.heat.stacks.get(ident).outputs
        }
        first = self.physical(ident, "server")
        shown = self.cloud.compute.get_server(first)
        self.assertEqual("ACTIVE", shown.status)
        addresses = [a["addr"] for n in shown.addresses.values() for a in n]
        self.assertIn(told["address"], addresses)
        self.assertIn(told["floating"], addresses)
        self.assertIn("PRIVATE KEY", told["private"])

        # In place: nothing is made anew.
        self.update(ident, self.resources("second", flavor=OTHER_FLAVOR))
        shown = self.cloud.compute.get_server(first)
        self.assertEqual({"note": "second"}, shown.metadata)
        self.assertEqual(OTHER_FLAVOR, shown.flavor.name)
        volume = self.physical(ident, "volume")
        self.assertEqual(
            "second", self.cloud.block_storage.get_volume(volume).description
        )

        for action, status in (
            ("suspend", "SUSPENDED"),
            ("resume", "ACTIVE"),
        ):
            self.act(ident, action, f"{action.upper()}_COMPLETE")
            self.assertEqual(
                status, self.cloud.compute.get_server(first).status
            )
        self.act(ident, "check", "CHECK_COMPLETE")

        # Another key is another server; port and volume move over to it.
        self.update(ident, self.resources("second", key="two"))
        second = self.physical(ident, "server")
        self.assertNotEqual(first, second)
        self.assertIsNone(self.cloud.compute.find_server(first))
        port = self.cloud.network.get_port(self.physical(ident, "port"))
        self.assertEqual(second, port.device_id)
        shown = self.cloud.block_storage.get_volume(volume)
        self.assertEqual(second, shown.attachments[0]["server_id"])

        names = {name: self.physical(ident, name) for name in ("net", "group")}
        self.delete(ident)
        self.assertIsNone(self.cloud.compute.find_server(second))
        self.assertIsNone(self.cloud.network.find_network(names["net"]))
        self.assertIsNone(
            self.cloud.network.find_security_group(names["group"])
        )
        self.assertIsNone(self.cloud.block_storage.find_volume(volume))

    def test_rollback_gives_the_port_back(self) -> None:
        resources = {
            **network(),
            "port": res("Neutron::Port", network=ref("net")),
            "server": server(networks=[{"port": ref("port")}]),
        }
        ident = self.create(resources)
        first = self.physical(ident, "server")
        resources["server"]["properties"]["user_data"] = "other"
        # It needs the new server, and can't be made.
        resources["broken"] = {
            **res("Neutron::Subnet", network=ref("net"), cidr="10.9.0.0/25"),
            "depends_on": "server",
        }
        self.update(
            ident, resources, "ROLLBACK_COMPLETE", disable_rollback=False
        )
        self.assertEqual(first, self.physical(ident, "server"))
        port = self.cloud.network.get_port(self.physical(ident, "port"))
        self.assertEqual(first, port.device_id)

    def test_fault_in_the_services_words(self) -> None:
        apart = res("Nova::ServerGroup", policies=["anti-affinity"])
        hints = {"group": ref("apart")}
        ident = self.begin(
            {
                "apart": apart,
                "one": server(scheduler_hints=hints, networks=_private()),
                "two": {
                    **server(scheduler_hints=hints, networks=_private()),
                    "depends_on": "one",
                },
            }
        )
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("resources.two", stack.stack_status_reason)
        self.assertIn("No valid host", stack.stack_status_reason)

    def test_many_wait_together(self) -> None:
        resources = {
            f"server{number}": server(networks=_private())
            for number in range(10)
        }
        ident = self.create(resources)
        names = [self.physical(ident, name) for name in resources]
        self.assertEqual(10, len(set(names)))


class MistakeStory(CloudStory):
    """What users get wrong, and what others do behind their backs."""

    def test_names_of_nothing(self) -> None:
        for properties, place in (
            ({"flavor": "nonesuch"}, "resources.s.properties.flavor"),
            ({"image": "nonesuch"}, "resources.s.properties.image"),
            (
                {"networks": [{"network": "nonesuch"}]},
                "resources.s.properties.networks[0].network",
            ),
        ):
            with self.subTest(place):
                with self.assertRaises(heat_exc.HTTPBadRequest) as raised:
                    self.begin({"s": server(**properties)})
                self.assertIn(place, str(raised.exception))
                self.assertIn("nonesuch", str(raised.exception))

    def test_deleted_behind_the_back(self) -> None:
        ident = self.create(network())
        subnet = self.physical(ident, "subnet")
        self.cloud.network.delete_subnet(subnet)
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, network())
        self.assertNotEqual(subnet, self.physical(ident, "subnet"))
        self.cloud.network.delete_subnet(self.physical(ident, "subnet"))
        self.delete(ident)

    def test_refusal_in_the_services_words(self) -> None:
        ident = self.begin(
            {
                **network(),
                "twin": {
                    **res(
                        "Neutron::Subnet",
                        network=ref("net"),
                        cidr="10.9.0.0/25",
                    ),
                    "depends_on": "subnet",
                },
            }
        )
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("resources.twin", stack.stack_status_reason)
        self.assertIn("overlaps", stack.stack_status_reason)


class AdministratorStory(CloudStory):
    """Types that usually only an administrator may make."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud.administrator()
        self.heat = self.running.heat(self.cloud)

    @staticmethod
    def resources(description: str, role: str) -> dict[str, Any]:
        return {
            "project": res("Keystone::Project", description=description),
            "group": res("Keystone::Group"),
            "role": res("Keystone::Role"),
            "user": res(
                "Keystone::User",
                password=uuid.uuid4().hex,
                groups=[ref("group")],
                roles=[{"project": ref("project"), "role": role}],
            ),
            "assignment": res(
                "Keystone::GroupRoleAssignment",
                group=ref("group"),
                roles=[{"project": ref("project"), "role": ref("role")}],
            ),
            "flavor": res(
                "Nova::Flavor",
                ram=64,
                vcpus=1,
                is_public=False,
                tenants=[ref("project")],
                extra_specs={"note": description},
            ),
            "type": res(
                "Cinder::VolumeType",
                name=f"type-{uuid.uuid4().hex[:8]}",
                metadata={"note": description},
            ),
        }

    def test_whole_life(self) -> None:
        first = self.resources("first", "member")
        ident = self.create(first)
        user, project, flavor = (
            self.physical(ident, name)
            for name in ("user", "project", "flavor")
        )
        self.assertEqual({"member"}, self._roles(user, project))
        second = self.resources("second", "reader")
        second["type"]["properties"]["name"] = first["type"]["properties"][
            "name"
        ]
        self.update(ident, second)
        self.assertEqual(project, self.physical(ident, "project"))
        self.assertEqual({"reader"}, self._roles(user, project))
        shown = self.cloud.identity.get_project(project)
        self.assertEqual("second", shown.description)
        specs = self.cloud.compute.fetch_flavor_extra_specs(flavor)
        self.assertEqual({"note": "second"}, specs.extra_specs)
        self.delete(ident)
        self.assertIsNone(self.cloud.identity.find_project(project))
        self.assertIsNone(self.cloud.compute.find_flavor(flavor))

    def _roles(self, user: str, project: str) -> set[str]:
        found = self.cloud.identity.role_assignments(
            user_id=user, scope_project_id=project, include_names=True
        )
        return {each.role["name"] for each in found}


def _private() -> list[dict[str, str]]:
    return [{"network": "private"}]
