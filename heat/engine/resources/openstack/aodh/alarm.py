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

"""What all alarms have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib import parse

from heat.engine.properties import Schema
from heat.engine.resource import notation, rest

_ENABLED: Final = "enabled"
_DESCRIPTION: Final = "description"
_TIME_CONSTRAINTS: Final = "time_constraints"
#: What is done in a state is a list of addresses, and of names of queues.
_STATES: Final = ("alarm", "ok", "insufficient_data")


def common() -> dict[str, Schema]:
    """The properties that every alarm has."""
    return notation.properties("""
        alarm_actions list (update) -- Addresses that are told when the alarm
            -- goes off: http, https, trust+http and so on.
        alarm_queues list{* string (is zaqar.queue)} (update, =[]) -- Queues
            -- that get a message when the alarm goes off.
        description string (update) -- For people.
        enabled boolean (update, ="true") -- Whether it is evaluated.
        insufficient_data_actions list (update) -- Addresses that are told
            -- when nobody knows whether there is reason for alarm.
        insufficient_data_queues list{* string (is zaqar.queue)} (update,
            =[]) -- Queues that get a message then.
        ok_actions list (update) -- Addresses that are told when all is well.
        ok_queues list{* string (is zaqar.queue)} (update, =[]) -- Queues
            -- that get a message then.
        repeat_actions boolean (update, ="true") -- Whether they are told at
            -- each evaluation, and not only when the state changes.
        severity string (update, ="low", in ["low", "moderate",
            "critical"]) -- How bad it is.
        time_constraints list{* map{
            description string -- For people.
            duration integer (required, range 0..None) -- Seconds for which
                -- it is evaluated.
            name string (required) -- What the time is called.
            start string (required, is cron_expression) -- When that begins,
                -- as cron writes it.
            timezone string (is timezone) -- Where that is the time.
        }} (=[]) -- The times when it is evaluated; always, without any.
    """)


class AlarmResource(rest.RestResource):
    """An alarm. The types differ in the rule by which one goes off."""

    default_client_name = "aodh"
    entity = "alarm"
    #: what the service calls alarms of this type
    alarm_type: ClassVar[str]
    #: the properties that make up the rule
    of_rule: ClassVar[frozenset[str]]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.of_rule = frozenset(cls.properties_schema) - frozenset(common())
        queues = {f"{state}_queues" for state in _STATES}
        cls.not_sent = cls.of_rule | queues

    # -- bodies --------------------------------------------------------------

    @property
    def rule_key(self) -> str:
        """The key of the rule in bodies."""
        return f"{self.alarm_type}_rule"

    def rule(self, properties: Any) -> dict[str, Any]:
        """The rule as the service takes it.

        :param properties: typed values by name
        """
        return {
            self.body_key(name): self.rendered(name, properties[name])
            for name in sorted(self.of_rule)
            if properties[name] is not None
        }

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        body["type"] = self.alarm_type
        body[self.rule_key] = self.rule(properties)
        for state in _STATES:
            actions = [
                *(properties[f"{state}_actions"] or ()),
                *map(_of_queue, properties[f"{state}_queues"] or ()),
            ]
            # The service drops what is said twice, and the order with it.
            body[f"{state}_actions"] = list(dict.fromkeys(actions))
        return body

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        """All that properties say: rule and lists of actions are changed as
        a whole only."""
        if not changed:
            return {}
        body = self.create_body(properties)
        # That of an object that a user made stays.
        del body["name"]
        # The service describes an alarm itself that has an empty one.
        body.setdefault(_DESCRIPTION, "")
        return body

    # -- suspend, resume -----------------------------------------------------

    def _enable(self, enabled: bool) -> None:
        body = self.update_body([_ENABLED], self.properties)
        body[_ENABLED] = enabled
        self.collection().update(self.resource_id, body)

    def handle_suspend(self) -> None:
        """Have it not evaluated."""
        self._enable(False)

    def handle_resume(self) -> None:
        """Have it evaluated again, if the template wants that."""
        self._enable(self.properties[_ENABLED])

    # -- look ----------------------------------------------------------------

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        for state in _STATES:
            found.update(
                _told_apart(
                    state,
                    resource_properties,
                    resource_data.get(f"{state}_actions") or (),
                )
            )
        live = self.live_rule(
            resource_properties, self._rule_of(resource_data)
        )
        found.update(
            (name, value)
            for name, value in live.items()
            if self.properties_schema[name].update_allowed
        )
        return found

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base; parts of the rule and the times are compared, too."""
        found = super().live_fixed(resource_properties, resource_data)
        rule = self.live_rule(
            resource_properties, self._rule_of(resource_data)
        )
        found.update(
            (name, value)
            for name, value in rule.items()
            if not self.properties_schema[name].update_allowed
        )
        wanted = resource_properties[_TIME_CONSTRAINTS]
        live = resource_data.get(_TIME_CONSTRAINTS) or []
        found[_TIME_CONSTRAINTS] = wanted if covers(wanted, live) else live
        return found

    def _rule_of(self, resource_data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The live rule; empty where the alarm is one of another type."""
        return resource_data.get(self.rule_key) or {}

    def live_rule(
        self, wanted: Any, rule: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The rule's properties as the live alarm has them.

        :param wanted: typed values by name
        :param rule: as the service shows it
        """
        return {
            name: self._as_found(name, rule.get(self.body_key(name)))
            for name in self.of_rule
        }


def _of_queue(name: str) -> str:
    """The address by which the service writes into a queue."""
    return f"trust+zaqar://?queue_name={parse.quote(name, safe='')}"


def _told_apart(state: str, wanted: Any, live: Any) -> dict[str, list[str]]:
    """Live actions of a state as two properties.

    The service spells addresses in its own way.
    """
    actions = {
        parse.urlsplit(each): each for each in wanted[f"{state}_actions"] or ()
    }
    queues = {
        parse.urlsplit(_of_queue(each)): each
        for each in wanted[f"{state}_queues"] or ()
    }
    found: dict[str, list[str]] = {"actions": [], "queues": []}
    for each in live:
        split = parse.urlsplit(each)
        if split in queues:
            found["queues"].append(queues[split])
        if split in actions or split not in queues:
            found["actions"].append(actions.get(split, each))
    return {f"{state}_{kind}": each for kind, each in found.items()}


def covers(wanted: Any, live: Any) -> bool:
    """Whether a live value has all that was wanted, in the same order.

    The service adds what it takes for granted.
    """
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            value is None or covers(value, live.get(key))
            for key, value in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(live, list | tuple)
            and len(wanted) == len(live)
            and all(map(covers, wanted, live))
        )
    return wanted == live or str(wanted) == str(live)
