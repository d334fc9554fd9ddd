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

"""OS::Octavia::Listener."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.octavia import octavia


class Listener(octavia.BalancerPart):
    """A port of a load balancer's address, and what comes in there."""

    support_status = support.SupportStatus(version="10.0.0")

    entity = "listener"
    mark_key = "description"
    properties_schema = notation.properties("""
        admin_state_up boolean (update, =true) -- Whether it forwards.
        allowed_cidrs list{* string (is net_cidr)} (update) -- Who may
            -- connect; anybody when left out.
        connection_limit integer (update, =-1, range -1..None) -- The most
            -- connections at a time; -1: no limit.
        default_pool string (update, is octavia.pool) -- Name or id of the
            -- pool that it forwards to.
        default_tls_container_ref string (update) -- Reference of the secret
            -- or container with its certificate.
        description string (update, ="") -- What it is for.
        loadbalancer string (required, is octavia.loadbalancer) -- Name or id
            -- of the load balancer.
        name string (update) -- What it is called; made up when left out.
        protocol string (required, in ["TCP", "HTTP", "HTTPS",
            "TERMINATED_HTTPS", "PROXY", "UDP"]) -- What it speaks.
        protocol_port integer (required, range 1..65535) -- The port.
        sni_container_refs list (update) -- References of the secrets or
            -- containers with certificates for further names.
        tenant_id string -- Project that owns it; only an administrator may
            -- name another one.
    """)
    attributes_schema = {
        **notation.attributes("""
            loadbalancers list -- The load balancer: id.
        """),
        **octavia.changing("""
            default_pool_id string -- Id of the pool that it forwards to.
        """),
    }
    body_keys = {
        "default_pool": "default_pool_id",
        "loadbalancer": "loadbalancer_id",
        "tenant_id": "project_id",
    }
    finds = {
        "default_pool": "octavia.pool",
        "loadbalancer": "octavia.loadbalancer",
    }
    cleared = {"default_tls_container_ref": None}

    def validate(self) -> None:
        super().validate()
        given = self.properties
        if (
            given["protocol"] == "TERMINATED_HTTPS"
            and given["default_tls_container_ref"] is None
        ):
            raise rest.refused(
                "default_tls_container_ref",
                _("A listener that speaks TERMINATED_HTTPS needs it."),
            )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Octavia::Listener": Listener}
