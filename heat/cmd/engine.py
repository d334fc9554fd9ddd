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

"""heat-engine: processes that serve RPC and work on stacks."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log as logging
from oslo_service import service

from heat import cmd
from heat.common import config
from heat.db import migration, session
from heat.engine import plugins
from heat.engine.service import server
from heat.rpc import transport

LOG = logging.getLogger(__name__)

# How a process ends that lost the database; the launcher starts another.
EXIT_LOST = 70


class EngineProcess(service.ServiceBase):  # type: ignore[misc]
    """One worker of heat-engine. Everything is opened after the fork."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._server: server.EngineServer | None = None
        self._bus: transport.MessagingBus | None = None
        self._db: session.Database | None = None
        # Made in start(): a lock must not be inherited over a fork.
        self._ended: threading.Event | None = None

    def start(self) -> None:
        self._ended = threading.Event()
        self._db = session.Database(self._conf)
        self._bus = transport.MessagingBus(self._conf)
        self._server = server.EngineServer(
            self._conf,
            self._bus,
            self._db,
            plugins.PluginRegistry.load(self._conf),
            lost=lambda: os._exit(EXIT_LOST),
        )
        self._server.start()
        cmd.settle_memory()

    def stop(self, graceful: bool = False) -> None:
        """End what ends soon, hand the rest to other engines."""
        if self._server is not None:
            self._server.stop()
            self._server = None
        if self._bus is not None:
            self._bus.close()
            self._bus = None
        if self._db is not None:
            self._db.dispose()
            self._db = None
        if self._ended is not None:
            self._ended.set()

    def wait(self) -> None:
        if self._ended is not None:
            self._ended.wait()

    def reset(self) -> None:
        logging.setup(self._conf, "heat")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    conf = config.load("heat-engine", argv)
    config.report(conf)
    problem = database_problem(conf)
    if problem:
        print(f"heat-engine: {problem}", file=sys.stderr)
        return 1
    launcher = service.launch(
        conf,
        EngineProcess(conf),
        workers=workers(conf),
        restart_method="mutate",
    )
    launcher.wait()
    return 0


def workers(conf: cfg.ConfigOpts) -> int:
    """How many processes to start."""
    return int(conf.num_engine_workers or os.cpu_count() or 1)


def database_problem(conf: cfg.ConfigOpts) -> str | None:
    """What an operator has to do about the database first, or None.

    A database that is only out of reach is waited for, not complained of.
    """
    if not conf.database.connection:
        return "no database is configured: set [database] connection."
    try:
        # Opened and closed before the fork.
        db = session.Database(conf)
        try:
            found = migration.version(db)
        finally:
            db.dispose()
    except Exception as error:
        LOG.warning("The database can't be reached yet: %s", error)
        return None
    if found is None:
        return "the database has no tables: run heat-manage db_sync."
    return None


if __name__ == "__main__":
    sys.exit(main())
