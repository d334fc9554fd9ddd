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
"""Makes work eligible again that an engine left behind.

Recovery does not run anything: it releases the claims of engines that are
dead, settling each row by the table below, and sends every node that is
ready and that nobody works on. Sending twice is harmless, so is doing this
on several engines at once: each release is conditional on the claim.

==========================  ===============================================
row found in                what happens
==========================  ===============================================
CREATE, no physical id      CREATE_FAILED saying what may be left over; then
                            looked for: found, it is adopted and gone on
                            with; else replaced
CREATE, physical id known   CREATE_FAILED keeping the id; then gone on with
CREATE, can't be gone on    replaced, the old object goes in clean-up
with (:mod:`.resuming`)
UPDATE                      UPDATE_FAILED; decided again
DELETE                      repeated: deletes are idempotent
==========================  ===============================================
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.db import events, resources, services, stacks
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import (
    begin,
    diagnosis,
    identity,
    locking,
    outcome,
    strays,
)

LOG = logging.getLogger(__name__)

# Whether this engine works on a node of a traversal at this moment.
Busy = Callable[[str, NodeKey], bool]


class Sweeper:
    """Looks after the work of every engine, again and again.

    A ready node is sent again when two sweeps in a row have seen it: what
    is on its way between two engines is left alone.

    :param dead_after: seconds of silence after which an engine is dead
    :param living: ids of the engines that live, where something else than
        their heartbeats tells
    """

    def __init__(
        self,
        engine: Engine,
        dead_after: float,
        busy: Busy | None = None,
        living: Callable[[], set[str]] | None = None,
    ) -> None:
        self._engine = engine
        self._living = living or (lambda: living_engines(engine, dead_after))
        self._busy = busy
        self._strays = strays.Reaper(engine)
        self._seen: set[tuple[str, NodeKey]] = set()

    def sweep(self) -> int:
        """One round; how many nodes were sent again."""
        engine = self._engine
        living = self._living() | {engine.engine_id}
        release(engine, lambda row: row.engine_id not in living)
        release(engine, lambda row: is_forgotten(engine, row))
        self._strays.look()
        seen: set[tuple[str, NodeKey]] = set()
        sent = 0
        sent += _release_expired(engine)
        standings = engine.db.read(_standings)
        for stack, standing in standings:
            if is_late(engine, stack):
                sent += _time_out(engine, stack)
                continue
            if standing.broken:
                sent += _give_up(engine, stack)
                continue
            nodes = standing.ready
            keys = {(stack.current_traversal or "", node) for node in nodes}
            seen |= keys
            again = [node for _id, node in sorted(keys & self._seen)]
            sent += _send(engine, stack, again, self._busy)
        self._seen = seen
        return sent


def _standings(
    conn: sa.Connection,
) -> list[tuple[stacks.StackRecord, diagnosis.Standing]]:
    """How every stack in progress stands."""
    found = stacks.in_progress(conn)
    seen = diagnosis.look_at(conn, found)
    return [(stack, seen[stack.id]) for stack in found]


def is_late(engine: Engine, stack: stacks.StackRecord) -> bool:
    """Whether the stack's action has had all the time it may take."""
    seconds = (stack.timeout or 0) * 60 or engine.conf.stack_action_timeout
    began = stack.traversal_started
    if began is None:
        return False
    return bool((timeutils.utcnow() - began).total_seconds() > seconds)


def _time_out(engine: Engine, stack: stacks.StackRecord) -> int:
    return _send_begun(engine, stack, outcome.time_out(engine, stack))


def _give_up(engine: Engine, stack: stacks.StackRecord) -> int:
    """A stack that can't go on fails, and says why."""

    def why(conn: sa.Connection, known: stacks.StackRecord) -> str | None:
        # Only now it is sure: it may have ended since it was looked at.
        reason = diagnosis.why_broken(conn, known)
        if reason is not None:
            LOG.error("stack %s can't go on: %s", known.id, reason)
        return reason

    begun = outcome.give_up(engine, stack, why)
    return _send_begun(engine, stack, begun)


def _send_begun(
    engine: Engine, stack: stacks.StackRecord, begun: begin.Begun | None
) -> int:
    if begun is None:
        return 0
    engine.sender.send(
        identity.context_of(stack),
        begun.stack_id,
        begun.traversal_id,
        begun.ready,
    )
    return len(begun.ready)


def _release_expired(engine: Engine) -> int:
    """Unlock what was locked until now."""
    sent = 0
    for stack, begun in locking.release_expired(engine):
        for each in begun:
            engine.sender.send(
                identity.context_of(stack),
                each.stack_id,
                each.traversal_id,
                each.ready,
            )
            sent += len(each.ready)
    return sent


def resume(engine: Engine, *, alone: bool) -> int:
    """At start: go on with what was left; how many nodes were sent.

    :param alone: no other engine uses this database, so whoever holds a
        claim is dead
    """
    if alone:
        release(engine, lambda row: row.engine_id != engine.engine_id)
    sent = 0
    for stack, standing in engine.db.read(_standings):
        sent += _send(engine, stack, standing.ready, None)
    return sent


def living_engines(engine: Engine, dead_after: float) -> set[str]:
    """Ids of the engines that have renewed within so many seconds."""
    return engine.db.read(lambda conn: services.living(conn, dead_after))


def is_forgotten(engine: Engine, row: resources.ResourceRecord) -> bool:
    """Whether this engine holds a row and does not know it any more.

    So it is when the turn failed that had claimed the row, or when the
    answer to a commit got lost. Ask after the row was read: what is claimed
    is in hand before it is in the database.
    """
    return (
        row.engine_id == engine.engine_id
        and (row.claim_id, row.id) not in engine.in_hand.claims()
    )


def hand_over(engine: Engine) -> int:
    """At a clean stop: release whatever this engine still holds."""
    return release(engine, lambda row: row.engine_id == engine.engine_id)


def release(
    engine: Engine, which: Callable[[resources.ResourceRecord], bool]
) -> int:
    """Settle claimed rows by the table above; how many."""
    rows = [row for row in engine.db.read(resources.claimed) if which(row)]
    released = 0
    for row in rows:
        # What has ended since it was read is not held any more.
        if engine.db.run(functools.partial(_settle, row=row)):
            released += 1
            LOG.warning(
                "released resource %s of stack %s, held by engine %s",
                row.name,
                row.stack_id,
                row.engine_id,
            )
    return released


def _settle(conn: sa.Connection, row: resources.ResourceRecord) -> bool:
    """Let go of a row; False: its operation has ended meanwhile."""
    now = timeutils.utcnow()
    if row.action == "DELETE":
        return resources.update_claimed(conn, row.id, row.claim_id or "", {})
    action = row.shown_action
    reason = f"{action} was interrupted: its engine stopped"
    if action == "CREATE" and row.physical_id is None:
        reason += f"; an object of {row.resource_type} may be left over"
    values = {"status": "FAILED", "status_reason": reason, "updated_at": now}
    if action == "UPDATE":
        # What it began with is told by its event: some may be applied.
        values["tried_prop_data_id"] = events.last_properties(
            conn, row.stack_id, row.name, "UPDATE", "IN_PROGRESS"
        )
    creates = row.action == "CREATE"
    if creates:
        # The engine's id stays: what tells this from a create that failed.
        values["claim_id"] = None
    changed = resources.update_claimed(
        conn, row.id, row.claim_id or "", values, release=not creates
    )
    if changed:
        events.insert_many(
            conn,
            [
                {
                    "stack_id": row.stack_id,
                    "created_at": now,
                    "resource_action": action,
                    "resource_status": "FAILED",
                    "resource_name": row.name,
                    "physical_resource_id": row.physical_id,
                    "resource_status_reason": reason,
                    "resource_type": row.resource_type,
                    "rsrc_prop_data_id": row.rsrc_prop_data_id,
                }
            ],
        )
    return changed


def _send(
    engine: Engine,
    stack: stacks.StackRecord,
    nodes: Collection[NodeKey],
    busy: Busy | None,
) -> int:
    traversal_id = stack.current_traversal or ""
    todo = [
        node for node in nodes if busy is None or not busy(traversal_id, node)
    ]
    if todo:
        engine.sender.send(
            identity.context_of(stack), stack.id, traversal_id, todo
        )
    return len(todo)
