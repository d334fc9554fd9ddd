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
"""What an environment forbids to do to a resource.

``restricted_actions`` in ``resource_registry`` protects an object that must
not be touched by mistake: an update that would fails, and the object stays.
"""

from __future__ import annotations

from heat.common import exception
from heat.engine.traversal.decide import Step
from heat.engine.traversal.scene import Scene

_ACTIONS = {
    Step.UPDATE: "update",
    Step.HAND_BACK: "update",
    Step.REPLACE: "replace",
}


def check(scene: Scene, name: str, step: Step) -> None:
    """Check that the environment of a traversal allows a step.

    A rollback is allowed everything: it brings back what was, and what it
    undoes was allowed.

    :raises ResourceActionRestricted: it does not
    """
    action = _ACTIONS.get(step)
    if action is None or scene.stack.action == "ROLLBACK":
        return
    if action in scene.definition.env.registry.restricted_actions(name):
        raise exception.ResourceActionRestricted(action=action)
