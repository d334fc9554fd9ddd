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

"""What the types of the load balancing service have in common.

The service changes one object of a load balancer at a time: meanwhile the
load balancer is immutable, and whoever comes with another change is sent
away. Such a change is asked for again until it is taken.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from heat.engine import attributes
from heat.engine.clients import errors
from heat.engine.resource import notation, outcomes, rest

#: seconds, on average, until the first look at what is not done, and how many
#: times as long each further pause is
FIRST_SECONDS: Final = 0.2
LONGER: Final = 1.3

_IMMUTABLE: Final = re.compile(
    r"(Load Balancer|Listener|Pool|L7Policy) (\S+) is immutable"
    r"|Invalid state PENDING_\w+ of loadbalancer"
)
_TAKEN: Final = re.compile(
    "already has a health monitor|already using ip|already has a default pool"
)
_ENTITIES: Final = {
    "Load Balancer": "loadbalancer",
    "Listener": "listener",
    "Pool": "pool",
    "L7Policy": "l7policy",
}


@dataclasses.dataclass
class _Change:
    """An update that the service has not taken yet."""

    arguments: tuple[Any, Any, Mapping[str, Any]]
    taken: bool = False


def is_immutable(exc: BaseException | None) -> bool:
    """Whether an error says that it's another change's turn."""
    return (
        exc is not None
        and errors.is_conflict(exc)
        and _IMMUTABLE.search(errors.words(exc)) is not None
    )


def changing(text: str) -> dict[str, attributes.Schema]:
    """Attributes that others change, so that they are read each time.

    :param text: as :func:`heat.engine.resource.notation.attributes` takes it
    """
    found = notation.attributes(text)
    for each in found.values():
        each.cache_mode = each.CACHE_NONE
    return found


class BalancerPart(rest.RestResource):
    """A load balancer, or something that belongs to one."""

    default_client_name = "octavia"
    #: seconds between two looks at most, on average
    poll_seconds = 1.0
    status_key: ClassVar[str | None] = "provisioning_status"
    pending = frozenset({"PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE"})
    gone = frozenset({"DELETED"})
    deleted_at_once = False
    _pause = FIRST_SECONDS

    def pause(self) -> outcomes.PollDelay:
        """See the base; also when to ask again for what wasn't taken.

        Most changes take a moment, and who waits for one keeps others
        waiting for their turn: so the first looks come soon. Not all who
        wait come at the same time.
        """
        wait = self._pause
        self._pause = min(wait * LONGER, self.poll_seconds)
        share = random.uniform(0.5, 1.5)  # noqa: S311 - no secret
        return outcomes.PollDelay(wait * share)

    def shown(self) -> dict[str, Any]:
        """See the base; what it belongs to is told as it was given, too."""
        found = super().shown()
        for key in ("loadbalancer", "listener", "pool"):
            owners: list[Any] = found.get(f"{key}s") or []
            if key != self.entity and len(owners) == 1:
                found.setdefault(f"{key}_id", owners[0]["id"])
        return found

    def again(self, exc: Exception) -> outcomes.PollDelay:
        """The answer to an error that says that it's another's turn, or that
        what this one replaces is in its place still.

        :raises Exception: the error itself, when it says something else or
            what is immutable will stay so
        """
        words = errors.words(exc)
        found = _IMMUTABLE.search(words)
        if not errors.is_conflict(exc):
            raise exc
        if found is None and not (_TAKEN.search(words) and self.make_room()):
            raise exc
        if found is not None and found[1] is not None:
            owner = self.collection(_ENTITIES[found[1]]).get(found[2])
            if owner.get("provisioning_status") == "ERROR":
                raise exc
        return self.pause()

    def make_room(self) -> bool:
        """Take away what this object replaces, where there is room for one.

        :returns: False: it isn't that which is in the way
        """
        return False

    def was_made_here(self, other: Mapping[str, Any]) -> bool:
        """Whether an object was made for this resource of the stack, for
        this row or another."""
        name = str(other.get("name") or "")
        start, _hyphen, end = name.rpartition("-")
        return start == f"{self.stack.name}-{self.name}" and len(end) == 12

    # -- create --------------------------------------------------------------

    def handle_create(self) -> Any:
        try:
            return super().handle_create()
        except errors.Conflict as exc:
            self.again(exc)
            return None

    def check_create_complete(self, token: Any) -> bool:
        if self.resource_id is not None:
            return super().check_create_complete(token)
        try:
            made = super().handle_create()
        except errors.Conflict as exc:
            raise self.again(exc) from exc
        return super().check_create_complete(made)

    def is_whole_when_found(self) -> bool:
        """See the base. It takes one call, however often that is tried."""
        return True

    # -- update --------------------------------------------------------------

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        change = _Change((json_snippet, tmpl_diff, prop_diff))
        try:
            self._change(change)
        except errors.Conflict as exc:
            self.again(exc)
        return change

    def _change(self, change: _Change) -> None:
        super().handle_update(*change.arguments)
        change.taken = True

    def check_update_complete(self, token: Any) -> bool:
        if not token.taken:
            try:
                self._change(token)
            except errors.Conflict as exc:
                raise self.again(exc) from exc
        return self.is_ready()

    # -- delete --------------------------------------------------------------

    def delete_object(self) -> bool:
        taken = super().delete_object()
        if not taken and is_immutable(self._conflict) and self._conflict:
            # Raises where waiting is of no use.
            self.again(self._conflict)
        return taken

    def check_delete_complete(self, token: Any) -> bool:
        if token is None or token["accepted"]:
            return super().check_delete_complete(token)
        token["accepted"] = self.delete_object()
        if token["accepted"]:
            return super().check_delete_complete(token)
        if is_immutable(self._conflict):
            # The stack's time is all the time that there is.
            raise self.pause()
        token["tries"] += 1
        if token["tries"] >= rest.CONFLICT_TRIES and self._conflict:
            raise self._conflict
        raise outcomes.PollDelay(rest.CONFLICT_SECONDS)


class Leaf(BalancerPart):
    """A part that has its place for itself, and that nothing refers to.

    One can't be made while that which it replaces is there. So the new one
    deletes the old, and the old one is made again when it is wanted after
    all.
    """

    def in_its_place(self) -> list[dict[str, Any]]:
        """The objects that are where this one is to be."""
        raise NotImplementedError

    def make_room(self) -> bool:
        for other in self.in_its_place():
            if not self.was_made_here(other):
                return False
            try:
                self.collection().delete(other["id"])
            except (errors.Conflict, errors.NotFound):
                # It goes already, or it's another's turn.
                continue
        return True

    def prepare_for_replace(self) -> None:
        """Note that it may have been deleted."""
        if self.resource_id is not None:
            self.data_set(self.given_up, "1")

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Make it again, unless it is there."""
        try:
            status = self.shown().get("provisioning_status")
        except errors.NotFound:
            status = None
        if status in (None, "DELETED", "PENDING_DELETE"):
            made = self.make(self.create_body(self.properties))
            self.resource_id_set(str(made["id"]))
