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

"""Which servers of a project are being built: one question for all who wait.

A hundred servers that build at once are a hundred operations that look every
other second. Each look of its own would be a request to Nova; instead, Nova
lists the servers that it builds, and the answer serves every operation of the
project for a moment. Only a server that is not listed is looked at itself.

Nova lists a thousand at most. A server beyond these, or one that a service
in trouble does not tell of, is looked at itself as well: that costs requests
and is never wrong.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Hashable

from heat.engine.clients import errors

#: An answer serves for so long.
FRESH_SECONDS = 1.0
#: Projects that are remembered; the one that asked last stays longest.
MAX_PROJECTS = 1024


class _Answer:
    """What was told of one project, and when it was asked for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked_at = float("-inf")
        self.ids: set[str] = set()


class Building:
    """What is known of all projects, by everybody in this process."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._answers: collections.OrderedDict[Hashable, _Answer] = (
            collections.OrderedDict()
        )

    def began(self, project: Hashable, server_id: str) -> None:
        """Note that Nova was asked for a server just now."""
        answer = self._answer(project)
        with answer.lock:
            answer.ids.add(server_id)

    def has(
        self,
        project: Hashable,
        server_id: str,
        ask: Callable[[], set[str]],
    ) -> bool:
        """Whether a server is being built, as of a moment ago.

        :param project: whose servers are meant, region included
        :param ask: gives the ids of those that are being built; who comes
            while it is asked waits for the answer
        :returns: False: it is not, or nobody can tell
        """
        answer = self._answer(project)
        with answer.lock:
            now = self._monotonic()
            if now - answer.asked_at >= FRESH_SECONDS:
                answer.asked_at = now
                try:
                    answer.ids = ask()
                except errors.ServiceError:
                    # Whoever looks himself is told what the matter is.
                    answer.ids = set()
            return server_id in answer.ids

    def _answer(self, project: Hashable) -> _Answer:
        with self._lock:
            found = self._answers.setdefault(project, _Answer())
            self._answers.move_to_end(project)
            while len(self._answers) > MAX_PROJECTS:
                self._answers.popitem(last=False)
            return found


SERVERS = Building()
