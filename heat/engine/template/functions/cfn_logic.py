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
"""The conditions of CloudFormation templates, and ``Fn::If``.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

from typing import Any

from heat.engine.template.functions import base, logic


class If(logic.If):
    """Choose one of two values by a condition.

    Takes the form::

        Fn::If:
          - <condition_name>
          - <value_if_true>
          - <value_if_false>
    """


class Equals(logic.Equals):
    """Whether two values are equal.

    Takes the form::

        Fn::Equals:
          - <value_1>
          - <value_2>
    """


class Not(logic.Not):
    """The opposite of a condition.

    Takes the form::

        Fn::Not:
          - <condition>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        if isinstance(args, list) and len(args) == 1:
            [args] = args
        super().__init__(stack, fn_name, args)


class And(logic.And):
    """Whether all of several conditions hold.

    Takes the form::

        Fn::And:
          - <condition_1>
          - <condition_2>
          - ...
    """


class Or(logic.Or):
    """Whether at least one of several conditions holds.

    Takes the form::

        Fn::Or:
          - <condition_1>
          - <condition_2>
          - ...
    """


class Condition(base.HotFunction):
    """Whether the condition of that name holds.

    Takes the form::

        Condition: <condition_name>
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, str):
            raise self._wrong("<condition name>")

    def result(self) -> bool:
        return bool(self.stack.condition(self.args, self.path))
