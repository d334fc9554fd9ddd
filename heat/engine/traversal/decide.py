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
"""What is to be done with one node: values in, a step out. Pure.

The two tables below are the whole policy; :mod:`.check` only carries the
steps out. Each case is a row of the table test.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from heat.engine.resource.external import Move


class Step(enum.Enum):
    """The vocabulary of a traversal."""

    WAIT = "another operation holds the row; its end sends the node again"
    # update nodes
    KEEP = "nothing differs"
    CREATE = "make the object"
    RESUME = "go on with a create whose engine stopped"
    UPDATE = "change the object in place"
    REPLACE = "insert a replacement and check that instead"
    # update nodes whose object is the user's, or becomes so, or was
    ADOPT = "take the user's object after looking at it"
    TAKE = "take over an object that was abandoned elsewhere"
    PASS = "the object becomes the user's; nothing is touched"  # noqa: S105
    OBSERVE = "look at the user's object again"
    HAND_BACK = "the user's object becomes Heat's and gets its properties"
    # nodes of SUSPEND, RESUME, CHECK, LOCK, UNLOCK
    ACT = "carry out the stack's action on the object"
    REFUSE = "what it is in does not allow the action; the row stays"
    # clean-up nodes
    NOTHING = "the row is the living one"
    CLEAN = "the nested stack deletes what its update replaced"
    DELETE = "delete the object, then the row is DELETE_COMPLETE"
    FORGET = "let the object go; only the row ends"
    RELEASE = "undo what we did to the object, then let it go"
    DROP = "there never was an object; only the row ends"


# Clean-up steps that the plug-in carries out.
NEED_PLUGIN = frozenset({Step.DELETE, Step.RELEASE, Step.CLEAN})


@dataclasses.dataclass(frozen=True)
class Change:
    """How the wanted definition differs from what is recorded.

    :param because: what forces a replacement, or what changed, for people
    """

    needs_update: bool = False
    needs_replace: bool = False
    changed: tuple[str, ...] = ()
    because: str = ""


@dataclasses.dataclass(frozen=True)
class UpdateFacts:
    """The facts about an update node's acting row.

    :param same_class: the wanted type is the row's, or a substitute of it
    :param change: None while nothing was compared (the row is new)
    :param move: how the object changes hands
    :param adopts: it is to take over an object, not to make one
    :param resumes: its create was interrupted, is wanted as it was begun,
        and its type can tell from the object how far it is
    """

    action: str
    status: str
    claimed: bool = False
    same_class: bool = True
    change: Change | None = None
    move: Move = Move.NONE
    adopts: bool = False
    resumes: bool = False


@dataclasses.dataclass(frozen=True)
class CleanupFacts:
    """The facts about a clean-up node's row.

    :param living: the row is what this traversal wants under its name
    :param has_object: a physical id is recorded
    :param deletion_policy: ``delete``, ``retain`` or ``snapshot`` of the
        template that the row was last finished with
    :param external: the object belongs to the user
    :param readers: who else holds it as the user's; empty: nobody
    :param beside: there is more that was made for it
    :param locked: we hold a lock on it (LOCK or UNLOCK had failed)
    :param abandoned: the whole stack lets go of its objects
    :param nested: what it has is a stack of its own
    """

    action: str
    status: str
    claimed: bool = False
    living: bool = False
    has_object: bool = True
    deletion_policy: str = "delete"
    external: bool = False
    readers: tuple[str, ...] = ()
    beside: bool = False
    locked: bool = False
    abandoned: bool = False
    nested: bool = False


@dataclasses.dataclass(frozen=True)
class WalkFacts:
    """The facts about a row that SUSPEND, RESUME or CHECK visits.

    :param wanted: the stack's action
    :param external: the object belongs to the user
    """

    wanted: str
    action: str
    status: str
    claimed: bool = False
    has_object: bool = True
    external: bool = False


@dataclasses.dataclass(frozen=True)
class LockFacts:
    """The facts about a row that LOCK or UNLOCK visits.

    :param wanted: LOCK or UNLOCK
    :param action: of its base
    :param shown: action and status as users see them
    :param living: no replacement has its place, and it is no stray
    :param held: we hold a lock on its object
    """

    wanted: str
    action: str
    shown: tuple[str, str]
    claimed: bool = False
    living: bool = True
    has_object: bool = True
    external: bool = False
    held: bool = False


# The moves that a row and its object do not make together, and why.
_PARTING = {
    Move.SWAP: "external_id changed",
    Move.PART: "its object is external under another name",
    Move.LEAVE: "another resource has its object",
}


def update_step(facts: UpdateFacts) -> tuple[Step, str]:
    """The step of an update node, and why.

    =====================================  =========
    the row                                step
    =====================================  =========
    is held                                WAIT
    is INIT, to take a user's object       ADOPT
    is INIT, to adopt                      TAKE
    is INIT                                CREATE
    is being or was deleted                REPLACE
    is to take another object              REPLACE
    has what is the user's elsewhere       REPLACE
    has what is another resource's         REPLACE
    has another class                      REPLACE
    passes to the user, is COMPLETE        PASS
    passes to the user, FAILED             OBSERVE
    stays the user's, is COMPLETE          KEEP
    stays the user's, FAILED               OBSERVE
    is handed back                         HAND_BACK
    was interrupted, and can go on         RESUME
    needs it, says its plug-in             REPLACE
    differs, or is FAILED                  UPDATE
    is equal                               KEEP
    =====================================  =========
    """
    if facts.claimed:
        return Step.WAIT, "held by another operation"
    if facts.action == "INIT":
        if facts.move is Move.ADOPT:
            return Step.ADOPT, "new"
        return Step.TAKE if facts.adopts else Step.CREATE, "new"
    if facts.action == "DELETE":
        return Step.REPLACE, "it was being deleted"
    if facts.move in _PARTING:
        return Step.REPLACE, _PARTING[facts.move]
    if not facts.same_class:
        return Step.REPLACE, "type changed"
    if facts.move is not Move.NONE:
        return _moved(facts)
    if facts.resumes:
        return Step.RESUME, "its engine stopped"
    change = facts.change or Change()
    if change.needs_replace:
        return Step.REPLACE, change.because
    if facts.status != "COMPLETE" or change.needs_update:
        return Step.UPDATE, change.because or "repair"
    return Step.KEEP, ""


def _moved(facts: UpdateFacts) -> tuple[Step, str]:
    """The step of a row whose object is or was the user's."""
    if facts.move is Move.HAND_BACK:
        return Step.HAND_BACK, "external_id removed"
    if facts.status != "COMPLETE":
        return Step.OBSERVE, f"{facts.action} {facts.status}"
    if facts.move is Move.PASS:
        return Step.PASS, "the object becomes external"
    return Step.KEEP, ""


# Failures that an action must not cover: its own state would stand in their
# place, so the object passed for whole and no update would repair it.
_UNFIT: Mapping[str, frozenset[str]] = {
    "CHECK": frozenset({"CREATE"}),
    # After a failed update it goes on: what was tried is known still.
    "SUSPEND": frozenset({"CREATE", "CHECK"}),
}


def refuses(wanted: str, action: str, status: str, *, external: bool) -> bool:
    """Whether what a row is in does not allow the stack's action.

    :param wanted: the stack's action
    :param action: the row's
    :param external: the object is the user's; nothing is done with it
    """
    return status == "FAILED" and action in unfit(wanted) and not external


def unfit(wanted: str) -> frozenset[str]:
    """The actions whose failure does not allow the stack's action."""
    return _UNFIT.get(wanted, frozenset())


def walk_step(facts: WalkFacts) -> tuple[Step, str]:
    """The step of a node of SUSPEND, RESUME or CHECK, and why.

    =====================================  =========
    the row                                step
    =====================================  =========
    is held                                WAIT
    could not be created: SUSPEND, CHECK   REFUSE
    was found unhealthy: SUSPEND           REFUSE
    could not be created: others           NOTHING
    is INIT, or is being deleted           NOTHING
    has no object                          NOTHING
    already is what is asked for           NOTHING
    is to be resumed, was not suspended    NOTHING
    otherwise                              ACT
    =====================================  =========

    REFUSE fails the stack's action, and leaves the row as it is: what it
    says is what the next update goes by.
    """
    if facts.claimed:
        return Step.WAIT, "held by another operation"
    state = (facts.action, facts.status)
    if refuses(facts.wanted, *state, external=facts.external):
        return Step.REFUSE, f"{facts.action} {facts.status}"
    if facts.action in ("INIT", "DELETE") or not facts.has_object:
        return Step.NOTHING, "there is no object"
    if state == ("CREATE", "FAILED"):
        # Else it would pass for whole, and no update would replace it.
        return Step.NOTHING, "it was not created completely"
    if facts.wanted == "SUSPEND" and state == ("SUSPEND", "COMPLETE"):
        return Step.NOTHING, "suspended already"
    if facts.wanted == "RESUME" and facts.action not in ("SUSPEND", "RESUME"):
        return Step.NOTHING, "was not suspended"
    if facts.wanted == "RESUME" and state == ("RESUME", "COMPLETE"):
        return Step.NOTHING, "resumed already"
    return Step.ACT, ""


def lock_step(facts: LockFacts) -> tuple[Step, str]:
    """The step of a node of LOCK or UNLOCK, and why.

    =====================================  =========
    the row                                step
    =====================================  =========
    is held by another operation           WAIT
    is INIT, or is being deleted           NOTHING
    is an old version or a stray           NOTHING
    has no object, or one of the user's    NOTHING
    is to be locked, and is                NOTHING
    is to be released, and shows no lock   NOTHING
    otherwise                              ACT
    =====================================  =========

    ACT comes to nothing where the plug-in has no handler.
    """
    if facts.claimed:
        return Step.WAIT, "held by another operation"
    if facts.held and facts.wanted == "UNLOCK":
        return Step.ACT, ""
    if facts.action in ("INIT", "DELETE") or not facts.has_object:
        return Step.NOTHING, "there is no object"
    if not facts.living:
        return Step.NOTHING, "on its way out"
    if facts.external:
        return Step.NOTHING, "external"
    if facts.wanted == "LOCK":
        if facts.held and facts.shown == ("LOCK", "COMPLETE"):
            return Step.NOTHING, "locked already"
        return Step.ACT, ""
    if facts.shown[0] not in ("LOCK", "UNLOCK"):
        return Step.NOTHING, "was not locked"
    return Step.ACT, ""


def cleanup_step(facts: CleanupFacts) -> tuple[Step, str]:
    """The step of a clean-up node, and why.

    =====================================  =========
    the row                                step
    =====================================  =========
    is held                                WAIT
    is the living one, a stack of its own  CLEAN
    is the living one                      NOTHING
    is deleted already                     NOTHING
    is INIT without an object              DROP
    is the user's, and there is no object  DROP
    holds an object of the user's          FORGET
    holds one that others say is that      FORGET
    the same two, things made beside it    RELEASE
    is abandoned, is a stack of its own    DELETE
    is abandoned, has no object            DROP
    is abandoned, locked by us             RELEASE
    is abandoned                           FORGET
    is to be retained, locked by us        RELEASE
    is to be retained, has an object       FORGET
    otherwise                              DELETE
    =====================================  =========
    """
    if facts.claimed:
        return Step.WAIT, "held by another operation"
    if facts.living:
        return Step.CLEAN if facts.nested else Step.NOTHING, "living"
    if (facts.action, facts.status) == ("DELETE", "COMPLETE"):
        return Step.NOTHING, "deleted already"
    if facts.action == "INIT" and not facts.has_object:
        return Step.DROP, "never created"
    if facts.external and not facts.has_object:
        return Step.DROP, "external"
    if facts.external or facts.readers:
        step = Step.RELEASE if facts.beside else Step.FORGET
        names = ", ".join(facts.readers)
        return step, "external" if facts.external else f"external to {names}"
    if facts.abandoned:
        return _abandoned(facts)
    if facts.deletion_policy == "retain" and facts.locked:
        return Step.RELEASE, "deletion_policy: retain"
    if facts.deletion_policy == "retain" and facts.has_object:
        return Step.FORGET, "deletion_policy: retain"
    # What a create may have left that nobody was told of would be lost to
    # everybody: that is found and deleted, whatever the policy.
    return Step.DELETE, "not wanted any more"


def _abandoned(facts: CleanupFacts) -> tuple[Step, str]:
    """The step of a row whose stack lets go of all it has."""
    if facts.nested:
        # The stack is Heat's; it lets go of what it has in its turn.
        return Step.DELETE, "abandoned"
    if not facts.has_object:
        return Step.DROP, "abandoned without an object"
    return Step.RELEASE if facts.locked else Step.FORGET, "abandoned"
