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
"""Regular expressions that strangers send, matched within a time.

What is one is decided by :mod:`re`, whose language users know. Matching is
left to the ``regex`` library, because it can be stopped: with :mod:`re` an
expression of ten characters can keep a worker, and the lock of all its
threads, busy for years. The names are those of :mod:`re`, as far as they're
used.
"""

from __future__ import annotations

import contextlib
import contextvars
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import regex

from heat.common.i18n import _

IGNORECASE: Final = re.IGNORECASE
MULTILINE: Final = re.MULTILINE
DOTALL: Final = re.DOTALL
UNICODE: Final = re.UNICODE
error = re.error
escape = re.escape

#: Longest expression, in characters.
MAX_PATTERN: Final = 4096
#: Longest text that one is matched against, in characters.
MAX_TEXT: Final = 1024 * 1024
#: Seconds that one call may take.
SECONDS: Final = 0.5

_FLAGS: Final = (
    (re.IGNORECASE, regex.IGNORECASE),
    (re.MULTILINE, regex.MULTILINE),
    (re.DOTALL, regex.DOTALL),
)


class TooSlow(ValueError):
    """Matching was given up."""


class _Budget:
    """Seconds that several calls may take together."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def take(self) -> float:
        # No time at all would mean no limit at all.
        return max(0.001, min(SECONDS, self.left))


_budget: contextvars.ContextVar[_Budget | None] = contextvars.ContextVar(
    "_budget", default=None
)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """All calls in the block together may take so long."""
    token = _budget.set(_Budget(seconds))
    try:
        yield
    finally:
        _budget.reset(token)


class Pattern:
    """A compiled expression; its methods are those of :class:`re.Pattern`.

    All raise TooSlow, a ValueError, when the time is over, and ValueError
    for a text that's too long.
    """

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str, compiled: Any) -> None:
        self.pattern = pattern
        self._compiled = compiled

    def _run(self, call: Callable[..., Any], text: str, *args: Any) -> Any:
        if len(text) > MAX_TEXT:
            raise ValueError(
                _("A text of more than %d characters can't be matched")
                % MAX_TEXT
            )
        budget = _budget.get()
        began = time.monotonic()
        try:
            return call(
                *args,
                text,
                timeout=SECONDS if budget is None else budget.take(),
                concurrent=True,
            )
        except (TimeoutError, MemoryError):
            raise self._slow() from None
        finally:
            if budget is not None:
                budget.left -= time.monotonic() - began

    def _slow(self) -> TooSlow:
        return TooSlow(
            _(
                'It takes too long to match the expression "%s", avoid '
                "repetitions inside of repetitions"
            )
            % self.pattern
        )

    def match(self, string: str) -> Any:
        return self._run(self._compiled.match, string)

    def fullmatch(self, string: str) -> Any:
        return self._run(self._compiled.fullmatch, string)

    def search(self, string: str) -> Any:
        return self._run(self._compiled.search, string)

    def finditer(self, string: str) -> Iterator[Any]:
        found = self._run(self._compiled.finditer, string)
        try:
            yield from found
        except (TimeoutError, MemoryError):
            raise self._slow() from None

    def split(self, string: str, maxsplit: int = 0) -> list[Any]:
        def call(text: str, **limits: Any) -> Any:
            return self._compiled.split(text, maxsplit, **limits)

        made: list[Any] = self._run(call, string)
        return made

    def sub(self, repl: Any, string: str, count: int = 0) -> str:
        def call(text: str, **limits: Any) -> Any:
            return self._compiled.sub(repl, text, count, **limits)

        made: str = self._run(call, string)
        return made


def compile(pattern: str, flags: int = 0) -> Pattern:
    """Compile an expression.

    :raises re.error: it is none, or too long
    """
    if len(pattern) > MAX_PATTERN:
        raise error(_("longer than %d characters") % MAX_PATTERN)
    wanted = 0
    for ours, theirs in _FLAGS:
        if flags & ours:
            wanted |= theirs
    try:
        re.compile(pattern, flags)
        return Pattern(pattern, regex.compile(pattern, regex.V0 | wanted))
    except regex.error as exc:
        raise error(str(exc)) from exc
    except (RecursionError, OverflowError, MemoryError):
        raise error(_("it is too deep, or a number in it too large")) from None


def search(pattern: str | Pattern, string: str) -> Any:
    """As :func:`re.search`."""
    if not isinstance(pattern, Pattern):
        pattern = compile(pattern)
    return pattern.search(string)
