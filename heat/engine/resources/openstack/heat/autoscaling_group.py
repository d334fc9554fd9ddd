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

"""OS::Heat::AutoScalingGroup: a group whose size policies change."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from heat.engine import function, support
from heat.engine.resource import notation
from heat.engine.resources import group, scaled_group
from heat.scaling import rolling_update, template


class AutoScalingGroup(scaled_group.ScaledGroup):
    """Resources that are alike, as many as policies want.

    The size that a policy chose survives any other update.
    """

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (
        RESOURCE,
        MAX_SIZE,
        MIN_SIZE,
        COOLDOWN,
        DESIRED_CAPACITY,
        ROLLING_UPDATES,
    ) = (
        "resource",
        "max_size",
        "min_size",
        "cooldown",
        "desired_capacity",
        "rolling_updates",
    )
    fewest_property, most_property = MIN_SIZE, MAX_SIZE
    cooldown_property, desired_property = COOLDOWN, DESIRED_CAPACITY

    OUTPUTS, OUTPUTS_LIST, CURRENT_SIZE = (
        "outputs",
        "outputs_list",
        "current_size",
    )

    properties_schema = notation.properties("""
        resource map (required, update) -- The definition of every member,
        -- as a template has it.
        max_size integer (required, update, range 0..None) -- The most
        -- members there may be.
        min_size integer (required, update, range 0..None) -- The fewest
        -- members there may be.
        cooldown integer (update) -- Seconds after a policy has acted in
        -- which no other one does.
        desired_capacity integer (update) -- How many members there are at
        -- first, and whenever this changes.
        rolling_updates map{
            min_in_service integer (=0, range 0..None) -- Members that
            -- nothing is done with at any time.
            max_batch_size integer (=1, range 1..None) -- Members changed at
            -- once.
            pause_time number (=0, range 0..None) -- Seconds between two
            -- batches.
        } (update,
            ={"min_in_service": 0, "max_batch_size": 1, "pause_time": 0})
        -- How fast members are changed.
    """)
    attributes_schema = notation.attributes("""
        outputs map -- An attribute of the members, by member. The next key
        -- is the attribute's name.
        outputs_list list -- An attribute of the members, as a list. The
        -- next key is the attribute's name.
        current_size integer -- How many members there are.
        refs list -- What get_resource gives for each member.
        refs_map map -- What get_resource gives for each member, by member.
    """)
    for _entry in attributes_schema.values():
        # The members may change without the group.
        _entry.cache_mode = _entry.CACHE_NONE
    del _entry

    own_attributes = frozenset((group.REFS, group.REFS_MAP, CURRENT_SIZE))

    of_members = frozenset((RESOURCE,))

    # -- the members -------------------------------------------------------

    def members(self) -> dict[str, Any]:
        return dict(itertools.islice(self._all(), self.size()))

    def spares(self) -> Iterable[tuple[str, Any]]:
        return itertools.islice(self._all(), self.size(), None)

    def _all(self) -> Iterator[tuple[str, Any]]:
        body = self.properties[self.RESOURCE]
        return ((name, body) for name in template.member_names())

    def samples(self) -> dict[str, Any]:
        wish = self.t.section("properties")
        if not isinstance(wish, Mapping):
            wish = function.resolve(wish) or {}
        return {"0": group.unknowns(wish.get(self.RESOURCE) or {})}

    def pace(self, changing: bool) -> rolling_update.Pace:
        given = self.properties[self.ROLLING_UPDATES]
        if not changing or given is None:
            return rolling_update.UNLIMITED
        return rolling_update.Pace(
            given["max_batch_size"],
            given["min_in_service"],
            given["pause_time"],
        )

    # -- attributes --------------------------------------------------------

    def _of_member(self, key: Any) -> template.Asked:
        if key[0] in (self.OUTPUTS, self.OUTPUTS_LIST):
            return template.Asked("", tuple(map(str, key[1:])))
        return super()._of_member(key)

    def _resolve_attribute(self, name: str) -> Any:
        if name == self.CURRENT_SIZE:
            return len(self._references())
        return super()._resolve_attribute(name)

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        found = super().FnGetAtt(key, *path)
        if key == self.OUTPUTS and isinstance(found, list):
            names = self._references()
            return dict(zip(names, found, strict=False))
        return found


def resource_mapping() -> dict[str, type[AutoScalingGroup]]:
    return {"OS::Heat::AutoScalingGroup": AutoScalingGroup}
