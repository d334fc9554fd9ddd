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

"""OS::Heat::Value: a value with a name, computed once."""

from __future__ import annotations

import json
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import (
    attributes,
    constraints,
    properties,
    resource,
    schema,
    support,
)


class Value(resource.Resource):
    """A resource which exposes its value property as an attribute.

    It gives a complex expression a name, or turns a value into another
    type.
    """

    support_status = support.SupportStatus(version="7.0.0")

    PROPERTIES = (VALUE, TYPE) = ("value", "type")
    ATTRIBUTES = (VALUE_ATTR,) = ("value",)
    TYPES = (TYPE_STRING, TYPE_NUMBER, TYPE_LIST, TYPE_JSON, TYPE_BOOLEAN) = (
        "string",
        "number",
        "comma_delimited_list",
        "json",
        "boolean",
    )

    properties_schema = {
        VALUE: properties.Schema(
            properties.Schema.ANY,
            _("What the attribute gives, functions resolved."),
            required=True,
            update_allowed=True,
        ),
        TYPE: properties.Schema(
            properties.Schema.STRING,
            _("What the value is converted to; left out, it stays as it is."),
            constraints=[constraints.AllowedValues(TYPES)],
            update_allowed=True,
        ),
    }
    attributes_schema = {
        VALUE_ATTR: attributes.Schema(
            _("The value, of the type named by the 'type' property.")
        )
    }

    def validate(self) -> None:
        super().validate()
        props = self.properties
        # None is a value that is not known before other resources exist.
        value = props.get_user_value(self.VALUE)
        try:
            self._typed(value, props[self.TYPE])
        except ValueError as exc:
            raise exception.StackValidationFailed(
                properties.Properties.ERROR,
                ["resources", self.name, "properties", self.VALUE],
                str(exc),
            ) from exc

    def handle_create(self) -> None:
        self._read(self.properties)
        self.resource_id_set(self.physical_resource_name())

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        """Only look: the attribute is read from the properties."""
        self._read(
            json_snippet.properties(self.properties_schema, self.context)
        )

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None

    def _resolve_attribute(self, name: str) -> Any:
        if name == self.VALUE_ATTR:
            return self._read(self.properties)
        return None

    def _read(self, props: Any) -> Any:
        return self._typed(props[self.VALUE], props[self.TYPE])

    @staticmethod
    def _typed(value: Any, wanted: str | None) -> Any:
        """The value in the type asked for.

        :raises ValueError: when it can't be read so
        """
        if wanted is None or value is None:
            return value
        return _READERS[wanted](value)


def _string(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value)


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [item.strip() for item in value.split(",")] if value else []
    if isinstance(value, list):
        return value
    raise ValueError(_('"%s" is not a list') % (value,))


def _json(value: Any) -> Any:
    if isinstance(value, dict | list):
        return value
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if not isinstance(found, dict | list):
        raise ValueError(_('"%s" is neither a map nor a list') % (value,))
    return found


_READERS = {
    Value.TYPE_STRING: _string,
    Value.TYPE_NUMBER: schema.Schema.str_to_num,
    Value.TYPE_LIST: _list,
    Value.TYPE_JSON: _json,
    Value.TYPE_BOOLEAN: schema.to_boolean,
}


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::Value": Value}
