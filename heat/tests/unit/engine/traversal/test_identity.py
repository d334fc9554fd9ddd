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

"""In whose name an engine works: what a stack has stored goes along."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time

from oslo_config import cfg

from heat.common import config, context
from heat.db import credentials, migration, session, stacks
from heat.engine import ports
from heat.engine.stack import converge, delete
from heat.engine.traversal import identity, recovery, runner, scene
from heat.tests import base
from heat.tests.convergence import prepared

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"r": {"type": "OS::Heat::RandomString"}},
}


class Ended:
    """Notes which credentials an engine lets go of."""

    def __init__(self, key):
        self.key = key
        self.ended = []
        self.called = threading.Event()

    def ensure(self, context, stack, tree):
        return self.key

    def end(self, creds_id):
        self.ended.append(creds_id)
        self.called.set()


class Sent:
    """A bus on which nothing arrives: what was sent with which context."""

    def __init__(self):
        self.contexts = []

    def send(self, context, stack_id, traversal_id, nodes):
        self.contexts.append(context)

    def wake(self, context, engine_id, stack_id):
        raise AssertionError("nobody waits")


class IdentityTest(base.TestCase):
    def setUp(self):
        super().setUp()
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.path = os.path.join(held.name, "heat.db")
        self.db = self.open("one")
        migration.upgrade(self.db)
        self.bus = Sent()
        self.engine = ports.Engine(
            db=self.db,
            conf=prepared.conf(),
            engine_id="e",
            plugins=prepared.plugins(),
            sender=self.bus,
            monotonic=time.monotonic,
        )

    def open(self, key):
        conf = config.load("heat-test", [], conf=cfg.ConfigOpts())
        conf.set_override("auth_encryption_key", key)
        url = session.Database.url_for_sqlite(self.path)
        made = session.Database(conf, url)
        self.addCleanup(made.dispose)
        return made

    def stack(self, **creds):
        """A stack that is being created, with these credentials."""
        key = None
        if creds:
            creds = {"trustor_user_id": "u", "tenant_id": "p", **creds}
            key = self.db.run(lambda conn: credentials.insert(conn, creds))
        self.engine.delegation = Ended(key)
        made = converge.create(
            self.engine, self.context(), f"s-{key}", TEMPLATE, {}, {}, {}
        )
        return self.get(made)

    def get(self, stack):
        return self.db.read(lambda conn: stacks.get(conn, stack.id))

    @staticmethod
    def context():
        return context.RequestContext(
            project_id="p", user_id="mine", auth_token="t", overwrite=False
        )

    def test_what_is_stored(self):
        for stored, wanted in (
            ({}, None),
            ({"trust_mark": "never made"}, None),
            (
                {"trust_id": "trust!"},
                context.Deferred("u", "p", trust_id="trust!"),
            ),
            (
                {"password": "secret!", "auth_url": "url"},
                context.Deferred("u", "p", password="secret!", auth_url="url"),
            ),
        ):
            with self.subTest(stored=stored):
                stack = self.stack(**stored)
                made = identity.acting(self.db, stack)
                self.assertEqual(wanted, made.deferred)
                self.assertEqual(wanted and "u", made.user_id)
                self.assertIsNone(made.auth_token)

    def test_another_key(self):
        """The token of the request may do without what can't be read."""
        stack = self.stack(trust_id="trust!")
        made = self.open("two").read(
            lambda conn: identity.with_credentials(conn, stack, self.context())
        )
        self.assertIsNone(made.deferred)
        self.assertEqual("t", made.auth_token)

    def test_every_engine_reads_them_itself(self):
        stack = self.stack(trust_id="trust!")
        (sent,) = self.bus.contexts
        travelled = json.loads(json.dumps(sent.to_dict()))
        self.assertNotIn("trust!", str(travelled))
        found = scene.Scenes(self.db).get(
            stack.id,
            stack.current_traversal,
            context.RequestContext.from_dict(travelled, overwrite=False),
        )
        self.assertEqual("trust!", found.context.deferred.trust_id)
        # It is still the user's own request.
        self.assertEqual(
            ("mine", "t"), (found.context.user_id, found.context.auth_token)
        )

    def test_recovery(self):
        """Who goes on after a crash has nothing but that."""
        stack = self.stack(trust_id="trust!")
        self.bus.contexts.clear()
        recovery.resume(self.engine, alone=True)
        (sent,) = self.bus.contexts
        self.assertIsNone(sent.auth_token)
        found = scene.Scenes(self.db).get(
            stack.id, stack.current_traversal, sent
        )
        self.assertEqual("trust!", found.context.deferred.trust_id)

    def test_a_deleted_stack_lets_go(self):
        made = runner.Runner(self.engine, 2)
        self.addCleanup(made.stop, 5.0)
        stack = self.stack(trust_id="trust!")
        self.rest(stack)
        self.assertEqual([], self.engine.delegation.ended)
        stack = self.get(stack)
        delete.delete(self.engine, self.context(), stack)
        self.assertTrue(self.engine.delegation.called.wait(30))
        self.assertEqual([stack.user_creds_id], self.engine.delegation.ended)

    def rest(self, stack):
        deadline = time.monotonic() + 30
        while stack.status == "IN_PROGRESS":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
            stack = self.get(stack)
        self.assertEqual("COMPLETE", stack.status, stack.status_reason)
