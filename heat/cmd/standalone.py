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

"""heat-standalone: API, engine and an SQLite database in one process.

For trying things out, for tests, and for one user on one machine: no
Keystone, no RabbitMQ, no root. Only loopback addresses are served. It is
composition only; what it composes does not know of it.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Sequence
from typing import IO, NoReturn

from oslo_config import cfg
from oslo_log import log as logging

from heat import cmd
from heat.api import app
from heat.cmd import serving
from heat.common import config
from heat.db import migration, session
from heat.engine import plugins
from heat.engine.service import server
from heat.rpc import clients, local

LOG = logging.getLogger(__name__)

PROG = "heat-standalone"
EXIT_FAILED = 1
EXIT_USAGE = 2


class Failed(Exception):
    """It can't start; the text is a sentence for the user."""


class Standalone:
    """The parts, in the order in which they start and stop.

    :raises Failed: the address or the directory can't be had
    """

    def __init__(
        self, conf: cfg.ConfigOpts, host: str, port: int, directory: str
    ) -> None:
        self._lock = _lock(directory)
        self._bus = local.LocalBus()
        self.http = serving.HttpServer(
            app.make_app(conf, clients.EngineClient(self._bus)),
            host,
            port,
            conf.heat_api.threads,
        )
        try:
            self.http.listen()
        except OSError as error:
            raise Failed(serving.explain(host, port, error)) from None
        if not conf.clients_heat.url:
            # There is no catalogue to say where signals are sent.
            conf.set_override("url", self.http.url, group="clients_heat")
        self._db = session.Database(conf)
        migration.upgrade(self._db)
        self._engine = server.EngineServer(
            conf,
            self._bus,
            self._db,
            plugins.PluginRegistry.load(conf),
            binary=PROG,
            alone=True,
        )

    def start(self) -> None:
        self._engine.start()
        self.http.start()

    def stop(self) -> None:
        self.http.stop()
        self._engine.stop()
        self._bus.close()
        self._db.dispose()
        self._lock.close()


def main() -> NoReturn:
    """Entry point."""
    serving.leave(serve(sys.argv[1:]))


def serve(argv: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT; returns the exit code."""
    args = _parser().parse_args(argv)
    if not serving.is_loopback(args.host):
        return _complain(
            EXIT_USAGE,
            f"{args.host} is no loopback address; without Keystone only "
            f"those are served. Use 127.0.0.1, ::1 or localhost.",
        )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        directory = _directory(args.state_dir)
        conf = configure(directory, args.config_file)
        running = Standalone(conf, args.host, args.port, directory)
    except Failed as error:
        return _complain(EXIT_FAILED, str(error))
    running.start()
    cmd.settle_memory()
    print(f"{PROG} is ready: {running.http.url}/v1/{{project_id}}", flush=True)
    stopping.wait()
    running.stop()
    return 0


def configure(directory: str, files: Sequence[str]) -> cfg.ConfigOpts:
    """The configuration: that of the files, with what is fixed here."""
    options = [f"--config-file={name}" for name in files]
    options.append(f"--log-file={os.path.join(directory, 'heat.log')}")
    conf = config.load(PROG, options, default_config_files=[])
    url = session.Database.url_for_sqlite(os.path.join(directory, "heat.db"))
    conf.set_override("auth_strategy", "noauth")
    conf.set_override("connection", url, group="database")
    config.report(conf)
    return conf


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROG,
        description="The orchestration service in one process, with its "
        "database in a directory and without Keystone.",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="loopback address to listen on (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=8004,
        help="port to listen on, 0 for any free one (default: %(default)s)",
    )
    parser.add_argument(
        "--state-dir",
        required=True,
        help="directory of the database and the log; made if absent",
    )
    parser.add_argument(
        "--config-file",
        action="append",
        default=[],
        help="heat.conf with further options; may be given several times",
    )
    return parser


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port")
    return number


def _directory(path: str) -> str:
    """Make the directory, for this user only."""
    try:
        pathlib.Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(
            f"cannot use the directory {path}: {error.strerror}."
        ) from None
    return os.path.abspath(path)


def _lock(directory: str) -> IO[str]:
    """Keep a second process off the same database."""
    path = os.path.join(directory, "lock")
    try:
        held = open(path, "w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise Failed(f"cannot write to {path}: {error.strerror}.") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise Failed(
            f"another {PROG} uses the directory {directory}; stop it or "
            f"choose another --state-dir."
        ) from None
    return held


def _complain(code: int, sentence: str) -> int:
    print(f"{PROG}: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
