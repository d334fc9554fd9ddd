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
"""What leaves Heat with a resource that is a stack, and comes back with it.

An abandon gives all that the child is made of. From that a new child is made
that takes over the objects; the old one's id means nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.resource import child


class Handover(resource.Resource):
    """A resource whose stack can be abandoned with it, and adopted."""

    nests = True
    _varies_below: bool | None = None

    def child_template(self) -> Any:
        """The child's template: a Template, or its body."""
        raise NotImplementedError

    def child_params(self) -> dict[str, Any]:
        """Values of the child's parameters by name."""
        raise NotImplementedError

    def create_with_template(
        self,
        child_template: Any,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
        adopt_data: Any = None,
    ) -> None:
        """Begin to create the child.

        :param adopt_data: what an abandon gave of a stack, whose objects it
            takes over
        """
        raise NotImplementedError

    def reads_anew(self, attribute: str) -> bool:
        """The child is asked if anything below must be read each time."""
        if self._varies_below is None:
            ident = self.resource_id
            self._varies_below = bool(ident and self._children().varies(ident))
        return self._varies_below

    @property
    def child_id(self) -> str | None:
        """The id of the child, whether it exists or not; None before there
        is a row."""
        if self.resource_id is not None or self.uuid is None:
            return self.resource_id
        return child.id_of(self.uuid)

    def has_nested(self) -> bool:
        return self.resource_id is not None

    def _port(self) -> Any:
        return getattr(self.stack.values.ports, "children", None)

    def _children(self) -> Any:
        port = self._port()
        if port is None:
            raise exception.Error(_("Nested stacks can't be made here"))
        return port

    def keeps_replaced(self) -> bool:
        """Whether what an update of the child replaces is kept until the
        parent is updated, as something there may use it."""
        return True

    def _to_adopt(self) -> dict[str, Any] | None:
        """What the child is to take over, when it was not made yet."""
        resources = child.unpack(self.data())
        return None if resources is None else {"resources": resources}

    def handle_adopt(self, resource_data: Any = None) -> None:
        """Begin to make a child of what there is."""
        given = dict(resource_data or {})
        super().handle_adopt({**given, "resource_id": None})
        self.create_with_template(
            self.child_template(), self.child_params(), adopt_data=given
        )

    def prepare_abandon(self) -> dict[str, Any]:
        """What another Heat needs to adopt the child with its objects.

        The names are those of the data of a stack, with the type, metadata
        and data of the resource. Where the child could not be made of what it
        was to take over, that is passed on.
        """
        told = super().prepare_abandon()
        to_adopt = self._to_adopt()
        if to_adopt is not None:
            for key in child.packed(told["resource_data"]):
                del told["resource_data"][key]
            return {**told, **to_adopt, "resource_id": None}
        if self.external or self.resource_id is None or self._port() is None:
            return told
        return {**told, **self._port().export(self.stack, self.resource_id)}
