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

"""One engine: its parts, in the order in which they start and stop."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from concurrent import futures

import sqlalchemy as sa
from oslo_config import cfg

from heat.db import services
from heat.db.session import Database
from heat.engine.environment import shared
from heat.engine.plugins import PluginRegistry
from heat.engine.ports import Engine
from heat.engine.service import global_environment
from heat.engine.service.actions import ActionEndpoint
from heat.engine.service.events import EventEndpoint
from heat.engine.service.heartbeat import Heartbeat
from heat.engine.service.listener import ListenerEndpoint
from heat.engine.service.meta import MetaEndpoint
from heat.engine.service.previews import PreviewEndpoint
from heat.engine.service.resources import ResourceEndpoint
from heat.engine.service.software import SoftwareEndpoint
from heat.engine.service.stacks import StackEndpoint
from heat.engine.service.templates import TemplateEndpoint
from heat.engine.service.worker import WorkerEndpoint
from heat.engine.stack import delegation, nested, publish
from heat.engine.traversal import recovery
from heat.engine.traversal.runner import Runner
from heat.policies import enforcement
from heat.rpc import api, clients, notifier, transport

LOG = logging.getLogger(__name__)

# All that answers on the engine topic.
ENDPOINTS = (
    StackEndpoint,
    PreviewEndpoint,
    ActionEndpoint,
    ResourceEndpoint,
    EventEndpoint,
    TemplateEndpoint,
    SoftwareEndpoint,
    MetaEndpoint,
)


class EngineServer:
    """An engine that serves requests and works on traversals.

    Make it after a fork, never before: it opens threads.

    :param bus: how requests come and nodes go
    :param binary: name of the program, shown in the list of engines
    :param alone: no other engine uses this database, so whatever is still
        claimed at start was left by one that is gone
    :param lost: called once when the engine must not act any more because
        the database is out of reach; it should end the process
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        bus: transport.Bus,
        db: Database,
        plugins: PluginRegistry,
        *,
        binary: str = "heat-engine",
        alone: bool = False,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.engine_id = str(uuid.uuid4())
        self._conf = conf
        shared.install(global_environment.load(conf))
        self._alone = alone
        self.engine = Engine(
            db=db,
            conf=conf,
            engine_id=self.engine_id,
            plugins=plugins,
            sender=clients.WorkerClient(bus),
            monotonic=time.monotonic,
            type_rules=enforcement.Enforcer(conf),
        )
        self.engine.children = nested.Children(self.engine)
        self._publisher = publish.Publisher(self.engine, notifier.make(conf))
        self._delegation = delegation.Delegation(self.engine)
        if conf.auth_strategy == "keystone":
            self.engine.delegation = self._delegation
        # Takes the sender's place: what fits here does not leave.
        self.runner = Runner(
            self.engine, conf.engine.pool_size, conf.engine.service_pool_size
        )
        self._heartbeat = Heartbeat(db, conf, self.engine_id, binary, lost)
        self.engine.alive_since = self._heartbeat.alive_since
        self._sweeper = recovery.Sweeper(
            self.engine, conf.engine.dead_after, self.runner.works_on
        )
        self._stopped = threading.Event()
        self._sweeping = threading.Thread(
            target=self._sweep_on, name="heat-recovery", daemon=True
        )
        # Workers first: whoever may ask finds somebody who works.
        self._servers = [
            bus.serve(
                api.WORKER_TOPIC,
                self.engine_id,
                [WorkerEndpoint(self.runner)],
            ),
            bus.serve(
                api.LISTENER_TOPIC,
                self.engine_id,
                [ListenerEndpoint(self.engine)],
            ),
            bus.serve(
                api.ENGINE_TOPIC,
                conf.host,
                [endpoint(self.engine) for endpoint in ENDPOINTS],
            ),
        ]

    def start(self) -> None:
        """Serve; what an engine before left behind is taken up."""
        if self._alone:
            self.engine.db.run(_forget_all)
        self._publisher.start()
        self._heartbeat.start()
        for server in self._servers:
            server.start()
        sent = recovery.resume(self.engine, alone=self._alone)
        if sent:
            LOG.info("%d nodes left unfinished are sent again", sent)
        self._sweeping.start()
        LOG.info("Engine %s serves on %s", self.engine_id, self._conf.host)

    def stop(self) -> None:
        """Take nothing new, end what ends soon, hand the rest over."""
        LOG.info("Engine %s stops", self.engine_id)
        self._stopped.set()
        self._close_servers()
        self.runner.stop(self._conf.engine.stop_timeout)
        try:
            recovery.hand_over(self.engine)
        except Exception:
            # Others will see that this engine is silent.
            LOG.exception("engine %s hands nothing over", self.engine_id)
        self._publisher.stop()
        self._heartbeat.stop()
        LOG.info("Engine %s has stopped", self.engine_id)

    def _close_servers(self) -> None:
        """Stop them all at once: each may take seconds to notice."""

        def close(server: transport.Server) -> None:
            server.stop()
            server.wait()

        with futures.ThreadPoolExecutor(len(self._servers)) as pool:
            for closed in [pool.submit(close, s) for s in self._servers]:
                try:
                    closed.result()
                except Exception:
                    LOG.exception("an RPC server did not stop cleanly")

    def _sweep_on(self) -> None:
        while not self._stopped.wait(self._conf.engine.recovery_interval):
            try:
                self._sweeper.sweep()
                if self.engine.delegation is not None:
                    self._delegation.tidy()
            except Exception:
                LOG.exception("looking for work left behind failed")


def _forget_all(conn: sa.Connection) -> None:
    for known in services.list_(conn):
        services.delete(conn, known.id, soft=False)
