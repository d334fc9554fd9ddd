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

"""Hooks: nodes of a traversal that wait for a user.

A node that waits is claimed by nobody: it stays ready, and whoever takes it
up sees that it is to wait and leaves it. That it waits is an entry in the
data of its row, that it may go on is another, both for this traversal only.
The signal that lets it go on sends the node again.

The reasons of the events are what clients look for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import events, resource_data, resources, signals
from heat.db.resources import ResourceRecord
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.resource import hooks as words
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene

_BEFORE = {
    Step.CREATE: words.HOOK_PRE_CREATE,
    Step.ADOPT: words.HOOK_PRE_CREATE,
    Step.UPDATE: words.HOOK_PRE_UPDATE,
    Step.REPLACE: words.HOOK_PRE_UPDATE,
    Step.PASS: words.HOOK_PRE_UPDATE,
    Step.HAND_BACK: words.HOOK_PRE_UPDATE,
    Step.DELETE: words.HOOK_PRE_DELETE,
    Step.RELEASE: words.HOOK_PRE_DELETE,
}
_AFTER = {
    "CREATE": words.HOOK_POST_CREATE,
    "UPDATE": words.HOOK_POST_UPDATE,
    "DELETE": words.HOOK_POST_DELETE,
}


def hold(engine: Engine, scene: Scene, nodes: Sequence[Node]) -> set[int]:
    """Which of some planned nodes wait; those new to it are recorded.

    :returns: their places in ``nodes``
    """
    asked = {
        place: found
        for place, node in enumerate(nodes)
        if (found := _asked(scene, node))
    }
    if not asked:
        return set()
    rows = {nodes[place].row.id for place in asked}
    known = engine.db.read(lambda conn: resource_data.get_many(conn, rows))
    return {
        place
        for place, (before, after) in asked.items()
        if _waits(
            engine,
            scene,
            nodes[place],
            known.get(nodes[place].row.id, {}),
            before,
            after,
        )
    }


def _waits(
    engine: Engine,
    scene: Scene,
    node: Node,
    data: Mapping[str, str],
    before: Sequence[str],
    after: Sequence[str],
) -> bool:
    if any(_is_set(scene, data, hook) for hook in (*before, *after)):
        return True
    if not before or _is_cleared(scene, data, before[0]):
        return False
    return engine.db.run(lambda conn: _pause(conn, scene, node, before[0]))


def _asked(
    scene: Scene, node: Node
) -> tuple[Sequence[str], Sequence[str]] | None:
    """The hooks at which a node stops now, and those after its step."""
    hooks = scene.definition.env.registry.hooks(node.row.name)
    if not hooks or node.step is Step.WAIT:
        return None
    stop = _BEFORE.get(node.step)
    if _stays_equal(scene, node):
        stop = words.HOOK_PRE_UPDATE
    before = [stop] if stop is not None and stop in hooks else []
    after = [hook for hook in _AFTER.values() if hook in hooks]
    return (before, after) if before or after else None


def _stays_equal(scene: Scene, node: Node) -> bool:
    """Whether an update finds nothing to do with a resource.

    What it has made or changed itself, and sees again after a later hook,
    is of its template already.
    """
    return (
        node.step in (Step.KEEP, Step.OBSERVE)
        and scene.stack.action == "UPDATE"
        and node.row.current_template_id != scene.target_template_id
    )


def _mark(scene: Scene, node: Node) -> str:
    half = "update" if node.key[1] else "cleanup"
    return words.mark_set(scene.traversal.traversal_id, node.key[0], half)


def _is_set(scene: Scene, data: Mapping[str, str], hook: str) -> bool:
    mark = words.read(data.get(hook))
    return (
        mark is not None
        and mark.is_set
        and mark.traversal_id == scene.traversal.traversal_id
    )


def _is_cleared(scene: Scene, data: Mapping[str, str], hook: str) -> bool:
    mark = words.read(data.get(hook))
    return (
        mark is not None
        and not mark.is_set
        and mark.traversal_id == scene.traversal.traversal_id
    )


def _pause(conn: sa.Connection, scene: Scene, node: Node, hook: str) -> bool:
    """Record that a node waits, unless its row is not as it was read.

    :returns: whether it waits
    """
    now = signals.hold(conn, node.row.id)
    if now is None or now.claim_id is not None:
        return True
    data = resource_data.get_many(conn, [now.id]).get(now.id, {})
    if _is_set(scene, data, hook) or _is_cleared(scene, data, hook):
        return _is_set(scene, data, hook)
    _put(conn, now.id, hook, _mark(scene, node))
    events.insert_many(conn, [_paused(now, hook)])
    return True


def _put(conn: sa.Connection, row_id: int, hook: str, mark: str) -> None:
    resource_data.apply_many(
        conn,
        {row_id: {hook: resource_data.DataRecord(mark)}},
        {row_id: [hook]},
    )


def _paused(row: ResourceRecord, hook: str) -> dict[str, Any]:
    action = hook.partition("-")[2].upper()
    reason = f"{action} paused until Hook {hook} is cleared"
    return events.of_resource(row, row.action, row.status, reason)


# -- after an operation -------------------------------------------------------


def stops_after(scene: Scene, node: Node, action: str) -> bool:
    """Whether a node stops when an action on its row has ended well."""
    hook = _AFTER.get(action)
    registry = scene.definition.env.registry
    return hook is not None and registry.matches_hook(node.row.name, hook)


def pause_after(
    conn: sa.Connection, scene: Scene, ended: Iterable[tuple[Node, str]]
) -> None:
    """Record that nodes, whose rows were just written, wait now.

    :param ended: with the action that has ended
    """
    for node, action in ended:
        now = signals.hold(conn, node.row.id)
        if now is not None:
            hook = _AFTER[action]
            _put(conn, now.id, hook, _mark(scene, node))
            events.insert_many(conn, [_paused(now, hook)])


# -- clear --------------------------------------------------------------------


def clear(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    resource_name: str,
    hook: str,
) -> None:
    """Let a resource go on.

    :raises InvalidBreakPointHook: there is no such hook, or the resource
        does not wait there
    """
    if hook not in words.HOOK_TYPES:
        raise exception.InvalidBreakPointHook(
            message=_("%(hook)s is no hook; there are %(known)s.")
            % {"hook": hook, "known": ", ".join(words.HOOK_TYPES)}
        )
    traversal_id = stack.current_traversal or ""
    nodes = engine.db.run(
        lambda conn: _clear(conn, stack.id, traversal_id, resource_name, hook)
    )
    if not nodes:
        raise exception.InvalidBreakPointHook(
            message=_("Resource %(name)s does not wait at the hook %(hook)s.")
            % {"name": resource_name, "hook": hook}
        )
    engine.sender.send(context, stack.id, traversal_id, sorted(nodes))


def _clear(
    conn: sa.Connection,
    stack_id: str,
    traversal_id: str,
    name: str,
    hook: str,
) -> Collection[tuple[int, bool]]:
    named = [
        row.id
        for row in resources.list_for_stack(conn, stack_id)
        if row.name == name
    ]
    nodes: list[tuple[int, bool]] = []
    for row_id in named:
        row = signals.hold(conn, row_id)
        data = resource_data.get_many(conn, [row_id]).get(row_id, {})
        mark = words.read(data.get(hook))
        if row is None or mark is None or not mark.is_set:
            continue
        if mark.traversal_id != traversal_id:
            continue
        _put(conn, row_id, hook, words.mark_cleared(traversal_id))
        reason = f"Hook {hook} is cleared"
        events.insert_many(
            conn, [events.of_resource(row, row.action, row.status, reason)]
        )
        nodes.append((mark.node, mark.half == "update"))
    return nodes
