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

"""AWS::EC2::SecurityGroup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron, security_group

#: property -> direction
_DIRECTIONS = {
    "SecurityGroupIngress": "ingress",
    "SecurityGroupEgress": "egress",
}
_GROUPS = ("SourceSecurityGroupId", "SourceSecurityGroupName")
#: in the notation of schemas
_RULES = """list{* map{
        CidrIp string -- The other side's addresses.
        FromPort string -- Lowest port, or the ICMP type; -1 for all.
        IpProtocol string -- Name or number of the protocol; -1 for all.
        SourceSecurityGroupId string -- Id of the other side's group.
        SourceSecurityGroupName string -- Name of the other side's group.
        ToPort string -- Highest port, or the ICMP code; -1 for all.
    }} (update)"""
#: what EC2 says for "all"
_ALL = ("-1", "all")


class SecurityGroup(security_group.SecurityGroup):
    """What traffic instances let in and out.

    Without a rule for outward traffic all of it passes; with one, only what
    the rules say.
    """

    support_status = support.SupportStatus()

    properties_schema = notation.properties(f"""
        GroupDescription string (required) -- What it is for.
        SecurityGroupEgress {_RULES} -- What passes outward.
        SecurityGroupIngress {_RULES} -- What passes inward.
        VpcId string -- Without effect: a group is of use in each VPC.
    """)
    body_keys = {"GroupDescription": "description"}
    not_sent = frozenset({*_DIRECTIONS, "VpcId"})
    finds = {
        f"{name}.{group}": "neutron.security_group"
        for name in _DIRECTIONS
        for group in _GROUPS
    }

    def validate(self) -> None:
        # What a group checks beyond is about its name.
        neutron.NeutronResource.validate(self)

    def ruled(self, properties: Any) -> list[dict[str, Any]]:
        return [
            _body(rule, direction)
            for name, direction in _DIRECTIONS.items()
            for rule in properties[name] or ()
        ]

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if changed:
            self.bring_rules(properties)

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        live = resource_data.get("security_group_rules", ())
        wanted = self.wanted_rules(resource_properties)
        found: dict[str, Any] = {}
        for name, direction in _DIRECTIONS.items():
            now = _of(direction, live)
            if security_group.same(now, _of(direction, wanted)):
                found[name] = resource_properties[name]
            else:
                found[name] = [_words(rule) for rule in now]
        return found


def _of(
    direction: str, rules: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    return [each for each in rules if each["direction"] == direction]


def _body(rule: Mapping[str, Any], direction: str) -> dict[str, Any]:
    """A rule as the networking service takes it."""
    block = rule["CidrIp"] or ""
    body: dict[str, Any] = {
        "direction": direction,
        "ethertype": "IPv6" if ":" in block else "IPv4",
        "remote_ip_prefix": block,
        "remote_group_id": rule[_GROUPS[0]] or rule[_GROUPS[1]],
    }
    protocol = str(rule["IpProtocol"] or "").lower()
    if protocol and protocol not in _ALL:
        body["protocol"] = protocol
        body["port_range_min"] = _port(rule["FromPort"])
        body["port_range_max"] = _port(rule["ToPort"])
    return {
        key: value for key, value in body.items() if value not in ("", None)
    }


def _port(text: str | None) -> int | None:
    return None if text in ("", None, "-1") else int(str(text))


def _words(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule of the networking service in EC2's words."""
    low, high = rule.get("port_range_min"), rule.get("port_range_max")
    found = {
        "CidrIp": rule.get("remote_ip_prefix"),
        "FromPort": None if low is None else str(low),
        "IpProtocol": rule.get("protocol") or _ALL[0],
        _GROUPS[0]: rule.get("remote_group_id"),
        "ToPort": None if high is None else str(high),
    }
    return {key: value for key, value in found.items() if value is not None}


def resource_mapping() -> dict[str, Any]:
    return {"AWS::EC2::SecurityGroup": SecurityGroup}
