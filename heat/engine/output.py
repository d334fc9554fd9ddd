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
"""What a template says of one output. Read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heat.engine import function


class OutputDefinition:
    """An output as the template defines it.

    :param name: its key
    :param value: a snippet
    :param description: text, None for none
    """

    def __init__(
        self, name: str, value: Any, description: str | None = None
    ) -> None:
        self.name = name
        self._value = value
        self._description = description
        self._required: frozenset[str] | None = None

    def description(self) -> str:
        """The text users read."""
        if self._description is None:
            return "No description given"
        return self._description

    def get_value(self) -> Any:
        """The value, resolved.

        :raises StackValidationFailed: and other errors of class 400
        """
        return function.resolve(self._value)

    def validate(self) -> None:
        """Check the functions in it.

        :raises StackValidationFailed: and other errors of class 400
        """
        function.validate(self._value, self._place)

    @property
    def _place(self) -> str:
        return f"outputs.{self.name}.value"

    def required_resource_names(self) -> frozenset[str]:
        """Names of the resources that the value depends on.

        :raises InvalidTemplateReference: for a name that isn't there
        """
        if self._required is None:
            self._required = frozenset(
                function.dependencies(self._value, self._place)
            )
        return self._required

    def dep_attrs(
        self, resource_name: str, load_all: bool = False
    ) -> frozenset[function.Attr]:
        """Attributes of a resource that the value depends on."""
        return frozenset(function.dep_attrs(self._value, resource_name))

    def all_dep_attrs(self) -> Iterator[tuple[str, function.Attr]]:
        """(resource name, attribute) pairs that the value depends on."""
        return function.all_dep_attrs(self._value)

    def calls(self) -> Iterator[function.Function]:
        """The outermost functions in it."""
        return function.calls(self._value)

    def render_hot(self) -> dict[str, Any]:
        """The definition as a HOT template writes it."""
        made: dict[str, Any] = {"value": function.render(self._value)}
        if self._description is not None:
            made["description"] = self._description
        return made
