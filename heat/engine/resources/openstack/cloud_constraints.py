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

"""Named constraints that a cloud decides: is there such an object?

The name is the client's and the kind's: ``nova.flavor`` is a flavor, by id
or name, that the user can see. Where the user has no such service, nothing
is checked: then it is the resource type that is refused, in clearer words.
"""

from __future__ import annotations

from typing import Any, ClassVar

from heat.common import exception
from heat.engine import clients, constraints
from heat.engine.clients import cache, errors

#: constraint -> kind of object in that client's service
_KINDS = {
    "barbican.container": "container",
    "barbican.secret": "secret",
    "cinder.qos_specs": "qos_spec",
    "cinder.snapshot": "snapshot",
    "cinder.backup": "backup",
    "cinder.volume": "volume",
    "cinder.vtype": "volume_type",
    "glance.image": "image",
    "keystone.domain": "domain",
    "keystone.group": "group",
    "keystone.project": "project",
    "keystone.region": "region",
    "keystone.role": "role",
    "keystone.service": "service",
    "keystone.user": "user",
    "neutron.address_scope": "address_scope",
    "neutron.network": "network",
    "neutron.port": "port",
    "neutron.qos_policy": "qos_policy",
    "neutron.router": "router",
    "neutron.security_group": "security_group",
    "neutron.segment": "segment",
    "neutron.subnet": "subnet",
    "neutron.subnetpool": "subnetpool",
    "nova.flavor": "flavor",
    "nova.host": "host",
    "nova.keypair": "keypair",
    "nova.server": "server",
    "octavia.availabilityzone": "availability_zone",
    "octavia.availabilityzoneprofile": "availability_zone_profile",
    "octavia.flavor": "flavor",
    "octavia.flavorprofile": "flavorprofile",
    "octavia.l7policy": "l7policy",
    "octavia.listener": "listener",
    "octavia.loadbalancer": "loadbalancer",
    "octavia.pool": "pool",
}


class CloudConstraint(constraints.BaseCustomConstraint):
    """There is an object of this kind with this id or name."""

    name: ClassVar[str] = ""
    entity: ClassVar[str] = ""
    expected_exceptions = (
        exception.EntityNotFound,
        exception.PhysicalResourceNameAmbiguity,
        errors.ServiceError,
    )

    def validate(self, value: Any, context: Any) -> bool:
        service = self.name.partition(".")[0]
        if not value or not clients.availability(context, service)[0]:
            return True
        key = (*cache.scope(context), self.name, value)
        try:
            cache.CONSTRAINTS.get(
                key, lambda: self._look(clients.of(context), service, value)
            )
        except self.expected_exceptions as exc:
            self._error_message = str(exc)
            return False
        return True

    def _look(self, made: Any, service: str, value: str) -> bool:
        made.client_plugin(service).look_up(self.entity, value)
        return True


def constraint_mapping() -> dict[str, Any]:
    return {
        name: type(
            name.replace(".", "_"),
            (CloudConstraint,),
            {"name": name, "entity": entity},
        )
        for name, entity in _KINDS.items()
    }
