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

"""Finding an object again that nobody has recorded.

When an engine stops between a service's answer and writing it down, there is
an object that no row knows. It is found by the name that was made up for its
row; where a user chose the name, or there are no names, by a mark that was
sent along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.engine.resource import outcomes, rest_body

# Where the methods are that make an object in one call, and what they are.
_PLAIN = (f"{__package__}.rest", __name__)
_MAKING = ("handle_create", "make", "finish_create")
# How every mark begins.
_MARK = "Made by Heat (resource"


def is_mark(value: Any) -> bool:
    """Whether a text that a service shows is the mark of some row."""
    return str(value).startswith(_MARK)


class FindableObject(rest_body.RestObject):
    """An object that carries, where it can, a trace of its row."""

    #: key of the body that may carry a mark of the row, for objects whose
    #: name says nothing of it; None: such an object isn't found again
    mark_key: ClassVar[str | None] = None
    #: whether what takes further calls may be done again: an object that was
    #: found is finished then, not replaced
    finishes_again: ClassVar[bool] = False
    # The object's state is all that a waiting create goes by.
    resumes_create = True

    def mark(self) -> str:
        """A text that only the object of this row carries."""
        return f"{_MARK} {self.uuid})"

    def create_body(self, properties: Any) -> dict[str, Any]:
        return self.marked(super().create_body(properties))

    def marked(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body with a mark of the row, where its name is none."""
        key = self.mark_key
        if key is not None and self.chosen_name() != "" and not body.get(key):
            body[key] = self.mark()
        return body

    def chosen_name(self) -> str | None:
        """The name that the user gave, "" for none; None: there are no
        names."""
        if self.name_property is None:
            return None
        if self.name_property not in self.properties_schema:
            # Nobody can give one: it is always made up.
            return ""
        return str(self.properties.get_user_value(self.name_property) or "")

    def find_made(self) -> str | None:
        """The id of the object that was made for this row.

        It has the name that was made up for the row, or else its mark: by
        a name that a user chose, somebody else's object might be found. An
        engine that stopped early may not have recorded the properties, so
        that nobody knows whether a user chose the name: both are tried.
        """
        if self.uuid is None:
            return None
        tried = {}
        if self.name_property is not None:
            tried[self.body_key(self.name_property)] = (
                self.physical_resource_name()
            )
        if self.mark_key is not None:
            tried[self.mark_key] = self.mark()
        for key, value in tried.items():
            for each in self.listed(**{key: value}):
                if each.get(key) == value:
                    return str(each["id"])
        return None

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base; what carries a mark has nothing of the user's."""
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        if is_mark(found.get(self.mark_key or "")):
            del found[str(self.mark_key)]
        return found

    def resume_create(self, found: bool) -> Any:
        if not found:
            return None
        if not self.is_whole_when_found():
            raise outcomes.UpdateReplace(self.name)
        if self.finishes_again:
            self.finish_create(self.properties)
        return None

    def finish_create(self, properties: Any) -> None:
        """What takes further calls once there is an object."""

    def is_whole_when_found(self) -> bool:
        """Whether making the object is one call, but for what may be done
        again, and nothing is to be kept of its answer: then one that was
        found is as good as one made."""
        cls = type(self)
        return all(
            getattr(cls, name).__module__ in _PLAIN
            for name in _MAKING
            if not (name == "finish_create" and self.finishes_again)
        )

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        """The service's objects that have these values, or more of them."""
        found: list[dict[str, Any]] = self.collection().list(**filters)
        return found
