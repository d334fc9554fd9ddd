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

"""Which backend is chosen, and which addresses are served."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import fixtures
from oslo_config import cfg

from heat import cmd
from heat.cmd import api, engine, serving
from heat.common import config
from heat.tests import base


class LoadedTest(base.TestCase):
    """What a process holds in memory, each in an interpreter of its own."""

    def loaded(self, module):
        found = subprocess.run(
            [
                sys.executable,
                "-c",
                f"import {module}, sys; print(*sys.modules)",
            ],
            env={**os.environ, cmd.VARIABLE: "threading"},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return set(found.stdout.split())

    def test_the_process_that_watches_holds_no_engine(self):
        held = self.loaded("heat.cmd.engine")
        self.assertEqual(set(), held & {"sqlalchemy", "heat.engine"})

    def test_a_worker_holds_what_it_uses(self):
        held = self.loaded("heat.cmd.engine_parts")
        self.assertIn("sqlalchemy", held)
        self.assertEqual(set(), held & {"eventlet", "alembic"})

    def test_a_plug_in_may_use_eventlet(self):
        self.assertIn("eventlet.hubs", self.loaded("heat.cmd, eventlet"))


class HeapsTest(base.TestCase):
    def test_where_there_is_no_glibc(self):
        for absent in (OSError, AttributeError, TypeError):
            with self.subTest(absent=absent):
                self.useFixture(
                    fixtures.MockPatch("ctypes.CDLL", side_effect=absent)
                )
                cmd.share_heaps()


class ChooseTest(base.TestCase):
    def file(self, text):
        return self.create_tempfiles([("heat", text)], ext=".conf")[0]

    def test_choice(self):
        eventlet = self.file("[DEFAULT]\nconcurrency_backend = eventlet\n")
        other = self.file("[other]\nconcurrency_backend = eventlet\n")
        odd = self.file("[DEFAULT\nhost = [\n\xe4\n")
        multi = self.file(
            "[DEFAULT]\nx = 1\nx = 2\nconcurrency_backend=threading\n"
        )
        for argv, environ, chosen in (
            ([], {}, "threading"),
            (["--config-file", eventlet], {}, "eventlet"),
            ([f"--config-file={eventlet}"], {}, "eventlet"),
            (["--config-file", other], {}, "threading"),
            (["--config-file", odd], {}, "threading"),
            (["--config-file", "/nonexistent"], {}, "threading"),
            (["--config-file"], {}, "threading"),
            # The last file wins, as it does for every option.
            (
                ["--config-file", eventlet, "--config-file", multi],
                {},
                "threading",
            ),
            (
                ["--config-file", eventlet],
                {cmd.VARIABLE: "threading"},
                "threading",
            ),
        ):
            with self.subTest(argv=argv, environ=environ):
                self.assertEqual(chosen, cmd.choose(argv, environ))

    def test_directory(self):
        path = self.file("[DEFAULT]\nconcurrency_backend = eventlet\n")
        directory = path.rpartition("/")[0]
        self.assertEqual(
            "eventlet", cmd.choose(["--config-dir", directory], {})
        )

    def test_unknown_word(self):
        error = self.assertRaises(
            SystemExit, cmd.choose, [], {cmd.VARIABLE: "asyncio"}
        )
        self.assertIn("asyncio", str(error))


class AddressTest(base.TestCase):
    def test_loopback(self):
        for host, loopback in (
            ("127.0.0.1", True),
            ("127.1.2.3", True),
            ("::1", True),
            ("localhost", True),
            ("0.0.0.0", False),
            ("::", False),
            ("192.0.2.1", False),
            ("no-such-host.invalid", False),
        ):
            with self.subTest(host=host):
                self.assertEqual(loopback, serving.is_loopback(host))

    def test_url(self):
        for host, start in (
            ("127.0.0.1", "http://127.0.0.1:"),
            ("localhost", "http://localhost:"),
        ):
            with self.subTest(host=host):
                server = serving.HttpServer(api._nothing, host, 0, 1)
                server.listen()
                self.addCleanup(server.stop)
                self.assertTrue(server.url.startswith(start))
                self.assertNotEqual(0, server.port)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as busy:
            port = busy.getsockname()[1]
            server = serving.HttpServer(api._nothing, "127.0.0.1", port, 1)
            error = self.assertRaises(OSError, server.listen)
        text = serving.explain("127.0.0.1", port, error)
        self.assertIn(str(port), text)
        self.assertTrue(text.endswith("."))

    def test_explanation(self):
        error = OSError(errno.EADDRINUSE, "odd text")
        self.assertEqual(
            "cannot listen on ::1 port 5: Address already in use.",
            serving.explain("::1", 5, error),
        )


class OptionsTest(base.TestCase):
    def conf(self, **changes):
        conf = cfg.ConfigOpts()
        config.register(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        for name, value in changes.items():
            group, _dot, option = name.rpartition("__")
            conf.set_override(option, value, group or None)
        return conf

    def test_bind_host(self):
        for changes, host in (
            ({}, "0.0.0.0"),
            ({"auth_strategy": "noauth"}, "127.0.0.1"),
            (
                {"auth_strategy": "noauth", "heat_api__bind_host": "::1"},
                "::1",
            ),
        ):
            with self.subTest(changes=changes):
                self.assertEqual(host, api.bind_host(self.conf(**changes)))

    def test_workers(self):
        self.assertEqual(3, engine.workers(self.conf(num_engine_workers=3)))
        self.assertGreaterEqual(engine.workers(self.conf()), 1)

    def test_database(self):
        path = f"{self.create_tempfiles([('db', '')])[0]}.sqlite"
        for url, part in (
            (None, "no database is configured"),
            (f"sqlite:///{path}", "heat-manage db_sync"),
        ):
            with self.subTest(url=url):
                conf = self.conf(database__connection=url)
                self.assertIn(part, engine.database_problem(conf))
        unreachable = self.conf(
            database__connection="mysql+pymysql://x@127.0.0.1:1/heat"
        )
        unreachable.set_override("max_retries", 1, "database")
        unreachable.set_override("retry_interval", 0, "database")
        self.assertIsNone(engine.database_problem(unreachable))
