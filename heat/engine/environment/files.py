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
"""Merging environments: several layers make one.

Layers come lowest first. Without strategies the result is that of the
public client: maps merge deeply, lists and scalars are replaced, and a null
does not erase a map. A layer may name strategies for parameters; see
:data:`STRATEGIES`. What is given explicitly replaces whatever is below.

Pure. It must not know where layers are kept.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from heat.common import exception, values
from heat.common.i18n import _
from heat.engine.environment import environment

INLINE: Final = "inline"
FILE: Final = "file"
EXPLICIT: Final = "explicit"

OVERWRITE: Final = "overwrite"
MERGE: Final = "merge"
DEEP_MERGE: Final = "deep_merge"
#: overwrite: the newer value counts. merge: texts are put together, lists
#: extended, the keys of maps updated. deep_merge: the same at all depths.
STRATEGIES: Final = (OVERWRITE, MERGE, DEEP_MERGE)
_DEFAULT: Final = "default"

#: The sections whose keys are parameters.
PARAMETER_SECTIONS: Final = (
    environment.PARAMETERS,
    environment.PARAMETER_DEFAULTS,
)
# Types, in the words of the API, of which two values make no third.
_SINGLE: Final = ("Number", "Boolean")


@dataclasses.dataclass(frozen=True)
class Layer:
    """One environment of several.

    :param name: the file's name; "" for the other kinds
    :param data: its sections; it is not changed
    :param kind: ``inline``, ``file`` or ``explicit``
    :param cleared: keys of ``parameters`` that don't count
    """

    name: str
    data: Mapping[str, Any]
    kind: str = FILE
    cleared: frozenset[str] = frozenset()

    @property
    def what(self) -> str:
        """The layer in the words of an error."""
        if self.kind == FILE and self.name:
            return f'environment file "{self.name}"'
        return "environment"

    def section(self, name: str) -> Mapping[str, Any]:
        """A section that is a map, without what was cleared."""
        found: Mapping[str, Any] = self.data.get(name) or {}
        if name != environment.PARAMETERS or not self.cleared:
            return found
        return {k: v for k, v in found.items() if k not in self.cleared}


def update(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a map into another as the public client does; it is changed.

    Maps deeply, everything else replaced; null does not erase a map.
    """
    for key, value in new.items():
        if isinstance(value, (str, int, float)):
            # As most are; asking whether it's a map takes longer.
            old[key] = value
            continue
        there = old.get(key)
        if not isinstance(there, dict):
            old[key] = values.copied(value)
        elif isinstance(value, Mapping):
            update(there, value)
        elif value is not None:
            old[key] = values.copied(value)
    return old


def merge(
    layers: Iterable[Layer],
    types: Mapping[str, str] | None = None,
    declared: Collection[str] | None = None,
) -> dict[str, Any]:
    """The environment that layers make, lowest first.

    Takes time in proportion to the size of the layers. The values of
    parameters may be parts of these.

    :param types: types of the parameters (String, Number, ...), as far as
        they're known, to tell a comma-delimited list from a text
    :param declared: the names that ``parameters`` may have, others are left
        out; None: all
    :returns: sections; ``parameter_merge_strategies`` is not among them
    :raises ValueError: naming a layer and its wrong section
    :raises InvalidMergeStrategyForParam: for an unknown strategy, or one
        that the value can't be merged by
    :raises ConflictingMergeStrategyForParam: for a strategy that differs
        from the one of an earlier layer
    """
    made: dict[str, Any] = {}
    united = _Union()
    strategies = Strategies()
    merging = {name: _Values(types or {}) for name in PARAMETER_SECTIONS}
    for layer in layers:
        environment.check_sections(layer.data, layer.what)
        strategies.enter(layer)
        for section, value in layer.data.items():
            if section in PARAMETER_SECTIONS:
                wanted = layer.section(section)
                if declared is not None and section == environment.PARAMETERS:
                    wanted = {k: wanted[k] for k in wanted if k in declared}
                made[section] = merging[section].made
                if layer.kind == EXPLICIT:
                    merging[section].replace(wanted)
                else:
                    merging[section].merge(wanted, strategies)
            elif section == environment.RESOURCE_REGISTRY:
                update(made.setdefault(section, {}), value)
            elif section != environment.MERGE_STRATEGIES:
                united.add(section, made.setdefault(section, []), value)
    return made


class _Union:
    """Extends lists by what is not in them.

    Not as the client, which replaces lists: a sink or a secret name that
    one file asks for is not lost by the next.
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}

    def add(self, section: str, old: list[Any], new: Iterable[Any]) -> None:
        seen = self._seen.setdefault(section, set())
        for value in new:
            text = json.dumps(value, sort_keys=True)
            if text not in seen:
                seen.add(text)
                old.append(values.copied(value))


class Strategies:
    """Which strategies count, layer by layer from the lowest."""

    def __init__(self) -> None:
        self._own: Mapping[str, str] = {}
        self._fixed: dict[str, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        """Whether any strategy counts for the current layer."""
        return bool(self._own or self._fixed)

    def enter(self, layer: Layer) -> None:
        """Make a layer the one that is asked about.

        :raises InvalidMergeStrategyForParam: it names an unknown strategy
        :raises ConflictingMergeStrategyForParam: it contradicts an earlier
            one
        """
        self._own = own = layer.data.get(environment.MERGE_STRATEGIES) or {}
        for key, word in own.items():
            if word not in STRATEGIES:
                raise exception.InvalidMergeStrategyForParam(
                    strategy=word, param=key
                )
            if key == _DEFAULT:
                continue
            before = self._fixed.setdefault(key, (word, layer.name))
            if before[0] != word:
                raise exception.ConflictingMergeStrategyForParam(
                    strategy=word,
                    param=key,
                    env_file=_("%(new)s (differs from %(old)s)")
                    % {
                        "new": layer.name or layer.what,
                        "old": before[1] or layer.what,
                    },
                )

    def of(self, key: str) -> str:
        """The strategy for a key of the current layer."""
        if key in self._own:
            return self._own[key]
        if key in self._fixed:
            return self._fixed[key][0]
        return self._own.get(_DEFAULT, OVERWRITE)


class _Values:
    """The values of one section, layer upon layer.

    Most of them are a layer's own, which are not changed: a map or list is
    copied when something is merged into it for the first time.

    :param types: of the parameters, as far as they're known
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self.made: dict[str, Any] = {}
        self._types = types
        self._copies: dict[str, Any] = {}

    def replace(self, new: Mapping[str, Any]) -> None:
        self.made.update(new)

    def merge(self, new: Mapping[str, Any], strategies: Strategies) -> None:
        made = self.made
        if made.keys().isdisjoint(new):
            made.update(new)
            return
        chosen = bool(strategies)
        for key, value in new.items():
            there = made.get(key)
            strategy = strategies.of(key) if chosen else OVERWRITE
            if there is None:
                made[key] = value
            elif strategy != OVERWRITE:
                made[key] = self._copies[key] = combine(
                    self._copy(key), value, strategy, key, self._types.get(key)
                )
            elif not isinstance(there, dict):
                made[key] = value
            elif isinstance(value, Mapping):
                update(self._copy(key), value)
            elif value is not None:
                made[key] = value

    def _copy(self, key: str) -> Any:
        """The value of a key, which may be changed."""
        if key not in self._copies or self._copies[key] is not self.made[key]:
            self._copies[key] = self.made[key] = values.copied(self.made[key])
        return self.made[key]


def combine(
    old: Any, new: Any, strategy: str, name: str, kind: str | None = None
) -> Any:
    """Two values of a parameter made one.

    :param old: what there is already; it may be changed
    :param strategy: ``merge`` or ``deep_merge``
    :param name: the parameter's, for errors
    :param kind: its type, None when unknown
    :raises InvalidMergeStrategyForParam: when the values can't be merged
    """
    if new is None:
        return old
    made: Any = _NEITHER
    if kind == "Json":
        old, new = _as_json(old), _as_json(new)
    if kind == "CommaDelimitedList" or (
        kind is None
        and isinstance(old, list) != isinstance(new, list)
        and isinstance(old, (str, list))
        and isinstance(new, (str, list))
    ):
        made = _combine_lists(old, new)
    elif kind not in _SINGLE:
        made = _combine(old, new, strategy == DEEP_MERGE)
    if made is _NEITHER:
        raise exception.InvalidMergeStrategyForParam(
            strategy=strategy, param=name
        )
    return made


_NEITHER: Final = object()


def _combine(old: Any, new: Any, deep: bool) -> Any:
    if isinstance(old, dict) and isinstance(new, Mapping):
        for key, value in new.items():
            both = _NEITHER
            if deep and key in old:
                both = _combine(old[key], value, deep)
            old[key] = values.copied(value) if both is _NEITHER else both
        return old
    if isinstance(old, list) and isinstance(new, list):
        old.extend(values.copied(new))
        return old
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    return _NEITHER


def _combine_lists(old: Any, new: Any) -> Any:
    if isinstance(old, str) and isinstance(new, str):
        return ",".join(part for part in (old, new) if part)
    both = [old if isinstance(old, list) else _as_list(old), _as_list(new)]
    if _NEITHER in both:
        return _NEITHER
    both[0].extend(both[1])
    return both[0]


def _as_list(value: Any) -> Any:
    if isinstance(value, list):
        return values.copied(value)
    if isinstance(value, dict):
        return _NEITHER
    return [item.strip() for item in str(value).split(",") if item.strip()]


def _as_json(value: Any) -> Any:
    # A map may have come as text, which is not to be put together as one.
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return _NEITHER
    return value
