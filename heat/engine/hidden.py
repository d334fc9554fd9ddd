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
"""Hides the values of hidden parameters in what is told of resources.

A template may write a secret into a property, and what a resource was made
with is told to everybody who may look at its events.
"""

from __future__ import annotations

from typing import Any

from heat.engine import parameters
from heat.engine.definition import StackDefinition

#: Shorter secrets are hidden only where they're the whole of a text: as a
#: part they would be found everywhere.
_SHORT = 4


def secrets(definition: StackDefinition) -> frozenset[str]:
    """The texts of all values of hidden parameters."""
    made = definition.parameters
    return frozenset(
        text
        for name, schema in made.schemata.items()
        if schema.hidden and (text := schema.text(made[name]))
    )


def mask(value: Any, hidden: frozenset[str]) -> Any:
    """A value with all secrets in its texts masked; not changed itself."""
    if not hidden:
        return value
    if isinstance(value, dict):
        return {key: mask(each, hidden) for key, each in value.items()}
    if isinstance(value, list):
        return [mask(each, hidden) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    text = str(value)
    if text in hidden:
        return parameters.MASK
    if isinstance(value, str):
        for secret in sorted(hidden, key=len, reverse=True):
            if len(secret) >= _SHORT:
                value = value.replace(secret, parameters.MASK)
    return value
