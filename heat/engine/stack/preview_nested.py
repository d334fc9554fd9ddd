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
"""The nested stacks of a stack that is previewed.

What a resource would make of its child is asked of the resource itself. A
property that is not known yet is a parameter of the child that is not known:
whatever reads it gets :class:`.unknown.Unknown`, as from a resource.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import sqlalchemy as sa

from heat.common.identifier import HeatIdentifier
from heat.db import resources, stacks
from heat.engine.definition import StackDefinition
from heat.engine.environment import environment as env
from heat.engine.resource import Resource, child
from heat.engine.stack import converge, unknown
from heat.engine.template import base as template_base

#: The id of a stack that is not made: no stack ever has it.
NO_ID: Final = "None"

_NOTHING = {"heat_template_version": "2018-08-31"}


class UnknownParameters(Mapping[str, Any]):
    """A stack's parameters, some of which are not known yet.

    :param sources: name of a parameter -> where its value will come from
    """

    def __init__(
        self, parameters: Mapping[str, Any], sources: Mapping[str, str]
    ) -> None:
        self._parameters = parameters
        self._sources = sources

    def __getitem__(self, name: str) -> Any:
        if name in self._sources:
            raise unknown.Unknown(self._sources[name])
        return self._parameters[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parameters, name)


def has_child(rsrc: Resource | None) -> bool:
    """Whether the object of a resource is a stack."""
    return callable(getattr(rsrc, "child_definition", None))


def wanted(rsrc: Any, sources: Mapping[str, str]) -> StackDefinition:
    """What the child of a resource is to be.

    :param rsrc: one that :func:`has_child`, with its target definition
    :param sources: properties that are not known yet -> where their values
        will come from
    :raises HeatException, ValueError: the child can't be made so
    """
    rsrc.properties = rsrc.properties_of(rsrc.target)
    made: StackDefinition = rsrc.child_definition()
    if sources:
        made.parameters = UnknownParameters(  # type: ignore[assignment]
            made.parameters, sources
        )
    return made


def group_drafted(rsrc: Any) -> StackDefinition:
    """What the child of a group is to be, of whose members not all is known.

    :param rsrc: a group, with its definition as the template has it
    :raises HeatException, ValueError: the child can't be made so
    """
    made: StackDefinition = rsrc.child_definition(rsrc.draft_template(), {})
    made.parameters = UnknownParameters(  # type: ignore[assignment]
        made.parameters, {child.UNKNOWN: rsrc.name}
    )
    return made


def existing(
    conn: sa.Connection,
    parent: stacks.StackRecord,
    row: resources.ResourceRecord,
) -> stacks.StackRecord | None:
    """The child of a row, if its object is one."""
    if row.physical_id is None:
        return None
    found = stacks.get(conn, row.physical_id)
    return found if found and found.owner_id == parent.id else None


def draft(
    parent: stacks.StackRecord,
    made: StackDefinition,
    resource_name: str | None = None,
) -> Any:
    """Stands for a child that isn't there yet."""
    return converge.draft_of(
        {
            "id": NO_ID,
            "name": made.name,
            "tenant": parent.tenant,
            "owner_id": parent.id,
            "nested_depth": (parent.nested_depth or 0) + 1,
            "disable_rollback": True,
            "action": "CREATE",
            "status": "IN_PROGRESS",
            "parent_resource_name": resource_name,
        }
    )


def nothing(stack: stacks.StackRecord) -> StackDefinition:
    """What a stack is to be that goes."""
    identity = HeatIdentifier(stack.tenant, stack.name, stack.id)
    return StackDefinition(
        identity, template_base.load(_NOTHING), env.Environment(None)
    )
