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

"""Answers of services that are remembered for a while.

One table for each group of options ([constraint_validation_cache] ...), in
the memory of the process, bounded. What is remembered belongs to a project:
another one may not see the same objects.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from heat.engine.clients import settings

MAX_ENTRIES = 4096


class Cache:
    """One table.

    :param group: the options ``caching`` and ``expiration_time`` (seconds)
        are those of this group
    :param default_life: seconds, where nothing is configured
    """

    def __init__(
        self,
        group: str,
        default_life: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._group = group
        self._default_life = default_life
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[Hashable, tuple[float, Any]] = (
            collections.OrderedDict()
        )

    def get(self, key: Hashable, ask: Callable[[], Any]) -> Any:
        """What is remembered, else what ``ask`` answers.

        An error is not remembered: the user may be about to mend it.
        """
        if not settings.option("caching", True, self._group):
            return ask()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] > self._monotonic():
            return kept[1]
        answer = ask()
        life = settings.option(
            "expiration_time", self._default_life, self._group
        )
        with self._lock:
            self._kept[key] = (self._monotonic() + life, answer)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_ENTRIES:
                self._kept.popitem(last=False)
        return answer

    def forget(self, key: Hashable) -> None:
        """Drop an answer that turned out to be outdated."""
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


CONSTRAINTS = Cache("constraint_validation_cache", 60)
FINDERS = Cache("resource_finder_cache", 3600)
EXTENSIONS = Cache("service_extension_cache", 3600)


def scope(context: Any) -> tuple[Any, ...]:
    """Whose answers they are: the beginning of every key."""
    return (
        getattr(context, "project_id", None),
        getattr(context, "user_id", None),
        getattr(context, "region_name", None),
    )
