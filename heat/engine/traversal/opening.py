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

"""Has at hand what was just begun, and takes up what can begin with it.

Who begins a traversal knows all that its nodes need, so this engine need not
read it again. And what waits for nothing is decided, and claimed, in the very
transaction that begins: its operations start without another one. As in
:mod:`.ahead`, whatever may call a service, or wait for a hook, is left to the
usual way.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import stacks, sync_points
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine, NodeKey
from heat.engine.traversal import ahead, begin, check, gather, identity
from heat.engine.traversal.scene import Scene
from heat.engine.traversal.tasks import Result

LOG = logging.getLogger(__name__)

# A stack that has more rows begins without: what is read of all of them
# would keep the transaction open, and one less is nothing to it.
MOST_ROWS = 256


@dataclasses.dataclass
class Opened:
    """What a transaction has begun.

    :ivar scene: the traversal as its nodes see it; None: it has to be read
    :ivar plan: what was decided, and claimed, of the nodes that are ready
    :ivar ended: those of them with which there is nothing to do
    """

    begun: begin.Begun
    scene: Scene | None = None
    plan: ahead.Ahead = dataclasses.field(default_factory=ahead.Ahead)
    ended: list[Result] = dataclasses.field(default_factory=list)


def run(
    engine: Engine,
    context: RequestContext,
    traversal: sync_points.Traversal,
    work: Callable[[sa.Connection], begin.Begun],
    definition: StackDefinition | None,
    before: StackDefinition | None = None,
    above: str | None = None,
) -> Opened:
    """Begin a traversal, and claim in the same transaction what is ready.

    :param traversal: that begins; when it was begun and only the answer to
        the commit got lost, it is not begun again
    :param work: begins it
    :param definition: what it wants, or had; None: that can't be told, or
        nothing is to be at hand
    :param before: the version that the stack had
    :param above: the id of the stack above: several below it, or below
        others, may begin in one transaction
    """
    opened: Opened | None = None
    stack_id = traversal.stack_id

    def careful(conn: sa.Connection) -> Opened:
        nonlocal opened
        current = opened and stacks.current_traversal(conn, stack_id)
        if opened is None or current != traversal.traversal_id:
            opened = Opened(work(conn))
            _open(conn, engine, context, opened, definition, before)
        return opened

    if above is None:
        return engine.db.run(careful)
    return engine.db.share(careful, "begin", stack_id, above)


def _open(
    conn: sa.Connection,
    engine: Engine,
    context: RequestContext,
    opened: Opened,
    definition: StackDefinition | None,
    before: StackDefinition | None,
) -> None:
    opening = opened.begun.opening
    if engine.scenes is None or opening is None or definition is None:
        return
    stack = opening.stack
    # Who comes with a token is a user; else it is what the stack acts by.
    asked = context.auth_token and context.deferred is None
    if stack.user_creds_id is not None or asked:
        context = identity.with_credentials(conn, stack, context)
    definition.version_id = stack.raw_template_id
    opened.scene = Scene.opened(opening, definition, context, before)
    if len(opening.rows) <= MOST_ROWS and not opened.scene.graph.observes:
        _take_up(conn, engine, opened, opened.scene)


def _take_up(
    conn: sa.Connection, engine: Engine, opened: Opened, scene: Scene
) -> None:
    """Decide about what is ready, and claim what has something to do.

    What was begun, its SyncPoints and so who may act, is nobody else's
    before the commit; a row that others hold is left to the usual way.
    """
    try:
        gather.preload(conn, scene)
    except (exception.HeatException, ValueError):
        # Begun all the same; whoever works on it meets, and tells, it.
        LOG.debug("stack %s is read later", scene.stack.id, exc_info=True)
    plain = [key for key in opened.begun.ready if _is_plain(scene, key)]
    for key in plain[: ahead.MOST]:
        result = ahead.decide(engine, scene, opened.plan, key)
        if result is not None:
            opened.ended.append(result)
    check.announce(engine, opened.plan.tasks)
    opened.plan.claim(conn, engine, scene, plain)


def _is_plain(scene: Scene, key: NodeKey) -> bool:
    """Whether a node can be decided, and has to do with no object of the
    user's: of that other rows, and other stacks, have a say."""
    node: gather.Node | None = scene.preloaded.get(key)
    if node is None or node.row.external or node.readers or node.holders:
        return False
    wish = scene.definition.resource_definitions.get(node.row.name)
    try:
        return wish is None or wish.external_id() is None
    except Exception:
        # The node fails by it when it is its turn.
        return False


def hand_on(engine: Engine, context: RequestContext, opened: Opened) -> None:
    """Start what was begun, after the commit: here what was claimed, and
    the rest wherever it is taken up."""
    begun, scene = opened.begun, opened.scene
    if scene is not None and engine.scenes is not None:
        if opened.plan.tasks:
            engine.probe("claimed")
        taken = opened.plan.taken(engine, scene)
        engine.scenes.keep(scene, taken.tasks, opened.ended)
        ours = {each.node.key for each in taken.tasks}
        ours.update(each.node.key for each in opened.ended)
        rest = tuple(key for key in begun.ready if key not in ours)
        begun = dataclasses.replace(begun, ready=rest)
    send(engine, context, begun)


def send(engine: Engine, context: RequestContext, begun: begin.Begun) -> None:
    """Send the ready nodes of a traversal that has been committed."""
    engine.probe("sending")
    if begun.ready:
        engine.sender.send(
            context, begun.stack_id, begun.traversal_id, begun.ready
        )
