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
"""Reading a container, from a server that speaks what the service does."""

from __future__ import annotations

import http.server
import itertools
import json
import threading
from typing import Any, ClassVar
from unittest import mock
from urllib import parse

import fixtures
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import clients
from heat.engine.clients import errors, settings, swift
from heat.engine.service import containers, templates
from heat.rpc import transport
from heat.tests import base
from heat.tests.convergence import world

TOKEN = "the user's"


class Handler(http.server.BaseHTTPRequestHandler):
    """Listing by pages, and objects: ``/v1/{container}[/{object}]``."""

    store: ClassVar[dict[str, dict[str, bytes]]]
    asked: ClassVar[list[str]]
    fail: ClassVar[list[int]]
    # Sizes that the list tells in place of the true ones.
    told: ClassVar[dict[str, int]]

    def do_GET(self) -> None:
        path, _mark, query = self.path.partition("?")
        self.asked.append(self.path)
        if self.headers["X-Auth-Token"] != TOKEN:
            return self.send_error(401)
        if self.fail:
            return self.send_error(self.fail.pop())
        _empty, _v1, container, *rest = path.split("/", 3)
        objects = self.store.get(parse.unquote(container))
        if objects is None:
            return self.send_error(404)
        if rest:
            return self.answer(objects[parse.unquote(rest[0])])
        asked = dict(parse.parse_qsl(query))
        assert asked["format"] == "json"
        names = sorted(n for n in objects if n > asked.get("marker", ""))
        rows = [
            {
                "name": name,
                "bytes": self.told.get(name, len(objects[name])),
                "hash": "0" * 32,
                "content_type": "application/octet-stream",
                "last_modified": "2024-01-01T00:00:00.000000",
            }
            for name in names[: int(asked["limit"])]
        ]
        return self.answer(json.dumps(rows).encode())

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        pass


class Server(fixtures.Fixture):
    """An object store; ``store`` is container -> object -> content."""

    def _setUp(self) -> None:
        self.store: dict[str, dict[str, bytes]] = {}
        self.asked: list[str] = []
        self.fail: list[int] = []
        self.told: dict[str, int] = {}
        handler = type(
            "H",
            (Handler,),
            {
                "store": self.store,
                "asked": self.asked,
                "fail": self.fail,
                "told": self.told,
            },
        )
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        self.context = heat_context.RequestContext(project_id="p")
        self.context.keystone_session = ks_session.Session(
            auth=token_endpoint.Token(url, TOKEN)
        )
        settings.configure(None)

    def plugin(self) -> Any:
        return clients.of(self.context).client_plugin("swift")


class ContainerTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.server = self.useFixture(Server())

    def read(self, name: str = "c", **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = self.server.plugin().read_container(
            name, **kwargs
        )
        return found

    def test_objects(self):
        self.server.store["my files"] = {
            "a.yaml": b"parameters: {}\n",
            "deep/in/b ?#%.sh": b"#!/bin/sh\n",
            "\u00fcber.txt": "\u65e5\u672c".encode(),
            "folder/": b"",
            "empty": b"",
        }
        self.assertEqual(
            {
                "a.yaml": "parameters: {}\n",
                "deep/in/b ?#%.sh": "#!/bin/sh\n",
                "\u00fcber.txt": "\u65e5\u672c",
                "empty": "",
            },
            self.read("my files"),
        )

    def test_nothing_in_it(self):
        self.server.store["c"] = {}
        self.assertEqual({}, self.read())

    def test_pages(self):
        names = [f"{number:04}" for number in range(25)]
        self.server.store["c"] = dict.fromkeys(names, b"x")
        with mock.patch.object(swift, "_PAGE", 10):
            self.assertEqual(names, list(self.read()))
        lists = [path for path in self.server.asked if "format=" in path]
        self.assertEqual(4, len(lists))

    def test_too_many(self):
        self.server.store["c"] = dict.fromkeys("abc", b"x")
        with mock.patch.object(swift, "MAX_OBJECTS", 2):
            error = self.assertRaises(
                exception.DownloadLimitExceeded, self.read
            )
        self.assertIn('"c" holds more than 2 objects', str(error))
        # Nothing but the list was asked for.
        self.assertEqual(1, len(self.server.asked))

    def test_too_long(self):
        self.server.store["c"] = {"a": b"x" * 60, "b": b"x" * 60}
        with mock.patch.object(swift, "MAX_BYTES", 100):
            error = self.assertRaises(
                exception.DownloadLimitExceeded, self.read
            )
        self.assertIn("100 bytes", str(error))
        self.assertEqual(1, len(self.server.asked))

    def test_longer_than_the_list_says(self):
        self.server.store["c"] = {"a": b"x" * 200}
        self.server.told["a"] = 1
        with mock.patch.object(swift, "MAX_BYTES", 100):
            self.assertRaises(exception.DownloadLimitExceeded, self.read)

    def test_too_slow(self):
        self.server.store["c"] = dict.fromkeys("abc", b"x")
        clock = itertools.count(0, swift.MAX_SECONDS / 3)
        error = self.assertRaises(
            exception.DownloadLimitExceeded,
            self.read,
            monotonic=lambda: next(clock),
        )
        self.assertIn("within 40 seconds", str(error))

    def test_no_text(self):
        self.server.store["c"] = {"logo.png": b"\x89PNG\xff"}
        error = self.assertRaises(ValueError, self.read)
        self.assertIn('"logo.png" is not UTF-8', str(error))

    def test_names_that_are_none(self):
        for name in ("", "a/b", "x" * 257):
            self.assertRaises(ValueError, self.read, name)
        self.assertEqual([], self.server.asked)

    def test_refused(self):
        self.assertRaises(errors.NotFound, self.read, "none")
        self.server.fail.append(403)
        self.assertRaises(errors.Forbidden, self.read)

    def test_tried_again(self):
        self.server.store["c"] = {"a": b"x"}
        self.server.fail.append(503)
        self.assertEqual({"a": "x"}, self.read())


class RequestTest(base.TestCase):
    """The key of the body, from the endpoint down."""

    def setUp(self) -> None:
        super().setUp()
        self.server = self.useFixture(Server())
        self.world = world.World()
        self.addCleanup(self.world.close)

    def validate(self, context: Any, container: str) -> dict[str, Any]:
        endpoint = templates.TemplateEndpoint(self.world.engines[0])
        answer: dict[str, Any] = endpoint.validate_template(
            context,
            {
                "heat_template_version": "2021-04-16",
                "parameters": {"p": {"type": "string"}},
            },
            {},
            {"near.yaml": "parameters: {p: near}"},
            ["far.yaml", "near.yaml"],
            container,
        )
        return answer

    def test_files(self):
        self.server.store["plan"] = {
            "far.yaml": b"parameters: {p: far}",
            "near.yaml": b"parameters: {p: not this}",
        }
        answer = self.validate(self.server.context, "plan")
        self.assertEqual({"p": "near"}, answer["Environment"]["parameters"])
        self.assertEqual(
            {"far.yaml", "a"},
            set(
                containers.files_of(
                    self.server.context, {"far.yaml": "", "a": "b"}, None
                )
            ),
        )

    def test_why_not(self):
        nobody = heat_context.RequestContext(project_id="p")
        self.server.store["bad"] = {"x": b"\xff"}
        for context, name, words in (
            (self.server.context, "none", "there is no such container"),
            (self.server.context, "a/b", "no name of a container"),
            (self.server.context, "bad", "not UTF-8"),
            (nobody, "plan", "no credentials"),
        ):
            error = self.assertRaises(
                transport.ExpectedException, self.validate, context, name
            )
            cause = error.__cause__
            self.assertIsInstance(cause, ValueError)
            self.assertIn(f'files_container "{name}"', str(cause))
            self.assertIn(words, str(cause))
