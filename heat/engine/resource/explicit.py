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

"""Dependencies that a plug-in adds by a method of its resources.

The engine draws graphs from definitions alone. A plug-in that overrides
``add_dependencies`` or ``add_explicit_dependencies`` wants to look at the
resources of its stack; here it gets objects of them that have nothing but
their definitions, and what it adds becomes names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.engine.resource.base import Resource

LOG = logging.getLogger(__name__)

_METHODS = ("add_dependencies", "add_explicit_dependencies")

ClassOf = Callable[[str], type[Resource]]


class Dependencies:
    """Takes ``deps += (resource, required)``; None stands for nothing."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def __iadd__(self, pair: tuple[Any, Any]) -> Dependencies:
        requirer, required = pair
        if requirer is not None and required is not None:
            self.pairs.append((requirer.name, required.name))
        return self


class PlannedStack(Mapping[str, Resource]):
    """The stack of resources that are only planned, by their names."""

    context = None
    id = None

    def __init__(
        self, definitions: Mapping[str, Any], class_of: ClassOf
    ) -> None:
        self._definitions, self._class_of = definitions, class_of

    def __getitem__(self, name: str) -> Resource:
        wish = self._definitions[name]
        try:
            cls = self._class_of(wish.resource_type)
        except exception.HeatException:
            cls = Resource
        planned: Any = self
        made: Resource = cls(name, wish, planned)
        # Translating may ask a service, and a graph is drawn often.
        setattr(made, "translation_rules", _no_rules)  # noqa: B010
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def resource_by_refid(self, refid: str) -> None:
        """Nothing has a reference yet."""


def _no_rules(_properties: Any) -> None:
    return None


def adds(cls: type[Resource]) -> bool:
    """Whether a class has something to add."""
    return any(
        getattr(cls, name) is not getattr(Resource, name) for name in _METHODS
    )


def rule(
    class_of: ClassOf,
) -> Callable[[str, Mapping[str, Any]], Collection[str]]:
    """What tells which resources must be there before one of a type.

    :param class_of: the class of a resource type
    """

    def required(name: str, definitions: Mapping[str, Any]) -> Collection[str]:
        added = Dependencies()
        try:
            planned = PlannedStack(definitions, class_of)
            planned[name].add_dependencies(added)
        except Exception as exc:
            LOG.warning("%s can't tell what it depends on: %s", name, exc)
        return {wanted for who, wanted in added.pairs if who == name}

    return required
