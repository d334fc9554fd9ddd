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
"""What the engine needs from the outside, handed in at start.

Nothing below :mod:`heat.engine.service` imports RPC: messages leave through
:class:`NodeSender`.  Tests and the simulation hand in a queue.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Sequence

from heat.common.context import RequestContext
from heat.db.session import Database
from heat.engine.plugins import PluginRegistry

# A node of a traversal: the row id of a resource (0: the stack itself) and
# whether it is the update half (True) or the clean-up half (False).
NodeKey = tuple[int, bool]


class NodeSender(typing.Protocol):
    """Carries hints that nodes are ready; the database is the truth."""

    def send(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        """Pass the hint on, at least once, after the commit that made it true.

        Losing it costs time only: recovery sends every ready node again.
        """


def _no_probe(_point: str) -> None:
    """Nothing happens at a crash point unless a test says so."""


@dataclasses.dataclass
class Engine:
    """One engine process: its database, its name, its ports.

    ``monotonic`` gives seconds; the simulation hands in its own clock.
    ``probe`` is called with the name of each crash point that is passed
    (``claimed``, ``called``, ``finishing``, ``finished``, ``sending``); a
    test raises there what a kill would be.
    """

    db: Database
    conf: typing.Any
    engine_id: str
    plugins: PluginRegistry
    sender: NodeSender
    monotonic: Callable[[], float]
    probe: Callable[[str], None] = _no_probe
