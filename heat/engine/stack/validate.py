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
"""Validates a template without creating anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import stacks
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.stack import (
    converge,
    environment_views,
    environments,
    prepare,
)
from heat.engine.stack.request import Request
from heat.engine.template import parameters
from heat.engine.traversal import gather

_STACK_NAME = "validate"

# The sections of the environment that are told, with their empty values.
_ENVIRONMENT: Mapping[str, Any] = {
    "event_sinks": [],
    "parameter_defaults": {},
    "parameters": {},
    "resource_registry": {},
}


def validate_template(
    engine: Engine,
    context: RequestContext,
    template: Mapping[str, Any] | str | None,
    params: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    environment_files: Sequence[str] | None = None,
    show_nested: bool = False,
    ignorable_errors: Sequence[str] | None = None,
    explicit_parameters: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Check a template and tell its parameters.

    Values may still be missing: that is what a client asks before it asks
    its user.

    :param show_nested: tell of the templates below as well, whatever values
        the properties in them have
    :param explicit_parameters: names that were given beside the
        environment; None: the sender doesn't tell
    :returns: Description, Parameters, ParameterGroups, Environment,
        NestedParameters, and Warnings when there are any
    :raises HeatException, ValueError: of class 400, naming the place
    """
    args = {environments.EXPLICIT: explicit_parameters}
    request = Request(
        template, params or {}, files or {}, args, environment_files or ()
    )
    identity = HeatIdentifier(context.project_id or "", _STACK_NAME, None)
    prepared = prepare.prepare(identity, request, strict=False)
    stack = _draft(identity)
    prepare.check(
        engine,
        context,
        stack,
        prepared,
        tuple(ignorable_errors or ()),
        described=show_nested,
    )
    answer = _told(prepared.definition)
    answer["Environment"] = {
        section: prepared.environment.get(section, empty)
        for section, empty in _ENVIRONMENT.items()
    }
    registry = dict(answer["Environment"]["resource_registry"])
    for wish in prepared.definition.resource_definitions.values():
        if wish.resource_type in prepared.files:
            # A template as a type stands for itself, as clients read it.
            registry.setdefault(wish.resource_type, wish.resource_type)
    answer["Environment"]["resource_registry"] = registry
    if show_nested:
        nested = _nested(engine, context, stack, prepared.definition)
        answer["NestedParameters"] = nested
    warnings = environment_views.warnings(prepared)
    if warnings:
        answer["Warnings"] = warnings
    return answer


def _draft(identity: HeatIdentifier) -> stacks.StackRecord:
    return converge.draft_of(
        {
            "name": identity.stack_name,
            "tenant": identity.tenant,
            "action": "CREATE",
            "status": "IN_PROGRESS",
            "disable_rollback": True,
        }
    )


def _told(made: StackDefinition) -> dict[str, Any]:
    """What is told of one template."""
    answer: dict[str, Any] = {
        "Description": made.t.description or _("No description"),
        "Parameters": {
            name: parameters.validate_answer(
                schema,
                made.parameters.given(name),
                made.parameters.given_default(name),
            )
            for name, schema in made.t.parameter_schemata().items()
        },
    }
    groups = made.t.parameter_groups()
    if groups:
        answer["ParameterGroups"] = groups
    return answer


def _nested(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    made: StackDefinition,
) -> dict[str, Any]:
    """What is told of the templates below, by resource.

    They have been checked: there is an end to them.
    """
    view = gather.stack_view(engine, stack, made, context)
    found: dict[str, Any] = {}
    for name, wish in made.resource_definitions.items():
        cls = prepare.resource_class(engine, made, wish.resource_type, name)
        rsrc = cls(name, wish, view)
        if not callable(getattr(rsrc, "child_definition", None)):
            continue
        child = rsrc.child_definition(user_params=rsrc.params_to_validate())
        found[name] = {"Type": wish.resource_type, **_told(child)}
        below = _nested(engine, context, stack, child)
        if below:
            found[name]["NestedParameters"] = below
    return found
