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

"""The stack as a resource plug-in sees it: read only, and narrow.

It answers with the names plug-ins use; behind them are the definition of
the stack, a few values of its row, and the ports of the engine. It is not
the engine's own stack and can't change it.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterator
from typing import Any

from heat.common.identifier import HeatIdentifier
from heat.engine import clients, definition

#: seconds, for a stack that names no time-out when no option says another
DEFAULT_TIMEOUT = 3600


@dataclasses.dataclass(frozen=True, slots=True)
class StackValues:
    """What a view needs beyond the definition.

    :ivar action: of the stack's row, as is ``status``
    :ivar timeout_mins: None for the default of the service
    :ivar context: the :class:`heat.common.context.RequestContext`
    :ivar ports: an object with ``conf`` and ``db``, and perhaps
        ``rpc_client``; None where there is no engine
    :ivar nesting: the :class:`heat.engine.resource.child.Nesting` in which
        the stack is checked, None for the top one
    :ivar observes: the update looks at live objects, in nested stacks too
    :ivar abandons: clean-up lets every object go, in nested stacks too
    :ivar looks: somebody wants to see what is now, in nested stacks too
    """

    action: str = "CREATE"
    status: str = "IN_PROGRESS"
    status_reason: str = ""
    timeout_mins: int | None = None
    disable_rollback: bool = True
    stack_user_project_id: str | None = None
    nested_depth: int = 0
    user_creds_id: int | None = None
    owner_id: str | None = None
    parent_resource_name: str | None = None
    tags: tuple[str, ...] = ()
    created_time: datetime.datetime | None = None
    updated_time: datetime.datetime | None = None
    context: Any = None
    ports: Any = None
    nesting: Any = None
    observes: bool = False
    abandons: bool = False
    looks: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Neighbour:
    """Another resource of the stack, as far as its row is known."""

    name: str
    resource_type: str
    uuid: str
    reference_id: str | None
    attributes: Any
    action: str
    status: str
    #: gives the plug-in object of the resource
    make: Callable[[], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        # Types of one family know more of each other than every resource
        # has. That takes reading the whole row, so only then.
        if name.startswith("__") or self.make is None:
            raise AttributeError(name)
        return getattr(self.make(), name)

    @property
    def resource_id(self) -> str | None:
        return self.reference_id

    @property
    def state(self) -> tuple[str, str]:
        return self.action, self.status

    def type(self) -> str:
        return self.resource_type

    def FnGetRefId(self) -> str | None:
        return self.reference_id

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        return self.attributes.get((key, *path))


class StackView:
    """The stack of a resource.

    :param definition: the parsed stack
    :param values: what its row says, and the ports
    """

    #: plug-ins ask whether rows of one stack are worked on by many engines
    convergence = True

    def __init__(
        self, definition: definition.StackDefinition, *, values: StackValues
    ) -> None:
        self.definition = definition
        self.values = values
        #: the update that runs looks at live objects
        self.observes = values.observes

    # -- identity ----------------------------------------------------------

    @property
    def id(self) -> str | None:
        return self.definition.id

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def tenant_id(self) -> str:
        return self.definition.tenant

    def identifier(self) -> HeatIdentifier:
        return self.definition.identity

    def stack_id(self) -> str:
        """The identity as an ARN, which is what ``OS::stack_id`` gives."""
        return self.definition.identity.arn()

    # -- the template ------------------------------------------------------

    @property
    def t(self) -> Any:
        return self.definition.t

    @property
    def env(self) -> Any:
        return self.definition.env

    @property
    def parameters(self) -> Any:
        return self.definition.parameters

    @property
    def strict_validate(self) -> bool:
        return self.definition.strict_validate

    def total_resources(self, stack_id: str | None = None) -> int:
        """How many resources the stack's template has."""
        return len(self.definition.resource_definitions)

    # -- the row -----------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # The values of the row go by their own names; only what is not
        # found on the view itself comes here.
        if name.startswith("_") or name in ("definition", "values"):
            raise AttributeError(name)
        return getattr(self.values, name)

    @property
    def state(self) -> tuple[str, str]:
        return self.values.action, self.values.status

    @property
    def nested_depth(self) -> int:
        return self.values.nested_depth

    def timeout_secs(self) -> int:
        """Seconds an operation of the stack may take."""
        if self.values.timeout_mins is not None:
            return self.values.timeout_mins * 60
        conf = self.conf
        return int(getattr(conf, "stack_action_timeout", DEFAULT_TIMEOUT))

    # -- the outside -------------------------------------------------------

    @property
    def clients(self) -> Any:
        """The cloud clients of the asking user."""
        return clients.of(self.values.context)

    @property
    def conf(self) -> Any:
        return getattr(self.values.ports, "conf", None)

    @property
    def db(self) -> Any:
        return getattr(self.values.ports, "db", None)

    def rpc_client(self) -> Any:
        """A client of the engine's own RPC; None where there is none."""
        factory = getattr(self.values.ports, "rpc_client", None)
        return factory() if callable(factory) else factory

    def register_access_allowed_handler(
        self, credential_id: str, handler: Any
    ) -> None:
        """Accepted, and without effect: access is decided by policy."""

    # -- the other resources -----------------------------------------------

    def resource_by_refid(self, refid: str) -> Neighbour | None:
        """The resource that ``get_resource`` gives ``refid`` for."""
        for name in self:
            found = self.neighbour(name)
            if found is not None and found.reference_id == refid:
                if found.status != "FAILED" or found.action != "DELETE":
                    return found
        return self._left(refid)

    def _left(self, refid: str) -> Neighbour | None:
        """One that is there still, though the stack does not want it any
        more: what depends on it may need it to be deleted."""
        children = getattr(self.values.ports, "children", None)
        if children is None or self.db.in_transaction:
            return None
        before: StackView | None = children.whole(self)
        if before is None:
            return None
        for name in before.definition.nodes():
            found = before.neighbour(name)
            if found is not None and found.reference_id == refid:
                return found
        return None

    def neighbour(self, name: str) -> Neighbour | None:
        """A resource by its name, None before it exists."""
        node = self.definition.node(name)
        if node is None:
            return None
        defn = self.definition.resource_definitions.get(name)
        return Neighbour(
            name,
            defn.resource_type if defn is not None else "",
            node.uuid,
            node.reference_id,
            node.attributes,
            node.action,
            node.status,
            self._maker(name),
        )

    def _maker(self, name: str) -> Callable[[], Any] | None:
        children = getattr(self.values.ports, "children", None)
        if children is None:
            return None
        return lambda: children.resource(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.definition.resource_definitions)

    def __len__(self) -> int:
        return len(self.definition.resource_definitions)

    def __contains__(self, name: object) -> bool:
        return name in self.definition.resource_definitions

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"StackView({self.name!r}, {self.id!r})"


def looking(stack: StackView) -> StackView:
    """The same, for who wants to see what is now."""
    values = dataclasses.replace(stack.values, looks=True)
    return StackView(stack.definition, values=values)
