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

"""Tests of the thin repositories: snapshots, software."""

from __future__ import annotations

import datetime

import testscenarios

from heat.common import exception
from heat.db import snapshots, software
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class Case(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))


class SnapshotTest(Case):
    def test_life(self):
        key = self.call(
            snapshots.insert,
            {
                "stack_id": "s",
                "name": "n",
                "tenant": "t",
                "action": "CREATE",
                "status": "IN_PROGRESS",
            },
        )
        self.assertTrue(
            self.call(
                snapshots.update,
                key,
                status="FAILED",
                status_reason="x" * 300,
                data={"a": [1]},
            )
        )
        found = self.call(snapshots.get, key)
        self.assertEqual({"a": [1]}, found.data)
        self.assertEqual(255, len(found.status_reason))
        self.assertEqual([found], self.call(snapshots.list_, "s"))
        self.assertEqual([], self.call(snapshots.list_, "o"))
        self.assertEqual(1, self.call(snapshots.count, "s"))
        self.call(snapshots.put_resources, key, {"r": {"x": 1}, "q": None})
        self.assertEqual(
            {"q": None, "r": {"x": 1}},
            self.call(snapshots.get_resources, key),
        )
        self.assertTrue(self.call(snapshots.delete, key))
        self.assertFalse(self.call(snapshots.delete, key))
        self.assertFalse(self.call(snapshots.update, key, status="x"))
        self.assertIsNone(self.call(snapshots.get, key))
        self.assertEqual({}, self.call(snapshots.get_resources, key))


class SoftwareTest(Case):
    def config(self, number, tenant="t"):
        return self.call(
            software.insert_config,
            {
                "id": f"c{number}",
                "name": "n",
                "group": "script",
                "config": {"config": "text", "inputs": []},
                "tenant": tenant,
                "created_at": datetime.datetime(2026, 1, 1),
            },
        )

    def test_configs(self):
        for number in range(4):
            self.config(number)
        self.config(9, "o")
        found = self.call(software.get_config, "c1", "t")
        self.assertEqual("script", found.group)
        self.assertEqual({"config": "text", "inputs": []}, found.config)
        self.assertIsNone(self.call(software.get_config, "c1", "o"))
        self.assertEqual(4, self.call(software.count_configs, "t"))

        def ids(*args, **kwargs):
            found = self.call(software.list_configs, *args, **kwargs)
            return [each.id for each in found]

        self.assertEqual(["c0", "c1", "c2", "c3"], ids("t"))
        self.assertEqual(5, len(ids(None)))
        self.assertEqual(["c2", "c3"], ids("t", limit=2, marker="c1"))
        self.assertRaises(exception.Invalid, ids, "t", marker="none")
        self.assertTrue(self.call(software.delete_config, "c1"))
        self.assertFalse(self.call(software.delete_config, "c1"))

    def test_deployments(self):
        config = self.config(1)
        key = self.call(
            software.insert_deployment,
            {
                "server_id": "v",
                "config_id": config,
                "input_values": {"a": 1},
                "tenant": "t",
                "stack_user_project_id": "p",
            },
        )
        for tenant, there in ((None, 1), ("t", 1), ("p", 1), ("o", 0)):
            with self.subTest(tenant=tenant):
                found = self.call(software.get_deployment, key, tenant)
                self.assertEqual(bool(there), found is not None)
                listed = self.call(software.list_deployments, tenant)
                self.assertEqual(there, len(listed))
        self.assertEqual(
            1,
            len(self.call(software.list_deployments, "t", server_id="v")),
        )
        self.assertEqual(
            [], self.call(software.list_deployments, "t", server_id="w")
        )
        self.assertTrue(
            self.call(software.update_deployment, key, output_values={"o": 2})
        )
        found = self.call(software.get_deployment, key)
        self.assertEqual({"a": 1}, found.input_values)
        self.assertEqual({"o": 2}, found.output_values)
        self.assertIsNotNone(found.updated_at)
        for options, count in (
            ({"tenant": "t"}, 1),
            ({"config_id": config}, 1),
            ({"config_id": "none"}, 0),
        ):
            self.assertEqual(
                count, self.call(software.count_deployments, **options)
            )
        self.assertTrue(self.call(software.delete_deployment, key))
        self.assertFalse(self.call(software.delete_deployment, key))
