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
"""Reads YAML and JSON that strangers send, within limits.

The values come out as JSON has them: maps with string keys, lists,
strings, numbers, booleans and None. YAML 1.1 is read as its users know it,
with these differences: dates and times stay text, as do ``.inf`` and
``.nan`` (JSON has none); keys that are numbers, booleans or null become the
text that JSON makes of them.

The reader works on the parser's events with a stack of its own: no
recursion, no objects before the limits are checked. A value that an alias
repeats is shared, but counts each time it appears, long texts for more, so
that a text of a few hundred bytes that stands for billions of values is
refused at once.

It must not know what the text is for.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NoReturn

import yaml

from heat.common.i18n import _

#: Longest text, in bytes of UTF-8.
MAX_BYTES: Final = 4 * 1024 * 1024
#: Deepest nesting of maps and lists.
MAX_DEPTH: Final = 100
#: Most values, those in repeated parts counted each time.
MAX_NODES: Final = 500_000
#: In the count of values, this many characters of a text are one more.
_TEXT_PER_NODE: Final = 64
#: A plain scalar longer than this is text, whatever it looks like.
_MAX_NUMBER: Final = 1000

#: Keys that say which language and version a template is in.
VERSION_KEYS: Final = (
    "heat_template_version",
    "HeatTemplateFormatVersion",
    "AWSTemplateFormatVersion",
)

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = _TAG + "merge"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SURROGATE = re.compile("[\ud800-\udfff]")
_chained = itertools.chain.from_iterable


def parse(tmpl_str: str, template_url: str | None = None) -> dict[str, Any]:
    """Read a template that says which version it has.

    :param template_url: where it's from, for errors
    :raises ValueError: when it can't be read, isn't a map, or has no version
    """
    tpl = simple_parse(tmpl_str, template_url)
    if not any(key in tpl for key in VERSION_KEYS):
        raise ValueError(_("Template format version not found."))
    return tpl


def simple_parse(
    tmpl_str: str, template_url: str | None = None
) -> dict[str, Any]:
    """Read a text that must be a map; an empty one gives an empty map.

    :param template_url: where it's from, for errors
    :raises ValueError: when it can't be read or isn't a map
    """
    what = template_url or "template"
    tpl = load(tmpl_str, what)
    if tpl is None:
        return {}
    if not isinstance(tpl, dict):
        raise ValueError(_("The %s is not a map of keys to values") % what)
    return tpl


def load(text: str, what: str = "template", max_bytes: int = MAX_BYTES) -> Any:
    """Read a text that holds one value, within limits.

    :param what: what it is, for errors
    :param max_bytes: longest text, in bytes of UTF-8
    :returns: the value; None for an empty text
    :raises ValueError: naming ``what``, line, column and remedy
    """
    _check_text(text, what, max_bytes)
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text, parse_constant=_not_json)
        except RecursionError:
            raise ValueError(_too_deep(what)) from None
        except ValueError:
            # Not JSON, but it may be YAML, whose errors name the place.
            pass
        else:
            check_bounds(value, what)
            return value
    return _Builder(what).build(text)


def _check_text(text: str, what: str, max_bytes: int) -> None:
    if not isinstance(text, str):
        raise ValueError(_("The %s must be text") % what)
    size = len(text)
    if size <= max_bytes < size * 4:
        size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise ValueError(
            _("The %(what)s is longer than the maximum of %(max)d bytes")
            % {"what": what, "max": max_bytes}
        )


def _not_json(word: str) -> NoReturn:
    raise ValueError(word)


def _too_deep(what: str) -> str:
    return _("The %(what)s is nested more than %(max)d levels deep") % {
        "what": what,
        "max": MAX_DEPTH,
    }


def _too_many(what: str) -> str:
    return _(
        "The %(what)s has more than %(max)d values, those that aliases "
        "repeat counted each time"
    ) % {"what": what, "max": MAX_NODES}


def check_bounds(value: Any, what: str) -> int:
    """Check depth, size, keys and texts of a value that was read already.

    :param value: what JSON makes
    :returns: its size: how many values there are in it, itself counted
    :raises ValueError: when it's over the limits, or can't be stored
    """
    level = [value]
    left = MAX_NODES
    for _depth in range(MAX_DEPTH + 1):
        left -= len(level)
        maps: list[Mapping[Any, Any]] = []
        parts: list[Collection[Any]] = []
        for item in level:
            # By the frequency of what there is: this runs for every value.
            if isinstance(item, str):
                if not item.isascii():
                    _check_unicode(item, what)
            elif isinstance(item, dict):
                maps.append(item)
            elif item is None or isinstance(item, int):
                continue
            elif isinstance(item, (list, tuple)):
                parts.append(item)
            elif isinstance(item, float):
                _check_finite(item, what)
            elif isinstance(item, Mapping):
                maps.append(item)
        _check_keys(maps, what)
        parts += [each.values() for each in maps]
        # Before they are listed: one of them may be there a million times.
        if sum(map(len, parts)) > left:
            raise ValueError(_too_many(what))
        level = list(_chained(parts))
        if not level:
            return MAX_NODES - left
    raise ValueError(_too_deep(what))


def _check_keys(maps: Collection[Mapping[Any, Any]], what: str) -> None:
    for key in _chained(maps):
        if not isinstance(key, str):
            raise ValueError(
                _("The %(what)s holds the key %(key)r, keys must be strings")
                % {"what": what, "key": key}
            )
        if not key.isascii():
            _check_unicode(key, what)


def _check_finite(number: float, what: str) -> None:
    if not math.isfinite(number):
        raise ValueError(_("The %s holds a number that is too large") % what)


def _check_unicode(text: str, what: str) -> None:
    if _SURROGATE.search(text):
        raise ValueError(
            _("The %s holds half a surrogate pair, which is no character")
            % what
        )


class _Frame:
    """A map or list that isn't complete yet."""

    __slots__ = (
        "anchor",
        "height",
        "key",
        "key_seen",
        "merges",
        "size",
        "value",
    )

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.size = 1
        self.height = 1
        self.key: Any = None
        self.key_seen = False
        self.merges: list[Any] | None = None


class _Done:
    """A complete value that has a name."""

    __slots__ = ("height", "size", "value")

    def __init__(self, value: Any, size: int, height: int) -> None:
        self.value = value
        self.size = size
        self.height = height


class _MergeKey:
    """The key ``<<``."""


_MERGE_KEY: Final = _MergeKey()


class _Builder:
    """Builds a value from the events of one text."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.stack: list[_Frame] = []
        self.named: dict[str, _Done] = {}
        self.root: Any = None
        self.documents = 0

    def build(self, text: str) -> Any:
        handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._start,
            yaml.SequenceStartEvent: self._start,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        try:
            loader = _Loader(text)
            try:
                next_event, handler_of = loader.get_event, handlers.get
                while (event := next_event()) is not None:
                    handler = handler_of(type(event))
                    if handler is not None:
                        handler(event)
            finally:
                loader.dispose()
        except (yaml.YAMLError, UnicodeError) as exc:
            raise ValueError(self._syntax_error(exc)) from exc
        return self.root

    # -- events ---------------------------------------------------------------

    def _document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self._fail(event, _("only one document is allowed"))

    def _scalar(self, event: Any) -> None:
        tag = event.tag
        text: str = event.value
        if tag is None or tag == "!":
            value: Any = text
            if event.implicit[0] and not event.style:
                value = _plain(text)
                if text == "<<" and self._wants_key():
                    value = _MERGE_KEY
        else:
            value = self._tagged(event, tag, text)
        if not text.isascii() and _SURROGATE.search(text):
            self._fail(event, _("half a surrogate pair is no character"))
        size = 1 + len(text) // _TEXT_PER_NODE
        if event.anchor is not None:
            self.named[event.anchor] = _Done(value, size, 0)
        self._add(event, value, size, 0)

    def _tagged(self, event: Any, tag: str, text: str) -> Any:
        kind = tag.removeprefix(_TAG)
        if kind in ("str", "timestamp"):
            return text
        if kind in ("int", "float", "bool", "null"):
            value = _plain(text)
            if _KINDS[kind](value):
                return value
            if kind == "float" and isinstance(value, int):
                return float(value)
        self._fail(
            event,
            _("the tag %s can't be used here, leave it out") % tag,
        )

    def _start(self, event: Any) -> None:
        is_map = isinstance(event, yaml.MappingStartEvent)
        tag = event.tag
        if tag not in (None, "!", _TAG + ("map" if is_map else "seq")):
            self._fail(
                event,
                _("the tag %s can't be used here, leave it out") % tag,
            )
        if len(self.stack) >= MAX_DEPTH:
            self._fail(
                event,
                _("nested more than %d levels deep") % MAX_DEPTH,
            )
        if event.anchor is not None:
            # Until it's complete, an alias of it would be a circle.
            self.named.pop(event.anchor, None)
        self.stack.append(_Frame({} if is_map else [], event.anchor))

    def _end(self, event: Any) -> None:
        frame = self.stack.pop()
        if frame.merges is not None:
            merged: dict[str, Any] = {}
            for part in reversed(frame.merges):
                merged.update(part)
            merged.update(frame.value)
            frame.value = merged
        if frame.anchor is not None:
            self.named[frame.anchor] = _Done(
                frame.value, frame.size, frame.height
            )
        self._add(event, frame.value, frame.size, frame.height)

    def _alias(self, event: Any) -> None:
        done = self.named.get(event.anchor)
        if done is None:
            self._fail(
                event,
                _("the alias *%s refers to nothing that is complete before it")
                % event.anchor,
            )
        if len(self.stack) + done.height > MAX_DEPTH:
            self._fail(
                event,
                _("nested more than %d levels deep") % MAX_DEPTH,
            )
        self._add(event, done.value, done.size, done.height)

    # -- building -------------------------------------------------------------

    def _wants_key(self) -> bool:
        return (
            bool(self.stack)
            and isinstance(self.stack[-1].value, dict)
            and not self.stack[-1].key_seen
        )

    def _add(self, event: Any, value: Any, size: int, height: int) -> None:
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            self._fail(
                event,
                _("more than %d values, repeated ones and long texts counted")
                % MAX_NODES,
            )
        if height >= frame.height:
            frame.height = height + 1
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif not frame.key_seen:
            frame.key = self._key(event, value)
            frame.key_seen = True
        else:
            frame.key_seen = False
            if frame.key is _MERGE_KEY:
                self._merge(event, frame, value)
            else:
                frame.value[frame.key] = value

    def _key(self, event: Any, value: Any) -> Any:
        if isinstance(value, str) or value is _MERGE_KEY:
            return value
        if isinstance(value, (dict, list)):
            self._fail(event, _("a map or list can't be a key"))
        # As JSON writes it; a client that sends JSON has done the same.
        return json.dumps(value)

    def _merge(self, event: Any, frame: _Frame, value: Any) -> None:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            self._fail(event, _("<< needs a map or a list of maps"))
        if frame.merges is None:
            frame.merges = []
        frame.merges.extend(parts)

    # -- errors ---------------------------------------------------------------

    def _fail(self, event: Any, problem: str) -> NoReturn:
        raise ValueError(self._at(event.start_mark, problem))

    def _at(self, mark: Any, problem: str) -> str:
        return _(
            "Error in %(what)s, line %(line)d, column %(col)d: %(text)s"
        ) % {
            "what": self.what,
            "line": mark.line + 1,
            "col": mark.column + 1,
            "text": problem,
        }

    def _syntax_error(self, exc: Exception) -> str:
        mark = getattr(exc, "problem_mark", None)
        problem = getattr(exc, "problem", None) or str(exc).split("\n")[0]
        context = getattr(exc, "context", None)
        text = f"{context}: {problem}" if context else str(problem)
        text += _(" (check indentation, quotes and colons)")
        if mark is None:
            return _("Error in %(what)s: %(text)s") % {
                "what": self.what,
                "text": text,
            }
        return self._at(mark, text)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, float),
    "bool": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}

#: The tags that YAML 1.1 gives plain scalars, by first character.
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = (
    yaml.resolver.Resolver.yaml_implicit_resolvers
)
_constructor = yaml.constructor.SafeConstructor()


def _plain(text: str) -> Any:
    """The value of a scalar without quotes."""
    first = text[:1]
    found = _RESOLVERS.get(first)
    if found is None or len(text) > _MAX_NUMBER:
        return text
    if first != "0" and text.isdecimal() and text.isascii():
        # As most numbers are.
        return int(text)
    for tag, pattern in found:
        if pattern.match(text):
            return _typed(tag, text)
    return text


def _typed(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_TAG)
    node = yaml.ScalarNode(tag, text)
    try:
        if kind == "null":
            return None
        if kind == "bool":
            return _constructor.construct_yaml_bool(node)
        if kind == "int":
            return _constructor.construct_yaml_int(node)
        if kind == "float":
            number = _constructor.construct_yaml_float(node)
            return number if math.isfinite(number) else text
    except (ValueError, OverflowError, IndexError):
        # It only looks like a number: 0o8, 1_, ...
        return text
    return text
