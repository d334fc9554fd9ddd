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

"""Stories of what load balancers are made by: flavors, zones, quotas; of
certificates that the key manager has for them; and of users' own."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from openstack import exceptions as sdk_exc

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import network, ref, res
from heat_integrationtests.test_cloud_balancing import BalancerStory
from heat_integrationtests.test_cloud_types import Case, rest, wished

TAG = uuid.uuid4().hex[:6]


def offers() -> dict[str, Case]:
    """What an administrator makes."""
    lbaas = "load_balancer"
    zones = "/lbaas/availabilityzone"
    first = '{"loadbalancer_topology": "SINGLE"}'
    second = '{"loadbalancer_topology": "ACTIVE_STANDBY"}'
    return {
        "profile": Case(
            "Octavia::FlavorProfile",
            {"flavor_data": first, "provider_name": "heat_cloud"},
            {"name": f"story-{TAG}"},
            {},
            rest(lbaas, "/lbaas/flavorprofiles/{}", "flavorprofile"),
            ({"flavor_data": first}, {"name": f"story-{TAG}"}),
        ),
        "free_profile": Case(
            "Octavia::FlavorProfile",
            {"flavor_data": first, "provider_name": "heat_cloud"},
            {"flavor_data": second},
            {},
            rest(lbaas, "/lbaas/flavorprofiles/{}", "flavorprofile"),
            ({"flavor_data": first}, {"flavor_data": second}),
        ),
        "flavor": Case(
            "Octavia::Flavor",
            {"flavor_profile": ref("profile"), "description": "one"},
            {"description": "two", "enabled": True},
            {"flavor_profile": ref("free_profile")},
            rest(lbaas, "/lbaas/flavors/{}", "flavor"),
            ({"description": "one"}, {"description": "two"}),
        ),
        "zone_profile": Case(
            "Octavia::AvailabilityZoneProfile",
            {
                "availability_zone_data": '{"compute_zone": "nova"}',
                "provider_name": "heat_cloud",
            },
            {"name": f"story-{TAG}"},
            {},
            rest(lbaas, f"{zones}profiles/{{}}", "availability_zone_profile"),
            ({}, {"name": f"story-{TAG}"}),
        ),
        "zone": Case(
            "Octavia::AvailabilityZone",
            {"availability_zone_profile": ref("zone_profile")},
            {"description": "two", "enabled": False},
            {"name": f"story-{TAG}"},
            rest(lbaas, f"{zones}s/{{}}", "availability_zone"),
            ({"enabled": True}, {"enabled": False, "description": "two"}),
        ),
        "project": Case("Keystone::Project", {}),
        "quota": Case(
            "Octavia::Quota",
            {"project": ref("project"), "loadbalancer": 3, "member": 4},
            {"loadbalancer": 5, "member": None},
            {},
            rest(lbaas, "/lbaas/quotas/{}", "quota"),
            ({"loadbalancer": 3, "member": 4}, {"loadbalancer": 5}),
            one_id=True,
        ),
    }


class OffersStory(BalancerStory):
    """Flavors, zones and quotas, and a load balancer that is made by them."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud.administrator()
        self.service = self.cloud.load_balancer
        self.heat = self.running.heat(self.cloud)

    def look(self, table: dict[str, Case], ids: Any, which: int) -> None:
        for name, case in table.items():
            if case.shown is None:
                continue
            shown = case.shown(self.cloud, ids[name])
            says = case.says[which]
            with self.subTest(case.kind, version=which):
                self.assertEqual(says, {key: shown.get(key) for key in says})

    def test_life(self) -> None:
        table = offers()
        ident = self.create({n: wished(case) for n, case in table.items()})
        made = self.ids(ident)
        self.look(table, made, 0)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.update(ident, {n: wished(c, c.change) for n, c in table.items()})
        self.assertEqual(made, self.ids(ident))
        self.look(table, made, 1)
        self.act(ident, "check", "CHECK_COMPLETE")
        for each in self.heat.resources.list(ident):
            self.assertNotIn("differs", each.resource_status_reason)
        self.update(
            ident,
            {n: wished(c, c.change, c.replace) for n, c in table.items()},
        )
        last = self.ids(ident)
        for name, case in table.items():
            if case.replace:
                self.assertNotEqual(made[name], last[name])
        self.delete(ident)
        for name in ("flavor", "zone", "profile", "zone_profile"):
            show = table[name].shown
            assert show is not None
            with self.assertRaisesRegex(Exception, "404|ould not be found"):
                show(self.cloud, last[name])

    def test_chosen(self) -> None:
        table = offers()
        resources = {
            name: wished(table[name])
            for name in ("profile", "flavor", "zone_profile", "zone")
        }
        resources |= network()
        resources["lb"] = res(
            "Octavia::LoadBalancer",
            vip_subnet=ref("subnet"),
            flavor=ref("flavor"),
            availability_zone=ref("zone"),
            provider="heat_cloud",
        )
        ident = self.create(resources)
        ids = self.ids(ident)
        found = self.shown(f"loadbalancers/{ids['lb']}")
        self.assertEqual(ids["flavor"], found["flavor_id"])
        self.assertEqual(ids["zone"], found["availability_zone"])
        self.delete(ident)


def certificate(name: str) -> tuple[str, str]:
    """A certificate that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(
        pem,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.public_bytes(pem).decode(), secret.decode()


class CertificateStory(BalancerStory):
    """A listener that ends TLS, with a certificate of the key manager."""

    @staticmethod
    def resources(pair: tuple[str, str], name: str) -> dict[str, Any]:
        return {
            **network(),
            "lb": res("Octavia::LoadBalancer", vip_subnet=ref("subnet")),
            f"{name}_certificate": res("Barbican::Secret", payload=pair[0]),
            f"{name}_key": res("Barbican::Secret", payload=pair[1]),
            name: res(
                "Barbican::CertificateContainer",
                certificate_ref=ref(f"{name}_certificate"),
                private_key_ref=ref(f"{name}_key"),
            ),
            "listener": res(
                "Octavia::Listener",
                loadbalancer=ref("lb"),
                protocol="TERMINATED_HTTPS",
                protocol_port=443,
                default_tls_container_ref=ref(name),
            ),
        }

    def test_renewed_in_place(self) -> None:
        ident = self.create(self.resources(certificate("one"), "one"))
        ids = self.ids(ident)
        path = f"listeners/{ids['listener']}"
        shown = self.shown(path)
        self.assertEqual(ids["one"], shown["default_tls_container_ref"])
        self.update(ident, self.resources(certificate("two"), "two"))
        after = self.ids(ident)
        self.assertEqual(ids["listener"], after["listener"])
        shown = self.shown(path)
        self.assertEqual(after["two"], shown["default_tls_container_ref"])
        self.act(ident, "check", "CHECK_COMPLETE")
        self.delete(ident)


class UsersBalancerStory(BalancerStory):
    """Load balancers of users, and parts of users."""

    def test_a_users_load_balancer(self) -> None:
        """Read, with parts of the stack's on it; then taken over."""
        found = self.cloud.network.find_subnet("private-subnet")
        pair = []
        for _number in range(2):
            made = self.service.create_load_balancer(vip_subnet_id=found.id)
            self.addCleanup(self.forget, made.id)
            self.settled(made.id)
            pair.append(made.id)

        def resources(which: int | None, **more: Any) -> dict[str, Any]:
            made = self.tree(
                lb={"vip_subnet": found.id, "description": "mine", **more}
            )
            if which is not None:
                made["lb"]["external_id"] = pair[which]
            # Its address is in a network of the user's.
            return {
                name: made[name]
                for name in ("lb", "listener", "pool", "monitor")
            }

        ident = self.create(resources(0))
        self.assertEqual(pair[0], self.physical(ident, "lb"))
        first = self.physical(ident, "listener")
        self.update(ident, resources(1))
        self.assertFalse(self.is_there(f"listeners/{first}"))
        self.assertTrue(self.is_there(f"loadbalancers/{pair[0]}"))
        stack = self.update(
            ident, resources(None, vip_address="10.0.255.9"), "UPDATE_FAILED"
        )
        self.assertIn("stays external", stack.stack_status_reason)
        self.update(ident, resources(None))
        shown = self.shown(f"loadbalancers/{pair[1]}")
        self.assertEqual("mine", shown["description"])
        self.delete(ident)
        self.assertTrue(self.is_there(f"loadbalancers/{pair[0]}"))
        self.assertFalse(self.is_there(f"loadbalancers/{pair[1]}"))

    def test_parts_of_users(self) -> None:
        """Those that are below another object: it says where to look."""
        ident = self.create(self.some("lb", "listener", "spare", "policy"))
        ids = self.ids(ident)
        where = {"address": "10.9.0.40", "protocol_port": 80}
        said = {"type": "PATH", "compare_type": "EQUAL_TO", "value": "/a"}
        made = {}
        for name, path, key, body in (
            ("member", f"pools/{ids['spare']}/members", "member", where),
            ("rule", f"l7policies/{ids['policy']}/rules", "rule", said),
        ):
            answer = self.by_hand("post", path, {key: body})
            made[name] = answer[key]["id"]
            self.settled(ids["lb"])
        where["pool"], said["l7policy"] = ids["spare"], ids["policy"]

        def resources(weight: int, value: str) -> dict[str, Any]:
            return {
                "member": res("Octavia::PoolMember", **where, weight=weight),
                "rule": res("Octavia::L7Rule", **{**said, "value": value}),
            }

        other = self.create(
            {
                name: {**wish, "external_id": made[name]}
                for name, wish in resources(1, "/a").items()
            }
        )
        self.act(other, "check", "CHECK_COMPLETE")
        self.update(other, resources(7, "/b"))
        self.assertEqual(made, self.ids(other))
        member = f"pools/{ids['spare']}/members/{made['member']}"
        rule = f"l7policies/{ids['policy']}/rules/{made['rule']}"
        self.assertEqual(7, self.shown(member)["weight"])
        self.assertEqual("/b", self.shown(rule)["value"])
        self.delete(other)
        for path in (member, rule):
            self.assertFalse(self.is_there(path))

    def forget(self, ident: str) -> None:
        with contextlib.suppress(sdk_exc.SDKException):
            self.service.delete_load_balancer(ident, cascade=True)
