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
"""Operations on objects that are the user's: adopt, look again, hand back.

They offer what :class:`heat.engine.resource.lifecycle.Operation` offers
(``start``, ``poll``, ``cancel``) and are made of such operations. None of
them ever deletes; only handing back changes anything, and only after every
question has been answered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from heat.common import exception
from heat.common.i18n import _
from heat.engine.resource import base, lifecycle

Progress = lifecycle.Done | lifecycle.Waiting


class Steps(Protocol):
    """What an operation in progress offers."""

    def start(self) -> Progress: ...

    def poll(self) -> Progress: ...

    def cancel(self) -> None: ...


class Untouched:
    """An action that leaves the user's object alone: only the row moves."""

    remark = "the object is external: left alone"

    def start(self) -> Progress:
        return lifecycle.Done()

    def poll(self) -> Progress:
        return lifecycle.Done()

    def cancel(self) -> None:
        """There is nothing to cancel."""


class LettingGo:
    """Ends what Heat made beside an object of the user's, who keeps that.

    :ivar left: type and id of what the object uses, and so is let go too
    """

    def __init__(self, rsrc: base.Resource) -> None:
        self._rsrc = rsrc
        self.left: list[tuple[str, str]] = []

    def start(self) -> Progress:
        self.left = self._rsrc.forget_beside()
        return lifecycle.Done()

    def poll(self) -> Progress:
        return lifecycle.Done()

    def cancel(self) -> None:
        """There is nothing to cancel."""


class Observation:
    """Looks whether the user's object is there.

    :param external_id: the object to take first; None: the one it has
    """

    def __init__(
        self,
        rsrc: base.Resource,
        external_id: str | None,
        timeout_at: float | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._rsrc = rsrc
        self._external_id = external_id
        self._check = lifecycle.Operation(
            rsrc, "CHECK", timeout_at=timeout_at, monotonic=monotonic
        )
        #: what is wrong with the properties, which count for nothing now
        self.wrong = ""

    def start(self) -> Progress:
        self._rsrc.external = True
        if self._external_id is not None:
            self._rsrc.resource_id_set(self._external_id)
            self.wrong = self._wrong()
        return self._check.start()

    def _wrong(self) -> str:
        rsrc = self._rsrc
        if rsrc.accepts_anything:
            return ""
        try:
            rsrc.properties_of(rsrc.target).validate()
        except (exception.HeatException, ValueError, TypeError) as exc:
            return str(exc)
        return ""

    def poll(self) -> Progress:
        return self._check.poll()

    def cancel(self) -> None:
        self._check.cancel()


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """What handing an object back comes to.

    :ivar before: what the wanted properties are compared with
    :ivar changed: properties that an update in place brings to the object
    :ivar trusted: properties that nobody can compare or change: taken to be
        as the template says
    :ivar refused: why it can't be handed back; empty: it can
    """

    before: lifecycle.Before
    changed: tuple[str, ...]
    trusted: tuple[str, ...]
    refused: tuple[str, ...]

    def told(self) -> str:
        """The reason that events and previews show."""
        parts = [_("the object is handed back")]
        if self.changed:
            parts.append(
                _("brought to the template in place: %s")
                % ", ".join(self.changed)
            )
        else:
            parts.append(_("nothing differs"))
        if self.trusted:
            parts.append(_("taken on trust: %s") % ", ".join(self.trusted))
        return "; ".join(parts)


def compare(
    rsrc: base.Resource, recorded: Mapping[str, Any] | None
) -> Comparison:
    """Weigh an object of the user's against the properties of its resource.

    It is compared with its live state, then with what was recorded when Heat
    last owned it, then with nothing: what can be updated is applied, and
    the rest is taken on trust. Asks the service; changes nothing.

    :param recorded: the properties recorded when Heat last owned it
    """
    target = rsrc.properties_of(rsrc.target)
    wanted = base.properties_given(target)
    known = {**(recorded or {}), **_live(rsrc, target, wanted, recorded)}
    trusted = []
    if recorded is None:
        for key, value in wanted.items():
            fixed = not target.schema[key].update_allowed
            if key not in known and (fixed or key in rsrc.never_shown):
                known[key] = value
                trusted.append(key)
    before = lifecycle.Before(known)
    refused = rsrc.lacks_for_hand_back()
    action, status = rsrc.action, rsrc.status
    rsrc.status = rsrc.COMPLETE
    try:
        verdict = lifecycle.verdict(rsrc, before)
    finally:
        rsrc.action, rsrc.status = action, status
    if verdict.needs_replace:
        refused.append(verdict.because)
    return Comparison(before, verdict.changed, tuple(trusted), tuple(refused))


def _live(
    rsrc: base.Resource,
    target: Any,
    wanted: Mapping[str, Any],
    recorded: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The live values of properties that anybody has ever said something of.

    A value that only the service chose is no difference.
    """
    data = rsrc.get_live_resource_data()
    if data is None:
        return {}
    live = {
        **rsrc.live_fixed(target, data),
        **rsrc.parse_live_resource_data(target, data),
    }
    return {
        key: wanted[key] if _alike(wanted.get(key), value) else value
        for key, value in live.items()
        if key in wanted
        or key in (recorded or {})
        or target.schema[key].default is not None
    }


def _alike(wanted: Any, live: Any) -> bool:
    """Whether a list has all that is wanted: in any order, and what services
    add to a member (an address to a subnet) is no difference."""
    if not isinstance(wanted, list) or not isinstance(live, list):
        return False
    left = list(live)
    for each in wanted:
        match = next((one for one in left if _has(one, each)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _has(live: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return all(
            live.get(key) == value
            for key, value in wanted.items()
            if value is not None
        )
    return bool(live == wanted)


def look(rsrc: base.Resource) -> None:
    """Look once whether the object is there.

    :raises heat.common.exception.ResourceFailure: it is not
    """
    lifecycle.Operation(rsrc, "CHECK").start()


class HandBack:
    """Makes the user's object Heat's, and brings it to its properties.

    :param recorded: the properties recorded when Heat last owned it
    """

    def __init__(
        self,
        rsrc: base.Resource,
        recorded: dict[str, Any] | None,
        timeout_at: float | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._rsrc = rsrc
        self._recorded = recorded
        self._timeout_at = timeout_at
        self._monotonic = monotonic
        self._check: lifecycle.Operation | None = None
        self._update: lifecycle.Operation | None = None
        self.remark = ""

    def start(self) -> Progress:
        self._check = self._operation("CHECK")
        return self._next(self._check.start())

    def poll(self) -> Progress:
        if self._update is not None:
            return self._update.poll()
        if self._check is None:
            return self.start()
        return self._next(self._check.poll())

    def cancel(self) -> None:
        running = self._update or self._check
        if running is not None:
            running.cancel()

    def _operation(self, action: str, **kwargs: Any) -> lifecycle.Operation:
        return lifecycle.Operation(
            self._rsrc,
            action,
            timeout_at=self._timeout_at,
            monotonic=self._monotonic,
            **kwargs,
        )

    def _next(self, checked: Progress) -> Progress:
        """The object is there: weigh the differences, then update.

        It never replaces: that would destroy what the user has.

        :raises ResourceFailure: naming what differs
        """
        if isinstance(checked, lifecycle.Waiting):
            return checked
        found = compare(self._rsrc, self._recorded)
        if found.refused:
            raise self._refusal("; ".join(found.refused))
        self.remark = found.told()
        self._update = self._operation("UPDATE", before=found.before)
        try:
            return self._update.start()
        except exception.UpdateReplace as exc:
            raise self._refusal(_("this change needs a new object")) from exc

    def _refusal(self, why: str) -> exception.ResourceFailure:
        return exception.ResourceFailure(
            exception.Error(refusal(self._rsrc, why)), self._rsrc, "UPDATE"
        )


def refusal(rsrc: base.Resource, why: str) -> str:
    """Why an object stays external, and what to do about it."""
    return _(
        "The external object %(id)s can't be handed back, it stays external: "
        "%(why)s. Give the properties the values it has, or keep external_id."
    ) % {"id": rsrc.resource_id, "why": why}
