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
"""The text of an environment file: lines of its entries, secrets masked.

Looks at the places of YAML nodes, which the reader of values does not keep.
Pure.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

from heat.common import template_format
from heat.engine.environment import files

MASK: Final = "******"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Text:
    """One file. Nothing is parsed before it is asked for.

    :param text: that could be read once; YAML or JSON
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._entries: dict[int, dict[str, tuple[int, Any]]] = {}

    @functools.cached_property
    def _root(self) -> Any:
        try:
            return yaml.compose(self._text, Loader=_Loader)
        except (yaml.YAMLError, RecursionError, UnicodeError):
            # JSON that is no YAML; its values are known, its places aren't.
            return None

    def line(self, path: Sequence[str]) -> int | None:
        """The line of an entry, the first is 1; None: not to be told.

        A text of one line, such as a client makes, has no lines to tell.
        """
        if "\n" not in self._text.strip():
            return None
        node, line = self._root, None
        for key in path:
            found = self._entry(node, key)
            if found is None:
                return line
            line, node = found
        return line

    def _entry(self, node: Any, key: str) -> tuple[int, Any] | None:
        if not isinstance(node, yaml.MappingNode):
            return None
        entries = self._entries.get(id(node))
        if entries is None:
            entries = self._entries[id(node)] = {
                name.value: (name.start_mark.line + 1, value)
                for name, value in node.value
                if isinstance(name, yaml.ScalarNode)
            }
        if key in entries:
            return entries[key]
        _line, merged = entries.get("<<", (0, None))
        parts = (
            merged.value if isinstance(merged, yaml.SequenceNode) else [merged]
        )
        for part in parts:
            found = self._entry(part, key)
            if found is not None:
                return found
        return None

    def masked(self, data: Mapping[str, Any], names: Collection[str]) -> str:
        """The text without the values of some parameters.

        :param data: what the text says
        :param names: the parameters; the text comes back as it is when it
            has none of them
        """
        wanted = mask(data, names)
        if wanted == data:
            return self._text
        text = self._text
        spans = sorted(self._spans(names), reverse=True)
        for start, end in spans:
            # A block ends where the next thing begins: keep the line break.
            rest = text[end:]
            gap = text[start:end]
            gap = gap[len(gap.rstrip()) :]
            text = f'{text[:start]}"{MASK}"{gap}{rest}'
        try:
            same = template_format.load(text) == wanted
        except ValueError:
            same = False
        if same:
            return text
        return json.dumps(wanted, indent=2, ensure_ascii=False)

    def _spans(self, names: Collection[str]) -> Iterator[tuple[int, int]]:
        """Where the values are; one that is there twice counts twice."""
        for section, values in _pairs(self._root):
            if section not in files.PARAMETER_SECTIONS:
                continue
            for name, value in _pairs(values):
                if name in names:
                    yield value.start_mark.index, value.end_mark.index


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, value


def mask(data: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """An environment with the values of some parameters masked; a copy."""
    made = dict(data)
    for section in files.PARAMETER_SECTIONS:
        values = data.get(section)
        if isinstance(values, Mapping):
            made[section] = {
                name: MASK if name in names else value
                for name, value in values.items()
            }
    return made
