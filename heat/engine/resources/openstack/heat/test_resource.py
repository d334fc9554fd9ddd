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

"""OS::Heat::TestResource: does what a test wants of a resource.

It succeeds, fails, takes its time or asks to be replaced, as its
properties say. Where objects are recorded (see
:mod:`heat.engine.clients.stand_in`) each has one that tests can count.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import (
    attributes,
    constraints,
    properties,
    resource,
    support,
)
from heat.engine.clients import stand_in


@dataclasses.dataclass(frozen=True, slots=True)
class _Wait:
    """The token: when the action is over, and how it ends."""

    until: float
    fail: bool = False
    value: str | None = None


class TestResource(resource.Resource):
    """A resource which stores the string value that was provided.

    Used only for testing: any service can be stood in for.
    """

    __test__ = False  # not a test, for what collects tests by name

    support_status = support.SupportStatus(version="5.0.0")
    resumes_create = True

    PROPERTIES = (
        VALUE,
        UPDATE_REPLACE,
        FAIL,
        WAIT_SECS,
        ATTR_WAIT_SECS,
        ACTION_WAIT_SECS,
        CLIENT_NAME,
        ENTITY_NAME,
        CONSTRAINT_PROP_SECS,
        UPDATE_REPLACE_VALUE,
    ) = (
        "value",
        "update_replace",
        "fail",
        "wait_secs",
        "attr_wait_secs",
        "action_wait_secs",
        "client_name",
        "entity_name",
        "constraint_prop_secs",
        "update_replace_value",
    )
    ATTRIBUTES = (OUTPUT,) = ("output",)

    _seconds = properties.Schema(
        properties.Schema.NUMBER,
        _("How long this action takes, in seconds."),
        update_allowed=True,
    )
    properties_schema = {
        VALUE: properties.Schema(
            properties.Schema.STRING,
            _("A text that the resource keeps and gives back as its output."),
            default="test_string",
            update_allowed=True,
        ),
        FAIL: properties.Schema(
            properties.Schema.BOOLEAN,
            _(
                "Whether the next action fails, for trying out what a "
                "failure leads to."
            ),
            default=False,
            update_allowed=True,
        ),
        UPDATE_REPLACE: properties.Schema(
            properties.Schema.BOOLEAN,
            _(
                "Whether an update of this resource asks for a replacement "
                "instead."
            ),
            default=False,
            update_allowed=True,
        ),
        UPDATE_REPLACE_VALUE: properties.Schema(
            properties.Schema.STRING,
            _("A text whose change always asks for a replacement."),
        ),
        WAIT_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("How long each action takes, in seconds; -1 never ends."),
            default=0,
            update_allowed=True,
        ),
        ACTION_WAIT_SECS: properties.Schema(
            properties.Schema.MAP,
            _("How long single actions take, in place of wait_secs."),
            schema={
                "create": _seconds,
                "update": _seconds,
                "delete": _seconds,
            },
            update_allowed=True,
        ),
        ATTR_WAIT_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("How long reading the output takes, in seconds."),
            default=0,
            update_allowed=True,
        ),
        CONSTRAINT_PROP_SECS: properties.Schema(
            properties.Schema.NUMBER,
            _("How long the check of this property takes, in seconds."),
            default=0,
            constraints=[constraints.CustomConstraint("test_constr")],
            update_allowed=True,
        ),
        CLIENT_NAME: properties.Schema(
            properties.Schema.STRING,
            _("The client plug-in whose service is asked meanwhile."),
            default="",
            update_allowed=True,
        ),
        ENTITY_NAME: properties.Schema(
            properties.Schema.STRING,
            _("The collection of that client to ask."),
            default="",
            update_allowed=True,
        ),
    }
    attributes_schema = {
        OUTPUT: attributes.Schema(
            _(
                "The text of the property value, as it was stored by the last "
                "create or update."
            ),
        )
    }

    # -- create ------------------------------------------------------------

    def handle_create(self) -> _Wait:
        physical_id = self.physical_resource_name() or self.name
        self._objects().create(physical_id, self)
        self.resource_id_set(physical_id)
        self.data_set(self.VALUE, self.properties[self.VALUE])
        return self._wait("create", self.properties)

    def check_create_complete(self, token: _Wait) -> bool:
        return self._over(token)

    def resume_create(self, found: bool) -> _Wait:
        """The wait began when the object was made."""
        self.data_set(self.VALUE, self.properties[self.VALUE])
        waiting = self._wait("create", self.properties)
        until = waiting.until - self._objects().age(str(self.resource_id))
        return dataclasses.replace(waiting, until=until)

    def find_made(self) -> str | None:
        name = self.physical_resource_name()
        found = name is not None and self._objects().is_recorded(name)
        return name if found else None

    # -- update ------------------------------------------------------------

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        return bool(
            self.VALUE in changed_properties_set
            and after_props[self.UPDATE_REPLACE]
        )

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> _Wait:
        after = json_snippet.properties(self.properties_schema, self.context)
        return self._wait("update", after)

    def check_update_complete(self, token: _Wait) -> bool:
        if not self._over(token):
            return False
        self.data_set(self.VALUE, token.value)
        return True

    # -- delete, check -----------------------------------------------------

    def handle_delete(self) -> _Wait | None:
        if self.resource_id is None:
            return None
        waiting = self._wait("delete", self.properties)
        return dataclasses.replace(waiting, fail=False)

    def check_delete_complete(self, token: _Wait | None) -> bool:
        if token is None:
            return True
        if not self._over(token):
            return False
        if self.resource_id is not None:
            self._objects().delete(self.resource_id)
        return True

    def handle_check(self) -> None:
        if self.external:
            return  # any id counts as one of the user's objects
        if self.resource_id is None or not self._objects().exists(
            self.resource_id
        ):
            raise exception.EntityNotFound(
                entity="Resource", name=self.resource_id or self.name
            )

    # -- attributes --------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        secs = self.properties[self.ATTR_WAIT_SECS]
        if secs:
            time.sleep(secs)
        if name == self.OUTPUT:
            return self.data().get(self.VALUE)
        return None

    # -- parts -------------------------------------------------------------

    def _objects(self) -> stand_in.StandIn:
        return stand_in.StandIn(self.stack)

    def _now(self) -> float:
        ports = self.stack.values.ports
        return float(getattr(ports, "monotonic", time.monotonic)())

    def _wait(self, action: str, props: Any) -> _Wait:
        name, entity = props[self.CLIENT_NAME], props[self.ENTITY_NAME]
        if name and entity:
            getattr(self.client(name), entity)
        secs = (props[self.ACTION_WAIT_SECS] or {}).get(action)
        if secs is None:
            secs = props[self.WAIT_SECS]
        until = float("inf") if secs < 0 else self._now() + secs
        return _Wait(until, props[self.FAIL], props[self.VALUE])

    def _over(self, token: _Wait) -> bool:
        """Tell whether the time is over.

        :raises ValueError: when it is, and the action is to fail
        """
        left = token.until - self._now()
        if left > 0:
            raise resource.PollDelay(min(left, 3600.0))
        if token.fail:
            raise ValueError(_("Test Resource failed %s") % self.name)
        return True


class DelayConstraint(constraints.BaseCustomConstraint):
    """Accepts every number, after as many seconds."""

    def validate_with_client(self, client: Any, resource_id: Any) -> None:
        time.sleep(resource_id)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::TestResource": TestResource}


def constraint_mapping() -> dict[str, Any]:
    return {"test_constr": DelayConstraint}
