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

"""Both buses run the same table: calls, casts, errors, versions."""

from __future__ import annotations

import datetime
import inspect
import os
import re
import threading
import uuid

import fixtures
import oslo_messaging
from oslo_config import cfg
from oslo_context import context as oslo_context

from heat.common import context, exception
from heat.rpc import clients, local, notifier, transport
from heat.tests import base

RABBIT = os.environ.get("HEAT_TEST_RABBIT_URL")
REQUIRED = os.environ.get("HEAT_TEST_REQUIRE_SERVICES") == "1"


def sample(cls):
    """An error of this class, made the way its users make it."""
    special = {
        "ImmutableParameterModified": lambda: cls("p1", "p2"),
        "ResourcePropertyConflict": lambda: cls("a", "b"),
        "PropertyUnspecifiedError": lambda: cls("a", "b"),
        "StackResourceLimitExceeded": lambda: cls(limit=7),
        "ResourceFailure": lambda: cls(
            exception.StackValidationFailed("E", ["properties", "x"], "bad"),
            None,
            "CREATE",
        ),
        "AuthorizationFailure": lambda: cls("no token"),
        "Forbidden": lambda: cls("stack update"),
        "UpdateReplace": lambda: cls("server"),
        "UpdateInProgress": lambda: cls("server"),
        "ResourceInError": lambda: cls("No valid host", "ERROR"),
        "ResourceUnknownStatus": lambda: cls("it", "STRANGE", "why"),
    }
    if cls.__name__ in special:
        return special[cls.__name__]()
    if issubclass(cls, exception.HeatExceptionWithPath):
        return cls("Property error", ["resources", "r", "0"], "too\nlong")
    if "message" in inspect.signature(cls.__init__).parameters:
        return cls("free text: 100%")
    # Objects that are no plain values may stand in a message.
    names = re.findall(r"%\((\w+)\)", cls.msg_fmt)
    return cls(**{name: ValueError(f"the {name}") for name in names})


def all_errors():
    for name, cls in sorted(vars(exception).items()):
        if inspect.isclass(cls) and issubclass(cls, Exception):
            if cls.__module__ == exception.__name__ and name[0] != "_":
                yield cls


class Endpoint:
    target = transport.make_target("1.5")

    def __init__(self):
        self.seen = []
        self.arrived = threading.Event()
        self.go_on = threading.Event()

    def echo(self, ctxt, value, extra=None):
        return {"value": value, "extra": extra, "project": ctxt.project_id}

    def identity(self, ctxt):
        assert isinstance(ctxt, context.RequestContext)
        return [ctxt.user_id, ctxt.roles, ctxt.trust_id, ctxt.request_id]

    def a_tuple(self, ctxt):
        return {1: (2, None)}

    def what_is_plain(self, ctxt):
        return transport.Plain(a=[1, {"b": None}])

    def a_time(self, ctxt):
        return datetime.datetime(2024, 2, 29, 12, 0, 0)

    def note(self, ctxt, value):
        self.seen.append(value)
        self.arrived.set()

    def slow_note(self, ctxt, value):
        self.arrived.set()
        self.go_on.wait(10)
        self.seen.append(value)

    def fail(self, ctxt, name):
        cls = getattr(exception, name)
        try:
            raise sample(cls)
        except Exception as exc:
            raise transport.ExpectedException() from exc

    def fail_builtin(self, ctxt):
        raise ValueError("no such thing")

    def fail_chained(self, ctxt):
        try:
            raise OSError("cause")
        except OSError as exc:
            raise exception.NotFound("over\ntwo lines") from exc

    def fail_foreign(self, ctxt):
        raise oslo_messaging.InvalidTarget("odd", "target")

    def _private(self, ctxt):
        return "secret"


class OtherEndpoint:
    target = transport.make_target("1.5")

    def other(self, ctxt):
        return "other"


class BusTable:
    """The table; sub-classes give ``make_bus``."""

    def setUp(self):
        super().setUp()
        self.bus = self.make_bus()
        self.addCleanup(self.bus.close)
        self.topic = f"heat-test-{uuid.uuid4()}"
        self.endpoint = Endpoint()
        self.server = self.serve(self.endpoint, OtherEndpoint())
        self.client = self.bus.client(self.topic)
        self.ctx = context.RequestContext(
            user_id="u1", project_id="p1", roles=["member"], trust_id="t1"
        )

    def serve(self, *endpoints, name="node-1"):
        server = self.bus.serve(self.topic, name, endpoints)
        server.start()
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        return server

    def call(self, method, version=None, **args):
        return self.client.call(
            self.ctx, method, args, version=version, timeout=10
        )

    def test_call_answers(self):
        self.assertEqual(
            {"value": {"a": [1, None]}, "extra": None, "project": "p1"},
            self.call("echo", value={"a": [1, None]}),
        )

    def test_second_endpoint(self):
        self.assertEqual("other", self.call("other"))

    def test_context_travels(self):
        self.assertEqual(
            ["u1", ["member"], "t1", self.ctx.request_id],
            self.call("identity"),
        )

    def test_unknown_keys_of_a_context_are_ignored(self):
        ctx = self.ctx.to_dict()
        ctx["another_make"] = {"x": 1}
        answer = self.client.call(ctx, "identity", {}, timeout=10)
        self.assertEqual("u1", answer[0])

    def test_current_context_is_left_alone(self):
        mine = context.RequestContext(user_id="me")
        self.call("echo", value=1)
        self.assertIs(mine, oslo_context.get_current())

    def test_answers_are_json(self):
        self.assertEqual({"1": [2, None]}, self.call("a_tuple"))
        self.assertIn("2024-02-29T12:00:00", self.call("a_time"))
        self.assertEqual({"a": [1, {"b": None}]}, self.call("what_is_plain"))

    def test_cast_arrives(self):
        self.client.cast(self.ctx, "note", {"value": [1]})
        self.assertTrue(self.endpoint.arrived.wait(10))
        self.assertEqual([[1]], self.endpoint.seen)

    def test_named_server(self):
        other = Endpoint()
        self.serve(other, name="node-2")
        client = self.bus.client(self.topic, server="node-2")
        for value in range(3):
            client.call(self.ctx, "note", {"value": value}, timeout=10)
        self.assertEqual([0, 1, 2], other.seen)
        self.assertEqual([], self.endpoint.seen)

    def test_servers_take_turns(self):
        other = Endpoint()
        self.serve(other, name="node-2")
        for value in range(4):
            self.call("note", value=value)
        seen = self.endpoint.seen + other.seen
        self.assertEqual([0, 1, 2, 3], sorted(seen))
        self.assertTrue(self.endpoint.seen and other.seen)

    def test_versions(self):
        for asked, served in (
            (None, True),
            ("1.0", True),
            ("1.5", True),
            ("1.6", False),
            ("2.0", False),
        ):
            with self.subTest(asked=asked):
                if served:
                    self.call("echo", version=asked, value=1)
                else:
                    error = self.assertRaises(
                        oslo_messaging.RemoteError,
                        self.call,
                        "echo",
                        version=asked,
                        value=1,
                    )
                    self.assertEqual("UnsupportedVersion", error.exc_type)

    def test_methods_that_are_none(self):
        for method in ("_private", "missing"):
            with self.subTest(method=method):
                error = self.assertRaises(
                    oslo_messaging.RemoteError, self.call, method
                )
                self.assertEqual("NoSuchMethod", error.exc_type)

    def test_unknown_argument(self):
        error = self.assertRaises(TypeError, self.call, "echo", nonsense=1)
        self.assertIn("nonsense", str(error))

    def test_errors_survive(self):
        """Class, text and nothing else, for every class that there is."""
        names = []
        for cls in all_errors():
            with self.subTest(cls=cls.__name__):
                error = self.assertRaises(
                    cls, self.call, "fail", name=cls.__name__
                )
                self.assertIs(cls, type(error))
                self.assertEqual(str(sample(cls)), str(error))
                names.append(cls.__name__)
        self.assertIn("StackValidationFailed", names)
        self.assertIn("EntityNotFound", names)

    def test_fields_of_errors_survive(self):
        error = self.assertRaises(
            exception.StackValidationFailed,
            self.call,
            "fail",
            name="StackValidationFailed",
        )
        self.assertEqual(["resources", "r", "0"], error.path)
        self.assertEqual("too\nlong", error.error_message)

    def test_builtin_error(self):
        error = self.assertRaises(ValueError, self.call, "fail_builtin")
        self.assertIs(ValueError, type(error))
        self.assertEqual("no such thing", str(error))

    def test_chained_error(self):
        error = self.assertRaises(
            exception.NotFound, self.call, "fail_chained"
        )
        self.assertEqual("over\ntwo lines", str(error))

    def test_error_of_a_foreign_module(self):
        error = self.assertRaises(
            oslo_messaging.RemoteError, self.call, "fail_foreign"
        )
        self.assertEqual("InvalidTarget", error.exc_type)

    def test_nobody_there(self):
        client = self.bus.client(f"{self.topic}-none")
        self.assertRaises(
            transport.MessagingTimeout,
            client.call,
            self.ctx,
            "echo",
            {"value": 1},
            timeout=1,
        )
        client.cast(self.ctx, "note", {"value": 1})

    def test_stop_drains(self):
        self.client.cast(self.ctx, "slow_note", {"value": 7})
        self.assertTrue(self.endpoint.arrived.wait(10))
        self.server.stop()
        waiter = threading.Thread(target=self.server.wait)
        waiter.start()
        self.endpoint.go_on.set()
        waiter.join(10)
        self.assertFalse(waiter.is_alive())
        self.assertEqual([7], self.endpoint.seen)

    def test_listening(self):
        ctx = self.ctx

        class Listener:
            target = transport.make_target("1.0")

            def listening(self, ctxt):
                return True

        server = self.bus.serve(
            "heat-engine-listener", self.topic, [Listener()]
        )
        server.start()
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        there = clients.ListenerClient(self.bus, self.topic)
        self.assertTrue(there.listening(ctx, timeout=10))
        absent = clients.ListenerClient(self.bus, f"{self.topic}-absent")
        self.assertFalse(absent.listening(ctx, timeout=1))


class WireTest(base.TestCase):
    """An error is made anew as cls(*args, **kwargs), in any make."""

    def test_free_text_is_positional(self):
        for cls in (exception.NotFound, exception.Error):
            error = cls("it is gone")
            self.assertEqual(("it is gone",), error.args)
            self.assertEqual({}, error.kwargs)
            self.assertEqual("it is gone", str(cls(*error.args)))

    def test_others_have_names(self):
        error = exception.EntityNotFound(entity="Stack", name="s")
        self.assertEqual((), error.args)
        self.assertEqual({"entity": "Stack", "name": "s"}, error.kwargs)


class LocalBusTest(BusTable, base.TestCase):
    def make_bus(self):
        return local.LocalBus(threads=4)

    def test_cast_after_close_is_lost(self):
        self.bus.close()
        self.client.cast(self.ctx, "note", {"value": 1})
        self.assertEqual([], self.endpoint.seen)


class MessagingBusTest(BusTable, base.TestCase):
    def make_bus(self):
        if not RABBIT:
            if REQUIRED:
                self.fail("HEAT_TEST_RABBIT_URL is not set")
            self.skipTest("HEAT_TEST_RABBIT_URL is not set")
        conf = cfg.ConfigOpts()
        conf([], project="heat", default_config_files=[])
        return transport.MessagingBus(conf, url=RABBIT)

    def test_errors_survive_for_other_makes(self):
        """Another make sees the class too, by oslo.messaging's own rules."""
        raw = self.client._client
        for cls in all_errors():
            with self.subTest(cls=cls.__name__):
                error = self.assertRaises(
                    cls,
                    raw.prepare(timeout=10).call,
                    self.ctx,
                    "fail",
                    name=cls.__name__,
                )
                self.assertEqual(
                    f"{cls.__name__}_Remote", type(error).__name__
                )


class ExchangeTest(base.TestCase):
    """Other makes look for the service's messages in the exchange heat."""

    def conf(self, *lines):
        conf = cfg.ConfigOpts()
        path = self.useFixture(fixtures.TempDir()).join("heat.conf")
        with open(path, "w") as file:
            file.write("\n".join(("[DEFAULT]", *lines)))
        conf([], project="heat", default_config_files=[path])
        return conf

    def test_bus(self):
        conf = self.conf()
        bus = transport.MessagingBus(conf, url="fake://")
        self.addCleanup(bus.close)
        self.assertEqual("heat", conf.control_exchange)

    def test_notifications(self):
        conf = self.conf()
        notifier.make(conf)
        self.assertEqual("heat", conf.control_exchange)

    def test_operator_decides(self):
        conf = self.conf("control_exchange = mine")
        bus = transport.MessagingBus(conf, url="fake://")
        self.addCleanup(bus.close)
        self.assertEqual("mine", conf.control_exchange)
