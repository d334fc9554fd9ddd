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
"""What one engine knows of one traversal: parsed once, shared by its nodes.

A scene never changes what it was loaded with; only the data of finished
nodes is added, which grows monotonically within a traversal. Definitions of
older template versions are loaded when a row of theirs is met.
"""

from __future__ import annotations

import collections
import functools
import threading
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.identifier import HeatIdentifier
from heat.db import resources, stacks, sync_points, templates
from heat.db.session import Database
from heat.engine.definition import NodeData, StackDefinition
from heat.engine.environment.environment import Environment
from heat.engine.graph.build import NodeKey, TraversalGraph
from heat.engine.rsrc_defn import ResourceDefinition
from heat.engine.template import base as template_base
from heat.engine.traversal import begin, identity

_CACHED_SCENES = 128

# Seconds for an action when the stack has no timeout of its own: the
# default of the option stack_action_timeout.
_DEFAULT_TIMEOUT = 3600.0


def load_definition(
    conn: sa.Connection, stack: stacks.StackRecord, template_id: int
) -> StackDefinition:
    """Parse a stored template version of a stack.

    :raises EntityNotFound: when the version is not stored (any more)
    """
    record = templates.get(conn, template_id)
    if record is None:
        raise exception.EntityNotFound(
            entity="Template version", name=template_id
        )
    return make_definition(
        HeatIdentifier(stack.tenant or "", stack.name, stack.id), record
    )


def make_definition(
    identity: HeatIdentifier, record: templates.TemplateRecord
) -> StackDefinition:
    """Parse a template version for the stack of this identity."""
    made = StackDefinition(
        identity,
        # Both were within the limits when they were stored.
        template_base.load(record.template, record.files, bounded=True),
        Environment(record.environment, bounded=True),
        facade=record.facade,
    )
    made.version_id = record.id
    return made


class Scene:
    """One traversal, as its nodes see it.

    :ivar definition: what the traversal wants; for DELETE, what the stack
        had, of which nothing is wanted (the graph has no update nodes)
    :ivar fresh: the rows, when this engine has just begun the traversal
    :ivar preloaded: nodes read in advance, each to be used once
    :ivar done: nodes that are done, as far as this engine knows
    """

    def __init__(
        self,
        stack: stacks.StackRecord,
        graph: TraversalGraph,
        definition: StackDefinition,
        names: dict[int, str],
        context: RequestContext,
    ) -> None:
        self.stack = stack
        self.traversal = sync_points.Traversal(
            stack.id, stack.current_traversal or ""
        )
        self.graph = graph
        self.definition = definition
        self.context = context
        self.target_template_id = stack.raw_template_id
        self.fresh: Sequence[resources.ResourceRecord] | None = None
        self.was_preloaded = False
        self.preloaded: dict[NodeKey, Any] = {}
        self.done: set[NodeKey] = set()
        self._names = names
        self._versions: dict[int, StackDefinition | None] = {
            stack.raw_template_id: definition
        }

    @classmethod
    def load(
        cls,
        conn: sa.Connection,
        stack_id: str,
        traversal_id: str,
        context: RequestContext,
    ) -> Scene | None:
        """Load a traversal; None when it was superseded."""
        stack = stacks.get(conn, stack_id)
        if stack is None or stack.current_traversal != traversal_id:
            return None
        graph = TraversalGraph.from_json(stacks.get_deps(conn, stack_id))
        definition = load_definition(conn, stack, stack.raw_template_id)
        names = resources.names(conn, stack_id)
        context = identity.with_credentials(conn, stack, context)
        # Several statements may straddle a newer traversal's begin: what was
        # read belongs together only if none has begun meanwhile.
        if stacks.current_traversal(conn, stack_id) != traversal_id:
            return None
        return cls(stack, graph, definition, names, context)

    @classmethod
    def opened(
        cls,
        opening: begin.Opening,
        definition: StackDefinition,
        context: RequestContext,
        before: StackDefinition | None = None,
    ) -> Scene:
        """A traversal that this engine has just begun.

        :param before: the version that the stack had, if it is at hand
        """
        names = {row.id: row.name for row in opening.rows}
        made = cls(opening.stack, opening.graph, definition, names, context)
        made.fresh = opening.rows
        if before is not None and before.version_id is not None:
            made._versions.setdefault(before.version_id, before)
        return made

    def deadline(self, monotonic: float) -> float:
        """When operations of this traversal time out, on that clock."""
        return monotonic + self._seconds_left()

    @property
    def is_late(self) -> bool:
        """Whether its time is over."""
        return self._seconds_left() <= 0

    def _seconds_left(self) -> float:
        minutes = self.stack.timeout
        allowed = minutes * 60.0 if minutes else _DEFAULT_TIMEOUT
        began = self.stack.traversal_started
        if began is None:
            return allowed
        return allowed - (timeutils.utcnow() - began).total_seconds()

    def version(
        self, conn: sa.Connection, template_id: int | None
    ) -> StackDefinition | None:
        """The definition a row was last finished with; None: unknown.

        Only for reading what a row was (its policies, its class): the
        definition has no node data.
        """
        if template_id is None:
            return None
        if template_id not in self._versions:
            try:
                found = load_definition(conn, self.stack, template_id)
            except (exception.HeatException, ValueError):
                self._versions[template_id] = None
            else:
                self._versions[template_id] = found
        return self._versions[template_id]

    def missing_inputs(self, row_id: int) -> set[int]:
        """Row ids of required update nodes whose data is not here yet."""
        return {
            need
            for need, is_update in self.graph.requires((row_id, True))
            if is_update
            and self.definition.node(self._names.get(need, "")) is None
        }

    def tell(
        self,
        sender: int,
        row_id: int,
        reference_id: str | None,
        attributes: dict[str, Any] | None,
    ) -> None:
        """Make what a finished node's row says known to its dependants.

        :param sender: its graph key; ``row_id`` is its identity row
        """
        self.definition.set_node(
            self._names[sender],
            NodeData(
                row_id=row_id,
                uuid="",
                reference_id=reference_id,
                attributes=decode_attributes(attributes),
                action="",
                status="COMPLETE",
            ),
        )

    def untell(self, key: NodeKey) -> None:
        """Take back that a node is done, and what its row says."""
        self.done.discard(key)
        if key[1]:
            self.definition.forget_node(self._names[key[0]])

    def is_done(self, key: NodeKey) -> bool:
        """Whether a node is known to be done; False: nobody told."""
        if key in self.done:
            return True
        name = self._names.get(key[0], "")
        return key[1] and self.definition.node(name) is not None

    def names_below(self, key: NodeKey) -> set[str]:
        """The resources that an update node hangs on, however far."""
        seen: set[NodeKey] = set()
        todo = [key]
        while todo:
            for need in self.graph.requires(todo.pop()):
                if need[1] and need not in seen:
                    seen.add(need)
                    todo.append(need)
        return {self._names[row_id] for row_id, _half in seen}

    @functools.cached_property
    def wanted_external(self) -> dict[str, set[str]]:
        """Objects that the target says are the user's -> who says so.

        As far as that is known from the beginning: what is read from another
        resource takes nothing away from it.
        """
        found: dict[str, set[str]] = {}
        for name, wish in self.definition.resource_definitions.items():
            ident = self.fixed_external_id(wish)
            if ident is not None:
                found.setdefault(ident, set()).add(name)
        return found

    def fixed_external_id(self, wish: ResourceDefinition) -> str | None:
        """What a wanted resource says, and no other one has a part in."""
        return wish.fixed_external_id()

    def required_rows(self, row_id: int) -> tuple[int, ...]:
        """The identity row ids of what an update node requires, sorted."""
        identity = set()
        for need, is_update in self.graph.requires((row_id, True)):
            if is_update:
                data = self.definition.node(self._names.get(need, ""))
                identity.add(data.row_id if data else need)
        return tuple(sorted(identity))


class Scenes:
    """The traversals that this engine worked on last."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[str, Scene] = (
            collections.OrderedDict()
        )

    def get(
        self, stack_id: str, traversal_id: str, context: RequestContext
    ) -> Scene | None:
        """The scene of a traversal; None when it was superseded."""
        with self._lock:
            scene = self._kept.get(traversal_id)
            if scene is not None:
                self._kept.move_to_end(traversal_id)
                return scene
        scene = self._db.read(
            lambda conn: Scene.load(conn, stack_id, traversal_id, context)
        )
        if scene is not None:
            self.keep(scene)
        return scene

    def keep(self, scene: Scene) -> None:
        """Have a traversal at hand."""
        with self._lock:
            self._kept[scene.traversal.traversal_id] = scene
            while len(self._kept) > _CACHED_SCENES:
                self._kept.popitem(last=False)

    def forget(self, traversal_id: str) -> None:
        """Drop a traversal that has ended."""
        with self._lock:
            self._kept.pop(traversal_id, None)


def encode_attributes(
    values: dict[tuple[str, ...], Any],
) -> dict[str, Any]:
    """The stored form: a plain name, or the path joined by newlines.

    No attribute name holds a newline, and JSON objects want text keys.
    """
    return {"\n".join(map(str, key)): value for key, value in values.items()}


def decode_attributes(
    stored: dict[str, Any] | None,
) -> dict[tuple[str, ...], Any]:
    """The reverse of :func:`encode_attributes`."""
    return {
        tuple(key.split("\n")): value for key, value in (stored or {}).items()
    }
