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

"""What the users may do that the engine has made for resources.

Such a user belongs to the project that a stack has in the domain of these
users. It may signal resources of the stack that its own resource is in, and
read their metadata; what an ``OS::Heat::AccessPolicy`` says narrows that.
Everything else is refused, whatever the rules of the API allow.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import resource_data, resources
from heat.db.resources import ResourceRecord
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.stack import load
from heat.engine.traversal import identity

# Keys of a resource's data; see heat.engine.resources.stack_user.
_USER_ID = "user_id"


def is_one(context: RequestContext, stack: StackRecord) -> bool:
    """Whether the caller is of the project of the stack's users."""
    return context.project_id is not None and (
        context.project_id == stack.stack_user_project_id
    )


def acting(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    resource_name: str,
) -> RequestContext:
    """In whose name a stack's resource is worked on for a caller.

    For a stack user that is the stack's owner: it can do nothing itself.

    :raises EntityNotFound: the caller is a user of another stack
    :raises Forbidden: a policy keeps the user from this resource
    """
    if context.project_id == stack.tenant or not is_one(context, stack):
        return context
    owner = engine.db.read(lambda conn: _owned(conn, stack, context.user_id))
    if owner is None:
        raise exception.EntityNotFound(entity="Stack", name=stack.name)
    own = identity.acting(engine.db, stack)
    if owner.name != resource_name and not _allowed(
        engine, own, stack, owner, resource_name
    ):
        raise exception.Forbidden(action=_("the resource %s") % resource_name)
    return own


def _owned(
    conn: sa.Connection, stack: StackRecord, user_id: str | None
) -> ResourceRecord | None:
    """The resource of a stack whose user this is; None: none of it."""
    rows = [
        row
        for row in resources.list_for_stack(conn, stack.id)
        if not row.stray
    ]
    data = resource_data.get_many(conn, [row.id for row in rows])
    for row in rows:
        if user_id and data[row.id].get(_USER_ID) == user_id:
            return row
    return None


def _allowed(
    engine: Engine,
    context: RequestContext,
    stack: StackRecord,
    owner: ResourceRecord,
    resource_name: str,
) -> bool:
    """Whether the owner of a user lets it reach another resource.

    A type says so with ``access_allowed(resource_name)``; without, its user
    may reach every resource of the stack.
    """
    loaded = load.load(engine, stack)
    rsrc: Any = load.resource(engine, context, loaded, owner)
    ask = getattr(rsrc, "access_allowed", None)
    return bool(ask(resource_name)) if callable(ask) else True
