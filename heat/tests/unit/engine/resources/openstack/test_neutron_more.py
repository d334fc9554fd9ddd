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

"""Types of the networking service that few clouds have extensions for."""

from __future__ import annotations

from heat.common import exception
from heat.engine.resource import lifecycle
from heat.engine.stack import load
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

NETWORK = "http://network/v2.0"


class NeutronCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.net = self.cloud.networks.add(name="net")["id"]

    def made(self, kind, **given):
        kind = f"OS::Neutron::{kind}"
        return stacks.in_cloud(self.cloud.context, kind, given)

    def changed(self, rsrc, **given):
        rsrc.target = rsrc.t.freeze(properties=given)
        return lifecycle.verdict(rsrc)


class MoreTest(NeutronCase):
    def test_a_type_needs_its_extension(self):
        extensions = self.cloud.objects(
            f"{NETWORK}/extensions", "extension", "extensions"
        )
        wanted = {
            "ExtraRoute": "extraroute-atomic",
            "FlowClassifier": "flow_classifier",
            "MeteringLabel": "metering",
            "MeteringRule": "metering",
            "NetworkGateway": "network-gateway",
            "PortPair": "sfc",
        }
        for kind, alias in wanted.items():
            with self.subTest(kind):
                cls = stacks.registry().get(f"OS::Neutron::{kind}")
                available, reason = cls.is_service_available(
                    self.cloud.context
                )
                self.assertFalse(available)
                self.assertIn(alias, reason)
        self.assertEqual({}, extensions.stored)

    def test_attributes_are_of_one_look(self):
        """What can't be seen any more is told as it was last."""
        net = self.cloud.networks.add(name="n", mtu=1400)
        rsrc = self.made("Net")
        rsrc.resource_id = net["id"]
        calls = self.cloud.networks.calls
        for is_there in (True, False):
            with self.subTest(is_there=is_there):
                calls.clear()
                # As its row has kept them.
                rsrc.attributes.set_cached_attr("name", "n")
                rsrc.attributes.set_cached_attr("mtu", 1400)
                told = load.show_attributes(rsrc)
                self.assertEqual(("n", 1400), (told["name"], told["mtu"]))
                self.assertEqual(is_there, "id" in told)
                self.assertEqual(1, len(calls))
            self.cloud.networks.stored.clear()

    def test_one_route(self):
        routers = self.cloud.objects(f"{NETWORK}/routers", "router", "routers")
        routers.add(id="r", routes=[])
        asked = {
            verb: self.cloud.mock.put(
                f"{NETWORK}/routers/r/{verb}_extraroutes", json={}
            )
            for verb in ("add", "remove")
        }
        given = {"destination": "10.1.0.0/24", "nexthop": "10.0.0.9"}
        rsrc = self.made("ExtraRoute", router_id="r", **given)
        stacks.run(rsrc, "CREATE")
        self.assertRaises(exception.ResourceFailure, stacks.run, rsrc, "CHECK")
        routers.stored["r"]["routes"] = [given]
        stacks.run(rsrc, "CHECK")
        stacks.run(rsrc, "DELETE")
        for verb in asked.values():
            self.assertEqual(
                {"router": {"routes": [given]}}, verb.last_request.json()
            )

    def test_a_users_rule_is_looked_for(self):
        """Whoever names a rule of his own need not name its policy."""
        policies = self.cloud.objects(
            f"{NETWORK}/qos/policies", "policy", "policies"
        )
        policies.add(id="other", rules=[])
        policies.add(id="p", rules=[{"id": "mine"}])
        rules = self.cloud.objects(
            f"{NETWORK}/qos/policies/p/dscp_marking_rules",
            "dscp_marking_rule",
            "dscp_marking_rules",
        )
        rules.add(id="mine", dscp_mark=10)
        rsrc = self.made("QoSDscpMarkingRule")
        rsrc.resource_id = "mine"
        self.assertEqual(10, rsrc.shown()["dscp_mark"])
        rsrc.resource_id = "nobodys"
        self.assertRaises(exception.EntityNotFound, rsrc.shown)

    def test_parts_of_service_chains(self):
        ports = self.cloud.objects(f"{NETWORK}/ports", "port", "ports")
        one, two = (ports.add(name=name)["id"] for name in ("in", "out"))
        for kind, given, body in (
            (
                "PortPair",
                {"ingress": "in", "egress": "out"},
                {
                    "ingress": one,
                    "egress": two,
                    "service_function_parameters": {},
                },
            ),
            (
                "FlowClassifier",
                {"logical_source_port": "in", "protocol": "tcp"},
                {
                    "logical_source_port": one,
                    "protocol": "tcp",
                    "ethertype": "IPv4",
                },
            ),
        ):
            key = {"PortPair": "port_pair"}.get(kind, "flow_classifier")
            store = self.cloud.objects(f"{NETWORK}/sfc/{key}s", key, f"{key}s")
            with self.subTest(kind):
                rsrc = self.made(kind, **given)
                stacks.run(rsrc, "CREATE")
                made = store.stored[rsrc.resource_id]
                name = rsrc.physical_resource_name()
                ident = rsrc.resource_id
                self.assertEqual({**body, "name": name, "id": ident}, made)
                verdict = self.changed(rsrc, **given, description="d")
                self.assertFalse(verdict.needs_replace)
                stacks.run(rsrc, "UPDATE")
                self.assertEqual("d", made["description"])
                stacks.run(rsrc, "DELETE")
                self.assertEqual({}, store.stored)

    def test_a_label_and_its_rule(self):
        url = f"{NETWORK}/metering/metering-label"
        labels = self.cloud.objects(
            f"{url}s", "metering_label", "metering_labels"
        )
        rules = self.cloud.objects(
            f"{url}-rules", "metering_label_rule", "metering_label_rules"
        )
        label = self.made("MeteringLabel", name="l", description="d")
        stacks.run(label, "CREATE")
        self.assertEqual("d", label.FnGetAtt("description"))
        rule = self.made(
            "MeteringRule",
            metering_label_id="l",
            remote_ip_prefix="10.0.0.0/8",
        )
        stacks.run(rule, "CREATE")
        self.assertEqual(
            {
                "id": rule.resource_id,
                "direction": "ingress",
                "excluded": False,
                "metering_label_id": label.resource_id,
                "remote_ip_prefix": "10.0.0.0/8",
            },
            rules.stored[rule.resource_id],
        )
        rules.stored.clear()
        for rsrc in (rule, label):
            stacks.run(rsrc, "DELETE")
        self.assertEqual({}, labels.stored)


class Gateways(cloud.Objects):
    """Gateways, each with the networks that it connects."""

    def _serve(self, request, path, body):
        ident, _slash, call = path.strip("/").partition("/")
        if not call:
            return super()._serve(request, path, body)
        connected = self.stored[ident].setdefault("connected", [])
        if call == "connect_network":
            connected.append(body)
        elif body not in connected:
            return 404, {"NeutronError": {"message": "not connected"}}
        else:
            connected.remove(body)
        return 200, {}


class GatewayTest(NeutronCase):
    def setUp(self):
        super().setUp()
        self.gateways = Gateways(
            self.cloud.mock,
            f"{NETWORK}/network-gateways",
            "network_gateway",
            "network_gateways",
            default=False,
        )
        self.given = {"devices": [{"id": "d", "interface_name": "e"}]}

    def connected(self, **more):
        return {"network_id": self.net, "segmentation_type": "flat", **more}

    def test_life(self):
        flat = {"network": "net"}
        rsrc = self.made("NetworkGateway", **self.given, connections=[flat])
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        made = self.gateways.stored[rsrc.resource_id]
        self.assertEqual(self.given["devices"], made["devices"])
        self.assertEqual([self.connected()], made["connected"])
        self.assertIs(False, rsrc.FnGetAtt("default"))

        tagged = {**flat, "segmentation_type": "vlan", "segmentation_id": 7}
        verdict = self.changed(rsrc, **self.given, connections=[tagged])
        self.assertFalse(verdict.needs_replace)
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(
            [self.connected(segmentation_type="vlan", segmentation_id=7)],
            made["connected"],
        )
        # Somebody has disconnected it.
        made["connected"].clear()
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, self.gateways.stored)

    def test_other_devices_are_another_gateway(self):
        rsrc = self.made("NetworkGateway", **self.given)
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        verdict = self.changed(
            rsrc, devices=[{"id": "d2", "interface_name": "e"}]
        )
        self.assertTrue(verdict.needs_replace)

    def test_numbers_are_of_vlans(self):
        for connection in (
            {"segmentation_type": "vlan"},
            {"segmentation_type": "flat", "segmentation_id": 7},
        ):
            with self.subTest(connection=connection):
                rsrc = self.made(
                    "NetworkGateway",
                    **self.given,
                    connections=[{"network": "net", **connection}],
                )
                self.assertRaisesRegex(
                    exception.StackValidationFailed,
                    "segmentation_id",
                    rsrc.validate,
                )
