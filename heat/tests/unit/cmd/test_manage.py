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

import contextlib
import io
import pathlib

import fixtures

from heat.cmd import manage
from heat.db import services
from heat.tests import base
from heat.tests.unit.db import backends


class ManageTest(base.TestCase):
    def setUp(self):
        super().setUp()
        scratch = self.useFixture(backends.Scratch(schema=False))
        self.db = scratch.db
        directory = self.useFixture(fixtures.TempDir()).path
        self.conf = pathlib.Path(directory) / "heat.conf"
        self.conf.write_text(f"[database]\nconnection = {scratch.url}\n")

    def run_(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = manage.main(["--config-file", str(self.conf), *args])
        return code, out.getvalue(), err.getvalue()

    def test_versions(self):
        self.assertEqual((0, "none\n"), self.run_("db_version")[:2])
        self.assertEqual((0, "0001\n"), self.run_("db_sync", "0001")[:2])
        self.assertEqual((0, "0003\n"), self.run_("db_sync")[:2])
        self.assertEqual((0, "0003\n"), self.run_("db_version")[:2])

    def test_unknown_version(self):
        code, _out, err = self.run_("db_sync", "nonsense")
        self.assertEqual(1, code)
        self.assertIn("nonsense", err)

    def test_services(self):
        code, _out, err = self.run_("service", "list")
        self.assertEqual(1, code)
        self.assertIn("db_sync", err)
        self.run_("db_sync")
        self.db.run(
            lambda conn: services.register(
                conn,
                "engine-1",
                host="h",
                hostname="h.example",
                binary="heat-engine",
                topic="engine",
                report_interval=60,
            )
        )
        code, out, _err = self.run_("service", "list")
        self.assertEqual(0, code)
        self.assertIn("engine-1", out)
        self.assertIn(" up ", out)
        self.assertIn("0 removed", self.run_("service", "clean")[1])
        (found,) = self.db.read(services.list_)
        self.db.run(lambda conn: services.delete(conn, found.id))
        self.assertIn("1 removed", self.run_("service", "clean")[1])

    def test_no_database_configured(self):
        self.conf.write_text("")
        code, _out, err = self.run_("db_version")
        self.assertEqual(1, code)
        self.assertIn("connection", err)
