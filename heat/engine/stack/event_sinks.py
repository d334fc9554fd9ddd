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

"""Event sinks: where a user wants the events of a stack to go.

An environment lists them: the type of each, and its arguments. A type is
the name of a class in the group ``heat.event_sinks`` of installed
distributions, or one of ours. It is made with the arguments, and its
``consume(context, event)`` is called with each event, in order.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from heat.engine import clients

LOG = logging.getLogger(__name__)

_VERSION = "0.1"
_TYPE = "os.heat.event"
_PAYLOAD = (
    "physical_resource_id",
    "resource_action",
    "resource_name",
    "resource_status",
    "resource_status_reason",
    "resource_type",
    "stack_id",
)


class ZaqarEventSink:
    """Puts events into a queue of the messaging service.

    :param target: name of the queue
    :param ttl: seconds that a message stays there
    """

    def __init__(self, target: str, ttl: int = 3600) -> None:
        self.target = target
        self.ttl = int(ttl)

    def consume(self, context: Any, event: Mapping[str, Any]) -> None:
        """Put one event into the queue, as the stack's user."""
        plugin = clients.of(context).client_plugin("zaqar")
        plugin.post(self.target, event, self.ttl)


#: Those that need no distribution to be installed.
OURS: Mapping[str, Any] = {"zaqar-queue": ZaqarEventSink}


def make(entries: Sequence[Any], known: Mapping[str, Any]) -> list[Any]:
    """The sinks that an environment lists; one that can't be is logged.

    :param entries: maps with ``type`` and arguments
    :param known: classes by type, beside ours
    """
    made = []
    for entry in entries:
        try:
            arguments = dict(entry)
            kind = arguments.pop("type")
            made.append({**OURS, **known}[kind](**arguments))
        except Exception as exc:
            LOG.error("The event sink %s is left out: %r", entry, exc)
    return made


def as_event(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the event table as sinks get it."""
    when = row.get("created_at")
    return {
        "timestamp": None if when is None else when.isoformat(),
        "version": _VERSION,
        "type": _TYPE,
        "id": row["uuid"],
        "payload": {key: row.get(key) for key in _PAYLOAD},
    }
