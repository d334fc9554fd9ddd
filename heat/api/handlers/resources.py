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

"""Resources of a stack, their metadata, signals and health."""

from __future__ import annotations

from heat.api import schemas, validation, views
from heat.api.request import Answer, Call


def index(call: Call) -> Answer:
    """GET S/resources"""
    rows = call.engine.list_stack_resources(
        call.context,
        call.identity,
        **call.given("nested_depth", "with_detail"),
        filters=call.given(*schemas.RESOURCE_FILTERS) or None,
    )
    view = (
        views.resource_detailed
        if call.query.get("with_detail")
        else views.resource_brief
    )
    return Answer({"resources": [view(call.links, row) for row in rows]})


def show(call: Call) -> Answer:
    """GET S/resources/{resource_name}"""
    row = call.engine.describe_stack_resource(
        call.context,
        call.identity,
        call.path["resource_name"],
        with_attr=call.query.get("with_attr"),
    )
    return Answer({"resource": views.resource(call.links, row)})


def metadata(call: Call) -> Answer:
    """GET S/resources/{resource_name}/metadata"""
    row = call.engine.describe_stack_resource(
        call.context, call.identity, call.path["resource_name"]
    )
    return Answer({"metadata": row.get("metadata") or {}})


def signal(call: Call) -> Answer:
    """POST S/resources/{resource_name}/signal"""
    call.engine.resource_signal(
        call.context,
        call.identity,
        call.path["resource_name"],
        details=call.body,
    )
    return Answer(None)


def mark_unhealthy(call: Call) -> Answer:
    """PATCH S/resources/{resource_name}"""
    call.engine.resource_mark_unhealthy(
        call.context,
        call.identity,
        call.path["resource_name"],
        validation.is_true(call.body["mark_unhealthy"]),
        resource_status_reason=call.body.get("resource_status_reason"),
    )
    return Answer(None)
