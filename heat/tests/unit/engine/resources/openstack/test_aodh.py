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

"""The types of the alarm service, at the edge of HTTP."""

from __future__ import annotations

import json
import uuid
from unittest import mock

from heat.common import exception
from heat.engine import clients
from heat.engine.resource import drift
from heat.engine.resources.openstack.aodh import alarm
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

URL = "http://alarms/v2/alarms"
HOOK = "http://heat/v1/signal?Signature=x%2By&Timestamp=1"
QUEUE = "trust+zaqar://?queue_name="
POOL = str(uuid.UUID(int=5))
COMPARED = {
    "threshold": 5.5,
    "comparison_operator": "gt",
    "aggregation_method": "mean",
    "evaluation_periods": 2,
    "granularity": 60,
}
#: kind -> properties, type at the service, its rule
RULES = {
    "EventAlarm": (
        {
            "event_type": "compute.*",
            "query": [{"field": "traits.a", "op": "eq", "value": "1"}],
        },
        "event",
        {
            "event_type": "compute.*",
            "query": [
                {
                    "field": "traits.a",
                    "op": "eq",
                    "type": "string",
                    "value": "1",
                }
            ],
        },
    ),
    "CompositeAlarm": (
        {
            "composite_rule": {
                "operator": "or",
                "rules": [
                    {"type": "prometheus", "query": "q", "threshold": 1},
                    {
                        "operator": "and",
                        "rules": [
                            {"type": "prometheus"},
                            {"type": "prometheus"},
                        ],
                    },
                ],
            }
        },
        "composite",
        {
            "or": [
                {"type": "prometheus", "query": "q", "threshold": 1},
                {"and": [{"type": "prometheus"}, {"type": "prometheus"}]},
            ]
        },
    ),
    "LBMemberHealthAlarm": (
        {"pool": "web", "stack": "s", "autoscaling_group_id": "g"},
        "loadbalancer_member_health",
        {"pool_id": POOL, "stack_id": "s", "autoscaling_group_id": "g"},
    ),
    "PrometheusAlarm": (
        {"query": "up", "threshold": 1, "comparison_operator": "lt"},
        "prometheus",
        {"query": "up", "threshold": 1, "comparison_operator": "lt"},
    ),
    "GnocchiResourcesAlarm": (
        {
            **COMPARED,
            "metric": "cpu",
            "resource_id": "r",
            "resource_type": "instance",
        },
        "gnocchi_resources_threshold",
        {
            **COMPARED,
            "metric": "cpu",
            "resource_id": "r",
            "resource_type": "instance",
        },
    ),
    "GnocchiAggregationByMetricsAlarm": (
        {**COMPARED, "metrics": ["m", "n"]},
        "gnocchi_aggregation_by_metrics_threshold",
        {**COMPARED, "metrics": ["m", "n"]},
    ),
    "GnocchiAggregationByResourcesAlarm": (
        {
            **COMPARED,
            "metric": "cpu",
            "query": '{"=": {"g": "a"}}',
            "resource_type": "instance",
        },
        "gnocchi_aggregation_by_resources_threshold",
        {
            **COMPARED,
            "metric": "cpu",
            "query": '{"=": {"g": "a"}}',
            "resource_type": "instance",
        },
    ),
}


class Alarms(cloud.Objects):
    """Bare bodies; what a PUT doesn't say is set back."""

    usual = {"state": "insufficient data", "enabled": True}

    def _serve(self, request, path, body):
        ident = path.strip("/")
        if request.method == "POST":
            return 201, self.told(self.add(**{**self.usual, **body}))
        if not ident:
            return 200, self.found(request.qs)
        if ident not in self.stored:
            fault = {"faultcode": "Client", "faultstring": "Alarm not found"}
            return 404, {"error_message": fault}
        if request.method == "PUT":
            self.stored[ident] = {**self.usual, **body, "id": ident}
        elif request.method == "DELETE":
            del self.stored[ident]
            return 204, None
        return 200, self.told(self.stored[ident])

    def found(self, query):
        self.asked = query
        wanted = dict(
            zip(
                query.get("q.field", ()),
                query.get("q.value", ()),
                strict=True,
            )
        )
        return [
            self.told(each)
            for each in self.stored.values()
            if all(each.get(key) == value for key, value in wanted.items())
        ]

    @staticmethod
    def told(found):
        shown = {key: found[key] for key in found if key != "id"}
        return {**shown, "alarm_id": found["id"]}


class AlarmCase(base.TestCase):
    def setUp(self):
        super().setUp()
        # Without queues, so that any name is good.
        self.cloud = self.useFixture(
            cloud.Cloud(("alarming", "identity", "load-balancer"))
        )
        links = [{"rel": "self", "href": "http://balancer/v2.0"}]
        version = {"id": "v2.0", "status": "CURRENT", "links": links}
        self.cloud.mock.get("http://balancer/", json={"versions": [version]})
        self.alarms = Alarms(self.cloud.mock, URL, "alarm", "alarms")
        pools = self.cloud.objects(
            "http://balancer/v2.0/lbaas/pools", "pool", "pools"
        )
        pools.add(id=POOL, name="web")

    def made(self, kind="EventAlarm", **given):
        kind = f"OS::Aodh::{kind}"
        return stacks.in_cloud(self.cloud.context, kind, given)

    def live(self, rsrc):
        return self.alarms.stored[rsrc.resource_id]

    def differences(self, rsrc):
        state = rsrc.get_live_state(rsrc.properties)
        return [
            each.name for each in drift.differences(rsrc.properties, state)
        ]


class ClientTest(base.TestCase):
    def test_address_with_and_without_a_version(self):
        for address in ("http://alarms", "http://alarms/v2/"):
            with (
                self.subTest(address),
                mock.patch.dict(cloud.SERVICES, alarming=address),
                cloud.Cloud(("alarming",)) as made,
            ):
                answer = [{"alarm_id": "a", "name": "n"}]
                made.mock.get(URL, json=answer)
                plugin = clients.of(made.context).client_plugin("aodh")
                self.assertEqual(
                    [{"id": "a", "alarm_id": "a", "name": "n"}],
                    plugin.collection("alarm").list(),
                )


class LifeTest(AlarmCase):
    def test_create(self):
        for kind, (given, called, rule) in RULES.items():
            with self.subTest(kind):
                rsrc = self.made(kind, **given)
                stacks.run(rsrc, "CREATE")
                self.assertEqual(rsrc.resource_id, rsrc.reference_id())
                self.assertEqual(
                    {
                        "id": rsrc.resource_id,
                        "name": rsrc.physical_resource_name(),
                        "type": called,
                        f"{called}_rule": rule,
                        "enabled": True,
                        "repeat_actions": True,
                        "severity": "low",
                        "state": "insufficient data",
                        "time_constraints": [],
                        "alarm_actions": [],
                        "ok_actions": [],
                        "insufficient_data_actions": [],
                    },
                    self.live(rsrc),
                )
                self.assertEqual(rsrc.resource_id, rsrc.find_made())
                self.assertEqual([], self.differences(rsrc))
                stacks.run(rsrc, "CHECK")
                stacks.run(rsrc, "DELETE")
                self.assertEqual({}, self.alarms.stored)
                stacks.run(rsrc, "DELETE")

    def test_found_by_a_name_that_is_a_text(self):
        rsrc = self.made()
        stacks.run(rsrc, "CREATE")
        self.alarms.add(name="other")
        self.assertEqual(rsrc.resource_id, rsrc.find_made())
        self.assertEqual(
            {
                "q.field": ["name"],
                "q.op": ["eq"],
                "q.type": ["string"],
                "q.value": [rsrc.physical_resource_name()],
            },
            self.alarms.asked,
        )
        plugin = clients.of(self.cloud.context).client_plugin("aodh")
        self.assertEqual(2, len(plugin.collection("alarm").list()))

    def test_actions(self):
        rsrc = self.made(
            alarm_actions=[HOOK, "trust+http://h/x", HOOK],
            alarm_queues=["q"],
            ok_queues=["a b", "c"],
            insufficient_data_actions=["log://"],
            time_constraints=[
                {"name": "night", "start": "0 23 * * *", "duration": 60}
            ],
        )
        body = rsrc.create_body(rsrc.properties)
        self.assertEqual(
            [HOOK, "trust+http://h/x", f"{QUEUE}q"], body["alarm_actions"]
        )
        self.assertEqual([f"{QUEUE}a%20b", f"{QUEUE}c"], body["ok_actions"])
        self.assertEqual(["log://"], body["insufficient_data_actions"])
        self.assertNotIn("alarm_queues", body)
        self.assertEqual(
            [{"name": "night", "start": "0 23 * * *", "duration": 60}],
            body["time_constraints"],
        )

    def test_update_in_place(self):
        before = {"description": "d", "alarm_actions": [HOOK]}
        rsrc = self.made(**before, event_type="a.*")
        stacks.run(rsrc, "CREATE")
        ident = rsrc.resource_id
        self.live(rsrc).update(state="alarm", user_id="u", name="theirs")
        rsrc.target = rsrc.t.freeze(
            properties={
                "event_type": "b.*",
                "severity": "critical",
                "ok_actions": [HOOK],
            }
        )
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(ident, rsrc.resource_id)
        live = self.live(rsrc)
        self.assertEqual({"event_type": "b.*"}, live["event_rule"])
        for key, value in {
            "state": "alarm",
            "user_id": "u",
            "name": "theirs",
            "description": "",
            "severity": "critical",
            "alarm_actions": [],
            "ok_actions": [HOOK],
        }.items():
            with self.subTest(key):
                self.assertEqual(value, live[key])

    def test_rule_of_another_type(self):
        rsrc = self.made("PrometheusAlarm", query="up", threshold=1)
        made = self.alarms.add(name="n", type="event", event_rule={"a": 1})
        rsrc.resource_id_set(made["id"])
        self.assertEqual({"query", "threshold"}, {*self.differences(rsrc)})
        body = rsrc.update_body(["query"], rsrc.properties)
        rsrc.collection().update(made["id"], body)
        live = self.live(rsrc)
        self.assertEqual("prometheus", live["type"])
        self.assertNotIn("event_rule", live)

    def test_nothing_changed(self):
        rsrc = self.made()
        self.assertEqual({}, rsrc.update_body([], rsrc.properties))

    def test_suspend_and_resume(self):
        for enabled in (True, False):
            rsrc = self.made(enabled=enabled)
            stacks.run(rsrc, "CREATE")
            self.live(rsrc)["state"] = "ok"
            stacks.run(rsrc, "SUSPEND")
            self.assertIs(False, self.live(rsrc)["enabled"])
            stacks.run(rsrc, "RESUME")
            self.assertIs(enabled, self.live(rsrc)["enabled"])
            self.assertEqual("ok", self.live(rsrc)["state"])

    def test_gone(self):
        rsrc = self.made()
        stacks.run(rsrc, "CREATE")
        self.alarms.stored.clear()
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CHECK"
        )
        self.assertIn("Alarm", str(error))
        self.assertIn("could not be found", str(error))

    def test_refused_in_the_services_words(self):
        fault = {"faultcode": "Client", "faultstring": "Unsupported action"}
        self.alarms.refuse.append(("POST", 400, {"error_message": fault}))
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, self.made(), "CREATE"
        )
        self.assertIn("Unsupported action", str(error))


class LiveTest(AlarmCase):
    """What the service spells in its own way is no difference."""

    def test_actions_and_queues_told_apart(self):
        rsrc = self.made(alarm_actions=["http://a"], alarm_queues=["q", "r"])
        stacks.run(rsrc, "CREATE")
        self.live(rsrc)["alarm_actions"] = [
            "trust+zaqar:?queue_name=r",
            "http://a",
            "trust+zaqar:?queue_name=q",
        ]
        self.assertEqual([], self.differences(rsrc))
        self.live(rsrc)["alarm_actions"] = [
            "http://b",
            "trust+zaqar:?queue_name=q",
        ]
        self.assertEqual(
            ["alarm_actions", "alarm_queues"], self.differences(rsrc)
        )

    def test_a_queue_given_as_an_action(self):
        rsrc = self.made(alarm_actions=[f"{QUEUE}q"])
        stacks.run(rsrc, "CREATE")
        self.live(rsrc)["alarm_actions"] = ["trust+zaqar:?queue_name=q"]
        self.assertEqual([], self.differences(rsrc))

    def test_what_the_service_adds(self):
        for kind, key, added in (
            (
                "CompositeAlarm",
                "composite_rule",
                {
                    "or": [
                        {
                            "type": "prometheus",
                            "query": "q",
                            "threshold": 1.0,
                            "comparison_operator": "eq",
                        },
                        {
                            "and": [
                                {"type": "prometheus", "threshold": 1.0},
                                {"type": "prometheus"},
                            ]
                        },
                    ]
                },
            ),
            (
                "PrometheusAlarm",
                "prometheus_rule",
                {
                    "query": "up",
                    "threshold": 1.0,
                    "comparison_operator": "lt",
                    "scope_to_project": "p",
                },
            ),
            (
                "GnocchiAggregationByResourcesAlarm",
                "gnocchi_aggregation_by_resources_threshold_rule",
                {
                    **RULES["GnocchiAggregationByResourcesAlarm"][2],
                    "query": json.dumps(
                        {
                            "and": [
                                {"=": {"created_by_project_id": "p"}},
                                {"=": {"g": "a"}},
                            ]
                        }
                    ),
                },
            ),
        ):
            with self.subTest(kind):
                rsrc = self.made(kind, **RULES[kind][0])
                stacks.run(rsrc, "CREATE")
                self.live(rsrc)[key] = added
                self.assertEqual([], self.differences(rsrc))

    def test_what_somebody_changed(self):
        for kind, (given, called, rule) in RULES.items():
            for name in rule:
                rsrc = self.made(kind, **given)
                stacks.run(rsrc, "CREATE")
                self.live(rsrc)[f"{called}_rule"] = {**rule, name: "other"}
                found = self.differences(rsrc)
                if name == "stack_id":
                    found = rsrc.live_fixed(rsrc.properties, rsrc.shown())
                    self.assertEqual("other", found["stack"])
                    continue
                with self.subTest(kind, name=name):
                    self.assertEqual(1, len(found))

    def test_another_operator(self):
        rsrc = self.made("CompositeAlarm", **RULES["CompositeAlarm"][0])
        for rule, found in (
            ({"and": [1]}, {"operator": "and", "rules": [1]}),
            ({}, None),
        ):
            self.assertEqual(
                {"composite_rule": found},
                rsrc.live_rule(rsrc.properties, rule),
            )

    def test_queries_that_are_none(self):
        kind = "GnocchiAggregationByResourcesAlarm"
        rsrc = self.made(kind, **{**RULES[kind][0], "query": "{"})
        for live in ("{", "[]", '{"and": [1, 2, 3]}', None):
            with self.subTest(live):
                found = rsrc.live_rule(rsrc.properties, {"query": live})
                self.assertEqual(live, found["query"])

    def test_times(self):
        wanted = {"name": "night", "start": "0 23 * * *", "duration": 60}
        live = {**wanted, "description": "at night", "timezone": ""}
        rsrc = self.made(time_constraints=[wanted])
        for shown, same in (
            ([live], True),
            ([{**live, "duration": 61}], False),
            ([], False),
            (None, False),
        ):
            with self.subTest(shown):
                found = rsrc.live_fixed(
                    rsrc.properties, {"time_constraints": shown}
                )
                self.assertEqual(
                    same,
                    found["time_constraints"]
                    == rsrc.properties["time_constraints"],
                )

    def test_covers(self):
        for wanted, live, same in (
            ({"a": None}, {}, True),
            ({"a": 1}, {"a": 1.0, "b": 2}, True),
            ({"a": 1}, [], False),
            ([1], [1, 2], False),
            ([1], "1", False),
            (True, True, True),
            ("1", 1, True),
        ):
            with self.subTest(wanted=wanted, live=live):
                self.assertEqual(same, alarm.covers(wanted, live))
