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

"""OS::Zaqar::Queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib import parse

from heat.common import exception
from heat.engine import support
from heat.engine.resource import link, notation
from heat.engine.resources.openstack import cloud_constraints
from heat.engine.resources.openstack.zaqar import zaqar

_METADATA = "metadata"


class Queue(link.Link, zaqar.ZaqarResource):
    """A queue of messages. Its id is its name."""

    support_status = support.SupportStatus(version="2014.2")

    entity = "queue"
    physical_resource_name_limit = 64
    properties_schema = notation.properties("""
        metadata map (update) -- What is kept with the queue; keys that begin
            -- with an underscore mean something to the service.
        name string (len None..64) -- What it is called; made up when left
            -- out.
    """)
    attributes_schema = notation.attributes("""
        href string -- Its address.
        queue_id string -- Its id, which is its name.
    """)

    def path(self) -> str:
        return f"/queues/{self.resource_id}"

    def shown(self) -> dict[str, Any]:
        """Name and metadata.

        :raises heat.common.exception.EntityNotFound: it is gone
        """
        name = self.resource_id
        if name is None or not self.has_queue(name):
            raise exception.EntityNotFound(entity="Queue", name=name)
        return {"name": name, _METADATA: self.ask("GET", self.path())}

    # -- create, update ------------------------------------------------------

    def connect(self, properties: Any) -> None:
        name = self.resource_id or properties["name"]
        self.resource_id_set(name or self.physical_resource_name())
        wanted = dict(properties[_METADATA] or {})
        self.ask("PUT", self.path(), body=wanted)
        # One that was there already is as it was.
        found = self.ask("GET", self.path())
        changes = [
            {"op": "add", "path": _pointer(key), "value": wanted[key]}
            for key in wanted
            if key not in found or found[key] != wanted[key]
        ]
        changes += [
            {"op": "remove", "path": _pointer(key)}
            for key in self.properties[_METADATA] or {}
            if key in found and key not in wanted
        ]
        if changes:
            self.ask("PATCH", self.path(), body=changes, kind=zaqar.PATCH)

    def find_made(self) -> str | None:
        """See the base: by the name made up."""
        name = self.physical_resource_name()
        return name if name is not None and self.has_queue(name) else None

    def resume_create(self, found: bool) -> Any:
        self.connect(self.properties)
        return None

    def remove_object(self) -> None:
        self.ask("DELETE", self.path())

    # -- look ----------------------------------------------------------------

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The metadata, without what the service keeps there itself."""
        wanted = resource_properties[_METADATA]
        found = {
            key: value
            for key, value in resource_data[_METADATA].items()
            if key in (wanted or ()) or not key.startswith("_")
        }
        return {_METADATA: found if found or wanted is not None else None}

    def _resolve_attribute(self, name: str) -> Any:
        if name == "queue_id" or self.resource_id is None:
            return self.resource_id
        root = str(self.client().get_endpoint()).rstrip("/")
        if not root.endswith(f"/{zaqar.VERSION}"):
            root += f"/{zaqar.VERSION}"
        return f"{root}{self.path()}"


def _pointer(key: str) -> str:
    return "/metadata/" + key.replace("~", "~0").replace("/", "~1")


class QueueConstraint(cloud_constraints.CloudConstraint):
    """What the service takes for a queue's name.

    There need be no such queue: it is made when it is first used.
    """

    name = "zaqar.queue"

    def _look(self, made: Any, service: str, value: str) -> bool:
        plugin = made.client_plugin(service)
        zaqar.ask(plugin.client, "GET", f"/queues/{parse.quote(value)}")
        return True


def constraint_mapping() -> dict[str, Any]:
    return {QueueConstraint.name: QueueConstraint}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Zaqar::Queue": Queue}
