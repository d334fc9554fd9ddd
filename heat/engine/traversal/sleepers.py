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
"""Operations that wait, and may be roused before their time.

A nested stack that has ended rouses the resource that it is. The news may
come before the operation lies down: then it does not lie down at all.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

from heat.engine.traversal import tasks

# News kept for operations that are still on their feet. What is lost costs
# time only: every operation looks now and then as well.
_KEPT = 4096


@dataclasses.dataclass(eq=False)
class Sleeper:
    """An operation that waits; ``lane`` is its lane of the runner."""

    lane: Any
    task: tasks.Task

    @property
    def object_id(self) -> str | None:
        rsrc = self.task.node.rsrc
        return rsrc.resource_id if rsrc is not None else None


class Sleepers:
    """All that wait on one engine. The caller holds a lock."""

    def __init__(self) -> None:
        self._all: set[Sleeper] = set()
        self._by_object: dict[str, Sleeper] = {}
        self._news: collections.OrderedDict[str, None] = (
            collections.OrderedDict()
        )

    def add(self, sleeper: Sleeper) -> bool:
        """Lie down; False: there is news already, it is to rise at once."""
        self._all.add(sleeper)
        object_id = sleeper.object_id
        if object_id is None:
            return True
        self._by_object[object_id] = sleeper
        if object_id not in self._news:
            return True
        del self._news[object_id]
        sleeper.task.due_at = 0.0
        return False

    def remove(self, sleeper: Sleeper) -> bool:
        """Rise; False: it has risen before."""
        if sleeper not in self._all:
            return False
        self._all.remove(sleeper)
        object_id = sleeper.object_id
        if object_id and self._by_object.get(object_id) is sleeper:
            del self._by_object[object_id]
        return True

    def find(self, object_id: str) -> Sleeper | None:
        """Who waits for this object; its time has come."""
        found = self._by_object.get(object_id)
        if found is not None:
            found.task.due_at = 0.0
        return found

    def expect(self, object_id: str) -> None:
        """Keep the news until somebody lies down to wait for it."""
        self._news[object_id] = None
        while len(self._news) > _KEPT:
            self._news.popitem(last=False)
