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
"""What the engine needs from the outside, handed in at start.

Nothing below :mod:`heat.engine.service` imports RPC: messages leave through
:class:`NodeSender`.  Tests and the simulation hand in a queue.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import typing
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence

from heat.common.context import RequestContext
from heat.db import stacks
from heat.db.session import Database
from heat.engine.paces import Paces
from heat.engine.plugins import PluginRegistry
from heat.engine.resource import Resource, StackView, child

# A node of a traversal: the row id of a resource (0: the stack itself) and
# whether it is the update half (True) or the clean-up half (False).
NodeKey = tuple[int, bool]

# Part of ``dead_after`` after which an engine that can't renew its sign of
# life stops: before others may take its work over.
PATIENCE = 0.75


class NodeSender(typing.Protocol):
    """Carries hints that nodes are ready; the database is the truth."""

    def send(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[NodeKey],
    ) -> None:
        """Pass the hint on, at least once, after the commit that made it true.

        Losing it costs time only: recovery sends every ready node again.
        """

    def wake(
        self, context: RequestContext, engine_id: str, stack_id: str
    ) -> None:
        """Tell an engine that a nested stack has ended, whose parent's
        resource waits there.

        Losing it costs time only: who waits looks now and then as well.
        """


class SceneKeeper(typing.Protocol):
    """Has traversals at hand for whoever works on their nodes here."""

    def keep(
        self,
        scene: typing.Any,
        claimed: Sequence[typing.Any],
        ended: Sequence[typing.Any],
    ) -> None:
        """Take one that this engine has just begun.

        :param scene: a :class:`heat.engine.traversal.scene.Scene`
        :param claimed: operations that its beginning has claimed, to start
            now; each is a :class:`heat.engine.traversal.tasks.Task`
        :param ended: nodes with which there is nothing to do, to be written;
            each is a :class:`heat.engine.traversal.tasks.Result`
        """


class ChildStacks(typing.Protocol):
    """Makes, changes and shows the stacks that are resources.

    Plug-ins reach it as ``self.stack.values.ports.children``. Nothing here
    waits: a child runs as a traversal of its own, on any engine.
    """

    def create(
        self,
        parent: StackView,
        child_id: str,
        wanted: child.Wanted,
        adopts: Mapping[str, typing.Any] | None = None,
    ) -> bool:
        """Begin to create the child; one that is there is left running.

        :param adopts: the data of an abandoned stack, whose objects the
            child takes over in place of making new ones
        :returns: whether something began
        :raises EntityNotFound: there was one, and it was deleted
        :raises HeatException, ValueError: of class 400
        """

    def update(
        self, parent: StackView, child_id: str, wanted: child.Wanted
    ) -> bool:
        """Bring the child to what is wanted, whatever it is doing.

        Nothing begins when it is that, or is on the way to it.

        :returns: whether something began
        :raises EntityNotFound: there is none, or it was deleted
        :raises ActionInProgress: it is busy with what can't be superseded
        :raises HeatException, ValueError: of class 400
        """

    def clean_up(
        self, parent: StackView, child_id: str, resource_uuid: str | None
    ) -> bool:
        """Begin to delete what the child has kept of an update.

        Until the parent had pointed everything elsewhere, something there
        may have used it.

        :param resource_uuid: of the row of the parent's resource
        :returns: whether something began
        :raises EntityNotFound: there is no child
        :raises ActionInProgress: it is busy with something else
        """

    def delete(self, parent: StackView, child_id: str) -> bool:
        """Begin to delete the child; one that is gone is no error.

        Where the parent lets its objects go, the child does so, too.

        :returns: whether it is being deleted
        """

    def export(
        self, parent: StackView, child_id: str
    ) -> dict[str, typing.Any]:
        """What another Heat needs to adopt the child.

        :raises EntityNotFound: there is no child
        """

    def act(
        self,
        parent: StackView,
        child_id: str,
        action: str,
        resource_uuid: str | None,
    ) -> bool:
        """Begin SUSPEND, RESUME or CHECK on the child.

        What an earlier operation on the parent's resource has left running
        in the child is stopped first.

        :param resource_uuid: of the row of the parent's resource
        :returns: whether the child was whole, so far as can be told
        :raises EntityNotFound: there is none
        :raises ActionInProgress: it is busy with something else
        """

    def cancel(
        self, parent: StackView, child_id: str, resource_uuid: str | None
    ) -> None:
        """Stop what the child is doing and leave it where it is.

        :param resource_uuid: of the row of the parent's resource
        :raises Error: this engine does not work on that any more, so what
            the child is doing may be what others have begun
        """

    def state(self, child_id: str) -> child.State | None:
        """How the child is; None when it is gone or never was."""

    def seeing(
        self, child_ids: Collection[str]
    ) -> contextlib.AbstractContextManager[None]:
        """Within it, :meth:`state` in this thread answers from one look at
        all of these."""

    def varies(self, child_id: str) -> bool:
        """Whether something in a child, or below, must be read each time."""

    def outputs(
        self, parent: StackView, child_id: str
    ) -> Mapping[str, Mapping[str, typing.Any]]:
        """The child's outputs by key, as the API shows them.

        :raises EntityNotFound: there is no child
        """

    def look(self, parent: StackView, stack_id: str) -> None:
        """Check that a stack can be referred to as if it were nested.

        :raises EntityNotFound: there is none, or it is another project's
        :raises NotSupported: it is a nested stack, or the parent itself
        """

    def resource(self, parent: StackView, name: str) -> Resource:
        """The plug-in object of a resource of the parent itself, to look at.

        :raises EntityNotFound: there is no such resource, or stack
        """

    def whole(self, parent: StackView) -> StackView | None:
        """The parent itself with all its living resources, wanted or not;
        None when it is not stored."""

    def view(self, parent: StackView, child_id: str) -> StackView | None:
        """The child with what is known of its resources, or None."""

    def validate(self, parent: StackView, wanted: child.Wanted) -> None:
        """Check the child, and those below it, before there is one.

        :raises StackValidationFailed: and others of class 400, with the
            path inside of the child
        """


class Delegation(typing.Protocol):
    """Sees to it that an engine can act when a user's token has ended."""

    def ensure(
        self,
        context: RequestContext,
        stack: stacks.StackRecord,
        tree: child.Tree,
    ) -> int | None:
        """The credentials by which is acted for a stack, made if needed.

        Those of a stack that is stored are stored with it; those of a new
        one are its ``user_creds_id``.

        :param stack: as it is stored, or a draft of a new one
        :param tree: what its resources, and those below, ask for
        :returns: their id; None: there are none
        :raises MissingCredentialError: there must be some
        """

    def end(self, creds_id: int) -> None:
        """Delete credentials, and their trust, that no stack has (any
        more); those that one has are left alone."""


class Publisher(typing.Protocol):
    """Tells others of what happens; never waits, never fails."""

    def autoscaling(
        self, stack: StackView, suffix: str, told: Mapping[str, typing.Any]
    ) -> None:
        """Notify of the change of a group's size.

        :param suffix: ``start``, ``end`` or ``error``
        :param told: more keys of the payload
        """


class TypeRules(typing.Protocol):
    """Knows which resource types a user may use."""

    def may_use_resource_type(
        self, context: RequestContext, resource_type: str
    ) -> bool:
        """Whether the caller may use a type."""

    def require_resource_type(
        self, context: RequestContext, resource_type: str
    ) -> None:
        """Refuse a type that the caller may not use.

        :raises Forbidden: naming the type
        """


class NoTypeRules:
    """Everybody may use every type."""

    def may_use_resource_type(
        self, context: RequestContext, resource_type: str
    ) -> bool:
        return True

    def require_resource_type(
        self, context: RequestContext, resource_type: str
    ) -> None:
        pass


class InHand:
    """The claims whose operation this process still has in memory.

    An operation that is forgotten (its turn failed, the answer to a commit
    got lost) is gone from here by itself; recovery then lets its row go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: weakref.WeakKeyDictionary[object, tuple[str, int]] = (
            weakref.WeakKeyDictionary()
        )

    def add(self, holder: object, claim: tuple[str, int]) -> None:
        """Keep a claim as long as its holder lives.

        :param claim: claim id and row id
        """
        with self._lock:
            self._claims[holder] = claim

    def claims(self) -> set[tuple[str, int]]:
        with self._lock:
            return set(self._claims.values())


def _nobody_knows(_moment: float) -> bool:
    """Without signs of life nobody can say."""
    return False


def _no_probe(_point: str) -> None:
    """Nothing happens at a crash point unless a test says so."""


@dataclasses.dataclass
class Engine:
    """One engine process: its database, its name, its ports.

    ``monotonic`` gives seconds; the simulation hands in its own clock.
    ``probe`` is called with the name of each crash point that is passed
    (``claimed``, ``called``, ``finishing``, ``finished``, ``sending``,
    ``trusted``); a test raises there what a kill would be. ``alive_since``
    tells whether nobody can have taken over since then what it holds.
    """

    db: Database
    conf: typing.Any
    engine_id: str
    plugins: PluginRegistry
    sender: NodeSender
    monotonic: Callable[[], float]
    probe: Callable[[str], None] = _no_probe
    alive_since: Callable[[float], bool] = _nobody_knows
    in_hand: InHand = dataclasses.field(default_factory=InHand)
    scenes: SceneKeeper | None = None
    children: ChildStacks | None = None
    delegation: Delegation | None = None
    publisher: Publisher | None = None
    type_rules: TypeRules = dataclasses.field(default_factory=NoTypeRules)
    paces: Paces = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.paces = Paces(self.monotonic)

    @property
    def grace(self) -> float:
        """Seconds in which nobody takes over what this engine has claimed.

        It was not silent for longer than its patience then.
        """
        return (1 - PATIENCE) * float(self.conf.engine.dead_after)
