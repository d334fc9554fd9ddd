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

"""heat-manage on stacks: those that stand still, those that are long gone."""

from __future__ import annotations

import contextlib
import datetime
import io
import pathlib

import fixtures
import sqlalchemy as sa

from heat.cmd import manage
from heat.db import migration, models, session, stacks
from heat.tests import base
from heat.tests.convergence import world
from heat.tests.convergence.test_preview import hot, res


class FileWorld(world.World):
    """A world whose database another process could open."""

    url = ""

    def __init__(self, url):
        super().__init__()
        super().close()
        self.db = session.Database(url=url)
        migration.upgrade(self.db)
        self.engines = [self.make_engine("engine-1")]

    def close(self):
        # Not one that another world may go on with: its file goes.
        self.db.dispose()


class ManageStacksTest(base.TestCase):
    def setUp(self):
        super().setUp()
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        url = session.Database.url_for_sqlite(str(directory / "heat.db"))
        self.world = FileWorld(url)
        self.addCleanup(self.world.close)
        self.conf = directory / "heat.conf"
        self.conf.write_text(
            "[DEFAULT]\ntransport_url = fake://\n"
            f"[database]\nconnection = {url}\n"
        )

    def run_(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = manage.main(["--config-file", str(self.conf), *args])
        return code, out.getvalue(), err.getvalue()

    def make(self, **args):
        return self.world.create(hot({"a": res(**args), "b": res()}))

    def test_traversals(self):
        self.assertEqual(
            (0, "0 in progress, 0 that may stand still\n"),
            self.run_("traversals")[:2],
        )
        stack = self.make(wait_secs=100)
        code, out, _err = self.run_("traversals")
        self.assertEqual(0, code)
        self.assertIn(f"{stack}  stack  CREATE since", out)
        self.assertIn(
            "ready and held by nobody: a (update), b (update)\n", out
        )
        self.world.step()
        out = self.run_("traversals")[1]
        self.assertIn("held by a dead engine: a CREATE since", out)
        self.db_run(sa.delete(models.sync_point))
        out = self.run_("traversals", "--all")[1]
        self.assertIn("broken: Stack CREATE can't go on", out)
        self.assertIn("1 in progress, 1 that may stand still", out)

    def db_run(self, statement):
        self.world.db.run(lambda conn: conn.execute(statement))

    def test_resend(self):
        stack = self.make()
        self.assertEqual(
            (0, f"{stack}  stack: 2 sent\n"), self.run_("resend", stack)[:2]
        )
        self.assertEqual(
            (0, f"{stack}  stack: 2 sent\n"), self.run_("resend", "--all")[:2]
        )
        for args in ((), (stack, "--all"), ("nonsense",)):
            code, _out, err = self.run_("resend", *args)
            self.assertEqual(1, code)
            self.assertTrue(err)

    def test_purge(self):
        stack = self.make()
        self.world.run()
        self.world.delete(stack)
        self.world.run()
        self.assertEqual((0, "0 removed\n"), self.run_("purge_deleted")[:2])
        self.db_run(
            sa.update(models.stack).values(
                deleted_at=datetime.datetime(2026, 1, 1)
            )
        )
        for args, said in (
            (["-p", "nobody"], "0 removed\n"),
            (["10000"], "0 removed\n"),
            (["-g", "seconds", "-b", "1", "1"], "1 removed\n"),
        ):
            self.assertEqual((0, said), self.run_("purge_deleted", *args)[:2])
        self.assertIsNone(
            self.world.db.read(
                lambda conn: stacks.get(conn, stack, show_deleted=True)
            )
        )
        for args in (["-b", "0"], ["--", "-1"], ["99999999999999"]):
            code, _out, err = self.run_("purge_deleted", *args)
            self.assertEqual(1, code, args)
            self.assertTrue(err)
