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

"""The states of a resource and the moves between them, as a table.

A state is ``(action, status)``. The engine asks :func:`check_move` before
it writes one; the page that draws the states is made from ``MOVES``. Pure.
"""

from __future__ import annotations

from heat.common.i18n import _

ACTIONS = (
    INIT,
    CREATE,
    DELETE,
    UPDATE,
    ROLLBACK,
    SUSPEND,
    RESUME,
    ADOPT,
    SNAPSHOT,
    CHECK,
    RESTORE,
    LOCK,
    UNLOCK,
) = (
    "INIT",
    "CREATE",
    "DELETE",
    "UPDATE",
    "ROLLBACK",
    "SUSPEND",
    "RESUME",
    "ADOPT",
    "SNAPSHOT",
    "CHECK",
    "RESTORE",
    "LOCK",
    "UNLOCK",
)

STATUSES = (IN_PROGRESS, FAILED, COMPLETE) = (
    "IN_PROGRESS",
    "FAILED",
    "COMPLETE",
)

State = tuple[str, str]

#: What makes an object, out of nothing.
_BIRTHS = (CREATE, ADOPT)
#: What may be done with an object that is there, after anything but DELETE.
_LIFE = (
    UPDATE,
    ROLLBACK,
    SUSPEND,
    RESUME,
    SNAPSHOT,
    CHECK,
    RESTORE,
    LOCK,
    UNLOCK,
)


def _moves() -> frozenset[tuple[State, State]]:
    out: set[tuple[State, State]] = set()
    started: State = (INIT, COMPLETE)
    # An object taken over as it is (external_id) is only checked.
    for action in (*_BIRTHS, CHECK, DELETE):
        out.add((started, (action, IN_PROGRESS)))
    for action in (*_BIRTHS, *_LIFE, DELETE):
        running: State = (action, IN_PROGRESS)
        out.add((running, (action, COMPLETE)))
        out.add((running, (action, FAILED)))
        # The engine that held the row died: done again, or taken down.
        out.add((running, running))
        out.add((running, (DELETE, IN_PROGRESS)))
        out.add(((action, FAILED), (DELETE, IN_PROGRESS)))
        if action == DELETE:
            continue
        out.add(((action, COMPLETE), (DELETE, IN_PROGRESS)))
        for status in (COMPLETE, FAILED):
            for following in _LIFE:
                out.add(((action, status), (following, IN_PROGRESS)))
            # A user marks it unhealthy.
            out.add(((action, status), (CHECK, FAILED)))
    # ... and healthy again.
    out.add(((CHECK, FAILED), (CHECK, COMPLETE)))
    return frozenset(out)


MOVES = _moves()


def is_allowed(before: State, after: State) -> bool:
    """Tell whether a resource may move from one state to another."""
    return (before, after) in MOVES


def check_move(before: State, after: State) -> None:
    """Refuse a move that is not in the table.

    :raises ValueError: naming both states
    """
    if (before, after) not in MOVES:
        raise ValueError(
            _("A resource can't move from %(before)s to %(after)s")
            % {"before": "_".join(before), "after": "_".join(after)}
        )


def check_words(action: str, status: str) -> None:
    """Refuse words that are no action or no status.

    :raises ValueError: naming the word
    """
    if action not in ACTIONS:
        raise ValueError(_("Invalid action %s") % action)
    if status not in STATUSES:
        raise ValueError(_("Invalid status %s") % status)
