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

"""OS::Zaqar::Subscription."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.zaqar import zaqar

_OPTIONS, _SUBSCRIBER, _TTL = "options", "subscriber", "ttl"
#: Key of the options that a subscription with a trust has.
_TRUST = "trust_id"
_WITH_TRUST = "trust+"
#: So often a subscription is asked for again: half a minute.
_TRUST_TRIES = 10


class Subscription(zaqar.ZaqarResource):
    """Somebody who is sent each message that a queue gets."""

    support_status = support.SupportStatus(version="8.0.0")

    entity = "subscription"
    properties_schema = notation.properties("""
        options map (update) -- What else the service is to know of the
            -- subscriber.
        queue_name string (required, is zaqar.queue) -- Name of the queue.
        subscriber string (required, update) -- Where messages are sent to, as
            -- a URI; that of trust+http and trust+https gets a token as well.
        ttl integer (update, =220367260800, range 60..None) -- Seconds for
            -- which it lasts.
    """)

    def path(self) -> str:
        return f"/queues/{self.properties['queue_name']}/subscriptions"

    def _own_path(self) -> str:
        return f"{self.path()}/{self.resource_id}"

    def details(self, properties: Any) -> dict[str, Any]:
        """Subscriber, options and ttl, as the service takes them.

        :param properties: typed values by name
        """
        return {
            _SUBSCRIBER: properties[_SUBSCRIBER],
            _OPTIONS: dict(properties[_OPTIONS] or {}),
            _TTL: properties[_TTL],
        }

    def shown(self) -> dict[str, Any]:
        """The subscription.

        :raises heat.common.exception.EntityNotFound: there is none
        """
        if self.resource_id is None:
            raise exception.EntityNotFound(
                entity="Subscription", name=self.name
            )
        return dict(self.ask("GET", self._own_path()))

    # -- create, update, delete ----------------------------------------------

    def make(self, body: Mapping[str, Any]) -> dict[str, Any]:
        # Keystone may take one trust of the same two a second, and there may
        # be many subscriptions.
        made = self.ask(
            "POST", self.path(), body=dict(body), retries=_TRUST_TRIES
        )
        return {"id": made["subscription_id"]}

    def create_body(self, properties: Any) -> dict[str, Any]:
        return self.details(properties)

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        """Only who subscribes gives a trust, a change does not."""
        before, after = (
            str(self.details(each)[_SUBSCRIBER]).startswith(_WITH_TRUST)
            for each in (before_props, after_props)
        )
        return after and not before

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if not prop_diff:
            return None
        before = self.shown()
        after = self.details(self.properties_of(json_snippet))
        if after[_SUBSCRIBER].startswith(_WITH_TRUST):
            trust = before[_OPTIONS].get(_TRUST)
            if trust is not None:
                after[_OPTIONS].setdefault(_TRUST, trust)
        changed = {
            key: value for key, value in after.items() if before[key] != value
        }
        if changed:
            self.ask("PATCH", self._own_path(), body=changed)
        return prop_diff

    def remove_object(self) -> None:
        self.ask("DELETE", self._own_path())

    # -- look ----------------------------------------------------------------

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What was sent, without the trust that the service has added."""
        found = {key: resource_data[key] for key in (_SUBSCRIBER, _TTL)}
        wanted = resource_properties[_OPTIONS]
        options = {
            key: value
            for key, value in resource_data[_OPTIONS].items()
            if key != _TRUST or key in (wanted or ())
        }
        if options or wanted is not None:
            found[_OPTIONS] = options
        return found


def resource_mapping() -> dict[str, Any]:
    return {"OS::Zaqar::Subscription": Subscription}
