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

"""Objects of the simulation that can be locked, and the service that does."""

from __future__ import annotations

import dataclasses

from heat.common import exception
from heat.engine.resource import outcomes
from heat.engine.resources.openstack.heat.test_resource import TestResource

LOCKABLE = "Test::Heat::Lockable"
US, USER, ADMINISTRATOR = "us", "user", "administrator"
AWAY = "the service is away"


class Service:
    """Who holds the lock of which object, whatever engines believe.

    :ivar fail: the chance that a call is refused, once
    :ivar late: objects that an engine locked or released which had been
        taken for dead, and was in the middle of the call: nobody can know
    """

    def __init__(self, world) -> None:
        self._world = world
        self.fail = world.rng.choice((0.0, 0.0, 0.2))
        self.holders: dict[str, str] = {}
        self.late: set[str] = set()

    def call(self, rsrc) -> None:
        """A call reaches the service.

        :raises exception.Error: it is refused
        """
        engine_id = rsrc.stack.values.ports.engine_id
        for each in self._world.engines:
            if each.name == engine_id and each.woken:
                self.late.add(rsrc.resource_id)
        if self.fail and self._world.rng.random() < self.fail:
            raise exception.Error(AWAY)


class LockableResource(TestResource):
    """Its object can be locked."""

    __test__ = False
    service: Service

    def find_lock_state(self):
        return {"locked": self.resource_id in self.service.holders}

    def handle_lock(self, level, reason):
        self.service.call(self)
        if not self.lock_found["locked"]:
            self.service.holders.setdefault(self.resource_id, US)
        return self._token("lock")

    def check_lock_complete(self, token):
        return self._over(token)

    def handle_unlock(self):
        self.service.call(self)
        holders = self.service.holders
        if (self.lock_found or {}).get("locked"):
            return self._token("unlock")
        if holders.get(self.resource_id) == ADMINISTRATOR:
            raise outcomes.LockTakenOver(ADMINISTRATOR)
        holders.pop(self.resource_id, None)
        return self._token("unlock")

    def check_unlock_complete(self, token):
        return self._over(token)

    def _token(self, action):
        made = self._wait(action, self.properties)
        return dataclasses.replace(made, fail=False)
