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

Dict = dict[str, Any]


# Stacks in stacks in the data; the option max_nested_stack_depth allows fewer.
_DEEPEST = 50


def read(data: Mapping[str, Any] | str) -> dict[str, wanted.Given]:
    """The objects that resources take over, by resource name.

    A resource without a ``resource_id`` is left out: its adoption fails
    with that reason. So are external ones: the template's ``external_id``
    says which object is looked at. One that has ``resources`` is a stack,
    which is made anew and takes over what its own resources name.

    :raises ValueError: the data are not what an abandon gives
    """
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except ValueError as error:
            raise ValueError(
                _("adopt_stack_data is no JSON: %s") % error
            ) from error
    found = _resources(_map(data, "adopt_stack_data"), "adopt_stack_data", 0)
    return {name: _given(each) for name, each in found.items()}


def _given(each: Mapping[str, Any]) -> wanted.Given:
    return wanted.Given(
        each.get("resource_id"),
        each["metadata"],
        each["resource_data"],
        each.get("resources"),
    )


def _resources(data: Mapping[str, Any], place: str, depth: int) -> Dict:
    """What is said of resources, those of stacks in it as well."""
    if depth > _DEEPEST:
        raise ValueError(_("%s: stacks are nested too deeply") % place[:255])
    place = f"{place}.resources"
    found = {}
    for name, each in _map(data.get("resources"), place).items():
        here = f"{place}.{name}"
        kept = _resource(_map(each, here), here, depth)
        if kept is not None:
            found[str(name)] = kept
    return found


def _resource(each: Mapping[str, Any], place: str, depth: int) -> Dict | None:
    ident, is_stack = (
        each.get("resource_id"),
        each.get("resources") is not None,
    )
    if each.get("external") or (ident in (None, "") and not is_stack):
        return None
    if ident is not None and not isinstance(ident, str):
        raise ValueError(_("%s.resource_id must be a string") % place)
    data = _map(each.get("resource_data"), f"{place}.resource_data")
    kept = {
        "metadata": _map(each.get("metadata"), f"{place}.metadata"),
        "resource_data": {
            str(key): value if isinstance(value, str) else json.dumps(value)
            for key, value in data.items()
            if key not in hooks.HOOK_TYPES
        },
    }
    if is_stack:
        return {**kept, "resources": _resources(each, place, depth + 1)}
    return {**kept, "resource_id": ident}


def _map(value: Any, place: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(_("%s must be a map") % place)
    return value
