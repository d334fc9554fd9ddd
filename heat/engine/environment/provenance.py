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
"""Where the values of a merged environment come from.

Tells for each parameter, default and registry entry which layer won, which
layers have a part in the value, and which lost. The merge itself is
:mod:`.files`; this follows the same rules and makes no values, so that
nobody pays for it who does not ask.

Pure. It must not know texts or templates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from heat.engine.environment import environment, files
from heat.engine.environment import layers as env_layers
from heat.engine.environment.files import Layer
from heat.engine.environment.layers import Path

#: The sections that are told of, in the order they are told.
SECTIONS: Final = (
    environment.PARAMETERS,
    environment.PARAMETER_DEFAULTS,
    environment.RESOURCE_REGISTRY,
)
_RESOURCES: Final = "resources"


@dataclasses.dataclass(frozen=True)
class Source:
    """Where one entry comes from; layers by their number, 0 the lowest.

    :ivar path: of the entry: section, key, and for single resources more
    :ivar winner: the newest layer that has a part in it
    :ivar merged: older layers that have a part in it as well
    :ivar lost: layers that have a value of which nothing is left
    """

    path: Path
    winner: int
    strategy: str
    merged: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()


class Trace:
    """The sources of what layers make.

    :param declared: the names that ``parameters`` may have; None: all
    """

    def __init__(
        self, layers: Sequence[Layer], declared: Collection[str] | None = None
    ) -> None:
        self.layers = tuple(layers)
        self._declared = declared
        # section -> key -> the layers that have it, lowest first
        self._held: dict[str, dict[str, list[int]]] = {
            section: {} for section in SECTIONS
        }
        # (section, key, layer) -> strategy, where it is not overwrite
        self._joins: dict[tuple[str, str, int], str] = {}
        strategies = files.Strategies()
        for number, layer in enumerate(self.layers):
            strategies.enter(layer)
            for section in SECTIONS:
                self._enter(number, layer, section, strategies)

    def _enter(
        self,
        number: int,
        layer: Layer,
        section: str,
        strategies: files.Strategies,
    ) -> None:
        held = self._held[section]
        wanted: Collection[str] = layer.section(section)
        if section == environment.PARAMETERS and self._declared is not None:
            wanted = [key for key in wanted if key in self._declared]
        alone = [number]
        for key in wanted:
            # Most keys are in one layer only: they share a list.
            seen = held.get(key)
            if seen is None:
                held[key] = alone
            elif len(seen) == 1:
                held[key] = [*seen, number]
            else:
                seen.append(number)
        joins = section in files.PARAMETER_SECTIONS and strategies
        if joins and layer.kind != files.EXPLICIT:
            for key in wanted:
                if (word := strategies.of(key)) != files.OVERWRITE:
                    self._joins[section, key, number] = word

    def _seen(self, section: str, key: str) -> list[_Seen]:
        """What the layers say of a key, the lowest first."""
        return [
            _Seen(
                number,
                self.layers[number].data[section][key],
                self._joins.get((section, key, number), files.OVERWRITE),
                self.layers[number].kind == files.EXPLICIT,
            )
            for number in self._held[section].get(key, ())
        ]

    def _counts(self, section: str, key: str) -> bool:
        return (
            section != environment.PARAMETERS
            or self._declared is None
            or key in self._declared
        )

    # -- answers --------------------------------------------------------------

    def keys(self, section: str) -> Collection[str]:
        """The keys that a section has in any layer."""
        return self._held[section].keys()

    def source(self, section: str, key: str) -> Source | None:
        """Where the value of a key comes from; None: there is none."""
        held = self._held[section].get(key)
        return self._source(section, key, held) if held else None

    def sources(self, section: str) -> Iterator[Source]:
        """All of a section; of single resources one for each leaf."""
        for key, held in self._held[section].items():
            yield from self._entries(section, key, held)

    def _entries(
        self, section: str, key: str, held: Sequence[int]
    ) -> Iterator[Source]:
        if section == environment.RESOURCE_REGISTRY and key == _RESOURCES:
            seen = self._seen(section, key)
            yield from _fold((section, key), seen).leaf_sources()
        else:
            yield self._source(section, key, held)

    def _source(self, section: str, key: str, held: Sequence[int]) -> Source:
        if len(held) == 1:
            # As most are.
            return Source((section, key), held[0], files.OVERWRITE)
        return _fold((section, key), self._seen(section, key)).source()

    def left_out(self) -> Iterator[tuple[int, str]]:
        """(layer, name) of values for parameters that are not declared."""
        for number, layer in enumerate(self.layers):
            for name in layer.section(environment.PARAMETERS):
                if not self._counts(environment.PARAMETERS, name):
                    yield number, name

    def overridden_files(self) -> Iterator[tuple[int, set[int]]]:
        """(layer, layers over it) of files of which nothing counts."""
        used: set[int] = set()
        over: dict[int, set[int]] = {}
        for source in self._contested(used):
            used.update((source.winner, *source.merged))
            for number in source.lost:
                over.setdefault(number, set()).add(source.winner)
        for number, above in sorted(over.items()):
            layer = self.layers[number]
            alone = number not in used and not _unites(layer)
            if alone and layer.kind == files.FILE:
                yield number, above - {number}

    def _contested(self, alone: set[int]) -> Iterator[Source]:
        """The sources of keys that several layers have.

        :param alone: takes the layers that are the only ones with a key
        """
        for section, keys in self._held.items():
            for key, held in keys.items():
                if len(held) == 1:
                    alone.add(held[0])
                else:
                    yield from self._entries(section, key, held)


def _unites(layer: Layer) -> bool:
    return any(
        layer.data.get(section)
        for section in (
            environment.EVENT_SINKS,
            environment.ENCRYPTED_PARAM_NAMES,
            environment.MERGE_STRATEGIES,
        )
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    number: int
    value: Any
    strategy: str
    explicit: bool


class _Fold:
    """Follows one key through the layers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._all: dict[int, None] = {}
        # Layers whose value is in what there is now, whatever comes.
        self._fixed: dict[int, None] = {}
        # While the value is a map: leaf -> who put it there.
        self._owners: dict[Path, int] = {}
        # Maps in it -> the leaves below; leaves that are empty maps.
        self._inside: dict[Path, dict[Path, None]] = {}
        self._empty: set[Path] = set()
        self._base = 0
        self._is_map = False
        self._is_null = True
        self._strategy = files.OVERWRITE
        self._leaf_seen: dict[Path, list[int]] = {}

    def add(self, seen: _Seen) -> None:
        self._all[seen.number] = None
        value, is_map = seen.value, isinstance(seen.value, Mapping)
        if is_map:
            for path, _value in env_layers.leaves(value):
                self._leaf_seen.setdefault(path, []).append(seen.number)
        joins = seen.strategy != files.OVERWRITE and not self._is_null
        if not seen.explicit and joins:
            if value is not None:
                self._fixed[seen.number] = None
                for number in self._owners.values():
                    self._fixed[number] = None
                self._strategy = seen.strategy
        elif not seen.explicit and self._is_map and is_map:
            self._over(seen.number, value)
        elif not seen.explicit and self._is_map and value is None:
            pass  # A null does not erase a map.
        else:
            self._start(seen.number, value, is_map)

    def _start(self, number: int, value: Any, is_map: bool) -> None:
        self._base = number
        self._is_map, self._is_null = is_map, value is None
        self._strategy = files.OVERWRITE
        self._fixed, self._owners, self._inside = {}, {}, {}
        self._empty = set()
        if is_map:
            self._over(number, value)
        else:
            self._fixed[number] = None

    def _over(self, number: int, value: Mapping[str, Any]) -> None:
        """Lay a map over the map there is."""
        for path, leaf in env_layers.leaves(value):
            deeper = self._inside.get(path)
            if leaf is None and (deeper or path in self._empty):
                continue
            if leaf == {} and deeper:
                continue
            for each in tuple(deeper or ()):
                self._drop(each)
            for end in range(1, len(path)):
                self._drop(path[:end])
                self._inside.setdefault(path[:end], {})[path] = None
            self._drop(path, keep_place=True)
            self._owners[path] = number
            if leaf == {}:
                self._empty.add(path)

    def _drop(self, path: Path, keep_place: bool = False) -> None:
        self._empty.discard(path)
        if self._owners.pop(path, None) is None or keep_place:
            return
        for end in range(1, len(path)):
            self._inside.get(path[:end], {}).pop(path, None)

    def source(self) -> Source:
        part = sorted({*self._fixed, *self._owners.values()})
        part = part or [self._base]
        return Source(
            self._path,
            part[-1],
            self._strategy,
            tuple(part[:-1]),
            tuple(number for number in self._all if number not in part),
        )

    def leaf_sources(self) -> Iterator[Source]:
        for path, number in self._owners.items():
            yield Source(
                (*self._path, *path),
                number,
                files.OVERWRITE,
                (),
                tuple(n for n in self._leaf_seen[path] if n != number),
            )


def _fold(path: Path, seen: Sequence[_Seen]) -> _Fold:
    fold = _Fold(path)
    for each in seen:
        fold.add(each)
    return fold


# -- words --------------------------------------------------------------------


def origin(layer: Layer) -> str:
    """What a value comes from, in a few words: the file's name, if any."""
    if layer.kind == files.FILE:
        return layer.name
    return {files.INLINE: "environment", files.EXPLICIT: "explicit"}[
        layer.kind
    ]


def reason(trace: Trace, name: str) -> str | None:
    """Why a parameter has its value: "b.yaml parameters.p over a.yaml".

    :returns: None when no layer has a value for it
    """
    found = [
        source
        for section in files.PARAMETER_SECTIONS
        if (source := trace.source(section, name)) is not None
    ]
    if not found:
        return None
    first = found[0]
    text = f"{origin(trace.layers[first.winner])} {'.'.join(first.path)}"
    if first.merged:
        text += " with " + _origins(trace, first.merged)
    below = list(first.lost)
    for source in found[1:]:
        below += [source.winner, *source.merged]
    if below:
        text += " over " + _origins(trace, below)
    return text


def _origins(trace: Trace, numbers: Sequence[int]) -> str:
    newest_first = sorted(set(numbers), reverse=True)
    names = [origin(trace.layers[number]) for number in newest_first]
    return ", ".join(dict.fromkeys(names))
