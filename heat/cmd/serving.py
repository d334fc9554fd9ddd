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

"""The built-in HTTP server, and which addresses it may listen on."""

from __future__ import annotations

import ipaddress
import logging
import os
import selectors
import socket
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from cheroot import wsgi

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

LOG = logging.getLogger(__name__)

# Header lines of one request, in bytes. Tokens are long.
_MAX_HEADERS = 256 * 1024


class _Cheroot(wsgi.Server):
    """cheroot that logs where the rest of the service does."""

    def error_log(
        self, msg: str = "", level: int = 20, traceback: bool = False
    ) -> None:
        LOG.log(level, "%s", msg, exc_info=traceback)


class HttpServer:
    """cheroot around one WSGI application.

    :param port: 0 for any free one, see :attr:`port`
    :param reuse_port: several processes listen on the same port
    """

    def __init__(
        self,
        app: wsgi_types.WSGIApplication,
        host: str,
        port: int,
        threads: int,
        reuse_port: bool = False,
    ) -> None:
        self._host = host
        self._server = _Cheroot(
            (host, port),
            app,
            numthreads=threads,
            request_queue_size=128,
            shutdown_timeout=5,
            reuse_port=reuse_port,
        )
        self._server.max_request_header_size = _MAX_HEADERS
        if selectors.DefaultSelector.__name__ == "SelectSelector":
            # Eventlet leaves only select(), which does not notice a
            # connection that is put back while it waits: wait less.
            self._server.expiration_interval = 0.02
        self._thread = threading.Thread(
            target=self._serve, name="heat-http", daemon=True
        )

    def listen(self) -> None:
        """Bind and listen; requests wait until :meth:`start`.

        :raises OSError: the address can't be had
        """
        self._server.prepare()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.bind_addr[1])

    @property
    def url(self) -> str:
        """``http://HOST:PORT``; an IPv6 address is in brackets."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    def start(self) -> None:
        """Serve, in threads of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Close the socket; running requests are answered."""
        self._server.stop()
        if self._thread.is_alive():
            self._thread.join(10)

    def _serve(self) -> None:
        try:
            self._server.serve()
        except Exception:
            LOG.exception("The HTTP server failed")


def is_loopback(host: str) -> bool:
    """Whether all that ``host`` stands for are loopback addresses."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(
        ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
        for *_rest, address in found
    )


def explain(host: str, port: int, error: OSError) -> str:
    """Why an address can't be listened on, as a sentence."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return f"cannot listen on {host} port {port}: {reason}."


def leave(code: int) -> NoReturn:
    """End the process now, whatever a thread of a plug-in still waits for.

    All that matters was stopped and stored before.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
