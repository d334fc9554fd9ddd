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

from __future__ import annotations

import testscenarios
from alembic import autogenerate, util
from alembic import migration as alembic_migration

from heat.db import migration, models
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class MigrationTest(backends.DatabaseTestCase):
    schema = False

    def test_models_and_migrations_agree(self):
        migration.upgrade(self.db)
        options = dict(migration.OPTIONS)
        # MariaDB has 0 where the models say false.
        options["compare_server_default"] = self.db.dialect != "mysql"
        with self.db.engine.connect() as conn:
            context = alembic_migration.MigrationContext.configure(
                conn, opts=options
            )
            found = autogenerate.compare_metadata(context, models.metadata)
        self.assertEqual([], found)

    def test_version(self):
        self.assertIsNone(migration.version(self.db))
        self.assertEqual("0001", migration.upgrade(self.db, "0001"))
        self.assertEqual("0001", migration.version(self.db))
        self.assertEqual("0001", migration.version(self.url))

    def test_upgrade_twice_and_by_url(self):
        first = migration.upgrade(self.url)
        self.assertEqual(first, migration.upgrade(self.url))

    def test_unknown_revision(self):
        self.assertRaises(
            util.CommandError, migration.upgrade, self.db, "nonsense"
        )
        self.assertIsNone(migration.version(self.db))

    def test_another_makes_version_table_is_left_alone(self):
        with self.db.engine.begin() as conn:
            conn.exec_driver_sql(
                "CREATE TABLE alembic_version (version_num VARCHAR(32))"
            )
            conn.exec_driver_sql(
                "INSERT INTO alembic_version VALUES ('somebody')"
            )
        migration.upgrade(self.db)
        with self.db.engine.begin() as conn:
            found = conn.exec_driver_sql(
                "SELECT version_num FROM alembic_version"
            ).scalar()
        self.assertEqual("somebody", found)
