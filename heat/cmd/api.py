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

"""heat-api: the ReST API in the built-in server, or in a foreign one.

A foreign WSGI server (mod_wsgi, uwsgi, gunicorn) takes the application from
:func:`application`, for example ``gunicorn 'heat.cmd.api:application()'``.
The configuration files are then named in the environment variable
``HEAT_CONFIG_FILES``, separated as in ``PATH``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_log import log as logging
from oslo_service import service

from heat import cmd
from heat.api import app
from heat.cmd import serving
from heat.common import config
from heat.rpc import clients, transport

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

LOG = logging.getLogger(__name__)

FILES_VARIABLE = "HEAT_CONFIG_FILES"


class ApiProcess(service.ServiceBase):  # type: ignore[misc]
    """One worker of an API. Everything is opened after the fork.

    :param settings: group of options with ``bind_port`` and ``threads``
    :param make: makes the application
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        host: str,
        settings: cfg.ConfigOpts.GroupAttr,
        make: Callable[
            [cfg.ConfigOpts, clients.EngineClient], wsgi_types.WSGIApplication
        ],
    ) -> None:
        self._conf = conf
        self._host = host
        self._settings = settings
        self._make = make
        self._http: serving.HttpServer | None = None
        self._bus: transport.MessagingBus | None = None
        # Made in start(): a lock must not be inherited over a fork.
        self._ended: threading.Event | None = None

    def start(self) -> None:
        self._ended = threading.Event()
        self._bus = transport.MessagingBus(self._conf)
        self._http = serving.HttpServer(
            self._make(self._conf, clients.EngineClient(self._bus)),
            self._host,
            self._settings.bind_port,
            self._settings.threads,
            reuse_port=True,
        )
        self._http.listen()
        self._http.start()
        cmd.settle_memory()
        LOG.info("The API listens on %s", self._http.url)

    def stop(self, graceful: bool = False) -> None:
        if self._http is not None:
            self._http.stop()
            self._http = None
        if self._bus is not None:
            self._bus.close()
            self._bus = None
        if self._ended is not None:
            self._ended.set()

    def wait(self) -> None:
        if self._ended is not None:
            self._ended.wait()

    def reset(self) -> None:
        logging.setup(self._conf, "heat")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    conf = config.load("heat-api", argv)
    config.report(conf)
    host = bind_host(conf)
    if conf.auth_strategy == "noauth" and not serving.is_loopback(host):
        return _refuse(
            f"auth_strategy noauth lets anybody in, so [heat_api] bind_host "
            f"must be a loopback address, not {host}."
        )
    problem = address_problem(host, conf.heat_api.bind_port)
    if problem:
        return _refuse(problem)
    launcher = service.launch(
        conf,
        ApiProcess(conf, host, conf.heat_api, app.make_app),
        workers=conf.heat_api.workers,
        restart_method="mutate",
    )
    launcher.wait()
    return 0


def application() -> wsgi_types.WSGIApplication:
    """The application for a foreign WSGI server."""
    named = os.environ.get(FILES_VARIABLE)
    files = named.split(os.pathsep) if named else None
    conf = config.load("heat-api", [], default_config_files=files)
    config.report(conf)
    bus = transport.MessagingBus(conf)
    return app.make_app(conf, clients.EngineClient(bus))


def bind_host(conf: cfg.ConfigOpts) -> str:
    """The address to listen on; without Keystone a loopback one."""
    if conf.auth_strategy == "noauth" and not config.is_set(
        conf, "bind_host", "heat_api"
    ):
        return "127.0.0.1"
    return str(conf.heat_api.bind_host)


def address_problem(host: str, port: int) -> str | None:
    """Try the address before the fork, where one can still complain."""
    probe = serving.HttpServer(_nothing, host, port, threads=1)
    try:
        probe.listen()
    except OSError as error:
        return serving.explain(host, port, error)
    probe.stop()
    return None


def _nothing(
    environ: wsgi_types.WSGIEnvironment,
    start_response: wsgi_types.StartResponse,
) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return []


def _refuse(sentence: str) -> int:
    print(f"heat-api: {sentence}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
