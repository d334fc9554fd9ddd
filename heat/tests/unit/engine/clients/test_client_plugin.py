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

"""Client plug-ins: the set of a user, and what errors mean."""

from __future__ import annotations

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import clients
from heat.engine.clients import client_plugin
from heat.tests import base
from heat.tests.unit.engine import stacks


class HTTPError(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Fake(client_plugin.ClientPlugin):
    supported_versions = ["1", "2"]
    default_version = "1"

    def _create(self, version=None):
        return f"client-{version}"


class ClientsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        clients.register("fake_for_test", Fake)
        self.context = heat_context.RequestContext()
        self.clients = clients.of(self.context)

    def test_one_set_for_each_context(self):
        self.assertIs(self.clients, clients.of(self.context))
        other = clients.of(heat_context.RequestContext())
        self.assertIsNot(self.clients, other)
        self.assertIs(self.context, self.clients.context)

    def test_clients(self):
        self.assertEqual("client-1", self.clients.client("fake_for_test"))
        self.assertEqual("client-2", self.clients.client("fake_for_test", "2"))
        plugin = self.clients.client_plugin("fake_for_test")
        self.assertIs(plugin, self.clients.client_plugin("fake_for_test"))
        self.assertRaises(exception.InvalidServiceVersion, plugin.client, "3")
        self.assertRaises(
            exception.ClientNotAvailable, self.clients.client, "none"
        )

    def test_errors(self):
        plugin = Fake(self.context)
        plugin.ignore_not_found(HTTPError(404))
        plugin.ignore_conflict_and_not_found(HTTPError(409))
        with plugin.ignore_not_found:
            raise HTTPError(404)
        self.assertRaises(HTTPError, plugin.ignore_not_found, HTTPError(409))
        self.assertTrue(plugin.is_over_limit(HTTPError(413)))
        self.assertFalse(plugin.is_client_exception(HTTPError(404)))

    def test_declared_delete(self):
        cls = stacks.resource.Resource
        deleted = []

        class Collection:
            def delete(self, physical_id):
                if physical_id == "gone":
                    raise HTTPError(404)
                if physical_id == "busy":
                    raise HTTPError(409)
                deleted.append(physical_id)

            def get(self, physical_id):
                return {"id": physical_id}

        class Plugin(client_plugin.ClientPlugin):
            def _create(self, version=None):
                made = type("Client", (), {})()
                made.things = Collection()
                return made

        clients.register("things_for_test", Plugin)

        class Thing(cls):
            default_client_name = "things_for_test"
            entity = "things"

        for physical_id in ("a", "gone", None):
            rsrc = stacks.one(Thing, physical_id=physical_id)
            stacks.run(rsrc, "DELETE")
        self.assertEqual(["a"], deleted)
        busy = stacks.one(Thing, physical_id="busy")
        self.assertRaises(
            exception.ResourceFailure, stacks.run, busy, "DELETE"
        )
        rsrc = stacks.one(Thing, physical_id="a")
        self.assertEqual({"id": "a"}, rsrc.FnGetAtt("show"))
        self.assertEqual("a", rsrc.FnGetAtt("show", "id"))
