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

"""Bringing a group to what it is to be, some members at a time. Pure.

Nothing is planned ahead: :func:`step` looks at what the group is and says
what it is to be next. So an engine that takes over in the middle goes on
where the other one stopped.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

Members = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Pace:
    """How fast a group may change.

    :ivar size: members made or changed at once; None for any number
    :ivar min_in_service: members that nothing is done with meanwhile
    :ivar pause: seconds between two steps
    """

    size: int | None = None
    min_in_service: int = 0
    pause: float = 0


#: All at once.
UNLIMITED = Pace()


def step(
    current: Mapping[str, Any],
    goal: Mapping[str, Any],
    pace: Pace = UNLIMITED,
    spares: Iterable[tuple[str, Any]] = (),
) -> Members | None:
    """What the members are to be next; None when nothing is left to do.

    New members come before changed ones, as they add to those in service.
    Members that are to go stay while they are needed for
    ``min_in_service``; if they do not suffice, spare ones are made, and go
    in the end.

    :param current: name -> definition, as the group is
    :param goal: name -> definition, as it is to be
    :param spares: members to make when too few would be in service; as
        many as it takes are read
    """
    if current == goal:
        return None
    new = [name for name in goal if name not in current]
    stale = [n for n in goal if n in current and current[n] != goal[n]]
    surplus = [name for name in current if name not in goal]
    size = len(new) + len(stale) if pace.size is None else max(pace.size, 1)
    least = min(pace.min_in_service, len(goal))
    there = len(goal) - len(new)
    chosen = new[:size]
    room = max(0, there + len(surplus) - least)
    changed = stale[: min(size - len(chosen), room)]
    if stale and not chosen and not changed:
        return _with_spares(current, least + 1, size, spares)
    kept = surplus[: max(0, least - (there - len(changed)))]
    made = {name: goal[name] for name in (*chosen, *changed)}
    out: Members = {}
    for name in goal:
        if name in made:
            out[name] = made[name]
        elif name in current:
            out[name] = current[name]
    out.update((name, current[name]) for name in kept)
    return out


def _with_spares(
    current: Mapping[str, Any],
    wanted: int,
    size: int,
    spares: Iterable[tuple[str, Any]],
) -> Members:
    out = dict(current)
    for name, body in spares:
        if len(out) >= min(wanted, len(current) + size):
            break
        if name not in out:
            out[name] = body
    return out


def batches(count: int, pace: Pace) -> int:
    """How many steps it takes, at least, to make or change ``count``."""
    if pace.size is None or not count:
        return min(count, 1)
    return math.ceil(count / max(pace.size, 1))
