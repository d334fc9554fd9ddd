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

"""What a resource and the engine say to each other of a nested stack.

Values only: the resource says what the child is to be, the engine says how
it is. Who carries it out is a port of the engine
(:class:`heat.engine.ports.ChildStacks`).
"""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _

# What a row keeps of a stack to adopt, in pieces: a column of MySQL's takes
# 65,535 bytes of what sealing makes of one.
_ADOPTS = "adopts."
_PIECE = 40_000

#: Begins an attribute of a resource inside, ``resource.<name>.<attribute>``.
INNER = "resource."

#: The parameter of a group's child that stands for what nobody knows before
#: it is made.
UNKNOWN = "unknown"

# What the reason of a stack says of its first resource that failed.
_FAILURE = re.compile(
    r"Resource [A-Z]+ failed: (\w+): (resources[.\[].+?): (.*)", re.DOTALL
)


def id_of(row_uuid: str) -> str:
    """The id of the stack of a resource, whether it exists or not.

    It follows from the row, so a create that is repeated after a crash
    finds what it has made.
    """
    return str(uuid.uuid5(uuid.UUID(row_uuid), "nested stack"))


def pack(resources: Mapping[str, Any]) -> dict[str, str]:
    """Data of a resource whose stack is to take over objects.

    They hold secrets of the resources in it.

    :param resources: as :func:`heat.engine.stack.adopt.read` takes them
    """
    text = json.dumps(resources)
    return {
        f"{_ADOPTS}{number}": text[start : start + _PIECE]
        for number, start in enumerate(range(0, len(text), _PIECE))
    }


def unpack(data: Mapping[str, str]) -> dict[str, Any] | None:
    """What :func:`pack` made data of; None: there are none of it."""
    keys = packed(data)
    if not keys:
        return None
    made: dict[str, Any] = json.loads("".join(data[key] for key in keys))
    return made


def packed(data: Mapping[str, str]) -> list[str]:
    """The keys that :func:`pack` made, in order."""
    keys = [key for key in data if key.startswith(_ADOPTS)]
    return sorted(keys, key=lambda key: int(key.removeprefix(_ADOPTS)))


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a nested stack is to be.

    :ivar name: of the child stack
    :ivar resource_name: of the resource in the parent
    :ivar resource_uuid: of its row; None before there is one
    :ivar template: the body, plain values; not changed
    :ivar template_name: the file it comes from, None when it is made up
    :ivar environment: the stored form of the child's environment
    :ivar files: contents by name, those of the parent
    :ivar facade: what ``resource_facade`` gives
    :ivar timeout_mins: None for the default of the service
    :ivar holds: what an update replaces is kept until the parent is updated
    """

    name: str
    resource_name: str
    resource_uuid: str | None
    template: Mapping[str, Any]
    template_name: str | None
    environment: Mapping[str, Any]
    files: Mapping[str, str]
    facade: Mapping[str, Any]
    timeout_mins: int | None = None
    holds: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """How a nested stack is."""

    action: str
    status: str
    reason: str

    def failure(self) -> exception.HeatException:
        """Why it failed, as an error that its resource can raise.

        The error of a resource inside keeps its class and its place, which
        the name of this resource is put in front of.
        """
        found = _FAILURE.fullmatch(self.reason)
        if found is None:
            return exception.Error(self.reason)
        return exception.HeatExceptionWithPath(*found.groups())


def output_value(
    name: str, outputs: Mapping[str, Mapping[str, Any]], key: str
) -> Any:
    """The value of one of a nested stack's outputs.

    :param name: of the resource
    :param outputs: as the API shows them, by key
    :raises NotFound: there is no such output
    :raises TemplateOutputError: it can't be resolved
    """
    found = outputs.get(key)
    if found is None:
        raise exception.NotFound(_("Specified output key %s not found.") % key)
    if "output_error" in found:
        raise exception.TemplateOutputError(
            resource=name, attribute=key, message=found["output_error"]
        )
    return found["output_value"]


@dataclasses.dataclass
class Tree:
    """What the checks of one request count over a stack and those below.

    :ivar limit: the most resources, -1 for any number
    :ivar ignored: codes of errors that don't count
    :ivar uses_cloud: other services are asked in the owner's name
    :ivar needs_deferred: a resource can't do without the user's trust
    :ivar described: it is only asked which parameters there are: what the
        properties in the stacks below have for values is not judged
    :ivar allows: raises Forbidden for a type that who asks may not use;
        None: nobody is asked
    """

    limit: int
    ignored: frozenset[str] = frozenset()
    described: bool = False
    allows: Callable[[str], None] | None = None
    resources: int = 0
    uses_cloud: bool = False
    needs_deferred: bool = False
    _allowed: set[str] = dataclasses.field(default_factory=set)

    def ask(self, *types: str) -> None:
        """Ask whether who asks may use these types, of each once.

        :raises Forbidden: one may not be used
        """
        if self.allows is not None:
            for each in set(types) - self._allowed:
                self.allows(each)
                self._allowed.add(each)

    def note(self, rsrc: Any) -> None:
        """Note what a resource asks for."""
        if not self.uses_cloud:
            self.uses_cloud = rsrc.asks_services()
        if rsrc.requires_deferred_auth:
            self.needs_deferred = True

    def add(self, amount: int) -> None:
        """Count resources of one of the stacks.

        :raises StackResourceLimitExceeded: they are too many now
        """
        self.allow(amount)
        self.resources += amount

    def allow(self, amount: int) -> None:
        """Check that there may be so many resources more.

        :raises StackResourceLimitExceeded: they are too many
        """
        if self.limit != -1 and self.resources + amount > self.limit:
            raise exception.StackResourceLimitExceeded(
                path="resources", limit=self.limit
            )


@dataclasses.dataclass(frozen=True)
class Nesting:
    """Where in the tree a stack is checked.

    :ivar chain: names of the templates that lead there, the top one's left
        out as it has none
    """

    tree: Tree
    chain: tuple[str, ...] = ()

    def below(
        self, template_name: str | None, depth: int, most: int
    ) -> Nesting:
        """The place of a nested stack.

        :param depth: its ``nested_depth``
        :param most: the option ``max_nested_stack_depth``
        :raises StackValidationFailed: the template holds itself, or it is
            too deep
        """
        if template_name is None:
            chain = self.chain
        else:
            chain = (*self.chain, template_name)
            if template_name in self.chain:
                raise exception.StackValidationFailed(
                    message=_(
                        "The template contains itself: %s. A template can't "
                        "be nested in itself, whatever its conditions say."
                    )
                    % " -> ".join(chain)
                )
        if depth > most:
            raise exception.StackValidationFailed(
                message=_(
                    "Recursion depth exceeds %d: stacks are nested too "
                    "deeply (option max_nested_stack_depth)."
                )
                % most
            )
        return Nesting(self.tree, chain)
