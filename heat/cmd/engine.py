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

"""heat-engine: processes that serve RPC and work on stacks.

The process that is started only watches its workers, and starts another when
one dies.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_log import log as logging
from oslo_service import service

from heat import cmd
from heat.common import config

if TYPE_CHECKING:
    from heat.cmd import engine_parts

LOG = logging.getLogger(__name__)


class EngineProcess(service.ServiceBase):  # type: ignore[misc]
    """One worker of heat-engine. Everything is opened after the fork."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._parts: engine_parts.Parts | None = None
        # Made in start(): a lock must not be inherited over a fork.
        self._ended: threading.Event | None = None

    def start(self) -> None:
        from heat.cmd import engine_parts

        self._ended = threading.Event()
        self._parts = engine_parts.Parts(self._conf)
        cmd.settle_memory()

    def stop(self, graceful: bool = False) -> None:
        """End what ends soon, hand the rest to other engines."""
        if self._parts is not None:
            self._parts.stop()
            self._parts = None
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
    if not _is_ready(conf):
        return 1
    if workers(conf) > 1:
        # Read once, before the fork, it is there once for all of them.
        from heat.cmd import engine_parts  # noqa: F401
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


def _is_ready(conf: cfg.ConfigOpts) -> bool:
    """Look at the database, and tell the operator what is to be done.

    In a process of its own: what that takes is gone with it.
    """
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=_look, args=(conf,))
    child.start()
    child.join()
    return child.exitcode == 0


def _look(conf: cfg.ConfigOpts) -> None:
    problem = database_problem(conf)
    if problem:
        sys.exit(f"heat-engine: {problem}")


def database_problem(conf: cfg.ConfigOpts) -> str | None:
    """What an operator has to do about the database first, or None.

    A database that is only out of reach is waited for, not complained of.
    """
    from heat.db import migration, session

    if not conf.database.connection:
        return "no database is configured: set [database] connection."
    try:
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
