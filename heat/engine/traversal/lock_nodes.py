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
"""One row in LOCK and UNLOCK: what is done with it, and how.

What a plug-in finds before it locks an object is recorded before it is asked
to lock it, and stays until it has released it: whatever stops in between,
the object is given back as it was.
"""

from __future__ import annotations

from collections.abc import Callable

from heat.common import exception
from heat.common.i18n import _
from heat.db import stacks
from heat.engine.ports import Engine
from heat.engine.resource import Resource, lifecycle, ownership
from heat.engine.resource.outcomes import LockTakenOver
from heat.engine.traversal import decide, gather, locking, views
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene

LOCKING = stacks.LOCKING

Progress = lifecycle.Done | lifecycle.Waiting
Clock = Callable[[], float]


def plan(engine: Engine, scene: Scene, node: Node) -> None:
    """Decide the step of a node and make its plug-in object.

    :raises HeatException: the plug-in is gone and we hold a lock
    """
    row = node.row
    action = locking.row_action(scene.stack)
    facts = decide.LockFacts(
        action,
        row.action,
        row.shown,
        claimed=row.claim_id is not None,
        living=row.replaced_by is None and not row.stray,
        has_object=row.physical_id is not None,
        external=row.external,
        held=row.lock_found is not None,
    )
    node.step, node.because = decide.lock_step(facts)
    if node.step is not decide.Step.ACT:
        return
    definition = node.previous or scene.definition
    wish = gather.stored_definition(node)
    handler = f"handle_{action.lower()}"
    try:
        cls = views.resource_class(
            engine, definition, wish.resource_type, row.name
        )
        able = hasattr(cls, handler)
    except exception.HeatException:
        if facts.held:
            raise
        able = False
    if not able:
        node.step, node.because = decide.Step.NOTHING, "it can't be locked"
        return
    node.rsrc = gather.make_resource(engine, scene, node, wish, definition)


def operation(
    scene: Scene, node: Node, action: str, timeout_at: float, clock: Clock
) -> ownership.Steps | None:
    """What locks or releases an object; None: nothing of the kind is asked."""
    rsrc = node.rsrc
    if rsrc is None:
        return None
    if action == "LOCK":
        stack = scene.stack
        arguments = (stack.lock_wanted, stack.lock_reason)
        return Locking(rsrc, arguments, timeout_at, clock)
    if action == "UNLOCK" or node.step is decide.Step.RELEASE:
        return Unlocking(rsrc, timeout_at, clock)
    return None


def released_first(
    rsrc: Resource,
    delete: lifecycle.Operation,
    timeout_at: float,
    clock: Clock,
) -> ownership.Steps:
    """A delete, which releases the object first if we have locked it."""
    if rsrc.lock_found is None:
        return delete
    return Releasing(Unlocking(rsrc, timeout_at, clock), delete)


class Locking:
    """Looks how the object is, has that recorded, locks it."""

    remark = ""

    def __init__(
        self,
        rsrc: Resource,
        arguments: tuple[str | None, str | None],
        timeout_at: float,
        clock: Clock,
    ) -> None:
        self._rsrc = rsrc
        self._began = False
        self._lock = lifecycle.Operation(
            rsrc,
            "LOCK",
            timeout_at=timeout_at,
            arguments=arguments,
            monotonic=clock,
        )

    def start(self) -> Progress:
        rsrc = self._rsrc
        find = getattr(rsrc, "find_lock_state", None)
        if rsrc.lock_found is None and find is not None:
            # Whoever calls records it before the next step.
            rsrc.lock_found = dict(find())
            return lifecycle.Waiting(0.0)
        return self.poll()

    def poll(self) -> Progress:
        if self._began:
            progress = self._lock.poll()
        else:
            self._began = True
            progress = self._lock.start()
        rsrc = self._rsrc
        ended = isinstance(progress, lifecycle.Done)
        if ended and rsrc.lock_found is None and not rsrc.has_nested():
            rsrc.lock_found = {}
        return progress

    def cancel(self) -> None:
        if self._began:
            self._lock.cancel()


class Unlocking:
    """Gives the object back as it was found.

    One that is gone needs no more; a lock that somebody else has taken over
    is theirs.

    :ivar remark: what there is to say of a success; ""
    """

    def __init__(
        self, rsrc: Resource, timeout_at: float, clock: Clock
    ) -> None:
        self._rsrc = rsrc
        self.remark = ""
        self._unlock = lifecycle.Operation(
            rsrc, "UNLOCK", timeout_at=timeout_at, monotonic=clock
        )

    def start(self) -> Progress:
        return self._tried(self._unlock.start)

    def poll(self) -> Progress:
        return self._tried(self._unlock.poll)

    def cancel(self) -> None:
        self._unlock.cancel()

    def _tried(self, step: Callable[[], Progress]) -> Progress:
        try:
            progress = step()
        except exception.ResourceFailure as exc:
            if isinstance(exc.exc, LockTakenOver):
                self.remark = _("left locked: %s") % exc.exc
            elif self._rsrc.says_gone(exc.exc):
                self.remark = _("the object is gone")
            else:
                raise
            self._rsrc.state_set("UNLOCK", "COMPLETE", self.remark)
            progress = lifecycle.Done()
        if isinstance(progress, lifecycle.Done):
            self._rsrc.lock_found = None
        return progress


class Releasing:
    """Releases the object before it is deleted."""

    def __init__(self, unlock: Unlocking, then: lifecycle.Operation) -> None:
        self._left: list[ownership.Steps] = [unlock, then]
        self._then = then

    @property
    def remark(self) -> str:
        return self._then.remark

    @property
    def has_snapshot(self) -> bool:
        return self._then.has_snapshot

    def start(self) -> Progress:
        return self._go_on(self._left[0].start())

    def poll(self) -> Progress:
        return self._go_on(self._left[0].poll())

    def cancel(self) -> None:
        self._left[0].cancel()

    def _go_on(self, progress: Progress) -> Progress:
        while isinstance(progress, lifecycle.Done) and len(self._left) > 1:
            self._left.pop(0)
            progress = self._left[0].start()
        return progress
