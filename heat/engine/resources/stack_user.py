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

"""The base of resources that have a user of their own.

The user is for what goes on inside of a server: it may signal resources of
its stack and read their metadata. It lives in the domain that options name
(:mod:`heat.engine.clients.stack_domain`), in a project of the stack, and ends
with the resource. While the stack is suspended it is kept out.
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.db import roots, stacks
from heat.engine import resource
from heat.engine.clients import stack_domain

_BYTES = 24


class StackUser(resource.Resource):
    """A resource with a user.

    Sub-classes call :meth:`create_user` and, for signed requests,
    :meth:`create_keypair`, when the object is made. What is known of the
    user is kept in the resource's data under the keys below.
    """

    USER_ID, CREDENTIAL_ID = "user_id", "credential_id"
    ACCESS_KEY, SECRET_KEY = "access_key", "secret_key"
    PASSWORD_KEY = "password"  # noqa: S105 - the key, not the secret

    # Keystone is asked, but by no client of the user's.
    may_block = True

    beside: ClassVar[tuple[str, ...]] = (USER_ID,)

    def keystone(self) -> stack_domain.StackDomain:
        """The domain in which the users live.

        :raises heat.common.exception.AuthorizationFailure: there is none
        """
        return stack_domain.get()

    @staticmethod
    def has_stack_domain() -> bool:
        """Whether there is a domain for such users."""
        return stack_domain.is_configured()

    @property
    def user_id(self) -> str | None:
        """The id of the user, None when it was not made."""
        return self.data().get(self.USER_ID)

    @property
    def password(self) -> str | None:
        """The password that a sender was given, if there is one."""
        return self.data().get(self.PASSWORD_KEY)

    @password.setter
    def password(self, value: str | None) -> None:
        if value is None:
            self.data_delete(self.PASSWORD_KEY)
        else:
            self.data_set(self.PASSWORD_KEY, value, redact=True)

    # -- the project of the stack --------------------------------------------

    def stack_user_project_id(self, make: bool = True) -> str | None:
        """The project of the users of this stack, and of those around it.

        All stacks of a tree share one, which is made for the first user and
        goes with the top one.

        :param make: make it when there is none
        """
        known: str | None = self.stack.stack_user_project_id
        if known:
            return known
        own, top = self._stack_and_top()
        found: str | None = (
            own.stack_user_project_id or top.stack_user_project_id
        )
        if found is None and not make:
            return None
        if found is None:
            found = self.keystone().create_stack_domain_project(top.id)
        lacking = [
            each.id
            for each in (own, top)
            if each.stack_user_project_id is None
        ]

        def note(conn: Any) -> None:
            for stack_id in lacking:
                stacks.update(conn, stack_id, stack_user_project_id=found)

        if lacking:
            self.stack.db.run(note)
        return found

    def _stack_and_top(self) -> tuple[stacks.StackRecord, stacks.StackRecord]:
        stack_id = self.stack.id or ""

        def read(conn: Any) -> Any:
            own = stacks.get(conn, stack_id, show_deleted=True)
            if own is None:
                raise exception.EntityNotFound(entity="Stack", name=stack_id)
            top = stacks.get(conn, roots.root_of(conn, own), True)
            return own, top or own

        own, top = self.stack.db.read(read)
        return own, top

    # -- the user ------------------------------------------------------------

    def user_name(self) -> str:
        """A name that nobody else has in the domain."""
        name = self.physical_resource_name() or self.name
        return self.reduce_physical_resource_name(name, 64)

    def create_user(self) -> str:
        """Make the user, once; its id."""
        if self.user_id is None:
            if self.password is None:
                self.password = secrets.token_urlsafe(_BYTES)
            made = self.keystone().create_stack_domain_user(
                self.user_name(),
                self.stack_user_project_id() or "",
                self.password,
            )
            self.data_set(self.USER_ID, made)
        return self.user_id or ""

    def create_keypair(self) -> None:
        """Make keys with which the user signs requests, once."""
        if self.data().get(self.ACCESS_KEY):
            return
        made = self.keystone().create_stack_domain_user_keypair(
            self.create_user(), self.stack_user_project_id() or ""
        )
        self.data_set(self.CREDENTIAL_ID, made.id, redact=True)
        self.data_set(self.ACCESS_KEY, made.access)
        self.data_set(self.SECRET_KEY, made.secret, redact=True)

    def delete_user(self) -> None:
        """Delete the user with its keys; one that is gone is no error."""
        user_id = self.user_id
        if user_id is not None:
            if self.has_stack_domain():
                self.keystone().delete_stack_domain_user(user_id)
            self.data_delete(self.USER_ID)
        for key in (self.CREDENTIAL_ID, self.ACCESS_KEY, self.SECRET_KEY):
            self.data_delete(key)
        self.password = None

    def user_token(self) -> str:
        """A token of the user, "" when there is no user."""
        if self.user_id is None or self.password is None:
            return ""
        return self.keystone().stack_domain_user_token(
            self.user_id,
            self.stack_user_project_id(make=False) or "",
            self.password,
        )

    def cfn_url(self, call: str, *, needed: bool = False) -> str | None:
        """What a URL of a call of the CloudFormation API begins with.

        :param call: ``signal``, ``waitcondition``, or "" for the others
        :raises heat.common.exception.Error: it is needed, and not known
        """
        conf = self.stack.conf
        found = getattr(conf, "heat_waitcondition_server_url", None)
        if found:
            root = str(found).rstrip("/").removesuffix("waitcondition")
            return f"{root.rstrip('/')}/{call}"
        found = getattr(conf, "heat_metadata_server_url", None)
        if found:
            return f"{str(found).rstrip('/')}/v1/{call}"
        if self.has_stack_domain():
            found = stack_domain.get().endpoint("cloudformation", "heat")
            if found:
                return f"{str(found).rstrip('/')}/{call}"
        if needed:
            raise exception.Error(
                _(
                    "Signed requests need the address of the CloudFormation "
                    "API: set heat_metadata_server_url in heat.conf, or "
                    "register an endpoint of the type cloudformation."
                )
            )
        return None

    # -- actions -------------------------------------------------------------

    def forget_beside(self) -> list[tuple[str, str]]:
        """Delete the user: all that it may do ends with the resource."""
        self.delete_user()
        return super().forget_beside()

    def handle_delete(self) -> Any:
        """Delete the user."""
        self.delete_user()
        return super().handle_delete()

    def handle_suspend(self) -> Any:
        """Keep the user out."""
        if self.user_id is not None:
            self.keystone().disable_stack_domain_user(self.user_id)

    def handle_resume(self) -> Any:
        """Let the user in again."""
        if self.user_id is not None:
            self.keystone().enable_stack_domain_user(self.user_id)
