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

"""Signs of life of an engine, and the judgement that it has none.

Other engines call an engine dead that has not renewed its row for
``dead_after`` seconds, and take its work over. One that can't renew must
stop acting before that, so its silence is watched by a thread that does
not touch the database and can't hang in it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from oslo_config import cfg

from heat.db import services
from heat.db.session import Database
from heat.engine import ports
from heat.rpc import api

LOG = logging.getLogger(__name__)


class Heartbeat:
    """Renews the row of one engine in the ``service`` table.

    :param lost: called once, in the watching thread, when the row could not
        be renewed for too long; the engine must not act any more
    """

    def __init__(
        self,
        db: Database,
        conf: cfg.ConfigOpts,
        engine_id: str,
        binary: str,
        lost: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._host = conf.host
        self._interval = conf.engine.heartbeat_interval
        self._patience = ports.PATIENCE * conf.engine.dead_after
        self._engine_id = engine_id
        self._binary = binary
        self._lost = lost
        self._monotonic = monotonic
        self._last = monotonic()
        self._unbroken_since = self._last
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True)
            for target, name in (
                (self._beat_on, "heat-heartbeat"),
                (self._watch, "heat-silence"),
            )
        ]
        self._row: str | None = None

    def start(self) -> None:
        """Enter the engine, and renew from now on."""
        self._register()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take the engine off the list. Errors are logged only."""
        self._stopped.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(self._interval + 1)
        row = self._row
        if row is None:
            return
        try:
            self._db.run(lambda conn: services.delete(conn, row))
        except Exception:
            LOG.exception("engine %s stays on the list", self._engine_id)

    def beat(self) -> None:
        """Renew once; an engine that somebody took off is entered again."""
        began = self._monotonic()
        if not self._db.run(
            lambda conn: services.heartbeat(conn, self._engine_id)
        ):
            self._register()
            return
        if self._monotonic() - self._last > self._patience:
            # Meanwhile others may have looked.
            self._unbroken_since = self._monotonic()
        # The time before the write: others may count from then on.
        self._last = began

    def alive_since(self, moment: float) -> bool:
        """Whether nobody can have called this engine dead since a moment,
        nor will before it would stop by itself.

        :param moment: monotonic seconds
        """
        # In this order: a beat after a long silence writes the other first.
        is_heard = self.silent_for() < self._patience
        return is_heard and self._unbroken_since <= moment

    def silent_for(self) -> float:
        """Seconds since the last time that the row is known to be new."""
        return self._monotonic() - self._last

    def _register(self) -> None:
        began = self._monotonic()
        self._row = self._db.run(
            lambda conn: services.register(
                conn,
                self._engine_id,
                host=self._host,
                hostname=self._host,
                binary=self._binary,
                topic=api.ENGINE_TOPIC,
                report_interval=max(1, round(self._interval)),
            )
        )
        self._unbroken_since = self._monotonic()
        self._last = began

    def _beat_on(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                self.beat()
            except Exception:
                LOG.exception(
                    "engine %s can't renew its sign of life", self._engine_id
                )

    def _watch(self) -> None:
        pause = min(1.0, self._patience / 10)
        while not self._stopped.wait(pause):
            if self.silent_for() > self._patience:
                LOG.critical(
                    "engine %s could not renew its sign of life for %.1f s "
                    "and stops, before others take its work over",
                    self._engine_id,
                    self.silent_for(),
                )
                self._lost()
                return
