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
"""``if``, and the functions of conditions.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base


class If(function.Macro):
    """Choose one of two values by a condition.

    Takes the form::

        if:
          - <condition_name>
          - <value_if_true>
          - <value_if_false>
    """

    lengths: tuple[int, ...] = (3,)
    usage = "[<condition>, <value if true>, <value if false>]"

    def expand(self, parse: Callable[..., Any]) -> Any:
        if not isinstance(self.args, list) or (
            len(self.args) not in self.lengths
        ):
            raise ValueError(
                _("Wrong arguments, expected: %s")
                % f"{{{self.fn_name}: {self.usage}}}"
            )
        place = f"{self.path}[0]"
        condition = parse(self.args[0], place, condition=True)
        chosen = 1 if self.stack.condition(condition, place) else 2
        if chosen >= len(self.args):
            return function.ABSENT
        return parse(self.args[chosen], f"{self.path}[{chosen}]")


class IfOrNothing(If):
    """Choose one of two values by a condition.

    Takes the form::

        if:
          - <condition_name>
          - <value_if_true>
          - <value_if_false>

    Without the third argument, the property, key or list item that the
    function stands for is left out when the condition is false.
    """

    lengths = (2, 3)
    usage = "[<condition>, <value if true>(, <value if false>)]"


class Equals(base.HotFunction):
    """Whether two values are equal.

    Takes the form::

        equals:
          - <value_1>
          - <value_2>
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._list_args("[<value 1>, <value 2>]", 2, 2)

    def result(self) -> bool:
        first, second = function.resolve(self.args)
        return bool(first == second)


class Not(base.HotFunction):
    """The opposite of a condition.

    Takes the form::

        not: <condition>
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if isinstance(args, list):
            raise self._wrong("<condition>")

    def result(self) -> bool:
        return not self.stack.condition(self.args, self.path)


class _Several(base.HotFunction):
    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._list_args("[<condition 1>, <condition 2>, ...]", 2, None)

    def _values(self) -> list[bool]:
        # All are evaluated, so that a wrong one shows always.
        return [
            self.stack.condition(value, f"{self.path}[{index}]")
            for index, value in enumerate(self.args)
        ]


class And(_Several):
    """Whether all of several conditions hold.

    Takes the form::

        and:
          - <condition_1>
          - <condition_2>
          - ...
    """

    def result(self) -> bool:
        return all(self._values())


class Or(_Several):
    """Whether at least one of several conditions holds.

    Takes the form::

        or:
          - <condition_1>
          - <condition_2>
          - ...
    """

    def result(self) -> bool:
        return any(self._values())
