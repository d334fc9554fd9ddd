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

"""Operations that follow from a declaration.

A type that names its client and the client's collection (``entity``) need
not write how its object is shown and deleted.
"""

from __future__ import annotations

from typing import Any


def delete(rsrc: Any) -> Any:
    """Delete the object; one that is gone already is no error.

    :returns: the physical id to poll for, None when there is nothing to do
    """
    if rsrc.resource_id is None or not rsrc.entity:
        return None
    if rsrc.default_client_name is None:
        return None
    try:
        collection = getattr(rsrc.client(), rsrc.entity)
        collection.delete(rsrc.resource_id)
    except Exception as exc:
        rsrc.client_plugin().ignore_not_found(exc)
        return None
    return rsrc.resource_id


def show(rsrc: Any) -> dict[str, Any] | None:
    """The live object as a dictionary, None for a type that has none."""
    if not rsrc.entity or not rsrc.default_client_name:
        return None
    if rsrc.resource_id is None:
        return None
    found = getattr(rsrc.client(), rsrc.entity).get(rsrc.resource_id)
    for name in ("to_dict", "dict"):
        method = getattr(found, name, None)
        if callable(method):
            return dict(method())
    return dict(found)
