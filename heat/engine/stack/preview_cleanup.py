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
"""What the clean-up half of an update that is previewed would do."""

from __future__ import annotations

import dataclasses
import logging

from heat.common.i18n import _
from heat.engine.ports import Engine
from heat.engine.stack.preview_changes import Change
from heat.engine.stack.preview_rows import Rows
from heat.engine.traversal import gather
from heat.engine.traversal.decide import Step

LOG = logging.getLogger(__name__)


def retained(engine: Engine, rows: Rows, node: gather.Node) -> bool:
    """Whether the object that is replaced would be let go."""
    old = dataclasses.replace(
        _told_readers(rows, node),
        key=(node.row.id, False),
        row=dataclasses.replace(node.row, replaced_by=-1),
    )
    try:
        gather.plan(engine, rows.scene, old)
    except Exception as exc:
        LOG.debug("preview of %s: %s", node.row.name, exc)
        return False
    return old.step in (Step.FORGET, Step.RELEASE)


def deleted(engine: Engine, rows: Rows) -> list[Change]:
    """The rows that the clean-up half would end, by name."""
    found = []
    for other in sorted(rows.others, key=lambda each: each.row.name):
        node, error = _told_readers(rows, other), None
        try:
            gather.plan(engine, rows.scene, node)
        except Exception as exc:
            node.step, error = Step.DELETE, str(exc)
        if node.step is Step.NOTHING:
            continue
        left_over = node.row.name in rows.wanted
        if left_over and node.step is Step.DROP:
            continue
        text = node.because or _("not wanted any more")
        if left_over:
            text = _("left over from an earlier update")
        if node.step is Step.RELEASE and node.row.lock_found is None:
            text += _("; what was made for it goes, unless it is in use")
        found.append(
            Change(
                node.row.name,
                node.row.resource_type or "",
                node.row,
                text,
                retained=node.step in (Step.FORGET, Step.RELEASE),
                error=error,
            )
        )
    return found


def _told_readers(rows: Rows, node: gather.Node) -> gather.Node:
    """A node that knows who will hold its object as the user's by then."""
    theirs = rows.scene.wanted_external.get(node.row.physical_id or "", set())
    readers = {*node.readers, *theirs}
    return dataclasses.replace(node, readers=tuple(sorted(readers)))
