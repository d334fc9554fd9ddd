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

"""What one process of heat-engine is put together of.

Importing this takes most of the memory of an engine. The process that only
starts and watches workers does without, as long as there is one worker; what
several workers share, it reads for all of them.
"""

from __future__ import annotations

import os

from oslo_config import cfg

from heat.db import session
from heat.engine import plugins
from heat.engine.service import server
from heat.rpc import transport

# How a process ends that lost the database; the launcher starts another.
EXIT_LOST = 70


class Parts:
    """Database, bus and server; running as soon as it is made."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._db = session.Database(conf)
        self._bus = transport.MessagingBus(conf)
        self._server = server.EngineServer(
            conf,
            self._bus,
            self._db,
            plugins.PluginRegistry.load(conf),
            lost=lambda: os._exit(EXIT_LOST),
        )
        self._server.start()

    def stop(self) -> None:
        """End what ends soon, hand the rest to other engines."""
        self._server.stop()
        self._bus.close()
        self._db.dispose()
