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

"""An engine dies when a service has made an object that nobody has recorded.

The plug-ins are the real ones, with one addition: right after the services'
answers they wait for each other, and then their engine is killed. Another
engine goes on; in the end there is exactly one object of each kind, whoever
named it.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterable
from typing import Any

from heatclient import exc as heat_exc

from heat_integrationtests import (
    cloud,
    test_cloud_identity,
    test_cloud_types,
)
from heat_integrationtests.test_cloud import (
    EXTERNAL,
    FLAVOR,
    IMAGE,
    SECONDS,
    CloudStory,
    res,
)

PLUGIN = """
import importlib
import os
import pathlib
import pkgutil
import signal
import time

from heat.engine.resource import rest
from heat.engine.resources import openstack


def deadly(cls):
    class Deadly(cls):
        def make(self, body):
            made = super().make(body)
            mark = pathlib.Path(__file__).with_name(f"kill-{self.name}")
            if mark.exists():
                mark.unlink()
                # Die together with all the others that wait for answers.
                marks, left = {mark}, set()
                while marks != left:
                    marks, left = left, set(mark.parent.glob("kill-*"))
                    time.sleep(1.5)
                os.kill(os.getpid(), signal.SIGKILL)
            return made

    # By it the type says whether an object is made in one call.
    Deadly.make.__module__ = cls.make.__module__
    return Deadly


def resource_mapping():
    found = {}
    for each in pkgutil.walk_packages(
        openstack.__path__, f"{openstack.__name__}."
    ):
        module = importlib.import_module(each.name)
        known = getattr(module, "resource_mapping", dict)()
        for name, cls in known.items():
            if issubclass(cls, rest.RestResource):
                found[name] = deadly(cls)
    return found
"""


class DeadlyCluster(test_cloud_identity.IdentityCluster):
    """An engine whose plug-ins kill it."""

    def __init__(self) -> None:
        super().__init__()
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        (self.plugins / "deadly.py").write_text(PLUGIN)
        self.extra += f"plugin_dirs = {self.plugins}\n"

    def revive(self) -> None:
        """Start new engines in the place of those that were killed."""
        for name, process in list(self.processes.items()):
            if name.startswith("engine") and process.poll() is not None:
                del self.processes[name]
                self.start_engine(f"engine-{uuid.uuid4().hex[:6]}")


class DeadlyStory(CloudStory):
    """A stack whose engines are killed, and what it has come to."""

    def told(self, ident: str) -> str:
        """What happened, for whoever has to find out why."""
        return "\n".join(
            f"{each.resource_name} {each.resource_status} "
            f"{each.physical_resource_id} {each.resource_status_reason}"
            for each in self.heat.events.list(ident)
        )

    def create_and_die(
        self, resources: dict[str, Any], names: Iterable[str]
    ) -> str:
        """Have engines, each killed after some answers, until it is made.

        :param names: of the resources after whose making one is killed
        """
        for name in names:
            (self.running.plugins / f"kill-{name}").touch()
        ident = self.begin(resources)
        deadline = time.monotonic() + 2 * SECONDS
        while time.monotonic() < deadline:
            self.running.revive()
            with contextlib.suppress(heat_exc.HTTPException):
                if self.heat.stacks.get(ident).status != "IN_PROGRESS":
                    break
            time.sleep(0.5)
        self.wait(ident, "CREATE_COMPLETE")
        left = sorted(self.running.plugins.glob("kill-*"))
        self.assertEqual([], left, "nobody was killed there")
        return ident


class CrashStory(DeadlyStory, test_cloud_identity.IdentityStory):
    """Nothing is left over, nothing is there twice, in a project where only
    this story makes anything."""

    cluster = DeadlyCluster
    maxDiff = None

    def network(self) -> str:
        """A network with addresses, which Heat did not make."""
        made = self.cloud.network.create_network()
        self.addCleanup(self.cloud.network.delete_network, made.id)
        self.cloud.network.create_subnet(
            network_id=made.id, ip_version=4, cidr="10.9.0.0/24"
        )
        return str(made.id)

    def test_one_of_each(self) -> None:
        tag = f"story-{uuid.uuid4().hex[:8]}"
        resources: dict[str, Any] = {
            "net": res("Neutron::Net", name=f"{tag}-net"),
            "unnamed_net": res("Neutron::Net"),
            "port": res(
                "Neutron::Port", network=self.network(), name=f"{tag}-port"
            ),
            "floating": res("Neutron::FloatingIP", floating_network=EXTERNAL),
            "volume": res("Cinder::Volume", size=1, name=f"{tag}-volume"),
        }
        for name, given in (("server", {}), ("named", {"name": f"{tag}-(x)"})):
            resources[name] = res(
                "Nova::Server",
                flavor=FLAVOR,
                image=IMAGE,
                user_data_format="RAW",
                networks=[{"allocate_network": "none"}],
                **given,
            )
        before = self.there()
        ident = self.create_and_die(resources, resources)
        made = {
            kind: sorted(ids - before[kind])
            for kind, ids in self.there().items()
        }
        ids = {name: self.physical(ident, name) for name in resources}
        self.assertEqual(
            {
                "networks": sorted([ids["net"], ids["unnamed_net"]]),
                "servers": sorted([ids["server"], ids["named"]]),
                "floating": [ids["floating"]],
                "volumes": [ids["volume"]],
                "ports": [ids["port"]],
            },
            made,
            self.told(ident),
        )

    def there(self) -> dict[str, set[str]]:
        found = {
            "networks": self.cloud.network.networks(),
            "servers": self.cloud.compute.servers(),
            "floating": self.cloud.network.ips(),
            "volumes": self.cloud.block_storage.volumes(),
            # Those that were made as such: a server's own come and go.
            "ports": (
                each
                for each in self.cloud.network.ports()
                if not each.device_id
            ),
        }
        project = self.running.project_id
        return {
            kind: {
                each.id
                for each in objects
                if getattr(each, "project_id", project) == project
            }
            for kind, objects in found.items()
        }


#: Below which path of which service objects are listed, and under which key.
LISTS = (
    *(
        ("network", f"/{plural.replace('_', '-')}", plural)
        for plural in (
            *("networks", "subnets", "ports", "routers", "trunks"),
            *("security_groups", "address_scopes", "subnetpools"),
        )
    ),
    ("network", "/qos/policies", "policies"),
    ("network", "/metering/metering-labels", "metering_labels"),
    *(
        ("identity", f"/{plural}", plural)
        for plural in (
            *("projects", "users", "groups", "roles", "domains", "regions"),
            *("services", "endpoints"),
        )
    ),
    ("compute", "/flavors/detail?is_public=None", "flavors"),
    ("compute", "/os-server-groups?all_projects=True", "server_groups"),
    ("compute", "/os-aggregates", "aggregates"),
    ("block_storage", "/types", "volume_types"),
    ("block_storage", "/qos-specs", "qos_specs"),
)
#: Those that have neither a name of ours nor a mark, which nobody finds again.
LOST = {
    *("aggregate", "key", "scope", "rbac", "label_rule"),
    *("limit", "marking", "minimum", "packets"),
}
#: Those that set or connect something, and make nothing.
NO_OBJECTS = {
    *("association", "encrypted", "gateway", "interface", "routes"),
    *("interface_router", "group_roles", "user_roles"),
    *("cinder_quota", "neutron_quota", "nova_quota", "old_quota"),
}


class EveryTypeStory(DeadlyStory):
    """The same for whatever an administrator may make."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.running = DeadlyCluster()
        cls.running.cloud = cloud.administrator()
        cls.running.start()
        cls.addClassCleanup(cls.running.stop)

    def there(self, *tags: str) -> dict[str, str]:
        """What has one of these tags in its name, by id."""
        found = {}
        for service, path, key in LISTS:
            answer = getattr(self.cloud, service).get(path)
            answer.raise_for_status()
            for each in answer.json()[key]:
                name = str(each.get("name") or each["id"])
                if any(tag in name for tag in tags):
                    found[str(each["id"])] = f"{key}: {name}"
        return found

    def test_one_of_each(self) -> None:
        table = test_cloud_types.cases()
        resources = {
            name: test_cloud_types.wished(case) for name, case in table.items()
        }
        deadly = resources.keys() - LOST - NO_OBJECTS
        ident = self.create_and_die(resources, deadly)
        tags = self.heat.stacks.get(ident).stack_name, test_cloud_types.TAG
        known = {
            each.physical_resource_id
            for each in self.heat.resources.list(ident)
        }
        made = self.there(*tags)
        nobodys = {made[each] for each in made.keys() - known}
        self.assertEqual(set(), nobodys, self.told(ident))
        self.act(ident, "check", "CHECK_COMPLETE")
        self.delete(ident)
        self.assertEqual({}, self.there(*tags))
