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

"""OS::Nova::HostAggregate."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from heat.engine.clients import errors
from heat.engine.resource import notation, rest


class HostAggregate(rest.RestResource):
    """Hosts with something in common, which the scheduler looks at.

    Usually only an administrator may make one.
    """

    default_client_name = "nova"
    entity = "aggregates"
    properties_schema = notation.properties("""
        availability_zone string (update) -- Zone that its hosts are in.
        hosts list{* string (is nova.host)} (update) -- Names of its hosts.
        metadata map (update, ={}) -- Keys and values for the scheduler.
        name string (required, update) -- What it is called.
    """)
    not_sent = frozenset({"hosts", "metadata"})

    def create_body(self, properties: Any) -> dict[str, Any]:
        return {"availability_zone": None, **super().create_body(properties)}

    def finish_create(self, properties: Any) -> None:
        self._bring(properties, {"hosts", "metadata"})

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        after = self.properties_of(json_snippet)
        plain = {"name", "availability_zone"} & prop_diff.keys()
        if plain:
            # Both at once, as no zone is told by leaving it out.
            values = {"name": after["name"]}
            if after["availability_zone"]:
                values["availability_zone"] = after["availability_zone"]
            self.collection().call("update", self.resource_id, values)
        zone_gone = not after["availability_zone"] and (
            "availability_zone" in prop_diff
        )
        if zone_gone:
            self._set_metadata({"availability_zone": None})
        self._bring(after, prop_diff.keys())
        return None

    def _set_metadata(self, values: Mapping[str, Any]) -> None:
        self.collection().call("set_metadata", self.resource_id, dict(values))

    def _bring(self, properties: Any, changed: Any) -> None:
        """Let it have the hosts and metadata that are wanted."""
        shown = self.shown()
        if "hosts" in changed:
            self._set_hosts(
                set(shown["hosts"]), set(properties["hosts"] or ())
            )
        if "metadata" in changed:
            wanted = {
                key: str(value)
                for key, value in (properties["metadata"] or {}).items()
            }
            now = _own_metadata(shown)
            gone = dict.fromkeys(now.keys() - wanted.keys())
            if gone or wanted != now:
                self._set_metadata({**gone, **wanted})

    def _set_hosts(self, now: set[str], wanted: set[str]) -> None:
        aggregates = self.collection()
        for host in sorted(now - wanted):
            aggregates.call("remove_host", self.resource_id, host)
        for host in sorted(wanted - now):
            aggregates.call(
                "add_host", self.resource_id, host, idempotent=False
            )

    def remove_object(self) -> None:
        # The service deletes none that has hosts.
        with contextlib.suppress(errors.NotFound):
            self._set_hosts(set(self.shown()["hosts"]), set())
        super().remove_object()

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        found["hosts"] = list(resource_data.get("hosts") or ())
        found["metadata"] = _own_metadata(resource_data)
        return found


def _own_metadata(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata without the zone, which the service keeps there too."""
    return {
        key: value
        for key, value in (shown.get("metadata") or {}).items()
        if key != "availability_zone"
    }


def resource_mapping() -> dict[str, Any]:
    return {"OS::Nova::HostAggregate": HostAggregate}
