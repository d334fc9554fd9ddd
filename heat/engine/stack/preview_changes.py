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
"""What a preview of an update tells: values only."""

from __future__ import annotations

import dataclasses

from heat.db import resources, stacks


@dataclasses.dataclass(frozen=True)
class Change:
    """What an update would come to for one resource.

    :ivar row: as it is now; None: there is none
    :ivar reason: why, of the resource's own
    :ivar because_of: the chain from a resource that this one uses to the
        first cause; None: the cause is its own
    :ivar certain: False when it depends on values that are unknown yet
    :ivar may_be_replaced: it would be if such a value turned out different
    :ivar retained: the object there is now is let go, not deleted
    :ivar error: why it would fail, as far as that can be told
    :ivar ownership: "becomes external" or "handed back"; None: the object
        stays in the hands it is in
    :ivar stack: whose resource it is; None: of the stack that is updated
    """

    name: str
    resource_type: str
    row: resources.ResourceRecord | None
    reason: str
    because_of: str | None = None
    certain: bool = True
    may_be_replaced: bool = False
    retained: bool = False
    error: str | None = None
    ownership: str | None = None
    stack: stacks.StackRecord | None = None


@dataclasses.dataclass
class Changes:
    """What an update would do, by kind, in the order of the template."""

    added: list[Change] = dataclasses.field(default_factory=list)
    updated: list[Change] = dataclasses.field(default_factory=list)
    replaced: list[Change] = dataclasses.field(default_factory=list)
    deleted: list[Change] = dataclasses.field(default_factory=list)
    unchanged: list[Change] = dataclasses.field(default_factory=list)

    def take_in(self, child: stacks.StackRecord, below: Changes) -> None:
        """Tell of what would happen in a nested stack, too."""
        for field in dataclasses.fields(self):
            getattr(self, field.name).extend(
                dataclasses.replace(each, stack=each.stack or child)
                for each in getattr(below, field.name)
            )
