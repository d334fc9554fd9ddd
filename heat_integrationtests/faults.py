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

"""Trouble between Heat and a cloud's services, on request.

A :class:`Proxy` stands before one service, counts what comes by, and lets
requests fail as it is told. :class:`FaultyRegion` makes a region of the cloud
whose endpoints are such proxies: a Heat that uses this region goes through
them, everybody else does not notice.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import http.client
import http.server
import json
import os
import re
import socket
import struct
import sys
import threading
import urllib.parse
import uuid
from typing import Any, Self

#: Service types that get a proxy, and the name that tests call it by.
PROXIED = {
    "compute": "nova",
    "network": "neutron",
    "block-storage": "cinder",
    "volumev3": "cinder",
}
_ANSWER_SECONDS = 120
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}
_IDS = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")

RESET = "reset"


@dataclasses.dataclass
class Fault:
    """How requests fail.

    :ivar method: of the requests
    :ivar path: regular expression that their path, with the query, contains
    :ivar times: so many requests fail
    :ivar status: what they are answered; :data:`RESET`: the connection ends
        without an answer
    :ivar words: what the service seems to say
    :ivar seconds: before that happens
    :ivar done: the service has done it all the same
    """

    method: str
    path: str
    times: int = 1
    status: int | str = 503
    words: str = "trouble on request"
    seconds: float = 0
    done: bool = False

    def meets(self, method: str, path: str) -> bool:
        return bool(
            self.times > 0
            and self.method == method
            and re.search(self.path, path)
        )


class Proxy:
    """Stands before the service at a URL, on a free port of the loopback.

    :param target: scheme, host and port of the service
    :ivar counts: how many requests came by, by method and path (ids are
        written as ``*``, queries are left out)
    """

    def __init__(self, target: str) -> None:
        self.target = urllib.parse.urlsplit(target).netloc
        self.counts: collections.Counter[tuple[str, str]] = (
            collections.Counter()
        )
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever).start()

    def fail(self, method: str, path: str, **how: Any) -> Fault:
        """Let requests fail from now on; see :class:`Fault`.

        :returns: the fault; its ``times`` go down to 0
        """
        fault = Fault(method, path, **how)
        with self._lock:
            self._faults.append(fault)
        return fault

    def calm(self) -> None:
        """Let nothing fail any more, and forget the counts."""
        with self._lock:
            self._faults.clear()
            self.counts.clear()

    def count(self, method: str, path: str) -> int:
        """How many requests came by whose path contains an expression."""
        with self._lock:
            return sum(
                number
                for (each, seen), number in self.counts.items()
                if each == method and re.search(path, seen)
            )

    def passing(self, method: str, path: str) -> Fault | None:
        """Note a request; give the fault that it meets."""
        plain = _IDS.sub("*", urllib.parse.urlsplit(path).path)
        with self._lock:
            self.counts[method, plain] += 1
            for fault in self._faults:
                if fault.meets(method, path):
                    fault.times -= 1
                    return fault
        return None

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of the proxy."""
        self._stopping.wait(seconds)

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    proxy: Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Who asked may have hung up, for instance after a time-out.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        fault = self.server.proxy.passing(self.command, self.path)
        if fault is None:
            self._answer(*self._ask(body))
            return
        if fault.done:
            self._ask(body)
        self.server.proxy.pause(fault.seconds)
        if fault.status == RESET:
            self._reset()
            return
        told = {"error": {"code": fault.status, "message": fault.words}}
        headers = [("Content-Type", "application/json")]
        self._answer(int(fault.status), headers, json.dumps(told).encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        # The Host header stays: services make links from it.
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        connection = http.client.HTTPConnection(
            self.server.proxy.target, timeout=_ANSWER_SECONDS
        )
        with contextlib.closing(connection):
            connection.request(self.command, self.path, body, headers)
            got = connection.getresponse()
            return got.status, got.getheaders(), got.read()

    def _answer(
        self, status: int, headers: list[tuple[str, str]], body: bytes
    ) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in {*_HOP_BY_HOP, "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _reset(self) -> None:
        self.close_connection = True
        # Closing at once, without a word: the other side sees a reset.
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.connection.close()
        self.rfile = self.wfile = open(os.devnull, "rb+")

    def log_message(self, *args: Any) -> None:
        """Counts are enough."""


class FaultyRegion:
    """A region of the cloud; some of its endpoints are proxies.

    :param admin: a connection of the cloud's administrator
    :ivar nova: and ``neutron``, ``cinder``: the :class:`Proxy` of each
    """

    nova: Proxy
    neutron: Proxy
    cinder: Proxy

    def __init__(self, admin: Any) -> None:
        self.name = f"faulty-{uuid.uuid4().hex[:8]}"
        self._identity = admin.identity
        self._source = admin.config.region_name
        self._made: list[Any] = []
        self.proxies: dict[str, Proxy] = {}

    def start(self) -> Self:
        self._identity.create_region(id=self.name)
        try:
            self._copy_endpoints()
        except BaseException:
            self.stop()
            raise
        return self

    def _copy_endpoints(self) -> None:
        types = {each.id: each.type for each in self._identity.services()}
        found = self._identity.endpoints(
            interface="public", region_id=self._source
        )
        for each in found:
            url = self._through(PROXIED.get(types[each.service_id]), each.url)
            self._made.append(
                self._identity.create_endpoint(
                    service_id=each.service_id,
                    interface="public",
                    region_id=self.name,
                    url=url,
                )
            )

    def _through(self, name: str | None, url: str) -> str:
        if name is None:
            return url
        if name not in self.proxies:
            self.proxies[name] = Proxy(url)
            setattr(self, name, self.proxies[name])
        parts = urllib.parse.urlsplit(url)
        return self.proxies[name].url + parts.path

    def calm(self) -> None:
        """Let nothing fail any more."""
        for proxy in self.proxies.values():
            proxy.calm()

    def stop(self) -> None:
        for proxy in self.proxies.values():
            proxy.stop()
        for each in self._made:
            self._identity.delete_endpoint(each)
        self._identity.delete_region(self.name)
