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
"""What was made of texts, kept as long as it is used.

Users send the same megabytes with every validation, preview and update. What
is kept is read by many requests at once, so nobody may change it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import cachetools

_Made = TypeVar("_Made")


class _Entry(NamedTuple, Generic[_Made]):
    made: _Made
    size: int


class Kept(Generic[_Made]):
    """Remembers what was made of the texts that were asked for last.

    Thread-safe; two who ask for a new text at once may both make it.

    :param max_bytes: how much text there may be in all; a text that is
        longer than a part of it isn't kept
    :param part: the most that one text may have of it
    """

    def __init__(self, max_bytes: int, part: float = 1 / 8) -> None:
        self._longest = int(max_bytes * part)
        self._entries: cachetools.LRUCache[bytes, _Entry[_Made]] = (
            cachetools.LRUCache(max_bytes, lambda entry: entry.size)
        )
        # Guards _entries.
        self._lock = threading.Lock()

    def get(self, text: bytes, make: Callable[[], _Made]) -> _Made:
        """What is made of a text.

        :param make: makes it, when it isn't kept; what it raises is raised
            each time
        """
        key = hashlib.sha256(text).digest()
        with self._lock:
            entry = self._entries.get(key)
        if entry is None:
            entry = _Entry(make(), len(text))
            if entry.size < self._longest:
                with self._lock:
                    self._entries[key] = entry
        return entry.made

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
