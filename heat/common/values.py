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
"""Plain values, such as JSON makes: maps, lists, texts, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What is not made of other values.
_SINGLE = (str, int, float, type(None))


def copied(value: Any) -> Any:
    """A copy of a JSON value, made faster than by the copy module."""
    if isinstance(value, (dict, Mapping)):
        return {
            key: each if isinstance(each, _SINGLE) else copied(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [
            each if isinstance(each, _SINGLE) else copied(each)
            for each in value
        ]
    return value
