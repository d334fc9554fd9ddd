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

"""What every endpoint shares: errors, and which stacks a caller may see."""

from __future__ import annotations

import functools
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.identifier import HeatIdentifier
from heat.db import stacks
from heat.db.stacks import StackRecord
from heat.engine.ports import Engine
from heat.engine.stack import lock
from heat.rpc import api, transport

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")

# What a caller did wrong, or may know: answered, and no failure of ours.
_EXPECTED = (exception.HeatException, ValueError)


def request(
    method: Callable[Concatenate[E, RequestContext, P], R],
) -> Callable[Concatenate[E, RequestContext, P], R]:
    """Make a method an RPC method.

    Its errors reach the caller. An unexpected one is logged here, with the
    request's id; the API shows such an error without its text.
    """

    @functools.wraps(method)
    def answer(
        self: E, context: RequestContext, /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        try:
            return method(self, context, *args, **kwargs)
        except exception.StackLocked as error:
            engine = getattr(self, "_engine", None)
            if engine is not None:
                lock.count_blocked(engine, context, error)
            raise transport.ExpectedException() from error
        except _EXPECTED as error:
            LOG.debug("%s: %s", method.__name__, error)
            raise transport.ExpectedException() from error
        except Exception as error:
            LOG.exception(
                "Unexpected error in %s (request %s)",
                method.__name__,
                context.request_id,
            )
            raise transport.ExpectedException() from error

    return answer


class Endpoint:
    """Base of the endpoints of the engine topic."""

    target = transport.make_target(api.ENGINE_VERSION)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _allows(self, context: RequestContext) -> Callable[[str], None]:
        """What raises Forbidden for a type that the caller may not use."""
        return functools.partial(
            self._engine.type_rules.require_resource_type, context
        )

    def _depth(self, nested_depth: Any) -> int:
        """Levels below a stack, no more than there may be.

        :raises ValueError: it is no number
        """
        most = int(self._engine.conf.max_nested_stack_depth)
        return max(0, min(int(nested_depth), most))

    def _stack(
        self,
        context: RequestContext,
        stack_identity: Mapping[str, Any],
        *,
        show_deleted: bool = False,
        mutating: str | None = None,
        stack_users: bool = False,
    ) -> StackRecord:
        """The stack of an identity, if the caller may see it.

        :param mutating: what is about to be done with it, one of
            :data:`heat.engine.stack.lock.KINDS`; None: it is only read
        :param stack_users: those may see it that the engine has made for
            the stack's resources, as well
        :raises EntityNotFound: there is none, or it is somebody else's
        :raises StackLocked: it is locked against that
        """
        stack = self._engine.db.read(
            lambda conn: find(
                conn,
                context,
                stack_identity,
                show_deleted=show_deleted,
                stack_users=stack_users,
            )
        )
        if mutating is not None:
            lock.guard(stack, mutating)
        return stack


def find(
    conn: sa.Connection,
    context: RequestContext,
    stack_identity: Mapping[str, Any],
    *,
    show_deleted: bool = False,
    stack_users: bool = False,
) -> StackRecord:
    """As :meth:`Endpoint._stack`, inside of a transaction."""
    identity = HeatIdentifier.from_dict(dict(stack_identity))
    wanted = identity.stack_id or identity.stack_name
    stack = stacks.get(conn, wanted, show_deleted=show_deleted)
    if (
        stack is None
        or not _sees(context, stack, identity.tenant, stack_users)
        or identity.stack_name not in (stack.name, stack.id)
    ):
        raise not_found(identity.stack_name or wanted)
    return stack


def _sees(
    context: RequestContext, stack: StackRecord, tenant: str, stack_users: bool
) -> bool:
    """Whether the caller may see a stack under a project's name.

    Who logs in as a stack user finds its own project in the URLs that the
    catalogue gives, not the stack's.
    """
    project = context.project_id
    if stack_users and project and project == stack.stack_user_project_id:
        return tenant in (stack.tenant, stack.stack_user_project_id)
    return tenant == stack.tenant and may_see(context, stack)


def find_by_name_or_id(
    conn: sa.Connection, context: RequestContext, name: str
) -> StackRecord:
    """The stack that a user calls ``name``.

    An id is looked for first, among deleted stacks too; a name among
    living stacks of the caller's project.

    :raises EntityNotFound: there is none, or it is somebody else's
    """
    stack = None
    if _looks_like_id(name):
        stack = stacks.get(conn, name, show_deleted=True)
    if stack is None and context.project_id:
        stack = stacks.get_by_name(conn, context.project_id, name)
    if stack is None and context.project_id:
        stack = _of_stack_user(conn, context.project_id, name)
    elif stack is not None and not may_see(context, stack):
        stack = None
    if stack is None:
        raise not_found(name)
    return stack


def _of_stack_user(
    conn: sa.Connection, project_id: str, name: str
) -> StackRecord | None:
    """The stack of a name whose users are of a project, if there is one."""
    found = stacks.list_(
        conn,
        tenant=None,
        filters={"stack_user_project_id": project_id, "name": name},
        show_nested=True,
        show_hidden=True,
        limit=1,
    )
    return found[0] if found else None


def may_see(context: RequestContext, stack: StackRecord) -> bool:
    """Whether the caller's project is the stack's; admins don't cross."""
    return context.project_id is not None and (
        context.project_id == stack.tenant
    )


def children(
    conn: sa.Connection, stack_ids: Sequence[str]
) -> list[StackRecord]:
    """The living stacks directly below some, the oldest first."""
    return stacks.list_(
        conn,
        tenant=None,
        filters={"owner_id": list(stack_ids)},
        show_nested=True,
        show_hidden=True,
        sort_keys=["created_at"],
        sort_dir="asc",
    )


def not_found(name: object) -> exception.EntityNotFound:
    """The error for a stack that is not there for this caller."""
    return exception.EntityNotFound(entity="Stack", name=name)


def not_yet(feature: str) -> exception.NotImplementedYet:
    """The error of a method whose part of the engine is still to come."""
    return exception.NotImplementedYet(feature=feature)


def _looks_like_id(name: str) -> bool:
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True


def split_status(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters with a status such as CREATE_COMPLETE as users see it.

    It is an action and a status; a filter on the action beside it wins.
    """
    given = filters.get("status")
    values = list(given) if isinstance(given, list | tuple) else [given]
    pairs = [str(value).partition("_") for value in values]
    whole = all(state in _STATUSES for _action, _dash, state in pairs)
    if not whole or "action" in filters:
        return dict(filters)
    return {
        **filters,
        "action": [action for action, _dash, _state in pairs],
        "status": [state for _action, _dash, state in pairs],
    }


_STATUSES = frozenset({"COMPLETE", "FAILED", "IN_PROGRESS"})
