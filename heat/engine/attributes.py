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

"""Attributes: what can be asked of a resource that exists.

A plug-in declares a table of :class:`Schema`; :class:`Attributes` is the
mapping of one resource, which asks the plug-in at most once for each value
that may be kept. Pure: values come from a resolver handed in.
"""

from __future__ import annotations

import collections.abc
import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from heat.common.i18n import _
from heat.engine import support

T = TypeVar("T")

#: the attribute that every resource type has
SHOW_ATTR = "show"


class Schema:
    """The schema of an attribute.

    :param description: text for users
    :param support_status: a :class:`heat.engine.support.SupportStatus`
    :param cache_mode: ``CACHE_LOCAL``: a value may be kept until the
        resource changes; ``CACHE_NONE``: it must be read each time
    :param type: one of ``TYPES``, or None when it varies
    """

    KEYS = (DESCRIPTION, TYPE) = ("description", "type")
    CACHE_MODES = (CACHE_LOCAL, CACHE_NONE) = ("cache_local", "cache_none")
    TYPES = (STRING, MAP, LIST, INTEGER, BOOLEAN) = (
        "String",
        "Map",
        "List",
        "Integer",
        "Boolean",
    )

    __slots__ = ("cache_mode", "description", "support_status", "type")

    def __init__(
        self,
        description: str | None = None,
        support_status: support.SupportStatus | None = None,
        cache_mode: str = CACHE_LOCAL,
        type: str | None = None,
    ) -> None:
        self.description = description
        self.support_status = support_status or support.SupportStatus()
        self.cache_mode = cache_mode
        self.type = type

    def __getitem__(self, key: str) -> Any:
        if key == self.DESCRIPTION and self.description is not None:
            return self.description
        if key == self.TYPE and self.type is not None:
            return self.type.lower()
        raise KeyError(key)

    def keys(self) -> Iterable[str]:
        """The keys that are set; with ``[]`` this makes ``dict(schema)``."""
        if self.description is not None:
            yield self.DESCRIPTION
        if self.type is not None:
            yield self.TYPE

    @classmethod
    def from_attribute(cls, schema_dict: Any) -> Schema:
        """Build a schema from a schema, or from a plain description."""
        if isinstance(schema_dict, cls):
            return schema_dict
        return cls(None if schema_dict is None else str(schema_dict))


def schemata(schema: Mapping[str, Any]) -> dict[str, Schema]:
    """Turn a table with plain descriptions into one of schemas."""
    return {
        name: Schema.from_attribute(entry) for name, entry in schema.items()
    }


class Attribute:
    """One attribute: its schema under a name."""

    __slots__ = ("name", "schema")

    def __init__(self, attr_name: str, schema: Any) -> None:
        self.name = attr_name
        self.schema = Schema.from_attribute(schema)

    def support_status(self) -> support.SupportStatus:
        return self.schema.support_status

    def as_output(
        self, resource_name: str, template_type: str = "cfn"
    ) -> dict[str, Any]:
        """The template output that gives this attribute.

        :param template_type: ``cfn`` or ``hot``
        """
        reference = [resource_name, self.name]
        if template_type == "hot":
            out: dict[str, Any] = {"value": {"get_attr": reference}}
            description = "description"
        else:
            out = {"Value": {"Fn::GetAtt": reference}}
            description = "Description"
        if self.schema.description is not None:
            out[description] = self.schema.description
        return out


class _Answer(NamedTuple):
    """What the plug-in says of an attribute, or what it raises."""

    value: Any
    error: Exception | None


class Attributes(collections.abc.Mapping[str, Any]):
    """The attributes of one resource.

    :param res_name: name of the resource, for messages
    :param schema: name -> :class:`Schema`
    :param resolver: gives the value of an attribute by its name
    """

    __slots__ = (
        "_cached",
        "_new",
        "_once",
        "_resolver",
        "_resource_name",
        "_schema",
    )

    def __init__(
        self,
        res_name: str,
        schema: Mapping[str, Any],
        resolver: Callable[[str], Any],
    ) -> None:
        self._resource_name = res_name
        self._resolver = resolver
        self._schema: Mapping[str, Any] = schema
        self._cached: dict[str, Any] = {}
        self._new = False
        self._once: dict[Hashable, _Answer] | None = None

    def __getitem__(self, key: str) -> Any:
        """The value, None when the plug-in gives none.

        :raises KeyError: when the schema has no such attribute
        """
        if key not in self._schema:
            raise KeyError(
                _("%(resource)s: Invalid attribute %(key)s")
                % {"resource": self._resource_name, "key": key}
            )
        if key in self._cached:
            return self._cached[key]
        value = self._resolve(key)
        # Nothing yet is not a value to keep.
        if value is not None and (
            self.get_cache_mode(key) == Schema.CACHE_LOCAL
        ):
            self.set_cached_attr(key, value)
        return value

    def _resolve(self, key: str) -> Any:
        return self.once(key, lambda: self._resolver(key))

    def once(self, what: Hashable, ask: Callable[[], T]) -> T:
        """What ``ask`` gives, or raises: asked once in such a block.

        For what several attributes are told of, such as the object itself.
        Outside of :meth:`each_once` it is asked each time.

        :param what: names it among what is asked; text is an attribute
        """
        if self._once is None:
            return ask()
        if what not in self._once:
            try:
                self._once[what] = _Answer(ask(), None)
            except Exception as error:
                self._once[what] = _Answer(None, error)
        answer = self._once[what]
        if answer.error is not None:
            raise answer.error
        value: T = answer.value
        return value

    @contextlib.contextmanager
    def each_once(self) -> Iterator[None]:
        """Ask for no attribute twice in this block, nor for its object.

        Many may want parts of the same one, and its service may be slow.
        """
        outer = self._once
        self._once = {} if outer is None else outer
        try:
            yield
        finally:
            self._once = outer

    def __len__(self) -> int:
        return len(self._schema)

    def __contains__(self, key: object) -> bool:
        return key in self._schema

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __repr__(self) -> str:
        return f"Attributes of {self._resource_name}: {list(self._schema)}"

    def get_cache_mode(self, attribute_name: str) -> str:
        """One of ``Schema.CACHE_MODES``."""
        entry = self._schema.get(attribute_name)
        if isinstance(entry, Schema):
            return entry.cache_mode
        return Schema.CACHE_LOCAL

    def set_schema(self, schema: Mapping[str, Any]) -> None:
        """Replace the schema, for types whose attributes vary."""
        self._schema = schema

    @property
    def cached_attrs(self) -> dict[str, Any]:
        """The values kept; assign to restore them, None for nothing."""
        return dict(self._cached)

    @cached_attrs.setter
    def cached_attrs(self, values: Mapping[str, Any] | None) -> None:
        self._cached = dict(values or {})
        self._new = False

    def set_cached_attr(self, key: str, value: Any) -> None:
        """Keep one value."""
        self._cached[key] = value
        self._new = True

    def has_new_cached_attrs(self) -> bool:
        """Tell whether a value was kept since they were restored."""
        return self._new

    def reset_resolved_values(self) -> None:
        """Forget what was kept: the resource changed."""
        self._cached = {}
        self._new = False

    @staticmethod
    def as_outputs(
        resource_name: str, resource_class: Any, template_type: str = "cfn"
    ) -> dict[str, Any]:
        """Template outputs for every attribute and the reference id.

        :param resource_class: a resource class, for its two schemas
        """
        tables = {
            **resource_class.attributes_schema,
            **resource_class.base_attributes_schema,
        }
        outputs = {
            name: Attribute(name, entry).as_output(
                resource_name, template_type
            )
            for name, entry in tables.items()
            if Schema.from_attribute(entry).support_status.status
            != support.HIDDEN
        }
        if template_type == "hot":
            outputs["OS::stack_id"] = {
                "value": {"get_resource": resource_name}
            }
        else:
            outputs["OS::stack_id"] = {"Value": {"Ref": resource_name}}
        return outputs

    @staticmethod
    def schema_from_outputs(
        json_snippet: Mapping[str, Any] | None,
    ) -> dict[str, Schema]:
        """The attribute schemas of a template that acts as a type.

        :param json_snippet: its outputs: name -> output or section
        """
        out = {}
        for name, output in (json_snippet or {}).items():
            if isinstance(output, Mapping):
                text = output.get("description") or output.get("Description")
            else:
                text = output.description()
            out[name] = Schema(text)
        return out


def select_from_attribute(attribute_value: Any, path: Iterable[Any]) -> Any:
    """Follow keys and indices into a value; None where there is nothing.

    An index into a text gives that character.
    """
    for key in path:
        if attribute_value is None:
            return None
        if isinstance(attribute_value, Mapping):
            attribute_value = attribute_value.get(key)
            continue
        try:
            attribute_value = attribute_value[int(key)]
        except (LookupError, TypeError, ValueError):
            return None
    return attribute_value
