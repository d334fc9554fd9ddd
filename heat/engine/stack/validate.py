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
from heat.engine.ports import Engine
from heat.engine.stack import converge
from heat.engine.stack import prepare
from heat.engine.template import parameters

_STACK_NAME = "validate"


def validate_template(
    engine: Engine,
    context: RequestContext,
    template: Mapping[str, Any] | str | None,
    params: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    environment_files: Sequence[str] | None = None,
    show_nested: bool = False,
    ignorable_errors: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Check a template and tell its parameters.

    Values may still be missing: that is what a client asks before it asks
    its user.

    :returns: Description, Parameters, ParameterGroups, Environment
    :raises HeatException, ValueError: of class 400, naming the place
    """
    request = prepare.Request(
        template, params or {}, files or {}, {}, environment_files or ()
    )
    identity = HeatIdentifier(context.project_id or "", _STACK_NAME, None)
    prepared = prepare.prepare(identity, request, strict=False)
    stack = converge.draft_of(
        {
            "name": _STACK_NAME,
            "tenant": identity.tenant,
            "action": "CREATE",
            "status": "IN_PROGRESS",
            "disable_rollback": True,
        }
    )
    prepare.check(engine, context, stack, prepared)
    made = prepared.definition
    answer: dict[str, Any] = {
        "Description": made.t.description or _("No description"),
        "Parameters": {
            name: parameters.validate_answer(
                schema, _value_of(prepared, name, schema)
            )
            for name, schema in made.t.parameter_schemata().items()
        },
        "Environment": prepared.environment,
    }
    groups = made.t.parameter_groups()
    if groups:
        answer["ParameterGroups"] = groups
    return answer


def _value_of(prepared: prepare.Prepared, name: str, schema: Any) -> Any:
    made = prepared.definition.parameters
    if not made.has_value(name):
        return None
    return made.public().get(name)
