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

"""How long the steps of each type of resource take.

What says that it may wait for a service (``may_block``, a client) is run on
a thread of its own. A plug-in may wait and not say so: with its steps one
after the other a stack of a hundred would take a hundred times as long as one
resource. So a type whose steps were slow is run as if it had said so, until
they are quick again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from heat.engine.resource import Resource

# Seconds: from here on a thread costs less than waiting.
SLOW = 0.05


class Paces:
    """The steps of late, by class; shared by the threads of an engine.

    :param monotonic: gives seconds
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._means: dict[type, float] = {}

    @contextlib.contextmanager
    def measured(self, cls: type) -> Iterator[None]:
        """Take the time of one step of this class, however it ends."""
        began = self._monotonic()
        try:
            yield
        finally:
            self.add(cls, self._monotonic() - began)

    def add(self, cls: type, seconds: float) -> None:
        """Tell how long one step took.

        The last one counts half, so that one that stood still with the
        whole process is forgotten after a few that did not.
        """
        self._means[cls] = (self._means.get(cls, 0.0) + seconds) / 2

    def is_slow(self, cls: type) -> bool:
        """Whether the next step is better run on a thread of its own."""
        return self._means.get(cls, 0.0) >= SLOW


def says_so(rsrc: Resource | type[Resource]) -> bool:
    """Whether a resource or type says that it may wait for a service."""
    return rsrc.may_block or rsrc.default_client_name is not None
