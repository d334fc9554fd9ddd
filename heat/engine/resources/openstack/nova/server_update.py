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

"""What an update does to a server, one step after the other.

An update is a list of steps; each is begun and then looked at until it is
done, without holding a thread. What takes no time is done at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from heat.engine.resource import outcomes, rest
from heat.engine.resources import server_agent
from heat.engine.resources.openstack.nova import server_networks, user_data

_REPLACE = "REPLACE"
_PRESERVE = "REBUILD_PRESERVE_EPHEMERAL"
_POLICIES = (
    ("flavor", "flavor_update_policy"),
    ("image", "image_update_policy"),
    ("user_data", "user_data_update_policy"),
)


def needs_replace(changed: Collection[str], after: Any, before: Any) -> bool:
    """Whether the policies ask for a new server."""
    for name, policy in _POLICIES:
        if name in changed and after[policy] == _REPLACE:
            return True
    # There is nothing to rebuild from, or nothing to boot from any more.
    return "image" in changed and not (before["image"] and after["image"])


def plan(
    server: Any, before: Any, after: Any, changed: Mapping[str, Any]
) -> dict[str, Any]:
    """Do what takes no time, and list what does.

    :param before: properties of a server, as are those after
    :returns: the token of :func:`advance`
    """
    _at_once(server, before, after, changed)
    steps = []
    rebuilds = "image" in changed or (
        "user_data" in changed
        and after["user_data_update_policy"] == "REBUILD"
    )
    if rebuilds:
        steps.append("rebuild")
    if "flavor" in changed:
        steps += ["resize", "confirm"]
    return {"todo": steps, "doing": None, "after": after}


def _at_once(
    server: Any, before: Any, after: Any, changed: Mapping[str, Any]
) -> None:
    servers, ident = server.collection(), server.resource_id
    if "name" in changed:
        name = after["name"] or server.physical_resource_name()
        servers.call("update", ident, name=name)
    if "metadata" in changed:
        wanted = {k: str(v) for k, v in (after["metadata"] or {}).items()}
        now = servers.get(ident).get("metadata") or {}
        gone = [key for key in now if key not in wanted]
        if gone:
            servers.call("delete_meta", ident, gone)
        if wanted:
            servers.call("set_meta", ident, wanted)
    if "tags" in changed:
        servers.call("set_tags", ident, after["tags"] or [])
    if "admin_pass" in changed and after["admin_pass"]:
        servers.call("change_password", ident, after["admin_pass"])
    if server_agent.AGENT_PROPERTIES & changed.keys() and (
        after["user_data_format"] == "SOFTWARE_CONFIG"
    ):
        # The agent reads of it where it has looked so far.
        server.configure_agent(after)
    if "networks" in changed:
        server_networks.change(server, before, after)


def advance(server: Any, token: dict[str, Any] | None) -> bool:
    """Look at the step that runs, and begin the next.

    :raises PollDelay: a step needs time still
    :raises heat.common.exception.ResourceInError: a step failed
    """
    if not token:
        return True
    while True:
        if token["doing"] is not None:
            if not _is_done(server, token["doing"]):
                raise outcomes.PollDelay(rest.POLL_SECONDS)
            token["doing"] = None
        if not token["todo"]:
            return True
        step = token["todo"].pop(0)
        _begin(server, step, token["after"])
        token["doing"] = step


def _begin(server: Any, step: str, after: Any) -> None:
    servers, ident = server.collection(), server.resource_id
    if step == "resize":
        servers.call("resize", ident, after["flavor"], idempotent=False)
    elif step == "confirm":
        if server.judge(servers.get(ident)) == "VERIFY_RESIZE":
            servers.call("confirm_resize", ident, idempotent=False)
    else:
        more: dict[str, Any] = {}
        if after["image_update_policy"] == _PRESERVE:
            more["preserve_ephemeral"] = True
        if after["user_data_update_policy"] == "REBUILD":
            more["userdata"] = user_data.build(server, after)
        if after["admin_pass"]:
            more["password"] = after["admin_pass"]
        servers.call(
            "rebuild", ident, after["image"], idempotent=False, **more
        )


def _is_done(server: Any, step: str) -> bool:
    status = server.judge(server.shown())
    if step == "resize":
        # Clouds that confirm by themselves go straight to ACTIVE.
        return status in ("VERIFY_RESIZE", "ACTIVE", "SHUTOFF")
    return status not in server.pending and status != "VERIFY_RESIZE"
