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
_KEEPS = "X-Versions-Enabled"


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
        query = dict(parse.parse_qsl(split.query, keep_blank_values=True))
        path = parse.unquote(split.path).removeprefix(f"{_ACCOUNT}/")
        container, _slash, name = path.partition("/")
        self.store.asked.append((self.command, container, name))
        if self.store.broken:
            return 503, {}, b""
        if not self._may(split.path, container, query):
            return 401, {}, b""
        if not name:
            return self._container(container, query)
        return self._object(container, name, given, query)

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
        known_ones = (_KEY, _VERSIONS, _KEEPS)
        told = {k: v for k, v in self.headers.items() if k in known_ones}
        if self.command == "PUT":
            if _KEEPS in told and self.store.keeps != "all":
                return 400, {}, b"Versioning is not enabled"
            if _VERSIONS in told and self.store.keeps != "beside":
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
            if known[name] or any(self.store.versions(name)):
                return 409, {}, b""
            del known[name], self.store.headers[name]
            return 204, {}, b""
        rows = [
            {"name": each, "version_id": version}
            for each in sorted(known[name])
            for version in self._listed(name, each, query)
            if each.startswith(query.get("prefix", ""))
            and (each, version or "")
            > (query.get("marker", ""), query.get("version_marker", "~"))
        ]
        return 200, {}, json.dumps(rows[:2]).encode()

    def _listed(
        self, container: str, name: str, query: dict[str, str]
    ) -> list[str | None]:
        """The versions that a list tells of."""
        if "versions" not in query:
            return [None]
        found = self.store.kept.get((container, name), {})
        return [*sorted(found)] or ["null"]

    def _object(
        self,
        container: str,
        name: str,
        given: bytes,
        query: dict[str, str],
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
            made = f"{next(self.store.clock)}.00000", given
            objects[name] = made
            if _KEEPS in self.store.headers[container]:
                kept = self.store.kept.setdefault((container, name), {})
                kept[made[0]] = made
            return 201, {}, b""
        if name not in objects:
            return 404, {}, b""
        kept = self.store.kept.get((container, name), {})
        version = query.get("version-id")
        if self.command == "DELETE":
            if version is not None:
                del kept[version]
            if not kept:
                del objects[name]
            return 204, {}, b""
        stamp, body = kept[version] if version else objects[name]
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
    :ivar keeps: older versions of objects: "all" of them in their container,
        or "beside" it, or "none"
    :ivar session: logs in as the owner
    """

    def _setUp(self) -> None:
        self.objects: dict[str, dict[str, tuple[str, bytes]]] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.keeps = "all"
        self.kept: dict[tuple[str, str], dict[str, tuple[str, bytes]]] = {}
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

    def versions(self, container: str) -> list[dict[str, Any]]:
        """What is kept of the objects of a container."""
        return [
            each
            for (where, _n), each in self.kept.items()
            if where == container
        ]

    def texts(self, container: str) -> dict[str, str]:
        """What stands in the objects of a container."""
        return {
            name: body.decode()
            for name, (_stamp, body) in self.objects[container].items()
        }
