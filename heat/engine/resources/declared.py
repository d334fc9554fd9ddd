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
"""Types that templates may name and no plug-in here makes.

Their schemas are public, so that a template which uses one can be checked,
and be shown what the type has; to create one is refused, naming the service
that would be needed. A plug-in of the same name takes the place of such a
type.

The schemas lie in ``declared.txt``, three lines for a type::

    OS::Some::Type [deprecated; entity things of some]
    name string (required, len None..64); size integer (update, ={})
    attributes: one, two

The second line is in the notation of
:mod:`heat.engine.resource.notation`.

A type is parsed when its schema is asked for, not before.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any, Final

from heat.common import exception
from heat.common.i18n import _
from heat.engine import (
    attributes,
    constraints,
    properties,
    resource,
    support,
)
from heat.engine.resource import notation

_FILE: Final = pathlib.Path(__file__).with_suffix(".txt")
_NO_PROPERTIES: Final = "(no properties)"
_NO_ATTRIBUTES: Final = "(none)"
_ATTRIBUTES: Final = "attributes: "

_STATUSES: Final = {
    "hidden": support.HIDDEN,
    "deprecated": support.DEPRECATED,
    "unsupported": support.UNSUPPORTED,
}


class Declared(resource.Resource):
    """A type of which only the schema is known here."""

    checks_offline = True

    #: service that makes such objects
    service: str = ""

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, str | None]:
        return False, _("this installation has no plug-in for it")

    @classmethod
    def makes_snapshots(cls) -> bool:
        """Nobody knows here, so it is not refused."""
        return True

    def handle_create(self) -> Any:
        _available, reason = self.is_service_available(self.context)
        raise exception.ResourceTypeUnavailable(
            service_name=self.service,
            resource_type=self.type(),
            reason=reason,
        )


class _Unasked(constraints.CustomConstraint):
    """A named constraint of a service that isn't there: only shown."""

    def validate(
        self, value: Any, schema: Any = None, context: Any = None
    ) -> None:
        return None


class _Late:
    """A table of a class, made when it's first looked at.

    It puts the table in its own place, so that it is the same one always.
    """

    def __init__(self, name: str, text: str, read: Any) -> None:
        self._name = name
        self._text = text
        self._read = read

    def __get__(self, _instance: Any, owner: Any) -> Any:
        table = self._read(self._text)
        setattr(owner, self._name, table)
        return table


def fallback_resource_mapping() -> dict[str, type[resource.Resource]]:
    """The types, for names that no plug-in offers."""
    return dict(_classes())


def _classes() -> Iterator[tuple[str, type[resource.Resource]]]:
    with _FILE.open(encoding="utf-8") as lines:
        told = [line.rstrip("\n") for line in lines if line[:1] != "#"]
    for number in range(0, len(told), 3):
        head, props, attrs = told[number : number + 3]
        name, _space, notes = head.partition(" ")
        yield name, _class(name, notes.strip("[]"), props, attrs)


def _class(
    name: str, notes: str, props: str, attrs: str
) -> type[resource.Resource]:
    made: dict[str, Any] = {
        "__doc__": f"{name}, of which only the schema is known here.",
        "__module__": __name__,
        "service": name.split("::")[1].lower(),
        "properties_schema": _Late("properties_schema", props, read),
        "attributes_schema": _Late("attributes_schema", attrs, _attributes),
    }
    for note in filter(None, notes.split("; ")):
        word, _space, rest = note.partition(" ")
        if word in _STATUSES:
            made["support_status"] = support.SupportStatus(_STATUSES[word])
        elif word == "client":
            made["service"] = made["default_client_name"] = rest
        elif word == "entity":
            made["entity"], _of, made["service"] = rest.split(" ")
            made["default_client_name"] = made["service"]
        else:
            made["update_policy_schema"] = {
                policy: properties.Schema(properties.Schema.MAP)
                for policy in rest.split(", ")
            }
    return type(name.replace("::", ""), (Declared,), made)


def _attributes(text: str) -> dict[str, attributes.Schema]:
    names = text.removeprefix(_ATTRIBUTES)
    if names == _NO_ATTRIBUTES:
        return {}
    return {name: attributes.Schema() for name in names.split(", ")}


def read(text: str) -> dict[str, properties.Schema]:
    """The property schemas that a line of the notation says.

    :raises ValueError: for a text that isn't in the notation
    """
    if text == _NO_PROPERTIES:
        return {}
    return notation.properties(text, _Unasked)
