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

"""Queues with all that they have, compared with what Zaqar shows.

Messages are sent, and received by a server of the test's own.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib import parse

import requests
from heatclient import exc as heat_exc
from openstack import exceptions as sdk_exc

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import SECONDS, CloudStory, ref, res
from heat_integrationtests.test_cloud_storage import name

CLIENT = {"Client-ID": str(uuid.uuid4())}


class Receiver(http.server.ThreadingHTTPServer):
    """Takes what subscribers are sent.

    :ivar got: path, headers and decoded body of each
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, dict[str, str], Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def wait(self, path: str) -> tuple[dict[str, str], Any]:
        """What came last on a path.

        :raises AssertionError: nothing does
        """
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for each, headers, body in reversed(self.got):
                if each == path:
                    return headers, body
            time.sleep(0.1)
        raise AssertionError(f"nothing on {path}, but {self.got}")


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(size))
        self.server.got.append(  # type: ignore[attr-defined]
            (self.path, dict(self.headers), body)
        )
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Not to the console."""


class MessageStory(CloudStory):
    """Queues, and what is sent through them."""

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Ask Zaqar as the stack's user."""
        answer = self.cloud.message.request(
            path, method, headers=CLIENT, raise_exc=False, **more
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def queues(self) -> list[str]:
        found: list[str] = []
        marker = ""
        while True:
            page = self.ask("GET", "/queues", params={"marker": marker})
            if not page["queues"]:
                return found
            found += [each["name"] for each in page["queues"]]
            marker = found[-1]

    def subscription(self, queue: str, ident: str) -> dict[str, Any] | None:
        try:
            return dict(
                self.ask("GET", f"/queues/{queue}/subscriptions/{ident}")
            )
        except (requests.HTTPError, sdk_exc.NotFoundException):
            return None

    def post(self, queue: str, body: Any) -> None:
        self.ask(
            "POST",
            f"/queues/{queue}/messages",
            json={"messages": [{"body": body, "ttl": 300}]},
        )

    @contextlib.contextmanager
    def receiver(self) -> Iterator[Receiver]:
        made = Receiver()
        try:
            yield made
        finally:
            made.shutdown()
            made.server_close()


class QueueStory(MessageStory):
    """OS::Zaqar::Queue and SignedQueueURL."""

    def one(self, **properties: Any) -> dict[str, Any]:
        return {"q": res("Zaqar::Queue", **properties)}

    def test_whole_life(self) -> None:
        mine = name()
        first = {"name": mine, "metadata": {"a/b": 1, "c": {"d": "e"}}}
        ident = self.create(self.one(**first))
        self.assertEqual(mine, self.physical(ident, "q"))
        self.assertIn(mine, self.queues())
        found = self.ask("GET", f"/queues/{mine}")
        self.assertEqual((1, {"d": "e"}), (found["a/b"], found["c"]))
        told = self.heat.resources.get(
            ident, "q", with_attr=["href", "queue_id"]
        ).attributes
        self.assertEqual(mine, told["queue_id"])
        self.post(mine, "kept")
        self.assertEqual(
            200,
            self.cloud.session.get(told["href"], headers=CLIENT).status_code,
        )
        self.update(
            ident,
            self.one(
                name=mine, metadata={"c": 2, "_default_message_ttl": 600}
            ),
        )
        found = self.ask("GET", f"/queues/{mine}")
        self.assertEqual((2, 600), (found["c"], found["_default_message_ttl"]))
        self.assertNotIn("a/b", found)
        stats = self.ask("GET", f"/queues/{mine}/stats")
        self.assertEqual(1, stats["messages"]["total"])
        self.act(ident, "check", "CHECK_COMPLETE")
        self.update(ident, self.one())
        made = self.physical(ident, "q")
        self.assertNotEqual(mine, made)
        self.assertIn(made, self.queues())
        self.assertNotIn(mine, self.queues())
        self.delete(ident)
        self.assertNotIn(made, self.queues())

    def test_changed_and_deleted_by_hand(self) -> None:
        resources = self.one(metadata={"a": 1})
        ident = self.create(resources)
        made = self.physical(ident, "q")
        self.ask("DELETE", f"/queues/{made}")
        self.ask("PUT", f"/queues/{made}", json={"b": 1})
        self.act(ident, "check", "CHECK_COMPLETE")
        reason = self.heat.resources.get(ident, "q").resource_status_reason
        self.assertIn("metadata", reason)
        self.update(ident, resources, converge=True)
        self.assertEqual(1, self.ask("GET", f"/queues/{made}")["a"])
        self.ask("DELETE", f"/queues/{made}")
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, resources)
        self.assertEqual(made, self.physical(ident, "q"))
        self.assertIn(made, self.queues())
        self.assertEqual(1, self.ask("GET", f"/queues/{made}")["a"])

    def test_a_users_own(self) -> None:
        mine = name()
        self.ask("PUT", f"/queues/{mine}", json={"a": 1})
        resources = {"q": {"type": "OS::Zaqar::Queue", "external_id": mine}}
        ident = self.create(resources)
        self.delete(ident)
        self.assertIn(mine, self.queues())
        ident = self.create(resources)
        self.update(ident, self.one(name=mine, metadata={"a": 2}))
        self.assertEqual(2, self.ask("GET", f"/queues/{mine}")["a"])
        self.delete(ident)
        self.assertNotIn(mine, self.queues())
        nowhere = {"q": {"type": "OS::Zaqar::Queue", "external_id": name()}}
        with self.assertRaisesRegex(heat_exc.HTTPBadRequest, "Queue"):
            self.begin(nowhere)

    def test_is_told_of_events(self) -> None:
        """Of a stack that has nothing of the cloud itself."""
        queue = name()
        self.addCleanup(self.ask, "DELETE", f"/queues/{queue}")
        sink = {"type": "zaqar-queue", "target": queue, "ttl": 300}
        ident = self.create(
            {"t": res("Heat::TestResource", value="ok")},
            environment={"event_sinks": [sink]},
        )
        deadline = time.monotonic() + SECONDS
        told: list[dict[str, Any]] = []
        while len(told) < 4 and time.monotonic() < deadline:
            found = self.ask("GET", f"/queues/{queue}/messages")
            told = [each["body"] for each in found["messages"]]
            time.sleep(0.5)
        self.assertEqual(["os.heat.event"] * 4, [e["type"] for e in told])
        payloads = [each["payload"] for each in told]
        self.assertEqual({ident}, {each["stack_id"] for each in payloads})
        self.assertEqual(
            ["COMPLETE", "COMPLETE", "IN_PROGRESS", "IN_PROGRESS"],
            sorted(each["resource_status"] for each in payloads),
        )

    def signed(self, **properties: Any) -> dict[str, Any]:
        return {
            **self.one(),
            "s": res("Zaqar::SignedQueueURL", queue=ref("q"), **properties),
        }

    def used(self, ident: str, method: str, **more: Any) -> requests.Response:
        """Use what was signed, without a token."""
        told = self.heat.resources.get(
            *(ident, "s"), with_attr=["signature", "query_str", "paths"]
        ).attributes
        query = dict(parse.parse_qsl(told["query_str"]))
        self.assertEqual(told["signature"], query["signature"])
        [path] = told["paths"]
        root = parse.urlsplit(self.cloud.message.get_endpoint())
        return requests.request(
            method,
            f"{root.scheme}://{root.netloc}{path}",
            headers={
                **CLIENT,
                "URL-Signature": query["signature"],
                "URL-Expires": query["expires"],
                "URL-Methods": query["methods"],
                "URL-Paths": query["paths"],
                "X-Project-ID": query["project"],
            },
            timeout=SECONDS,
            **more,
        )

    def test_signed(self) -> None:
        ident = self.create(
            self.signed(methods=["GET", "POST"], paths=["messages"], ttl=300)
        )
        sent = {"messages": [{"body": "signed", "ttl": 300}]}
        self.assertEqual(201, self.used(ident, "POST", json=sent).status_code)
        got = self.used(ident, "GET", params={"echo": "true"}).json()
        self.assertEqual(["signed"], [m["body"] for m in got["messages"]])
        self.assertEqual(404, self.used(ident, "DELETE").status_code)
        before = self.physical(ident, "s")
        self.update(ident, self.signed())
        self.assertNotEqual(before, self.physical(ident, "s"))
        self.assertEqual(200, self.used(ident, "GET").status_code)
        self.assertEqual(404, self.used(ident, "POST", json=sent).status_code)

    def test_refusal_in_the_services_words(self) -> None:
        stack = self.wait(
            self.begin(self.signed(paths=["nothing"])), "CREATE_FAILED"
        )
        self.assertIn("Invalid paths", stack.stack_status_reason)


class SubscriptionStory(MessageStory):
    """OS::Zaqar::Subscription."""

    def two(self, **properties: Any) -> dict[str, Any]:
        return {
            "q": res("Zaqar::Queue"),
            "s": res("Zaqar::Subscription", queue_name=ref("q"), **properties),
        }

    def test_whole_life(self) -> None:
        with self.receiver() as receiver:
            ident = self.create(
                self.two(subscriber=f"{receiver.url}/one", ttl=3600)
            )
            queue, made = (self.physical(ident, each) for each in "qs")
            self.post(queue, {"n": 1})
            _headers, got = receiver.wait("/one")
            self.assertEqual({"n": 1}, got["body"])
            self.update(
                ident,
                self.two(
                    subscriber=f"{receiver.url}/two",
                    options={"post_headers": {"X-Story": "told"}},
                ),
            )
            self.assertEqual(made, self.physical(ident, "s"))
            found = self.subscription(queue, made)
            assert found is not None
            self.assertEqual(220367260800, found["ttl"])
            self.post(queue, {"n": 2})
            headers, got = receiver.wait("/two")
            self.assertEqual({"n": 2}, got["body"])
            self.assertEqual("told", headers["X-Story"])
            self.assertEqual(1, len(receiver.got[:-1]))
        self.act(ident, "check", "CHECK_COMPLETE")
        moved = self.two(subscriber="mailto:nobody@example.com")
        moved["q"]["properties"]["name"] = name()
        self.update(ident, moved)
        after = self.physical(ident, "s")
        self.assertNotEqual(made, after)
        self.assertIsNone(self.subscription(queue, made))
        queue = self.physical(ident, "q")
        self.assertIsNotNone(self.subscription(queue, after))
        self.delete(ident)
        self.assertIsNone(self.subscription(queue, after))

    def test_with_a_trust(self) -> None:
        """What it is sent comes with a token of the user's."""
        with self.receiver() as receiver:
            plain = self.two(subscriber=f"{receiver.url}/plain")
            ident = self.create(plain)
            before = self.physical(ident, "s")
            trusted = self.two(subscriber=f"trust+{receiver.url}/trusted")
            # Only who subscribes gives a trust.
            self.update(ident, trusted)
            made = self.physical(ident, "s")
            self.assertNotEqual(before, made)
            queue = self.physical(ident, "q")
            self.post(queue, 1)
            headers, _got = receiver.wait("/trusted")
            self._is_the_users(headers["X-Auth-Token"])
            # A change leaves the trust where it is.
            trusted["s"]["properties"]["options"] = {
                "post_headers": {"X-Story": "told"}
            }
            self.update(ident, trusted)
            self.assertEqual(made, self.physical(ident, "s"))
            receiver.got.clear()
            self.post(queue, 2)
            headers, _got = receiver.wait("/trusted")
            self._is_the_users(headers["X-Auth-Token"])
            self.assertEqual("told", headers["X-Story"])
            # Nor does it pass for a difference.
            self.act(ident, "check", "CHECK_COMPLETE")
            found = self.heat.resources.get(ident, "s")
            self.assertNotIn("differ", found.resource_status_reason)

    def _is_the_users(self, token: str) -> None:
        told = (
            cloud.administrator()
            .session.get(
                f"{self.running.auth_url}/auth/tokens",
                headers={"X-Subject-Token": token},
            )
            .json()["token"]
        )
        self.assertEqual(self.cloud.current_user_id, told["user"]["id"])
        self.assertEqual(self.cloud.current_project_id, told["project"]["id"])

    def test_several_with_trusts_at_once(self) -> None:
        resources = {"q": res("Zaqar::Queue")}
        for number in range(3):
            resources[f"s{number}"] = res(
                "Zaqar::Subscription",
                queue_name=ref("q"),
                subscriber=f"trust+http://127.0.0.1:9/{number}",
            )
        self.create(resources)

    def test_deleted_by_hand(self) -> None:
        told = {"post_headers": {"X-Story": "told"}}
        resources = self.two(subscriber="http://127.0.0.1:9/", options=told)
        ident = self.create(resources)
        queue, made = (self.physical(ident, each) for each in "qs")
        path = f"/queues/{queue}/subscriptions/{made}"
        self.ask("PATCH", path, json={"options": {"a": "b"}})
        self.act(ident, "check", "CHECK_COMPLETE")
        reason = self.heat.resources.get(ident, "s").resource_status_reason
        self.assertIn("options", reason)
        self.update(ident, resources, converge=True)
        found = self.subscription(queue, made)
        assert found is not None
        self.assertEqual(told, found["options"])
        self.ask("DELETE", path)
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, resources)
        after = self.physical(ident, "s")
        self.assertNotEqual(made, after)
        self.assertIsNotNone(self.subscription(queue, after))

    def test_refusal_in_the_services_words(self) -> None:
        stack = self.wait(
            self.begin(self.two(subscriber="nonsense:1")), "CREATE_FAILED"
        )
        self.assertIn("subscriber type", stack.stack_status_reason)
        with self.assertRaisesRegex(heat_exc.HTTPBadRequest, "queue_name"):
            self.begin(
                {
                    "s": res(
                        "Zaqar::Subscription",
                        queue_name="not a name",
                        subscriber="http://127.0.0.1:9/",
                    )
                }
            )
