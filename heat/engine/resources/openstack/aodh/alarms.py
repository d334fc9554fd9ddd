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

"""OS::Aodh::EventAlarm, OS::Aodh::CompositeAlarm,
OS::Aodh::LBMemberHealthAlarm and OS::Aodh::PrometheusAlarm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.aodh import alarm

_RULE = "composite_rule"
_OPERATOR, _RULES = "operator", "rules"


class EventAlarm(alarm.AlarmResource):
    """Goes off when a notification of the cloud's services is like this."""

    support_status = support.SupportStatus(version="8.0.0")

    alarm_type = "event"
    properties_schema = {
        **alarm.common(),
        **notation.properties("""
            event_type string (update, ="*") -- Type of the notification, with
                -- * for any text.
            query list{* map{
                field string -- What is looked at, such as traits.instance_id.
                op string (in ["le", "ge", "eq", "lt", "gt", "ne"]) -- How it
                    -- is compared.
                type string (="string", in ["integer", "float", "string",
                    "boolean", "datetime"]) -- What the value is.
                value string -- With what it is compared.
            }} (update) -- What else must be so; all of it.
        """),
    }


class CompositeAlarm(alarm.AlarmResource):
    """Goes off by several rules together."""

    support_status = support.SupportStatus(version="8.0.0")

    alarm_type = "composite"
    properties_schema = {
        **alarm.common(),
        **notation.properties("""
            composite_rule map{
                operator string (required, update, in ["or", "and"]) -- Whether
                    -- one is enough, or all are needed.
                rules list (required, update, len 2..None) -- Rules as the
                    -- alarm service takes them, each with its type; or maps
                    -- of operator and rules again.
            } (required, update) -- The rules.
        """),
    }

    def rule(self, properties: Any) -> dict[str, Any]:
        found: dict[str, Any] = _combined(properties[_RULE])
        return found

    def live_rule(
        self, wanted: Any, rule: Mapping[str, Any]
    ) -> dict[str, Any]:
        if alarm.covers(self.rule(wanted), rule):
            return {_RULE: wanted[_RULE]}
        for operator, rules in rule.items():
            return {_RULE: {_OPERATOR: operator, _RULES: rules}}
        return {_RULE: None}


def _combined(rule: Any) -> Any:
    """A rule, or several together, as the service takes them.

    In a template ``and`` and ``or`` are functions that give true or false,
    so that rules in rules are written as the outermost ones.
    """
    if not (isinstance(rule, Mapping) and _OPERATOR in rule):
        return rule
    return {rule[_OPERATOR]: [_combined(each) for each in rule[_RULES] or ()]}


class LBMemberHealthAlarm(alarm.AlarmResource):
    """Goes off when a member of a load balancer's pool is not well."""

    support_status = support.SupportStatus(version="13.0.0")

    alarm_type = "loadbalancer_member_health"
    properties_schema = {
        **alarm.common(),
        **notation.properties("""
            autoscaling_group_id string (required, update) -- The group whose
                -- members are in the pool.
            pool string (required, update) -- Name or id of the pool.
            stack string (required) -- The stack that is told of the member.
        """),
    }
    body_keys = {"pool": "pool_id", "stack": "stack_id"}
    finds = {"pool": "octavia.pool"}


class PrometheusAlarm(alarm.AlarmResource):
    """Goes off when a query to Prometheus gives such a value."""

    support_status = support.SupportStatus(version="22.0.0")

    alarm_type = "prometheus"
    properties_schema = {
        **alarm.common(),
        **notation.properties("""
            comparison_operator string (update, in ["le", "ge", "eq", "lt",
                "gt", "ne"]) -- How the value is compared.
            query string (required, update) -- The query, in PromQL.
            threshold number (required, update) -- With what it is compared.
        """),
    }


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Aodh::EventAlarm": EventAlarm,
        "OS::Aodh::CompositeAlarm": CompositeAlarm,
        "OS::Aodh::LBMemberHealthAlarm": LBMemberHealthAlarm,
        "OS::Aodh::PrometheusAlarm": PrometheusAlarm,
    }
