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
:data:`STRATEGIES`.

Pure. It must not know where layers are kept.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final

from heat.common import exception
from heat.common.i18n import _
from heat.engine.environment import environment

OVERWRITE: Final = "overwrite"
MERGE: Final = "merge"
DEEP_MERGE: Final = "deep_merge"
#: overwrite: the newer value counts. merge: texts are put together, lists
#: extended, the keys of maps updated. deep_merge: the same at all depths.
STRATEGIES: Final = (OVERWRITE, MERGE, DEEP_MERGE)
_DEFAULT: Final = "default"


@dataclasses.dataclass(frozen=True)
class Layer:
    """One environment of several.

    :param name: the file's name, for errors; "" for the inline one
    :param data: its sections
    """

    name: str
    data: Mapping[str, Any]


def update(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a map into another as the public client does; it is changed.

    Maps deeply, everything else replaced; null does not erase a map.
    """
    for key, value in new.items():
        there = old.get(key)
        if isinstance(value, Mapping):
            into = there if isinstance(there, dict) else {}
            old[key] = update(into, value)
        elif value is None and isinstance(there, dict):
            continue
        else:
            old[key] = copy.deepcopy(value)
    return old


def merge(
    layers: Iterable[Layer],
    types: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The environment that layers make, lowest first.

    :param types: types of the parameters (String, Number, ...), as far as
        they're known, to tell a comma-delimited list from a text
    :returns: sections; ``parameter_merge_strategies`` is not among them
    :raises ValueError: naming a layer and its wrong section
    :raises InvalidMergeStrategyForParam: for an unknown strategy, or one
        that the value can't be merged by
    :raises ConflictingMergeStrategyForParam: for a strategy that differs
        from the one of an earlier layer
    """
    made: dict[str, Any] = {}
    fixed: dict[str, tuple[str, str]] = {}
    for layer in layers:
        what = (
            f'environment file "{layer.name}"'
            if layer.name
            else ("environment")
        )
        environment.check(layer.data, what)
        strategies = _strategies(layer, fixed)
        for section, value in layer.data.items():
            if section in (
                environment.PARAMETERS,
                environment.PARAMETER_DEFAULTS,
            ):
                _merge_parameters(
                    made.setdefault(section, {}),
                    value,
                    strategies,
                    types or {},
                )
            elif section == environment.RESOURCE_REGISTRY:
                update(made.setdefault(section, {}), value)
            elif section != environment.MERGE_STRATEGIES:
                _unite(made.setdefault(section, []), value)
    return made


def _unite(old: list[Any], new: list[Any]) -> None:
    # Not as the client, which replaces lists: a sink or a secret name that
    # one file asks for is not lost by the next.
    old.extend(copy.deepcopy(v) for v in new if v not in old)


class _Strategies:
    """Strategies in the order they count for one layer."""

    def __init__(
        self, own: Mapping[str, str], fixed: Mapping[str, tuple[str, str]]
    ) -> None:
        self._own = own
        self._fixed = fixed

    def of(self, key: str) -> str:
        if key in self._own:
            return self._own[key]
        if key in self._fixed:
            return self._fixed[key][0]
        return self._own.get(_DEFAULT, OVERWRITE)


def _strategies(
    layer: Layer, fixed: dict[str, tuple[str, str]]
) -> _Strategies:
    own: dict[str, str] = dict(
        layer.data.get(environment.MERGE_STRATEGIES, {})
    )
    for key, word in own.items():
        if word not in STRATEGIES:
            raise exception.InvalidMergeStrategyForParam(
                strategy=word, param=key
            )
        if key == _DEFAULT:
            continue
        if key in fixed and fixed[key][0] != word:
            raise exception.ConflictingMergeStrategyForParam(
                strategy=word,
                param=key,
                env_file=_("%(new)s (differs from %(old)s)")
                % {"new": layer.name, "old": fixed[key][1]},
            )
        fixed.setdefault(key, (word, layer.name))
    return _Strategies(own, fixed)


def _merge_parameters(
    old: dict[str, Any],
    new: Mapping[str, Any],
    strategies: _Strategies,
    types: Mapping[str, str],
) -> None:
    for key, value in new.items():
        strategy = strategies.of(key)
        if strategy == OVERWRITE or old.get(key) is None:
            update(old, {key: value})
        else:
            old[key] = combine(old[key], value, strategy, key, types.get(key))


def combine(
    old: Any, new: Any, strategy: str, name: str, kind: str | None = None
) -> Any:
    """Two values of a parameter made one.

    :param strategy: ``merge`` or ``deep_merge``
    :param name: the parameter's, for errors
    :param kind: its type, None when unknown
    :raises InvalidMergeStrategyForParam: when the values can't be merged
    """
    if new is None:
        return old
    if kind == "CommaDelimitedList" or (
        isinstance(old, list) != isinstance(new, list)
        and isinstance(old, (str, list))
        and isinstance(new, (str, list))
    ):
        return _combine_lists(old, new)
    deep = strategy == DEEP_MERGE
    made = _combine(old, new, deep)
    if made is _NEITHER:
        raise exception.InvalidMergeStrategyForParam(
            strategy=strategy, param=name
        )
    return made


_NEITHER: Final = object()


def _combine(old: Any, new: Any, deep: bool) -> Any:
    if isinstance(old, dict) and isinstance(new, Mapping):
        if not deep:
            return copy.deepcopy({**old, **new})
        made = dict(old)
        for key, value in new.items():
            both = _NEITHER
            if key in old:
                both = _combine(old[key], value, deep)
            made[key] = copy.deepcopy(value) if both is _NEITHER else both
        return made
    if isinstance(old, list) and isinstance(new, list):
        return old + copy.deepcopy(new)
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    return _NEITHER


def _combine_lists(old: Any, new: Any) -> Any:
    if isinstance(old, str) and isinstance(new, str):
        return ",".join(part for part in (old, new) if part)
    return _as_list(old) + _as_list(new)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return copy.deepcopy(value)
    return [item.strip() for item in str(value).split(",") if item.strip()]
