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
"""The layers of a stack's environment, and what requests do to them.

Lowest first: what was given inline, then the listed files in their order;
a PATCH adds newer inline layers and files above. What was given explicitly
is one layer on top of all, always.

Pure. It must not know texts, templates, nor where layers are kept.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from heat.common.i18n import _
from heat.engine.environment import environment, files
from heat.engine.environment.files import EXPLICIT, FILE, INLINE, Layer

_HOOKS: Final = "hooks"

Path = tuple[str, ...]
Stack = tuple[Layer, ...]


@dataclasses.dataclass(frozen=True)
class Change:
    """What one request says of the environment.

    :param inline: its environment, without what is explicit
    :param explicit: values of parameters
    :param listed: the listed files in their order, with their contents
    :param contents: new contents of files that may be in the list already
    :param clear: parameters whose older values shall not count any more
    :param remove: files to take out of the list
    """

    inline: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    explicit: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    listed: Sequence[tuple[str, Mapping[str, Any]]] = ()
    contents: Mapping[str, Mapping[str, Any]] = dataclasses.field(
        default_factory=dict
    )
    clear: Collection[str] = ()
    remove: Collection[str] = ()


def split(
    params: Mapping[str, Any], explicit: Collection[str] | None, listed: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part an environment as it travels into (inline, explicit values).

    :param explicit: the names that were given explicitly; None: the sender
        does not tell. Then all parameters are, when files are listed, as
        such a sender puts both together; without files none is, as nothing
        is lost by that.
    """
    values: Mapping[str, Any] = params.get(environment.PARAMETERS) or {}
    if explicit is None:
        explicit = values if listed else ()
    chosen = {name: values[name] for name in values if name in explicit}
    inline = dict(params)
    if chosen:
        inline[environment.PARAMETERS] = {
            name: values[name] for name in values if name not in chosen
        }
    return inline, chosen


def replace(change: Change) -> Stack:
    """The layers of a request that replaces all (POST, PUT)."""
    return patch((), change)


def patch(stored: Sequence[Layer], change: Change) -> Stack:
    """The layers after a request that changes some (PATCH).

    :raises ValueError: a file to remove is not in the list
    """
    below, explicit = _parted(stored)
    kept = _without(below, change.remove)
    if change.clear:
        kept = [_cleared(layer, change.clear) for layer in kept]
    new = {**change.contents, **dict(change.listed)}
    kept = [_renewed(layer, new) for layer in kept]
    names = {layer.name for layer in kept if layer.kind == FILE}
    inline, hooks = reduced(
        change.inline, [each for _n, each in change.listed]
    )
    _add_inline(kept, inline)
    kept.extend(
        Layer(name, data) for name, data in change.listed if name not in names
    )
    _add_inline(kept, hooks)
    values = {
        name: value
        for name, value in explicit.items()
        if name not in change.clear
    }
    values.update(change.explicit)
    if values:
        data = {environment.PARAMETERS: values}
        kept.append(Layer("", data, EXPLICIT))
    return tuple(kept)


def _parted(stored: Sequence[Layer]) -> tuple[list[Layer], dict[str, Any]]:
    explicit: dict[str, Any] = {}
    for layer in stored:
        if layer.kind == EXPLICIT:
            explicit.update(layer.section(environment.PARAMETERS))
    return [each for each in stored if each.kind != EXPLICIT], explicit


def _without(layers: list[Layer], names: Collection[str]) -> list[Layer]:
    there = {layer.name for layer in layers if layer.kind == FILE}
    for name in names:
        if name not in there:
            raise ValueError(
                _(
                    'environment_files_remove: "%(name)s" is not one of the '
                    "stack's environment files: %(known)s"
                )
                % {"name": name, "known": ", ".join(sorted(there)) or "none"}
            )
    return [
        layer
        for layer in layers
        if layer.kind != FILE or layer.name not in names
    ]


def _cleared(layer: Layer, names: Collection[str]) -> Layer:
    values = layer.data.get(environment.PARAMETERS) or {}
    found = frozenset(name for name in names if name in values)
    if not found:
        return layer
    if layer.kind == FILE:
        # The file stays what it is; a newer content may lift this.
        return dataclasses.replace(layer, cleared=layer.cleared | found)
    rest = {name: values[name] for name in values if name not in found}
    return dataclasses.replace(
        layer, data={**layer.data, environment.PARAMETERS: rest}
    )


def _renewed(layer: Layer, new: Mapping[str, Mapping[str, Any]]) -> Layer:
    if layer.kind != FILE or layer.name not in new:
        return layer
    data = new[layer.name]
    before = layer.data.get(environment.PARAMETERS) or {}
    after = data.get(environment.PARAMETERS) or {}
    still = frozenset(
        name
        for name in layer.cleared
        if name in after and _same(before.get(name), after[name])
    )
    return dataclasses.replace(layer, data=data, cleared=still)


def _same(old: Any, new: Any) -> bool:
    # Not ==, which takes 1, 1.0 and true for the same.
    return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _add_inline(layers: list[Layer], data: Mapping[str, Any]) -> None:
    """Put an inline layer on top, or into the one that is there."""
    if not any(data.values()):
        return
    # Where values are put together two layers are not one.
    putting = any(
        layer.get(environment.MERGE_STRATEGIES)
        for layer in (data, *(each.data for each in layers))
    )
    if layers and layers[-1].kind == INLINE and not putting:
        data = files.merge([layers.pop(), Layer("", data, INLINE)])
    layers.append(Layer("", data, INLINE))


# -- what a client has merged itself ------------------------------------------


def reduced(
    inline: Mapping[str, Any], listed: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """An inline environment without the client's own merge of the files.

    A client sends the files and what they make together. Leaf paths that a
    file holds are dropped from the latter. What the user says of hooks on
    the command line is in there as well, and counts more than a file does.

    :returns: (what is left, hooks that differ from what the files say)
    """
    if not listed or not any(inline.values()):
        return dict(inline), {}
    held: set[Path] = set()
    for data in listed:
        held.update(path for path, _value in leaves(data))
    left: dict[str, Any] = {}
    hooks: list[tuple[Path, Any]] = []
    for path, value in leaves(inline):
        if path[-1] == _HOOKS and path[0] == environment.RESOURCE_REGISTRY:
            hooks.append((path, value))
        elif path not in held:
            _put(left, path, value)
    return left, _beyond(listed, hooks)


def _beyond(
    listed: Sequence[Mapping[str, Any]], found: Sequence[tuple[Path, Any]]
) -> dict[str, Any]:
    """The values that differ from what the files make together."""
    merged: dict[str, Any] = {}
    if found:
        for data in listed:
            files.update(merged, data)
    left: dict[str, Any] = {}
    for path, value in found:
        if _at(merged, path) != value:
            _put(left, path, value)
    return left


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, value) of everything that is no map with something in it."""
    if isinstance(data, Mapping) and (data or not path):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, data


def _at(data: Any, path: Iterable[str]) -> Any:
    for key in path:
        if not isinstance(data, Mapping) or key not in data:
            return None
        data = data[key]
    return data


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        data = data.setdefault(key, {})
    data[path[-1]] = value
