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

"""What is common to the policies that change the size of a group."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.db import resource_data
from heat.engine import resource
from heat.engine.resources import scaled_group, signal_responder
from heat.scaling import scalingutil

#: The state of an alarm on which a policy acts.
_ALARM = "alarm"


class PolicyResource(signal_responder.SignalResponder):
    """Changes the size of a group at each signal.

    Nothing happens while the policy, or the group, cools down, nor when the
    size stays as it is.
    """

    signal_is_data = False

    #: names of properties
    group_property: ClassVar[str]
    adjustment_property: ClassVar[str]
    kind_property: ClassVar[str]
    cooldown_property: ClassVar[str]
    least_property: ClassVar[str]
    #: the kind that is a part of the group
    percent: ClassVar[str]

    def validate(self) -> None:
        super().validate()
        props = self.properties
        least, kind = self.least_property, self.kind_property
        if props[least] is not None and props[kind] != self.percent:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", least],
                message=_("It is for %(kind)s %(percent)s only")
                % {"kind": kind, "percent": self.percent},
            )

    def handle_create(self) -> None:
        self.make_credentials()
        self.resource_id_set(self.physical_resource_name())

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        """The next signal reads the new properties."""

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == "signal_url":
            # For whom a user trusts, such as the alarm service: its token is
            # one of the stack's project.
            return self.signal_url(own_user=False)
        return self.alarm_url()

    # -- signals -----------------------------------------------------------

    def handle_signal(self, details: Any = None) -> resource.UpdateStack:
        """Decide on another size of the group.

        :raises NoActionRequired: it is no alarm, it cools down, or the size
            stays
        :raises NotFound: there is no such group in the stack
        """
        state = _ALARM
        if isinstance(details, Mapping):
            state = details.get("state", details.get("current", _ALARM))
        if str(state).lower() != _ALARM:
            raise self._nothing(_("the state is %s") % state)
        name, node = self._group()
        found = self.stack.db.read(
            lambda conn: resource_data.get_many(conn, [node.row_id])
        )
        data: dict[str, str] = found.get(node.row_id, {})
        bounds = scaled_group.Bounds.of_data(data)
        if bounds is None:
            raise exception.NotFound(
                _("%s is no group that a policy can change") % name
            )
        now = time.time()
        # Kept with the group, where a policy's time and the group's change
        # together or not at all, however many signals come at once.
        own = f"{scaled_group.SCALED_AT}.{self.name}"
        cooldown = self.properties[self.cooldown_property]
        self._check_cooldown(data.get(own), cooldown, now)
        common = data.get(scaled_group.SCALED_AT)
        self._check_cooldown(common, bounds.cooldown, now)
        current = _current(data)
        wanted = self._wanted(current, bounds)
        if wanted == current:
            raise self._nothing(_("the group has %d members") % current)
        wish = scaled_group.Wish(
            str(uuid.uuid4()),
            self.properties[self.kind_property],
            self.properties[self.adjustment_property],
            wanted,
        )
        reason = _("%(group)s goes from %(old)d to %(new)d members") % {
            "group": name,
            "old": current,
            "new": wanted,
        }
        told = {
            scaled_group.WISH: str(wish),
            scaled_group.SCALED_AT: str(now),
            own: str(now),
        }
        return resource.UpdateStack(reason, node.row_id, told, data)

    def _group(self) -> tuple[str, Any]:
        wanted = self.properties[self.group_property]
        found = self.stack.resource_by_refid(wanted)
        name = found.name if found is not None else wanted
        node = self.stack.definition.node(name)
        defn = self.stack.definition.resource_definitions.get(name)
        if node is None or defn is None:
            raise exception.NotFound(
                _("There is no group %s in this stack") % wanted
            )
        return name, node

    def _wanted(self, current: int, bounds: scaled_group.Bounds) -> int:
        return scalingutil.calculate_new_capacity(
            current,
            self.properties[self.adjustment_property],
            self.properties[self.kind_property],
            self.properties[self.least_property],
            bounds.fewest,
            bounds.most,
        )

    def _check_cooldown(
        self, last: str | None, seconds: float | None, now: float
    ) -> None:
        if last is None or not seconds:
            return
        left = float(last) + float(seconds) - now
        if left > 0:
            raise self._nothing(_("it cools down for %d seconds yet") % left)

    def _nothing(self, why: str) -> resource.NoActionRequired:
        return resource.NoActionRequired(self.name, why)


def _current(data: Mapping[str, str]) -> int:
    """The size that the group has or is coming to."""
    wish = scaled_group.Wish.of_data(data)
    if wish is not None:
        return wish.size
    return int(data.get(scaled_group.SIZE) or 0)
