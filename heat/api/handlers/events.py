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

"""Events of a stack and of its resources."""

from __future__ import annotations

from typing import Any

from heat.api import schemas, views
from heat.api.request import Answer, Call
from heat.common import exception

_PAGE = ("limit", "marker", "sort_keys", "sort_dir", "nested_depth")


def index(call: Call) -> Answer:
    """GET S/events and GET S/resources/{resource_name}/events"""
    filters = call.given(*schemas.EVENT_FILTERS)
    name = call.path.get("resource_name")
    if name is not None:
        filters["resource_name"] = name
    rows = _list(call, filters, **call.given(*_PAGE))
    if name is not None and not rows:
        # No events, or no such resource? The second is a 404.
        call.engine.describe_stack_resource(call.context, call.identity, name)
    return Answer(
        {"events": [views.event_brief(call.links, row) for row in rows]}
    )


def show(call: Call) -> Answer:
    """GET S/resources/{resource_name}/events/{event_id}"""
    wanted = call.path["event_id"]
    filters = {"resource_name": call.path["resource_name"], "uuid": wanted}
    for row in _list(call, filters):
        # An engine that knows no such filter answers with all of them.
        if views.event_id(row) == wanted:
            return Answer({"event": views.event(call.links, row)})
    raise exception.EntityNotFound(entity="Event", name=wanted)


def _list(
    call: Call, filters: dict[str, Any], **page: Any
) -> list[dict[str, Any]]:
    return call.engine.list_events(
        call.context, call.identity, filters=filters or None, **page
    )
