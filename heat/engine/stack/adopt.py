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
"""Reads the data of a stack to adopt, as an abandon or export gave them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.common.i18n import _
from heat.engine.resource import hooks
from heat.engine.traversal import wanted


def read(data: Mapping[str, Any] | str) -> dict[str, wanted.Given]:
    """The objects that resources take over, by resource name.

    A resource without a ``resource_id`` is left out: its adoption fails
    with that reason. So are external ones: the template's ``external_id``
    says which object is looked at.

    :raises ValueError: the data are not what an abandon gives
    """
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except ValueError as error:
            raise ValueError(
                _("adopt_stack_data is no JSON: %s") % error
            ) from error
    found = _map(data, "adopt_stack_data").get("resources")
    given = {}
    for name, each in _map(found, "adopt_stack_data.resources").items():
        place = f"adopt_stack_data.resources.{name}"
        made = _given(_map(each, place), place)
        if made is not None:
            given[str(name)] = made
    return given


def _given(each: Mapping[str, Any], place: str) -> wanted.Given | None:
    ident = each.get("resource_id")
    if each.get("external") or ident is None or ident == "":
        return None
    if not isinstance(ident, str):
        raise ValueError(_("%s.resource_id must be a string") % place)
    data = _map(each.get("resource_data"), f"{place}.resource_data")
    return wanted.Given(
        ident,
        _map(each.get("metadata"), f"{place}.metadata"),
        {
            str(key): value if isinstance(value, str) else json.dumps(value)
            for key, value in data.items()
            if key not in hooks.HOOK_TYPES
        },
    )


def _map(value: Any, place: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(_("%s must be a map") % place)
    return value
