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
"""Encryption, and secrets in rows."""

from __future__ import annotations

import json

import fixtures
import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st
from oslo_config import cfg

from heat.common import config, crypt, exception
from heat.db import migration, models, session, templates
from heat.tests import base

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


class CryptTest(base.TestCase):
    @hypothesis.given(st.text(), _json)
    def test_there_and_back(self, text, value):
        keys = crypt.Crypt(["key"])
        self.assertEqual(text, keys.decrypt(keys.encrypt(text)))
        self.assertEqual(text, keys.open_text(keys.seal_text(text)))
        sealed = json.loads(json.dumps(keys.seal(value)))
        self.assertTrue(crypt.is_sealed(sealed))
        self.assertEqual(value, keys.open(sealed))

    def test_plain_is_left_alone(self):
        keys = crypt.Crypt(["key"])
        for value in (None, 1, [], {}, {"a": 1}, {crypt.MARK: 1}):
            with self.subTest(value=value):
                self.assertEqual(value, keys.open(value))
        self.assertEqual("text", keys.open_text("text"))

    def test_rotation(self):
        old, new = crypt.Crypt(["old"]), crypt.Crypt(["new", "old"])
        token = old.encrypt("x")
        self.assertEqual("x", new.decrypt(token))
        rotated = new.rotate(token)
        self.assertEqual("x", crypt.Crypt(["new"]).decrypt(rotated))
        self.assertRaises(exception.InvalidEncryptionKey, old.decrypt, rotated)
        self.assertRaises(exception.InvalidEncryptionKey, old.rotate, rotated)

    def test_forged(self):
        keys = crypt.Crypt(["key"])
        for token in ("", "x", "é", keys.encrypt("x")[:-4] + "AAAA"):
            with self.subTest(token=token):
                self.assertRaises(
                    exception.InvalidEncryptionKey, keys.decrypt, token
                )

    def test_no_key(self):
        self.assertRaises(ValueError, crypt.Crypt, ["", ""])
        self.assertIsNone(crypt.from_conf(None))
        self.assertIsNone(crypt.from_conf(cfg.ConfigOpts()))


class SecretsTest(base.TestCase):
    SECRET = "s3cr3t"

    def setUp(self):
        super().setUp()
        self.path = self.useFixture(fixtures.TempDir()).path
        self.db = self.open()
        migration.upgrade(self.db)

    def open(self, **options):
        conf = config.load("heat-test", [], conf=cfg.ConfigOpts())
        for name, value in options.items():
            conf.set_override(name, value)
        url = session.Database.url_for_sqlite(f"{self.path}/db")
        db = session.Database(conf, url)
        self.addCleanup(db.dispose)
        return db

    def insert(self, **more):
        environment = {
            "parameters": {"k": self.SECRET, "o": 1, **more},
            "parameter_defaults": {"k": [self.SECRET]},
        }
        layers = [
            templates.LayerRecord(0, "file", "a", environment),
            templates.LayerRecord(1, "explicit", None, {"parameters": {}}),
        ]
        files = {"a": f"parameters: {{k: {self.SECRET}}}", "b": "open"}
        key = self.db.run(
            lambda c: templates.insert(
                c, {}, environment, files, layers, secret=["k"]
            )
        )
        return key, environment, files, layers

    def stored(self):
        tables = (
            models.raw_template,
            models.raw_template_files,
            models.environment_layer,
        )
        return self.db.read(
            lambda c: "".join(
                str(row) for t in tables for row in c.execute(sa.select(t))
            )
        )

    def read(self, db, key):
        return db.read(
            lambda c: (templates.get(c, key), templates.get_layers(c, key))
        )

    def test_sealed_in_rows_plain_in_records(self):
        key, environment, files, layers = self.insert()
        stored = self.stored()
        self.assertNotIn(self.SECRET, stored)
        self.assertIn("open", stored)
        record, found = self.read(self.db, key)
        self.assertEqual(environment, record.environment)
        self.assertEqual(files, record.files)
        self.assertEqual(layers, found)

    def test_what_looks_sealed_is_not_taken_for_it(self):
        forged = {crypt.MARK: "anything"}
        key, environment, _files, _layers = self.insert(f=forged)
        record, _found = self.read(self.db, key)
        self.assertEqual(environment, record.environment)

    def test_another_key(self):
        key, environment, _files, _layers = self.insert()
        default = self.db  # Made with the default key.
        self.assertIsNotNone(default)
        other = self.open(auth_encryption_key="another")
        self.assertRaises(
            exception.InvalidEncryptionKey, self.read, other, key
        )
        both = self.open(
            auth_encryption_key="another",
            auth_encryption_old_keys=["notgood but just long enough i t"],
        )
        record, _found = self.read(both, key)
        self.assertEqual(environment, record.environment)

    def test_rewriting_keeps_it_sealed(self):
        key, environment, _files, _layers = self.insert()
        self.db.run(
            lambda c: templates.update(c, key, environment=environment)
        )
        self.assertNotIn(self.SECRET, self.stored())
        record, _found = self.read(self.db, key)
        self.assertEqual(environment, record.environment)
