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

"""Rotation: everything that is sealed gets the newest key, in any state."""

from __future__ import annotations

import contextlib
import io
import pathlib

import fixtures
import sqlalchemy as sa
from oslo_config import cfg

from heat.cmd import manage
from heat.common import config, crypt, exception
from heat.db import (
    credentials,
    migration,
    models,
    resource_data,
    rotation,
    session,
    snapshots,
    templates,
)
from heat.tests import base

SECRET = "s3cr3t"  # noqa: S105
TABLES = (
    models.raw_template,
    models.environment_layer,
    models.raw_template_files,
    models.resource_data,
    models.snapshot,
    models.user_creds,
)


class RotationTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.url = session.Database.url_for_sqlite(str(self.path / "db"))
        self.old = self.open("old")
        migration.upgrade(self.old)

    def open(self, key, *older):
        conf = config.load("heat-test", [], conf=cfg.ConfigOpts())
        conf.set_override("auth_encryption_key", key)
        conf.set_override("auth_encryption_old_keys", list(older))
        db = session.Database(conf, self.url)
        self.addCleanup(db.dispose)
        return db

    def fill(self, db, number=1):
        """Secrets in every table that may hold some; their ids."""
        environment = {
            "parameters": {"k": SECRET, "open": 1},
            "parameter_defaults": {"k": [SECRET]},
        }
        layers = [templates.LayerRecord(0, "file", "a", environment)]
        files = {"a": f"parameters: {{k: {SECRET}}}", "b": "open"}

        def work(conn):
            version = templates.insert(
                conn, {}, environment, files, layers, secret=["k"]
            )
            resource_data.set_(conn, number, "key", SECRET, True)
            resource_data.set_(conn, number, "open", "open")
            creds = credentials.insert(
                conn, {"password": SECRET, "trust_id": SECRET}
            )
            kept = {"r": {"resource_data": {"key": SECRET}}, "s": {}}
            snapshots.insert(
                conn,
                {
                    "id": str(number),
                    "stack_id": "s",
                    "tenant": "t",
                    "data": {"resources": kept, "open": 1},
                },
            )
            return version, number, creds

        return db.run(work)

    def seen(self, db, ids):
        version, resource, creds = ids

        def work(conn):
            found = credentials.get(conn, creds)
            return (
                templates.get(conn, version),
                templates.get_layers(conn, version),
                resource_data.get_many(conn, [resource]),
                (found.password, found.trust_id),
                snapshots.get(conn, str(resource)).data,
            )

        return db.read(work)

    def stored(self):
        return self.old.read(
            lambda conn: [
                tuple(row)
                for table in TABLES
                for row in conn.execute(sa.select(table).order_by(table.c.id))
            ]
        )

    def test_everything_has_the_newest_key(self):
        ids = [self.fill(self.old, number) for number in range(1, 6)]
        wanted = [self.seen(self.old, each) for each in ids]
        both = self.open("new", "old")
        reports = rotation.rotate(both, batch=2)
        self.assertEqual(
            {table.name: 5 for table in TABLES},
            {each.table: each.renewed for each in reports},
        )
        new = self.open("new")
        self.assertEqual(wanted, [self.seen(new, each) for each in ids])
        self.assertNotIn(SECRET, str(self.stored()))
        self.assertRaises(
            exception.InvalidEncryptionKey, self.seen, self.old, ids[0]
        )

    def test_goes_on_where_it_stopped(self):
        self.fill(self.old, 1)
        both = self.open("new", "old")
        self.fill(both, 2)
        before = self.stored()
        self.assertEqual({1}, {each.renewed for each in rotation.rotate(both)})
        after = self.stored()
        # What had the newest key is the same to the letter.
        same = [row for row in before if row in after]
        self.assertEqual(len(before) - len(TABLES), len(same))
        self.assertEqual({0}, {each.renewed for each in rotation.rotate(both)})
        self.assertEqual(after, self.stored())

    def test_what_no_key_opens_is_told_and_left(self):
        self.fill(self.old)
        before = self.stored()
        lost = self.open("new")
        self.fill(lost, 2)
        reports = rotation.rotate(lost)
        for each in reports:
            with self.subTest(table=each.table):
                found = [int(key) for key in each.unread]
                self.assertEqual((0, [1]), (each.renewed, found))
        self.assertEqual(
            [], [row for row in before if row not in self.stored()]
        )

    def test_secrets_of_before_are_sealed(self):
        self.old.run(
            lambda conn: conn.execute(
                sa.insert(models.resource_data).values(
                    resource_id=1, key="k", value=SECRET, redact=True
                )
            )
        )
        rotation.rotate(self.old)
        self.assertNotIn(SECRET, str(self.stored()))
        self.assertEqual(
            {1: {"k": SECRET}},
            self.old.read(lambda conn: resource_data.get_many(conn, [1])),
        )

    def test_what_only_looks_sealed(self):
        """Users may write anything into values that are no secret."""
        value = {"deep": {crypt.MARK: "anything"}}
        version = self.old.run(
            lambda conn: templates.insert(
                conn, {}, {"parameters": {"open": value}}, {}
            )
        )
        both = self.open("new", "old")
        self.assertEqual([], rotation.rotate(both)[0].unread)
        found = both.read(lambda conn: templates.get(conn, version))
        self.assertEqual({"open": value}, found.environment["parameters"])

    def run_(self, *keys):
        conf = self.path / "heat.conf"
        conf.write_text(
            "[DEFAULT]\n"
            f"auth_encryption_key = {keys[0]}\n"
            f"auth_encryption_old_keys = {','.join(keys[1:])}\n"
            f"[database]\nconnection = {self.url}\n"
        )
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = manage.main(["--config-file", str(conf), "rotate_keys"])
        return code, out.getvalue(), err.getvalue()

    def test_command(self):
        self.fill(self.old)
        code, out, _err = self.run_("new", "old")
        self.assertEqual(0, code)
        self.assertIn("user_creds: 1 rows encrypted anew", out)
        code, out, err = self.run_("other")
        self.assertEqual(1, code)
        self.assertIn("no key opens: 1", out)
        self.assertIn("6 rows can't be read", err)
