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

"""Schemas: what the value of a property or parameter must look like.

The base under :mod:`heat.engine.constraints` (which offers these names to
plug-ins), :mod:`heat.engine.properties` and :mod:`heat.engine.parameters`.
Pure: values in, values or ValueError out.
"""

from __future__ import annotations

import collections.abc
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _


class Unmade(str):
    """Stands for the id of a resource that isn't made yet.

    It is the resource's name, so that a template can be checked; there is
    no such object anywhere, so no service is asked about it.
    """

    __slots__ = ()


class AnyIndexDict(collections.abc.Mapping[Any, Any]):
    """A mapping that gives one value for every index of a list.

    It lists a single key, ``ANYTHING``, which is how a list's element schema
    appears in a schema answer.
    """

    ANYTHING = "*"

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, key: Any) -> Any:
        if key != self.ANYTHING and not isinstance(key, int):
            raise KeyError(_("Invalid key %s") % (key,))
        return self.value

    def __iter__(self) -> Iterator[Any]:
        yield self.ANYTHING

    def __len__(self) -> int:
        return 1


class Schema(collections.abc.Mapping[str, Any]):
    """What a value must look like.

    As a mapping it is its public form: the keys of ``KEYS`` that are set,
    constraints as a list of dictionaries, the type in lower case left to
    the presenter.

    :param data_type: one of ``TYPES``
    :param description: text for users
    :param default: value used when none is given, None for no default
    :param schema: for a list the :class:`Schema` of its elements, for a map
        a mapping of key to :class:`Schema`
    :param required: a value must be given
    :param constraints: :class:`Constraint` objects, all of which must hold
    :param label: name shown to users instead of the key
    :param immutable: the value may not change after creation
    :raises heat.common.exception.InvalidSchemaError: for a declaration that
        contradicts itself
    """

    KEYS: ClassVar[tuple[str, ...]]
    KEYS = (
        TYPE,
        DESCRIPTION,
        DEFAULT,
        SCHEMA,
        REQUIRED,
        CONSTRAINTS,
        IMMUTABLE,
    ) = (
        "type",
        "description",
        "default",
        "schema",
        "required",
        "constraints",
        "immutable",
    )

    TYPE_KEYS = (
        INTEGER_TYPE,
        STRING_TYPE,
        NUMBER_TYPE,
        BOOLEAN_TYPE,
        MAP_TYPE,
        LIST_TYPE,
        ANY_TYPE,
    ) = ("INTEGER", "STRING", "NUMBER", "BOOLEAN", "MAP", "LIST", "ANY")

    schema: Mapping[Any, Any] | None = None
    _len: int | None = None

    TYPES: ClassVar[tuple[str, ...]]
    TYPES = (
        INTEGER,
        STRING,
        NUMBER,
        BOOLEAN,
        MAP,
        LIST,
        ANY,
    ) = ("Integer", "String", "Number", "Boolean", "Map", "List", "Any")

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Any = None,
        required: bool = False,
        constraints: Iterable[Constraint] | None = None,
        label: str | None = None,
        immutable: bool = False,
    ) -> None:
        self.label = label
        self.type = data_type
        self.description = description
        self.required = required
        self.immutable = immutable
        self.constraints: list[Constraint] = list(constraints or ())
        self.default = default
        if self.type not in self.TYPES:
            raise exception.InvalidSchemaError(
                message=_("Invalid type (%s)") % (self.type,)
            )
        if schema is None:
            return
        if canonical_type(data_type) == self.LIST:
            self.schema = (
                schema
                if isinstance(schema, AnyIndexDict)
                else AnyIndexDict(schema)
            )
        elif canonical_type(data_type) == self.MAP:
            self.schema = schema
        else:
            raise exception.InvalidSchemaError(
                message=_("Items schema not valid for %s") % (self.type,)
            )

    # -- the public form ----------------------------------------------------

    def __getitem__(self, key: str) -> Any:
        if key == self.TYPE:
            return self.type
        if key == self.DESCRIPTION and self.description is not None:
            return self.description
        if key == self.DEFAULT and self.default is not None:
            return self.default
        if key == self.SCHEMA and self.schema is not None:
            return {str(k): dict(v) for k, v in self.schema.items()}
        if key == self.REQUIRED:
            return self.required
        if key == self.CONSTRAINTS and self.constraints:
            return [dict(c) for c in self.constraints]
        if key == self.IMMUTABLE:
            return self.immutable
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        for key in self.KEYS:
            try:
                self[key]
            except KeyError:
                continue
            yield key

    def __len__(self) -> int:
        # Schemas do not change once they are built, but for the default.
        if self._len is None:
            self._len = sum(1 for _key in self)
        return self._len

    # -- checks of the declaration itself -----------------------------------

    def set_default(self, default: Any = None) -> None:
        """Replace the default value (None for no default)."""
        self._len = None
        self.default = default

    def validate(self, context: Any = None) -> None:
        """Check the declaration: constraint types, default, nested schemas.

        :raises heat.common.exception.InvalidSchemaError: naming what is
            wrong
        """
        for constraint in self.constraints:
            if canonical_type(self.type) not in constraint.valid_types:
                raise exception.InvalidSchemaError(
                    message=_("%(name)s constraint invalid for %(utype)s")
                    % {
                        "name": type(constraint).__name__,
                        "utype": self.type,
                    }
                )
        if self.schema is not None:
            for nested in self.schema.values():
                nested.validate(context)
        if self.default is not None:
            self._validate_default(context)

    def _validate_default(self, context: Any) -> None:
        try:
            value = self.to_schema_type(self.default)
            for constraint in self.constraints:
                if constraint.pure:
                    constraint.validate(value, self, context)
        except (ValueError, TypeError) as exc:
            raise exception.InvalidSchemaError(
                message=_("Invalid default %(default)s (%(exc)s)")
                % {"default": self.default, "exc": exc}
            ) from exc

    # -- values -------------------------------------------------------------

    @staticmethod
    def str_to_num(value: Any) -> int | float:
        """Read a number, an integer where that is possible.

        :raises ValueError: when it is no finite number
        """
        if isinstance(value, bool):
            raise ValueError(_("Value '%s' is not a number") % (value,))
        if isinstance(value, int | float):
            return value
        text = value.strip() if isinstance(value, str) else ""
        try:
            if "_" in text:
                raise ValueError(text)
            try:
                return int(text)
            except ValueError:
                number = float(text)
                if not math.isfinite(number):
                    raise ValueError(text) from None
                return number
        except ValueError as exc:
            raise ValueError(
                _("Value '%s' is not a number") % (value,)
            ) from exc

    def to_schema_type(self, value: Any) -> Any:
        """Convert ``value`` to this type; other values pass unchanged.

        :raises ValueError: when it can't be
        """
        kind = canonical_type(self.type)
        try:
            if kind == self.INTEGER:
                return to_integer(value)
            if kind == self.NUMBER:
                return self.str_to_num(value)
            if kind == self.STRING:
                return str(value)
            if kind == self.BOOLEAN:
                return to_boolean(value)
        except ValueError as exc:
            raise ValueError(
                _('Value "%(val)s" is invalid for data type "%(type)s"')
                % {"val": value, "type": self.type}
            ) from exc
        return value

    def validate_constraints(
        self,
        value: Any,
        context: Any = None,
        skipped: Collection[type[Constraint]] | None = None,
    ) -> None:
        """Check ``value`` against every constraint.

        :param skipped: constraint classes that are not asked
        :raises heat.common.exception.StackValidationFailed: with the first
            constraint's sentence
        """
        for constraint in self.constraints:
            if skipped and type(constraint) in skipped:
                continue
            try:
                constraint.validate(value, self, context)
            except ValueError as exc:
                raise exception.StackValidationFailed(
                    message=str(exc)
                ) from exc


_PARAMETER_TYPES = {"Json": Schema.MAP, "CommaDelimitedList": Schema.LIST}


def canonical_type(data_type: str) -> str:
    """The property type a type word stands for.

    Template parameters write maps and lists in words of their own.
    """
    return _PARAMETER_TYPES.get(data_type, data_type)


def to_integer(value: Any) -> int:
    """Read an integer; text and whole floats count.

    :raises ValueError: when it is none
    """
    try:
        number = Schema.str_to_num(value)
    except ValueError as exc:
        raise ValueError(_("Value '%s' is not an integer") % (value,)) from exc
    if isinstance(number, float):
        if not number.is_integer():
            raise ValueError(_("Value '%s' is not an integer") % (value,))
        return int(number)
    return number


def to_boolean(value: Any) -> bool:
    """Read a boolean; the words true and false count, in any case.

    :raises ValueError: when it is none
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("true", "false"):
            return word == "true"
    raise ValueError(_('"%s" is not a valid boolean') % (value,))


class Constraint(collections.abc.Mapping[str, Any]):
    """One rule about a value.

    As a mapping it is ``{kind: what it demands, description: text}``.

    :param description: sentence shown instead of the built-in message
    """

    DESCRIPTION = "description"

    #: the key of the public form, such as ``range``
    kind: ClassVar[str] = ""
    #: the property types the rule makes sense for
    valid_types: ClassVar[tuple[str, ...]] = ()
    #: False for a rule that asks something outside, such as a cloud
    pure: ClassVar[bool] = True

    def __init__(self, description: str | None = None) -> None:
        self.description = description

    def validate(
        self, value: Any, schema: Schema | None = None, context: Any = None
    ) -> None:
        """Check ``value``.

        :raises ValueError: with the description, or a sentence of our own
        """
        if not self._is_valid(value, schema, context):
            raise ValueError(self.description or self._err_msg(value))

    def _is_valid(
        self, value: Any, schema: Schema | None, context: Any
    ) -> bool:
        raise NotImplementedError

    def _err_msg(self, value: Any) -> str:
        raise NotImplementedError

    def _constraint(self) -> Any:
        raise NotImplementedError

    def __getitem__(self, key: str) -> Any:
        if key == self.kind:
            return self._constraint()
        if key == self.DESCRIPTION and self.description is not None:
            return self.description
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        yield self.kind
        if self.description is not None:
            yield self.DESCRIPTION

    def __len__(self) -> int:
        return 1 if self.description is None else 2

    def __str__(self) -> str:
        return self.description or f"{self.kind}: {self._constraint()}"
