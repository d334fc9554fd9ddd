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

"""Resource types that are one object of one REST service, by declaration.

A class body says which service and kind of object it is, which properties
go where, and which states mean what; creating, polling, updating, showing,
checking and deleting follow. Where a service is odd, a type overrides one
of the small methods::

    class Router(rest.RestResource):
        '''Forwards packets between subnets.'''

        default_client_name = "neutron"
        entity = "router"
        properties_schema = notation.properties(...)
        body_keys = {"external_gateway_info.network": "network_id"}
        finds = {"external_gateway_info.network": "neutron.network"}

No thread waits: a state that is not final is asked for again later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors, passing
from heat.engine.resource import outcomes, rest_found

#: seconds between two looks at an object that is not ready
POLL_SECONDS = 2.0
#: seconds before a deletion that met a conflict is tried again
CONFLICT_SECONDS = 2.0
#: so often; then the conflict is what the user is told
CONFLICT_TRIES = 15


class RestResource(rest_found.FindableObject):
    """One object of one service. Sub-classes declare."""

    #: seconds between two looks at an object that is not ready
    poll_seconds: ClassVar[float] = POLL_SECONDS
    #: key of the object that tells its state; None: it has none
    status_key: ClassVar[str | None] = None
    #: states that pass; any other that is not in ``bad`` is final and good
    pending: ClassVar[frozenset[str]] = frozenset()
    #: states that fail the action
    bad: ClassVar[frozenset[str]] = frozenset({"ERROR"})
    #: the state of an object that is being made, and of one that is being
    #: deleted, as the service lists by it: all that wait are asked for at
    #: once then. None: each is looked at by itself
    creating: ClassVar[str | None] = None
    deleting: ClassVar[str | None] = None
    #: states of an object that is as good as gone
    gone: ClassVar[frozenset[str]] = frozenset()
    #: a deleted object is gone when the service has answered
    deleted_at_once: ClassVar[bool] = True

    # -- create --------------------------------------------------------------

    def handle_create(self) -> Any:
        made = self.make(self.create_body(self.properties))
        self.resource_id_set(str(made["id"]))
        self._note_listed(self.creating)
        self.finish_create(self.properties)
        return made

    def make(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the service for the object, and give what it answers."""
        made: dict[str, Any] = self.collection().create(body)
        return made

    def check_create_complete(self, token: Any) -> bool:
        if self._was_ready(token):
            return True
        self._await_listed(self.creating)
        return self.is_ready()

    def _was_ready(self, made: Any) -> bool:
        """Whether the answer to the request says that nothing is left."""
        return (
            isinstance(made, Mapping)
            and bool(made.get(self.status_key or ""))
            and self.judge(made) not in self.pending
        )

    def _note_listed(self, state: str | None) -> None:
        """Note that the service was asked to bring the object to a state."""
        ident = self.resource_id
        if state is not None and ident is not None:
            passing.note(self.client_plugin(), str(self.entity), state, ident)

    def pause(self) -> outcomes.PollDelay:
        """What is raised while the object is not ready: when to look again."""
        return outcomes.PollDelay(self.poll_seconds)

    def _await_listed(self, state: str | None) -> None:
        """Wait on where the service lists the object in a state.

        :raises PollDelay: it does
        """
        ident = self.resource_id
        if state is None or ident is None:
            return
        plugin = self.client_plugin()
        if passing.is_in(plugin, str(self.entity), state, ident):
            raise self.pause()

    def is_ready(self) -> bool:
        """Whether the object's state is final and good.

        :raises heat.common.exception.ResourceInError: the state is bad
        :raises PollDelay: the state will pass
        """
        if self.status_key is None or not self.pending:
            return True
        shown = self.shown()
        status = self.judge(shown)
        if status in self.pending:
            raise self.pause()
        return True

    def judge(self, shown: Mapping[str, Any]) -> str:
        """The state of a shown object.

        :raises heat.common.exception.ResourceInError: it is a bad one
        """
        status = str(shown.get(self.status_key or "") or "").upper()
        if status in self.bad:
            raise exception.ResourceInError(
                resource_status=status, status_reason=self.fault(shown)
            )
        return status

    def fault(self, shown: Mapping[str, Any]) -> str:
        """Why an object is in a bad state, in its service's words."""
        return _("the service doesn't say why")

    # -- update --------------------------------------------------------------

    #: key of the data that notes what :meth:`prepare_for_replace` took
    given_up: ClassVar[str] = "given_up"

    def changed_beyond(self) -> str:
        if self.given_up in self.data():
            return _("it made way for a replacement that isn't wanted now")
        return super().changed_beyond()

    def take_back(self) -> None:
        """Undo :meth:`prepare_for_replace`, if that happened."""
        if self.given_up in self.data():
            self.restore_prev_rsrc(convergence=True)
            self.data_delete(self.given_up)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        self.take_back()
        if not prop_diff:
            return None
        after = self.properties_of(json_snippet)
        body = self.update_body(prop_diff, after)
        if body:
            self.collection().update(self.resource_id, body)
        self.finish_update(prop_diff, after)
        return prop_diff

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        """What takes further calls once the object is changed."""

    def check_update_complete(self, token: Any) -> bool:
        return not token or self.is_ready()

    # -- delete --------------------------------------------------------------

    def handle_delete(self) -> Any:
        """Delete the object; one that is gone already is no error."""
        if self.resource_id is None:
            return None
        return {"tries": 0, "accepted": self.delete_object()}

    def delete_object(self) -> bool:
        """Ask for the deletion; False when a conflict forbids it yet."""
        try:
            self.remove_object()
        except Exception as exc:
            if errors.is_conflict(exc) and not errors.is_over_limit(exc):
                self._conflict = exc
                return False
            self.client_plugin().ignore_not_found(exc)
            self.resource_id_set(None)
        self._note_listed(self.deleting)
        return True

    _conflict: Exception | None = None

    def remove_object(self) -> None:
        """Ask for the deletion, after that of what has to go before.

        :raises heat.engine.clients.errors.ServiceError: what the service
            says, also that the object is gone
        """
        self.collection().delete(self.resource_id)

    def check_delete_complete(self, token: Any) -> bool:
        if token is None or self.resource_id is None:
            return True
        if not token["accepted"]:
            token["tries"] += 1
            token["accepted"] = self.delete_object()
            if not token["accepted"]:
                if token["tries"] >= CONFLICT_TRIES and self._conflict:
                    raise self._conflict
                raise outcomes.PollDelay(CONFLICT_SECONDS)
        if self.deleted_at_once or self.resource_id is None:
            return True
        return self.is_gone()

    def is_gone(self) -> bool:
        """Whether the object is not there any more."""
        self._await_listed(self.deleting)
        try:
            shown = self.shown()
        except Exception as exc:
            self.client_plugin().ignore_not_found(exc)
            return True
        if str(shown.get(self.status_key or "") or "").upper() in self.gone:
            return True
        self.judge_deleting(shown)
        raise self.pause()

    def judge_deleting(self, shown: Mapping[str, Any]) -> None:
        """Look at an object that is being deleted.

        :raises heat.common.exception.ResourceInError: it won't go
        """
        self.judge(shown)

    # -- look ----------------------------------------------------------------

    def handle_check(self) -> None:
        """Find out whether the object is there and well.

        :raises heat.common.exception.EntityNotFound: it is gone
        """
        try:
            shown = self.shown()
        except Exception as exc:
            told = isinstance(exc, exception.EntityNotFound)
            if told or not errors.is_not_found(exc):
                raise
            raise exception.EntityNotFound(
                entity=self.collection().what.capitalize(),
                name=self.resource_id,
            ) from exc
        self.judge(shown)

    def get_live_resource_data(self) -> Any:
        """The live object.

        :raises heat.common.exception.EntityNotFound: it is gone
        :raises heat.common.exception.ResourceInError: it is in a bad state
        """
        found = super().get_live_resource_data()
        if found is not None and self.status_key is not None:
            self.judge(found)
        return found

    def _show_resource(self) -> dict[str, Any] | None:
        return None if self.resource_id is None else self.shown()

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        return self.shown().get(self.attribute_keys.get(name, name))


def refused(name: str, why: str) -> exception.StackValidationFailed:
    """What a property's value is refused with."""
    return exception.StackValidationFailed(
        path=["properties", name], message=why
    )
