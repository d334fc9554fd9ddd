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

"""How many members a group has after a policy has acted. Pure."""

from __future__ import annotations

import math

#: The ways to adjust, in HOT's words and in CloudFormation's.
CHANGE_IN_CAPACITY, EXACT_CAPACITY, PERCENT_CHANGE_IN_CAPACITY = (
    "change_in_capacity",
    "exact_capacity",
    "percent_change_in_capacity",
)
CFN_CHANGE_IN_CAPACITY, CFN_EXACT_CAPACITY, CFN_PERCENT_CHANGE = (
    "ChangeInCapacity",
    "ExactCapacity",
    "PercentChangeInCapacity",
)
_CHANGE = (CHANGE_IN_CAPACITY, CFN_CHANGE_IN_CAPACITY)
_EXACT = (EXACT_CAPACITY, CFN_EXACT_CAPACITY)


def calculate_new_capacity(
    current: int,
    adjustment: float,
    adjustment_type: str,
    min_adjustment_step: int | None,
    minimum: int,
    maximum: int,
) -> int:
    """The new size of a group, within its bounds.

    A percentage that comes to less than one member changes one; else it is
    rounded towards nothing.

    :param min_adjustment_step: the least change that a percentage makes
    """
    if adjustment_type in _CHANGE:
        wanted = current + int(adjustment)
    elif adjustment_type in _EXACT:
        wanted = int(adjustment)
    else:
        wanted = current + _percent(current, adjustment, min_adjustment_step)
    return max(minimum, min(maximum, wanted))


def _percent(current: int, percent: float, least: int | None) -> int:
    exact = current * percent / 100.0
    amount = math.floor(abs(exact))
    if percent and amount < 1:
        amount = 1
    if least is not None and percent:
        amount = max(amount, least)
    return amount if percent > 0 else -amount
