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

"""Hooks: points at which a user may have a resource wait.

A hook that holds a resource is an entry of its data under the hook's name.
Which resources a hook is asked for on is the environment's business.
"""

from __future__ import annotations

import dataclasses
from typing import Any

HOOK_TYPES = (
    HOOK_PRE_CREATE,
    HOOK_PRE_UPDATE,
    HOOK_PRE_DELETE,
    HOOK_POST_CREATE,
    HOOK_POST_UPDATE,
    HOOK_POST_DELETE,
) = (
    "pre-create",
    "pre-update",
    "pre-delete",
    "post-create",
    "post-update",
    "post-delete",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """What the data of a resource says of a hook, in one traversal.

    :ivar is_set: it waits there; else it has been let go
    :ivar node: the node of the graph that waits, and which half of it
    """

    is_set: bool
    traversal_id: str = ""
    node: int = 0
    half: str = ""


def mark_set(traversal_id: str, node: int, half: str) -> str:
    """The entry of a hook at which a node waits."""
    return f"set {traversal_id} {node} {half}"


def mark_cleared(traversal_id: str) -> str:
    """The entry of a hook that a node has passed."""
    return f"cleared {traversal_id}"


def read(text: str | None) -> Mark | None:
    """An entry, None when there is none."""
    parts = (text or "").split()
    if len(parts) == 4 and parts[0] == "set":
        return Mark(True, parts[1], int(parts[2]), parts[3])
    if len(parts) == 2 and parts[0] == "cleared":
        return Mark(False, parts[1])
    return Mark(True) if parts else None


def has_hook(rsrc: Any, hook: str) -> bool:
    """Tell whether ``hook`` holds the resource now."""
    mark = read(rsrc.data().get(hook))
    return mark is not None and mark.is_set


def set_hook(rsrc: Any, hook: str) -> None:
    """Have the resource wait."""
    if hook not in HOOK_TYPES:
        raise ValueError(f"{hook} is no hook")
    rsrc.data_set(hook, "True")


def clear_hook(rsrc: Any, hook: str) -> None:
    """Let the resource go on; nothing happens when it does not wait."""
    if hook in rsrc.data():
        rsrc.data_delete(hook)
