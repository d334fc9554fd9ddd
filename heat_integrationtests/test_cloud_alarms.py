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

"""Stories of alarms in a real alarm service.

What goes off there is told to a policy, and a group grows. Aodh's listener
gets its events as from Ceilometer, by the bus that
``HEAT_TEST_CLOUD_EVENTS_URL`` names.
"""

from __future__ import annotations

import datetime
import json
import os
import uuid
from typing import Any

import oslo_messaging
from oslo_config import cfg

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import network, ref, res
from heat_integrationtests.test_cloud_signals import SignedStory

EVENTS = "HEAT_TEST_CLOUD_EVENTS_URL"
#: What Aodh's listener reads.
TOPIC = "alarm.all"
NIGHT = {
    "name": "night",
    "start": "0 23 * * *",
    "duration": 3600,
    "timezone": "Europe/Vienna",
}
RULES = [
    {
        "type": "gnocchi_resources_threshold",
        "metric": metric,
        "resource_type": "instance",
        "resource_id": "none",
        "aggregation_method": "mean",
        "threshold": 1,
        "comparison_operator": "gt",
    }
    for metric in ("cpu", "memory")
]


def told(resource: str, attribute: str) -> dict[str, Any]:
    return {"get_attr": [resource, attribute]}


GROUP = res(
    "Heat::AutoScalingGroup",
    min_size=1,
    max_size=5,
    resource=res("Heat::RandomString"),
)
GROW = {
    "auto_scaling_group_id": ref("group"),
    "adjustment_type": "change_in_capacity",
    "scaling_adjustment": 1,
}
SIZE = {
    "outputs": {
        "size": {"value": told("group", "current_size")},
        "url": {"value": told("policy", "alarm_url")},
    }
}


class Alarms:
    """The service's own answers, of one user."""

    def __init__(self, connection: Any) -> None:
        self.api = connection.alarm

    def shown(self, ident: str) -> dict[str, Any]:
        answer = self.api.get(f"/alarms/{ident}")
        answer.raise_for_status()
        return dict(answer.json())

    def is_there(self, ident: str) -> bool:
        return bool(self.api.get(f"/alarms/{ident}").status_code == 200)

    def create(self, **body: Any) -> str:
        answer = self.api.post("/alarms", json=body)
        answer.raise_for_status()
        return str(answer.json()["alarm_id"])

    def delete(self, ident: str) -> None:
        self.api.delete(f"/alarms/{ident}")

    def set_state(self, ident: str, state: str) -> None:
        answer = self.api.put(f"/alarms/{ident}/state", json=state)
        answer.raise_for_status()


class ScalingStory(SignedStory):
    """A group that grows when something happens in the cloud."""

    def setUp(self) -> None:
        super().setUp()
        self.alarms = Alarms(self.cloud)
        cloud.check_environment(EVENTS)
        url = os.environ[EVENTS]
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[])
        transport = oslo_messaging.get_notification_transport(conf, url)
        self.addCleanup(transport.cleanup)
        self.bus = oslo_messaging.Notifier(
            transport, "story", driver="messagingv2", topics=[TOPIC]
        )
        self.tag = uuid.uuid4().hex[:8]

    def happens(self, what: str) -> None:
        """Tell of something, as Ceilometer does."""
        traits = [
            ["project_id", 1, self.cloud.current_project_id],
            ["tag", 1, self.tag],
        ]
        event = {
            "event_type": f"story.{what}",
            "message_id": str(uuid.uuid4()),
            "traits": traits,
        }
        self.bus.sample({}, "event", event)

    def alarm(self, what: str, *actions: Any) -> dict[str, Any]:
        return res(
            "Aodh::EventAlarm",
            event_type=f"story.{what}",
            query=[{"field": "traits.tag", "op": "eq", "value": self.tag}],
            alarm_actions=list(actions),
        )

    def resources(self) -> dict[str, Any]:
        with_token = {
            "list_join": ["", ["trust+", told("policy", "signal_url")]]
        }
        return {
            "group": GROUP,
            "policy": res("Heat::ScalingPolicy", **GROW),
            "signed": self.alarm("signed", told("policy", "alarm_url")),
            "trusting": self.alarm("trusting", with_token),
        }

    def size(self, ident: str) -> str:
        return self.reference(ident, "size")

    def grows(self, ident: str, what: str, size: int) -> None:
        self.happens(what)
        self.eventually(lambda: self.size(ident) == str(size), what)
        self.wait(ident, "UPDATE_COMPLETE")

    def test_a_group_grows(self) -> None:
        ident = self.create(self.resources(), sections=SIZE)
        self.assertEqual("1", self.size(ident))
        self.grows(ident, "signed", 2)
        alarm = self.physical(ident, "signed")
        self.assertEqual("alarm", self.alarms.shown(alarm)["state"])

        # What the service sends when all is well again, or nobody knows.
        for state in ("ok", "insufficient data"):
            answer = self.put(
                self.reference(ident, "url"),
                {
                    "alarm_id": alarm,
                    "alarm_name": "signed",
                    "severity": "low",
                    "previous": "alarm",
                    "current": state,
                    "reason": "Manually set via API",
                    "reason_data": {"type": "event"},
                },
                "POST",
            )
            self.assertEqual(200, answer.status_code, answer.text)

        # By heat-api, with a token of the user's trust.
        self.grows(ident, "trusting", 3)
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        self.assertFalse(self.alarms.shown(alarm)["enabled"])
        self.act(ident, "resume", "RESUME_COMPLETE")
        self.assertTrue(self.alarms.shown(alarm)["enabled"])
        self.assertEqual("3", self.size(ident))


class MeasuredStory(SignedStory):
    """What is measured in the cloud decides on the size of a group."""

    def setUp(self) -> None:
        super().setUp()
        self.alarms = Alarms(self.cloud)
        self.measured = self.measure(7.0)

    def ask(self, path: str, body: Any) -> Any:
        answer = self.cloud.session.post(
            f"/v1{path}",
            endpoint_filter={"service_type": "metric"},
            json=body,
            raise_exc=False,
        )
        self.assertLess(answer.status_code, 300, answer.text)
        return answer.json() if answer.content else None

    def measure(self, value: float) -> dict[str, Any]:
        """Something that has just been measured, as Gnocchi shows it."""
        found = self.ask(
            "/resource/generic",
            {
                "id": str(uuid.uuid4()),
                "project_id": self.cloud.current_project_id,
                "metrics": {"load": {"archive_policy_name": "medium"}},
            },
        )
        now = datetime.datetime.now(datetime.UTC).isoformat()
        self.ask(
            f"/resource/generic/{found['id']}/metric/load/measures",
            [{"timestamp": now, "value": value}],
        )
        return dict(found)

    def resources(self, threshold: float) -> dict[str, Any]:
        ident = self.measured["id"]
        compared = {
            "threshold": threshold,
            "comparison_operator": "gt",
            "aggregation_method": "mean",
            "granularity": 60,
            "evaluation_periods": 1,
        }
        of_resource = {"metric": "load", "resource_type": "generic"}
        rule = {
            **compared,
            **of_resource,
            "type": "gnocchi_resources_threshold",
            "resource_id": ident,
        }
        return {
            "group": GROUP,
            "policy": res("Heat::ScalingPolicy", **GROW),
            "one": res(
                "Aodh::GnocchiResourcesAlarm",
                **compared,
                **of_resource,
                resource_id=ident,
                repeat_actions=False,
                # The policy heeds only one of them.
                alarm_actions=[told("policy", "alarm_url")],
                ok_actions=[told("policy", "alarm_url")],
            ),
            "some": res(
                "Aodh::GnocchiAggregationByMetricsAlarm",
                **compared,
                metrics=[self.measured["metrics"]["load"]],
            ),
            "all": res(
                "Aodh::GnocchiAggregationByResourcesAlarm",
                **compared,
                **of_resource,
                query=json.dumps({"=": {"id": ident}}),
            ),
            "both": res(
                "Aodh::CompositeAlarm",
                composite_rule={
                    "operator": "and",
                    "rules": [rule, {"operator": "or", "rules": [rule] * 2}],
                },
            ),
        }

    kinds = ("one", "some", "all", "both")

    def states(self, made: dict[str, str]) -> dict[str, str]:
        return {
            name: self.alarms.shown(ident)["state"]
            for name, ident in made.items()
        }

    def are_all(self, made: dict[str, str], state: str) -> None:
        wanted = dict.fromkeys(made, state)
        self.eventually(
            lambda: self.states(made) == wanted, f"{self.states(made)}"
        )

    def test_life(self) -> None:
        ident = self.create(self.resources(10), sections=SIZE)
        made = {name: self.physical(ident, name) for name in self.kinds}
        self.are_all(made, "ok")
        stack = self.act(ident, "check", "CHECK_COMPLETE")
        self.assertNotIn("differs", stack.stack_status_reason)
        self.heat.stacks.update(
            stack_id=ident,
            template=self.template(self.resources(5), **SIZE),
            disable_rollback=True,
        )
        self.eventually(lambda: self.reference(ident, "size") == "2", "2")
        self.wait(ident, "UPDATE_COMPLETE")
        after = {name: self.physical(ident, name) for name in self.kinds}
        self.assertEqual(made, after)
        self.are_all(made, "alarm")
        self.assertEqual("2", self.reference(ident, "size"))
        checked = self.act(ident, "check", "CHECK_COMPLETE")
        self.assertNotIn("differs", checked.stack_status_reason)
        self.delete(ident)
        for each in made.values():
            self.assertFalse(self.alarms.is_there(each))


class LifeStory(SignedStory):
    """Each type that needs nothing but the alarm service to be made."""

    def setUp(self) -> None:
        super().setUp()
        self.alarms = Alarms(self.cloud)

    @staticmethod
    def resources(**more: Any) -> dict[str, Any]:
        of_pool = {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
        return {
            **network(),
            "queue": res("Zaqar::Queue"),
            "lb": res("Octavia::LoadBalancer", vip_subnet=ref("subnet")),
            "pool": res("Octavia::Pool", loadbalancer=ref("lb"), **of_pool),
            "event": res(
                "Aodh::EventAlarm",
                event_type="story.*",
                query=[
                    {
                        "field": "traits.n",
                        "op": "gt",
                        "type": "integer",
                        "value": "3",
                    }
                ],
                alarm_actions=["http://127.0.0.1:9/"],
                time_constraints=[NIGHT],
                **more,
            ),
            "composite": res(
                "Aodh::CompositeAlarm",
                composite_rule={
                    "operator": "or",
                    "rules": [
                        RULES[0],
                        {"operator": "and", "rules": RULES},
                    ],
                },
                **more,
            ),
            "health": res(
                "Aodh::LBMemberHealthAlarm",
                pool=ref("pool"),
                stack={"get_param": "OS::stack_id"},
                autoscaling_group_id="none",
                ok_queues=[ref("queue")],
                repeat_actions=False,
                **more,
            ),
            "prometheus": res(
                "Aodh::PrometheusAlarm",
                query="up",
                threshold=0.5,
                comparison_operator="lt",
                **more,
            ),
        }

    kinds = ("event", "composite", "health", "prometheus")

    def ids(self, ident: str) -> dict[str, str]:
        return {name: self.physical(ident, name) for name in self.kinds}

    def test_life(self) -> None:
        ident = self.create(self.resources())
        made = self.ids(ident)
        shown = {name: self.alarms.shown(made[name]) for name in self.kinds}
        event = shown["event"]
        self.assertEqual("event", event["type"])
        self.assertEqual(["http://127.0.0.1:9/"], event["alarm_actions"])
        self.assertLessEqual(
            NIGHT.items(), event["time_constraints"][0].items()
        )
        composite = shown["composite"]["composite_rule"]
        self.assertEqual(["or"], [*composite])
        self.assertEqual(["and"], [*composite["or"][1]])
        self.assertEqual(
            {
                "pool_id": self.physical(ident, "pool"),
                "stack_id": ident,
                "autoscaling_group_id": "none",
            },
            shown["health"]["loadbalancer_member_health_rule"],
        )
        # All members of the pool are well, which the queue is told.
        queue = self.physical(ident, "queue")
        [message] = self.eventually(lambda: self.messages(queue), "no message")
        self.assertEqual("ok", message["current"])
        self.assertEqual(made["health"], message["alarm_id"])
        checked = self.act(ident, "check", "CHECK_COMPLETE")
        self.assertNotIn("differs", checked.stack_status_reason)

        # In place; the state isn't lost.
        self.alarms.set_state(made["event"], "alarm")
        self.update(ident, self.resources(severity="critical", enabled=False))
        self.assertEqual(made, self.ids(ident))
        for name in self.kinds:
            after = self.alarms.shown(made[name])
            with self.subTest(name):
                self.assertEqual("critical", after["severity"])
                self.assertFalse(after["enabled"])
                for key in (f"{shown[name]['type']}_rule", "name"):
                    self.assertEqual(shown[name][key], after[key])
        self.assertEqual("alarm", self.alarms.shown(made["event"])["state"])
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        self.act(ident, "resume", "RESUME_COMPLETE")
        # They are as the template says.
        self.assertFalse(self.alarms.shown(made["event"])["enabled"])

        self.alarms.delete(made["composite"])
        stack = self.act(ident, "check", "CHECK_FAILED")
        self.assertIn(
            f"Alarm ({made['composite']}) could not be found",
            stack.stack_status_reason,
        )
        self.delete(ident)
        for name in self.kinds:
            self.assertFalse(self.alarms.is_there(made[name]))

    def messages(self, queue: str) -> list[dict[str, Any]]:
        """What the service put into a queue, with the user's trust."""
        found = self.cloud.message.get(
            f"/queues/{queue}/messages",
            headers={"Client-ID": str(uuid.uuid4())},
        )
        return [each["body"] for each in found.json()["messages"]]

    def test_of_a_user(self) -> None:
        """Read, taken over, given back."""
        one, two = (
            self.alarms.create(
                name=f"story-{uuid.uuid4().hex[:8]}",
                type="event",
                event_rule={"event_type": event},
            )
            for event in ("one", "two")
        )
        self.addCleanup(self.alarms.delete, one)
        self.addCleanup(self.alarms.delete, two)
        before = self.alarms.shown(two)
        wish = res("Aodh::EventAlarm", event_type="three")
        ident = self.create(
            {"a": {**wish, "external_id": one}},
            sections={"outputs": {"shown": {"value": told("a", "show")}}},
        )
        self.assertEqual(one, self.physical(ident, "a"))
        self.assertIn("one", self.reference(ident, "shown"))
        self.update(ident, {"a": {**wish, "external_id": two}})
        self.act(ident, "suspend", "SUSPEND_COMPLETE")
        self.act(ident, "resume", "RESUME_COMPLETE")
        self.assertEqual(before, self.alarms.shown(two))
        self.update(ident, {"a": wish})
        self.assertEqual(two, self.physical(ident, "a"))
        after = self.alarms.shown(two)
        self.assertEqual("three", after["event_rule"]["event_type"])
        self.assertEqual(before["name"], after["name"])
        self.delete(ident)
        self.assertTrue(self.alarms.is_there(one))
        self.assertFalse(self.alarms.is_there(two))

    def test_refused_in_the_services_words(self) -> None:
        ident = self.begin(
            {"a": res("Aodh::EventAlarm", alarm_actions=["gopher://a"])}
        )
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("Unsupported action", stack.stack_status_reason)
        self.assertIn("aodh, HTTP 400", stack.stack_status_reason)
