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

"""Types of the cloud's services: schemas, orders, what is refused."""

from __future__ import annotations

import dataclasses

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import resource
from heat.engine.resource import lifecycle, notation, rest
from heat.engine.resources import declared
from heat.engine.stack import preview_nested
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks


def table(schemas):
    """A schema as plain values, descriptions apart."""
    return {
        name: (
            each.type,
            each.default,
            each.required,
            each.update_allowed,
            each.support_status.status,
            [dict(rule) for rule in each.constraints],
            None if each.schema is None else table(each.schema),
        )
        for name, each in schemas.items()
    }


class SchemaTest(base.TestCase):
    def test_as_published(self):
        registry = stacks.registry()
        seen = 0
        for name, published in declared.fallback_resource_mapping().items():
            cls = registry.get(name)
            if not issubclass(cls, rest.RestResource):
                continue
            seen += 1
            with self.subTest(name):
                self.assertEqual(
                    table(published.properties_schema),
                    table(cls.properties_schema),
                )
                self.assertEqual(
                    set(published.attributes_schema),
                    set(cls.attributes_schema),
                )
        self.assertGreaterEqual(seen, 40)

    def test_every_property_is_described(self):
        for name in stacks.registry().types():
            cls = stacks.registry().get(name)
            if not issubclass(cls, rest.RestResource):
                continue
            for key, each in cls.properties_schema.items():
                with self.subTest(type=name, property=key):
                    self.assertTrue(each.description)

    def test_names_in_declarations_are_properties(self):
        for name in stacks.registry().types():
            cls = stacks.registry().get(name)
            if not issubclass(cls, rest.RestResource):
                continue
            paths = [
                *cls.body_keys,
                *cls.not_sent,
                *cls.finds,
                *cls.renamed,
                *cls.cleared,
            ]
            for path in paths:
                with self.subTest(type=name, path=path):
                    self.assertTrue(_leads(cls.properties_schema, path))


def _leads(schemas, path):
    for part in path.split("."):
        if schemas is None or part not in schemas:
            return False
        inner = schemas[part].schema
        if inner is not None and schemas[part].type == "List":
            inner = inner[0].schema
        schemas = inner
    return True


class ImpliedOrderTest(base.TestCase):
    def needs(self, resources):
        stacks.registry()
        return stacks.view(resources).definition.dependencies()

    def test_port_and_server_after_subnets_of_their_network(self):
        net = {"get_resource": "net"}
        needs = self.needs(
            {
                "net": {"type": "OS::Neutron::Net"},
                "subnet": _typed("Neutron::Subnet", network=net),
                "other": _typed("Neutron::Subnet", network="elsewhere"),
                "port": _typed("Neutron::Port", network=net),
                "far": _typed("Neutron::Port", network_id="elsewhere"),
                "server": _typed("Nova::Server", networks=[{"network": net}]),
            }
        )
        self.assertEqual({"net", "subnet"}, needs["port"])
        self.assertEqual({"net", "subnet"}, needs["server"])
        self.assertEqual({"other"}, needs["far"])

    def test_a_network_that_is_not_known_yet(self):
        """In a preview who names it by one parameter belongs together."""
        net = {"get_param": "net"}
        stacks.registry()
        made = stacks.view(
            {
                "subnet": _typed("Neutron::Subnet", network=net),
                "port": _typed("Neutron::Port", network=net),
                "far": _typed("Neutron::Port", network="elsewhere"),
            }
        ).definition
        made.parameters = preview_nested.UnknownParameters(
            {"net": None}, {"net": "parent/net"}
        )
        needs = made.dependencies()
        self.assertEqual({"subnet"}, needs["port"])
        self.assertEqual(set(), needs["far"])

    def test_floating_ip_after_the_way_to_it(self):
        needs = self.needs(
            {
                "router": _typed(
                    "Neutron::Router",
                    external_gateway_info={"network": "public"},
                ),
                "inner": _typed("Neutron::Router"),
                "interface": _typed(
                    "Neutron::RouterInterface",
                    router={"get_resource": "router"},
                    subnet="s",
                ),
                "ip": _typed("Neutron::FloatingIP", floating_network="public"),
            }
        )
        self.assertEqual({"router", "interface"}, needs["ip"])

    def test_extra_routes_after_the_interfaces_of_their_router(self):
        router = {"get_resource": "router"}
        needs = self.needs(
            {
                "router": _typed("Neutron::Router"),
                "interface": _typed(
                    "Neutron::RouterInterface", router=router, subnet="s"
                ),
                "far": _typed(
                    "Neutron::RouterInterface", router="other", subnet="t"
                ),
                "routes": _typed("Neutron::ExtraRouteSet", router=router),
            }
        )
        self.assertEqual({"router", "interface"}, needs["routes"])

    def test_gateway_between_interface_and_floating_ip(self):
        router = {"get_resource": "router"}
        needs = self.needs(
            {
                "router": _typed("Neutron::Router"),
                "interface": _typed(
                    "Neutron::RouterInterface", router=router, subnet="s"
                ),
                "other": _typed(
                    "Neutron::RouterInterface", router="other", subnet="s"
                ),
                "gateway": _typed(
                    "Neutron::RouterGateway",
                    router_id=router,
                    network_id="public",
                ),
                "ip": _typed("Neutron::FloatingIP", floating_network="public"),
            }
        )
        self.assertEqual({"router", "interface"}, needs["gateway"])
        self.assertEqual({"gateway", "interface", "other"}, needs["ip"])

    def test_what_the_template_says_has_precedence(self):
        needs = self.needs(
            {
                "subnet": {
                    **_typed("Neutron::Subnet", network="n"),
                    "depends_on": "port",
                },
                "port": _typed("Neutron::Port", network="n"),
            }
        )
        self.assertEqual(frozenset(), needs["port"])
        self.assertEqual({"port"}, needs["subnet"])


def _typed(kind, **properties):
    return {"type": f"OS::{kind}", "properties": properties}


class ValidationTest(base.TestCase):
    def made(self, kind, context=None, **properties):
        # Without credentials no service is asked.
        context = context or heat_context.RequestContext()
        return stacks.in_cloud(context, f"OS::{kind}", properties)

    def test_a_subnet_without_gateway_any_more(self):
        subnet = self.made("Neutron::Subnet", network="n", cidr="10.0.0.0/24")
        for value in (None, ""):
            body = subnet.update_body(["gateway_ip"], {"gateway_ip": value})
            self.assertEqual({"gateway_ip": None}, body)

    def test_refused(self):
        boots = {"flavor": "f", "image": "i"}
        for kind, properties, words in (
            ("Neutron::Subnet", {"network": "n"}, "cidr or subnetpool"),
            (
                "Neutron::Subnet",
                {"network": "n", "cidr": "10.0.0.0/24", "prefixlen": 26},
                "subnetpool",
            ),
            ("Neutron::Subnet", {"network": "n", "cidr": "10"}, "cidr"),
            ("Neutron::RouterInterface", {"router": "r"}, "subnet, port"),
            (
                "Neutron::RouterInterface",
                {"router": "r", "subnet": "s", "port": "p"},
                "same time",
            ),
            (
                "Neutron::Port",
                {
                    "network": "n",
                    "port_security_enabled": False,
                    "security_groups": ["g"],
                },
                "without port security",
            ),
            ("Neutron::SecurityGroup", {"name": "default"}, "default"),
            ("Nova::Server", {"flavor": "f"}, "boots from"),
            ("Nova::Server", {**boots, "networks": [{}]}, "networks[0]"),
            (
                "Nova::Server",
                {
                    **boots,
                    "networks": [{"port": "p", "fixed_ip": "10.0.0.1"}],
                },
                "the port's business",
            ),
            (
                "Nova::Server",
                {
                    **boots,
                    "networks": [
                        {"network": "n"},
                        {"allocate_network": "auto"},
                    ],
                },
                "stands alone",
            ),
            ("Neutron::Quota", {"project": "p"}, "at least one limit"),
            ("Neutron::RouterGateway", {"router_id": "r"}, "network"),
            ("Neutron::ProviderNet", {"network_type": "flat"}, "needs it"),
            (
                "Neutron::ProviderNet",
                {"network_type": "local", "segmentation_id": "3"},
                "has none",
            ),
            (
                "Neutron::RBACPolicy",
                {
                    "action": "access_as_external",
                    "object_type": "qos_policy",
                    "object_id": "o",
                    "target_tenant": "t",
                },
                "Only a network",
            ),
            ("Cinder::Volume", {"image": "i"}, "properties.size"),
            (
                "Cinder::Volume",
                {"snapshot_id": "s", "source_volid": "v"},
                "same time",
            ),
            (
                "Keystone::UserRoleAssignment",
                {"user": "u", "roles": [{"role": "r"}]},
                "roles[0]",
            ),
        ):
            with self.subTest(type=kind, properties=properties):
                error = self.assertRaises(
                    (exception.HeatException,),
                    self.made(kind, **properties).validate,
                )
                self.assertIn(words, str(error))

    def test_reference_to_what_is_not_made_yet(self):
        made = self.useFixture(cloud.Cloud())
        stacks.registry()
        view = stacks.view(
            {
                "net": {"type": "OS::Neutron::Net"},
                "port": _typed(
                    "Neutron::Port", network={"get_resource": "net"}
                ),
            }
        )
        values = dataclasses.replace(view.values, context=made.context)
        stack = resource.StackView(view.definition, values=values)
        cls = stacks.registry().get("OS::Neutron::Port")
        cls(
            "port", view.definition.resource_definitions["port"], stack
        ).validate()
        self.assertEqual([], made.networks.calls)

    def test_quota_is_set_and_reset_and_never_replaced(self):
        made = self.useFixture(cloud.Cloud())
        quotas = made.objects("http://network/v2.0/quotas", "quota", "quotas")
        projects = made.objects(
            "http://keystone/v3/projects", "project", "projects"
        )
        project = projects.add(name="p")["id"]
        quotas.add(id=project, port=50, network=100)
        rsrc = self.made(
            "Neutron::Quota", made.context, project=project, port=7
        )
        stacks.run(rsrc, "CREATE")
        self.assertEqual(7, quotas.stored[project]["port"])
        self.assertEqual(project, rsrc.resource_id)
        for action in ("CREATE", "UPDATE", "CHECK"):
            rsrc.load_state(
                uuid=rsrc.uuid,
                physical_id=project,
                action=action,
                status="FAILED",
                stored_properties={"project": project, "port": 7},
            )
            verdict = lifecycle.verdict(rsrc)
            self.assertEqual(
                (True, False), (verdict.needs_update, verdict.needs_replace)
            )
        stacks.run(rsrc, "DELETE")
        self.assertEqual({}, quotas.stored)

    def test_port_makes_way_and_takes_back(self):
        made = self.useFixture(cloud.Cloud())
        ports = made.objects("http://network/v2.0/ports", "port", "ports")
        addresses = made.objects(
            "http://network/v2.0/floatingips", "floatingip", "floatingips"
        )
        held = [{"subnet_id": "s", "ip_address": "10.0.0.4"}]
        port = ports.add(fixed_ips=held)
        floating = addresses.add(
            port_id=port["id"], fixed_ip_address="10.0.0.4"
        )
        network = made.networks.add(name="n")["id"]
        rsrc = self.made("Neutron::Port", made.context, network=network)
        rsrc.load_state(
            uuid=rsrc.uuid,
            physical_id=port["id"],
            action="CREATE",
            stored_properties={"network": network},
        )
        self.assertFalse(lifecycle.verdict(rsrc).needs_update)
        for _number in range(2):
            rsrc.prepare_for_replace()
        self.assertEqual([], port["fixed_ips"])
        self.assertIsNone(floating["port_id"])
        verdict = lifecycle.verdict(rsrc)
        self.assertTrue(verdict.needs_update)
        self.assertFalse(verdict.needs_replace)
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(held, port["fixed_ips"])
        self.assertEqual(port["id"], floating["port_id"])
        self.assertEqual({}, rsrc.data())

    def test_security_group_rules(self):
        made = self.useFixture(cloud.Cloud())
        groups = made.objects(
            "http://network/v2.0/security-groups",
            "security_group",
            "security_groups",
        )
        rules = made.objects(
            "http://network/v2.0/security-group-rules",
            "security_group_rule",
            "security_group_rules",
        )
        rsrc = self.made(
            "Neutron::SecurityGroup",
            made.context,
            rules=[{"protocol": "tcp"}, {"remote_mode": "remote_group_id"}],
        )
        stacks.run(rsrc, "CREATE")
        found = [
            (
                each["direction"],
                each.get("protocol"),
                "remote_group_id" in each,
            )
            for each in rules.stored.values()
        ]
        self.assertEqual(
            {
                ("ingress", "tcp", False),
                ("ingress", None, True),
                ("egress", None, False),
            },
            set(found),
        )
        self.assertEqual([rsrc.resource_id], list(groups.stored))


class FormatTest(base.TestCase):
    def test_table(self):
        stacks.registry()
        for name, good, bad in (
            ("ip_addr", ("10.0.0.1", "::1"), ("10.0.0", "x")),
            ("net_cidr", ("10.0.0.0/8", "fe80::/64"), ("10.0.0.1", "10/40")),
            ("ip_or_cidr", ("10.0.0.1", "10.0.0.0/8"), ("10.0.0.0/99",)),
            (
                "mac_addr",
                ("00:11:22:aa:bb:cc",),
                ("00:11", "00:11:22-aa:bb:cc"),
            ),
            ("dns_name", ("a.b.", "host"), ("-a", "a..b", "a" * 64)),
            ("rel_dns_name", ("host",), ("host.",)),
            ("dns_domain", ("example.org.",), ("example.org",)),
            ("timezone", ("Europe/Vienna",), ("Mars/North",)),
            ("cron_expression", ("0 3 * * *", "*/5 1-4 1,15 * mon"), ("1",)),
            ("expiration", ("2999-01-01",), ("1999-01-01", "soon")),
            ("json_string", ("{}",), ("{",)),
        ):
            schemas = notation.properties(f"p string (is {name})")
            for value in good:
                schemas["p"].validate_constraints(value)
            for value in bad:
                with self.subTest(format=name, value=value):
                    self.assertRaises(
                        exception.StackValidationFailed,
                        schemas["p"].validate_constraints,
                        value,
                    )
