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
"""Quotes, in a preview, the environment files that a change comes from.

A resource changes because a parameter does, and a parameter because a layer
of the environment does: "properties changed: flavor; flavor changed: b.yaml
parameters.flavor over a.yaml, was a.yaml parameters.flavor".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import stacks, templates
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.stack import environments, prepare
from heat.engine.stack.preview_changes import Change, Changes

#: Most parameters of one resource that are told one by one.
MAX_TOLD = 5

#: Why a parameter of a definition has its value, None: the default counts.
Reason = Callable[[str], str | None]

_PARAMETER = ("get_param", "Ref")
_CHOICE = ("if", "Fn::If")
_CONDITION = ("condition", "Condition")


@dataclasses.dataclass(frozen=True)
class Side:
    """A stack's definition, before or after.

    :param template: its template, plain
    """

    definition: StackDefinition
    template: Mapping[str, Any]
    reason: Reason


def as_it_is(engine: Engine, stack: stacks.StackRecord) -> Side:
    """What a stack was last brought to, with its environment's layers."""
    stored, rows = engine.db.read(
        lambda conn: (
            templates.get(conn, stack.raw_template_id),
            templates.get_layers(conn, stack.raw_template_id),
        )
    )
    if stored is None:
        raise exception.EntityNotFound(
            entity="Template of stack", name=stack.name
        )
    identity = HeatIdentifier(stack.tenant, stack.name, stack.id)
    made = prepare.stored_definition(identity, stored)
    layers = environments.stored_layers(stored, rows)
    return Side(
        made,
        stored.template,
        lambda name: environments.reason(
            layers, made.parameters.schemata, name
        ),
    )


def quote(changes: Changes, before: Side, after: Side) -> None:
    """Add to the reasons of changes which parameters are behind them.

    Those of the stack itself; what changes a nested stack is told by
    ``because_of``. A value of a hidden parameter is never told.
    """
    moved = changed_parameters(before.definition, after.definition)
    if not moved:
        return
    for group in (changes.updated, changes.replaced):
        for place, change in enumerate(group):
            if change.stack is None:
                group[place] = _quoted(change, moved, before, after)


def changed_parameters(
    before: StackDefinition, after: StackDefinition
) -> frozenset[str]:
    """The declared parameters whose value differs, or that are new."""
    old, new = before.parameters, after.parameters
    return frozenset(
        name
        for name in new.schemata
        if name not in old.schemata or old[name] != new[name]
    )


def _quoted(
    change: Change, moved: frozenset[str], before: Side, after: Side
) -> Change:
    names = sorted(parameters_of(after.template, change.name) & moved)
    if not names:
        return change
    told = [_sentence(name, before, after) for name in names[:MAX_TOLD]]
    if len(names) > MAX_TOLD:
        told.append(_("and %d more parameters") % (len(names) - MAX_TOLD))
    return dataclasses.replace(
        change, reason="; ".join([change.reason, *told])
    )


def _sentence(name: str, before: Side, after: Side) -> str:
    if name not in before.definition.parameters.schemata:
        return _("%(name)s is new: %(new)s") % {
            "name": name,
            "new": _origin(name, after),
        }
    return _("%(name)s changed: %(new)s, was %(old)s") % {
        "name": name,
        "new": _origin(name, after),
        "old": _origin(name, before),
    }


def _origin(name: str, side: Side) -> str:
    return side.reason(name) or _("the default of the template")


def parameters_of(template: Mapping[str, Any], resource: str) -> set[str]:
    """The parameters that a resource reads, conditions looked through."""
    sections = {key.lower(): value for key, value in template.items()}
    conditions = sections.get("conditions") or {}
    below = [(sections.get("resources") or {}).get(resource)]
    found: set[str] = set()
    seen: set[str] = set()
    while below:
        for is_condition, name in _references(below.pop()):
            if not is_condition:
                found.add(name)
            elif name not in seen and name in conditions:
                seen.add(name)
                below.append(conditions[name])
    return found


def _references(snippet: Any) -> Iterator[tuple[bool, str]]:
    """(is it a condition, name) of what a plain snippet refers to."""
    below = [snippet]
    while below:
        item = below.pop()
        if isinstance(item, list):
            below.extend(item)
        elif isinstance(item, Mapping):
            below.extend(item.values())
            for key, value in item.items():
                first = value[0] if isinstance(value, list) and value else ""
                if key in _PARAMETER and isinstance(value, str):
                    yield False, value
                elif key in _PARAMETER and isinstance(first, str):
                    yield False, first
                elif key in _CHOICE and isinstance(first, str):
                    yield True, first
                elif key in _CONDITION and isinstance(value, str):
                    yield True, value
