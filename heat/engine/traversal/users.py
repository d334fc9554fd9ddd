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

"""The users of a stack's resources, when the stack goes."""

from __future__ import annotations

import logging

from heat.db import stacks
from heat.engine.clients import stack_domain
from heat.engine.ports import Engine
from heat.engine.traversal.scene import Scene

LOG = logging.getLogger(__name__)


def may_be_left(scene: Scene) -> bool:
    """Whether there may be such users when this traversal has ended."""
    return (
        scene.stack.action == "DELETE"
        and scene.stack.owner_id is None
        and not scene.graph.abandons
        and stack_domain.is_configured()
    )


def leave(engine: Engine, scene: Scene) -> None:
    """Delete the project of a stack's users, with whoever is left of them.

    Called when the resources of a stack are gone, and before it is said of
    the stack: an engine that stops in between does both again. Nested stacks
    share the project of the top one. The stack goes in any case.
    """
    if not may_be_left(scene):
        return
    # A scene may be older than the first user.
    now = engine.db.read(lambda conn: stacks.get(conn, scene.stack.id))
    if now is None or not now.stack_user_project_id:
        return
    project_id = now.stack_user_project_id
    try:
        stack_domain.get().delete_stack_domain_project(project_id)
    except Exception:
        LOG.exception(
            "The project %(project)s of the users of stack %(stack)s is left "
            "at the identity service",
            {"project": project_id, "stack": now.id},
        )
