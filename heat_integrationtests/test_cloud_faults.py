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

"""Services that fail, or do not answer: what passes, and what is told.

Heat goes through a proxy that fails on request; what is there is asked of
the services themselves.
"""

from __future__ import annotations

from typing import Any

from heat_integrationtests import cloud, faults, test_cloud
from heat_integrationtests.faults import RESET
from heat_integrationtests.test_cloud import network, ref, res, server

WORDS = "The flux capacitor is out of order"


class FaultStory(test_cloud.CloudStory):
    """A service whose way to the cloud is a bad one."""

    region: faults.FaultyRegion

    @classmethod
    def setUpClass(cls) -> None:
        cloud.check_environment()
        cls.region = faults.FaultyRegion(cloud.administrator()).start()
        cls.addClassCleanup(cls.region.stop)
        cls.running = cloud.CloudCluster(2, region=cls.region.name)
        cls.addClassCleanup(cls.running.stop)
        cls.running.start()

    def setUp(self) -> None:
        super().setUp()
        self.region.calm()
        self.addCleanup(self.region.calm)

    def servers_of(self, ident: str) -> list[Any]:
        """The servers that a stack's name is in."""
        name = self.heat.stacks.get(ident).stack_name
        return [
            each
            for each in self.cloud.compute.servers(name=name)
            if each.name.startswith(name)
        ]

    def failed(self, ident: str, *words: str) -> str:
        """Wait for a failed creation, and look for words in its reason."""
        reason = str(self.wait(ident, "CREATE_FAILED").stack_status_reason)
        for each in words:
            self.assertIn(each, reason)
        return reason

    def test_what_may_be_repeated_is(self) -> None:
        nova = self.region.nova
        asked = [
            nova.fail("GET", r"/servers\b", times=2, status=503),
            nova.fail("GET", "/flavors", status=500),
            nova.fail("GET", r"/servers/[0-9a-f-]{36}", status=RESET),
        ]
        # A flavor that no other test has asked for: ids are remembered.
        ident = self.create(
            {
                "server": server(
                    flavor="m1.medium", networks=[{"network": "private"}]
                )
            }
        )
        for each in asked:
            self.assertEqual(0, each.times, f"never met: {each}")
        self.assertEqual(1, len(self.servers_of(ident)))
        gone = nova.fail("DELETE", "/servers/", times=2, status=RESET)
        found = self.servers_of(ident)[0].id
        self.delete(ident)
        self.assertEqual(0, gone.times)
        self.assertIsNone(self.cloud.compute.find_server(found))

    def test_a_failure_in_the_services_words(self) -> None:
        self.region.neutron.fail("POST", "/subnets", status=500, words=WORDS)
        ident = self.begin(network())
        self.failed(ident, "resources.subnet", WORDS, "500")
        # What failed is made by the next update, what was made stays.
        kept = self.physical(ident, "net")
        self.update(ident, network())
        self.assertEqual(kept, self.physical(ident, "net"))

    def test_a_refusal_is_not_repeated(self) -> None:
        neutron = self.region.neutron
        neutron.fail("POST", "/networks", times=9, status=400, words=WORDS)
        ident = self.begin({"net": res("Neutron::Net")})
        self.failed(ident, "resources.net", WORDS)
        self.assertEqual(1, neutron.count("POST", "/networks"))

    def test_an_answer_that_was_lost(self) -> None:
        """Made, and nobody knows: it is found, there is no second one."""
        nova = self.region.nova
        nova.fail("POST", r"/servers$", status=RESET, done=True)
        resources = {"server": server(networks=[{"network": "private"}])}
        ident = self.begin(resources)
        self.failed(ident, "resources.server")
        self.assertEqual(1, len(self.servers_of(ident)))
        self.update(ident, resources)
        self.assertEqual(
            [self.physical(ident, "server")],
            [each.id for each in self.servers_of(ident)],
        )

    def test_a_lost_answer_leaves_nothing_after_the_stack(self) -> None:
        self.region.nova.fail("POST", r"/servers$", status=RESET, done=True)
        ident = self.begin(
            {"server": server(networks=[{"network": "private"}])}
        )
        self.failed(ident, "resources.server")
        found = self.servers_of(ident)
        self.assertEqual(1, len(found))
        self.delete(ident)
        self.assertIsNone(self.cloud.compute.find_server(found[0].id))

    def test_a_service_that_does_not_answer(self) -> None:
        """A time-out ends the wait, not the operation."""
        silent = self.region.cinder.fail(
            "GET", r"/volumes/[0-9a-f-]{36}", status=RESET, seconds=75
        )
        self.create({"volume": res("Cinder::Volume", size=1)})
        self.assertEqual(0, silent.times)

    def test_trouble_while_a_stack_goes(self) -> None:
        ident = self.create(
            {
                **network(),
                "port": res("Neutron::Port", network=ref("net")),
            }
        )
        net = self.physical(ident, "net")
        met = [
            self.region.neutron.fail("DELETE", "/ports/", status=503),
            self.region.neutron.fail("DELETE", "/subnets/", status=500),
            # It is gone, but the answer is not heard: the second is "404".
            self.region.neutron.fail(
                "DELETE", "/networks/", status=RESET, done=True
            ),
        ]
        self.delete(ident)
        self.assertEqual([0, 0, 0], [each.times for each in met])
        self.assertIsNone(self.cloud.network.find_network(net))
