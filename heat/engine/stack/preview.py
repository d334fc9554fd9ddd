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
"""What an update would do, told by the functions that would do it.

The rows are read once; each resource is judged in the order of the template
by what the engine itself calls when its turn comes
(:func:`heat.engine.traversal.gather.judge`). Values of resources that will
change are unknown (:mod:`.unknown`), so whoever uses one is judged twice: as
if the value stayed, and as if it changed. Where the two differ the answer is
not certain, and says so. Nothing is written.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import stacks
from heat.engine import rsrc_defn
from heat.engine.definition import NodeData, StackDefinition
from heat.engine.graph import dag
from heat.engine.ports import Engine
from heat.engine.stack import (
    converge,
    preview_cleanup,
    preview_external,
    preview_nested,
    preview_rows,
    preview_sources,
    unknown,
)
from heat.engine.stack.preview_changes import Change, Changes
from heat.engine.stack.preview_rows import Rows
from heat.engine.stack.request import Request
from heat.engine.traversal import check, gather
from heat.engine.traversal.decide import Step

LOG = logging.getLogger(__name__)

#: Most links of a chain of causes that are told one by one.
MAX_CAUSES = 8


def update(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    template: Mapping[str, Any] | str | None,
    params: Mapping[str, Any] | None,
    files: Mapping[str, str] | None,
    args: Mapping[str, Any] | None,
    *,
    environment_files: Sequence[str] | None = None,
    allows: Callable[[str], None] | None = None,
) -> Changes:
    """Tell what :func:`.converge.update` with these arguments would do.

    :param allows: raises Forbidden for a type that who asks may not use
    :raises HeatException, ValueError: whatever the update would refuse with
    """
    request = Request(
        template,
        params or {},
        files or {},
        args or {},
        environment_files or (),
    )
    prepared, _tree = converge.prepared_update(
        engine, context, stack, request, allows=allows
    )
    changes = compare(
        engine,
        context,
        stack,
        prepared.definition,
        nested=bool(request.args.get("show_nested")),
    )
    if changes.updated or changes.replaced:
        preview_sources.quote(
            changes,
            preview_sources.as_it_is(engine, stack),
            preview_sources.Side(
                prepared.definition, prepared.template, prepared.reason
            ),
        )
    return changes


def compare(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    definition: StackDefinition,
    *,
    nested: bool = False,
    outside: Mapping[str, str] | None = None,
) -> Changes:
    """Tell what would bring a stack as it is now to a definition.

    :param definition: without node data; it is given some
    :param nested: tell it of the stacks below, too
    :param outside: causes outside of the stack, by the names that unknown
        values have as their source
    """
    rows = engine.db.read(
        lambda conn: preview_rows.read(conn, context, stack, definition)
    )
    judge = _Judge(engine, rows, outside or {})
    judged = judge.all()
    changes = Changes()
    for name in definition.resource_definitions:
        kind, change = judged[name]
        getattr(changes, kind).append(change)
    changes.deleted.extend(preview_cleanup.deleted(engine, rows))
    if nested:
        for child, made, causes in _children(engine, stack, rows, judge):
            below = compare(
                engine, context, child, made, nested=True, outside=causes
            )
            changes.take_in(child, below)
    return changes


# -- update half --------------------------------------------------------------

_KINDS = {
    Step.KEEP: "unchanged",
    Step.CREATE: "added",
    Step.RESUME: "updated",
    Step.UPDATE: "updated",
    Step.REPLACE: "replaced",
    Step.PASS: "updated",
    Step.HAND_BACK: "updated",
    Step.OBSERVE: "unchanged",
}


@dataclasses.dataclass(frozen=True)
class _Verdict:
    """How one way of judging a node came out."""

    step: Step
    because: str
    node: gather.Node
    error: Exception | None = None


class _Judge:
    """Judges the wanted resources, each after what it requires."""

    def __init__(
        self, engine: Engine, rows: Rows, outside: Mapping[str, str]
    ) -> None:
        self._engine = engine
        self._rows = rows
        self._outside = outside
        self._settled: dict[str, unknown.Settled] = {}
        self._definition = rows.scene.definition
        self._told: dict[str, tuple[str, Change]] = {}
        self._sources: dict[str, str] = {}

    def all(self) -> dict[str, tuple[str, Change]]:
        """(kind, change) of every wanted resource, by name."""
        order: dag.Graph[str] = dag.Graph()
        for name, needs in self._definition.dependencies().items():
            order.add(name, *needs)
        for name in order.topological():
            if name not in self._told:
                self._told[name] = self._one(name)
        return self._told

    def _one(self, name: str) -> tuple[str, Change]:
        wish = self._definition.resource_definitions[name]
        node = self._rows.wanted.get(name)
        if node is None or node.row.action == "INIT":
            self._know(name, unknown.UnknownData(name))
            return "added", self._added(wish)
        try:
            wish.external_id()
        except unknown.Unknown as exc:
            self._know(name, unknown.UnknownData(name))
            return self._anything(wish, node, exc.source)
        try:
            settled = unknown.settle_definition(
                wish, node.properties or {}, node.row.metadata
            )
        except Exception as exc:
            self._know(name, unknown.UnknownData(name))
            return self._failing(name, wish, node, exc)
        self._settled[name] = settled
        least = self._judge(node, settled, taken_as_changed=False)
        most = least
        if settled.sources and least.step is not Step.REPLACE:
            most = self._judge(node, settled, taken_as_changed=True)
        if least.error and not settled.sources:
            self._know(name, unknown.UnknownData(name))
            return self._failing(name, wish, node, least.error)
        return self._weigh(name, wish, settled, least, most)

    def _added(self, wish: rsrc_defn.ResourceDefinition) -> Change:
        try:
            reason = preview_external.added(wish.external_id())
        except unknown.Unknown:
            reason = preview_external.added("?")
        return Change(wish.name, wish.resource_type, None, reason)

    def _anything(
        self,
        wish: rsrc_defn.ResourceDefinition,
        node: gather.Node,
        source: str,
    ) -> tuple[str, Change]:
        """Nobody knows yet which object is to be the user's."""
        self._sources[wish.name] = source
        return "updated", Change(
            wish.name,
            wish.resource_type,
            node.row,
            _("external_id is not known yet"),
            because_of=self._chain(source),
            certain=False,
            may_be_replaced=True,
        )

    def _judge(
        self,
        node: gather.Node,
        settled: unknown.Settled,
        *,
        taken_as_changed: bool,
    ) -> _Verdict:
        """Judge a node with its unknown values as they were, or not so."""
        tried = node.tried and {
            key: value
            for key, value in node.tried.items()
            if key not in settled.unknown
        }
        each = dataclasses.replace(
            node,
            tried=tried,
            unknown=settled.unknown if taken_as_changed else frozenset(),
        )
        try:
            gather.judge(
                self._engine, self._rows.scene, each, settled.definition
            )
        except Exception as exc:
            LOG.debug("preview of %s: %s", node.row.name, exc)
            return _Verdict(Step.UPDATE, str(exc), each, exc)
        if taken_as_changed and settled.elsewhere and each.step is Step.KEEP:
            text = _("metadata or policy changed")
            return _Verdict(Step.UPDATE, text, each)
        return _Verdict(each.step, each.because, each)

    def _weigh(
        self,
        name: str,
        wish: rsrc_defn.ResourceDefinition,
        settled: unknown.Settled,
        least: _Verdict,
        most: _Verdict,
    ) -> tuple[str, Change]:
        """Make one answer of the two; they are the same one for most."""
        node = least.node
        # A verdict that could not be reached is not known either.
        certain = least.step is most.step and least.error is None
        kind = _KINDS[least.step if certain else Step.UPDATE]
        deciding = least if least.step is most.step else most
        change = Change(
            name,
            wish.resource_type,
            node.row,
            self._reason(wish, deciding),
            certain=certain and name not in self._rows.running,
            may_be_replaced=not certain and most.step is Step.REPLACE,
        )
        if not certain and settled.sources:
            self._sources[name] = settled.sources[0]
            change = dataclasses.replace(
                change,
                because_of="; ".join(
                    self._chain(each) for each in settled.sources
                ),
            )
        if kind == "replaced":
            gone = preview_cleanup.retained(self._engine, self._rows, node)
            change = dataclasses.replace(change, retained=gone)
        if certain:
            change = self._in_other_hands(change, node)
        self._know(name, self._data(name, kind, change, node))
        return kind, change

    def _in_other_hands(self, change: Change, node: gather.Node) -> Change:
        told = preview_external.tell(self._engine, self._rows.scene, node)
        if told is None:
            return change
        reason = told.reason
        if node.step is Step.REPLACE:
            reason += preview_external.previous(node, retained=change.retained)
        return dataclasses.replace(
            change,
            reason=reason,
            ownership=told.ownership,
            error=told.error,
        )

    def _reason(
        self, wish: rsrc_defn.ResourceDefinition, verdict: _Verdict
    ) -> str:
        row = verdict.node.row
        if verdict.error is not None:
            return _("it depends on values that are not known yet")
        node, text = verdict.node, verdict.because or _("nothing changed")
        if node.unknown and verdict.step is Step.UPDATE:
            changed = ", ".join(node.change.changed)
            text = _("properties may change: %s") % changed
        if verdict.step is Step.REPLACE and (
            row.resource_type != wish.resource_type
        ):
            text += f": {row.resource_type} -> {wish.resource_type}"
        if row.name in self._rows.running:
            text += _("; %s is in progress and taken as if it ends well") % (
                row.action
            )
        return text

    def _failing(
        self,
        name: str,
        wish: rsrc_defn.ResourceDefinition,
        node: gather.Node,
        error: Exception,
    ) -> tuple[str, Change]:
        """The engine would show this error as that of an update."""
        return "updated", Change(
            name,
            wish.resource_type,
            node.row,
            _("the update of it fails"),
            error=str(error),
        )

    # -- what its dependants see ----------------------------------------------

    def _know(self, name: str, data: NodeData) -> None:
        self._definition.set_node(name, data)

    def _data(
        self, name: str, kind: str, change: Change, node: gather.Node
    ) -> NodeData:
        rsrc = node.rsrc
        if rsrc is None or kind == "replaced" or change.may_be_replaced:
            return unknown.UnknownData(name)
        if kind == "updated" or not change.certain:
            return unknown.UnknownData(name, rsrc.reference_id())
        return NodeData(
            row_id=node.row.id,
            uuid=node.row.uuid,
            reference_id=rsrc.reference_id(),
            attributes=check.kept_attributes(self._rows.scene, node),
            action=node.row.action,
            status=node.row.status,
        )

    def child_of(
        self, name: str, context: RequestContext
    ) -> tuple[StackDefinition, dict[str, str]] | None:
        """What a resource's child is to be, and outside causes for it.

        None when its object is no stack, or nothing can be told of it yet.
        """
        scene, node = self._rows.scene, self._rows.wanted.get(name)
        wish = self._definition.resource_definitions[name]
        try:
            settled = self._settled.get(name)
            if settled is None:
                settled = unknown.settle_definition(wish, {}, {})
            cls = gather.resource_class(
                self._engine, self._definition, wish.resource_type, name
            )
            rsrc = cls(
                name,
                settled.definition,
                gather.stack_view(
                    self._engine, scene.stack, self._definition, context
                ),
            )
            if not preview_nested.has_child(rsrc):
                return None
            if node is not None and self._told[name][0] != "replaced":
                gather.load_state(rsrc, node)
            causes = {
                f"{name}/{each}": f"{name}.{each} <- {self._chain(source)}"
                for each in sorted(settled.unknown)
                for source in settled.sources[:1]
            }
            sources = {each: f"{name}/{each}" for each in settled.unknown}
            made = preview_nested.wanted(rsrc, sources)
            # What needs no row shows here whether all of it can be read.
            made.dependencies()
        except Exception as exc:
            LOG.debug("preview below %s: %s", name, exc)
            return None
        return made, causes

    def _chain(self, name: str) -> str:
        """From a resource to the first cause of what happens to it."""
        links: list[str] = []
        while True:
            if name in self._outside:
                return " <- ".join([*links, self._outside[name]])
            kind, change = self._told[name]
            links.append(f"{name} {_word(kind, change)}")
            further = self._sources.get(name)
            if further is None:
                break
            name = further
        if kind != "added":
            links.append(change.reason)
        if len(links) > MAX_CAUSES:
            links[MAX_CAUSES - 2 : -2] = ["..."]
        return " <- ".join(links)


def _word(kind: str, change: Change) -> str:
    if change.may_be_replaced:
        return _("may be replaced")
    if kind == "updated" and not change.certain:
        return _("may be updated")
    if kind == "unchanged":
        return _("in progress")
    return kind


# -- the stacks below --------------------------------------------------------


def _children(
    engine: Engine, stack: stacks.StackRecord, rows: Rows, judge: _Judge
) -> list[tuple[stacks.StackRecord, StackDefinition, dict[str, str]]]:
    """(child as it is, as it is to be, causes outside of it) of each."""
    nodes = [*rows.wanted.values(), *rows.others]
    there = engine.db.read(
        lambda conn: {
            node.row.id: preview_nested.existing(conn, stack, node.row)
            for node in nodes
        }
    )
    found: list[
        tuple[stacks.StackRecord, StackDefinition, dict[str, str]]
    ] = []
    for name, (kind, _change) in judge.all().items():
        node = rows.wanted.get(name)
        child = there[node.row.id] if node is not None else None
        if child is not None and kind == "replaced":
            found.append((child, preview_nested.nothing(child), {}))
            child = None
        if node is not None and node.row.external:
            continue
        if (wish := judge.child_of(name, rows.scene.context)) is not None:
            made, causes = wish
            child = child or preview_nested.draft(stack, made)
            found.append((child, made, causes))
    for node in rows.others:
        child = there[node.row.id]
        if child is not None:
            found.append((child, preview_nested.nothing(child), {}))
    return found
