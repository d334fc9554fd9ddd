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
"""A stack as its template and environment define it, read-only.

:class:`StackDefinition` is parsed once per engine and traversal; the
functions in it ask it for parameters, and for what is known of the
resources (:class:`NodeData`), which whoever runs the traversal hands in.
It must not know the database, nor where the data comes from.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from heat.common import exception, identifier
from heat.engine import function, output, parameters, rsrc_defn
from heat.engine.environment import environment as env
from heat.engine.template import core

#: (name, definitions by name) -> names that it requires
ImpliedRule = Callable[[str, Mapping[str, Any]], Iterable[str]]

_implied: dict[str, ImpliedRule] = {}


def register_implied(resource_type: str, rule: ImpliedRule) -> None:
    """Say which resources those of a type require without referring to them.

    Known for the whole process, as a graph is drawn at many places, some
    of them far from any plug-in.
    """
    _implied[resource_type] = rule


def _leads_to(needs: Mapping[str, set[str]], start: str, goal: str) -> bool:
    """Whether ``start`` requires ``goal``, by whatever way."""
    seen, todo = {start}, [start]
    while todo:
        name = todo.pop()
        if name == goal:
            return True
        more = needs.get(name, set()) - seen
        seen |= more
        todo.extend(more)
    return False


#: Most items of one iterator, and most bytes, of a yaql expression.
YAQL_LIMITS = (200, 10_000)


@dataclasses.dataclass(frozen=True, slots=True)
class NodeData:
    """What is known of a resource that was made.

    :param row_id: key of its row
    :param uuid: its public id
    :param reference_id: what ``get_resource`` gives
    :param attributes: values by ``(attribute,)`` or ``(attribute, key,
        ...)``, the whole map of attributes under
        :data:`heat.engine.function.ALL_ATTRIBUTES`
    :param action: last action
    :param status: its status
    """

    row_id: int
    uuid: str
    reference_id: str | None
    attributes: Mapping[function.Attr, Any]
    action: str
    status: str


class StackDefinition:
    """Template, environment and parameters of one stack.

    Nothing is parsed before it is asked for. Reading is thread-safe:
    parsing twice gives equal values.

    :param identity: of the stack; ``stack_id`` may be None in a preview
    :param region: what ``OS::region`` gives
    :param strict_validate: False when parameters may be missing still, as
        in the validation of a nested template
    :param facade: metadata, deletion_policy and update_policy of the
        resource whose template this is
    :param yaql_limits: most items of one iterator, most bytes
    :param availability_zones: asks the cloud for its zones
    """

    def __init__(
        self,
        identity: identifier.HeatIdentifier,
        template: core.Template,
        environment: env.Environment,
        *,
        region: str | None = None,
        strict_validate: bool = True,
        facade: Mapping[str, Any] | None = None,
        yaql_limits: tuple[int, int] = YAQL_LIMITS,
        availability_zones: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        self.identity = identity
        self.t = template
        self.env = environment
        self.strict_validate = strict_validate
        self.facade = facade
        #: row id of the template version it was read from; None: of none
        self.version_id: int | None = None
        self.yaql_limits = yaql_limits
        self.resource_names = frozenset(template.resource_names())
        self.parameters = parameters.Parameters(
            identity,
            template,
            environment.params,
            environment.all_defaults(),
            region=region,
        )
        self._zones = availability_zones
        self._nodes: dict[str, NodeData | None] = {}
        self._ask: Callable[[], Mapping[str, NodeData]] | None = None

    @property
    def id(self) -> str | None:
        return self.identity.stack_id

    @property
    def name(self) -> str:
        return self.identity.stack_name

    @property
    def tenant(self) -> str:
        return self.identity.tenant

    @property
    def files(self) -> Mapping[str, str]:
        shared = self.env.shared_files()
        if not shared:
            return self.t.files
        return {**shared, **self.t.files}

    def availability_zones(self) -> Sequence[str]:
        """The cloud's zones; its default one when nobody can be asked."""
        return self._zones() if self._zones is not None else ("nova",)

    # -- what is defined -----------------------------------------------------

    @functools.cached_property
    def _conditions(self) -> core.Conditions:
        return core.Conditions(self.t, self)

    def condition(self, value: Any, path: str) -> bool:
        """Whether a parsed condition holds.

        :raises StackValidationFailed: it is no condition, or its name is
            unknown
        """
        return self._conditions.holds(value, path)

    @functools.cached_property
    def resource_definitions(
        self,
    ) -> Mapping[str, rsrc_defn.ResourceDefinition]:
        """The enabled resources, in template order.

        :raises StackValidationFailed: and other errors of class 400
        """
        return self.t.resource_definitions(self)

    @functools.cached_property
    def outputs(self) -> Mapping[str, output.OutputDefinition]:
        """The outputs, in template order.

        :raises StackValidationFailed: and other errors of class 400
        """
        return self.t.output_definitions(self)

    def resource_definition(
        self, name: str
    ) -> rsrc_defn.ResourceDefinition | None:
        """An enabled resource, for whoever needs no other; None: none such.

        :raises StackValidationFailed: and other errors of class 400
        """
        if "resource_definitions" in self.__dict__:
            return self.resource_definitions.get(name)
        return self.t.resource_definition(self, name)

    def is_enabled(self, resource_name: str) -> bool:
        """Whether there is a resource of that name and its condition holds."""
        if "resource_definitions" in self.__dict__:
            return resource_name in self.resource_definitions
        return self.t.is_enabled(self, resource_name)

    def _parts(
        self,
    ) -> Iterator[rsrc_defn.ResourceDefinition | output.OutputDefinition]:
        yield from self.resource_definitions.values()
        yield from self.outputs.values()

    # -- what depends on what -------------------------------------------------

    def dependencies(self) -> dict[str, frozenset[str]]:
        """For each enabled resource the names of those it requires.

        Beyond what the template says, types may imply an order (see
        :func:`register_implied`); what the template says has precedence.

        :raises InvalidTemplateReference: for a name that isn't there
        """
        needs = {
            name: set(defn.dependencies(self))
            for name, defn in self.resource_definitions.items()
        }
        for name, defn in self.resource_definitions.items():
            rule = _implied.get(defn.resource_type)
            if rule is None:
                continue
            for other in sorted(rule(name, self.resource_definitions)):
                if other in needs and not _leads_to(needs, other, name):
                    needs[name].add(other)
        return {name: frozenset(each) for name, each in needs.items()}

    @functools.cached_property
    def _asked(self) -> dict[str, frozenset[function.Attr]]:
        asked: dict[str, set[function.Attr]] = {}
        for part in self._parts():
            for name, attr in part.all_dep_attrs():
                asked.setdefault(name, set()).add(attr)
        return {name: frozenset(attrs) for name, attrs in asked.items()}

    def referenced_attributes(self, name: str) -> frozenset[function.Attr]:
        """Attributes of a resource that any definition or output asks for.

        Each is ``(attribute,)`` or ``(attribute, key, ...)``, or
        :data:`heat.engine.function.ALL_ATTRIBUTES`.
        """
        return self._asked.get(name, frozenset())

    def attribute_references(
        self,
    ) -> Iterator[tuple[str, function.Attr, str]]:
        """(resource name, attribute, place in the template) of each
        reference to an attribute."""
        for part in self._parts():
            for call in part.calls():
                yield from _attribute_places(call)

    # -- what is known of the resources ---------------------------------------

    def set_node(self, name: str, data: NodeData | None) -> None:
        """Tell what is known of a resource; None: it is not made yet."""
        self._nodes[name] = data

    def tell_the_rest(self, ask: Callable[[], Mapping[str, NodeData]]) -> None:
        """Have what is known of all others told when one is asked for.

        :param ask: called once at most, with nothing locked
        """
        self._ask = ask

    def _complete(self) -> None:
        ask, self._ask = self._ask, None
        if ask is not None:
            self._nodes = {**ask(), **self._nodes}

    def forget_node(self, name: str) -> None:
        """Take back what was told of a resource."""
        self._nodes.pop(name, None)

    def node(self, name: str) -> NodeData | None:
        """What is known of a resource; None before it's made."""
        if name not in self._nodes:
            self._complete()
        return self._nodes.get(name)

    def nodes(self) -> list[str]:
        """Names of the resources of which something is known, those that
        the template has not (any more) among them."""
        self._complete()
        return [name for name, data in self._nodes.items() if data is not None]

    # -- checks ---------------------------------------------------------------

    def validate(self, context: Any = None) -> None:
        """Check all that needs no knowledge of resource types.

        Parameters, conditions, functions, references.

        :param context: whose clients custom constraints ask; None leaves
            custom constraints out
        :raises StackValidationFailed: and other errors of class 400
        """
        self.parameters.validate(context, strict=self.strict_validate)
        self._conditions.check_all()
        for part in self._parts():
            part.validate()
        self.dependencies()
        for out in self.outputs.values():
            out.required_resource_names()

    def check_references(self) -> None:
        """Check that every name that is referred to is there.

        :raises InvalidTemplateReference: naming the first that isn't
        """
        self.dependencies()
        for out in self.outputs.values():
            out.required_resource_names()


def _attribute_places(
    call: function.Function,
) -> Iterator[tuple[str, function.Attr, str]]:
    nested = list(function.calls(call.args))
    inner = {pair for sub in nested for pair in sub.all_dep_attrs()}
    for name, attr in call.all_dep_attrs():
        if (name, attr) not in inner:
            yield name, attr, call.path
    for sub in nested:
        yield from _attribute_places(sub)


def circular(cycle: list[str]) -> exception.CircularDependencyException:
    """The error for resources that require one another.

    :param cycle: their names in order, the first not repeated
    """
    names = [*cycle, cycle[0]] if cycle else cycle
    return exception.CircularDependencyException(cycle=" -> ".join(names))
