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

"""What another Heat needs to adopt a stack. Reads only."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import templates
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.resource import hooks
from heat.engine.stack import environment_views, environments, load
from heat.engine.template import base as template_base

Dict = dict[str, Any]


def export(
    engine: Engine, context: RequestContext, stack: StackRecord
) -> Dict:
    """A stack with its template and what is kept of its resources.

    A resource that is a stack has all of that as well, but for the files and
    the parts of the environment that its parent has, too. Hidden parameters
    are masked, as wherever an environment is shown; who adopts the stack
    gives them again.

    :raises EntityNotFound: its template is gone
    """
    told = describe(engine, stack)
    told["resources"] = {
        name: _own(each, told)
        for name, each in _resources(engine, context, stack).items()
    }
    return told


def _own(kept: Dict, parent: Dict) -> Dict:
    """What is kept of a resource, without what its stack has in common with
    its parent."""
    if "resources" not in kept:
        return kept
    own: Dict = {
        section: {
            key: value
            for key, value in kept[section].items()
            if key not in parent[section] or value != parent[section][key]
        }
        for section in ("files", "environment")
        if section in kept
    }
    return {**kept, **own}


def describe(engine: Engine, stack: StackRecord) -> Dict:
    """A stack with its template and environment, without its resources.

    :raises EntityNotFound: its template is gone
    """
    record = engine.db.read(
        lambda conn: templates.get(conn, stack.raw_template_id)
    )
    if record is None:
        raise exception.EntityNotFound(
            entity="Template of stack", name=stack.name
        )
    layers = engine.db.read(lambda conn: templates.get_layers(conn, record.id))
    shown = environment_views.Shown(
        record.files,
        record.environment,
        environments.stored_layers(record, layers),
        template_base.load(record.template, record.files).parameter_schemata(),
    )
    # A lock stays with the stack that has it: what it covers is told.
    action, status = stack.base
    told = {environments.LAYERS: shown.layers()} if layers else {}
    return {
        **told,
        "name": stack.name,
        "id": stack.id,
        "action": action,
        "status": status,
        "project_id": stack.tenant,
        "stack_user_project_id": stack.stack_user_project_id,
        "tags": list(stack.tags) or None,
        "template": record.template,
        "environment": shown.environment(),
        "files": shown.files(),
    }


def _resources(
    engine: Engine, context: RequestContext, stack: StackRecord
) -> Dict:
    loaded = load.load(engine, stack)
    found = {}
    for name, row in sorted(loaded.rows.items()):
        if row.action == "INIT":
            continue
        rsrc = load.resource(engine, context, loaded, row)
        kept = dict(rsrc.prepare_abandon())
        kept["resource_data"] = {
            key: value
            for key, value in (kept.get("resource_data") or {}).items()
            if key not in hooks.HOOK_TYPES
        }
        if row.external:
            kept["external"] = True
        found[name] = kept
    return found
