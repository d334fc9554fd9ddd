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

"""Stacks that may take a minute only, and things that never end.

The rules, beside those of convergence:

    T1  a stack whose time is over fails soon, whether anything runs or not
    T2  it does not fail for that any sooner
    T3  the rollback that was asked for begins with the failure, unless all
        that is left is to clean up

Such stories have neither locks nor objects of the user's.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
from unittest import mock

from heat.engine.traversal import recovery

TIMED_OUT = "timed out"
MINUTES = 1
#: seconds: a sweep comes every ten, and may be interrupted
SOON = 30.0
FOREVER = -1

TRIGGERS = """
CREATE TRIGGER seen_timed_out AFTER UPDATE OF status ON stack
WHEN NEW.status = 'FAILED' AND OLD.status = 'IN_PROGRESS'
AND NEW.status_reason LIKE 'Stack % timed out'
BEGIN SELECT note('timed_out', NEW.id, NEW.traversal_started,
NEW.action IN ('CREATE', 'UPDATE') AND NOT NEW.disable_rollback AND EXISTS (
SELECT 1 FROM sync_point WHERE entity_id = NEW.id AND is_update AND NOT done
AND traversal_id = NEW.current_traversal)); END;
"""


class Timeouts:
    """What takes for ever in one story, and how long it may."""

    def __init__(self, story) -> None:
        # Its own, so that the other stories stay as they were.
        self._world = story.world
        self._rng = copy.copy(story.rng)
        self._rng.seed(self._rng.random())
        free = not (story.owner._eager or story.locks._often)
        #: whether the stack of this story is timed
        self.some = free and self._rng.random() < 0.6
        self._minutes = MINUTES if self.some else 0
        self._hooks = self.some and self._rng.random() < 0.5

    def change(self, wishes):
        """The same, but some of it never ends."""
        if not self.some:
            return wishes
        made = self.mended(wishes)
        for name, wish in made.items():
            if self._rng.random() < 0.15:
                waits = {self._rng.choice(("create", "update")): FOREVER}
                made[name] = _with_waits(wish, waits)
        return made

    def mended(self, wishes):
        """The same, but everything ends."""
        made = dict(wishes)
        for name, wish in wishes.items():
            waits = dict(wish.properties).get("action_wait_secs", {})
            if FOREVER in waits.values():
                made[name] = _with_waits(wish, None)
        return made

    def environment(self, wishes) -> dict:
        """Hooks at which resources wait for somebody who never comes."""
        if not self._hooks:
            return {}
        stops = {
            name: {"hooks": self._rng.choice(("pre-create", "pre-update"))}
            for name in wishes
            if self._rng.random() < 0.25
        }
        return {"resource_registry": {"resources": stops}}

    def args(self) -> dict:
        """What is not said stays as it was."""
        return {"timeout_mins": self._minutes} if self._minutes else {}

    def wait(self, stack_id) -> None:
        """Mostly, a user is patient; engines may die meanwhile."""
        world = self._world
        if not self.some or self._rng.random() < 0.3:
            return
        for _sweep in range(12):
            if world.stack(stack_id).status != "IN_PROGRESS":
                return
            until = world.now + 10.0
            while world.now < until and world.step():
                pass
            world.pass_time(max(0.0, until - world.now))
            for each in world.able():
                if each.able:  # another's sweep may have been its end
                    world.start_sweep(each)

    def end(self) -> None:
        """From now on everything may take its time, and comes to an end."""
        if self.some:
            self._minutes = 60 * MINUTES
        self.some = self._hooks = False

    def told(self, reason: str) -> bool:
        """Whether a stack failed for its time being over."""
        return self.some and TIMED_OUT in reason


def _with_waits(wish, waits):
    properties = dict(wish.properties)
    properties.pop("action_wait_secs", None)
    if waits is not None:
        properties["action_wait_secs"] = waits
    return dataclasses.replace(wish, properties=tuple(properties.items()))


# -- what must be true --------------------------------------------------------


class Watching:
    """The part of the watch that looks at the clock."""

    def _on_timed_out(self, _owner, stack_id, began, goes_back) -> None:
        if self._world.now < self._deadline(began):
            raise self.violation("T2", f"{stack_id} has time left")
        [now] = self._rows(
            "SELECT action, status FROM stack WHERE id = ?", stack_id
        )
        if bool(goes_back) != (now == ("ROLLBACK", "IN_PROGRESS")):
            raise self.violation("T3", f"{now}, goes back: {goes_back}")

    def check_time(self, since: float) -> bool:
        """T1; whether a stack in progress waits for its time to be over.

        :param since: when sweeps began to come regularly
        """
        waits = False
        for ident, action, began in self._rows(
            "SELECT id, action, traversal_started FROM stack"
            " WHERE status = 'IN_PROGRESS' AND timeout NOT NULL"
        ):
            waits = True
            if self._world.now > max(since, self._deadline(began)) + SOON:
                raise self.violation("T1", f"{action} of {ident} goes on")
        return waits

    def _deadline(self, began: str) -> float:
        started = datetime.datetime.fromisoformat(began)
        since = (started - self._world.epoch).total_seconds()
        return since + MINUTES * 60.0


# -- broken engines -----------------------------------------------------------


@contextlib.contextmanager
def no_timer():
    """Only an operation that happens to run notices that time is over."""
    with mock.patch.object(recovery, "is_late", lambda *_args: False):
        yield


MUTANTS = {"no timer": no_timer}
