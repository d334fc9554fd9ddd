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

"""How a live object differs from what its resource says.

A value that nobody said anything of is the service's business, and so is
what it adds to what was said (the address of a port that a subnet was asked
for). What is compared is what ``get_live_state`` tells: values that can be
updated, and be read.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_utils import strutils

from heat.common import exception
from heat.common.i18n import _
from heat.engine import hidden
from heat.engine.properties import Schema
from heat.engine.resource import base
from heat.engine.schema import AnyIndexDict

LOG = logging.getLogger(__name__)

#: Longer values are cut in messages.
_LONGEST = 120


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One property whose live value is another one.

    :ivar expected: what was said of it, resolved
    :ivar found: the live value
    """

    name: str
    expected: Any
    found: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What a look at a live object gave.

    :ivar unfit: why nothing can be repaired in place; "": it can be
    :ivar values: live values of the properties that differ
    """

    unfit: str = ""
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def look(rsrc: base.Resource) -> Seen:
    """Look how the object of a resource is, before it is updated.

    Asks the service; changes nothing. Errors of the service pass, but that
    the object is gone or in a bad state.
    """
    try:
        live = rsrc.get_live_state(rsrc.properties) or {}
    except exception.EntityNotFound:
        return Seen(_("the object is gone"))
    except exception.ResourceInError as exc:
        return Seen(_("the object is unfit: %s") % exc)
    found = differences(rsrc.properties, live)
    return Seen(values={each.name: each.found for each in found})


def told(rsrc: base.Resource) -> str:
    """A sentence for events on what differs; "" for nothing.

    Or on that the plug-in has no way to look at the object. To compare is an
    extra of a check that has found the object well: what goes wrong with it
    is only logged.
    """
    try:
        live = rsrc.get_live_state(rsrc.properties) or {}
        found = differences(rsrc.properties, live)
    except Exception as exc:
        LOG.warning(
            "The properties of %s (%s) can't be compared: %s",
            rsrc.name,
            rsrc.type(),
            exc,
        )
        return ""
    if not found:
        if getattr(rsrc, "handle_check", None) is not None:
            return ""
        return _("CHECK not supported for %s") % rsrc.type()
    secret = hidden.secrets(rsrc.stack.definition)
    return _("differs from the template: %s") % "; ".join(
        _(
            "resources.%(resource)s.properties.%(name)s: expected "
            "%(expected)s, found %(found)s"
        )
        % {
            "resource": rsrc.name,
            "name": each.name,
            "expected": _shown(hidden.mask(each.expected, secret)),
            "found": _shown(hidden.mask(each.found, secret)),
        }
        for each in found
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def differences(properties: Any, live: Mapping[str, Any]) -> list[Difference]:
    """The properties that differ.

    :param properties: typed values of what the object was made with
    :param live: what the object's ``get_live_state`` tells
    """
    given = properties.given()
    found = []
    for name in properties:
        if name not in live:
            continue
        wanted = properties[name]
        # An empty default stands for "whatever the service does".
        said = name in given or wanted not in (None, "", [], {})
        if said and not same(properties.schema[name], wanted, live[name]):
            found.append(Difference(name, wanted, live[name]))
    return found


def same(schema: Any, wanted: Any, found: Any) -> bool:
    """Whether a live value is what was wanted, as far as that was said.

    Services spell numbers and truth as texts and order lists as they like.

    :param schema: of the value; None: nobody knows its type
    """
    if wanted is None:
        return True
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and _same_map(schema, wanted, found)
    if isinstance(wanted, list | tuple):
        return isinstance(found, list | tuple) and _same_list(
            schema, wanted, found
        )
    if isinstance(wanted, bool) or (
        schema is not None and schema.type == Schema.BOOLEAN
    ):
        return _truth(wanted) == _truth(found)
    if wanted == "" and found is None:
        return True
    if isinstance(wanted, int | float):
        return str(wanted) == str(found) or _number(found) == wanted
    return str(wanted) == str(found)


def _truth(value: Any) -> bool:
    return strutils.bool_from_string(value)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _same_map(
    schema: Any, wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> bool:
    """With a schema, what was said is there; without one, nothing else."""
    inner = getattr(schema, "schema", None)
    if inner is None or isinstance(inner, AnyIndexDict):
        return wanted.keys() == found.keys() and all(
            same(None, value, found[key]) for key, value in wanted.items()
        )
    return all(
        same(inner[key] if key in inner else None, value, found.get(key))
        for key, value in wanted.items()
    )


def _same_list(
    schema: Any, wanted: Sequence[Any], found: Sequence[Any]
) -> bool:
    inner = getattr(schema, "schema", None)
    member = None if inner is None else inner[0]
    left = list(found)
    for each in wanted:
        match = next((one for one in left if same(member, each, one)), None)
        if match is None:
            return False
        left.remove(match)
    return not left
