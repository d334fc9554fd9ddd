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

"""Properties: what a template says about a resource, typed and checked.

A plug-in declares a table of :class:`Schema`; :class:`Properties` lays it
over the data of one resource and gives typed, default-filled, resolved and
translated values. Pure: functions are resolved by a callable handed in,
clouds are asked only through custom constraints and translation rules.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine import parameter_forms, support
from heat.engine import translation as trans
from heat.engine.property_schema import BadValue, Schema, Walk, schemata

__all__ = ("Properties", "Property", "Schema", "schemata")


class Property:
    """One property: its schema under a name, to convert values with.

    :param path: dotted path of what holds the property
    """

    __slots__ = ("context", "name", "path", "schema")

    def __init__(
        self,
        schema: Any,
        name: str | None = None,
        context: Any = None,
        path: str | None = None,
    ) -> None:
        self.schema: Schema = (
            schema
            if isinstance(schema, Schema)
            else Schema.from_legacy(schema)
        )
        self.name = name
        self.context = context
        self.path = self.make_path(name or "", path)

    def required(self) -> bool:
        return self.schema.required

    def implemented(self) -> bool:
        return self.schema.implemented

    def update_allowed(self) -> bool:
        return self.schema.update_allowed

    def immutable(self) -> bool:
        return self.schema.immutable

    def has_default(self) -> bool:
        return self.schema.default is not None

    def default(self) -> Any:
        return self.schema.default

    def type(self) -> str:
        return self.schema.type

    def support_status(self) -> support.SupportStatus:
        return self.schema.support_status

    @staticmethod
    def make_path(name: str, path: str | None = None) -> str:
        """The dotted path of ``name`` below ``path``."""
        return f"{path}.{name}" if path else name

    def get_value(
        self,
        value: Any,
        validate: bool = False,
        translation: trans.Translation | None = None,
    ) -> Any:
        """Convert ``value`` to the property's type.

        :param validate: check the constraints too
        :raises ValueError: when it does not fit
        """
        walk = Walk(translation, validate, self.context)
        return walk.or_default(self.schema, value, self.path)


class Properties(collections.abc.Mapping[str, Any]):
    """The properties of one resource: a mapping over the whole schema.

    :param schema: name -> :class:`Schema`
    :param data: name -> value as the template has it (functions unresolved)
    :param resolver: gives the value of such a snippet
    :param parent_name: name of the resource, for error paths
    :param context: the request context, for custom constraints
    :param section: key of the resource that holds ``data``
    :param translation: rules that are applied to values
    :param rsrc_description: the resource's description, unused here
    """

    ERROR: ClassVar[str] = "Property error"

    def __init__(
        self,
        schema: Mapping[str, Any],
        data: Mapping[str, Any] | None,
        resolver: Callable[[Any], Any] | None = None,
        parent_name: str | None = None,
        context: Any = None,
        section: str | None = None,
        translation: trans.Translation | None = None,
        rsrc_description: str | None = None,
    ) -> None:
        if any(not isinstance(s, Schema) for s in schema.values()):
            schema = schemata(schema)
        self.schema: Mapping[str, Schema] = schema
        self.data: Mapping[str, Any] = {} if data is None else data
        self.context = context
        self.parent_name = parent_name
        self.section = section
        self.rsrc_description = rsrc_description or None
        self.translation = translation
        self.resolve = resolver or (lambda snippet: snippet)

    # -- the mapping ---------------------------------------------------------

    def __getitem__(self, key: str) -> Any:
        """The typed value; None when there is neither value nor default.

        :raises KeyError: when the schema has no such property
        :raises ValueError: when the value does not fit, or a required one
            is missing
        """
        return self._get(key, Walk(self.translation, False, self.context))

    def __len__(self) -> int:
        return len(self.schema)

    def __contains__(self, key: object) -> bool:
        return key in self.schema

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema)

    @property
    def props(self) -> dict[str, Property]:
        """Each property's :class:`Property`."""
        return {
            key: Property(schema, key, self.context)
            for key, schema in self.schema.items()
        }

    def get_user_value(self, key: str) -> Any:
        """The typed value the user gave, or None: no default, no rules.

        :raises KeyError: when the schema has no such property
        """
        return self._get(key, Walk(context=self.context), user=True)

    def given(self) -> dict[str, Any]:
        """What is set by the user or by a translation rule, typed.

        Defaults are not filled in, at any depth: a later release with
        another default must not look like a change by the user.
        """
        walk = Walk(self.translation, False, self.context, fill=False)
        moved = self.translation
        out = {}
        for key in self.schema:
            if self.data.get(key) is None and not (
                moved is not None and moved.has_translation(key)
            ):
                continue
            value = self._get(key, walk)
            if value is not None:
                out[key] = value
        return out

    def _get(self, key: str, walk: Walk, user: bool = False) -> Any:
        schema = self.schema.get(key)
        if schema is None:
            raise KeyError(_("Invalid Property %s") % key)
        try:
            value = self.data.get(key)
            if value is not None:
                value = self.resolve(value)
            value = walk.translated(key, value, self.data)
            if value is None:
                if user:
                    return None
                self._missing(key, schema, walk)
            return walk.or_default(schema, value, key)
        except BadValue as bad:
            bad.path.insert(0, key)
            raise

    def _missing(self, key: str, schema: Schema, walk: Walk) -> None:
        if not (schema.required and walk.fill) or self._is_null(key, schema):
            return
        # While a template is validated a None may be a value that is not
        # known yet, so a key that is given counts as assigned.
        names = walk.names(key)
        if walk.validate and any(self.data.get(n) is not None for n in names):
            return
        raise BadValue(_("Property %s not assigned") % key)

    def _is_null(self, key: str, schema: Schema) -> bool:
        """Whether null is what was given; of any type, it is a value too."""
        return key in self.data and schema.type == schema.ANY

    # -- validation ----------------------------------------------------------

    def validate(self, with_value: bool = True) -> None:
        """Check names, required properties, types and constraints.

        :param with_value: False: names and required ones only
        :raises heat.common.exception.StackValidationFailed: with the path
            of the first thing that is wrong
        """
        for key in self.data:
            if key not in self.schema:
                raise self._failure([], _("Unknown Property %s") % key)
        for key, schema in self.schema.items():
            if self.data.get(key) is not None and not schema.implemented:
                raise self._failure(
                    [key], _("Property %s not implemented yet") % key
                )
            try:
                if with_value:
                    walk = Walk(self.translation, True, self.context)
                    self._get(key, walk)
                elif schema.required and self.data.get(key) is None:
                    self._required_by_name(key, schema)
            except BadValue as bad:
                raise self._failure(bad.path, bad.reason) from bad
            except ValueError as exc:
                raise self._failure([key], str(exc)) from exc

    def _required_by_name(self, key: str, schema: Schema) -> None:
        if self._is_null(key, schema):
            return
        moved = self.translation
        if moved is None or not moved.has_translation(key):
            raise BadValue(_("Property %s not assigned") % key)

    def _failure(
        self, path: list[str], message: str
    ) -> exception.StackValidationFailed:
        prefix: list[str] = []
        if self.parent_name:
            prefix += ["resources", self.parent_name]
        if self.section:
            prefix.append(self.section)
        return exception.StackValidationFailed(
            error=self.ERROR, path=prefix + path, message=message
        )

    # -- translation and other forms -----------------------------------------

    def update_translation(
        self,
        rules: Iterable[trans.TranslationRule] | None,
        client_resolve: bool = True,
        ignore_resolve_error: bool = False,
    ) -> None:
        """Apply rules to every value read from now on.

        :param client_resolve: False: do not ask any cloud
        :param ignore_resolve_error: keep a value that can't be looked up
        """
        if not rules:
            self.translation = None
            return
        translation = trans.Translation(self)
        translation.set_rules(rules, client_resolve, ignore_resolve_error)
        self.translation = translation

    @staticmethod
    def schema_from_params(
        params_snippet: Mapping[str, Any],
    ) -> dict[str, Schema]:
        """The property schemas of a template that acts as a type.

        :param params_snippet: name -> parameter schema
        """
        return {
            name: Schema.from_parameter(param)
            for name, param in params_snippet.items()
        }

    @staticmethod
    def schema_to_parameters_and_properties(
        schema: Mapping[str, Any], template_type: str = "cfn"
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A template's parameters, and properties that refer to them.

        :param template_type: ``cfn`` or ``hot``
        """
        return parameter_forms.generate(schemata(schema), template_type)
