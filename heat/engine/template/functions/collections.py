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
"""Functions of lists and maps.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base


class MapMerge(base.HotFunction):
    """Merge maps; of a key that is in several, the last one counts.

    Takes the form::

        map_merge:
          - <key_1>: <value_1>
            <key_2>: <value_2>
          - <key_1>: <value_3>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, (list, function.Function)):
            raise self._wrong("[<map 1>, <map 2>, ...]")

    def result(self) -> dict[str, Any]:
        maps = base.want_list(function.resolve(self.args), _("The argument"))
        made: dict[str, Any] = {}
        for one in maps:
            made.update(base.want_map(one, _("What is merged")))
        return made


class MapReplace(base.HotFunction):
    """Replace keys and values of a map.

    Takes the form::

        map_replace:
          - <key_1>: <value_1>
            <key_2>: <value_2>
          - keys:
              <key_1>: <new key>
            values:
              <value_2>: <new value>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<map>, {keys: <map>, values: <map>}]"
        self._list_args(usage, 2, 2)
        if not isinstance(args[0], (dict, function.Function)) or (
            not isinstance(args[1], (dict, function.Function))
        ):
            raise self._wrong(usage)
        if isinstance(args[1], dict):
            self._check_rules(args[1])

    def _check_rules(self, rules: dict[str, Any]) -> None:
        for key in rules:
            if key not in ("keys", "values"):
                raise ValueError(
                    _('Unknown key "%s", known are keys, values') % key
                )

    def result(self) -> dict[str, Any]:
        source, rules = function.resolve(self.args)
        source = base.want_map(source, _("What is replaced in"))
        rules = base.want_map(rules, _("The replacements"))
        self._check_rules(rules)
        keys = base.want_map(rules.get("keys"), "keys")
        values = base.want_map(rules.get("values"), "values")
        made: dict[str, Any] = {}
        for key, value in source.items():
            new = keys.get(key, key)
            if not isinstance(new, str):
                if isinstance(new, (dict, list)):
                    raise TypeError(_("A new key must be a string"))
                new = str(new)
            if new in made or (new != key and new in source):
                raise ValueError(_('The key "%s" would be there twice') % new)
            made[new] = _replaced(value, values)
        return made


def _replaced(value: Any, values: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return values.get(value, value)
    if value is None or isinstance(value, (dict, list)):
        return value
    # The keys of a map are texts; 80 and true are found as they're written.
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return values.get(text, value)


class Filter(base.HotFunction):
    """A list without certain values.

    Takes the form::

        filter:
          - - <value to remove 1>
            - <value to remove 2>
          - - <item_1>
            - <item_2>
            - ...
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<list of values to remove>, <list>]"
        self._list_args(usage, 2, 2)
        unwanted, items = args
        if not isinstance(unwanted, (list, function.Function, type(None))):
            raise self._wrong(usage)
        if not isinstance(items, (list, function.Function)):
            raise self._wrong(usage)

    def result(self) -> list[Any]:
        unwanted, items = function.resolve(self.args)
        unwanted = base.want_list(unwanted, _("The values to remove"))
        items = base.want_list(items, _("What is filtered"))
        gone = {_hashable(item) for item in unwanted}
        return [item for item in items if _hashable(item) not in gone]


class Contains(base.HotFunction):
    """Whether a value is in a list or string.

    Takes the form::

        contains:
          - <value>
          - <list or string>
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._list_args("[<value>, <list or string>]", 2, 2)

    def result(self) -> bool:
        value, sequence = function.resolve(self.args)
        if sequence is None:
            return False
        if isinstance(sequence, str):
            return base.want_text(value, _("What is looked for")) in sequence
        return value in base.want_list(sequence, _("The second argument"))


class ListConcat(base.HotFunction):
    """Put lists together.

    Takes the form::

        list_concat:
          - - <item_1>
            - <item_2>
          - - <item_3>
    """

    unique = False

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, (list, function.Function)):
            raise self._wrong("[<list 1>, <list 2>, ...]")

    def result(self) -> list[Any]:
        lists = base.want_list(function.resolve(self.args), _("The argument"))
        made: list[Any] = []
        for one in lists:
            made.extend(base.want_list(one, _("What is put together")))
            base.check_values(len(made))
        return list(_unique(made)) if self.unique else made


class ListConcatUnique(ListConcat):
    """Put lists together, each item once.

    Takes the form::

        list_concat_unique:
          - - <item_1>
            - <item_2>
          - - <item_2>
    """

    unique = True


def _unique(items: Iterable[Any]) -> Iterator[Any]:
    seen: set[Any] = set()
    for item in items:
        key = _hashable(item)
        if key not in seen:
            seen.add(key)
            yield item


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return (
            "map",
            frozenset((k, _hashable(v)) for k, v in value.items()),
        )
    if isinstance(value, list):
        return ("list", tuple(_hashable(item) for item in value))
    return value


class Repeat(base.HotFunction):
    """A list that repeats a template for each item of lists.

    Takes the form::

        repeat:
          template: <template>
          for_each:
            <var>: <list>

    Each variable is replaced in the template, wherever it stands in texts
    and keys. With several lists, all combinations are made.
    """

    #: Maps can be gone through as well, by their keys.
    maps = False
    optional: tuple[str, ...] = ()

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "{template: <template>, for_each: {<var>: <list>}}"
        self._map_args(usage, ("template", "for_each"), self.optional)
        if not isinstance(args["for_each"], (dict, function.Function)):
            raise self._wrong(usage)
        if not isinstance(
            args.get("permutations", True), (bool, function.Function)
        ):
            raise TypeError(_("permutations must be true or false"))

    def result(self) -> list[Any]:
        each = base.want_map(
            function.resolve(self.args["for_each"]), "for_each"
        )
        names = list(each)
        if not all(names):
            raise ValueError(_("An empty string can't be a variable"))
        lists = [self._items(name, each[name]) for name in names]
        template = function.resolve(self.args["template"])
        combine = function.resolve(self.args.get("permutations", True))
        if not isinstance(combine, bool):
            raise TypeError(_("permutations must be true or false"))
        rounds: Iterable[tuple[Any, ...]]
        if combine:
            count = math.prod(len(items) for items in lists)
            rounds = itertools.product(*lists)
        else:
            if len({len(items) for items in lists}) > 1:
                raise ValueError(
                    _("Without permutations, the lists must have equal length")
                )
            count = len(lists[0]) if lists else 0
            rounds = zip(*lists, strict=True)
        size = _Size()
        size.add(count)
        # Longer names first, so that one in another isn't replaced in it.
        order = sorted(range(len(names)), key=lambda i: -len(names[i]))
        found = re.compile("|".join(map(re.escape, names)) or "(?!)").search
        return [
            _Filling([(names[i], values[i]) for i in order], found, size).fill(
                template
            )
            for values in rounds
        ]

    def _items(self, name: str, value: Any) -> list[Any]:
        if self.maps and isinstance(value, dict):
            return list(value)
        return base.want_list(value, _('The "%s" of for_each') % name)


class RepeatMaps(Repeat):
    """A list that repeats a template for each item of lists or maps.

    Takes the form::

        repeat:
          template: <template>
          for_each:
            <var>: <list or map>

    Each variable is replaced in the template, wherever it stands in texts
    and keys; of a map, by its keys. With several lists, all combinations
    are made.
    """

    maps = True


class RepeatPermutations(RepeatMaps):
    """A list that repeats a template for each item of lists or maps.

    Takes the form::

        repeat:
          template: <template>
          for_each:
            <var>: <list or map>
          permutations: <bool>

    Each variable is replaced in the template, wherever it stands in texts
    and keys; of a map, by its keys. With several lists, all combinations
    are made, or, with ``permutations: false``, the items at equal places
    taken together.
    """

    optional = ("permutations",)


class _Size:
    """Counts what is made, and stops what is too much."""

    def __init__(self) -> None:
        self.values = 0
        self.text = 0

    def add(self, values: int, text: int = 0) -> None:
        self.values += values
        self.text += text
        base.check_values(self.values)
        base.check_text(self.text)


@dataclasses.dataclass
class _Filling:
    """One round: what each variable stands for.

    :ivar found: finds one of the variables in a text
    """

    pairs: list[tuple[str, Any]]
    found: Callable[[str], object]
    size: _Size

    def fill(self, template: Any) -> Any:
        """The template with the variables replaced.

        Most texts have none of them. These are passed over without a call
        for each, as there may be half a million.
        """
        found = self.found
        if isinstance(template, str):
            self._count([template])
            return template if found(template) is None else self._put(template)
        if isinstance(template, dict):
            self._count([*template, *template.values()], len(template))
            return {
                key if found(key) is None else _key(self._put(key)): value
                if isinstance(value, str) and found(value) is None
                else self._fill_one(value)
                for key, value in template.items()
            }
        if isinstance(template, list):
            self._count(template, len(template))
            return [
                value
                if isinstance(value, str) and found(value) is None
                else self._fill_one(value)
                for value in template
            ]
        return template

    def _fill_one(self, value: Any) -> Any:
        """What stands in a list or a map, whose texts are counted."""
        if isinstance(value, str):
            return self._put(value)
        return self.fill(value)

    def _count(self, values: Iterable[Any], places: int = 0) -> None:
        texts = [value for value in values if isinstance(value, str)]
        looks = len(texts) * len(self.pairs)
        self.size.add(places + looks, sum(map(len, texts)))

    def _put(self, text: str) -> Any:
        for name, value in self.pairs:
            if text == name:
                # All of it is the variable: the value keeps its type.
                return value
        made = base.replace_all(
            text, [(name, _text(value)) for name, value in self.pairs]
        )
        self.size.add(0, len(made))
        return made


def _key(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        return base.to_json(value)
    return str(value)
