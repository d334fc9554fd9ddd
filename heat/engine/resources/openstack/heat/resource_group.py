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

"""OS::Heat::ResourceGroup: any number of resources of one definition."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from heat.engine import function, support
from heat.engine.resource import notation
from heat.engine.resources import group
from heat.scaling import rolling_update, template

_REMOVED = "removed_members"


class ResourceGroup(group.GroupResource):
    """Resources that are alike, but for their number.

    The members are the resources "0", "1", ... of one nested stack. The
    word of ``index_var`` in a member's properties stands for its number.
    """

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (
        COUNT,
        INDEX_VAR,
        RESOURCE_DEF,
        REMOVAL_POLICIES,
        REMOVAL_POLICIES_MODE,
    ) = (
        "count",
        "index_var",
        "resource_def",
        "removal_policies",
        "removal_policies_mode",
    )
    ROLLING_UPDATE, BATCH_CREATE = group.ROLLING_UPDATE, group.BATCH_CREATE
    APPEND, UPDATE_MODE = "append", "update"

    properties_schema = notation.properties("""
        count integer (update, =1, range 0..None) -- How many members there
        -- are.
        index_var string (="%index%", len 3..None) -- The word that stands
        -- for a member's number in the texts of its properties.
        resource_def map{
            type string (required) -- The type of every member: a resource
            -- type, or the name of a template.
            properties map -- The properties of every member.
            metadata map -- The metadata of every member.
        } (required, update) -- What every member is.
        removal_policies list{* map{
            resource_list list (=[]) -- Members, by name or by what
            -- get_resource gives for them.
        }} (update, =[]) -- Members that go in an update, whatever the
        -- count. Others take their place, under names that were not used.
        removal_policies_mode string (update, ="append",
            in ["append", "update"]) -- Whether names that were removed
        -- before stay unused (append), or can be used again once they are
        -- not listed any more (update).
    """)
    attributes_schema = notation.attributes("""
        attributes map -- An attribute of the members, by member. The next
        -- key is the attribute's name.
        refs list -- What get_resource gives for each member.
        refs_map map -- What get_resource gives for each member, by member.
        removed_rsrc_list list -- Names that are not used any more.
    """)
    update_policy_schema = group.UPDATE_POLICIES
    of_members = frozenset((RESOURCE_DEF,))
    for _entry in attributes_schema.values():
        # The members may change without the group.
        _entry.cache_mode = _entry.CACHE_NONE
    del _entry

    def __init__(self, name: str, json_snippet: Any, stack: Any) -> None:
        super().__init__(name, json_snippet, stack)
        self._gone: tuple[str, ...] | None = None

    # -- the members -------------------------------------------------------

    def size(self) -> int:
        return int(self.properties[self.COUNT])

    def members(self) -> dict[str, Any]:
        return dict(itertools.islice(self._all(), self.size()))

    def spares(self) -> Iterable[tuple[str, Any]]:
        return itertools.islice(self._all(), self.size(), None)

    def _all(self) -> Iterator[tuple[str, Any]]:
        """Members without end."""
        wish = self.properties[self.RESOURCE_DEF]
        for name in template.member_names(self._removed()):
            yield name, self._member(wish, name)

    def samples(self) -> dict[str, Any]:
        return dict(itertools.islice(self._unclear(), 1))

    def drafts(self) -> dict[str, Any]:
        return dict(itertools.islice(self._unclear(), self.size()))

    def _unclear(self) -> Iterator[tuple[str, Any]]:
        """Members without end, before all is known that they need."""
        wish = self.t.section("properties")
        if not isinstance(wish, Mapping):
            wish = function.resolve(wish) or {}
        wish = group.unknowns(wish.get(self.RESOURCE_DEF) or {})
        for name in template.member_names(self._removed()):
            yield name, self._member(wish, name)

    def _member(self, wish: Mapping[str, Any], name: str) -> dict[str, Any]:
        body: dict[str, Any] = {"type": wish.get("type")}
        for key in ("properties", "metadata"):
            given = wish.get(key)
            if given is not None:
                body[key] = template.replace_index(
                    given, self.properties[self.INDEX_VAR], name
                )
        return body

    def pace(self, changing: bool) -> rolling_update.Pace:
        return self.pace_of_policies(changing)

    # -- those that are removed --------------------------------------------

    def handle_create(self) -> None:
        # There is nobody yet whom a policy could remove.
        self._gone = ()
        super().handle_create()

    def handle_adopt(self, resource_data: Any = None) -> None:
        # Who has gone is known; a policy that has acted does not act again.
        self._gone = self._removed_before()
        super().handle_adopt(resource_data)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        self.properties = json_snippet.properties(
            self.properties_schema, self.context
        )
        # Found out once: who has gone is not found again.
        self._gone = self._removed()
        self.data_set(_REMOVED, json.dumps(self._gone))
        super().handle_update(json_snippet, tmpl_diff, prop_diff)

    def _removed(self) -> tuple[str, ...]:
        """Names that are not used, in order."""
        if self._gone is not None:
            return self._gone
        before = self._removed_before()
        listed = self._listed()
        if not listed:
            append = self.properties[self.REMOVAL_POLICIES_MODE] == self.APPEND
            return before if append else ()
        references = self._references_there()
        found = {
            name
            for name in {*before, *references}
            for wanted in listed
            if name == wanted or _is_meant(references.get(name), wanted)
        }
        if self.properties[self.REMOVAL_POLICIES_MODE] == self.APPEND:
            found.update(before)
        return tuple(sorted(found, key=_number))

    def _listed(self) -> list[str]:
        return [
            str(wanted)
            for policy in self.properties[self.REMOVAL_POLICIES] or ()
            for wanted in policy["resource_list"] or ()
        ]

    def _removed_before(self) -> tuple[str, ...]:
        return tuple(json.loads(self.data().get(_REMOVED) or "[]"))

    def _references_there(self) -> dict[str, str | None]:
        """Member -> what ``get_resource`` gives, of those there are."""
        view = self.nested()
        found: dict[str, str | None] = {}
        for name in view or ():
            member = view.neighbour(name)
            found[name] = member.reference_id if member else None
        return found

    def _resolve_attribute(self, name: str) -> Any:
        if name == group.REMOVED:
            return list(self._removed_before())
        return super()._resolve_attribute(name)


def _is_meant(reference: str | None, wanted: str) -> bool:
    """Whether this is what ``get_resource`` gives, or the id in it."""
    return reference is not None and (
        reference == wanted or reference.endswith(f"/{wanted}")
    )


def _number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (0, name)


def resource_mapping() -> dict[str, type[ResourceGroup]]:
    return {"OS::Heat::ResourceGroup": ResourceGroup}
