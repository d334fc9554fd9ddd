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

"""Schemas of properties and attributes written as text.

A type with forty properties is read by people, so its schema is a table,
one property a line, and not four hundred lines of calls::

    properties_schema = notation.properties('''
        name string (update) -- What the network is called.
        mtu integer (=1500, range 68..None) -- Bytes of a packet.
        routes list{* map{
            destination string (required, is net_cidr) -- Where to.
            nexthop string (required, is ip_addr) -- By which router.
        }} (update, =[]) -- Routes beyond the connected ones.
    ''')
    attributes_schema = notation.attributes('''
        status string -- State of the network.
    ''')

``{* x}`` is the element of a list, or any value of a map; ``map{...}`` has
properties of its own. Flags: ``required``, ``update`` (changed in place),
``immutable``, ``=`` and a default (JSON), ``in`` and the allowed values
(JSON), ``range`` and ``len`` with bounds, ``is`` and a named constraint,
``hidden``, ``deprecated``, ``unsupported``. Entries end with a line, a comma
or a semicolon; what follows ``--`` is the description, which goes on in lines
that begin with ``--`` too. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from heat.engine import attributes as attrs
from heat.engine import constraints, schema, support
from heat.engine import properties as props

_TYPES: Final = {
    "string": props.Schema.STRING,
    "integer": props.Schema.INTEGER,
    "number": props.Schema.NUMBER,
    "boolean": props.Schema.BOOLEAN,
    "map": props.Schema.MAP,
    "list": props.Schema.LIST,
    "any": props.Schema.ANY,
}
_STATUSES: Final = {
    "hidden": support.HIDDEN,
    "deprecated": support.DEPRECATED,
    "unsupported": support.UNSUPPORTED,
}
#: Said of a property, but not which: nothing to check with.
_NOT_PUBLIC: Final = ("re", "enum")

Rule = Callable[[str], constraints.Constraint]


def properties(
    text: str, rule: Rule = constraints.CustomConstraint
) -> dict[str, props.Schema]:
    """The property schemas of a text.

    :param rule: makes the constraint of a name after ``is``
    :raises ValueError: for a text that isn't in the notation
    """
    reader = _Reader(text, rule)
    table = reader.table()
    reader.end()
    return table


def attributes(text: str) -> dict[str, attrs.Schema]:
    """The attribute schemas of a text: ``name [type] [-- description]``.

    :raises ValueError: for a text that isn't in the notation
    """
    reader = _Reader(text, constraints.CustomConstraint)
    table: dict[str, attrs.Schema] = {}
    while not reader.at_end():
        name = reader.word()
        kind = reader.type_word()
        described = reader.description()
        table[name] = attrs.Schema(described, type=kind)
        reader.separator()
    return table


class _Reader:
    """Goes through a text."""

    _WORD = re.compile(r"[^\s{}(),;]+")
    _SPACE = re.compile(r"\s*")
    _TYPE = re.compile(rf"[ \t]*({'|'.join(_TYPES)})\b")
    _SAID = re.compile(r"\s*--[ \t]*([^\n]*)")
    _json = json.JSONDecoder()

    def __init__(self, text: str, rule: Rule) -> None:
        self.text = text
        self.place = 0
        self._rule = rule

    def _skip(self) -> None:
        found = self._SPACE.match(self.text, self.place)
        self.place = found.end() if found else self.place

    def at_end(self) -> bool:
        self._skip()
        return self.place == len(self.text)

    def end(self) -> None:
        if not self.at_end():
            raise self._wrong()

    def _wrong(self) -> ValueError:
        rest = self.text[self.place : self.place + 60]
        return ValueError(f"Not understood: {rest!r}")

    def take(self, token: str) -> bool:
        self._skip()
        if self.text.startswith(token, self.place):
            self.place += len(token)
            return True
        return False

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self._wrong()

    def word(self) -> str:
        self._skip()
        found = self._WORD.match(self.text, self.place)
        if found is None:
            raise self._wrong()
        self.place = found.end()
        return found.group()

    def type_word(self) -> str | None:
        """A type's word, when one follows in this line."""
        found = self._TYPE.match(self.text, self.place)
        if found is None:
            return None
        self.place = found.end()
        return _TYPES[found.group(1)]

    def value(self) -> Any:
        self._skip()
        value, self.place = self._json.raw_decode(self.text, self.place)
        return value

    def description(self) -> str | None:
        parts = []
        while found := self._SAID.match(self.text, self.place):
            self.place = found.end()
            parts.append(found.group(1).strip())
        return " ".join(parts) or None

    def separator(self) -> None:
        """What may stand between two entries beside the line's end."""
        if not self.take(";"):
            self.take(",")

    def table(self) -> dict[str, props.Schema]:
        made: dict[str, props.Schema] = {}
        while not self.at_end() and self.text[self.place] != "}":
            name = self.word()
            made[name] = self.schema()
            self.separator()
        return made

    def schema(self) -> props.Schema:
        kind = self.type_word()
        if kind is None:
            raise self._wrong()
        inner: Any = None
        if self.text.startswith("{", self.place):
            self.place += 1
            if self.take("* "):
                inner = self.schema()
                if kind == props.Schema.MAP:
                    inner = schema.AnyIndexDict(inner)
            else:
                inner = self.table()
            self.need("}")
        flags: dict[str, Any] = {}
        if self.text.startswith(" (", self.place):
            self.place += 2
            self.flags(flags)
        described = self.description()
        return props.Schema(kind, described, schema=inner, **flags)

    def flags(self, made: dict[str, Any]) -> None:
        while True:
            self.flag(made)
            if not self.take(","):
                self.need(")")
                return

    def flag(self, made: dict[str, Any]) -> None:
        if self.take("="):
            made["default"] = self.value()
            return
        word = self.word()
        if word in ("required", "immutable"):
            made[word] = True
        elif word == "update":
            made["update_allowed"] = True
        elif word in _STATUSES:
            made["support_status"] = support.SupportStatus(_STATUSES[word])
        elif word not in _NOT_PUBLIC:
            made.setdefault("constraints", []).append(self.constraint(word))

    def constraint(self, word: str) -> constraints.Constraint:
        if word == "in":
            return constraints.AllowedValues(self.value())
        if word == "is":
            return self._rule(self.word())
        low, dots, high = self.word().partition("..")
        if not dots or word not in ("range", "len"):
            raise self._wrong()
        bounds: Any = [
            None if each == "None" else constraints.Schema.str_to_num(each)
            for each in (low, high)
        ]
        if word == "len":
            return constraints.Length(*bounds)
        return constraints.Range(*bounds)
