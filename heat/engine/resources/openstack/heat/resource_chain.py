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

"""OS::Heat::ResourceChain: resources of several types, one set of
properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine import function, support
from heat.engine.resource import notation
from heat.engine.resources import group


class ResourceChain(group.GroupResource):
    """Resources with the same properties, each of a type of its own.

    One is made after the other, or all at once with ``concurrent``.
    """

    support_status = support.SupportStatus(version="6.0.0")

    PROPERTIES = (RESOURCES, CONCURRENT, RESOURCE_PROPERTIES) = (
        "resources",
        "concurrent",
        "resource_properties",
    )

    properties_schema = notation.properties("""
        resources list (required, update) -- The types, in order; resource
        -- types, or names of templates.
        concurrent boolean (=false) -- Whether all are made at once.
        resource_properties map -- The properties of each.
    """)
    attributes_schema = notation.attributes("""
        attributes map -- An attribute of the members, by member. The next
        -- key is the attribute's name.
        refs list -- What get_resource gives for each member.
    """)
    for _entry in attributes_schema.values():
        # The members may change without the chain.
        _entry.cache_mode = _entry.CACHE_NONE
    del _entry

    alike = False
    of_members = frozenset((RESOURCE_PROPERTIES,))

    def members(self) -> dict[str, Any]:
        return self._chain(
            self.properties[self.RESOURCES],
            self.properties[self.RESOURCE_PROPERTIES],
        )

    def samples(self) -> dict[str, Any]:
        wish = self.t.section("properties")
        if not isinstance(wish, Mapping):
            wish = function.resolve(wish) or {}
        given = group.unknowns(wish.get(self.RESOURCE_PROPERTIES))
        return self._chain(self.properties[self.RESOURCES] or [], given)

    def _chain(self, types: list[Any], given: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for number, type_ in enumerate(types):
            body: dict[str, Any] = {"type": type_}
            if given is not None:
                body["properties"] = given
            if number and not self.properties[self.CONCURRENT]:
                body["depends_on"] = [str(number - 1)]
            made[str(number)] = body
        return made


def resource_mapping() -> dict[str, type[ResourceChain]]:
    return {"OS::Heat::ResourceChain": ResourceChain}
