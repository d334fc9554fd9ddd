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
"""LOCK and UNLOCK of a tree of stacks: how they begin, end and run out.

Beginning is one transaction. It takes the root by a compare-and-set, then
every stack below it; a stack with nothing to visit is done at once, each of
the others gets a walk of its own, over the rows that have something to be
done. A row that an earlier traversal still works on is visited too: it is
waited for, so that LOCK_COMPLETE means that nothing runs any more. The walks
have no order among their rows: each object is locked, or released, whatever
becomes of the others. A nested stack's row waits for its stack's walk.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.i18n import _
from heat.db import events, locks, stacks, sync_points, templates
from heat.engine.environment.environment import Environment
from heat.engine.graph import build
from heat.engine.plugins import PluginRegistry
from heat.engine.ports import Engine
from heat.engine.traversal import begin

#: Everything, or the stacks alone and not their objects.
LEVELS = ("all", "stacks")

# A lock that could not be released when it expired: again after this.
_RETRY_EXPIRED = datetime.timedelta(minutes=5)


@dataclasses.dataclass(frozen=True)
class Terms:
    """What is asked for, and by whom.

    :param level: one of :data:`LEVELS`; None: unlock
    :param expires_in: seconds until it is unlocked again; None: never
    :param because: shown with the beginning of an unlock
    """

    level: str | None
    reason: str | None = None
    locked_by: str | None = None
    expires_in: int | None = None
    request_id: str | None = None
    because: str = ""

    @property
    def action(self) -> str:
        return "LOCK" if self.level else "UNLOCK"

    def expires_at(self, now: datetime.datetime) -> datetime.datetime | None:
        if self.expires_in is None:
            return None
        return now + datetime.timedelta(seconds=self.expires_in)


def row_action(stack: stacks.StackRecord) -> str:
    """What a walk does with the objects it visits.

    A LOCK that leads to level ``stacks`` releases those that an earlier one
    has locked.
    """
    if stack.action == "LOCK" and stack.lock_wanted != "all":
        return "UNLOCK"
    return stack.action


# -- begin --------------------------------------------------------------------


def start(
    engine: Engine,
    stack: stacks.StackRecord,
    terms: Terms,
) -> list[begin.Begun]:
    """Lock or unlock a stack, as the caller read it, and all below it.

    :returns: the walks that are to be sent
    :raises ActionInProgress: somebody else was faster, or a stack below is
        busy; the error names it
    :raises StackLocked: somebody else has locked it
    """
    traversal_id = str(uuid.uuid4())
    now = timeutils.utcnow()
    return engine.db.run(
        lambda conn: _start(conn, engine, stack, terms, traversal_id, now)
    )


def _start(
    conn: sa.Connection,
    engine: Engine,
    stack: stacks.StackRecord,
    terms: Terms,
    traversal_id: str,
    now: datetime.datetime,
) -> list[begin.Begun]:
    reason = f"Stack {terms.action} started"
    if terms.because:
        reason += f": {terms.because}"
    shown = _shown(stack, terms, reason, now)
    taken = {**shown, "current_traversal": traversal_id}
    if not locks.take(conn, stack, taken):
        return _lost(conn, stack, traversal_id)
    below = _below(conn, stack, terms)
    mine = {each.id: each for each in (stack, *below)}
    count = locks.show(conn, [each.id for each in below], shown, root=stack.id)
    if count != len(below):
        raise exception.ActionInProgress(
            stack_name=stack.name, action=terms.action
        )
    _tell(conn, mine.values(), terms.action, "IN_PROGRESS", reason, now)
    alone: list[locks.Row] = []
    visits = _visits(conn, engine.plugins, mine, terms, alone)
    if alone:
        events.insert_many(conn, [_left_alone(row, now) for row in alone])
    begun = _open(conn, stack, visits, traversal_id)
    idle = [each for each in mine.values() if each.id not in visits]
    _complete(conn, stack.id, idle, terms.level, now)
    return begun


def _shown(
    stack: stacks.StackRecord,
    terms: Terms,
    reason: str,
    now: datetime.datetime,
) -> dict[str, Any]:
    """The columns of every stack of the tree from now on."""
    shown: dict[str, Any] = {
        "action": terms.action,
        "status": "IN_PROGRESS",
        "status_reason": reason,
        "traversal_started": now,
        "lock_wanted": terms.level,
    }
    if terms.level:
        shown.update(
            # The old level holds until the new one is reached.
            lock_level=stack.lock_level or terms.level,
            lock_root=stack.id,
            lock_reason=terms.reason,
            locked_by=terms.locked_by,
            locked_at=now,
            lock_expires_at=terms.expires_at(now),
            lock_request_id=terms.request_id,
        )
    return shown


def _lost(
    conn: sa.Connection, stack: stacks.StackRecord, traversal_id: str
) -> list[begin.Begun]:
    """The compare-and-set failed: was it an earlier try of this very work?"""
    now = stacks.get(conn, stack.id)
    if now is None:
        raise exception.EntityNotFound(entity="Stack", name=stack.name)
    if now.current_traversal == traversal_id:
        if now.status != "IN_PROGRESS":
            return []
        graph = build.TraversalGraph.from_json(stacks.get_deps(conn, now.id))
        return [begin.Begun(now.id, traversal_id, tuple(graph.ready()))]
    if now.lock_level is not None and now.lock_level != stack.lock_level:
        raise locks.refusal(now, "lock")
    raise exception.ActionInProgress(stack_name=now.name, action=now.action)


def _below(
    conn: sa.Connection, stack: stacks.StackRecord, terms: Terms
) -> list[stacks.StackRecord]:
    """The stacks that are locked or unlocked together with a root.

    Those locked on their own are passed over with all below them; so are,
    in an unlock, those that were never locked.

    :raises ActionInProgress: one of them is busy
    :raises StackLocked: an unlock, and a stack above is locked
    """
    found = locks.hold_below(conn, stack.id)
    if terms.level is None:
        locks.refuse_locked_above(conn, stack, "unlock")
        found = [each for each in found if each.lock_root == stack.id]
    for each in found:
        if each.status == "IN_PROGRESS":
            raise exception.ActionInProgress(
                stack_name=each.name, action=each.action
            )
    return [each for each in found if each.lock_root in (None, stack.id)]


def _tell(
    conn: sa.Connection,
    which: Iterable[stacks.StackRecord],
    action: str,
    status: str,
    reason: str,
    now: datetime.datetime,
) -> None:
    told = [
        begin.stack_event(each, action, status, reason, now) for each in which
    ]
    if told:
        events.insert_many(conn, told)


def _left_alone(row: locks.Row, now: datetime.datetime) -> dict[str, Any]:
    """The event of an object that is the user's: nobody locks it."""
    return {
        "stack_id": row.stack_id,
        "created_at": now,
        "resource_action": row.shown[0],
        "resource_status": row.shown[1],
        "resource_name": row.name,
        "physical_resource_id": row.physical_id,
        "resource_status_reason": "the object is external: left alone",
        "resource_type": row.resource_type,
        "rsrc_prop_data_id": None,
    }


def _open(
    conn: sa.Connection,
    root: stacks.StackRecord,
    visits: Mapping[str, Collection[int]],
    traversal_id: str,
) -> list[begin.Begun]:
    """Begin the walks, the root's first."""
    locks.forget_walks(conn, visits)
    walks: dict[str, tuple[str, Mapping[str, Any]]] = {}
    begun: list[begin.Begun] = []
    for stack_id in sorted(visits, key=lambda each: (each != root.id, each)):
        # Made of the root's, so that a repeated transaction makes the same.
        own = str(uuid.uuid5(uuid.UUID(traversal_id), stack_id))
        if stack_id == root.id:
            own = traversal_id
        graph = build.walk(
            [build.Extant(row_id) for row_id in sorted(visits[stack_id])],
            down=True,
        )
        walks[stack_id] = (own, graph.to_json())
        sync_points.insert_many(
            conn,
            sync_points.Traversal(stack_id, own),
            {key: len(graph.requires(key)) for key in graph.nodes()},
        )
        begun.append(begin.Begun(stack_id, own, tuple(graph.ready())))
    locks.open_walks(conn, walks)
    return begun


# -- what a walk visits -------------------------------------------------------


def _visits(
    conn: sa.Connection,
    plugins: PluginRegistry,
    mine: Mapping[str, stacks.StackRecord],
    terms: Terms,
    alone: list[locks.Row],
) -> dict[str, set[int]]:
    """Stack id -> ids of the rows that its walk has to visit.

    :param alone: takes the rows whose object would be locked if it were not
        the user's
    """
    found: dict[str, set[int]] = defaultdict(set)
    holders: dict[str, list[locks.Row]] = defaultdict(list)
    asked: dict[str, list[locks.Row]] = defaultdict(list)
    to_lock = terms.level == "all"
    for row in locks.rows(conn, mine):
        if to_lock and row.external and row.is_current:
            alone.append(row)
        if row.physical_id is not None and row.physical_id in mine:
            holders[row.physical_id].append(row)
        elif row.claimed or (not to_lock and row.held):
            found[row.stack_id].add(row.id)
        elif _may_need_visit(row, to_lock):
            asked[row.stack_id].append(row)
        if row.claimed:
            found[row.stack_id].add(row.id)
    for stack_id, row_ids in _able(conn, plugins, mine, asked, to_lock):
        found[stack_id] |= row_ids
    for stack_id in list(found):
        _add_holders(found, holders, stack_id)
    return dict(found)


def _may_need_visit(row: locks.Row, to_lock: bool) -> bool:
    """Whether a row is to be visited if its class has something to do."""
    if (
        row.action in ("INIT", "DELETE")
        or not row.is_current
        or row.external
        or row.physical_id is None
    ):
        return False
    if to_lock:
        return row.shown != ("LOCK", "COMPLETE") or not row.held
    return row.shown[0] in locks.LOCKING and row.shown != (
        "UNLOCK",
        "COMPLETE",
    )


def _able(
    conn: sa.Connection,
    plugins: PluginRegistry,
    mine: Mapping[str, stacks.StackRecord],
    asked: Mapping[str, Sequence[locks.Row]],
    to_lock: bool,
) -> Iterable[tuple[str, set[int]]]:
    """Of some rows those whose class can lock, or release, its object."""
    handler = "handle_lock" if to_lock else "handle_unlock"
    stored = templates.get_many(
        conn, [mine[each].raw_template_id for each in asked]
    )
    for stack_id, rows in asked.items():
        record = stored.get(mine[stack_id].raw_template_id)
        if record is None:
            continue
        env = Environment(record.environment)
        yield (
            stack_id,
            {row.id for row in rows if _offers(plugins, env, row, handler)},
        )


def _offers(
    plugins: PluginRegistry, env: Environment, row: locks.Row, handler: str
) -> bool:
    target = env.registry.resolve(row.resource_type, row.name)
    if target.kind != "class":
        return False
    try:
        return hasattr(plugins.get(target.name), handler)
    except exception.EntityNotFound:
        return False


def _add_holders(
    found: dict[str, set[int]],
    holders: Mapping[str, Sequence[locks.Row]],
    stack_id: str,
) -> None:
    """Whoever holds a stack that has a walk waits for it, up to the root."""
    for row in holders.get(stack_id, ()):
        known = row.id in found[row.stack_id]
        found[row.stack_id].add(row.id)
        if not known:
            _add_holders(found, holders, row.stack_id)


# -- end ----------------------------------------------------------------------


def complete(
    conn: sa.Connection, stack: stacks.StackRecord, now: datetime.datetime
) -> None:
    """The walk of a stack has ended well."""
    wanted = stack.lock_wanted if stack.action == "LOCK" else None
    _complete(conn, stack.lock_root or stack.id, [stack], wanted, now)


def _complete(
    conn: sa.Connection,
    root: str,
    ended: Sequence[stacks.StackRecord],
    wanted: str | None,
    now: datetime.datetime,
) -> None:
    """Stacks have nothing (more) to visit; with the root the tree ends."""
    action = "LOCK" if wanted else "UNLOCK"
    ids = [each.id for each in ended]
    if not ids:
        return
    locks.forget_walks(conn, ids)
    values: dict[str, Any] = {
        "action": action,
        "status": "COMPLETE",
        "status_reason": f"Stack {action} completed successfully",
    }
    if wanted == "all":
        locks.show_locked(conn, ids)
    else:
        locks.show_unlocked(conn, ids)
    if wanted is None:
        values.update(locks.NO_LOCK)
    locks.update(conn, ids, values)
    told = [
        begin.stack_event(
            each,
            action,
            "COMPLETE",
            values["status_reason"] + ("" if wanted else _blocked(each)),
            now,
        )
        for each in ended
    ]
    events.insert_many(conn, told)
    if wanted and root in ids:
        whole = locks.tree(conn, root)
        if wanted == "stacks":
            locks.show_nested(conn, whole, root)
        locks.update(conn, whole, {"lock_level": wanted, "lock_wanted": None})


def _blocked(stack: stacks.StackRecord) -> str:
    """What a lock has refused, for the event of its end."""
    counted = stack.lock_blocked or {}
    if not counted:
        return ""
    parts = [
        f"{kind} {counted[kind].get('count')} "
        f"(last by {counted[kind].get('by')})"
        for kind in sorted(counted)
    ]
    return "; refused while locked: " + ", ".join(parts)


def settle_failed(
    conn: sa.Connection, stack: stacks.StackRecord, now: datetime.datetime
) -> None:
    """LOCK or UNLOCK of a stack failed, or ran out of time: with a root,
    what runs below it ends too. The level that held before holds on.
    """
    if stack.lock_root != stack.id:
        return
    whole = locks.tree(conn, stack.id)
    values: dict[str, Any] = {"lock_wanted": None}
    expires = stack.lock_expires_at
    if stack.action == "UNLOCK" and expires is not None and expires <= now:
        values["lock_expires_at"] = now + _RETRY_EXPIRED
    locks.update(conn, whole, values)
    found = stacks.get_many(conn, [key for key in whole if key != stack.id])
    busy = [each for each in found.values() if each.status == "IN_PROGRESS"]
    reason = f"{stack.action} of stack {stack.name} failed"
    ids = [each.id for each in busy]
    locks.forget_walks(conn, ids)
    locks.update(conn, ids, {"status": "FAILED", "status_reason": reason})
    for each in busy:
        _tell(conn, [each], each.action, "FAILED", reason, now)


# -- expiry -------------------------------------------------------------------


def release_expired(
    engine: Engine,
) -> list[tuple[stacks.StackRecord, list[begin.Begun]]]:
    """Unlock what was locked for a time that is over."""
    now = timeutils.utcnow()
    released = []
    for stack in engine.db.read(lambda conn: locks.expired(conn, now)):
        terms = Terms(None, because=_("the lock has expired"))
        try:
            released.append((stack, start(engine, stack, terms)))
        except (exception.ActionInProgress, exception.StackLocked):
            # Another engine was faster, or a user; or a stack is busy.
            continue
    return released
