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
"""What the functions of HOT have in common.

Shapes of arguments, text forms, and limits: a template of a few hundred
bytes must not be able to make megabytes out of nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from heat.common.i18n import _
from heat.engine import function

#: Most characters of a text that a function makes.
MAX_TEXT = 16 * 1024 * 1024
#: Most values of a list that a function multiplies out.
MAX_VALUES = 500_000
#: Most steps of a replacement: well below a second.
_MAX_WORK = 5_000_000


class HotFunction(function.Function):
    """Base of the functions of HOT."""

    @property
    def _in_output(self) -> bool:
        return self.path.startswith("outputs.")

    def _resolved(self, value: Any) -> Any:
        return function.resolve(value)

    def _pending(self, snippet: Any) -> bool:
        """Whether it depends on a resource that isn't there yet."""
        return any(
            self.stack.node(name) is None
            for name in function.dependencies(snippet, self.path)
        )

    def _wrong(self, usage: str) -> ValueError:
        return ValueError(
            _("Wrong arguments, expected: %(usage)s")
            % {"usage": f"{{{self.fn_name}: {usage}}}"}
        )

    def _list_args(
        self, usage: str, least: int, most: int | None
    ) -> list[Any]:
        """The arguments, which must be a list of so many."""
        if (
            not isinstance(self.args, list)
            or len(self.args) < least
            or (most is not None and len(self.args) > most)
        ):
            raise self._wrong(usage)
        return self.args

    def _map_args(
        self, usage: str, required: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The arguments, which must be a map of these keys."""
        if not isinstance(self.args, dict):
            raise self._wrong(usage)
        for key in self.args:
            if key not in required and key not in optional:
                raise ValueError(
                    _('Unknown key "%(key)s", known are %(known)s')
                    % {
                        "key": key,
                        "known": ", ".join([*required, *optional]),
                    }
                )
        for key in required:
            if key not in self.args:
                raise ValueError(
                    _('The key "%(key)s" is missing, expected: %(usage)s')
                    % {
                        "key": key,
                        "usage": f"{{{self.fn_name}: {usage}}}",
                    }
                )
        return self.args


def kind(value: Any) -> str:
    """The type of a value in users' words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "list"
    return "map"


def want_list(value: Any, what: str) -> list[Any]:
    """The value, a list; None is an empty one.

    :raises TypeError: when it's something else
    """
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            _("%(what)s must be a list, not a %(kind)s")
            % {"what": what, "kind": kind(value)}
        )
    return list(value)


def want_map(value: Any, what: str) -> dict[str, Any]:
    """The value, a map; None is an empty one.

    :raises TypeError: when it's something else
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(
            _("%(what)s must be a map, not a %(kind)s")
            % {"what": what, "kind": kind(value)}
        )
    return value


def want_text(value: Any, what: str) -> str:
    """The value, a string; None is an empty one.

    :raises TypeError: when it's something else
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(
            _("%(what)s must be a string, not a %(kind)s")
            % {"what": what, "kind": kind(value)}
        )
    return value


def to_json(value: Any) -> str:
    """The JSON text of a value."""
    return json.dumps(value, ensure_ascii=False)


def check_text(length: int) -> None:
    """Refuse to make a text that long.

    :raises ValueError: when it's over the limit
    """
    if length > MAX_TEXT:
        raise ValueError(
            _("The result is longer than %d characters") % MAX_TEXT
        )


def check_values(count: int) -> None:
    """Refuse to make that many values.

    :raises ValueError: when it's over the limit
    """
    if count > MAX_VALUES:
        raise ValueError(_("The result has more than %d values") % MAX_VALUES)


def select(value: Any, path: Iterable[Any], missing: Any = None) -> Any:
    """What keys and indices lead to in a value.

    :param missing: given when they lead nowhere
    """
    for key in path:
        if isinstance(value, dict):
            if key not in value and str(key) in value:
                key = str(key)
            if key not in value:
                return missing
            value = value[key]
        elif isinstance(value, (list, tuple)):
            index = _index(key)
            if index is None or not -len(value) <= index < len(value):
                return missing
            value = value[index]
        else:
            return missing
    return value


def _index(key: Any) -> int | None:
    if isinstance(key, bool):
        return None
    try:
        return int(key)
    except (TypeError, ValueError):
        return None


def replace_all(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Replace texts, the longest first; what is put in stays as it is.

    :param pairs: what to replace, by what
    :raises ValueError: when the result gets too long, or takes too long
    """
    pieces: list[tuple[str, bool]] = [(text, False)]
    length = len(text)
    work = 0
    for key, value in sorted(pairs, key=lambda p: (-len(p[0]), p[0])):
        # To look through a text is some hundred times faster than to go
        # from one piece to the next.
        work += len(pieces) + len(text) // 100
        if work > _MAX_WORK:
            raise ValueError(_("There is too much to replace in the text"))
        out: list[tuple[str, bool]] = []
        for piece, done in pieces:
            if done or key not in piece:
                out.append((piece, done))
                continue
            parts = piece.split(key)
            length += (len(parts) - 1) * (len(value) - len(key))
            check_text(length)
            out.append((parts[0], False))
            for part in parts[1:]:
                out.append((value, True))
                out.append((part, False))
        pieces = out
    return "".join(piece for piece, _done in pieces)
