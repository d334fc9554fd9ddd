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
"""``yaql``: queries in a language of their own.

The library limits the length of iterators and the memory of an expression.
That leaves ways to keep a worker busy for hours, so that an expression may
make a bounded number of calls here, numbers are bounded, too, and regular
expressions are those of :mod:`heat.common.patterns`, which end in time.

The docstring is shown to users by the list of template functions.
"""

from __future__ import annotations

import builtins
import datetime
import functools
import importlib.util
import threading
import types
from collections.abc import Mapping
from typing import Any, Final

from heat.common import patterns
from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base

#: Most calls that one evaluation makes: about a second.
_MAX_CALLS: Final = 20_000
#: Seconds that the regular expressions of one evaluation may take.
_PATTERN_SECONDS: Final = 0.8
#: Longest whole number, in bits.
_MAX_BITS: Final = 10_000

# The library's parser keeps state of its own while it parses.
_parser_lock = threading.Lock()


@functools.lru_cache(maxsize=8)
def _engine(iterators: int, memory: int) -> Any:
    # Slow to import, and most templates do without.
    import yaql

    return yaql.YaqlFactory().create(
        options={
            "yaql.limitIterators": iterators,
            "yaql.memoryQuota": memory,
            "yaql.convertInputData": True,
            "yaql.convertOutputData": True,
            "yaql.convertTuplesToLists": True,
            "yaql.convertSetsToLists": True,
        }
    )


@functools.lru_cache(maxsize=1)
def _bounded() -> tuple[type[Any], Any]:
    """The class of contexts that count calls, and what they all build on."""
    import yaql
    from yaql.language import contexts, specs, yaqltypes

    root = yaql.create_context().create_child_context()
    number = yaqltypes.Number
    # The nearest definition whose arguments fit counts: these stand before
    # the library's.
    for name, call, kinds in (
        ("#operator_*", _multiply, {"left": number(), "right": number()}),
        ("#operator_*", _repeat, {"left": yaqltypes.Sequence(), "right": int}),
        ("pow", _power, {"a": number(), "b": number(), "c": number(True)}),
        ("shiftBitsLeft", _shift, {"value": int, "bits_number": int}),
    ):
        definition = specs.name(name)(call)
        for parameter, kind in kinds.items():
            definition = specs.parameter(parameter, kind)(definition)
        root.register_function(definition)
    definition = specs.parameter("collection", yaqltypes.Iterator())(_count)
    definition = specs.extension_method(specs.name("len")(definition))
    root.register_function(definition)
    _register_patterns(root)

    class Counting(contexts.Context):  # type: ignore[misc]
        def __init__(self, parent: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(parent, *args, **kwargs)
            # One counter for an evaluation and all its inner contexts.
            self.left = getattr(parent, "left", None) or [_MAX_CALLS]

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            self.left[0] -= 1
            if self.left[0] < 0:
                raise ValueError(_("it takes too many steps"))
            return super().__call__(*args, **kwargs)

    return Counting, root


def _register_patterns(root: Any) -> None:
    """The library's functions of regular expressions, over our patterns.

    Its module is run a second time with another ``re``: the functions check
    the class of what they get, so they can't be had by sub-classing.
    """
    spec = importlib.util.find_spec("yaql.standard_library.regex")
    module = types.ModuleType(f"{__name__}.patterns")

    def find(name: str, *args: Any) -> Any:
        return patterns if name == "re" else __import__(name, *args)

    vars(module)["__builtins__"] = {**vars(builtins), "__import__": find}
    loader: Any = spec and spec.loader
    exec(loader.get_code(spec and spec.name), vars(module))  # noqa: S102
    module.register(root)


def _count(collection: Any) -> int:
    return sum(1 for _item in collection)


def _multiply(left: Any, right: Any) -> Any:
    _check_bits(_bits(left) + _bits(right))
    return left * right


def _repeat(left: Any, right: int) -> Any:
    if len(left) * right > _MAX_CALLS:
        raise ValueError(_("a list gets too long"))
    return left * right


def _power(a: Any, b: Any, c: Any = None) -> Any:
    if c is None:
        _check_bits(_bits(a) * abs(b))
    return pow(a, b, c)


def _shift(value: int, bits_number: int) -> int:
    _check_bits(_bits(value) + bits_number)
    return value << bits_number


def _bits(number: Any) -> int:
    return number.bit_length() if isinstance(number, int) else 0


def _check_bits(bits: Any) -> None:
    if bits > _MAX_BITS:
        raise ValueError(_("a number gets too large"))


class Yaql(base.HotFunction):
    """Evaluate a YAQL expression over data.

    Takes the form::

        yaql:
          expression: <expression>
          data: <data>

    The expression refers to the data as ``$.data``.
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "{expression: <string>, data: <data>}"
        self._map_args(usage, ("expression", "data"))
        if not isinstance(args["expression"], (str, function.Function)):
            raise self._wrong(usage)

    def validate(self) -> None:
        super().validate()
        if isinstance(self.args["expression"], str):
            self._parse(self.args["expression"])

    def _parse(self, expression: Any) -> Any:
        if not isinstance(expression, str):
            raise TypeError(_("The expression must be a string"))
        engine = _engine(*self.stack.yaql_limits)
        try:
            with _parser_lock:
                return engine(expression)
        except Exception as exc:
            raise ValueError(
                _("Bad expression %(reason)s") % {"reason": exc}
            ) from exc

    def result(self) -> Any:
        # An expression can do anything with None but what it's meant for.
        if self._pending(self.args):
            return None
        parsed = self._parse(function.resolve(self.args["expression"]))
        data = {"data": function.resolve(self.args["data"])}
        counting, root = _bounded()
        try:
            with patterns.within(_PATTERN_SECONDS):
                found = parsed.evaluate(data=data, context=counting(root))
                return _plain(found)
        except Exception as exc:
            raise ValueError(
                _("The expression can't be evaluated: %(reason)s")
                % {"reason": str(exc) or type(exc).__name__}
            ) from exc


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else base.to_json(key): _plain(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    raise TypeError(
        _("its result is no plain value but a %s") % type(value).__name__
    )
