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
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.db import stacks, templates
from heat.engine import definition, function, properties
from heat.engine.definition import StackDefinition
from heat.engine.environment import layers as env_layers
from heat.engine.graph import dag
from heat.engine.ports import Engine
from heat.engine.resource import child, ownership
from heat.engine.stack import environments
from heat.engine.stack.request import Request
from heat.engine.template import base as template_base
from heat.engine.template import source
from heat.engine.traversal import gather, scene


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A definition with the forms in which it is stored.

    :ivar before: the version that it takes the place of, if it was looked at
    """

    definition: definition.StackDefinition
    template: dict[str, Any]
    environment: dict[str, Any]
    files: dict[str, str]
    layers: env_layers.Stack
    secret: frozenset[str]
    before: StackDefinition | None = None

    def reason(self, parameter: str) -> str | None:
        """Why a parameter has its value: "b.yaml parameters.p over a.yaml".

        None when the template's default counts.
        """
        declared = self.definition.parameters.schemata
        return environments.reason(self.layers, declared, parameter)

    def store(
        self,
        conn: sa.Connection,
        files_of: int | None = None,
        same_defaults: bool = False,
    ) -> int:
        """Store it as a template version; its id.

        :param files_of: a version that has the same files, if known
        :param same_defaults: it has the same parameter defaults, too
        """
        facade = self.definition.facade
        return templates.insert(
            conn,
            self.template,
            self.environment,
            self.files,
            environments.rows(self.layers, self.environment),
            files_of=files_of,
            same_defaults=same_defaults,
            facade=None if facade is None else dict(facade),
            secret=self.secret,
        )


def prepare(
    identity: HeatIdentifier,
    request: Request,
    stored: templates.TemplateRecord | None = None,
    *,
    strict: bool = True,
    facade: Mapping[str, Any] | None = None,
    layers: Sequence[templates.LayerRecord] = (),
) -> Prepared:
    """Parse a request.

    :param stored: the stack's template version, when the request updates
        one; with ``existing`` in ``request.args`` it is what the request
        changes (PATCH), else it is not used
    :param strict: parameters without a default must have a value
    :param facade: of a nested stack, None: what the stored version has
    :param layers: the environment layers of ``stored``
    :raises HeatException, ValueError: of class 400
    """
    if facade is None and stored is not None:
        facade = stored.facade
    patched = stored if request.args.get("existing") else None
    template = _template(request, patched)
    below = None
    if patched is not None:
        below = environments.Stored(
            patched.files, environments.stored_layers(patched, layers)
        )
    elif (brought := environments.adopted(request)) is not None:
        request, below = brought
    files = environments.files_of(request, below)
    parsed = template_base.load(template, files)
    derived = environments.derive(
        request, below, files, parsed.parameter_schemata()
    )
    environment = derived.environment
    made = definition.StackDefinition(
        identity,
        parsed,
        environment,
        strict_validate=strict,
        facade=facade,
    )
    return Prepared(
        made,
        template,
        environment.as_dict(),
        files,
        derived.layers,
        derived.secret,
    )


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


# -- checks -------------------------------------------------------------------


def check(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    prepared: Prepared,
    ignored: Collection[str] = (),
    nesting: child.Nesting | None = None,
    *,
    described: bool = False,
    allows: Callable[[str], None] | None = None,
) -> child.Tree:
    """Check a definition against the plug-ins and the limits.

    :param ignored: codes of errors that don't count, such as ``99001``, a
        type whose service isn't available
    :param nesting: where in a tree of stacks it is; None: at the top
    :param described: what the properties in the stacks below have for
        values does not matter
    :param allows: as that of :class:`heat.engine.resource.child.Tree`
    :returns: what was counted and noted of the whole tree
    :raises HeatException, ValueError: of class 400, naming the place
    """
    if nesting is None:
        limit = int(engine.conf.max_resources_per_stack)
        tree = child.Tree(limit, frozenset(ignored), described, allows)
        # Sinks are called in the owner's name, like services.
        tree.uses_cloud = bool(prepared.definition.env.all_event_sinks())
        nesting = child.Nesting(tree)
    with prepared.definition.t.own_words():
        _check(engine, context, stack, prepared.definition, ignored, nesting)
    return nesting.tree


def _check(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    made: definition.StackDefinition,
    ignored: Collection[str],
    nesting: child.Nesting,
) -> None:
    # Far too many are refused before each of them is looked at.
    nesting.tree.allow(made.t.sure_resources())
    made.validate(context)
    made.t.check_declarations()
    nesting.tree.add(len(made.resource_definitions))
    check_order(made)
    view = gather.stack_view(engine, stack, made, context, nesting)
    for name, wish in made.resource_definitions.items():
        cls = resource_class(engine, made, wish.resource_type, name)
        if nesting.tree.allows is not None:
            meant = made.env.registry.resolve(wish.resource_type, name).name
            nesting.tree.ask(wish.resource_type, meant)
        described = nesting.tree.described and bool(stack.nested_depth)
        with _place(name, described):
            rsrc = cls(name, wish, view)
            nesting.tree.note(rsrc)
            _check_resource(rsrc, context, ignored)
    check_attributes(engine, made)


#: Code of the error that a type's service isn't available.
UNAVAILABLE = "99001"


def _check_resource(
    rsrc: Any, context: RequestContext, ignored: Collection[str]
) -> None:
    available, reason = rsrc.is_service_available(context)
    external_id = rsrc.target.external_id()
    if external_id is not None:
        # Its properties are ignored as long as the object is the user's.
        _check_external(rsrc, external_id, available)
    elif available or rsrc.checks_offline:
        rsrc.validate()
    if not available and UNAVAILABLE not in ignored:
        raise exception.ResourceTypeUnavailable(
            service_name=getattr(rsrc, "service", rsrc.default_client_name),
            resource_type=rsrc.type(),
            reason=reason,
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


def _check_external(rsrc: Any, external_id: str, available: bool) -> None:
    """Look whether the object is there, where that can be seen.

    :raises StackValidationFailed: it is not
    """
    if not available:
        return
    seen = ownership.Observation(rsrc, external_id, None, time.monotonic)
    try:
        seen.start()
    except exception.ResourceFailure as exc:
        raise exception.StackValidationFailed(
            path=["resources", rsrc.name, "external_id"],
            message=_("The object %(id)s can't be used: %(why)s")
            % {"id": external_id, "why": exc.error_message},
        ) from exc


class _place:
    """Names the resource in errors of a plug-in that do not.

    :param described: errors in its properties are passed over
    """

    def __init__(self, name: str, described: bool) -> None:
        self._name = name
        self._described = described

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: Any, _trace: Any) -> bool:
        where = ["resources", self._name]
        if isinstance(error, exception.StackValidationFailed):
            if self._described and error.error == properties.Properties.ERROR:
                return True
            if error.says_where or self._is_placed(error):
                return False
            raise exception.StackValidationFailed(
                error.error, [*where, *error.path], error.error_message
            ) from error
        named = exception.ResourceTypeUnavailable, exception.Forbidden
        if isinstance(error, named):
            # It names the type, and clients know it by its class.
            return False
        if isinstance(error, (exception.HeatException, ValueError, TypeError)):
            raise exception.StackValidationFailed(
                type(error).__name__, where, str(error)
            ) from error
        return False

    def _is_placed(self, error: exception.StackValidationFailed) -> bool:
        first = "".join(error.path[:1])
        own = f"resources.{self._name}."
        return first == "resources" or first.startswith(own)


def check_attributes(engine: Engine, made: definition.StackDefinition) -> None:
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
