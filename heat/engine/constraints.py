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

"""Constraints: rules that narrow what a value may be.

Properties and template parameters share them, and plug-ins build their own
declarations with them. All are pure but :class:`CustomConstraint`, which
asks a named rule that may call a cloud client found through the request
context.

A constraint raises :class:`ValueError` with a sentence for the user; the
place in the template is added by whoever holds the value.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Sequence
from typing import Any, ClassVar

from heat.common import exception, patterns
from heat.common.i18n import _
from heat.engine import clients
from heat.engine.schema import AnyIndexDict, Constraint, Schema, Unmade

__all__ = (
    "AllowedPattern",
    "AllowedValues",
    "AnyIndexDict",
    "BaseCustomConstraint",
    "Constraint",
    "CustomConstraint",
    "Length",
    "Modulo",
    "Range",
    "Schema",
    "register",
)


def _limit(value: Any, what: str) -> int | float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise exception.InvalidSchemaError(
            message=_("%s must be a number, or left out") % what
        )
    return value


def _bounds(low: Any, high: Any) -> dict[str, Any]:
    found = {"min": low, "max": high}
    return {k: v for k, v in found.items() if v is not None}


class Range(Constraint):
    """A number between ``min`` and ``max``, ends included."""

    MIN, MAX = "min", "max"
    kind = "range"
    valid_types: ClassVar[tuple[str, ...]] = (Schema.INTEGER, Schema.NUMBER)

    def __init__(
        self,
        min: Any = None,
        max: Any = None,
        description: str | None = None,
    ) -> None:
        super().__init__(description)
        self.min = _limit(min, "min")
        self.max = _limit(max, "max")
        if min is None and max is None:
            raise exception.InvalidSchemaError(
                message=_(
                    "A range constraint must have a min value and/or "
                    "a max value specified."
                )
            )

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        number = Schema.str_to_num(value)
        if self.min is not None and number < self.min:
            return False
        return self.max is None or number <= self.max

    def _err_msg(self, value: Any) -> str:
        return _("%(value)s is out of range (min: %(min)s, max: %(max)s)") % {
            "value": value,
            "min": self.min,
            "max": self.max,
        }

    def _constraint(self) -> Any:
        return _bounds(self.min, self.max)


class Length(Range):
    """A text, list or map of ``min`` to ``max`` items."""

    kind = "length"
    valid_types = (Schema.STRING, Schema.LIST, Schema.MAP)

    def __init__(
        self,
        min: Any = None,
        max: Any = None,
        description: str | None = None,
    ) -> None:
        if min is None and max is None:
            raise exception.InvalidSchemaError(
                message=_(
                    "A length constraint must have a min value and/or "
                    "a max value specified."
                )
            )
        super().__init__(min, max, description)
        for limit in (self.min, self.max):
            if isinstance(limit, float) and not limit.is_integer():
                raise exception.InvalidSchemaError(
                    message=_("min/max length must be integral")
                )

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        return super()._is_valid(len(value), schema, context)

    def _err_msg(self, value: Any) -> str:
        return _(
            "length (%(length)d) is out of range (min: %(min)s, max: %(max)s)"
        ) % {"length": len(value), "min": self.min, "max": self.max}


class Modulo(Constraint):
    """A number of the form ``offset + n * step``."""

    STEP, OFFSET = "step", "offset"
    kind = "modulo"
    valid_types = (Schema.INTEGER, Schema.NUMBER)

    def __init__(
        self,
        step: Any = None,
        offset: Any = None,
        description: str | None = None,
    ) -> None:
        super().__init__(description)
        self.step = _limit(step, "step")
        self.offset = _limit(offset, "offset")
        if self.step is None or self.offset is None:
            raise exception.InvalidSchemaError(
                message=_(
                    "A modulo constraint must have a step value and "
                    "an offset value specified."
                )
            )
        if self.step == 0:
            raise exception.InvalidSchemaError(message=_("step cannot be 0."))
        if abs(self.offset) >= abs(self.step):
            raise exception.InvalidSchemaError(
                message=_(
                    "offset must be smaller (by absolute value) than step."
                )
            )
        if self.step * self.offset < 0:
            raise exception.InvalidSchemaError(
                message=_(
                    "step and offset must be both positive or both negative."
                )
            )

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        if self.step is None or self.offset is None:
            return True
        return Schema.str_to_num(value) % self.step == self.offset

    def _err_msg(self, value: Any) -> str:
        return _(
            "%(value)s is not a multiple of %(step)s with an offset of "
            "%(offset)s"
        ) % {"value": value, "step": self.step, "offset": self.offset}

    def _constraint(self) -> Any:
        return {self.STEP: self.step, self.OFFSET: self.offset}


class AllowedValues(Constraint):
    """A value out of a list; of a list value, every element."""

    kind = "allowed_values"
    valid_types = (
        Schema.STRING,
        Schema.INTEGER,
        Schema.NUMBER,
        Schema.BOOLEAN,
        Schema.LIST,
    )

    def __init__(
        self, allowed: Sequence[Any], description: str | None = None
    ) -> None:
        super().__init__(description)
        if isinstance(allowed, str) or not isinstance(
            allowed, collections.abc.Sequence
        ):
            raise exception.InvalidSchemaError(
                message=_("AllowedValues must be a list")
            )
        self.allowed = tuple(allowed)

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        if isinstance(value, list | tuple):
            return all(self._one(item, None) for item in value)
        return self._one(value, schema)

    def _one(self, value: Any, schema: Schema | None) -> bool:
        if schema is None:
            return value in self.allowed
        # The list may be written in another type than the value has:
        # numbers in quotes, booleans in words.
        wanted = schema.to_schema_type(value)
        for allowed in self.allowed:
            try:
                if schema.to_schema_type(allowed) == wanted:
                    return True
            except ValueError:
                continue
        return False

    def _err_msg(self, value: Any) -> str:
        return _('"%(value)s" is not an allowed value %(allowed)s') % {
            "value": value,
            "allowed": "[" + ", ".join(str(a) for a in self.allowed) + "]",
        }

    def _constraint(self) -> Any:
        return list(self.allowed)


class AllowedPattern(Constraint):
    """A text that matches a regular expression from its first to its last
    character."""

    kind = "allowed_pattern"
    valid_types = (Schema.STRING,)

    def __init__(self, pattern: str, description: str | None = None) -> None:
        super().__init__(description)
        if not isinstance(pattern, str):
            raise exception.InvalidSchemaError(
                message=_("AllowedPattern must be a string")
            )
        self.pattern = pattern
        try:
            self._match = patterns.compile(pattern).fullmatch
        except patterns.error as exc:
            raise exception.InvalidSchemaError(
                message=_(
                    'AllowedPattern "%(pattern)s" is no regular '
                    "expression: %(exc)s"
                )
                % {"pattern": pattern, "exc": exc}
            ) from exc

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        return self._match(str(value)) is not None

    def _err_msg(self, value: Any) -> str:
        return _('"%(value)s" does not match pattern "%(pattern)s"') % {
            "value": value,
            "pattern": self.pattern,
        }

    def _constraint(self) -> Any:
        return self.pattern


class BaseCustomConstraint:
    """A named rule, which plug-ins sub-class and offer by
    ``constraint_mapping()``.

    Either override :meth:`validate_with_client`, or name a client plug-in
    and one of its methods, which is called with the value.
    """

    #: errors that mean "the value is not valid"; others propagate
    expected_exceptions: tuple[type[Exception], ...] = (
        exception.EntityNotFound,
    )
    resource_client_name: ClassVar[str | None] = None
    resource_getter_name: ClassVar[str | None] = None
    _error_message: str | None = None

    def error(self, value: Any) -> str:
        """The sentence for the user after :meth:`validate` said no."""
        if self._error_message is None:
            return _("Error validating value '%(value)s'") % {"value": value}
        return _("Error validating value '%(value)s': %(message)s") % {
            "value": value,
            "message": self._error_message,
        }

    def validate(self, value: Any, context: Any) -> bool:
        """Tell whether ``value`` is valid for this user."""
        try:
            self.validate_with_client(clients.of(context), value)
        except self.expected_exceptions as exc:
            self._error_message = str(exc)
            return False
        return True

    def validate_with_client(self, client: Any, resource_id: Any) -> Any:
        """Look ``resource_id`` up; return normally when it is valid.

        :param client: the clients of the asking user
        """
        name, getter = self.resource_client_name, self.resource_getter_name
        if not name or not getter:
            raise ValueError(_("No client is named to check the value with."))
        return getattr(client.client_plugin(name), getter)(resource_id)


_registered: dict[str, Any] = {}


def register(name: str, rule: Any) -> None:
    """Make a named rule known, for the whole process.

    Schemas are values of a class body, long before there is an engine, so
    the names they use can only be looked up in one place.

    :param rule: a :class:`BaseCustomConstraint` class
    """
    _registered[name] = rule


class CustomConstraint(Constraint):
    """A value that a named rule accepts.

    :param name: such as ``nova.flavor``
    :param environment: something with ``get_constraint(name)`` to find the
        rule with, instead of the registered ones
    """

    kind = "custom_constraint"
    pure = False
    valid_types = (
        Schema.STRING,
        Schema.INTEGER,
        Schema.NUMBER,
        Schema.BOOLEAN,
        Schema.LIST,
    )

    def __init__(
        self,
        name: str,
        description: str | None = None,
        environment: Any = None,
    ) -> None:
        super().__init__(description)
        self.name = name
        self._environment = environment

    @property
    def custom_constraint(self) -> Any:
        """The rule's class (a function in some plug-ins), or None."""
        if self._environment is not None:
            found = self._environment.get_constraint(self.name)
            if found is not None:
                return found
        return _registered.get(self.name)

    def validate(
        self, value: Any, schema: Schema | None = None, context: Any = None
    ) -> None:
        """Ask the rule; of a list value, for every element.

        :raises ValueError: when it says no, or is not known
        """
        rule = self.custom_constraint
        if rule is None:
            raise ValueError(
                self.description
                or _(
                    '"%(value)s" does not validate %(name)s '
                    "(constraint not found)"
                )
                % {"value": value, "name": self.name}
            )
        checker = rule() if isinstance(rule, type) else rule
        items = value if isinstance(value, list | tuple) else (value,)
        for item in items:
            if isinstance(item, Unmade):
                continue
            if not checker.validate(item, context):
                raise ValueError(
                    self.description or self._refusal(checker, item)
                )

    def _refusal(self, checker: Any, value: Any) -> str:
        explain = getattr(checker, "error", None)
        if explain is not None:
            return str(explain(value))
        return _('"%(value)s" does not validate %(name)s') % {
            "value": value,
            "name": self.name,
        }

    def _constraint(self) -> Any:
        return self.name
