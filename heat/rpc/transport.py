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

"""How messages get from client to server: one port, two implementations.

:class:`MessagingBus` is oslo.messaging (RabbitMQ in production);
:class:`LocalBus` (:mod:`heat.rpc.local`) keeps everything in one process,
with the same dispatcher, the same JSON round trip and the same errors, so
that neither client nor endpoint can tell them apart.

An endpoint is any object with an attribute ``target`` (its version) and
methods that take the context first. What it raises reaches the caller of
``call`` as the class of the same name (:mod:`heat.rpc.errors`).
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import oslo_messaging
from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_serialization import jsonutils

from heat.common import context as heat_context
from heat.rpc import api, envelopes, errors


class Caller(Protocol):
    """A client of one topic."""

    def call(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Ask and wait for the answer.

        :param version: lowest version of the server that will do
        :param timeout: seconds; None: the transport's own
        :raises Exception: what the endpoint raised
        :raises oslo_messaging.MessagingTimeout: nobody answered
        """

    def cast(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
    ) -> None:
        """Send and forget: no answer, no error of the endpoint."""


class Server(Protocol):
    """A running set of endpoints."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """Take no new message."""

    def wait(self) -> None:
        """Return when what was taken has been answered."""


class Bus(Protocol):
    """The port: clients and servers of one transport."""

    def client(
        self, topic: str, version: str = "1.0", server: str | None = None
    ) -> Caller:
        """A client of a topic, or of one server of it."""

    def serve(
        self, topic: str, server: str, endpoints: Sequence[Any]
    ) -> Server:
        """A server, not yet started, of a topic and of its own name."""

    def close(self) -> None:
        """Let go of connections and threads."""


def make_target(version: str) -> Any:
    """The ``target`` of an endpoint class of this version."""
    return oslo_messaging.Target(version=version)


# Errors that endpoints raise on purpose: answered, not logged as failures.
ExpectedException = oslo_messaging.ExpectedException
expected_exceptions = oslo_messaging.expected_exceptions
MessagingTimeout = oslo_messaging.MessagingTimeout


def _is_plain(entity: Any) -> bool:
    """Whether a value is of Python's own types, as answers mostly are.

    oslo.messaging's own encoder takes those that JSON does not know, such
    as sets. To look by a Python loop takes ten times as long, to convert a
    hundred times.
    """
    try:
        # In this version equal texts are not looked for.
        marshal.dumps(entity, 2)
    except ValueError:
        return False
    return True


class Plain(dict[str, Any]):
    """An answer made of JSON values only, so that nobody need look.

    For those of megabytes, whose maker knows.
    """


class ContextSerializer(oslo_messaging.Serializer):  # type: ignore[misc]
    """Contexts as dictionaries; what clients send is plain already."""

    def serialize_entity(self, ctxt: Any, entity: Any) -> Any:
        return entity

    def deserialize_entity(self, ctxt: Any, entity: Any) -> Any:
        return entity

    def serialize_context(self, ctxt: Any) -> dict[str, Any]:
        return dict(ctxt) if isinstance(ctxt, dict) else dict(ctxt.to_dict())

    def deserialize_context(
        self, ctxt: dict[str, Any]
    ) -> heat_context.RequestContext:
        return heat_context.RequestContext.from_dict(ctxt)


class JsonSerializer(ContextSerializer):
    """For servers: answers as plain JSON values, whatever they are."""

    def serialize_entity(self, ctxt: Any, entity: Any) -> Any:
        if isinstance(entity, Plain) or _is_plain(entity):
            return entity
        try:
            # Plain values, as nearly all are, may go as they are: finding
            # out by this takes a tenth of the time of making a copy.
            json.dumps(entity)
        except (TypeError, ValueError, RecursionError):
            return jsonutils.to_primitive(entity, convert_instances=True)
        return entity


class _MessagingCaller:
    def __init__(self, client: Any) -> None:
        self._client = client

    def _prepared(
        self, version: str | None, timeout: float | None = None
    ) -> Any:
        changes: dict[str, Any] = {}
        if version is not None:
            changes["version"] = version
        if timeout is not None:
            changes["timeout"] = timeout
        return self._client.prepare(**changes) if changes else self._client

    def call(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        try:
            prepared = self._prepared(version, timeout)
            return prepared.call(context, method, **args)
        except Exception as error:
            raise errors.plain(error) from None

    def cast(
        self,
        context: heat_context.RequestContext,
        method: str,
        args: Mapping[str, Any],
        *,
        version: str | None = None,
    ) -> None:
        self._prepared(version).cast(context, method, **args)


class MessagingBus:
    """oslo.messaging, as the configuration says (``transport_url``).

    Make it after a fork, never before: connections don't survive one.
    """

    def __init__(self, conf: cfg.ConfigOpts, url: str | None = None) -> None:
        oslo_messaging.set_transport_defaults(api.EXCHANGE)
        _complete(conf)
        envelopes.quicken()
        self._transport = oslo_messaging.get_rpc_transport(
            conf,
            url=url,
            allowed_remote_exmods=list(errors.ALLOWED_MODULES),
        )

    def client(
        self, topic: str, version: str = "1.0", server: str | None = None
    ) -> Caller:
        target = oslo_messaging.Target(
            topic=topic, version=version, server=server
        )
        return _MessagingCaller(
            oslo_messaging.get_rpc_client(
                self._transport, target, serializer=ContextSerializer()
            )
        )

    def serve(
        self, topic: str, server: str, endpoints: Sequence[Any]
    ) -> Server:
        made: Server = oslo_messaging.get_rpc_server(
            self._transport,
            oslo_messaging.Target(topic=topic, server=server),
            list(endpoints),
            serializer=JsonSerializer(),
            access_policy=oslo_messaging.DefaultRPCAccessPolicy,
        )
        return made

    def close(self) -> None:
        self._transport.cleanup()


def _complete(conf: cfg.ConfigOpts) -> None:
    """Add the options that oslo.messaging gives to the global object only.

    It reads them of any object; in one that is not global they are off.
    """
    for name in ("metrics", "tracing"):
        group = f"oslo_messaging_{name}"
        if group not in conf:
            option = cfg.BoolOpt(f"{name}_enabled", default=False)
            conf.register_opt(option, group=group)


def keep_current_context() -> Any:
    """The thread's current context, for :func:`restore_context`."""
    return oslo_context.get_current()


def restore_context(context: Any) -> None:
    """Undo that reading a context makes it the thread's current one."""
    if context is not None:
        context.update_store()
