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
"""Values that nobody knows before an update has run.

A preview must not guess what a resource will be called once it is made
anew. :class:`UnknownData` stands for such a resource in a definition: whoever
reads its reference id or an attribute gets :class:`Unknown`, through every
function in between, so that all that is computed from an unknown value is
unknown and nothing else is. No plug-in and no function knows of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from heat.engine import function, rsrc_defn
from heat.engine.definition import NodeData

#: What is raised in the place of a value that is not known.
Unknown = function.Unknown


class UnknownData(NodeData):
    """What is known of a resource that will change: next to nothing.

    :param name: the name of the resource
    :param reference_id: what ``get_resource`` gives, when that stays
    """

    def __init__(self, name: str, reference_id: str | None = None) -> None:
        # The fields of a frozen class can't be set the plain way.
        for key, value in (
            ("row_id", 0),
            ("uuid", ""),
            ("action", ""),
            ("status", "COMPLETE"),
            ("_name", name),
            ("_known", reference_id),
        ):
            object.__setattr__(self, key, value)

    @property
    def reference_id(self) -> str:
        known: str | None = self.__dict__["_known"]
        if known is None:
            raise Unknown(self.__dict__["_name"])
        return known

    @property
    def attributes(self) -> Mapping[function.Attr, Any]:
        raise Unknown(self.__dict__["_name"])


class _Missing:
    """There is nothing here."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


def settle(snippet: Any, old: Any, sources: list[str]) -> Any:
    """The value of a snippet; what is unknown in it stays as it was.

    :param old: the value now, :data:`MISSING` for none
    :param sources: the names of the resources that unknown values come
        from are added
    :returns: :data:`MISSING` when nothing is to be there
    :raises StackValidationFailed: and other errors of class 400
    """
    if isinstance(snippet, function.Function):
        try:
            value = function.resolve(snippet, nullable=True)
        except Unknown as unknown:
            _add(sources, [unknown.source])
            return old
        return MISSING if value is function.ABSENT else value
    if isinstance(snippet, dict):
        return _settle_map(snippet, old, sources)
    if isinstance(snippet, list | tuple):
        return _settle_list(snippet, old, sources)
    return snippet


def _settle_map(
    snippet: dict[Any, Any], old: Any, sources: list[str]
) -> dict[Any, Any]:
    was = old if isinstance(old, dict) else {}
    settled = {
        key: settle(value, was.get(key, MISSING), sources)
        for key, value in snippet.items()
    }
    return {key: v for key, v in settled.items() if v is not MISSING}


def _settle_list(
    snippet: list[Any] | tuple[Any, ...], old: Any, sources: list[str]
) -> list[Any]:
    was = old if isinstance(old, list) else []
    settled: list[Any] = []
    for value in snippet:
        at = len(settled)
        found: list[str] = []
        new = settle(value, was[at] if at < len(was) else MISSING, found)
        _add(sources, found)
        if new is MISSING and found:
            # Unknown, and new: its place counts all the same.
            new = None
        if new is not MISSING:
            settled.append(new)
    return settled


def _add(sources: list[str], found: list[str]) -> None:
    sources.extend(each for each in found if each not in sources)


@dataclasses.dataclass(frozen=True)
class Settled:
    """A definition as far as it is known.

    :ivar definition: unknown values are as they were
    :ivar unknown: properties with an unknown value in them
    :ivar elsewhere: metadata or the update policy has one
    :ivar sources: the resources that unknown values come from
    """

    definition: rsrc_defn.ResourceDefinition
    unknown: frozenset[str] = frozenset()
    elsewhere: bool = False
    sources: tuple[str, ...] = ()


def settle_definition(
    wish: rsrc_defn.ResourceDefinition,
    properties: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Settled:
    """Find out what of a definition is known.

    :param properties: as they are now, resolved
    :param metadata: likewise
    :raises StackValidationFailed: and other errors of class 400
    """
    sources: list[str] = []
    sections: dict[str, Any] = {}
    values, unknown = _settle_properties(
        wish.section("properties"), dict(properties), sources
    )
    if unknown:
        sections["properties"] = values
    for key, old in (("metadata", dict(metadata)), ("update_policy", {})):
        found: list[str] = []
        value = settle(wish.section(key), old, found)
        if found:
            sections[key] = value
            _add(sources, found)
    if not sections:
        return Settled(wish)
    return Settled(
        wish.with_sections(**sections),
        unknown,
        bool(sections.keys() - {"properties"}),
        tuple(sources),
    )


def _settle_properties(
    snippet: Any, old: dict[str, Any], sources: list[str]
) -> tuple[Any, frozenset[str]]:
    """The properties, and those with an unknown value."""
    if not isinstance(snippet, dict):
        value = settle(snippet, old, sources)
        return value, frozenset(old if sources else ())
    values: dict[str, Any] = {}
    unknown: set[str] = set()
    for key, each in snippet.items():
        found: list[str] = []
        value = settle(each, old.get(key, MISSING), found)
        if found:
            unknown.add(key)
            _add(sources, found)
        if value is not MISSING:
            values[key] = value
    return values, frozenset(unknown)
