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

"""The client plug-ins of services: sessions, availability, looking up."""

from __future__ import annotations

import gc
import weakref

from oslo_config import cfg

from heat.common import config, exception
from heat.common import context as heat_context
from heat.engine import clients, plugins
from heat.engine.clients import cache, errors, session, settings
from heat.tests import base
from heat.tests.fakes import cloud


class AvailabilityTest(base.TestCase):
    def test_without_credentials(self):
        context = heat_context.RequestContext()
        for name in ("nova", "neutron", "glance", "cinder", "keystone"):
            available, reason = clients.availability(context, name)
            self.assertFalse(available)
            self.assertIn("no credentials", reason)

    def test_not_in_the_catalogue(self):
        made = self.useFixture(cloud.Cloud(services=("network",)))
        self.assertEqual(
            (True, None), clients.availability(made.context, "neutron")
        )
        available, reason = clients.availability(made.context, "nova")
        self.assertFalse(available)
        self.assertIn("no public endpoint of the type compute", reason)

    def test_types_that_a_user_is_told(self):
        """Those whose service is there, where users log in."""
        made = self.useFixture(cloud.Cloud(services=("network",)))
        registry = plugins.PluginRegistry.load()
        every = registry.types()
        told = registry.usable(every, made.context)
        for name, usable in (
            ("OS::Heat::Value", True),
            ("OS::Neutron::Port", True),
            ("OS::Nova::Server", False),
            ("OS::Octavia::LoadBalancer", False),
        ):
            with self.subTest(name):
                self.assertIn(name, every)
                self.assertEqual(usable, name in told)
        nobody = heat_context.RequestContext()
        self.assertEqual(every, registry.usable(every, nobody))

    def test_no_such_client(self):
        context = heat_context.RequestContext()
        available, reason = clients.availability(context, "none")
        self.assertFalse(available)
        self.assertIn("none", reason)

    def test_goes_with_its_context(self):
        # Not the thread's current context, or its first: that one is kept.
        heat_context.RequestContext()
        context = heat_context.RequestContext(auth_token="t", overwrite=False)
        clients.of(context).client_plugin("neutron")
        gone = weakref.ref(context)
        del context
        gc.collect()
        self.assertIsNone(gone())


class LookUpTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        made = clients.of(self.cloud.context)
        self.neutron = made.client_plugin("neutron")

    def test_by_id_and_name(self):
        network = self.cloud.networks.add(name="blue")
        for value in (network["id"], "blue"):
            self.assertEqual(
                network["id"], self.neutron.find("network", value)
            )

    def test_remembered_until_it_is_gone(self):
        network = self.cloud.networks.add(name="blue")
        self.neutron.find("network", "blue")
        asked = len(self.cloud.networks.calls)
        self.neutron.find("network", "blue")
        self.assertEqual(asked, len(self.cloud.networks.calls))
        del self.cloud.networks.stored[network["id"]]
        for ask in (self.neutron.look_up, self.neutron.find):
            self.assertRaises(exception.EntityNotFound, ask, "network", "blue")

    def test_ambiguous(self):
        self.cloud.networks.add(name="blue")
        self.cloud.networks.add(name="blue")
        self.assertRaises(
            exception.PhysicalResourceNameAmbiguity,
            self.neutron.find,
            "network",
            "blue",
        )

    def test_verbs_of_older_plugins(self):
        client = self.neutron.client()
        made = client.create_network({"network": {"name": "n"}})["network"]
        self.assertEqual([made], client.list_networks(name="n")["networks"])
        client.update_network(made["id"], {"network": {"name": "m"}})
        shown = client.show_network(made["id"])["network"]
        self.assertEqual("m", shown["name"])
        client.delete_network(made["id"])
        error = self.assertRaises(
            errors.NotFound, client.show_network, made["id"]
        )
        self.assertTrue(self.neutron.is_not_found(error))


class SessionTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        config.register(self.conf)
        self.conf([])
        settings.configure(self.conf)
        self.addCleanup(settings.configure, None)

    def test_options(self):
        made = session.session(None, "nova")
        self.assertTrue(made.verify)
        self.conf.set_override("ca_file", "/ca", "clients")
        self.conf.set_override("insecure", True, "clients_nova")
        self.assertFalse(session.session(None, "nova").verify)
        self.assertEqual("/ca", session.session(None, "neutron").verify)

    def test_region(self):
        context = heat_context.RequestContext()
        self.assertIsNone(session.region(context, "compute"))
        self.conf.set_override("region_name_for_services", "one")
        self.conf.set_override("region_name_for_shared_services", "all")
        for kind, wanted in (("compute", "one"), ("image", "all")):
            self.assertEqual(wanted, session.region(context, kind))

    def test_trust_needs_a_trustee(self):
        context = heat_context.RequestContext(trust_id="t")
        error = self.assertRaises(
            exception.AuthorizationFailure, session.auth, context
        )
        self.assertIn("[trustee]", str(error))

    def test_nothing(self):
        context = heat_context.RequestContext()
        self.assertFalse(session.has_credentials(context))
        self.assertRaises(
            exception.AuthorizationFailure, session.auth, context
        )


class CacheTest(base.TestCase):
    def test_expires(self):
        now = [0.0]
        made = cache.Cache("none", 60, monotonic=lambda: now[0])
        answers = iter(range(9))

        def ask():
            return made.get("key", lambda: next(answers))

        self.assertEqual([0, 0], [ask(), ask()])
        now[0] = 60.0
        self.assertEqual(1, ask())
        made.forget("key")
        self.assertEqual(2, ask())

    def test_errors_are_not_kept(self):
        made = cache.Cache("none", 60)
        self.assertRaises(ZeroDivisionError, made.get, "key", lambda: 1 // 0)
        self.assertEqual(5, made.get("key", lambda: 5))
