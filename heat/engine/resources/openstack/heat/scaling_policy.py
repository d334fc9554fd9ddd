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

"""OS::Heat::ScalingPolicy: changes the size of a group when it is told."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.db import resource_data
from heat.engine import resource, support
from heat.engine.resource import notation
from heat.engine.resources import signal_responder
from heat.engine.resources.openstack.heat import autoscaling_group
from heat.scaling import scalingutil

#: The state of an alarm on which a policy acts.
_ALARM = "alarm"

#: How often a policy tries when others change the group at once.
_TRIES = 20


class ScalingPolicy(signal_responder.SignalResponder):
    """Changes the size of a group at each signal.

    Nothing happens while the policy, or the group, cools down, nor when the
    size stays as it is.
    """

    support_status = support.SupportStatus(version="2014.1")
    signal_is_data = False

    (
        GROUP,
        ADJUSTMENT,
        KIND,
        COOLDOWN,
        LEAST,
    ) = (
        "auto_scaling_group_id",
        "scaling_adjustment",
        "adjustment_type",
        "cooldown",
        "min_adjustment_step",
    )

    properties_schema = notation.properties("""
        auto_scaling_group_id string (required) -- The group: what
        -- get_resource gives for it.
        scaling_adjustment number (required, update) -- How much is added,
        -- less than 0 to take away; or the size itself.
        adjustment_type string (required, update,
            in ["change_in_capacity", "exact_capacity",
                "percent_change_in_capacity"]) -- What the number means.
        cooldown number (update) -- Seconds after this policy has acted in
        -- which it does not act again.
        min_adjustment_step integer (update, range 0..None) -- The fewest
        -- members that a percentage adds or takes away.
    """)
    attributes_schema = notation.attributes("""
        alarm_url string -- Where a signal is sent.
        signal_url string -- Where a user of the cloud sends a signal.
    """)

    def validate(self) -> None:
        super().validate()
        props = self.properties
        percent = scalingutil.PERCENT_CHANGE_IN_CAPACITY
        if props[self.LEAST] is not None and props[self.KIND] != percent:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.LEAST],
                message=_("It is for adjustment_type %s only") % percent,
            )

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        """The next signal reads the new properties."""

    def _resolve_attribute(self, name: str) -> Any:
        return self.signal_url() if self.resource_id else None

    # -- signals -----------------------------------------------------------

    def handle_signal(self, details: Any = None) -> str:
        """Change the size of the group.

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
        for _try in range(_TRIES):
            told = self._scale(name, node.row_id)
            if told:
                return told
        raise exception.Error(
            _("Too many policies change %s at once; send the signal again.")
            % name
        )

    def _scale(self, name: str, row_id: int) -> str:
        """Try once; "" when somebody else was faster."""
        found = self.stack.db.read(
            lambda conn: resource_data.get_many(conn, [row_id])
        )
        data: dict[str, str] = found.get(row_id, {})
        props = self.stack.definition.resource_definitions[name].properties(
            autoscaling_group.AutoScalingGroup.properties_schema, self.context
        )
        now = time.time()
        own = self.data().get(autoscaling_group.SCALED_AT)
        self._check_cooldown(own, self.properties[self.COOLDOWN], now)
        common = data.get(autoscaling_group.SCALED_AT)
        self._check_cooldown(common, props["cooldown"], now)
        current, wanted = self._sizes(data, props)
        if wanted == current:
            raise self._nothing(_("the group has %d members") % current)
        done = self.stack.values.ports.children.tell(
            self.stack,
            row_id,
            {
                autoscaling_group.WISH: f"{uuid.uuid4()} {wanted}",
                autoscaling_group.SCALED_AT: str(now),
            },
            data,
        )
        if not done:
            return ""
        self.data_set(autoscaling_group.SCALED_AT, str(now))
        return _("%(group)s goes from %(old)d to %(new)d members") % {
            "group": name,
            "old": current,
            "new": wanted,
        }

    def _group(self) -> tuple[str, Any]:
        wanted = self.properties[self.GROUP]
        found = self.stack.resource_by_refid(wanted)
        name = found.name if found is not None else wanted
        node = self.stack.definition.node(name)
        defn = self.stack.definition.resource_definitions.get(name)
        if node is None or defn is None:
            raise exception.NotFound(
                _("There is no group %s in this stack") % wanted
            )
        return name, node

    def _sizes(self, data: Mapping[str, str], props: Any) -> tuple[int, int]:
        """The size that the group has or is coming to, and the new one."""
        wish = data.get(autoscaling_group.WISH)
        current = int(data.get(autoscaling_group.SIZE) or 0)
        if wish != data.get(autoscaling_group.DONE):
            current = autoscaling_group.size_of_wish(wish) or 0
        most, fewest = autoscaling_group.AutoScalingGroup.bounds(props)
        wanted = scalingutil.calculate_new_capacity(
            current,
            self.properties[self.ADJUSTMENT],
            self.properties[self.KIND],
            self.properties[self.LEAST],
            fewest,
            most,
        )
        return current, wanted

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


def resource_mapping() -> dict[str, type[ScalingPolicy]]:
    return {"OS::Heat::ScalingPolicy": ScalingPolicy}
