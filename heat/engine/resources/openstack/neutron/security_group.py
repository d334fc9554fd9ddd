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

"""OS::Neutron::SecurityGroup and SecurityGroupRule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron

_RULE_KEYS = (
    "description",
    "direction",
    "ethertype",
    "port_range_max",
    "port_range_min",
    "protocol",
    "remote_group_id",
    "remote_ip_prefix",
)
#: The project's default group has these; a new group gets them as well.
_OUTWARD = tuple(
    {"direction": "egress", "ethertype": kind} for kind in ("IPv4", "IPv6")
)


class SecurityGroup(neutron.NeutronResource):
    """What traffic ports let in and out.

    Rules say what passes. Without a rule for outward traffic all of it
    passes; with one, only what the rules say.
    """

    support_status = support.SupportStatus(version="2014.1")

    entity = "security_group"
    mark_key = "description"
    status_key = None
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        name string (update) -- What it is called; made up when left out.
        rules list{* map{
            description string -- What the rule is for.
            direction string (="ingress", in ["ingress", "egress"]) -- Into
                -- the port or out of it.
            ethertype string (="IPv4", in ["IPv4", "IPv6"]) -- IPv4 or IPv6.
            port_range_max integer (range 0..65535) -- Highest port, or the
                -- ICMP code.
            port_range_min integer (range 0..65535) -- Lowest port, or the
                -- ICMP type.
            protocol string (enum) -- Name or number of the protocol; any
                -- when left out.
            remote_group_id string (is neutron.security_group) -- The other
                -- side's security group; this one when left out.
            remote_ip_prefix string (is net_cidr) -- The other side's
                -- addresses; any when left out.
            remote_mode string (="remote_ip_prefix", in ["remote_ip_prefix",
                "remote_group_id"]) -- Which of the two says who the other
                -- side is.
        }} (update, =[]) -- What passes.
        stateful boolean (update) -- Whether answers pass as well.
    """)
    not_sent = frozenset({"rules"})
    finds = {"rules.remote_group_id": "neutron.security_group"}

    def validate(self) -> None:
        super().validate()
        if self.properties["name"] == "default":
            raise exception.StackValidationFailed(
                path=["properties", "name"],
                message=_(
                    "Every project has a security group named default "
                    "already: choose another name."
                ),
            )

    def wanted_rules(self, properties: Any) -> list[dict[str, Any]]:
        """All rules, as the service takes and shows them."""
        wanted = self.ruled(properties)
        if not any(body["direction"] == "egress" for body in wanted):
            wanted.extend(dict(body) for body in _OUTWARD)
        return wanted

    def ruled(self, properties: Any) -> list[dict[str, Any]]:
        """The rules that the properties tell, as the service takes them."""
        wanted = []
        for rule in properties["rules"] or ():
            body = {
                key: rule[key] for key in _RULE_KEYS if rule[key] is not None
            }
            if rule["remote_mode"] == "remote_group_id":
                body.pop("remote_ip_prefix", None)
                body.setdefault("remote_group_id", self.resource_id)
            else:
                body.pop("remote_group_id", None)
            wanted.append(body)
        return wanted

    def finish_create(self, properties: Any) -> None:
        self.bring_rules(properties)

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "rules" in changed:
            self.bring_rules(properties)

    def bring_rules(self, properties: Any) -> None:
        """Delete rules that aren't wanted, make those that are missing.

        Rules that stay are left alone, so that traffic they let pass is not
        interrupted.
        """
        wanted = {_key(body): body for body in self.wanted_rules(properties)}
        rules = self.collection("security_group_rule")
        for rule in rules.list(security_group_id=self.resource_id):
            if wanted.pop(_key(rule), None) is None:
                try:
                    rules.delete(rule["id"])
                except errors.NotFound:
                    continue
        for body in wanted.values():
            body["security_group_id"] = self.resource_id
            try:
                rules.create(body)
            except errors.ServiceError as exc:
                # Two spellings of one rule are one rule to the service.
                if not errors.is_conflict(exc):
                    raise

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        live = resource_data.get("security_group_rules", ())
        if same(live, self.wanted_rules(resource_properties)):
            found["rules"] = resource_properties["rules"]
        else:
            found["rules"] = [
                {
                    **{key: rule.get(key) for key in _RULE_KEYS},
                    "remote_mode": (
                        "remote_group_id"
                        if rule.get("remote_group_id")
                        else "remote_ip_prefix"
                    ),
                }
                for rule in live
            ]
        return found


def _key(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """What makes two rules the same."""
    return tuple(
        "" if rule.get(key) is None else str(rule[key]) for key in _RULE_KEYS
    )


def same(
    some: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]
) -> bool:
    """Whether two lists of rules let the same pass."""
    return {_key(each) for each in some} == {_key(each) for each in others}


class SecurityGroupRule(neutron.NeutronResource):
    """One rule of a security group."""

    support_status = support.SupportStatus(version="7.0.0")

    entity = "security_group_rule"
    name_property = None
    mark_key = "description"
    status_key = None
    properties_schema = notation.properties("""
        description string -- What the rule is for.
        direction string (="ingress", in ["ingress", "egress"]) -- Into the
            -- port or out of it.
        ethertype string (="IPv4", in ["IPv4", "IPv6"]) -- IPv4 or IPv6.
        port_range_max integer (range 0..65535) -- Highest port, or the ICMP
            -- code.
        port_range_min integer (range 0..65535) -- Lowest port, or the ICMP
            -- type.
        protocol string (="tcp", enum) -- Name or number of the protocol.
        remote_group string (is neutron.security_group) -- Name or id of the
            -- other side's security group.
        remote_ip_prefix string (is net_cidr) -- The other side's addresses.
        security_group string (required, is neutron.security_group) -- Name
            -- or id of the group that the rule is added to.
    """)
    body_keys = {
        "remote_group": "remote_group_id",
        "security_group": "security_group_id",
    }
    finds = {
        "remote_group": "neutron.security_group",
        "security_group": "neutron.security_group",
    }

    def validate(self) -> None:
        super().validate()
        given = self.properties.data.get
        if (
            given("remote_group") is not None
            and given("remote_ip_prefix") is not None
        ):
            raise exception.ResourcePropertyConflict(
                "remote_group", "remote_ip_prefix"
            )
        low = self.properties["port_range_min"]
        high = self.properties["port_range_max"]
        protocol = str(self.properties["protocol"] or "")
        if (
            low is not None
            and high is not None
            and low > high
            and not protocol.startswith(("icmp", "ipv6-icmp"))
        ):
            raise exception.StackValidationFailed(
                path=["properties", "port_range_max"],
                message=_("It must not be below port_range_min."),
            )

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        # "any" is for people; the service has no word for it.
        if body.get("protocol") in ("any", "0", ""):
            del body["protocol"]
        return body


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Neutron::SecurityGroup": SecurityGroup,
        "OS::Neutron::SecurityGroupRule": SecurityGroupRule,
    }
