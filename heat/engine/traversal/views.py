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
"""What a plug-in object is made with: its class, and its stack."""

from __future__ import annotations

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import resources, stacks
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import Resource, child, view


def resource_class(
    engine: Engine, definition: StackDefinition, type_: str, name: str
) -> type[Resource]:
    """The class that implements a type in this environment.

    :raises EntityNotFound: no plug-in offers the type
    :raises StackValidationFailed: the type is a template that is missing
        or wrong
    """
    target = definition.env.registry.resolve(type_, name)
    if target.kind == "class":
        return engine.plugins.get(target.name)
    text = definition.files.get(target.name)
    if text is None:
        text = definition.env.shared_files().get(target.name)
    if text is None:
        raise exception.StackValidationFailed(
            path=["resources", name, "type"],
            message=_(
                'The content of the template "%s" is missing: send it in '
                "files under this name."
            )
            % target.name,
        )
    try:
        return engine.plugins.template_class(
            target.name, text, definition.env.all_defaults()
        )
    except (exception.HeatException, ValueError) as exc:
        raise exception.StackValidationFailed(
            path=["resources", f"{name}<{target.name}>"], message=exc
        ) from exc


def made_class(
    engine: Engine, was: StackDefinition, row: resources.ResourceRecord
) -> type[Resource] | None:
    """The class of what a row has made; None: it is not there any more.

    :param was: the template version that the row was last finished with
    """
    try:
        return resource_class(engine, was, row.resource_type or "", row.name)
    except exception.HeatException:
        return None


def same_class(
    engine: Engine,
    was: StackDefinition,
    row: resources.ResourceRecord,
    definition: StackDefinition,
    rsrc: Resource,
) -> bool:
    """Whether a row's class is the wanted one (an alias is no class).

    :param was: the template version that the row was last finished with
    """
    old_type = row.resource_type or ""
    if was is definition and old_type == rsrc.type():
        return True
    try:
        old = resource_class(engine, was, old_type, row.name)
    except exception.EntityNotFound:
        return False
    if old is type(rsrc):
        return True
    if old.family is not None and old.family == rsrc.family:
        return True
    status = old.support_status
    return bool(status is not None and status.is_substituted(type(rsrc)))


def stack_view(
    engine: Engine,
    stack: stacks.StackRecord,
    definition: StackDefinition,
    context: RequestContext,
    nesting: child.Nesting | None = None,
    observes: bool = False,
    abandons: bool = False,
    looks: bool = False,
) -> view.StackView:
    """What plug-ins see as ``self.stack``.

    :param nesting: where in a tree of stacks it is checked
    :param observes: the update looks at live objects
    :param abandons: clean-up lets every object go
    :param looks: somebody wants to see what is now, in stacks below too
    """
    return view.StackView(
        definition,
        values=view.StackValues(
            action=stack.base[0],
            status=stack.base[1],
            status_reason=stack.status_reason or "",
            timeout_mins=stack.timeout,
            disable_rollback=stack.disable_rollback,
            stack_user_project_id=stack.stack_user_project_id,
            nested_depth=stack.nested_depth or 0,
            user_creds_id=stack.user_creds_id,
            owner_id=stack.owner_id,
            parent_resource_name=stack.parent_resource_name,
            tags=stack.tags,
            created_time=stack.created_at,
            updated_time=stack.updated_at,
            context=context,
            ports=engine,
            nesting=nesting,
            observes=observes,
            abandons=abandons,
            looks=looks,
        ),
    )
