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

"""OS::Octavia::L7Policy and L7Rule."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.octavia import octavia

#: what an action leads to
_TARGETS = {
    "REDIRECT_TO_POOL": "redirect_pool",
    "REDIRECT_TO_URL": "redirect_url",
}


class L7Policy(octavia.BalancerPart):
    """What becomes of requests that match all rules of the policy."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "l7policy"
    mark_key = "description"
    properties_schema = notation.properties("""
        action string (required, update, in ["REJECT", "REDIRECT_TO_POOL",
            "REDIRECT_TO_URL"]) -- What becomes of them.
        admin_state_up boolean (update, =true) -- Whether it is heeded.
        description string (update) -- What it is for.
        listener string (required, is octavia.listener) -- Name or id of the
            -- listener.
        name string (update) -- What it is called; made up when left out.
        position number (update, range 1..None) -- Its place among the
            -- listener's policies; the last when left out.
        redirect_pool string (update, is octavia.pool) -- Name or id of the
            -- pool that they go to.
        redirect_url string (update) -- The URL that clients are told.
    """)
    attributes_schema = octavia.changing("rules list -- Its rules: ids.")
    body_keys = {
        "listener": "listener_id",
        "redirect_pool": "redirect_pool_id",
    }
    finds = {"listener": "octavia.listener", "redirect_pool": "octavia.pool"}

    def validate(self) -> None:
        super().validate()
        given = self.properties
        wanted = _TARGETS.get(given["action"])
        for name in _TARGETS.values():
            if name == wanted and given[name] is None:
                raise rest.refused(
                    name, _("The action %s needs it.") % given["action"]
                )
            if name != wanted and given[name] is not None:
                raise rest.refused(
                    name, _("The action %s has none.") % given["action"]
                )

    def rendered(self, path: str, value: Any) -> Any:
        if path == "position":
            return int(value)
        return super().rendered(path, value)

    def update_body(self, changed: Any, properties: Any) -> dict[str, Any]:
        """See the base. An action is told together with what it leads to,
        and what it does not lead to any more the service drops."""
        names = set(changed)
        if "action" in names:
            names -= {*_TARGETS.values()}
            names |= {*filter(None, [_TARGETS.get(properties["action"])])}
        if properties["position"] is None:
            # There is no word for "as when it was left out".
            names.discard("position")
        return super().update_body(sorted(names), properties)


class L7Rule(octavia.BalancerPart):
    """What a request must be like."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "rule"
    name_property = None
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it is heeded.
        compare_type string (required, update, in ["REGEX", "STARTS_WITH",
            "ENDS_WITH", "CONTAINS", "EQUAL_TO"]) -- How it is compared.
        invert boolean (update, =false) -- It matches what is not so.
        key string (update) -- Name of the header or cookie.
        l7policy string (required, is octavia.l7policy) -- Name or id of the
            -- policy.
        type string (required, update, in ["HOST_NAME", "PATH", "FILE_TYPE",
            "HEADER", "COOKIE"]) -- What of a request is looked at.
        value string (required, update) -- What it is compared with.
    """)
    not_sent = frozenset({"l7policy"})
    finds = {"l7policy": "octavia.l7policy"}
    cleared = {"key": None}

    def validate(self) -> None:
        super().validate()
        kind, key = self.properties["type"], self.properties["key"]
        if kind in ("HEADER", "COOKIE"):
            if key is None:
                raise rest.refused("key", _("The type %s needs it.") % kind)
        elif key is not None:
            raise rest.refused("key", _("The type %s has none.") % kind)

    def collection(self, entity: str | None = None) -> Any:
        """The rules of the policy."""
        if entity is not None:
            return super().collection(entity)
        policy = self.owner("l7policy", "rules")
        return self.client_plugin().rules_of(policy)

    def create_body(self, properties: Any) -> dict[str, Any]:
        # It has neither a name nor a description.
        return {**super().create_body(properties), "tags": [self.mark()]}

    def find_made(self) -> str | None:
        if self.uuid is None:
            return None
        for each in self.listed():
            if self.mark() in (each.get("tags") or ()):
                return str(each["id"])
        return None


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Octavia::L7Policy": L7Policy,
        "OS::Octavia::L7Rule": L7Rule,
    }
