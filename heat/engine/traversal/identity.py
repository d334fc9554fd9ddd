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
"""In whose name an engine acts when nobody asks it to.

A context that was made for a stack alone has no token; one that came with a
request has one that ends. What the stack has stored goes with either, and
the clients use it when there is nothing else (any more).
"""

from __future__ import annotations

import logging

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import Deferred, RequestContext
from heat.db import credentials, stacks
from heat.db.session import Database

LOG = logging.getLogger(__name__)


def context_of(stack: stacks.StackRecord) -> RequestContext:
    """The context to go on with when nobody asks: the stack's own project.

    It travels without credentials; whoever works with it adds them.
    """
    return RequestContext(
        project_id=stack.tenant, username=stack.username, overwrite=False
    )


def acting(db: Database, stack: stacks.StackRecord) -> RequestContext:
    """The context in which an engine does something itself for a stack."""
    context = context_of(stack)
    return db.read(lambda conn: with_credentials(conn, stack, context))


def with_credentials(
    conn: sa.Connection, stack: stacks.StackRecord, context: RequestContext
) -> RequestContext:
    """A context with what its stack has stored, if that is something."""
    try:
        found = credentials.of_stack(conn, stack)
    except exception.InvalidEncryptionKey:
        # The request's own token may still do.
        LOG.error("the credentials of stack %s can't be read", stack.id)
        return context
    if found is None or not (found.trust_id or found.password):
        return context
    return context.with_deferred(
        Deferred(
            user_id=found.trustor_user_id,
            project_id=found.tenant_id,
            trust_id=found.trust_id,
            password=found.password,
            auth_url=found.auth_url,
        )
    )
