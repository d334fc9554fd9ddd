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

from collections.abc import Callable
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

    def start(self) -> Progress:
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

    def start(self) -> Progress:
        self._rsrc.external = True
        if self._external_id is not None:
            self._rsrc.resource_id_set(self._external_id)
        return self._check.start()

    def poll(self) -> Progress:
        return self._check.poll()

    def cancel(self) -> None:
        self._check.cancel()


class HandBack:
    """Makes the user's object Heat's, and brings it to its properties.

    What it is compared with is, in this order: its live state; what was
    recorded when Heat last owned it; nothing, and then what can't be
    updated is taken on trust.

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
        """The object is there: weigh the differences, then update."""
        if isinstance(checked, lifecycle.Waiting):
            return checked
        before = self._before()
        self._refuse(before)
        self._update = self._operation("UPDATE", before=before)
        return self._update.start()

    def _before(self) -> lifecycle.Before:
        rsrc = self._rsrc
        wanted = rsrc.stored_properties()
        live = rsrc.get_live_state(rsrc.properties_of(rsrc.target)) or {}
        known = {**(self._recorded or {}), **live}
        if self._recorded is None:
            schema = rsrc.properties_of(rsrc.target).schema
            for key, value in wanted.items():
                if key not in known and not schema[key].update_allowed:
                    known[key] = value
        return lifecycle.Before(known)

    def _refuse(self, before: lifecycle.Before) -> None:
        """A hand-back never replaces: it would destroy what the user has.

        :raises ResourceFailure: naming what differs
        """
        rsrc = self._rsrc
        rsrc.status = rsrc.COMPLETE
        verdict = lifecycle.verdict(rsrc, before)
        if verdict.needs_replace:
            raise exception.ResourceFailure(
                exception.Error(
                    _(
                        "The external object %(id)s can't be handed back, it "
                        "stays external: %(why)s. Give the properties the "
                        "values it has, or keep external_id."
                    )
                    % {"id": rsrc.resource_id, "why": verdict.because}
                ),
                rsrc,
                "UPDATE",
            )
