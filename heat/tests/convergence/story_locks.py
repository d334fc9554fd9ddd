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

"""LOCK and UNLOCK in the simulation: who asks, and what must be true.

The rules, beside those of convergence:

    L1  nothing starts on a stack while it is locked
    L2  LOCK_COMPLETE: no operation runs on the stack any more
    L3  what LOCK and UNLOCK cover stays as it was
    L4  at rest: what the stack says of its objects' locks is so
"""

from __future__ import annotations

import contextlib
from unittest import mock

from heat.common import exception
from heat.db import stacks
from heat.engine.stack import lock
from heat.tests.convergence import lockable

LOCKING = stacks.LOCKING
REFUSALS = (
    exception.StackLocked,
    exception.StackNotLockable,
    exception.StackNotLocked,
)

_COVERED = """
WHEN NEW.action IN ('LOCK', 'UNLOCK') AND (
CASE WHEN OLD.action IN ('LOCK', 'UNLOCK') THEN OLD.base_action
ELSE OLD.action END IS NOT NEW.base_action OR
CASE WHEN OLD.action IN ('LOCK', 'UNLOCK') THEN OLD.base_status
ELSE OLD.status END IS NOT NEW.base_status)
BEGIN SELECT note('uncovered', NEW.id, OLD.action || ' ' || OLD.status,
NEW.base_action || ' ' || NEW.base_status); END;
"""
TRIGGERS = f"""
CREATE TRIGGER seen_begin_locked AFTER UPDATE OF current_traversal ON stack
WHEN NEW.current_traversal IS NOT OLD.current_traversal
AND OLD.lock_level IS NOT NULL
BEGIN SELECT note('begun_locked', NEW.action, OLD.action, OLD.status); END;
CREATE TRIGGER seen_lock_complete AFTER UPDATE OF status ON stack
WHEN NEW.action = 'LOCK' AND NEW.status = 'COMPLETE'
BEGIN SELECT note('lock_complete', NEW.id, NULL, NULL); END;
CREATE TRIGGER seen_stack_covered AFTER UPDATE ON stack {_COVERED}
CREATE TRIGGER seen_row_covered AFTER UPDATE ON resource {_COVERED}
"""


# -- what must be true --------------------------------------------------------


class Watching:
    """The part of the watch that knows of locks."""

    def begun_last(self):
        """The last traversal that was not a LOCK or UNLOCK."""
        return next(each for each in reversed(self.begun) if _covers(each))

    def _on_begun_locked(self, _owner, action, before, status) -> None:
        failed = before in LOCKING and status == "FAILED"
        if action not in LOCKING and not (action == "DELETE" and failed):
            raise self.violation("L1", f"{action} begins in {before}_{status}")

    def _on_lock_complete(self, _owner, stack_id, _none, _also_none) -> None:
        held = self._rows(
            "SELECT id, action FROM resource WHERE stack_id = ?"
            " AND claim_id NOT NULL",
            stack_id,
        )
        if held:
            raise self.violation("L2", f"LOCK_COMPLETE while {held} run")

    def _on_uncovered(self, _owner, ident, before, covered) -> None:
        raise self.violation("L3", f"{ident}: {before} became {covered}")

    def check_claim_while_locked(self, row_id, action) -> None:
        """L1, for operations: those of a LOCK or UNLOCK itself apart."""
        found = self._rows(
            "SELECT s.action, s.status FROM resource r"
            " JOIN stack s ON s.id = r.stack_id"
            " WHERE r.id = ? AND s.lock_level NOT NULL",
            row_id,
        )
        if found and (action not in LOCKING or found[0][1] != "IN_PROGRESS"):
            raise self.violation("L1", f"{action} of row {row_id} in {found}")

    def check_locks(self, stack_id, service) -> None:
        """L4."""
        stack = self._world.stack(stack_id)
        for name, ident, kind, found in self._rows(
            "SELECT name, nova_instance, resource_type, lock_found"
            " FROM resource WHERE stack_id = ? AND NOT external"
            " AND nova_instance NOT NULL AND NOT stray"
            " AND replaced_by IS NULL",
            stack_id,
        ):
            if kind != lockable.LOCKABLE or ident in service.late:
                continue
            holder = service.holders.get(ident)
            level = stack.lock_level
            if level != "all" and holder == lockable.US:
                self._wrong(stack, name, "it is locked")
            if stack.status != "COMPLETE":
                continue
            remembered = found not in (None, "null")
            if level == "all" and holder is None:
                base = self.base_of(stack_id, name)
                if base[0] not in ("INIT", "DELETE"):
                    self._wrong(stack, name, f"it is not locked, {base}")
            if level != "all" and remembered:
                self._wrong(stack, name, f"there is {found} left")

    def kept_by_lock(self, stack, rows) -> list[tuple]:
        """Those of some rows that nobody deletes before UNLOCK: strays."""
        if stack.lock_level is None:
            return []
        return [row for row in rows if row[7]]

    def base_of(self, stack_id, name):
        [found] = self._rows(
            "SELECT CASE WHEN action IN ('LOCK', 'UNLOCK') THEN base_action"
            " ELSE action END, status FROM resource WHERE stack_id = ?"
            " AND name = ? AND replaced_by IS NULL AND NOT stray",
            stack_id,
            name,
        )
        return found

    def _wrong(self, stack, name, what) -> None:
        if stack.status == "FAILED" and stack.action in LOCKING:
            return
        raise self.violation(
            "L4",
            f"{stack.action}_{stack.status}, level {stack.lock_level}: "
            f"{name}: {what}",
        )


def _covers(begun) -> bool:
    return begun[1] not in LOCKING


def reason(stack) -> str:
    """Why the stack is in the state that LOCK and UNLOCK cover."""
    if stack.action in LOCKING:
        return stack.base_status_reason or ""
    return stack.status_reason or ""


# -- who asks -----------------------------------------------------------------


class Locks:
    """What users, and an administrator, do about locks in a story."""

    def __init__(self, story) -> None:
        self._story = story
        self._world = story.world
        self._rng = story.rng
        self.service = lockable.Service(story.world)
        lockable.LockableResource.service = self.service
        self._often = self._rng.choice((0.0, 0.3, 0.6))
        #: so many more things are asked for in such a story
        self.more = 4 if self._often else 0

    def act(self) -> bool:
        """Ask for something, at times; whether anything was asked for."""
        if self._rng.random() >= self._often:
            return False
        self._meddle()
        stack = self._world.stack(self._story.stack_id)
        if stack.lock_level is None and stack.status == "IN_PROGRESS":
            # It would be refused; once in a while is enough.
            return False if self._rng.random() < 0.8 else self._lock()
        unlocks = 0.6 if stack.lock_level else 0.1
        return self._unlock() if self._rng.random() < unlocks else self._lock()

    def _lock(self) -> bool:
        level = self._rng.choice(("all", "all", "stacks"))
        expires_in = self._rng.choice((None, None, 1, 15))
        self._story._do(
            f"lock {level} {expires_in or ''}",
            lambda owner: lock.lock(
                owner.engine,
                self._world.context,
                self._story._read(owner),
                level,
                expires_in=expires_in,
            ),
        )
        return True

    def _unlock(self) -> bool:
        self._story._do(
            "unlock",
            lambda owner: lock.unlock(
                owner.engine, self._world.context, self._story._read(owner)
            ),
        )
        return True

    def _meddle(self) -> None:
        """Somebody locks an object, or takes its lock over from us."""
        stack = self._world.stack(self._story.stack_id)
        if self._rng.random() < 0.7:
            return
        holders = self.service.holders
        mine = sorted(k for k in holders if holders[k] == lockable.US)
        if mine:
            holders[self._rng.choice(mine)] = lockable.ADMINISTRATOR
        elif stack.lock_level is None and stack.status != "IN_PROGRESS":
            there = self._world.watch.objects(self._story.stack_id)
            free = sorted(there - holders.keys())
            if free:
                holders[self._rng.choice(free)] = lockable.USER

    # -- at rest --------------------------------------------------------------

    def rest(self) -> None:
        """The service is well again; what is said of locks is so."""
        self.service.fail = 0.0
        self.check()

    def check(self) -> None:
        watch = self._world.watch
        stack = self._world.stack(self._story.stack_id)
        if stack.base[1] == "IN_PROGRESS":
            raise watch.violation("L3", f"it covers {stack.base}")
        if self.failed() and lockable.AWAY not in stack.status_reason:
            raise watch.violation("L4", stack.status_reason)
        watch.check_locks(self._story.stack_id, self.service)

    def failed(self) -> bool:
        stack = self._world.stack(self._story.stack_id)
        return stack.action in LOCKING and stack.status == "FAILED"

    def release(self) -> None:
        """Unlock the stack; what has failed before is done now."""
        if self._world.stack(self._story.stack_id).lock_level is None:
            return
        self._unlock()
        self._story._settled({"UNLOCK_COMPLETE"})

    def before_delete(self) -> None:
        """What is locked is not deleted; what could not be may be."""
        if not self.failed() or self._rng.random() < 0.5:
            self.release()


# -- broken engines -----------------------------------------------------------


@contextlib.contextmanager
def no_guard():
    """Whatever begins does not ask whether the stack is locked."""
    real = stacks.compare_and_set

    def compare_and_set(*args, **kwargs):
        return real(*args, **{**kwargs, "not_locked": False})

    with mock.patch.object(stacks, "compare_and_set", compare_and_set):
        yield


MUTANTS = {"no guard": no_guard}
