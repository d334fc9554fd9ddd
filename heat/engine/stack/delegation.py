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
"""Deferred work: how an engine can act when a user's token has ended.

An engine needs that whenever it works on a stack that has objects of other
services: the token of the request may end, or be revoked, before the work
does, another engine may go on after a crash, an alarm may come at night. So
the first request that brings such a resource into a tree of stacks makes a
trust (or stores the user's password), once, for the whole tree. A tree of
which nothing leaves the engine has none.

=================  ========  ======================================
deferred_auth_     request   what is stored
method             has
=================  ========  ======================================
trusts             a token   a trust to the user of [trustee]
password           X-Auth-   the password, sealed
                   Key
password           a token   a trust, where reauthentication_auth_
                             method is ``trusts``
=================  ========  ======================================

Where none of it can be had, the stack does without, and its log says why;
only a type that can't do without (``requires_deferred_auth``) is refused.

No trust is made that nobody knows: the row comes first, with the mark by
which the trust can be found. Rows that no stack has are looked for from time
to time (:meth:`Delegation.tidy`) and deleted with their trust.
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import logging
from collections.abc import Callable, Iterator
from typing import Any

from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import credentials, stacks
from heat.engine.clients import errors, session, trusts
from heat.engine.ports import Engine
from heat.engine.resource import child

LOG = logging.getLogger(__name__)

# Longer than any request takes: what is older belongs to none.
_LOOSE_AFTER = datetime.timedelta(minutes=10)
# Seconds between two looks, and until what failed is tried again.
_LOOK_EVERY = 60.0
_TRY_AGAIN = 600.0


class Method(enum.Enum):
    """How a stack can be acted for later."""

    TRUST = "trust"
    PASSWORD = "password"  # noqa: S105 - a word, no secret
    NONE = "none"


def choose(
    deferred: str,
    again: str,
    *,
    trustee: bool,
    token: bool,
    password: bool,
) -> tuple[Method, str]:
    """How a stack can be acted for later. Pure.

    :param deferred: option ``deferred_auth_method``
    :param again: option ``reauthentication_auth_method``
    :param trustee: [trustee] names a user
    :param token: the request has one
    :param password: the request has one
    :returns: the method, and what is missing when there is none
    """
    if deferred == "password":
        if password:
            return Method.PASSWORD, ""
        if again != "trusts":
            return Method.NONE, "X-Auth-Key"
    if not trustee:
        return Method.NONE, "[trustee]"
    if not token:
        return Method.NONE, "X-Auth-Token"
    return Method.TRUST, ""


class Delegation:
    """Makes and deletes what engines act by; a port of the engine.

    It is a :class:`heat.engine.ports.Delegation`, for deployments that have
    a Keystone.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._db = engine.db
        self._looked = -_LOOK_EVERY
        self._failed: dict[int, float] = {}

    # -- made ---------------------------------------------------------------

    def ensure(
        self,
        context: RequestContext,
        stack: stacks.StackRecord,
        tree: child.Tree,
    ) -> int | None:
        """The credentials by which is acted for a stack, made if needed.

        Those of a stack that is stored are stored with it; those of a new
        one are its ``user_creds_id``. A stack keeps those it has, whoever
        updates it, as long as they work.

        :raises MissingCredentialError: a type needs some
        """
        if not (tree.uses_cloud or tree.needs_deferred):
            return stack.user_creds_id
        held = self._db.read(lambda conn: credentials.id_of(conn, stack))
        if held is not None and not self._is_over(held, stack, context):
            return held
        method, missing = choose(
            self._engine.conf.deferred_auth_method,
            self._engine.conf.reauthentication_auth_method,
            trustee=session.trustee() is not None,
            token=bool(context.auth_token),
            password=bool(context.password),
        )
        if method is Method.NONE:
            return self._without(stack, tree, missing)
        try:
            made = self._make(method, context)
        except (exception.AuthorizationFailure, errors.ServiceError) as error:
            return self._without(stack, tree, f"a {method.value}: {error}")
        except exception.MissingCredentialError as error:
            return self._without(stack, tree, str(error.kwargs["required"]))
        return self._attached(stack, made, held)

    @staticmethod
    def _without(
        stack: stacks.StackRecord, tree: child.Tree, missing: str
    ) -> None:
        if tree.needs_deferred:
            raise exception.MissingCredentialError(required=missing)
        LOG.warning(
            "stack %s (%s) can be worked on as long as the token of the "
            "request lasts, no longer. What is missing: %s",
            stack.name,
            stack.id,
            missing,
        )

    def _is_over(
        self, held: int, stack: stacks.StackRecord, context: RequestContext
    ) -> bool:
        """Whether others are needed: what is held can't be read, or another
        user finds that the trust works no more."""
        if stack.owner_id is not None or not context.auth_token:
            return False
        try:
            found = self._db.read(lambda conn: credentials.get(conn, held))
        except exception.InvalidEncryptionKey:
            return True
        if found is None:
            return True
        if found.trust_id is None or found.trustor_user_id == context.user_id:
            return False
        try:
            return not trusts.works(found.trust_id)
        except (exception.AuthorizationFailure, errors.ServiceError) as error:
            LOG.warning("trust of stack %s not checked: %s", stack.id, error)
            return False

    def _make(self, method: Method, context: RequestContext) -> int:
        make = {
            Method.TRUST: self._make_trust,
            Method.PASSWORD: self._store_password,
        }
        return make[method](context)

    def _make_trust(self, context: RequestContext) -> int:
        conf = self._engine.conf
        user = session.session(session.user(context), "keystone")
        trustor = trusts.trustor_of(user)
        roles = trusts.delegated(trustor.roles, conf.trusts_delegated_roles)
        mark = trusts.new_mark()
        creds_id = self._insert(
            context, trustor, auth_url=None, trust_mark=mark
        )
        try:
            trust_id = trusts.create(
                user,
                trustor,
                roles,
                mark,
                redelegate=conf.allow_trusts_redelegation,
            )
        except errors.ServiceError as error:
            if 400 <= (error.status_code or 0) < 500:
                # Refused: there is none that would have to be found.
                self._db.run(lambda conn: credentials.delete(conn, creds_id))
            raise
        self._engine.probe("trusted")
        if not self._db.run(
            lambda conn: credentials.set_trust(conn, creds_id, trust_id)
        ):
            # It took so long that the row was taken for forgotten.
            trusts.delete(trust_id)
            raise exception.AuthorizationFailure()
        return creds_id

    def _store_password(self, context: RequestContext) -> int:
        longest = credentials.LONGEST_PASSWORD
        if len((context.password or "").encode()) > longest:
            raise exception.MissingCredentialError(
                required=f"X-Auth-Key of at most {longest} bytes"
            )
        url = session.keystone_url(context)
        user = session.session(
            session.password(
                context.user_id, context.password, context.project_id, url
            ),
            "keystone",
        )
        # A wrong one is better found out now than at night.
        trustor = trusts.trustor_of(user)
        return self._insert(
            context, trustor, auth_url=url, password=context.password
        )

    def _insert(
        self, context: RequestContext, trustor: trusts.Trustor, **more: Any
    ) -> int:
        values = {
            "username": context.username or context.user_name,
            "region_name": context.region_name,
            "tenant": context.project_name,
            "tenant_id": trustor.project_id,
            "trustor_user_id": trustor.user_id,
            **more,
        }
        return self._db.run(lambda conn: credentials.insert(conn, values))

    def _attached(
        self, stack: stacks.StackRecord, made: int, held: int | None
    ) -> int:
        """Credentials that were made, or those that were faster."""
        won = self._db.run(
            lambda conn: credentials.attach(conn, stack, made, held)
        )
        if won == made:
            return made
        self.end(made)
        return won

    # -- deleted ------------------------------------------------------------

    def end(self, creds_id: int) -> None:
        """Delete credentials, and their trust, that no stack has (any
        more); those that one has are left alone."""
        self._discard(
            lambda: self._db.read(
                lambda conn: credentials.loose(
                    conn, datetime.datetime.max, only=creds_id
                )
            )
        )

    def tidy(self) -> None:
        """As :meth:`end` for all that were forgotten; call it often."""
        now = self._engine.monotonic()
        if now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        before = timeutils.utcnow() - _LOOSE_AFTER
        self._discard(
            lambda: [
                creds_id
                for creds_id in self._db.read(
                    lambda conn: credentials.loose(conn, before)
                )
                if now >= self._failed.get(creds_id, now)
            ]
        )

    def _discard(self, find: Callable[[], list[int]]) -> None:
        """Never in the way of anything: what fails is tried again."""
        try:
            found = find()
        except Exception:
            LOG.exception("looking for credentials to delete failed")
            return
        for creds_id in found:
            try:
                self._delete(creds_id)
            except Exception as error:
                again = self._engine.monotonic() + _TRY_AGAIN
                self._failed[creds_id] = again
                LOG.warning(
                    "a trust is not deleted yet (credentials %d): %s",
                    creds_id,
                    error,
                )
            else:
                self._failed.pop(creds_id, None)

    def _delete(self, creds_id: int) -> None:
        # The trust first: as long as there is one, there is the row.
        found = self._db.read(lambda conn: credentials.get(conn, creds_id))
        if found is None:
            return
        trust_id = found.trust_id
        if trust_id is None and found.trust_mark is not None:
            trust_id = trusts.find(found.trust_mark)
        if trust_id is not None:
            trusts.delete(trust_id)
        self._db.run(lambda conn: credentials.delete(conn, creds_id))


def ensure(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    tree: child.Tree,
) -> int | None:
    """As :meth:`Delegation.ensure`; without a Keystone: what there is."""
    if engine.delegation is None:
        return stack.user_creds_id
    return engine.delegation.ensure(context, stack, tree)


@contextlib.contextmanager
def for_new(
    engine: Engine,
    context: RequestContext,
    draft: stacks.StackRecord,
    tree: child.Tree,
) -> Iterator[int | None]:
    """As :func:`ensure`, while a stack is stored.

    When that fails, what was made for it goes.
    """
    made = ensure(engine, context, draft, tree)
    try:
        yield made
    except Exception:
        if engine.delegation is not None and made is not None:
            engine.delegation.end(made)
        raise
