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
"""Makes calls when their time has come."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Callable

LOG = logging.getLogger(__name__)


class Timer:
    """A heap of calls to come, one thread. Calls must be short."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(
            target=self._run, name="heat-timer", daemon=True
        )
        self._thread.start()

    def after(self, delay: float, call: Callable[[], None]) -> None:
        """Make the call when ``delay`` seconds have passed."""
        due = self._monotonic() + max(0.0, delay)
        with self._changed:
            heapq.heappush(self._heap, (due, next(self._count), call))
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and not self._due():
                    self._changed.wait(self._pause())
                if self._stopped:
                    return
                _due, _number, call = heapq.heappop(self._heap)
            try:
                call()
            except Exception:
                LOG.exception("a timed call failed")

    def _due(self) -> bool:
        return bool(self._heap) and self._heap[0][0] <= self._monotonic()

    def _pause(self) -> float | None:
        if not self._heap:
            return None
        return max(0.0, self._heap[0][0] - self._monotonic())
