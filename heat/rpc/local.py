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

"""The RPC port inside of one process, for heat-standalone and for tests.

Messages go through the dispatcher and the serialiser of oslo.messaging and
through JSON, so that nothing works here that would not work over RabbitMQ.
A call runs in the caller's thread, a cast in a pool.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent import futures
from typing import Any

import oslo_messaging

from heat.common import context as heat_context
from heat.common import quick_json
from heat.rpc import errors, transport

LOG = logging.getLogger(__name__)


class _Incoming:
    """What the dispatcher reads of a message."""

    client_timeout = None

    def __init__(self, ctxt: dict[str, Any], message: dict[str, Any]) -> None:
        self.ctxt = ctxt
        self.message = message


class _LocalServer:
    """The endpoints of one topic and server name."""

    def __init__(
        self,
        bus: LocalBus,
        topic: str,
        server: str,
        endpoints: Sequence[Any],
    ) -> None:
        self.topic = topic
        self.server = server
        self._bus = bus
        self._dispatcher = oslo_messaging.RPCDispatcher(
            list(endpoints),
            transport.JsonSerializer(),
            oslo_messaging.DefaultRPCAccessPolicy,
        )
        # Guards _running; notified when it falls to 0.
        self._idle = threading.Condition()
        self._running = 0

    def start(self) -> None:
        self._bus.attach(self)

    def stop(self) -> None:
        self._bus.detach(self)

    def wait(self) -> None:
        with self._idle:
            self._idle.wait_for(lambda: not self._running)

    def enter(self) -> None:
        with self._idle:
            self._running += 1

    def leave(self) -> None:
        with self._idle:
            self._running -= 1
            self._idle.notify_all()

    def dispatch(self, incoming: _Incoming) -> Any:
        return self._dispatcher.dispatch(incoming)


class _LocalCaller:
    def __init__(
        self, bus: LocalBus, topic: str, version: str, server: str | None
    ) -> None:
        self._bus = bus
        self._topic = topic
        self._version = version
        self._server = server

    def _incoming(
        self,
        context: Any,
        method: str,
        version: str | None,
        args: Mapping[str, Any],
    ) -> _Incoming:
        serializer = transport.ContextSerializer()
        message = {
            "method": method,
            "args": dict(args),
            "version": version or self._version,
        }
        return _Incoming(
            _through_json(serializer.serialize_context(context)),
            _through_json(message),
        )

    def call(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        incoming = self._incoming(context, method, version, args)
        server = self._bus.pick(self._topic, self._server)
        if server is None:
            raise oslo_messaging.MessagingTimeout(
                f"Nobody serves the topic {self._topic}"
            )
        current = transport.keep_current_context()
        try:
            return _through_json(server.dispatch(incoming))
        except oslo_messaging.ExpectedException as expected:
            raise _as_remote(expected.exc_info[1]) from None
        except Exception as error:
            LOG.exception("Error in %s on topic %s", method, self._topic)
            raise _as_remote(error) from None
        finally:
            server.leave()
            transport.restore_context(current)

    def cast(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
    ) -> None:
        incoming = self._incoming(context, method, version, args)
        server = self._bus.pick(self._topic, self._server)
        if server is None:
            # As a broker does: without a queue the message is gone.
            LOG.debug("Nobody serves %s: %s is lost", self._topic, method)
            return
        self._bus.submit(server, incoming)


class LocalBus:
    """Servers by topic; several of one topic take turns.

    :param threads: how many casts run at once
    """

    def __init__(self, threads: int = 16) -> None:
        # Guards _servers and _turn.
        self._lock = threading.Lock()
        self._servers: list[_LocalServer] = []
        self._turn = 0
        self._pool = futures.ThreadPoolExecutor(
            max_workers=threads, thread_name_prefix="rpc-cast"
        )

    def client(
        self, topic: str, version: str = "1.0", server: str | None = None
    ) -> transport.Caller:
        return _LocalCaller(self, topic, version, server)

    def serve(
        self, topic: str, server: str, endpoints: Sequence[Any]
    ) -> transport.Server:
        return _LocalServer(self, topic, server, endpoints)

    def close(self) -> None:
        with self._lock:
            self._servers = []
        self._pool.shutdown(wait=True)

    def attach(self, server: _LocalServer) -> None:
        with self._lock:
            if server not in self._servers:
                self._servers.append(server)

    def detach(self, server: _LocalServer) -> None:
        with self._lock:
            if server in self._servers:
                self._servers.remove(server)

    def pick(self, topic: str, name: str | None) -> _LocalServer | None:
        """The server whose turn it is, counted as busy (:meth:`leave`)."""
        with self._lock:
            found = [
                server
                for server in self._servers
                if server.topic == topic and name in (None, server.server)
            ]
            if not found:
                return None
            self._turn += 1
            chosen = found[self._turn % len(found)]
            chosen.enter()
            return chosen

    def submit(self, server: _LocalServer, incoming: _Incoming) -> None:
        """Run a cast in the pool; ``server`` was picked for it."""
        try:
            self._pool.submit(_run_cast, server, incoming)
        except RuntimeError:  # the pool was shut down meanwhile
            server.leave()


def _run_cast(server: _LocalServer, incoming: _Incoming) -> None:
    try:
        server.dispatch(incoming)
    except oslo_messaging.ExpectedException as expected:
        LOG.debug("Cast failed: %s", expected.exc_info[1])
    except Exception:
        LOG.exception(
            "Error in the cast %s on topic %s",
            incoming.message["method"],
            server.topic,
        )
    finally:
        server.leave()


def _through_json(value: Any) -> Any:
    return json.loads(quick_json.dumps(value))


def _as_remote(error: BaseException) -> Exception:
    """What the caller would get if the endpoint ran in another process."""
    cls = type(error)
    kwargs = getattr(error, "kwargs", None)
    return errors.rebuild(
        cls.__name__,
        cls.__module__,
        str(error),
        _through_json(kwargs) if isinstance(kwargs, dict) else None,
    )
