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

The docstring is shown to users by the list of template functions.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base

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
def _context() -> Any:
    import yaql

    return yaql.create_context()


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
        context = _context().create_child_context()
        try:
            return parsed.evaluate(data=data, context=context)
        except Exception as exc:
            raise ValueError(
                _("The expression can't be evaluated: %(reason)s")
                % {"reason": str(exc) or type(exc).__name__}
            ) from exc
