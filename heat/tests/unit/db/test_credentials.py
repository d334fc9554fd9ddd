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

"""Credentials: whose they are, how they are stored, when they are loose."""

from __future__ import annotations

import datetime

import fixtures
import sqlalchemy as sa
import testscenarios
from oslo_config import cfg

from heat.common import config, exception
from heat.db import credentials, migration, models, resources, session, stacks
from heat.engine.stack import converge
from heat.engine.traversal import wanted
from heat.tests import base
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

LONG_AGO = datetime.datetime(2000, 1, 1)
EVER = datetime.datetime.max


class CredentialsTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def creds(self, **values):
        return self.call(credentials.insert, values)

    def stack(self, stack_id, **values):
        given = {
            "id": stack_id,
            "name": stack_id,
            "tenant": "t",
            "raw_template_id": 1,
            **values,
        }
        self.call(stacks.insert, given)
        return self.call(stacks.get, stack_id)

    def test_life(self):
        key = self.creds(username="u", trust_mark="m")
        self.assertTrue(self.call(credentials.set_trust, key, "x"))
        # Once only: whoever comes second has made one too many.
        self.assertFalse(self.call(credentials.set_trust, key, "y"))
        found = self.call(credentials.get, key)
        self.assertEqual(
            ("u", "m", "x"),
            (found.username, found.trust_mark, found.trust_id),
        )
        self.assertTrue(self.call(credentials.delete, key))
        self.assertFalse(self.call(credentials.delete, key))
        self.assertIsNone(self.call(credentials.get, key))

    def test_those_of_a_tree(self):
        key, other = self.creds(), self.creds()
        top = self.stack("top", user_creds_id=key)
        middle = self.stack("middle", owner_id="top")
        below = self.stack("below", owner_id="middle")
        given = self.stack("given", owner_id="top", user_creds_id=other)
        for stack, owner in (
            (top, key),
            (middle, key),
            (below, key),
            (given, other),
            (self.stack("none"), None),
        ):
            with self.subTest(stack=stack.name):
                found = self.call(credentials.of_stack, stack)
                self.assertEqual(owner, found.id if found else None)

    def test_attached_to_the_top(self):
        key, late = self.creds(), self.creds()
        top = self.stack("top")
        below = self.stack("below", owner_id="top")
        draft = converge.draft_of({"id": "new", "owner_id": "below"})
        fresh = converge.draft_of({"id": "fresh"})
        self.assertEqual(
            late, self.call(credentials.attach, fresh, late, None)
        )
        self.assertEqual(key, self.call(credentials.attach, draft, key, None))
        for stack in (top, below, draft):
            self.assertEqual(key, self.call(credentials.id_of, stack) or key)
            self.assertEqual(
                key, self.call(credentials.attach, stack, late, None)
            )
        self.assertEqual(key, self.call(stacks.get, "top").user_creds_id)

    def test_replaced_all_over_the_tree(self):
        key, new = self.creds(), self.creds()
        top = self.stack("top", user_creds_id=key)
        self.stack("below", owner_id="top", user_creds_id=key)
        self.assertEqual(new, self.call(credentials.attach, top, new, key))
        for name in ("top", "below"):
            self.assertEqual(new, self.call(stacks.get, name).user_creds_id)
        self.assertEqual([key], self.call(credentials.loose, EVER))

    def test_loose(self):
        key = self.creds()
        self.assertEqual([], self.call(credentials.loose, LONG_AGO))
        self.assertEqual([key], self.call(credentials.loose, EVER))
        self.assertEqual([], self.call(credentials.loose, EVER, only=key + 1))
        self.stack("top", user_creds_id=key)
        self.stack("below", owner_id="top", user_creds_id=key)
        self.call(stacks.soft_delete, "top")
        self.assertEqual([], self.call(credentials.loose, EVER))
        self.call(stacks.soft_delete, "below")
        self.assertEqual([key], self.call(credentials.loose, LONG_AGO))

    def test_kept_for_objects_that_are_left_over(self):
        key = self.creds()
        stack = self.stack("top", user_creds_id=key)
        row = wanted.new_row(
            stack.id, "r", "T", 1, LONG_AGO, root_stack_id=stack.id
        )
        row.update(stray=True, physical_id="p")
        (row_id,) = self.call(resources.insert_many, [row])
        self.call(stacks.soft_delete, "top")
        self.assertEqual([], self.call(credentials.loose, EVER))
        self.call(resources.delete_many, [row_id])
        self.assertEqual([key], self.call(credentials.loose, EVER))

    def test_purge_leaves_trusts_to_the_engines(self):
        plain, marked = self.creds(), self.creds(trust_mark="m")
        trust = self.creds(trust_id="t")
        for key, gone in ((plain, True), (marked, False), (trust, False)):
            self.assertEqual(
                gone, self.call(credentials.delete_without_trust, key)
            )


class SealedTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.useFixture(fixtures.TempDir()).path
        self.db = self.open("one")
        migration.upgrade(self.db)

    def open(self, key):
        conf = config.load("heat-test", [], conf=cfg.ConfigOpts())
        conf.set_override("auth_encryption_key", key)
        url = session.Database.url_for_sqlite(f"{self.path}/db")
        db = session.Database(conf, url)
        self.addCleanup(db.dispose)
        return db

    def test_sealed_in_rows_plain_in_records(self):
        values = {"username": "u", "password": "secret!", "trust_id": "tr"}
        key = self.db.run(lambda conn: credentials.insert(conn, values))
        stored = self.db.read(
            lambda conn: str(conn.execute(sa.select(models.user_creds)).all())
        )
        self.assertNotIn("secret!", stored)
        self.assertNotIn("'tr'", stored)
        found = self.db.read(lambda conn: credentials.get(conn, key))
        self.assertEqual(("secret!", "tr"), (found.password, found.trust_id))
        # What ends in a log by accident.
        self.assertNotIn("secret!", repr(found))

    def test_the_longest_password_fits(self):
        longest = "x" * credentials.LONGEST_PASSWORD
        self.db.run(
            lambda conn: credentials.insert(conn, {"password": longest})
        )
        column = models.user_creds.c.password
        (stored,) = self.db.read(
            lambda conn: conn.execute(sa.select(column)).scalars().all()
        )
        self.assertLessEqual(len(stored), column.type.length)

    def test_another_key(self):
        values = {"password": "secret!"}
        key = self.db.run(lambda conn: credentials.insert(conn, values))
        self.assertRaises(
            exception.InvalidEncryptionKey,
            self.open("two").read,
            lambda conn: credentials.get(conn, key),
        )
