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

"""Resource types as RPC answers: the list, and the schema of one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from heat.common.i18n import _
from heat.engine import attributes, properties, support
from heat.engine.plugins import PluginRegistry
from heat.rpc import api


def listing(
    plugins: PluginRegistry,
    *,
    support_status: str | None,
    type_name: str | None,
    version: str | None,
    with_description: bool,
) -> list[Any]:
    """Types by name; with descriptions they are dictionaries.

    Hidden ones are shown only to those who ask for them.

    :raises ValueError: ``type_name`` is no regular expression
    """
    pattern = _pattern(type_name)
    found: list[Any] = []
    for name in sorted(plugins.types()):
        cls = plugins.get(name)
        status = cls.support_status
        if support_status is None:
            if status.status == support.HIDDEN:
                continue
        elif status.status != support_status.upper():
            continue
        if version is not None and status.version != version:
            continue
        if pattern is not None and not pattern.match(name):
            continue
        if with_description:
            found.append(
                {
                    api.RES_SCHEMA_RES_TYPE: name,
                    api.RES_SCHEMA_DESCRIPTION: description(cls),
                }
            )
        else:
            found.append(name)
    return found


def schema(
    plugins: PluginRegistry, type_name: str, with_description: bool
) -> dict[str, Any]:
    """The schema of a type.

    :raises EntityNotFound: there is no such type
    """
    cls = plugins.get(type_name)
    declared = properties.schemata(cls.properties_schema)
    offered = attributes.schemata(
        {**cls.base_attributes_schema, **cls.attributes_schema}
    )
    shown: dict[str, Any] = {
        api.RES_SCHEMA_RES_TYPE: type_name,
        api.RES_SCHEMA_PROPERTIES: {
            name: _plain(each)
            for name, each in declared.items()
            if each.implemented
            and each.support_status.status != support.HIDDEN
        },
        api.RES_SCHEMA_ATTRIBUTES: {
            name: dict(each)
            for name, each in offered.items()
            if each.support_status.status != support.HIDDEN
        },
        api.RES_SCHEMA_SUPPORT_STATUS: cls.support_status.to_dict(),
    }
    if with_description:
        shown[api.RES_SCHEMA_DESCRIPTION] = description(cls)
    return shown


def description(cls: type) -> str:
    """The first paragraph of a type's documentation, on one line."""
    text = inspect.getdoc(cls) or "No description given"
    return " ".join(text.split("\n\n", 1)[0].split())


def _pattern(type_name: str | None) -> re.Pattern[str] | None:
    if type_name is None:
        return None
    try:
        return re.compile(type_name)
    except re.error as error:
        raise ValueError(
            _("'%(name)s' is no regular expression: %(error)s")
            % {"name": type_name, "error": error}
        ) from None


def _plain(value: Any) -> Any:
    """Schemas and constraints as plain dictionaries and lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return value
