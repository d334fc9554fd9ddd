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
"""Parameters: their declarations, and the values users gave.

Reading a declaration out of a template is
:mod:`heat.engine.template.parameters`; this module must not know any
template language. Pure, but for custom constraints, which ask the clients
of the context that :meth:`Parameters.validate` gets.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from heat.common import exception, identifier, template_format, values
from heat.common.i18n import _
from heat.engine import constraints as constr

STRING: Final = "String"
NUMBER: Final = "Number"
COMMA_DELIMITED_LIST: Final = "CommaDelimitedList"
JSON: Final = "Json"
BOOLEAN: Final = "Boolean"
TYPES: Final = (STRING, NUMBER, COMMA_DELIMITED_LIST, JSON, BOOLEAN)

#: What is shown of a hidden value.
MASK: Final = "******"

PARAM_STACK_ID: Final = "OS::stack_id"
PARAM_STACK_NAME: Final = "OS::stack_name"
PARAM_REGION: Final = "OS::region"
PARAM_PROJECT_ID: Final = "OS::project_id"
PSEUDO: Final = (
    PARAM_STACK_ID,
    PARAM_STACK_NAME,
    PARAM_REGION,
    PARAM_PROJECT_ID,
)

# Values are within limits, so that they aren't circles.
_in_json = json.JSONEncoder(check_circular=False).encode

_TRUE = frozenset(("t", "true", "on", "y", "yes", "1"))
_FALSE = frozenset(("f", "false", "off", "n", "no", "0"))


def _to_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return str(value)
    raise ValueError(_("Value must be a string"))


def _to_number(value: Any) -> int | float:
    return constr.Schema.str_to_num(value)


def _to_list(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_item(item) for item in value]
    if isinstance(value, str):
        # Blanks belong to the items: "a, b" is "a" and " b".
        return value.split(",") if value else []
    raise ValueError(
        _("Value must be a comma-delimited list: text or a list of strings")
    )


def _item(item: Any) -> str:
    if isinstance(item, (dict, list)):
        return json.dumps(item)
    return "" if item is None else str(item)


def _to_json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as exc:
            raise ValueError(_("Value must be valid JSON: %s") % exc) from exc
        # What is no text has been looked at where it came in, as a whole.
        template_format.check_bounds(value, _("value"))
    if isinstance(value, (dict, list)):
        return value
    raise ValueError(_("Value must be valid JSON: a map or a list"))


def _to_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(
        _('Value must be a boolean such as "true" or "false", not "%s"')
        % (value,)
    )


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    STRING: _to_string,
    NUMBER: _to_number,
    COMMA_DELIMITED_LIST: _to_list,
    JSON: _to_json,
    BOOLEAN: _to_boolean,
}


class ParameterSchema(constr.Schema):
    """The declaration of a parameter.

    All requests with the same template may share it: once it is read it is
    not changed, nor is its default.

    :param name: of the parameter
    :param data_type: one of ``TYPES``, in the words of the API
    :param has_default: ``default`` counts, even when it's None
    :param hidden: the value is secret; it's shown as asterisks
    :param tags: words for tools, with no meaning here
    """

    TYPES = TYPES

    #: of a map: what must be below its keys, and which must be there
    fields: Mapping[str, ParameterSchema] = types.MappingProxyType({})
    required_fields: frozenset[str] = frozenset()
    #: of a list: what each of its items must be
    items_schema: ParameterSchema | None = None
    _found_right = False

    def __init__(
        self,
        name: str,
        data_type: str,
        *,
        default: Any = None,
        has_default: bool | None = None,
        description: str | None = None,
        label: str | None = None,
        hidden: bool = False,
        immutable: bool = False,
        constraints: Iterable[constr.Constraint] | None = None,
        tags: Iterable[str] = (),
    ) -> None:
        if has_default is None:
            has_default = default is not None
        super().__init__(
            data_type,
            description,
            default,
            None,
            not has_default,
            constraints,
            label,
            immutable,
        )
        self.name = name
        self.has_default = has_default
        self.hidden = hidden
        self.tags = tuple(tags)
        self._convert = _CONVERTERS[data_type]
        # Most are so, and in large templates there are thousands.
        self._any_text = data_type == STRING and not self.constraints

    def set_default(self, default: Any = None) -> None:
        self._found_right = False
        super().set_default(default)

    def validate(self, context: Any = None) -> None:
        # One object stands for all requests with the same declaration.
        if not self._found_right:
            super().validate(context)
            self._found_right = True

    def to_schema_type(self, value: Any) -> Any:
        """The typed value of what a user gave.

        :raises ValueError: when it can't be read as this type
        """
        return self._convert(value)

    def public(self, value: Any) -> str:
        """The text of a typed value, as users see it."""
        if self.hidden:
            return MASK
        return self.text(value)

    def text(self, value: Any) -> str:
        """The text of a typed value, hidden or not."""
        if value is None:
            return ""
        if self.type == JSON:
            return _in_json(value)
        if self.type == COMMA_DELIMITED_LIST:
            return ",".join(value)
        return str(value)

    def read(self, value: Any) -> Any:
        """The typed value of what a user gave.

        :raises StackValidationFailed: naming the parameter, without the
            value of a hidden one
        """
        try:
            return self._convert(value)
        except (ValueError, TypeError) as exc:
            raise self.invalid(exc) from None

    def invalid(self, reason: object) -> exception.StackValidationFailed:
        """The error for a wrong value."""
        text = str(reason)
        if self.hidden:
            text = _("The value is not a valid %s") % self.type
        return exception.StackValidationFailed(
            error=_("Parameter '%s' is invalid") % self.name, message=text
        )

    def check(self, value: Any, context: Any = None) -> Any:
        """The typed value of what a user gave, constraints checked.

        :param context: whose clients custom constraints ask; None leaves
            them out
        :raises StackValidationFailed: naming the parameter
        """
        if self._any_text and isinstance(value, str):
            return value
        typed = self.read(value)
        if self.fields or self.items_schema is not None:
            self._check_inside(typed, context)
        for constraint in self.constraints:
            if context is None and not constraint.pure:
                continue
            try:
                constraint.validate(typed, self, context)
            except (ValueError, TypeError) as exc:
                reason: object = exc
                if self.hidden:
                    reason = constraint.description
                if reason is None or not str(reason):
                    raise self.invalid(exc) from None
                raise exception.StackValidationFailed(
                    error=_("Parameter '%s' is invalid") % self.name,
                    message=reason,
                ) from None
        return typed

    def _check_inside(self, typed: Any, context: Any) -> None:
        """Check what is in a map or list by the declaration's ``schema``."""
        if self.items_schema is not None:
            for item in typed:
                self.items_schema.check(item, context)
        if isinstance(typed, Mapping):
            for key in sorted(self.required_fields - typed.keys()):
                raise exception.StackValidationFailed(
                    error=_("Parameter '%s' is invalid") % self.name,
                    message=_('The key "%s" is missing') % key,
                )
            for key, field in self.fields.items():
                if key in typed:
                    field.check(typed[key], context)


class Declarations(Protocol):
    """What declares parameters: a template."""

    def parameter_schemata(self) -> dict[str, ParameterSchema]: ...


class Parameters(Mapping[str, Any]):
    """Typed values by parameter name, the pseudo parameters among them.

    The value is the user's, else the environment's default, else the
    template's, else None. Looking up a wrong value raises
    StackValidationFailed; :meth:`validate` finds all that's wrong.

    :param stack_identity: for the pseudo parameters
    :param template: declares the parameters
    :param user_params: values given by the user
    :param param_defaults: values for parameters of these names, in this
        and nested templates
    :param region: what ``OS::region`` gives
    """

    def __init__(
        self,
        stack_identity: identifier.HeatIdentifier | None,
        template: Declarations,
        user_params: Mapping[str, Any] | None = None,
        param_defaults: Mapping[str, Any] | None = None,
        region: str | None = None,
    ) -> None:
        self.schemata = template.parameter_schemata()
        self.user_params = dict(user_params or {})
        # There may be far more defaults than parameters: those of a tree.
        defaults = param_defaults or {}
        self._defaults: dict[str, Any] = {
            name: defaults[name]
            for name in (self.schemata if defaults else ())
            if name in defaults
        }
        self._given = {**self._defaults, **self.user_params}
        self._typed: dict[str, Any] = {}
        self._own: dict[str, Any] = {}
        words = getattr(template, "pseudo_parameters", pseudo)
        self._pseudo: dict[str, str | None] = words(stack_identity, region)

    def __getitem__(self, name: str) -> Any:
        if name in self._pseudo:
            return self._pseudo[name]
        if name not in self._own:
            # Resources are made with it; what it was read of, a default or
            # a file, may be that of many stacks.
            self._own[name] = values.copied(self._value(name))
        return self._own[name]

    def _value(self, name: str) -> Any:
        """The typed value, which must not be changed."""
        if name not in self._typed:
            self._typed[name] = self._read(self.schemata[name])
        return self._typed[name]

    def _read(self, schema: ParameterSchema) -> Any:
        if schema.name in self._given:
            return schema.read(self._given[schema.name])
        if schema.has_default and schema.default is not None:
            return schema.read(schema.default)
        return None

    def __contains__(self, name: object) -> bool:
        return name in self._pseudo or name in self.schemata

    def __iter__(self) -> Iterator[str]:
        yield from self._pseudo
        yield from self.schemata

    def __len__(self) -> int:
        return len(self._pseudo) + len(self.schemata)

    def has_value(self, name: str) -> bool:
        """Whether anybody gave a value: user, environment, template."""
        return (
            name in self._pseudo
            or name in self._given
            or self.schemata[name].has_default
        )

    def given(self, name: str) -> Any:
        """The value that was given, as it came; None: there is none."""
        return self.user_params.get(name)

    def given_default(self, name: str) -> Any:
        """What stands in the environment in place of the template's default,
        as it came; None: nothing does."""
        return self._defaults.get(name)

    def public(self) -> dict[str, str]:
        """The values as texts, hidden ones masked: what a stack shows."""
        shown = {
            name: str(value)
            for name, value in self._pseudo.items()
            if value is not None
        }
        for name, schema in self.schemata.items():
            if schema.hidden:
                shown[name] = MASK
            else:
                shown[name] = schema.public(self._value(name))
        return shown

    def validate(self, context: Any = None, strict: bool = True) -> None:
        """Check names, presence, types and constraints.

        :param context: whose clients custom constraints ask; None leaves
            them out
        :param strict: values must be there
        :raises UnknownUserParameter: a value for no parameter
        :raises UserParameterMissing: no value for a parameter
        :raises StackValidationFailed: a wrong value or declaration
        """
        for name in self.user_params:
            if name not in self.schemata:
                raise exception.UnknownUserParameter(key=name)
        for name, schema in self.schemata.items():
            try:
                schema.validate()
            except exception.InvalidSchemaError as exc:
                raise exception.StackValidationFailed(
                    path=f"parameters.{name}", message=exc
                ) from exc
            if name in self._given:
                # Whoever asks for the value need not read it again.
                self._typed[name] = schema.check(self._given[name], context)
            elif strict and not schema.has_default:
                raise exception.UserParameterMissing(key=name)
            elif schema.default is not None:
                # While values are still to be given, what the services have
                # doesn't count: the user may choose another one.
                asked = context if strict else None
                self._typed[name] = schema.check(schema.default, asked)

    def immutable_changes(self, new: Parameters) -> list[str]:
        """Names of immutable parameters whose value another set changes.

        :param new: the set of an update; it says which are immutable
        """
        return [
            name
            for name, schema in new.schemata.items()
            if schema.immutable
            and name in self.schemata
            and self[name] != new[name]
        ]


def pseudo(
    identity: identifier.HeatIdentifier | None, region: str | None
) -> dict[str, str | None]:
    """The parameters that every HOT template has."""
    if identity is None:
        return dict.fromkeys(PSEUDO)
    return {
        PARAM_STACK_ID: identity.stack_id,
        PARAM_STACK_NAME: identity.stack_name,
        PARAM_REGION: region,
        PARAM_PROJECT_ID: identity.tenant,
    }
