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

import datetime

import sqlalchemy as sa
import testscenarios

from heat.db import models, purge, templates
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

NOW = datetime.datetime(2026, 1, 10)
OLD = datetime.datetime(2026, 1, 1)


class PurgeTest(backends.DatabaseTestCase):
    def insert(self, table, **values):
        def work(conn):
            result = conn.execute(sa.insert(table).values(**values))
            return result.inserted_primary_key[0]

        return self.db.run(work)

    def count(self, table, *where):
        return self.db.read(
            lambda conn: conn.execute(
                sa.select(sa.func.count()).select_from(table).where(*where)
            ).scalar_one()
        )

    def counts(self):
        return {
            table.name: self.count(table)
            for table in models.metadata.sorted_tables
        }

    def stack(self, stack_id, deleted_at=OLD, tenant="t", creds=None):
        """A stack with a row in every table that can name it."""
        version = self.db.run(
            lambda conn: templates.insert(conn, {"a": 1}, {}, {"f": "x"})
        )
        creds = creds or self.insert(models.user_creds, username="u")
        self.insert(
            models.stack,
            id=stack_id,
            name=stack_id,
            tenant=tenant,
            raw_template_id=version,
            user_creds_id=creds,
            deleted_at=deleted_at,
            disable_rollback=True,
        )
        data = [
            self.insert(models.resource_properties_data, data={"n": i})
            for i in range(4)
        ]
        resource = self.insert(
            models.resource,
            stack_id=stack_id,
            name="r",
            uuid=f"r-{stack_id}",
            current_template_id=version,
            rsrc_prop_data_id=data[0],
            attr_data_id=data[1],
            tried_prop_data_id=data[2],
        )
        self.insert(models.resource_data, resource_id=resource, key="k")
        self.insert(
            models.event,
            stack_id=stack_id,
            uuid=f"e-{stack_id}",
            rsrc_prop_data_id=data[3],
        )
        self.insert(models.stack_tag, stack_id=stack_id, tag="x")
        self.insert(models.stack_lock, stack_id=stack_id)
        self.insert(
            models.sync_point,
            entity_id="1",
            traversal_id=stack_id,
            is_update=True,
            stack_id=stack_id,
        )
        snapshot = self.insert(
            models.snapshot, id=f"s-{stack_id}", stack_id=stack_id, tenant="t"
        )
        self.insert(
            models.resource_snapshot,
            id=f"rs-{stack_id}",
            snapshot_id=snapshot,
            resource_name="r",
        )
        self.insert(models.object_claim, key=stack_id, stack_id=stack_id)
        self.insert(models.released_object, stack_id=stack_id)
        return resource, creds

    def purge(self, before=NOW, **args):
        return purge.purge_deleted(self.db, before, **args)

    def test_everything_goes(self):
        before = self.counts()
        for name in ("one", "two", "three"):
            self.stack(name)
        named = {
            table.name
            for table in models.metadata.sorted_tables
            if "stack_id" in table.c and not self.count(table)
        }
        # Add new tables that name a stack to the stack made above.
        self.assertEqual({"test_object"}, named)
        self.assertEqual(3, self.purge(batch=2))
        after = self.counts()
        self.assertEqual(3, after.pop("released_object"))
        before.pop("released_object")
        self.assertEqual(before, after)
        self.assertEqual(0, self.purge())

    def test_what_stays(self):
        self.stack("living", deleted_at=None)
        self.stack("recent", deleted_at=NOW)
        self.stack("theirs", tenant="u")
        resource, creds = self.stack("stray")
        self.db.run(
            lambda conn: conn.execute(
                sa.update(models.resource)
                .where(models.resource.c.id == resource)
                .values(stray=True, nova_instance="object")
            )
        )
        before = self.counts()
        self.assertEqual(0, self.purge(tenant="t"))
        self.assertEqual(before, self.counts())
        self.assertEqual(1, self.purge())
        self.assertEqual(3, self.count(models.stack))
        self.assertEqual(3, self.count(models.raw_template))

    def test_what_is_shared_stays(self):
        _resource, creds = self.stack("living", deleted_at=None)
        self.stack("child", creds=creds)
        self.assertEqual(1, self.purge())
        self.assertEqual(1, self.count(models.user_creds))
