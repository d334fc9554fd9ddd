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

"""Stacks: list, find, show, create, change, delete, and their outputs."""

from __future__ import annotations

from typing import Any
from urllib import parse

from heat.api import schemas, stack_request, views
from heat.api.request import Answer, Call
from heat.common import exception, identifier, urlfetch

_UPDATE_ACCEPTED = views.accepted(
    "Accepted", "The request is accepted for processing.", "202 Accepted"
)
_SELECT = (
    *("show_deleted", "show_nested", "show_hidden"),
    *("tags", "tags_any", "not_tags", "not_tags_any"),
)
_PAGE = ("limit", "marker", "sort_keys", "sort_dir")


def index(call: Call) -> Answer:
    """GET /stacks"""
    context, everywhere = call.context, call.query.get("global_tenant", False)
    if everywhere:
        call.require("stacks:global_index")
        context = call.everywhere()
    chosen = _chosen(call)
    rows = call.engine.list_stacks(context, **call.given(*_PAGE), **chosen)
    body: dict[str, Any] = {
        "stacks": [
            views.stack_brief(call.links, row, show_project=everywhere)
            for row in rows
        ]
    }
    if call.query.get("with_count"):
        body["count"] = call.engine.count_stacks(context, **chosen)
    if rows and len(rows) == call.query.get("limit"):
        body["links"] = [_next(call, body["stacks"][-1]["id"])]
    return Answer(body)


def _next(call: Call, marker: str) -> dict[str, str]:
    """A link to the page behind a full one, as deployed APIs give it."""
    query = [
        pair
        for pair in parse.parse_qsl(call.raw_query, keep_blank_values=True)
        if pair[0] != "marker"
    ]
    query.append(("marker", marker))
    return call.links.stacks(call.tenant, parse.urlencode(query), "next")


def detail(call: Call) -> Answer:
    """GET /stacks/detail"""
    rows = call.engine.list_stacks(
        call.context, **call.given(*_PAGE), **_chosen(call)
    )
    return Answer({"stacks": [views.stack(call.links, row) for row in rows]})


def _chosen(call: Call) -> dict[str, Any]:
    """What the list is restricted to; a count is restricted to the same."""
    filters = call.given(*schemas.STACK_FILTERS)
    return {**call.given(*_SELECT), "filters": filters or None}


def lookup(call: Call) -> Answer:
    """Any method on a stack named without its id: where the stack is."""
    if "arn" in call.path:
        known = identifier.HeatIdentifier.from_arn("arn:" + call.path["arn"])
        if known.tenant != call.tenant and not call.context.is_admin:
            raise exception.InvalidTenant(
                target=known.tenant, actual=call.tenant
            )
        location = call.links.stack(dict(known))
    else:
        identity = call.engine.identify_stack(
            call.context, call.path["stack_name"]
        )
        below = call.route.partition("{stack_name}")[2]
        location = call.links.stack(identity, "") + below
    if call.raw_query:
        location += f"?{call.raw_query}"
    body = views.accepted(
        "Found", f"The resource was found at {location}.", "302 Found"
    )
    return Answer(body, 302, {"Location": location})


def show(call: Call) -> Answer:
    """GET S"""
    rows = call.engine.show_stack(
        call.context, call.identity, **call.given("resolve_outputs")
    )
    if not rows:
        raise exception.EntityNotFound(
            entity="Stack", name=call.path["stack_name"]
        )
    return Answer({"stack": views.stack(call.links, rows[0])})


def create(call: Call) -> Answer:
    """POST /stacks"""
    identity = call.engine.create_stack(call.context, **_new(call))
    body = {"stack": views.stack_created(call.links, identity)}
    return Answer(body, 201, {"Location": call.links.stack(identity)})


def preview(call: Call) -> Answer:
    """POST /stacks/preview"""
    row = call.engine.preview_stack(call.context, **_new(call))
    return Answer({"stack": views.stack_preview(call.links, row)})


def update(call: Call) -> Answer:
    """PUT S"""
    call.engine.update_stack(call.context, call.identity, **_change(call))
    return Answer(_UPDATE_ACCEPTED, 202)


def update_patch(call: Call) -> Answer:
    """PATCH S"""
    call.engine.update_stack(
        call.context, call.identity, **_change(call, existing=True)
    )
    return Answer(_UPDATE_ACCEPTED, 202)


def preview_update(call: Call) -> Answer:
    """PUT S/preview"""
    return _preview_update(call, _change(call))


def preview_update_patch(call: Call) -> Answer:
    """PATCH S/preview"""
    return _preview_update(call, _change(call, existing=True))


def _preview_update(call: Call, change: dict[str, Any]) -> Answer:
    change["args"].update(call.given("show_nested"))
    row = call.engine.preview_update_stack(
        call.context, call.identity, **change
    )
    return Answer(views.update_preview(row))


def _new(call: Call) -> dict[str, Any]:
    """Arguments of a create."""
    asked = _read(call)
    return {
        "stack_name": call.body["stack_name"],
        "template": stack_request.need_template(asked),
        "args": {"disable_rollback": True, **asked.args},
        **_rest(asked),
    }


def _change(call: Call, existing: bool = False) -> dict[str, Any]:
    """Arguments of an update."""
    asked = _read(call)
    args = {**asked.args, "existing": True} if existing else asked.args
    template = asked.template
    if not args.get("existing"):
        template = stack_request.need_template(asked)
    return {"template": template, "args": args, **_rest(asked)}


def _rest(asked: stack_request.StackRequest) -> dict[str, Any]:
    return {
        "params": asked.params,
        "files": asked.files,
        "environment_files": asked.environment_files,
        "files_container": asked.files_container,
    }


def _read(call: Call) -> stack_request.StackRequest:
    limits = call.settings
    fetcher = urlfetch.Fetcher(limits.max_template, limits.fetch_timeout)
    return stack_request.read(call.body, fetcher.fetch, limits.max_template)


def delete(call: Call) -> Answer:
    """DELETE S"""
    call.engine.delete_stack(call.context, call.identity)
    return Answer(status=204)


def abandon(call: Call) -> Answer:
    """DELETE S/abandon"""
    return Answer(call.engine.abandon_stack(call.context, call.identity))


def export(call: Call) -> Answer:
    """GET S/export"""
    return Answer(call.engine.export_stack(call.context, call.identity))


def template(call: Call) -> Answer:
    """GET S/template"""
    return Answer(call.engine.get_template(call.context, call.identity))


def environment(call: Call) -> Answer:
    """GET S/environment"""
    shown = call.engine.get_environment(
        call.context,
        call.identity,
        **call.given("with_sources"),
    )
    return Answer(shown)


def files(call: Call) -> Answer:
    """GET S/files"""
    return Answer(call.engine.get_files(call.context, call.identity))


def list_outputs(call: Call) -> Answer:
    """GET S/outputs"""
    rows = call.engine.list_outputs(call.context, call.identity)
    return Answer({"outputs": rows})


def show_output(call: Call) -> Answer:
    """GET S/outputs/{output_key}"""
    row = call.engine.show_output(
        call.context, call.identity, call.path["output_key"]
    )
    return Answer({"output": row})
