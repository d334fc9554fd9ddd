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

"""Schemas of properties, and how a value is read by one.

The part of :mod:`heat.engine.properties` (which offers the public names)
that looks at one value at a time. Pure.
"""

from __future__ import annotations

import collections.abc
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints as constr
from heat.engine import parameter_forms, support
from heat.engine import schema as schemas
from heat.engine import translation as trans


class Schema(constr.Schema):
    """The schema of a property.

    Beyond :class:`heat.engine.constraints.Schema`:

    :param implemented: False for a property that is accepted by name only
    :param update_allowed: a change is made in place, by ``handle_update``
    :param support_status: a :class:`heat.engine.support.SupportStatus`
    :param allow_conversion: values of another shape are converted (a list
        from comma separated text, text from a list or map)
    """

    KEYS = (
        TYPE,
        DESCRIPTION,
        DEFAULT,
        SCHEMA,
        REQUIRED,
        CONSTRAINTS,
        UPDATE_ALLOWED,
        IMMUTABLE,
    ) = (
        "type",
        "description",
        "default",
        "schema",
        "required",
        "constraints",
        "update_allowed",
        "immutable",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Any = None,
        required: bool = False,
        constraints: Iterable[constr.Constraint] | None = None,
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: support.SupportStatus | None = None,
        allow_conversion: bool = False,
    ) -> None:
        super().__init__(
            data_type,
            description,
            default,
            schema,
            required,
            constraints,
            immutable=immutable,
        )
        self.implemented = implemented
        self.update_allowed = update_allowed
        self.support_status = support_status or support.SupportStatus()
        self.allow_conversion = allow_conversion

    @classmethod
    def from_legacy(cls, schema_dict: Mapping[str, Any]) -> Schema:
        """Build a schema from the dictionary form of old plug-ins.

        :raises heat.common.exception.InvalidSchemaError: for unknown keys
        """
        return cls(**parameter_forms.legacy_arguments(schema_dict, cls))

    @classmethod
    def from_parameter(cls, param: Any) -> Schema:
        """Build the schema of the property that feeds a parameter.

        Used for templates that act as resource types.

        :param param: a parameter schema (see
            :mod:`heat.engine.parameters`)
        """
        return cls(
            parameter_forms.property_type(param.type),
            description=param.description,
            required=param.required,
            constraints=param.constraints,
            update_allowed=True,
            immutable=False,
            allow_conversion=True,
            default=None,
        )

    def allowed_param_prop_type(self) -> str:
        """The parameter type whose values this property takes.

        The words are those of CFN templates.
        """
        return parameter_forms.PARAMETER_TYPES[self.type]

    def validate(self, context: Any = None) -> None:
        """Check the declaration.

        :raises heat.common.exception.InvalidSchemaError: naming what is
            wrong
        """
        super().validate(context)
        if self.update_allowed and self.immutable:
            raise exception.InvalidSchemaError(
                message=_(
                    "Options update_allowed and immutable can't both be set."
                )
            )

    def __getitem__(self, key: str) -> Any:
        if key == self.UPDATE_ALLOWED:
            return self.update_allowed
        return super().__getitem__(key)


def schemata(schema_dicts: Mapping[str, Any]) -> dict[str, Schema]:
    """Turn a table with old dictionary entries into one of schemas."""
    return {
        name: entry if isinstance(entry, Schema) else Schema.from_legacy(entry)
        for name, entry in schema_dicts.items()
    }


class BadValue(ValueError):
    """A value that does not fit.

    :ivar reason: the sentence
    :ivar path: keys and indices below the thing that was asked
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []

    def __str__(self) -> str:
        if len(self.path) < 2:
            return self.reason
        where = exception.HeatExceptionWithPath(path=self.path).path_text()
        return f"{where}: {self.reason}"


def _text(value: Any, schema: Schema) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    if schema.allow_conversion and isinstance(value, dict | list | tuple):
        if all(isinstance(item, str) for item in value) and not isinstance(
            value, dict
        ):
            return ",".join(value)
        return json.dumps(value)
    raise BadValue(_("Value must be a string"))


_SCALARS: dict[str, Callable[[Any, Schema], Any]] = {
    Schema.STRING: _text,
    Schema.INTEGER: lambda value, schema: schemas.to_integer(value),
    Schema.NUMBER: lambda value, schema: Schema.str_to_num(value),
    Schema.BOOLEAN: lambda value, schema: schemas.to_boolean(value),
    Schema.ANY: lambda value, schema: value,
}


class Walk:
    """Converts a resolved value, and what is inside it, by its schema.

    :param fill: put defaults (or None) for the keys a map leaves out
    """

    __slots__ = ("context", "fill", "translation", "validate")

    def __init__(
        self,
        translation: trans.Translation | None = None,
        validate: bool = False,
        context: Any = None,
        fill: bool = True,
    ) -> None:
        self.translation = translation
        self.validate = validate
        self.context = context
        self.fill = fill

    def convert(self, schema: Schema, value: Any, path: str) -> Any:
        """Convert a value that is there.

        :param path: dotted, for translation rules
        :raises BadValue: with the path below ``value``
        """
        try:
            scalar = _SCALARS.get(schema.type)
            if scalar is not None:
                value = scalar(value, schema)
            elif schema.type == Schema.MAP:
                value = self._map(schema, value, path)
            else:
                value = self._list(schema, value, path)
            if self.validate and schema.constraints:
                schema.validate_constraints(value, self.context)
        except BadValue:
            raise
        except (ValueError, exception.StackValidationFailed) as exc:
            raise BadValue(str(exc)) from exc
        return value

    def names(self, path: str) -> list[str]:
        """What the property at a path may be given as, in its map."""
        if self.translation is None:
            return [path.rpartition(".")[2]]
        return self.translation.names(path)

    def translated(
        self, path: str, value: Any, data: Mapping[str, Any]
    ) -> Any:
        """What the translation rules make of a value.

        :raises BadValue: while validating, for a name of nothing
        """
        rules = self.translation
        if rules is None or not rules.has_translation(path):
            return value
        try:
            return rules.translate(path, value, data, self.validate)
        except (
            exception.EntityNotFound,
            exception.PhysicalResourceNameAmbiguity,
        ) as exc:
            if not self.validate:
                raise
            raise BadValue(str(exc)) from exc

    def _list(self, schema: Schema, value: Any, path: str) -> list[Any]:
        if isinstance(value, str) and schema.allow_conversion:
            value = [v.strip() for v in value.split(",")] if value else []
        if isinstance(value, dict) and schema.allow_conversion:
            value = [value]
        if not isinstance(value, list | tuple):
            raise BadValue(_('"%s" is not a list') % (value,))
        if schema.schema is None:
            return list(value)
        element: Schema = schema.schema[0]
        out = []
        for index, item in enumerate(value):
            try:
                out.append(
                    None
                    if item is None
                    else self.convert(element, item, f"{path}.{index}")
                )
            except BadValue as bad:
                bad.path.insert(0, str(index))
                raise
        return out

    def _map(self, schema: Schema, value: Any, path: str) -> dict[str, Any]:
        if isinstance(value, str):
            try:
                value = json.loads(value) if value else None
            except ValueError:
                raise BadValue(_('"%s" is not a map') % value) from None
        if not isinstance(value, collections.abc.Mapping):
            raise BadValue(_('"%s" is not a map') % (value,))
        if schema.schema is None:
            return dict(value)
        if self.validate:
            self._known(schema.schema, value)
        out = {}
        for key, child in schema.schema.items():
            if key in value or self.fill or self.translation is not None:
                found = self._child(child, key, value, f"{path}.{key}")
                if self.fill or found is not None:
                    out[key] = found
        return out

    @staticmethod
    def _known(schema: Mapping[Any, Any], value: Mapping[str, Any]) -> None:
        for key in value:
            if key not in schema:
                raise BadValue(_("Unknown Property %s") % key)

    def _child(
        self, schema: Schema, key: str, data: Mapping[str, Any], path: str
    ) -> Any:
        value = data.get(key)
        try:
            value = self.translated(path, value, data)
            # In a template that is only validated a None may be a value
            # that is not known yet, so a given key counts as assigned.
            if value is None and schema.required and self.fill:
                given = any(name in data for name in self.names(path))
                if not (self.validate and given):
                    raise BadValue(_("Property %s not assigned") % key)
            return self.or_default(schema, value, path)
        except BadValue as bad:
            bad.path.insert(0, key)
            raise

    def or_default(self, schema: Schema, value: Any, path: str) -> Any:
        """Convert a value, or the default for None."""
        if value is None:
            if schema.default is None or not self.fill:
                return None
            # Defaults are good by declaration; asking custom constraints
            # about each would cost more than everything else here.
            plain = Walk(self.translation, False, self.context, self.fill)
            default = schema.default
            if schema.type == Schema.LIST and not default:
                # That of some published lists is an empty map.
                default = []
            return plain.convert(schema, default, path)
        return self.convert(schema, value, path)
