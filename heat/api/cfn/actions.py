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

"""THE table of the CloudFormation API: action -> rule and handler."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from heat.api import stack_request, validation
from heat.api.cfn import faults, views
from heat.api.cfn.request import Query
from heat.common import urlfetch

Dict = dict[str, Any]
Handler = Callable[[Query], Any]


def list_stacks(query: Query) -> Dict:
    """Stacks of the project, in brief; some states of them only."""
    wanted = {each.get("") for each in query.members("StackStatusFilter")} - {
        None
    }
    deleted = any(str(each).startswith("DELETE") for each in wanted)
    shown = [
        views.stack_brief(row)
        for row in query.engine.list_stacks(
            query.context, show_deleted=deleted
        )
    ]
    return {
        "StackSummaries": [
            each
            for each in shown
            if not wanted or each["StackStatus"] in wanted
        ]
    }


def describe_stacks(query: Query) -> Dict:
    """One stack in full, or all of the project."""
    identity = query.identity() if query.given.get("StackName") else None
    rows = query.engine.show_stack(query.context, identity)
    return {"Stacks": [views.stack(row) for row in rows]}


def describe_stack_resource(query: Query) -> Dict:
    """A resource with its metadata: what agents in servers ask for."""
    row = query.engine.describe_stack_resource(
        query.context, query.identity(), query.need("LogicalResourceId")
    )
    return {"StackResourceDetail": views.resource_detail(row)}


def describe_stack_resources(query: Query) -> Dict:
    """Resources of a stack, which may be named by one of its objects."""
    physical = query.given.get("PhysicalResourceId")
    if query.given.get("StackName"):
        if physical:
            raise faults.CfnError(
                "InvalidParameterCombination",
                "Give StackName or PhysicalResourceId, not both.",
            )
        identity = query.identity()
    elif physical:
        found = query.engine.find_physical_resource(query.context, physical)
        identity = {**found, "path": ""}
    else:
        raise faults.missing("StackName")
    rows = query.engine.describe_stack_resources(
        query.context, identity, query.given.get("LogicalResourceId")
    )
    return {"StackResources": [views.resource(row) for row in rows]}


def list_stack_resources(query: Query) -> Dict:
    """Resources of a stack, in brief."""
    rows = query.engine.list_stack_resources(query.context, query.identity())
    return {
        "StackResourceSummaries": [views.resource_brief(row) for row in rows]
    }


def describe_stack_events(query: Query) -> Dict:
    """Events of a stack, or of all stacks of the project."""
    identity = query.identity() if query.given.get("StackName") else None
    rows = query.engine.list_events(query.context, identity)
    return {"StackEvents": [views.event(row) for row in rows]}


def get_template(query: Query) -> Dict:
    """The template of a stack, as text."""
    found = query.engine.get_template(query.context, query.identity())
    return {"TemplateBody": json.dumps(found)}


def validate_template(query: Query) -> Dict:
    """Check a template; what its parameters are."""
    asked = _asked(query)
    row = query.engine.validate_template(
        query.context, _template(asked), asked.params
    )
    return views.validated(row)


def estimate_template_cost(query: Query) -> Dict:
    """Nothing has a price here, so there is no page that tells one."""
    _template(_asked(query))
    return {"Url": ""}


def create_stack(query: Query) -> Dict:
    """Begin to create a stack."""
    asked = _asked(query)
    args = {"disable_rollback": _disables_rollback(query), **asked.args}
    made = query.engine.create_stack(
        query.context,
        query.need("StackName"),
        _template(asked),
        asked.params,
        asked.files,
        args,
    )
    return {"StackId": views.arn(made)}


def update_stack(query: Query) -> Dict:
    """Begin to update a stack."""
    identity = query.identity()
    asked = _asked(query)
    existing = query.given.get("UsePreviousTemplate") == "true"
    args = {**asked.args, "existing": True} if existing else asked.args
    made = query.engine.update_stack(
        query.context,
        identity,
        None if existing else _template(asked),
        asked.params,
        asked.files,
        args,
    )
    return {"StackId": views.arn(made)}


def delete_stack(query: Query) -> Dict:
    """Begin to delete a stack."""
    query.engine.delete_stack(query.context, query.identity())
    return {}


def cancel_update_stack(query: Query) -> Dict:
    """Stop an update; what it has changed is changed back."""
    query.engine.stack_cancel_update(
        query.context, query.identity(), cancel_with_rollback=True
    )
    return {}


def _asked(query: Query) -> stack_request.StackRequest:
    """What a create, update or validate asks for, as in the native API."""
    given, limits = query.given, query.settings
    body: Dict = {
        "template": given.get("TemplateBody"),
        "template_url": given.get("TemplateURL"),
        "parameters": {
            each["ParameterKey"]: each.get("ParameterValue", "")
            for each in query.members("Parameters")
            if each.get("ParameterKey")
            and each.get("UsePreviousValue") != "true"
        },
    }
    minutes = given.get("TimeoutInMinutes")
    if minutes is not None:
        if not minutes.isdecimal() or int(minutes) < 1:
            raise faults.CfnError(
                "InvalidParameterValue",
                "TimeoutInMinutes is a number of minutes, 1 or more.",
            )
        body["timeout_mins"] = int(minutes)
    fetcher = urlfetch.Fetcher(limits.max_template, limits.fetch_timeout)
    return stack_request.read(body, fetcher.fetch, limits.max_template)


def _template(asked: stack_request.StackRequest) -> Dict:
    if asked.template is None:
        raise faults.missing("TemplateBody")
    return asked.template


def _disables_rollback(query: Query) -> bool:
    """Whether what could be made stays when a create fails.

    :raises CfnError: two parameters say different things, or none known
    """
    plain = query.given.get("DisableRollback")
    named = query.given.get("OnFailure")
    if plain is not None and named is not None:
        raise faults.CfnError(
            "InvalidParameterCombination",
            "Give DisableRollback or OnFailure, not both.",
        )
    if named is None:
        return plain is not None and validation.is_true(plain)
    known = {"DO_NOTHING": True, "ROLLBACK": False, "DELETE": False}
    if named not in known:
        raise faults.CfnError(
            "InvalidParameterValue",
            f"OnFailure is one of {', '.join(sorted(known))}.",
        )
    return known[named]


#: action -> (rule of :mod:`heat.policies.rules`, handler)
ACTIONS: Mapping[str, tuple[str, Handler]] = {
    "CancelUpdateStack": ("actions:cancel_update", cancel_update_stack),
    "CreateStack": ("stacks:create", create_stack),
    "DeleteStack": ("stacks:delete", delete_stack),
    "DescribeStackEvents": ("events:index", describe_stack_events),
    "DescribeStackResource": ("resource:metadata", describe_stack_resource),
    "DescribeStackResources": ("resource:index", describe_stack_resources),
    "DescribeStacks": ("stacks:show", describe_stacks),
    "EstimateTemplateCost": (
        "stacks:validate_template",
        estimate_template_cost,
    ),
    "GetTemplate": ("stacks:template", get_template),
    "ListStackResources": ("resource:index", list_stack_resources),
    "ListStacks": ("stacks:index", list_stacks),
    "UpdateStack": ("stacks:update", update_stack),
    "ValidateTemplate": ("stacks:validate_template", validate_template),
}
