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
from typing import Any

from heatclient import exc as heat_exc

from heat_integrationtests import test_cloud_identity
from heat_integrationtests.test_cloud import (
    EXTERNAL,
    FLAVOR,
    IMAGE,
    SECONDS,
    res,
)

PLUGIN = """
import os
import pathlib
import signal
import time

from heat.engine.resources.openstack.cinder import volume
from heat.engine.resources.openstack.neutron import floatingip, net, port
from heat.engine.resources.openstack.nova import server


def deadly(cls):
    class Deadly(cls):
        def make(self, body):
            made = super().make(body)
            mark = pathlib.Path(__file__).with_name(f"kill-{self.name}")
            if mark.exists():
                mark.unlink()
                # Die together with all the others that wait for answers.
                end = time.monotonic() + 20
                while time.monotonic() < end and any(
                    mark.parent.glob("kill-*")
                ):
                    time.sleep(0.1)
                os.kill(os.getpid(), signal.SIGKILL)
            return made

    return Deadly


def resource_mapping():
    return {
        "OS::Cinder::Volume": deadly(volume.Volume),
        "OS::Neutron::FloatingIP": deadly(floatingip.FloatingIP),
        "OS::Neutron::Net": deadly(net.Net),
        "OS::Neutron::Port": deadly(port.Port),
        "OS::Nova::Server": deadly(server.Server),
    }
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


class CrashStory(test_cloud_identity.IdentityStory):
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
        for name in resources:
            (self.running.plugins / f"kill-{name}").touch()
        ident = self.begin(resources)
        self.revive_until(ident)
        left = sorted(self.running.plugins.glob("kill-*"))
        self.assertEqual([], left, "nobody was killed there")
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

    def told(self, ident: str) -> str:
        """What happened, for whoever has to find out why."""
        return "\n".join(
            f"{each.resource_name} {each.resource_status} "
            f"{each.physical_resource_id} {each.resource_status_reason}"
            for each in self.heat.events.list(ident)
        )

    def revive_until(self, ident: str) -> None:
        """Have engines until the stack is made."""
        deadline = time.monotonic() + 2 * SECONDS
        while time.monotonic() < deadline:
            self.running.revive()
            with contextlib.suppress(heat_exc.HTTPException):
                if self.heat.stacks.get(ident).status != "IN_PROGRESS":
                    break
            time.sleep(0.5)
        self.wait(ident, "CREATE_COMPLETE")

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
