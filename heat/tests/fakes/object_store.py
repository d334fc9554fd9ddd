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

"""An object store on this machine, as far as signals and metadata need one.

It checks tokens and the signatures of URLs as the service does. What the
service does beyond that is tested with the real one.
"""

from __future__ import annotations

import hashlib
import hmac
import http.server
import itertools
import json
import threading
import time
from typing import Any
from urllib import parse

import fixtures
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint

TOKEN = "the owner's"
_ACCOUNT = "/v1/AUTH_p"
_KEY = "X-Container-Meta-Temp-URL-Key"
_VERSIONS = "X-Versions-Location"


class _Handler(http.server.BaseHTTPRequestHandler):
    store: Store

    def _do(self) -> None:
        with self.store.lock:
            self._answer(*self._work())

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _do

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _work(self) -> tuple[int, dict[str, str], bytes]:
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        split = parse.urlsplit(self.path)
        query = dict(parse.parse_qsl(split.query))
        path = parse.unquote(split.path).removeprefix(f"{_ACCOUNT}/")
        container, _slash, name = path.partition("/")
        self.store.asked.append((self.command, container, name))
        if self.store.broken:
            return 503, {}, b""
        if not self._may(split.path, container, query):
            return 401, {}, b""
        if not name:
            return self._container(container, query)
        return self._object(container, name, given)

    def _may(self, path: str, container: str, query: dict[str, str]) -> bool:
        if self.headers.get("X-Auth-Token") == TOKEN:
            return True
        key = self.store.headers.get(container, {}).get(_KEY)
        if not key or "temp_url_sig" not in query:
            return False
        ends = query["temp_url_expires"]
        method = "GET" if self.command == "HEAD" else self.command
        said = f"{method}\n{ends}\n{parse.unquote(path)}".encode()
        right = hmac.new(key.encode(), said, hashlib.sha256).hexdigest()
        return right == query["temp_url_sig"] and float(ends) > time.time()

    def _container(
        self, name: str, query: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        known = self.store.objects
        told = {
            k: v for k, v in self.headers.items() if k in (_KEY, _VERSIONS)
        }
        if self.command == "PUT":
            if _VERSIONS in told and not self.store.keeps_versions:
                return 412, {}, b"Versioned Writes is disabled"
            known.setdefault(name, {})
            self.store.headers.setdefault(name, {}).update(told)
            return 201, {}, b""
        if name not in known:
            return 404, {}, b""
        if self.command == "POST":
            self.store.headers[name].update(told)
            return 204, {}, b""
        if self.command == "HEAD":
            return 204, self.store.headers[name], b""
        if self.command == "DELETE":
            if known[name]:
                return 409, {}, b""
            del known[name], self.store.headers[name]
            return 204, {}, b""
        rows = [
            {"name": each}
            for each in sorted(known[name])
            if each.startswith(query.get("prefix", ""))
            and each > query.get("marker", "")
        ]
        return 200, {}, json.dumps(rows[:2]).encode()

    def _object(
        self, container: str, name: str, given: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        objects = self.store.objects.get(container)
        if objects is None:
            return 404, {}, b""
        if self.command == "PUT":
            beside = self.store.headers[container].get(_VERSIONS)
            if beside and name in objects:
                stamp, before = objects[name]
                older = f"{len(name):03x}{name}/{stamp}"
                self.store.objects[parse.unquote(beside)][older] = (
                    stamp,
                    before,
                )
            objects[name] = (f"{next(self.store.clock)}.00000", given)
            return 201, {}, b""
        if name not in objects:
            return 404, {}, b""
        if self.command == "DELETE":
            del objects[name]
            return 204, {}, b""
        stamp, body = objects[name]
        headers = {"X-Timestamp": stamp}
        if "Range" in self.headers:
            if not body:
                return 416, headers, b""
            last = int(self.headers["Range"].rpartition("-")[2])
            return 206, headers, body[: last + 1]
        return 200, headers, body

    def log_message(self, *_args: Any) -> None:
        pass


class Store(fixtures.Fixture):
    """An object store.

    :ivar objects: container -> object -> (when it was written, content)
    :ivar headers: container -> those that were set
    :ivar session: logs in as the owner
    """

    def _setUp(self) -> None:
        self.objects: dict[str, dict[str, tuple[str, bytes]]] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.keeps_versions = True
        self.broken = False
        self.clock = itertools.count(1_700_000_000)
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"store": self})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}{_ACCOUNT}"
        self.session = ks_session.Session(
            auth=token_endpoint.Token(self.url, TOKEN)
        )

    def texts(self, container: str) -> dict[str, str]:
        """What stands in the objects of a container."""
        return {
            name: body.decode()
            for name, (_stamp, body) in self.objects[container].items()
        }
