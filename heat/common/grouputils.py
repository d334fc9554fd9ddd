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

"""What plug-ins ask of a group: who its members are.

A group is a resource with a nested stack; whatever is asked is read from
what that stack knows of its resources. Of the engine nothing is imported.
"""

from __future__ import annotations

from typing import Any


def get_members(group: Any, include_failed: bool = False) -> list[Any]:
    """The members that exist, in the order of the template.

    :param group: a resource with a nested stack
    :param include_failed: those whose last action failed, too
    """
    stack = group.nested()
    found = [stack.neighbour(name) for name in stack or ()]
    return [
        member
        for member in found
        if member is not None and (include_failed or member.status != "FAILED")
    ]


def get_size(group: Any, include_failed: bool = False) -> int:
    """How many members exist."""
    return len(get_members(group, include_failed))


def get_member_names(group: Any) -> list[str]:
    """The names of the members that did not fail."""
    return [member.name for member in get_members(group)]


def get_member_refids(group: Any) -> list[str]:
    """What ``get_resource`` gives for each member that did not fail."""
    return [member.FnGetRefId() for member in get_members(group)]
