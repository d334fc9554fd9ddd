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

"""What others are told of stacks: notifications, sinks, lifecycle plug-ins."""

from __future__ import annotations

import time
import uuid

import oslo_messaging
from oslo_config import cfg
from oslo_messaging.notify import _impl_test

from heat.common import config, exception
from heat.db import events
from heat.engine import plugins
from heat.engine.clients import registry
from heat.engine.environment import registry as env_registry
from heat.engine.environment import shared
from heat.engine.stack import actions, event_sinks, publish, signals
from heat.rpc import notifier
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine.stack import test_autoscaling as scaling
from heat.tests.unit.engine.stack import test_groups as groups
from heat.tests.unit.engine.stack import test_nested as nested

hot, res = nested.hot, nested.res


class Sink:
    """Keeps what it gets; the last one made is :attr:`made`."""

    made: list[Sink] = []

    def __init__(self, target, fail=False):
        self.target, self.fail, self.seen = target, fail, []
        Sink.made.append(self)

    def consume(self, context, event):
        if self.fail:
            raise RuntimeError("the queue is on fire")
        self.seen.append((context, event))


class Lifecycle:
    """Writes down what it is asked and told."""

    def __init__(self, name, seen, ordinal=100, refuse=(), fail=False):
        self.name, self.seen, self.ordinal = name, seen, ordinal
        self.refuse, self.fail = refuse, fail

    def get_ordinal(self):
        return self.ordinal

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.seen.append((self.name, "pre", action, sorted(stack)))
        if action in self.refuse:
            raise RuntimeError("not on a Sunday")

    def do_post_op(
        self,
        cnxt,
        stack,
        current_stack=None,
        action=None,
        is_stack_failure=False,
    ):
        self.seen.append((self.name, "post", action, is_stack_failure))
        if self.fail:
            raise RuntimeError("nobody minds")


class PublishTest(groups.GroupTest):
    def setUp(self):
        super().setUp()
        self.told = []
        Sink.made = []
        self.engine.plugins.event_sinks["keep"] = Sink
        self.addCleanup(self.engine.plugins.event_sinks.clear)
        self.addCleanup(setattr, self.engine.plugins, "lifecycle", [])
        self.publisher = publish.Publisher(
            self.engine, lambda *told: self.told.append(told)
        )
        self.publisher.start()
        self.stopped = False
        self.addCleanup(self.stop)

    def stop(self):
        """Wait until everything is told."""
        if not self.stopped:
            self.stopped = True
            self.publisher.stop(30)

    def signal(self, stack):
        record = self.world.stack(stack)
        signals.signal(self.engine, self.context, record, "p", None)
        self.world.run()

    def names(self):
        self.stop()
        return [name for name, _payload, _error in self.told]


class NotificationTest(PublishTest):
    def test_a_life(self):
        stack = self.make(
            hot({"a": res()}) | {"description": "d"}, tags=["x", "y"]
        )
        actions.check(self.engine, self.context, self.world.stack(stack))
        self.world.run()
        self.delete(stack)
        self.world.run()
        self.assertEqual(
            [
                f"orchestration.stack.{action}.{when}"
                for action in ("create", "check", "delete")
                for when in ("start", "end")
            ],
            self.names(),
        )
        _name, payload, error = self.told[1]
        self.assertFalse(error)
        self.assertEqual(
            {
                "tenant_id",
                "user_id",
                "user_identity",
                "username",
                "stack_identity",
                "stack_name",
                "state",
                "state_reason",
                "create_at",
                "description",
                "updated_at",
                "tags",
            },
            set(payload),
        )
        self.assertEqual("CREATE_COMPLETE", payload["state"])
        self.assertEqual("d", payload["description"])
        self.assertEqual(["x", "y"], payload["tags"])
        self.assertEqual("user", payload["username"])
        self.assertRegex(payload["stack_identity"], f"^arn:.*{stack}$")

    def test_a_failure(self):
        self.begin(hot({"a": res(fail=True)}))
        self.world.run()
        self.assertEqual("orchestration.stack.create.error", self.names()[1])
        _name, payload, error = self.told[1]
        self.assertTrue(error)
        self.assertEqual("CREATE_FAILED", payload["state"])
        self.assertIn("a", payload["state_reason"])

    def test_a_group_that_grows(self):
        stack = self.make(scaling.template(2))
        self.signal(stack)
        self.assertEqual(3, len(self.members(stack)))
        self.stop()
        told = [each for each in self.told if "autoscaling" in each[0]]
        self.assertEqual(
            [
                "orchestration.autoscaling.start",
                "orchestration.autoscaling.end",
            ],
            [name for name, _payload, _error in told],
        )
        payload = told[0][1]
        self.assertEqual(2, payload["adjustment"])
        self.assertEqual("change_in_capacity", payload["adjustment_type"])
        self.assertEqual(3, payload["capacity"])
        self.assertEqual("stack", payload["stack_name"])
        self.assertIn(payload["groupname"], payload["message"])

    def test_a_group_that_can_not_grow(self):
        member = res("m", fail=True)
        stack = self.make(
            scaling.template(member=member, min_size=0, desired_capacity=0)
        )
        self.signal(stack)
        self.stop()
        names = [each[0] for each in self.told if "autoscaling" in each[0]]
        self.assertEqual("orchestration.autoscaling.error", names[-1])

    def test_other_updates_of_a_group_are_no_scaling(self):
        stack = self.make(scaling.template())
        self.update(stack, scaling.template(desired_capacity=3))
        self.assertNotIn("orchestration.autoscaling.start", self.names())

    def test_nobody_listens(self):
        self.stop()
        asked = publish.Publisher(self.engine)
        asked.start()
        stack = self.make(hot({"a": res()}))
        asked.stop(30)
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual([], self.told)


class NotifierTest(base.TestCase):
    def conf(self, **options):
        conf = cfg.ConfigOpts()
        config.register(conf)
        conf(
            [],
            project="heat",
            default_config_files=[],
            default_config_dirs=[],
        )
        oslo_messaging.get_notification_transport(conf)
        conf.set_override(
            "driver", ["test"], group="oslo_messaging_notifications"
        )
        for name, value in options.items():
            conf.set_override(name, value)
        self.addCleanup(_impl_test.reset)
        return conf

    def sent(self, error=False, **options):
        _impl_test.reset()
        notifier.make(self.conf(**options))("a.b", {"k": 1}, error)
        [(_context, message, level, _retry)] = _impl_test.NOTIFICATIONS
        return message, level

    def test_the_options(self):
        message, level = self.sent(host="h")
        self.assertEqual("h", message["publisher_id"])
        self.assertEqual("INFO", message["priority"])
        self.assertEqual({"k": 1}, message["payload"])
        message, level = self.sent(
            default_publisher_id="p", default_notification_level="WARN"
        )
        self.assertEqual(("p", "WARN"), (message["publisher_id"], level))

    def test_errors_are_errors(self):
        self.assertEqual("ERROR", self.sent(error=True)[1])

    def test_a_level_that_is_none(self):
        level = self.sent(default_notification_level="LOUD")[1]
        self.assertEqual("INFO", level)

    def test_no_driver(self):
        conf = self.conf()
        conf.set_override("driver", [], group="oslo_messaging_notifications")
        self.assertIsNone(notifier.make(conf))


class SinkTest(PublishTest):
    def make_with(self, *sinks, template=None, **env):
        env["event_sinks"] = list(sinks)
        return self.make(template or hot({"a": res()}), params=env)

    def kept(self, number=0):
        self.stop()
        return [
            (
                each["payload"]["resource_name"],
                each["payload"]["resource_status"],
            )
            for _context, each in Sink.made[number].seen
        ]

    def test_its_stack_keeps_what_sinks_are_called_with(self):
        """A stack without any object of a service, too."""
        asked = []

        class Delegation:
            def ensure(self, context, stack, tree):
                asked.append(tree.uses_cloud)

        self.addCleanup(setattr, self.engine, "delegation", None)
        self.engine.delegation = Delegation()
        self.delete(self.make(hot({"a": res()})))
        self.world.run()
        self.make_with({"type": "keep", "target": "q"})
        self.assertEqual([False, True], asked)

    def test_every_event_in_order(self):
        stack = self.make_with({"type": "keep", "target": "q"})
        self.assertEqual(
            [
                ("stack", "IN_PROGRESS"),
                ("a", "IN_PROGRESS"),
                ("a", "COMPLETE"),
                ("stack", "COMPLETE"),
            ],
            self.kept(),
        )
        sink = Sink.made[0]
        self.assertEqual("q", sink.target)
        context, event = sink.seen[2]
        self.assertEqual(self.context.project_id, context.project_id)
        self.assertEqual("os.heat.event", event["type"])
        self.assertEqual(stack, event["payload"]["stack_id"])
        self.assertEqual("CREATE", event["payload"]["resource_action"])
        self.assertEqual(
            "OS::Heat::TestResource", event["payload"]["resource_type"]
        )
        stored = self.world.db.read(lambda conn: ids_of(conn, stack))
        self.assertEqual(stored, [each["id"] for _context, each in sink.seen])

    def wait_until_told(self, count):
        """What is told later has the sinks that the stack has then."""
        until = time.monotonic() + 60
        while sum(len(each.seen) for each in Sink.made) < count:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def test_an_update_has_other_sinks(self):
        stack = self.make_with({"type": "keep", "target": "q"})
        self.wait_until_told(4)
        self.update(
            stack,
            hot({"a": res("new")}),
            params={"event_sinks": [{"type": "keep", "target": "r"}]},
        )
        self.stop()
        self.assertEqual(["q", "r"], [each.target for each in Sink.made])
        self.assertEqual(4, len(Sink.made[0].seen))
        self.assertEqual(4, len(Sink.made[1].seen))

    def test_the_nested_stack_tells_as_well(self):
        self.make_with(
            {"type": "keep", "target": "q"},
            template=hot({"n": nested.nest(word="w")}),
        )
        self.stop()
        names = {
            event["payload"]["resource_name"]
            for sink in Sink.made
            for _context, event in sink.seen
        }
        self.assertIn("in", names)

    def test_one_that_fails_and_one_that_is_none(self):
        stack = self.make_with(
            {"type": "keep", "target": "q", "fail": True},
            {"type": "pigeon", "target": "q"},
            {"type": "keep"},
            "nonsense",
            {"type": "keep", "target": "r"},
        )
        self.assertState("CREATE_COMPLETE", stack)
        self.stop()
        self.assertEqual(["q", "r"], [each.target for each in Sink.made])
        self.assertEqual(4, len(Sink.made[1].seen))

    def test_the_operator_s_sinks(self):
        self.addCleanup(shared.install, None)
        shared.install(
            shared.Shared(
                env_registry.Registry({}),
                event_sinks=({"type": "keep", "target": "all"},),
            )
        )
        self.make(hot({"a": res()}))
        self.assertEqual(4, len(self.kept()))

    def test_what_it_costs(self):
        """Statements for each action of a stack, none for a resource."""
        self.stop()
        quiet = publish.Publisher(self.engine, None)
        read = self.engine.db.read
        quiet_reads, stack_id = [], str(uuid.uuid4())

        def count(work):
            quiet_reads.append(work)
            return read(work)

        rows = [
            {
                "stack_id": stack_id,
                "uuid": str(number),
                "resource_type": "T",
                "resource_status": "COMPLETE",
                "physical_resource_id": "p",
            }
            for number in range(100)
        ]
        self.engine.db.read = count
        self.addCleanup(setattr, self.engine.db, "read", read)
        quiet._tell_all(rows)
        # Whose stack it is, and the sinks of that.
        self.assertEqual(2, len(quiet_reads))


def ids_of(conn, stack_id):
    return [
        each.uuid for each in events.list_(conn, [stack_id], sort_keys=["id"])
    ]


class ZaqarSinkTest(base.TestCase):
    def test_a_message(self):
        fake = self.useFixture(cloud.Cloud())
        posted = []

        class Zaqar:
            def __init__(self, context):
                self.context = context

            def post(self, queue, body, ttl):
                posted.append((self.context.project_id, queue, body, ttl))

        registry.register("zaqar", Zaqar)
        self.addCleanup(registry._plugins.pop, "zaqar")
        sinks = event_sinks.make(
            [
                {"type": "zaqar-queue", "target": "q", "ttl": 60},
                {"type": "zaqar-queue", "target": "r"},
            ],
            {},
        )
        for sink in sinks:
            sink.consume(fake.context, {"id": "1"})
        self.assertEqual(
            [
                (cloud.PROJECT, "q", {"id": "1"}, 60),
                (cloud.PROJECT, "r", {"id": "1"}, 3600),
            ],
            posted,
        )


class LifecycleTest(PublishTest):
    def setUp(self):
        super().setUp()
        self.seen = []

    def have(self, *given):
        self.engine.plugins.lifecycle = plugins.in_order(given)

    def test_before_and_after_in_order(self):
        self.have(
            Lifecycle("second", self.seen, 200),
            Lifecycle("first", self.seen, 50, fail=True),
        )
        stack = self.make(hot({"a": res()}))
        self.update(stack, hot({"a": res(), "b": res()}))
        self.delete(stack)
        self.world.run()
        self.stop()
        self.assertEqual(
            [
                (name, "pre", action, names)
                for action, names in (
                    ("CREATE", ["a"]),
                    ("UPDATE", ["a", "b"]),
                    ("DELETE", ["a", "b"]),
                )
                for name in ("first", "second")
            ],
            [each for each in self.seen if each[1] == "pre"],
        )
        self.assertEqual(
            [
                (name, "post", action, False)
                for action in ("CREATE", "UPDATE", "DELETE")
                for name in ("first", "second")
            ],
            [each for each in self.seen if each[1] == "post"],
        )

    def test_a_failure_is_told(self):
        self.have(Lifecycle("it", self.seen))
        self.begin(hot({"a": res(fail=True)}))
        self.world.run()
        self.stop()
        self.assertIn(("it", "post", "CREATE", True), self.seen)

    def test_a_refusal(self):
        self.have(
            Lifecycle("asked", self.seen, 1),
            Lifecycle("no", self.seen, 2, refuse=("CREATE", "SUSPEND")),
            Lifecycle("never", self.seen, 3),
        )
        with self.assertRefused("Sunday"):
            self.begin(hot({"a": res()}))
        self.assertEqual(
            [
                ("asked", "pre", "CREATE", ["a"]),
                ("no", "pre", "CREATE", ["a"]),
                ("asked", "post", "CREATE", True),
            ],
            self.seen,
        )
        self.have()
        stack = self.make(hot({"a": res()}))
        self.have(Lifecycle("no", self.seen, refuse=("SUSPEND",)))
        with self.assertRefused("Sunday"):
            actions.suspend(self.engine, self.context, self.world.stack(stack))
        self.assertState("CREATE_COMPLETE", stack)

    def test_its_own_words(self):
        class Forbid:
            def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
                raise exception.Forbidden()

        self.have(Forbid())
        with self.assertRefused(error=exception.Forbidden):
            self.begin(hot({"a": res()}))
