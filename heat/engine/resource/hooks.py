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


def has_hook(rsrc: Any, hook: str) -> bool:
    """Tell whether ``hook`` holds the resource now."""
    return hook in rsrc.data()


def set_hook(rsrc: Any, hook: str) -> None:
    """Have the resource wait."""
    if hook not in HOOK_TYPES:
        raise ValueError(f"{hook} is no hook")
    rsrc.data_set(hook, "True")


def clear_hook(rsrc: Any, hook: str) -> None:
    """Let the resource go on; nothing happens when it does not wait."""
    if hook in rsrc.data():
        rsrc.data_delete(hook)
