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
"""Small reads over trees of stacks: the top of one, how its members are and
of what they are made."""

from __future__ import annotations

import collections
import threading
from collections.abc import Collection

import sqlalchemy as sa

from heat.db import bulk, models, trees
from heat.db.stacks import StackRecord

_stack = models.stack

_OWNER = sa.select(_stack.c.owner_id).where(
    _stack.c.id == sa.bindparam("the_id")
)

_STATES = sa.select(
    _stack.c.id, _stack.c.action, _stack.c.status, _stack.c.status_reason
).where(
    _stack.c.id.in_(sa.bindparam("the_ids", expanding=True)),
    _stack.c.deleted_at.is_(None),
)

_TREE = trees.walk(_stack.c.id == sa.bindparam("the_id"))
_child = models.stack.alias("child")
_TYPES = (
    sa.select(models.resource.c.resource_type)
    .join(_TREE, models.resource.c.stack_id == _TREE.c.id)
    .where(~sa.exists().where(_child.c.id == models.resource.c.nova_instance))
    .distinct()
)

# Owners by id, of the stacks that were asked for last. An owner never
# changes, and the members of a group all ask for the same.
_KEPT = 4096
_owners: collections.OrderedDict[str, str | None] = collections.OrderedDict()
_lock = threading.Lock()


def root_of(conn: sa.Connection, stack: StackRecord) -> str:
    """Id of the stack at the top of the tree that a stack stands in."""
    learn(stack)
    return root_of_id(conn, stack.id)


def root_of_id(conn: sa.Connection, stack_id: str) -> str:
    """The same for a stack that nobody has read."""
    top, (known, above) = stack_id, _owner(conn, stack_id)
    while known and above is not None:
        known, higher = _owner(conn, above)
        if known:
            top, above = above, higher
    return top


def learn(stack: StackRecord) -> None:
    """Remember whose a stack is, so that nobody needs to read it."""
    with _lock:
        _owners[stack.id] = stack.owner_id
        _owners.move_to_end(stack.id)
        while len(_owners) > _KEPT:
            _owners.popitem(last=False)


def known(stack_id: str) -> str | None:
    """The root of a stack where all is remembered; None: look it up."""
    with _lock:
        while stack_id in _owners:
            owner_id = _owners[stack_id]
            if owner_id is None:
                return stack_id
            stack_id = owner_id
    return None


def _owner(conn: sa.Connection, stack_id: str) -> tuple[bool, str | None]:
    """Whether there is this stack, and its owner."""
    with _lock:
        if stack_id in _owners:
            _owners.move_to_end(stack_id)
            return True, _owners[stack_id]
    found = conn.execute(_OWNER, {"the_id": stack_id}).one_or_none()
    if found is None:
        return False, None
    owner_id: str | None = found.owner_id
    with _lock:
        _owners[stack_id] = owner_id
    return True, owner_id


def states(
    conn: sa.Connection, stack_ids: Collection[str]
) -> dict[str, tuple[str, str, str]]:
    """Action, status and reason of the living ones of some stacks."""
    return {
        ident: (action, status, reason or "")
        for chunk in bulk.chunks(sorted(stack_ids))
        for ident, action, status, reason in conn.execute(
            _STATES, {"the_ids": chunk}
        )
    }


def types(conn: sa.Connection, stack_id: str) -> set[str]:
    """Types of the resources of a stack, and of those below it, that are no
    stacks themselves."""
    found = conn.execute(_TYPES, {"the_id": stack_id}).scalars()
    return {each for each in found if each is not None}
