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
"""Turns what a user sent into a definition that can be begun. No writes.

Everything that can be wrong with a request is found here, before anything
is stored: each error is of class 400 and names the place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import stacks
from heat.db import templates
from heat.engine import definition
from heat.engine import function
from heat.engine.environment import environment as env
from heat.engine.environment import files as env_files
from heat.engine.graph import dag
from heat.engine.ports import Engine
from heat.engine.template import base as template_base
from heat.engine.template import source
from heat.engine.traversal import gather
from heat.engine.traversal import scene


@dataclasses.dataclass(frozen=True)
class Request:
    """What a create, update, preview or validate brings.

    :param template: the template as a map or text; None: the stored one
    :param params: the environment: parameters, resource_registry, ...
    :param args: the arguments of contract (timeout_mins, tags, ...)
    """

    template: Mapping[str, Any] | str | None
    params: Mapping[str, Any]
    files: Mapping[str, str]
    args: Mapping[str, Any]
    environment_files: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A definition with the forms in which it is stored."""

    definition: definition.StackDefinition
    template: dict[str, Any]
    environment: dict[str, Any]
    files: dict[str, str]

    def record(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
        """(template, environment, files) as the repository takes them."""
        return self.template, self.environment, self.files


def prepare(
    identity: HeatIdentifier,
    request: Request,
    stored: templates.TemplateRecord | None = None,
    *,
    strict: bool = True,
) -> Prepared:
    """Parse a request.

    :param stored: the stack's template version, when the request updates
        one; with ``existing`` in ``request.args`` it is what the request
        changes (PATCH), else it is not used
    :param strict: parameters without a default must have a value
    :raises HeatException, ValueError: of class 400
    """
    patched = stored if request.args.get("existing") else None
    template = _template(request, patched)
    files = {**(patched.files if patched else {}), **request.files}
    parsed = template_base.load(template, files)
    environment = env.Environment(
        _environment(request, patched, files, set(parsed.parameter_schemata()))
    )
    made = definition.StackDefinition(
        identity, parsed, environment, strict_validate=strict
    )
    return Prepared(made, template, environment.as_dict(), files)


def stored_definition(
    identity: HeatIdentifier, stored: templates.TemplateRecord
) -> definition.StackDefinition:
    """The definition of a stored template version."""
    return scene.make_definition(identity, stored)


def _template(
    request: Request, patched: templates.TemplateRecord | None
) -> dict[str, Any]:
    if request.template is None or request.template == {}:
        if patched is not None:
            return patched.template
        raise exception.StackValidationFailed(
            message=_("No template specified. Send template or template_url.")
        )
    if isinstance(request.template, str):
        return source.parse(request.template, _("The template"))
    return dict(request.template)


def _environment(
    request: Request,
    patched: templates.TemplateRecord | None,
    files: Mapping[str, str],
    declared: set[str],
) -> dict[str, Any]:
    """Stored environment, then the listed files, then what was sent inline."""
    layers: list[env_files.Layer] = []
    if patched is not None:
        layers.append(
            env_files.Layer("", _kept(patched, request.args, declared))
        )
    for name in request.environment_files:
        layers.append(_file_layer(name, files))
    env.check(dict(request.params))
    layers.append(env_files.Layer("", request.params))
    return env_files.merge(layers)


def _kept(
    patched: templates.TemplateRecord,
    args: Mapping[str, Any],
    declared: set[str],
) -> dict[str, Any]:
    """The stored environment, as far as a PATCH keeps it."""
    kept = dict(patched.environment)
    cleared = set(args.get("clear_parameters") or ())
    for section in ("parameters", "encrypted_param_names"):
        value = kept.get(section)
        if isinstance(value, dict):
            kept[section] = {
                key: each
                for key, each in value.items()
                if key not in cleared and key in declared
            }
    return kept


def _file_layer(name: str, files: Mapping[str, str]) -> env_files.Layer:
    if name not in files:
        raise ValueError(
            _(
                'The environment file "%s" has no content: send it in '
                "files under this name."
            )
            % name
        )
    what = _('The environment file "%s"') % name
    content = files[name]
    data = source.parse(content, what) if content.strip() else {}
    env.check(data, what)
    return env_files.Layer(name, data)


# -- checks -------------------------------------------------------------------


def check(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    prepared: Prepared,
) -> None:
    """Check a definition against the plug-ins and the limits.

    :raises HeatException, ValueError: of class 400, naming the place
    """
    made = prepared.definition
    made.validate(context)
    _check_limits(engine, made)
    check_order(made)
    view = gather.stack_view(engine, stack, made, context)
    for name, wish in made.resource_definitions.items():
        cls = resource_class(engine, made, wish.resource_type, name)
        with _place(name):
            cls(name, wish, view).validate()
    check_attributes(engine, made)


def _check_limits(engine: Engine, made: definition.StackDefinition) -> None:
    limit = int(engine.conf.max_resources_per_stack)
    if limit != -1 and len(made.resource_definitions) > limit:
        raise exception.StackResourceLimitExceeded(
            path="resources", limit=limit
        )


def check_order(made: definition.StackDefinition) -> None:
    """Check that resources don't require one another in a circle.

    :raises CircularDependencyException: naming the circle
    """
    graph: dag.Graph[str] = dag.Graph()
    for name, needs in made.dependencies().items():
        graph.add(name, *(need for need in needs if made.is_enabled(need)))
    cycle = graph.find_cycle()
    if cycle:
        raise definition.circular(list(cycle))


def resource_class(
    engine: Engine, made: definition.StackDefinition, type_: str, name: str
) -> Any:
    """The class of a resource's type.

    :raises StackValidationFailed: there is none
    """
    try:
        return gather.resource_class(engine, made, type_, name)
    except exception.EntityNotFound as exc:
        raise exception.StackValidationFailed(
            path=["resources", name, "type"], message=str(exc)
        ) from exc


class _place:
    """Names the resource in errors of a plug-in that do not."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: Any, _trace: Any) -> None:
        where = ["resources", self._name]
        if isinstance(error, exception.StackValidationFailed):
            if error.path[:1] == ["resources"]:
                return
            raise exception.StackValidationFailed(
                error.error, [*where, *error.path], error.error_message
            ) from error
        if isinstance(error, (exception.HeatException, ValueError, TypeError)):
            raise exception.StackValidationFailed(
                type(error).__name__, where, str(error)
            ) from error


def check_attributes(
    engine: Engine, made: definition.StackDefinition
) -> None:
    """Check that every attribute that is read is one of its type.

    :raises StackValidationFailed: naming the place of the reference
    """
    for name, attr, place in made.attribute_references():
        wish = made.resource_definitions.get(name)
        if wish is None:
            continue
        cls = resource_class(engine, made, wish.resource_type, name)
        if attr != function.ALL_ATTRIBUTES and not cls.offers(attr[0]):
            error = exception.InvalidTemplateAttribute(
                resource=name, key=attr[0]
            )
            raise exception.StackValidationFailed(
                path=place, message=str(error)
            )
