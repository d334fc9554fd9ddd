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
"""Outputs of a stack, from what its resources last told. No writes."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import stacks
from heat.engine.definition import StackDefinition
from heat.engine.output import OutputDefinition
from heat.engine.ports import Engine
from heat.engine.stack import live, load


def list_outputs(
    engine: Engine, context: RequestContext, stack: stacks.StackRecord
) -> list[dict[str, Any]]:
    """Key and description of each output, values not resolved."""
    made = load.template(engine, stack)
    return [
        {"output_key": key, "description": each.description()}
        for key, each in made.outputs.items()
    ]


def resolve(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    *,
    looks: bool = False,
) -> list[dict[str, Any]]:
    """Each output with its value, or with the error that it has.

    :param looks: read anew what must be read each time, in the stacks below
        too; False: what was last told will do
    """
    made = _definition(engine, stack)
    if looks:
        live.refresh(engine, context, stack, made, deep=True)
    return present_all(made)


def _definition(engine: Engine, stack: stacks.StackRecord) -> StackDefinition:
    return engine.db.read(lambda conn: load.for_outputs(conn, engine, stack))


def present_all(made: StackDefinition) -> list[dict[str, Any]]:
    """The body of each output of a definition that knows its nodes."""
    return [present(key, each) for key, each in made.outputs.items()]


def show(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    output_key: str,
) -> dict[str, Any]:
    """One output with its value.

    :raises NotFound: the template has no such output
    """
    made = _definition(engine, stack)
    if output_key not in made.outputs:
        raise exception.NotFound(
            f"Specified output key {output_key} not found."
        )
    live.refresh(engine, context, stack, made, only=output_key)
    return present(output_key, made.outputs[output_key])


def present(key: str, output: OutputDefinition) -> dict[str, Any]:
    """The body of an output; an error in one never hides the others."""
    body: dict[str, Any] = {
        "output_key": key,
        "description": output.description(),
        "output_value": None,
    }
    try:
        body["output_value"] = output.get_value()
    except (exception.HeatException, ValueError, TypeError) as exc:
        body["output_error"] = str(exc)
    return body
