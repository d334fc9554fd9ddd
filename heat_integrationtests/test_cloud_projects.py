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

"""Two users of two projects, and the quotas of one of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from heatclient import exc as heat_exc

from heat_integrationtests import cloud, test_cloud
from heat_integrationtests.test_cloud import network, ref, res, server

#: a user and project beside the environment's
OTHER = "other"


class ProjectsStory(test_cloud.CloudStory):
    """The stacks of this story are the other user's."""

    def setUp(self) -> None:
        super().setUp()
        self.mine, self.my_heat = self.cloud, self.heat
        self.cloud = cloud.connect(OTHER, OTHER)
        self.heat = self.running.heat(self.cloud)

    def test_stacks_are_apart(self) -> None:
        ident = self.create(network())
        stack = self.heat.stacks.get(ident)
        ours = {each.id for each in self.heat.stacks.list()}
        self.assertIn(ident, ours)
        self.assertNotIn(
            ident, {each.id for each in self.my_heat.stacks.list()}
        )
        for name in (ident, stack.stack_name, f"{stack.stack_name}/{ident}"):
            for ask in (
                lambda name: self.my_heat.stacks.get(name),
                lambda name: self.my_heat.resources.list(name),
                lambda name: self.my_heat.events.list(name),
                lambda name: self.my_heat.stacks.template(name),
                lambda name: self.my_heat.stacks.delete(name),
                lambda name: self.my_heat.stacks.update(
                    stack_id=name, template=self.template({})
                ),
            ):
                with self.assertRaises(heat_exc.HTTPNotFound):
                    ask(name)
        # Nothing of that has touched it, and the path of a project is
        # nobody's but its own.
        self.act(ident, "check", "CHECK_COMPLETE")
        strange = self.running.heat(self.mine)
        strange.http_client.endpoint_override = (
            f"{self.running.url}/v1/{self.cloud.current_project_id}"
        )
        with self.assertRaises(heat_exc.HTTPForbidden):
            list(strange.stacks.list())

    def test_objects_are_apart(self) -> None:
        theirs = self.mine.network.create_network(name="story-not-yours")
        self.addCleanup(self.mine.network.delete_network, theirs.id)
        for value in (theirs.id, theirs.name):
            with self.assertRaises(heat_exc.HTTPBadRequest) as raised:
                self.begin({"port": res("Neutron::Port", network=value)})
            self.assertIn(
                "resources.port.properties.network", str(raised.exception)
            )
        # Names that both have are each one's own.
        twin = {"net": res("Neutron::Net", name="story-not-yours")}
        twin["port"] = res("Neutron::Port", network=ref("net"))
        ident = self.create(twin)
        self.assertNotEqual(theirs.id, self.physical(ident, "net"))

    @contextlib.contextmanager
    def quota(self, service: str, **limits: int) -> Iterator[None]:
        """Limit the other project for a while.

        :param limits: beyond what it has; of networks it may have some
        """
        admin = cloud.administrator()
        proxy = getattr(admin, service)
        project = admin.identity.find_project(OTHER)
        if service == "network":
            used = len(list(proxy.networks(project_id=project.id)))
            # Neutron takes no limit below what is used.
            proxy.update_quota(project.id, networks=used + limits["networks"])
            reset = functools.partial(proxy.delete_quota, project.id)
        else:
            proxy.update_quota_set(project, **limits)
            reset = functools.partial(proxy.revert_quota_set, project)
        try:
            yield
        finally:
            reset()

    def refused(self, resources: dict[str, Any], *words: str) -> None:
        """A stack fails with these words in its reason."""
        ident = self.begin(resources)
        stack = self.wait(ident, "CREATE_FAILED")
        for each in words:
            self.assertIn(each, stack.stack_status_reason)

    def test_quotas_in_the_services_words(self) -> None:
        with self.quota("compute", instances=0):
            self.refused(
                {
                    **network(),
                    "server": {
                        **server(networks=[{"network": ref("net")}]),
                        "depends_on": "subnet",
                    },
                },
                "resources.server",
                "Quota exceeded for instances",
            )
        with self.quota("network", networks=0):
            self.refused(
                {"net": res("Neutron::Net")},
                "resources.net",
                "Quota exceeded for resources: ['network']",
            )
        with self.quota("block_storage", gigabytes=1):
            self.refused(
                {"volume": res("Cinder::Volume", size=2)},
                "resources.volume",
                "exceeds allowed gigabytes quota",
            )

    def test_an_update_goes_on_when_there_is_room_again(self) -> None:
        # One after the other: Neutron's own count isn't safe from races.
        two = {
            "one": res("Neutron::Net"),
            "two": {**res("Neutron::Net"), "depends_on": "one"},
        }
        with self.quota("network", networks=1):
            ident = self.begin(two)
            self.wait(ident, "CREATE_FAILED")
        self.update(ident, two)
        for name in two:
            net = self.physical(ident, name)
            self.assertEqual(
                "ACTIVE", self.cloud.network.get_network(net).status
            )
