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

"""From what the engine answers to the body of a response.

Pure: dictionaries in, dictionaries out. The engine tells identities; a view
turns them into ids and links, and joins action and status. Keys that a view
does not name are not shown.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any
from urllib import parse

from heat.common import identifier
from heat.rpc import api as rpc_api

Row = Mapping[str, Any]

STACK_LIST_KEYS = (
    "creation_time",
    "deletion_time",
    "description",
    "parent",
    "stack_name",
    "stack_owner",
    "stack_status_reason",
    "stack_user_project_id",
    "tags",
    "updated_time",
)
# Keys of a whole stack; ``outputs`` is there only when they were resolved.
STACK_KEYS = (
    *STACK_LIST_KEYS,
    "capabilities",
    "disable_rollback",
    "notification_topics",
    "outputs",
    "parameters",
    "template_description",
    "timeout_mins",
)
# Ours: the record of the lock, or null, and what is left to clean up, if
# anything. An older engine has no such keys.
_STACK_EXTRA = (rpc_api.STACK_LOCK, rpc_api.STACK_CLEANUP)

_RESOURCE_KEYS = (
    "creation_time",
    "physical_resource_id",
    "required_by",
    "resource_name",
    "resource_status_reason",
    "resource_type",
    "updated_time",
)
# Ours, and only where there is something to say.
_RESOURCE_OURS = (
    rpc_api.RES_EXTERNAL,
    rpc_api.RES_REPLACES,
    rpc_api.RES_REPLACED_BY,
)
_RESOURCE_DETAIL = ("attributes", "description")
_EVENT_KEYS = (
    "event_time",
    "physical_resource_id",
    "resource_name",
    "resource_status_reason",
)
_EVENT_DETAIL = ("resource_properties", "resource_type")
_SNAPSHOT_KEYS = (
    *("id", "name", "action", "status", "status_reason"),
    *("creation_time", "data"),
)
_CONFIG_KEYS = (
    *("id", "name", "group", "config", "inputs", "outputs", "options"),
    "creation_time",
)
_DEPLOYMENT_KEYS = (
    *("id", "config_id", "server_id", "input_values", "output_values"),
    *("action", "status", "status_reason", "creation_time", "updated_time"),
)


@functools.lru_cache(maxsize=4096)
def _quoted(part: str) -> str:
    """A part of a path. A list asks for the same ones again and again."""
    return parse.quote(part, safe="")


@dataclasses.dataclass(frozen=True, slots=True)
class Links:
    """Absolute URLs of what the API shows.

    :param root: scheme, host and mount point, without a slash at the end
    """

    root: str

    def stack(self, identity: Row, path: str | None = None) -> str:
        """URL of the thing an identity names: a stack, resource or event.

        :param path: in place of the identity's own; "" for the stack
        """
        if path is None:
            path = identity.get("path") or ""
        if path:
            path = parse.quote(path if path.startswith("/") else f"/{path}")
        tenant, name = identity["tenant"], identity["stack_name"]
        return (
            f"{self.root}/v1/{_quoted(str(tenant))}/stacks/"
            f"{_quoted(str(name))}/{_quoted(str(identity['stack_id']))}{path}"
        )

    def link(
        self, identity: Row, rel: str, path: str | None = None
    ) -> dict[str, str]:
        """A link to the thing an identity names."""
        return {"href": self.stack(identity, path), "rel": rel}

    def stacks(self, tenant: str, query: str, rel: str) -> dict[str, str]:
        """A link to a list of stacks.

        :param query: without ``?``
        """
        where = f"{self.root}/v1/{_quoted(tenant)}/stacks"
        return {"href": f"{where}?{query}", "rel": rel}

    def versions(self) -> dict[str, str]:
        """A link to version 1."""
        return {"href": f"{self.root}/v1/", "rel": "self"}


def _present(row: Row, keys: Iterable[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def _all(row: Row, keys: Iterable[str]) -> dict[str, Any]:
    return {key: row.get(key) for key in keys}


def _status(action: Any, status: Any) -> Any:
    """Action and status joined, as this API shows them."""
    return f"{action}_{status}" if action and status else status


# -- stacks -------------------------------------------------------------------


def stack(links: Links, row: Row) -> dict[str, Any]:
    """A whole stack."""
    return _stack(links, row, _present(row, STACK_KEYS))


def stack_brief(
    links: Links, row: Row, show_project: bool = False
) -> dict[str, Any]:
    """A stack in a list.

    :param show_project: tell whose it is, in lists over all projects
    """
    shown = _stack(links, row, _all(row, STACK_LIST_KEYS))
    if show_project:
        shown["project"] = row["stack_identity"]["tenant"]
    return shown


def _stack(links: Links, row: Row, shown: dict[str, Any]) -> dict[str, Any]:
    identity = row["stack_identity"]
    shown.update(_present(row, _STACK_EXTRA))
    shown["id"] = identity["stack_id"]
    shown["links"] = [links.link(identity, "self", "")]
    if "stack_status" in row:
        shown["stack_status"] = _status(
            row.get("stack_action"), row["stack_status"]
        )
    return shown


def stack_created(links: Links, identity: Row) -> dict[str, Any]:
    """The answer to a create."""
    return {
        "id": identity["stack_id"],
        "links": [links.link(identity, "self", "")],
    }


def stack_preview(links: Links, row: Row) -> dict[str, Any]:
    """What a create would make, with its resources."""
    shown = stack(links, row)
    shown["resources"] = list(row.get("resources") or ())
    return shown


def update_preview(row: Row) -> dict[str, Any]:
    """What an update would change.

    The groups stand at the top, as published, and once more below
    ``resource_changes``, as deployed services answer and python-heatclient
    expects. Only at the top is the identity of a stack a text.
    """
    groups = {
        name: list(row.get(name) or ())
        for name in ("unchanged", "updated", "replaced", "added", "deleted")
    }
    extra = {k: v for k, v in row.items() if k not in groups}
    published = {
        name: [_change(change) for change in changes]
        for name, changes in groups.items()
    }
    return {**extra, **published, "resource_changes": groups}


def _change(row: Row) -> dict[str, Any]:
    unpublished = ("resource_identity", "creation_time")
    shown = {k: v for k, v in row.items() if k not in unpublished}
    identity = shown.get("stack_identity")
    if isinstance(identity, Mapping):
        shown["stack_identity"] = identifier.HeatIdentifier.from_dict(
            dict(identity)
        ).arn()
    return shown


def accepted(title: str, message: str, code: str) -> dict[str, str]:
    """The published body of answers that only tell their status."""
    return {"code": code, "message": message, "title": title}


# -- resources and events -----------------------------------------------------


def resource(links: Links, row: Row) -> dict[str, Any]:
    """A whole resource."""
    shown = resource_brief(links, row)
    shown.update(_all(row, _RESOURCE_DETAIL))
    return shown


def resource_detailed(links: Links, row: Row) -> dict[str, Any]:
    """A resource in a list with details: what the engine tells of them."""
    shown = resource_brief(links, row)
    shown.update(_present(row, _RESOURCE_DETAIL))
    return shown


def resource_brief(links: Links, row: Row) -> dict[str, Any]:
    """A resource in a list."""
    shown = _all(row, _RESOURCE_KEYS)
    shown.update(_present(row, _RESOURCE_OURS))
    shown["required_by"] = list(row.get("required_by") or ())
    shown["logical_resource_id"] = row.get("resource_name")
    shown["resource_status"] = _status(
        row.get("resource_action"), row.get("resource_status")
    )
    if row.get("parent_resource") is not None:
        shown["parent_resource"] = row["parent_resource"]
    owner = row["stack_identity"]
    own = row.get("resource_identity") or {
        **owner,
        "path": f"/resources/{row.get('resource_name')}",
    }
    shown["links"] = [
        links.link(own, "self"),
        links.link(owner, "stack", ""),
    ]
    nested = row.get("nested_stack_id")
    if isinstance(nested, Mapping):
        shown["links"].append(links.link(nested, "nested", ""))
    return shown


def event_brief(links: Links, row: Row) -> dict[str, Any]:
    """An event in a list."""
    shown = _all(row, _EVENT_KEYS)
    shown["id"] = event_id(row)
    shown["logical_resource_id"] = row.get("resource_name")
    shown["resource_status"] = _status(
        row.get("resource_action"), row.get("resource_status")
    )
    own = row["event_identity"]
    owner = row.get("stack_identity") or own
    resource_path = str(own["path"]).rpartition("/events/")[0]
    shown["links"] = [
        links.link(own, "self"),
        links.link(own, "resource", resource_path),
        links.link(owner, "stack", ""),
    ]
    root = row.get("root_stack_id")
    if isinstance(root, Mapping):
        shown["links"].append(links.link(root, "root_stack", ""))
    return shown


def event(links: Links, row: Row) -> dict[str, Any]:
    """A whole event."""
    return {**event_brief(links, row), **_all(row, _EVENT_DETAIL)}


def event_id(row: Row) -> str:
    """The id of an event: the last part of its identity's path."""
    return str(row["event_identity"]["path"]).rpartition("/")[2]


# -- the rest -----------------------------------------------------------------


def snapshot(row: Row) -> dict[str, Any]:
    """A snapshot."""
    return _all(row, _SNAPSHOT_KEYS)


def software_config(row: Row) -> dict[str, Any]:
    """A whole software configuration."""
    return _all(row, _CONFIG_KEYS)


def software_config_to_deploy(row: Row) -> dict[str, Any]:
    """A software configuration, as a server is told of it."""
    return _all(row, (*_CONFIG_KEYS, "updated_time"))


def software_config_brief(
    row: Row, show_project: bool = False
) -> dict[str, Any]:
    """A software configuration in a list."""
    shown = _present(row, _CONFIG_KEYS)
    if show_project and "project" in row:
        shown["project"] = row["project"]
    return shown


def software_deployment(row: Row) -> dict[str, Any]:
    """A software deployment."""
    return _all(row, _DEPLOYMENT_KEYS)


def versions(links: Links) -> dict[str, Any]:
    """The versions of the API."""
    return {
        "versions": [
            {
                "id": "v1.0",
                "status": "CURRENT",
                "links": [links.versions()],
            }
        ]
    }
