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

"""ScaledGroup: a group whose size policies change.

A policy writes its wish into the data of the group and has the stack
updated; so the size that a policy chose survives any other update. What a
policy must know of the group is in these data as well, so that a policy
never reads a template.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.resources import group

#: Data of the group: its size, the wish of a policy, the wish that it has
#: come to, when a policy last acted (epoch seconds), and
#: the bounds.
SIZE, WISH, DONE, SCALED_AT, BOUNDS = (
    "size",
    "wish",
    "wish_done",
    "scaled_at",
    "bounds",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """What limits the policies of a group.

    :ivar cooldown: seconds in which no policy acts after one has acted
    """

    fewest: int
    most: int
    cooldown: float = 0

    def to_text(self) -> str:
        return json.dumps(dataclasses.astuple(self))

    @classmethod
    def of_data(cls, data: Mapping[str, str]) -> Bounds | None:
        """The bounds in the data of a resource; None: it is no group."""
        text = data.get(BOUNDS)
        return None if text is None else cls(*json.loads(text))


class Wish(NamedTuple):
    """What a policy wants of a group.

    :ivar token: no two wishes have the same
    :ivar kind: of the adjustment, as is the amount, in the policy's words
    """

    token: str
    kind: str
    amount: float
    size: int

    def __str__(self) -> str:
        return json.dumps(self)

    @classmethod
    def of_data(cls, data: Mapping[str, str]) -> Wish | None:
        """The wish that the group has not come to yet."""
        text = data.get(WISH)
        if text is None or text == data.get(DONE):
            return None
        return cls(*json.loads(text))


class ScaledGroup(group.GroupResource):
    """A group whose size policies change."""

    #: names of properties: fewest and most members, seconds, size at first
    fewest_property: ClassVar[str]
    most_property: ClassVar[str]
    cooldown_property: ClassVar[str]
    desired_property: ClassVar[str]

    #: what a policy wants, while an update brings it about
    _wish: Wish | None = None

    def size(self) -> int:
        """The size that is wanted now, within the bounds."""
        wanted: Any = self.data().get(SIZE)
        if wanted is None:
            wanted = self.properties[self.desired_property]
        return self._bounded(int(wanted or 0))

    def _bounded(self, wanted: int) -> int:
        bounds = self._bounds()
        return max(bounds.fewest, min(bounds.most, wanted))

    def _bounds(self) -> Bounds:
        return Bounds(
            int(self.properties[self.fewest_property]),
            int(self.properties[self.most_property]),
            float(self.properties[self.cooldown_property] or 0),
        )

    def validate(self) -> None:
        super().validate()
        bounds = self._bounds()
        wanted = self.properties[self.desired_property]
        names = {
            "fewest": self.fewest_property,
            "most": self.most_property,
        }
        if bounds.fewest < 0:
            self._refuse(self.fewest_property, _("It is less than 0"))
        if bounds.most < bounds.fewest:
            self._refuse(
                self.fewest_property, _("It is more than %(most)s") % names
            )
        if wanted is not None and self._bounded(wanted) != wanted:
            self._refuse(
                self.desired_property,
                _("It is not between %(fewest)s and %(most)s") % names,
            )

    def _refuse(self, key: str, why: str) -> None:
        raise exception.StackValidationFailed(
            path=["resources", self.name, "properties", key], message=why
        )

    def handle_create(self) -> None:
        self._keep(self.size())
        super().handle_create()

    def handle_adopt(self, resource_data: Any = None) -> None:
        data = resource_data or {}
        if SIZE not in (data.get("resource_data") or {}):
            self.data_set(SIZE, str(len(data.get("resources") or ())))
        super().handle_adopt(data)
        self._keep(self.size())

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        self.properties = json_snippet.properties(
            self.properties_schema, self.context
        )
        data = self.data()
        self._wish = Wish.of_data(data)
        wanted: Any = prop_diff.get(self.desired_property)
        if wanted is None and self._wish is not None:
            wanted = self._wish.size
        if wanted is None:
            wanted = self.size()
        self._keep(self._bounded(int(wanted)))
        if self._wish is not None:
            self.data_set(DONE, data[WISH])
        name = self.get_reference_id()
        self._notify("start", _("Start resizing the group %s") % name)
        super().handle_update(json_snippet, tmpl_diff, prop_diff)

    def check_update_complete(self, cookie: Any = None) -> bool:
        try:
            done = super().check_update_complete(cookie)
        except resource.PollDelay:
            raise
        except Exception as exc:
            self._notify("error", str(exc))
            raise
        if done:
            name = self.get_reference_id()
            self._notify("end", _("End resizing the group %s") % name)
        return done

    def _notify(self, suffix: str, message: str) -> None:
        """Tell that a policy changes the size, if one does."""
        publisher = getattr(self.stack.values.ports, "publisher", None)
        if publisher is None or self._wish is None:
            return
        told = {
            "adjustment": self._wish.amount,
            "adjustment_type": self._wish.kind,
            "capacity": self.size(),
            "groupname": self.get_reference_id(),
            "message": message,
            "suffix": suffix,
        }
        publisher.autoscaling(self.stack, suffix, told)

    def _keep(self, size: int) -> None:
        self.data_set(SIZE, str(size))
        self.data_set(BOUNDS, self._bounds().to_text())

    def changed_beyond(self) -> str:
        data = self.data()
        if data.get(WISH) != data.get(DONE):
            return _("a policy changes the size")
        return super().changed_beyond()
