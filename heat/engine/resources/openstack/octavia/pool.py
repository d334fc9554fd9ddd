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

"""OS::Octavia::Pool and PoolMember."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.clients import errors
from heat.engine.resource import notation, rest, rest_found
from heat.engine.resources.openstack.octavia import octavia

_COOKIE = "APP_COOKIE"


class Pool(octavia.BalancerPart):
    """Servers that share what comes in."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "pool"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it is forwarded to.
        description string (update, ="") -- What it is for.
        lb_algorithm string (required, update, in ["ROUND_ROBIN",
            "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"]) -- Who is
            -- given the next connection.
        listener string (is octavia.listener) -- Name or id of the listener
            -- whose default pool it is.
        loadbalancer string (is octavia.loadbalancer) -- Name or id of the
            -- load balancer, where no listener is named.
        name string (update) -- What it is called; made up when left out.
        protocol string (required, in ["TCP", "HTTP", "HTTPS",
            "TERMINATED_HTTPS", "PROXY", "UDP"]) -- What its members speak.
        session_persistence map{
            cookie_name string -- The application's cookie, for APP_COOKIE.
            type string (required, in ["SOURCE_IP", "HTTP_COOKIE",
                "APP_COOKIE"]) -- What a client is known again by.
        } (update) -- How clients come to the same member again.
        tls_enabled boolean (update, =false) -- Its members are spoken to by
            -- TLS.
    """)
    attributes_schema = octavia.changing("""
        healthmonitor_id string -- Id of its health monitor.
        listeners list -- The listeners that forward to it: ids.
        members list -- Its members: ids.
    """)
    body_keys = {
        "listener": "listener_id",
        "loadbalancer": "loadbalancer_id",
    }
    finds = {
        "listener": "octavia.listener",
        "loadbalancer": "octavia.loadbalancer",
    }
    cleared = {"session_persistence": None}

    def validate(self) -> None:
        super().validate()
        given = self.properties
        if given["listener"] is None and given["loadbalancer"] is None:
            raise rest.refused(
                "listener", _("Give listener, loadbalancer or both.")
            )
        kept = given["session_persistence"]
        if not kept:
            return
        if kept["type"] == _COOKIE and not kept.get("cookie_name"):
            raise rest.refused(
                "session_persistence",
                _("The type APP_COOKIE needs a cookie_name."),
            )
        if kept["type"] != _COOKIE and kept.get("cookie_name"):
            raise rest.refused(
                "session_persistence",
                _("Only the type APP_COOKIE has a cookie_name."),
            )

    def _listener(self) -> dict[str, Any]:
        """The listener whose default pool it is to be."""
        found: dict[str, Any] = self.collection("listener").get(
            self.properties["listener"]
        )
        return found

    def make_room(self) -> bool:
        """Take the pool that this one replaces off the listener."""
        listener = self._listener()
        other = listener.get("default_pool_id")
        if other is None:
            return True
        if not self._is_predecessor(self.collection().get(other)):
            return False
        try:
            self.collection("listener").update(
                listener["id"], {"default_pool_id": None}
            )
        except errors.Conflict as exc:
            if not octavia.is_immutable(exc):
                raise
        return True

    def _is_predecessor(self, other: Mapping[str, Any]) -> bool:
        same_name = other.get("name") == self.properties["name"]
        marked = rest_found.is_mark(other.get("description"))
        return self.was_made_here(other) or (same_name and marked)

    def prepare_for_replace(self) -> None:
        """Note that it may have been taken off its listener."""
        if self.resource_id is not None and self.properties["listener"]:
            self.data_set(self.given_up, "1")

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Put it on its listener again, unless it is there."""
        listener = self._listener()
        if listener.get("default_pool_id") != self.resource_id:
            self.collection("listener").update(
                listener["id"], {"default_pool_id": self.resource_id}
            )


class PoolMember(octavia.Leaf):
    """A server in a pool."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "member"
    properties_schema = notation.properties("""
        address string (required, is ip_addr) -- The server's address.
        admin_state_up boolean (update, =true) -- Whether it is forwarded to.
        monitor_address string (is ip_addr) -- The address that is asked for
            -- its health, where it is another one.
        monitor_port integer (range 1..65535) -- The port that is asked for
            -- its health, where it is another one.
        pool string (required, is octavia.pool) -- Name or id of the pool.
        protocol_port integer (required, range 1..65535) -- The server's
            -- port.
        subnet string (is neutron.subnet) -- Name or id of the subnet that it
            -- is reached on; that of the load balancer's address when left
            -- out.
        tags list (update) -- Tags of the member.
        weight integer (update, =1, range 0..256) -- Its share, compared with
            -- the others.
    """)
    body_keys = {"subnet": "subnet_id"}
    not_sent = frozenset({"pool"})
    finds = {"pool": "octavia.pool", "subnet": "neutron.subnet"}

    def collection(self, entity: str | None = None) -> Any:
        """The members of the pool."""
        if entity is not None:
            return super().collection(entity)
        pool = self.owner("pool", "members")
        return self.client_plugin().members_of(pool)

    def in_its_place(self) -> list[dict[str, Any]]:
        keys = ("address", "protocol_port")
        where = {key: self.properties[key] for key in keys}
        return [
            each
            for each in self.collection().list(**where)
            if all(each.get(key) == where[key] for key in keys)
        ]


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Octavia::Pool": Pool,
        "OS::Octavia::PoolMember": PoolMember,
    }
