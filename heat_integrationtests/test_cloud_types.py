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

"""Every type that is one object of a cloud's service: made, changed in place,
replaced, checked, changed behind Heat's back, repaired, deleted.

All types are in one stack, in two versions; what the services show is
compared with what the versions say. Needs the role admin, as some of the
types do.
"""

from __future__ import annotations

import base64
import dataclasses
import time
import uuid
from collections.abc import Callable
from typing import Any

from heatclient import exc as heat_exc

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import (
    EXTERNAL,
    FLAVOR,
    IMAGE,
    SECONDS,
    CloudStory,
    network,
    ref,
    res,
    server,
)

TAG = uuid.uuid4().hex[:6]
NESTED = """
heat_template_version: 2021-04-16
parameters: {length: {type: number}}
resources:
  word:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
outputs: {word: {value: {get_attr: [word, value]}}}
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """One type.

    :ivar first: its properties
    :ivar change: properties that are changed in place; None: takes away
    :ivar replace: properties that are changed by another object
    :ivar shown: gives what the service shows, by physical id
    :ivar says: what must be among that, before and after the change
    :ivar one_id: the physical id is that of something that stays
    """

    kind: str
    first: dict[str, Any]
    change: dict[str, Any] = dataclasses.field(default_factory=dict)
    replace: dict[str, Any] = dataclasses.field(default_factory=dict)
    shown: Callable[[Any, str], dict[str, Any]] | None = None
    says: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    one_id: bool = False


def rest(service: str, path: str, key: str | None, **more: Any) -> Any:
    """What a GET of a service shows."""

    def get(made: Any, ident: str) -> dict[str, Any]:
        adapter = getattr(made, service)
        answer = adapter.get(path.format(ident), **more)
        answer.raise_for_status()
        found = answer.json()
        return dict(found[key] if key else found)

    return get


def neutron(plural: str, key: str) -> Any:
    return rest("network", f"/{plural}/{{}}", key)


def keystone(plural: str, key: str) -> Any:
    return rest("identity", f"/{plural}/{{}}", key)


NET = {"network": ref("net")}
PROJECT = {"project": ref("project")}


def cases() -> dict[str, Case]:
    return {
        **neutron_cases(),
        **keystone_cases(),
        **nova_cases(),
        **cinder_cases(),
    }


def neutron_cases() -> dict[str, Case]:
    def name(what: str) -> str:
        return f"story-{TAG}-{what}"

    return {
        "net": Case(
            "Neutron::Net",
            {"name": name("net"), "tags": ["a"]},
            {"admin_state_up": False, "tags": ["a", "b"], "name": None},
            {},
            neutron("networks", "network"),
            (
                {"admin_state_up": True, "name": name("net"), "tags": ["a"]},
                {"admin_state_up": False, "tags": ["a", "b"]},
            ),
        ),
        "subnet": Case(
            "Neutron::Subnet",
            {**NET, "cidr": "10.77.0.0/24", "dns_nameservers": ["10.0.0.9"]},
            {"dns_nameservers": None, "enable_dhcp": False},
            {},
            neutron("subnets", "subnet"),
            ({"dns_nameservers": ["10.0.0.9"]}, {"enable_dhcp": False}),
        ),
        # Nothing else hangs on these two, so they can be replaced.
        "other_net": Case(
            "Neutron::Net",
            {},
            {},
            {"tenant_id": ref("project")},
            neutron("networks", "network"),
        ),
        "other_subnet": Case(
            "Neutron::Subnet",
            {"network": ref("other_net"), "cidr": "10.79.0.0/24"},
            {},
            {"cidr": "10.80.0.0/24"},
            neutron("subnets", "subnet"),
        ),
        "port": Case(
            "Neutron::Port",
            {**NET, "fixed_ips": [{"subnet": ref("subnet")}]},
            {"name": name("port"), "security_groups": [ref("group")]},
            {"mac_address": "fa:16:3e:00:aa:01"},
            neutron("ports", "port"),
            ({}, {"name": name("port")}),
        ),
        "group": Case(
            "Neutron::SecurityGroup",
            {"rules": [{"protocol": "tcp"}]},
            {"description": "changed", "rules": [{"protocol": "udp"}]},
            {},
            neutron("security-groups", "security_group"),
            ({}, {"description": "changed"}),
        ),
        "bare_group": Case("Neutron::SecurityGroup", {}),
        "rule": Case(
            "Neutron::SecurityGroupRule",
            {
                "security_group": ref("bare_group"),
                "port_range_min": 80,
                "port_range_max": 80,
            },
            {},
            {"port_range_min": 70},
            neutron("security-group-rules", "security_group_rule"),
        ),
        "router": Case(
            "Neutron::Router",
            {},
            {"name": name("router"), "tags": ["x"]},
            {},
            neutron("routers", "router"),
            ({}, {"name": name("router"), "tags": ["x"]}),
        ),
        "interface": Case(
            "Neutron::RouterInterface",
            {"router": ref("router"), "subnet": ref("subnet")},
        ),
        "gateway": Case(
            "Neutron::RouterGateway",
            {"router_id": ref("router"), "network": "public"},
        ),
        "floating": Case(
            "Neutron::FloatingIP",
            {"floating_network": "public"},
            {"port_id": ref("port")},
            {},
            neutron("floatingips", "floatingip"),
        ),
        "routes": Case(
            "Neutron::ExtraRouteSet",
            {
                "router": {"get_attr": ["interface_router", "value"]},
                "routes": [
                    {"destination": "10.90.0.0/24", "nexthop": "10.77.0.9"}
                ],
            },
            {
                "routes": [
                    {"destination": "10.91.0.0/24", "nexthop": "10.77.0.9"}
                ]
            },
            {},
            neutron("routers", "router"),
            (
                {
                    "routes": [
                        {"destination": "10.90.0.0/24", "nexthop": "10.77.0.9"}
                    ]
                },
                {
                    "routes": [
                        {"destination": "10.91.0.0/24", "nexthop": "10.77.0.9"}
                    ]
                },
            ),
            one_id=True,
        ),
        "label": Case(
            "Neutron::MeteringLabel",
            {"description": "one"},
            {},
            {"description": "two"},
            neutron("metering/metering-labels", "metering_label"),
            ({"description": "one", "shared": False}, {}),
        ),
        "label_rule": Case(
            "Neutron::MeteringRule",
            {
                "metering_label_id": ref("label"),
                "remote_ip_prefix": "10.1.0.0/24",
            },
            {},
            {"direction": "egress"},
            neutron("metering/metering-label-rules", "metering_label_rule"),
            ({"direction": "ingress", "excluded": False}, {}),
        ),
        "scope": Case(
            "Neutron::AddressScope",
            {"name": name("scope")},
            {"name": name("scope2")},
            {},
            neutron("address-scopes", "address_scope"),
            ({"name": name("scope")}, {"name": name("scope2")}),
        ),
        "scope6": Case(
            "Neutron::AddressScope",
            {"ip_version": 4},
            {},
            {"ip_version": 6},
            neutron("address-scopes", "address_scope"),
        ),
        "pool": Case(
            "Neutron::SubnetPool",
            {
                "prefixes": ["10.128.0.0/16"],
                "default_prefixlen": 26,
                "address_scope": ref("scope"),
                "tags": ["p"],
            },
            {
                "prefixes": ["10.128.0.0/16", "10.130.0.0/16"],
                "default_prefixlen": None,
                "tags": [],
            },
            # Two pools of one scope have no prefix in common.
            {
                "shared": True,
                "prefixes": ["10.140.0.0/16"],
                "address_scope": None,
            },
            neutron("subnetpools", "subnetpool"),
            (
                {"default_prefixlen": "26", "tags": ["p"]},
                {"default_prefixlen": "8", "tags": []},
            ),
        ),
        "rbac": Case(
            "Neutron::RBACPolicy",
            {
                "action": "access_as_shared",
                "object_type": "network",
                "object_id": ref("net"),
                "target_tenant": ref("project"),
            },
            {"target_tenant": "*"},
            {},
            neutron("rbac-policies", "rbac_policy"),
            ({}, {"target_tenant": "*"}),
        ),
        "provider": Case(
            "Neutron::ProviderNet",
            {"network_type": "flat", "physical_network": f"phys{TAG}"},
            {"shared": False, "tags": ["q"]},
            {},
            neutron("networks", "network"),
            (
                {"provider:network_type": "flat", "shared": True},
                {"shared": False, "tags": ["q"]},
            ),
        ),
        "neutron_quota": Case(
            "Neutron::Quota",
            {**PROJECT, "port": 11, "network": 12},
            {"port": 13, "network": None},
            {},
            neutron("quotas", "quota"),
            ({"port": 11, "network": 12}, {"port": 13}),
            one_id=True,
        ),
        **quality_cases(name),
        **trunk_cases(name),
        # A value that the router's other parts are waited for with.
        "interface_router": Case(
            "Heat::Value",
            {"value": {"str_split": [":", ref("interface"), 0]}},
        ),
    }


def quality_cases(name: Callable[[str], str]) -> dict[str, Case]:
    def rule(
        kind: str,
        key: str,
        one: int,
        two: int,
        **more: Any,
    ) -> Case:
        words = {
            "BandwidthLimit": "bandwidth_limit",
            "DscpMarking": "dscp_marking",
            "MinimumBandwidth": "minimum_bandwidth",
            "MinimumPacketRate": "minimum_packet_rate",
        }[kind]
        shown = neutron(
            f"qos/alias_{words}_rules",
            f"alias_{words}_rule",
        )
        return Case(
            f"Neutron::QoS{kind}Rule",
            {"policy": ref("policy"), key: one, **more},
            {key: two},
            {"policy": ref("other_policy")},
            shown,
            ({key: one}, {key: two}),
        )

    return {
        "policy": Case(
            "Neutron::QoSPolicy",
            {"name": name("policy")},
            {"name": None, "description": "two", "shared": True},
            {},
            neutron("qos/policies", "policy"),
            (
                {"name": name("policy"), "shared": False},
                {"description": "two", "shared": True},
            ),
        ),
        "other_policy": Case("Neutron::QoSPolicy", {}),
        "limit": rule("BandwidthLimit", "max_kbps", 2000, 3000),
        "marking": rule("DscpMarking", "dscp_mark", 10, 12),
        "minimum": rule("MinimumBandwidth", "min_kbps", 100, 200),
        "packets": rule(
            "MinimumPacketRate", "min_kpps", 1, 2, direction="any"
        ),
        "served_net": Case(
            "Neutron::Net",
            {"qos_policy": ref("policy")},
            {"qos_policy": ref("other_policy")},
            {},
            neutron("networks", "network"),
        ),
    }


def trunk_cases(name: Callable[[str], str]) -> dict[str, Case]:
    def carried(tag: int, port: str) -> list[dict[str, Any]]:
        return [
            {
                "port": ref(port),
                "segmentation_id": tag,
                "segmentation_type": "vlan",
            }
        ]

    def segment(number: int) -> dict[str, Any]:
        return {
            "network": ref("wide_net"),
            "network_type": "vlan",
            "physical_network": "physnet1",
            "segmentation_id": number,
        }

    return {
        "trunk_port": Case("Neutron::Port", NET),
        "carried_port": Case("Neutron::Port", NET),
        "other_carried_port": Case("Neutron::Port", NET),
        "trunk": Case(
            "Neutron::Trunk",
            {
                "port": ref("trunk_port"),
                "sub_ports": carried(5, "carried_port"),
            },
            {
                "name": name("trunk"),
                "sub_ports": [
                    *carried(6, "carried_port"),
                    *carried(5, "other_carried_port"),
                ],
            },
            {},
            neutron("trunks", "trunk"),
            ({}, {"name": name("trunk")}),
        ),
        "wide_net": Case("Neutron::Net", {}),
        "segment": Case(
            "Neutron::Segment",
            segment(150),
            {"name": name("segment"), "description": "two"},
            segment(151),
            neutron("segments", "segment"),
            (
                {"network_type": "vlan", "segmentation_id": 150},
                {"name": name("segment"), "description": "two"},
            ),
        ),
    }


def keystone_cases() -> dict[str, Case]:
    role = {"role": "member", "project": ref("project")}
    reader = {"role": "reader", "project": ref("project")}
    return {
        "project": Case(
            "Keystone::Project",
            {"description": "one", "tags": ["t"]},
            {"description": "two", "enabled": True},
            {},
            keystone("projects", "project"),
            ({"description": "one", "tags": ["t"]}, {"description": "two"}),
        ),
        "user": Case(
            "Keystone::User",
            {"roles": [role], "password": f"Secret-{TAG}"},
            {"description": "two", "roles": [role, reader]},
            {},
            keystone("users", "user"),
            ({"description": ""}, {"description": "two"}),
        ),
        "group_of_users": Case(
            "Keystone::Group",
            {"description": "one"},
            {"description": "two"},
            {},
            keystone("groups", "group"),
            ({"description": "one"}, {"description": "two"}),
        ),
        "user_roles": Case(
            "Keystone::UserRoleAssignment",
            {
                "user": ref("user"),
                "roles": [{"role": "reader", "domain": "default"}],
            },
            {"roles": [{"role": "member", "domain": "default"}]},
            one_id=True,
        ),
        "group_roles": Case(
            "Keystone::GroupRoleAssignment",
            {"group": ref("group_of_users"), "roles": [role]},
            {"roles": [reader]},
            one_id=True,
        ),
        "role": Case(
            "Keystone::Role",
            {"name": f"story-{TAG}"},
            {"name": None},
            {"domain": "default"},
            keystone("roles", "role"),
        ),
        "domain": Case(
            "Keystone::Domain",
            {"description": "one"},
            {"description": "two", "enabled": False},
            {},
            keystone("domains", "domain"),
            ({"enabled": True}, {"enabled": False, "description": "two"}),
        ),
        "region": Case(
            "Keystone::Region",
            {"id": f"story-{TAG}"},
            {"description": "two"},
            {"id": f"story-{TAG}-b"},
            keystone("regions", "region"),
            ({}, {"description": "two"}),
        ),
        "service": Case(
            "Keystone::Service",
            {"type": "story", "enabled": False},
            {"description": "two"},
            {},
            keystone("services", "service"),
            ({"enabled": False}, {"description": "two"}),
        ),
        "endpoint": Case(
            "Keystone::Endpoint",
            {
                "service": ref("service"),
                "interface": "admin",
                "region": ref("region"),
                "url": "http://one",
                "enabled": False,
            },
            {"url": "http://two"},
            {},
            keystone("endpoints", "endpoint"),
            ({"url": "http://one"}, {"url": "http://two"}),
        ),
    }


def nova_cases() -> dict[str, Case]:
    return {
        "flavor": Case(
            "Nova::Flavor",
            {
                "ram": 64,
                "vcpus": 1,
                "is_public": False,
                "extra_specs": {"story:a": "1"},
            },
            {"extra_specs": {"story:b": "2"}, "tenants": [ref("project")]},
            {"ram": 128},
            rest("compute", "/flavors/{}/os-extra_specs", "extra_specs"),
            ({"story:a": "1"}, {"story:b": "2"}),
        ),
        "servers": Case(
            "Nova::ServerGroup",
            {"policies": ["affinity"]},
            {},
            {"policies": ["soft-affinity"]},
            rest("compute", "/os-server-groups/{}", "server_group"),
        ),
        "aggregate": Case(
            "Nova::HostAggregate",
            {"name": f"story-{TAG}", "metadata": {"a": "1"}},
            {"name": f"story-{TAG}-b", "metadata": {"b": 2}},
            {},
            rest("compute", "/os-aggregates/{}", "aggregate"),
            (
                {"name": f"story-{TAG}", "metadata": {"a": "1"}},
                {"name": f"story-{TAG}-b", "metadata": {"b": "2"}},
            ),
        ),
        "nova_quota": Case(
            "Nova::Quota",
            {**PROJECT, "cores": 5, "instances": 6},
            {"cores": 7, "instances": None},
            {},
            rest("compute", "/os-quota-sets/{}", "quota_set"),
            ({"cores": 5, "instances": 6}, {"cores": 7}),
            one_id=True,
        ),
        "old_quota": Case(
            "Nova::Quota",
            {"project": ref("user_project"), "injected_files": 3},
            {"injected_files": 4},
            {},
            rest("compute", "/os-quota-sets/{}", "quota_set"),
            ({"injected_files": 3}, {"injected_files": 4}),
            one_id=True,
        ),
        "user_project": Case("Keystone::Project", {}),
        "key": Case(
            "Nova::KeyPair",
            {"name": f"story-{TAG}"},
            {},
            {"name": f"story-{TAG}-b"},
            rest("compute", "/os-keypairs/{}", "keypair"),
        ),
    }


def cinder_cases() -> dict[str, Case]:
    specs = "/qos-specs/{}"
    return {
        "type": Case(
            "Cinder::VolumeType",
            {"name": f"story-{TAG}", "metadata": {"a": "1"}},
            {"description": "two", "metadata": {"b": "2"}},
            {},
            rest("block_storage", "/types/{}", "volume_type"),
            (
                {"extra_specs": {"a": "1"}},
                {"extra_specs": {"b": "2"}, "description": "two"},
            ),
        ),
        "encrypted": Case(
            "Cinder::EncryptedVolumeType",
            {
                "volume_type": ref("type"),
                "provider": "luks",
                "key_size": 256,
                "cipher": "aes-xts-plain64",
            },
            {"control_location": "back-end", "key_size": None},
            {},
            rest("block_storage", "/types/{}/encryption", None),
            (
                {"provider": "luks", "key_size": 256},
                {"control_location": "back-end", "key_size": None},
            ),
            one_id=True,
        ),
        "specs": Case(
            "Cinder::QoSSpecs",
            {"specs": {"a": "1"}},
            {"specs": {"b": 2}},
            {"name": f"story-{TAG}"},
            rest("block_storage", specs, "qos_specs"),
            ({"specs": {"a": "1"}}, {"specs": {"b": "2"}}),
        ),
        "association": Case(
            "Cinder::QoSAssociation",
            {"qos_specs": ref("specs"), "volume_types": [ref("type")]},
            {},
            {},
            rest("block_storage", f"{specs}/associations", None),
        ),
        "cinder_quota": Case(
            "Cinder::Quota",
            {**PROJECT, "volumes": 5, "gigabytes": 6},
            {"volumes": 7, "gigabytes": None},
            {},
            rest("block_storage", "/os-quota-sets/{}", "quota_set"),
            ({"volumes": 5, "gigabytes": 6}, {"volumes": 7}),
            one_id=True,
        ),
    }


def wished(case: Case, *changes: dict[str, Any]) -> dict[str, Any]:
    """The resource with some changes."""
    properties = dict(case.first)
    for each in changes:
        properties.update(each)
    given = {k: v for k, v in properties.items() if v is not None}
    return res(case.kind, **given)


class TypesStory(CloudStory):
    """All types at once; some only an administrator may make."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud.administrator()
        self.heat = self.running.heat(self.cloud)

    def look(self, all_cases: dict[str, Case], ids: Any, which: int) -> None:
        for name, case in all_cases.items():
            if case.shown is None:
                continue
            shown = case.shown(self.cloud, ids[name])
            says = case.says[which]
            with self.subTest(case.kind, version=which):
                self.assertEqual(says, {key: shown.get(key) for key in says})

    def ids(self, ident: str) -> dict[str, str]:
        return {
            each.resource_name: each.physical_resource_id
            for each in self.heat.resources.list(ident)
        }

    def test_life(self) -> None:
        table = cases()
        first = {name: wished(case) for name, case in table.items()}
        ident = self.create(first)
        made = self.ids(ident)
        self.look(table, made, 0)
        self.read_attributes(ident)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)
        self.as_the_users(table, made)

        second = {
            name: wished(case, case.change) for name, case in table.items()
        }
        self.update(ident, second)
        after = self.ids(ident)
        self.assertEqual(made, after)
        self.look(table, after, 1)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)

        third = {
            name: wished(case, case.change, case.replace)
            for name, case in table.items()
        }
        self.update(ident, third)
        last = self.ids(ident)
        for name, case in table.items():
            with self.subTest(case.kind, replaced=bool(case.replace)):
                if case.replace:
                    self.assertNotEqual(made[name], last[name])
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)
        self.delete(ident)
        for name, case in table.items():
            if case.shown is None or case.one_id:
                continue
            with self.subTest(case.kind, deleted=True):
                with self.assertRaisesRegex(
                    Exception, "404|ould not be found"
                ):
                    case.shown(self.cloud, last[name])

    def as_the_users(self, table: dict[str, Case], ids: Any) -> None:
        """Another stack has them all as the user's, and says no more."""
        wish = {
            name: {"type": f"OS::{case.kind}", "external_id": ids[name]}
            for name, case in table.items()
        }
        ident = self.create(wish)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)
        self.delete(ident)
        self.look(table, ids, 0)

    def read_attributes(self, ident: str) -> None:
        """Each attribute that a type says it has can be read."""
        for each in self.heat.resources.list(ident):
            kind = self.heat.resource_types.get(each.resource_type)
            found = self.heat.resources.get(ident, each.resource_name)
            with self.subTest(each.resource_type):
                self.assertLessEqual(
                    {*kind["attributes"]} - {"show"}, {*found.attributes}
                )

    def no_drift(self, ident: str) -> None:
        for each in self.heat.resources.list(ident):
            with self.subTest(each.resource_type):
                self.assertNotIn("differs", each.resource_status_reason)


class ExtraRouteStory(CloudStory):
    """Routes that are made side by side and leave one another alone."""

    @staticmethod
    def resources(*nexthops: int) -> dict[str, Any]:
        routes = {
            f"route_{number}": res(
                "Neutron::ExtraRoute",
                router_id=ref("router"),
                destination=f"10.9{number}.0.0/24",
                nexthop=f"10.9.0.{hop}",
            )
            for number, hop in enumerate(nexthops)
        }
        return {
            **network(),
            "router": res("Neutron::Router"),
            "interface": res(
                "Neutron::RouterInterface",
                router=ref("router"),
                subnet=ref("subnet"),
            ),
            **routes,
        }

    def hops(self, ident: str) -> list[str]:
        router = self.cloud.network.get_router(self.physical(ident, "router"))
        return sorted(each["nexthop"] for each in router.routes)

    def test_life(self) -> None:
        ident = self.create(self.resources(4, 5, 6))
        self.assertEqual(
            ["10.9.0.4", "10.9.0.5", "10.9.0.6"], self.hops(ident)
        )
        self.update(ident, self.resources(4, 7))
        self.assertEqual(["10.9.0.4", "10.9.0.7"], self.hops(ident))
        self.act(ident, "check", "CHECK_COMPLETE")
        self.delete(ident)


class SeveredStory(CloudStory):
    """What connects objects is connected again, and stays so."""

    route = {"destination": "10.90.0.0/24", "nexthop": "10.9.0.9"}
    other_route = {"destination": "10.91.0.0/24", "nexthop": "10.9.0.9"}

    def resources(self) -> dict[str, Any]:
        router = ref("router")
        return {
            **network(),
            "router": res("Neutron::Router"),
            "interface": res(
                "Neutron::RouterInterface", router=router, subnet=ref("subnet")
            ),
            "gateway": res(
                "Neutron::RouterGateway", router_id=router, network=EXTERNAL
            ),
            "port": res("Neutron::Port", network=ref("net")),
            "floating": res("Neutron::FloatingIP", floating_network=EXTERNAL),
            "association": res(
                "Neutron::FloatingIPAssociation",
                floatingip_id=ref("floating"),
                port_id=ref("port"),
            ),
            "routes": res(
                "Neutron::ExtraRouteSet", router=router, routes=[self.route]
            ),
            "route": res(
                "Neutron::ExtraRoute", router_id=router, **self.other_route
            ),
        }

    def state(self, ident: str) -> dict[str, Any]:
        network = self.cloud.network
        router = network.get_router(self.physical(ident, "router"))
        ports = network.ports(
            device_id=router.id, device_owner="network:router_interface"
        )
        floating = network.get_ip(self.physical(ident, "floating"))
        return {
            "out": (router.external_gateway_info or {}).get("network_id"),
            "routes": sorted(each["destination"] for each in router.routes),
            "subnets": [each.fixed_ips[0]["subnet_id"] for each in ports],
            "leads to": floating.port_id,
        }

    def severed(self, ident: str) -> list[Callable[[], Any]]:
        """What takes the connections away, one after the other."""
        network = self.cloud.network
        router = self.physical(ident, "router")
        floating = self.physical(ident, "floating")
        subnet = self.physical(ident, "subnet")
        return [
            lambda: network.update_ip(floating, port_id=None),
            lambda: network.update_router(router, routes=[]),
            lambda: network.update_router(router, external_gateway_info={}),
            lambda: network.remove_interface_from_router(
                router, subnet_id=subnet
            ),
        ]

    def test_connected_again(self) -> None:
        ident = self.create(self.resources())
        before = self.state(ident)
        self.assertEqual(2, len(before["routes"]))
        # Of what needs another that failed, a check knows nothing.
        for step in self.severed(ident)[:2]:
            step()
            self.act(ident, "check", "CHECK_FAILED")
            self.update(ident, self.resources())
            self.assertEqual(before, self.state(ident))
        for step in self.severed(ident):
            step()
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, self.resources(), converge=True)
        self.assertEqual(before, self.state(ident))
        self.act(ident, "check", "CHECK_COMPLETE")


class SeveredLimitsStory(CloudStory):
    """As :class:`SeveredStory`, of what an administrator connects."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud.administrator()
        self.heat = self.running.heat(self.cloud)

    def test_associated_again(self) -> None:
        cases = cinder_cases()
        names = ("type", "specs", "association")
        resources = {name: wished(cases[name]) for name in names}
        ident = self.create(resources)
        specs = self.physical(ident, "specs")
        volume_type = self.physical(ident, "type")
        service = self.cloud.block_storage
        service.get(
            f"/qos-specs/{specs}/disassociate?vol_type_id={volume_type}"
        )
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, resources)
        shown = service.get(f"/qos-specs/{specs}/associations").json()
        self.assertEqual(
            [volume_type], [each["id"] for each in shown["qos_associations"]]
        )
        self.act(ident, "check", "CHECK_COMPLETE")


class DriftStory(CloudStory):
    """What somebody changed, Heat tells, and repairs when it is asked to."""

    def test_told_and_repaired(self) -> None:
        resources = {
            "net": res("Neutron::Net", admin_state_up=True),
            "volume": res("Cinder::Volume", size=1, metadata={"a": "1"}),
            "still": res("Neutron::Net"),
        }
        ident = self.create(resources)
        net = self.physical(ident, "net")
        volume = self.physical(ident, "volume")
        self.cloud.network.put(
            f"/networks/{net}", json={"network": {"admin_state_up": False}}
        ).raise_for_status()
        self.cloud.block_storage.put(
            f"/volumes/{volume}/metadata", json={"metadata": {"a": "2"}}
        ).raise_for_status()
        self.act(ident, "check", "CHECK_COMPLETE")
        reasons = {
            each.resource_name: each.resource_status_reason
            for each in self.heat.resources.list(ident)
        }
        self.assertIn(
            "resources.net.properties.admin_state_up: expected true, found "
            "false",
            reasons["net"],
        )
        self.assertIn("properties.metadata", reasons["volume"])
        self.assertNotIn("differs", reasons["still"])
        # Without being asked, an update leaves what it doesn't change.
        self.update(ident, resources)
        self.assertFalse(self.cloud.network.get_network(net).is_admin_state_up)
        self.update(ident, resources, converge=True)
        self.assertTrue(self.cloud.network.get_network(net).is_admin_state_up)
        self.assertEqual(net, self.physical(ident, "net"))
        self.assertEqual(
            {"a": "1"}, self.cloud.block_storage.get_volume(volume).metadata
        )

    def test_repaired_in_nested_stacks(self) -> None:
        resources = {
            "group": res(
                "Heat::ResourceGroup",
                count=1,
                resource_def=res("Neutron::Net"),
            )
        }
        ident = self.create(resources)
        net = self.physical(self.physical(ident, "group"), "0")
        self.cloud.network.put(
            f"/networks/{net}", json={"network": {"admin_state_up": False}}
        ).raise_for_status()
        self.update(ident, resources, converge=True)
        self.assertTrue(self.cloud.network.get_network(net).is_admin_state_up)

    def test_gone(self) -> None:
        resources = {"net": res("Neutron::Net"), "other": res("Neutron::Net")}
        ident = self.create(resources)
        gone, other = (self.physical(ident, name) for name in resources)
        self.cloud.network.delete_network(gone)
        self.update(ident, resources, converge=True)
        self.assertNotEqual(gone, self.physical(ident, "net"))
        self.assertEqual(other, self.physical(ident, "other"))


class RemoteStory(CloudStory):
    """A stack in another region, which is the service under test again."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        identity = cloud.administrator().identity
        cls.region = f"story-{TAG}-far"
        identity.create_region(id=cls.region)
        cls.addClassCleanup(identity.delete_region, cls.region)
        service = identity.create_service(type="orchestration", name="story")
        cls.addClassCleanup(identity.delete_service, service)
        endpoint = identity.create_endpoint(
            service_id=service.id,
            interface="public",
            region_id=cls.region,
            url=f"{cls.running.url}/v1/%(project_id)s",
        )
        cls.addClassCleanup(identity.delete_endpoint, endpoint)
        # The catalogue comes with the token.
        cls.running.cloud.session.invalidate()

    def resources(self, length: int) -> dict[str, Any]:
        return {
            "far": res(
                "Heat::Stack",
                context={"region_name": self.region},
                template=NESTED,
                parameters={"length": length},
            )
        }

    def test_life(self) -> None:
        ident = self.create(self.resources(5))
        far = self.physical(ident, "far")
        stack = self.heat.stacks.get(far)
        self.assertEqual("CREATE_COMPLETE", stack.stack_status)
        self.assertEqual(5, len(stack.outputs[0]["output_value"]))
        self.update(ident, self.resources(7))
        self.assertEqual(far, self.physical(ident, "far"))
        shown = self.heat.resources.get(ident, "far", with_attr=["outputs"])
        self.assertEqual(7, len(shown.attributes["outputs"]["word"]))
        for action, status in (
            ("suspend", "SUSPEND_COMPLETE"),
            ("resume", "RESUME_COMPLETE"),
            ("check", "CHECK_COMPLETE"),
        ):
            self.act(ident, action, status)
            self.assertEqual(status, self.heat.stacks.get(far).stack_status)
        self.delete(ident)
        self.wait(far, "DELETE_COMPLETE")

    def test_refused_with_the_words_from_there(self) -> None:
        wrong = self.resources(5)
        wrong["far"]["properties"]["template"] = NESTED.replace(
            "OS::Heat::RandomString", "OS::No::Such"
        )
        with self.assertRaisesRegex(
            heat_exc.HTTPBadRequest,
            "^ERROR: Failed validating stack template using Heat endpoint at "
            f'region "{self.region}" due to "ERROR: .*OS::No::Such',
        ):
            self.begin(wrong)

    def test_a_region_without_the_service(self) -> None:
        wrong = self.resources(5)
        wrong["far"]["properties"]["context"]["region_name"] = "Nowhere"
        with self.assertRaisesRegex(
            heat_exc.HTTPBadRequest,
            "^ERROR: Cannot establish connection to Heat endpoint at region "
            '"Nowhere" due to ".*Nowhere region not found"$',
        ):
            self.begin(wrong)

    def test_gone(self) -> None:
        ident = self.create(self.resources(5))
        self.delete(self.physical(ident, "far"))
        self.act(ident, "check", "CHECK_FAILED")


class ServerPartsStory(CloudStory):
    """What a server is made with, and brought back to."""

    def test_files_and_the_text_of_a_config(self) -> None:
        ident = self.create(
            {
                "config": res("Heat::SoftwareConfig", config="#!/bin/sh\n"),
                "server": server(
                    user_data=ref("config"),
                    personality={"/etc/story": "told"},
                    networks=[{"allocate_network": "none"}],
                ),
            }
        )
        found = self.cloud.compute.get_server(self.physical(ident, "server"))
        self.assertEqual("ACTIVE", found.status)
        told = base64.b64decode(found.user_data or "").decode()
        self.assertIn(told, ("", "#!/bin/sh\n"))

    def test_boots_from_a_volume_made_of_an_image(self) -> None:
        disk = {
            "image": IMAGE,
            "volume_size": 1,
            "delete_on_termination": True,
        }
        resources = {
            "server": res(
                "Nova::Server",
                flavor=FLAVOR,
                user_data_format="RAW",
                block_device_mapping_v2=[disk],
                networks=[{"allocate_network": "none"}],
            )
        }
        ident = self.create(resources)
        found = self.cloud.compute.get_server(self.physical(ident, "server"))
        self.assertEqual(1, len(found.attached_volumes))

    def test_snapshot_and_restore(self) -> None:
        resources = {"server": server(networks=[{"allocate_network": "none"}])}
        ident = self.create(resources)
        before = self.physical(ident, "server")
        snapshot = self.heat.stacks.snapshot(ident)["id"]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            shown = self.heat.stacks.snapshot_show(ident, snapshot)["snapshot"]
            if shown["status"] != "IN_PROGRESS":
                break
            time.sleep(1)
        self.assertEqual("COMPLETE", shown["status"], shown)
        self.heat.stacks.restore(ident, snapshot)
        self.wait(ident, "RESTORE_COMPLETE")
        self.assertEqual(before, self.physical(ident, "server"))
        found = self.cloud.compute.get_server(before)
        kept = shown["data"]["resources"]["server"]["resource_data"]
        [image] = kept.values()
        self.assertEqual(image, found.image.id)
        self.heat.stacks.snapshot_delete(ident, snapshot)
