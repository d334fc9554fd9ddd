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

"""Reading templates from a real server on this machine."""

from __future__ import annotations

import http.server
import threading
import time

from heat.common import exception, urlfetch
from heat.tests import base


class Handler(http.server.BaseHTTPRequestHandler):
    # path -> (status, body, headers)
    ANSWERS = {
        "/ok": (200, "heat: é".encode(), {}),
        "/bom": (200, b"\xef\xbb\xbfa: 1", {}),
        "/long": (200, b"x" * 5000, {}),
        "/latin": (200, b"\xe9\xff", {}),
        "/packed": (200, b"x", {"Content-Encoding": "gzip"}),
        "/to-ok": (302, b"", {"Location": "/ok"}),
        "/to-other": (302, b"", {"Location": "http://other.test/ok"}),
        "/to-file": (302, b"", {"Location": "file:///etc/passwd"}),
        "/round": (302, b"", {"Location": "/round"}),
    }

    def do_GET(self):
        if self.path == "/slow":
            self.drip()
        else:
            self.answer(*self.ANSWERS.get(self.path, (404, b"no", {})))

    def drip(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(50):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.05)

    def answer(self, status, body, headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class FetcherTest(base.TestCase):
    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *args: None
        thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), daemon=True
        )
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.root = f"http://127.0.0.1:{server.server_port}"

    def fetch(self, path, timeout=10.0, **kwargs):
        url = path if "://" in path else self.root + path
        return urlfetch.Fetcher(1000, timeout, **kwargs).fetch(url)

    def refused(self, path, words, **kwargs):
        error = self.assertRaises(ValueError, self.fetch, path, **kwargs)
        self.assertIn(words, str(error))

    def test_a_text(self):
        self.assertEqual("heat: é", self.fetch("/ok"))
        self.assertEqual("a: 1", self.fetch("/bom"))
        self.assertEqual("heat: é", self.fetch("/to-ok"))

    def test_limits(self):
        for path, timeout in (("/long", 10.0), ("/slow", 0.3)):
            started = time.monotonic()
            self.assertRaises(
                exception.DownloadLimitExceeded, self.fetch, path, timeout
            )
            self.assertLess(time.monotonic() - started, 2.0)

    def test_what_is_refused(self):
        for path, words in (
            ("/nothing", "answered 404"),
            ("/latin", "not UTF-8"),
            ("/packed", "content encoding gzip"),
            ("/to-file", "only http and https"),
            ("/round", "redirects"),
            ("file:///etc/passwd", "only http and https"),
            ("ftp://example.test/a", "only http and https"),
            ("http://", "only http and https"),
            ("http://[::1", "Could not read"),
            ("http://127.0.0.1:1/", "could not connect"),
            ("http://169.254.169.254/latest", "not reachable"),
            ("http://nothing.invalid/", "unknown host"),
        ):
            with self.subTest(path=path):
                self.refused(path, words)

    def test_redirects_to_private_addresses(self):
        def resolve(host):
            return {"other.test": ["10.0.0.1"]}.get(host, [host])

        self.refused("/to-other", "private address", addresses=resolve)
        self.refused(
            "/to-other",
            "private address",
            addresses=lambda host: ["::ffff:127.0.0.1"],
        )

    def test_passwords_stay_private(self):
        url = self.root.replace("http://", "http://jo:secret@") + "/nothing"
        error = self.assertRaises(ValueError, self.fetch, url)
        self.assertNotIn("secret", str(error))
