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
"""What a preview tells of objects that change hands.

The steps are the engine's own; a hand-back is weighed by the function that
weighs it in the update, so both give the same verdict.
"""

from __future__ import annotations

import dataclasses

from heat.common.i18n import _
from heat.db import claims
from heat.engine.ports import Engine
from heat.engine.resource import Resource, external, ownership
from heat.engine.traversal import claims as managed
from heat.engine.traversal.decide import Step
from heat.engine.traversal.gather import Node
from heat.engine.traversal.scene import Scene

#: what ``ownership`` of a previewed resource says
EXTERNAL, HANDED_BACK = "becomes external", "handed back"


@dataclasses.dataclass(frozen=True)
class Told:
    """The words for one resource.

    :ivar ownership: :data:`EXTERNAL` or :data:`HANDED_BACK`; None: the
        object stays in the hands it is in
    :ivar error: why it would be refused
    """

    reason: str
    ownership: str | None = None
    error: str | None = None


def added(external_id: str | None) -> str:
    """Why a resource that is not there yet would be added."""
    if external_id is None:
        return _("not there yet")
    return _("the external object %s is taken; nothing is made") % external_id


def tell(engine: Engine, scene: Scene, node: Node) -> Told | None:
    """What happens to a node's object; None: it does not change hands."""
    ident = node.row.physical_id
    if node.step is Step.PASS:
        text = _("becomes external: the object %s is not touched") % ident
        return Told(text, EXTERNAL)
    if node.step is Step.OBSERVE:
        passes = None if node.row.external else EXTERNAL
        return Told(_("the external object is looked at again"), passes)
    if node.move in (external.Move.PART, external.Move.LEAVE):
        return Told(node.because)
    if node.step is Step.REPLACE and node.external_id is not None:
        return Told(
            _("becomes external: %s is taken in its place") % node.external_id,
            EXTERNAL,
        )
    if node.step is Step.HAND_BACK and node.rsrc is not None:
        return _handed_back(engine, scene, node, node.rsrc)
    return None


def previous(node: Node, *, retained: bool) -> str:
    """What becomes of the object that another takes the place of."""
    if node.row.physical_id is None:
        return ""
    if retained:
        text = _("; the previous object %s is let go")
    else:
        text = _("; the previous object %s will be deleted")
    return text % node.row.physical_id


def _handed_back(
    engine: Engine, scene: Scene, node: Node, rsrc: Resource
) -> Told:
    try:
        ownership.look(rsrc)
        found = ownership.compare(rsrc, node.properties)
    except Exception as exc:
        return Told(_("handed back: refused"), HANDED_BACK, str(exc))
    why = list(found.refused)
    claim = managed.claim_of(scene, rsrc, node.row)
    if claim is not None:
        wanted = claim
        name = engine.db.read(
            lambda conn: claims.manager(
                conn, wanted, managed.same_kind(engine, rsrc)
            )
        )
        if name is not None:
            why.append(_("the object is managed by stack %s") % name)
    if why:
        text = ownership.refusal(rsrc, "; ".join(why))
        return Told(_("handed back: refused"), HANDED_BACK, text)
    if found.changed:
        changed = ", ".join(found.changed)
        return Told(_("handed back: in place (%s)") % changed, HANDED_BACK)
    return Told(_("handed back: same"), HANDED_BACK)
