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

"""The base of resources that take signals from outside, and how they do.

A type says which property chooses the transport; this class gives what a
sender needs. With a domain for users of stacks that is a user of the
resource's own: a signed URL, or its password. Without, as where there is no
Keystone, it is the address of the native API.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import ec2, exception
from heat.common.i18n import _
from heat.engine.clients import message_queue, stack_domain
from heat.engine.resources import signal_box, stack_user

_BYTES = 24


class SignalResponder(stack_user.StackUser):
    """A resource that can be signalled.

    Sub-classes define ``handle_signal`` and say with
    :meth:`signal_transport` how they want to be told.
    """

    SIGNAL_TRANSPORT, SIGNAL_ATTR = "signal_transport", "signal"
    PROPERTIES: tuple[str, ...] = (SIGNAL_TRANSPORT,)
    ATTRIBUTES: tuple[str, ...] = (SIGNAL_ATTR,)

    TRANSPORTS = (
        CFN_SIGNAL,
        TEMP_URL_SIGNAL,
        HEAT_SIGNAL,
        NO_SIGNAL,
        ZAQAR_SIGNAL,
        TOKEN_SIGNAL,
    ) = (
        "CFN_SIGNAL",
        "TEMP_URL_SIGNAL",
        "HEAT_SIGNAL",
        "NO_SIGNAL",
        "ZAQAR_SIGNAL",
        "TOKEN_SIGNAL",
    )

    #: transports that are served everywhere
    SERVED = frozenset((HEAT_SIGNAL, NO_SIGNAL, TOKEN_SIGNAL))

    #: what the others need
    NEEDS: ClassVar[Mapping[str, str]] = {
        CFN_SIGNAL: _(
            "a domain for users of stacks (stack_user_domain_id or "
            "stack_user_domain_name, stack_domain_admin, "
            "stack_domain_admin_password in heat.conf)"
        ),
        TEMP_URL_SIGNAL: _("an object storage service"),
        ZAQAR_SIGNAL: _(
            "a messaging service, and a domain for users of stacks "
            "(stack_user_domain_name in heat.conf)"
        ),
    }

    #: the calls of the CloudFormation API that end here, and their methods
    WAITCONDITION, SIGNAL = "waitcondition", "signal"
    VERBS: ClassVar[Mapping[str, str]] = {WAITCONDITION: "PUT", SIGNAL: "POST"}

    signal_is_data = True

    def signal_transport(self) -> str | None:
        """The transport that the properties name, None for no such thing."""
        if self.SIGNAL_TRANSPORT not in self.properties_schema:
            return None
        return str(self.properties[self.SIGNAL_TRANSPORT])

    def check_transport(self) -> None:
        """Refuse a transport that leads nowhere, when something is made.

        Not earlier: a template may well be meant for another cloud.

        :raises heat.common.exception.StackValidationFailed: naming those
            that can be used
        """
        transport = self.signal_transport()
        served = self._served(transport)
        if transport is None or transport in served:
            return
        raise exception.StackValidationFailed(
            path=[
                *("resources", self.name, "properties"),
                self.SIGNAL_TRANSPORT,
            ],
            message=_(
                "The transport %(given)s is not available here: it needs "
                "%(needed)s; use one of %(known)s."
            )
            % {
                "given": transport,
                "needed": self.NEEDS[transport],
                "known": ", ".join(sorted(served)),
            },
        )

    def asks_services(self) -> bool:
        if super().asks_services():
            return True
        try:
            return self.signal_transport() == self.TEMP_URL_SIGNAL
        except (exception.HeatException, ValueError):
            # The check of its properties tells of it.
            return False

    def _served(self, asked: str | None) -> set[str]:
        """The transports that are served here.

        :param asked: only of this one a catalogue is asked
        """
        served = set(self.SERVED)
        if self.has_stack_domain():
            served.add(self.CFN_SIGNAL)
        if asked == self.TEMP_URL_SIGNAL and signal_box.is_available(self):
            served.add(asked)
        if asked == self.ZAQAR_SIGNAL and message_queue.endpoint():
            served.add(asked)
        return served

    # -- what a sender needs -----------------------------------------------

    def make_credentials(self) -> None:
        """Make what the transport needs, once.

        :raises heat.common.exception.Error: it needs the CloudFormation
            API, and nothing says where that is
        """
        transport = self.signal_transport()
        if transport == self.NO_SIGNAL:
            return
        if transport == self.TEMP_URL_SIGNAL:
            self.make_box()
        elif not self.has_stack_domain():
            if transport == self.HEAT_SIGNAL and not self.password:
                self.password = secrets.token_urlsafe(_BYTES)
        elif transport in (self.HEAT_SIGNAL, self.TOKEN_SIGNAL):
            self.create_user()
        elif transport == self.ZAQAR_SIGNAL:
            self.make_box()
        else:
            if transport == self.CFN_SIGNAL:
                self.cfn_url(self.SIGNAL, needed=True)
            self.create_keypair()

    def make_box(self) -> None:
        """Make what signals are put into."""
        if self.signal_transport() == self.TEMP_URL_SIGNAL:
            signal_box.make(self, signal_box.SIGNAL, versions=True)
        else:
            signal_box.make_queue(self)

    def signal_path(self, own_user: bool = True) -> str:
        """The path of the native API to which a signal is sent.

        :param own_user: by the resource's own user, if it has one; False: by
            users of the stack's project
        """
        stack = self.stack
        tenant = stack.tenant_id
        if own_user and self.user_id is not None:
            # Its user can't speak of another project than its own.
            tenant = self.stack_user_project_id(make=False) or tenant
        return (
            f"/v1/{tenant}/stacks/{stack.name}/{stack.id}"
            f"/resources/{self.name}/signal"
        )

    def signal_url(self, own_user: bool = True) -> str:
        """Where a signal is sent, as far as the address is known.

        The address comes from option ``url`` of ``[clients_heat]``, or from
        the catalogue; without either there is the path alone.

        :param own_user: as :meth:`signal_path`
        """
        base = ""
        conf = self.stack.conf
        group = getattr(conf, "clients_heat", None)
        if group is not None and group.url:
            base = str(group.url)
        elif self.user_id is not None:
            # A catalogue of the domain lacks addresses with a project.
            base = self._catalogued("orchestration")
        path = self.signal_path(own_user)
        return base.partition("/v1")[0].rstrip("/") + path

    def _catalogued(self, service_type: str) -> str:
        """The address of a service for the asking user, "" for none."""
        try:
            found = self.stack.clients.session("heat").get_endpoint(
                service_type=service_type
            )
        except Exception:
            # Nobody asks, as when an engine goes on by itself.
            return ""
        return str(found or "")

    def signed_url(self, call: str = SIGNAL) -> str | None:
        """The URL by which whoever has it may signal this resource.

        None when there are no keys for it, or nothing says where the
        CloudFormation API is.

        :param call: ``signal`` or ``waitcondition``
        """
        data = self.data()
        access, secret = data.get(self.ACCESS_KEY), data.get(self.SECRET_KEY)
        base = self.cfn_url(call) if access and secret else None
        if not (access and secret and base):
            return None
        arn = self.identifier().arn()
        return ec2.signed_url(base, arn, self.VERBS[call], access, secret)

    def alarm_url(self) -> str:
        """The signed URL, or where there is none, the native one."""
        return self.signed_url() or self.signal_url()

    def signal_attribute(self) -> dict[str, Any]:
        """What somebody needs to send a signal, by transport."""
        transport = self.signal_transport()
        if transport in (None, self.NO_SIGNAL):
            return {}
        if transport == self.CFN_SIGNAL:
            return {"alarm_url": self.alarm_url()}
        if transport == self.TEMP_URL_SIGNAL:
            return {"alarm_url": self.data().get(signal_box.URL)}
        found: dict[str, Any] = {
            "alarm_url": self.signal_url(),
            "project_id": self.stack.tenant_id,
        }
        if transport == self.ZAQAR_SIGNAL:
            del found["alarm_url"]
            found["queue_id"] = signal_box.queue_name(self.data())
        if transport in (self.HEAT_SIGNAL, self.ZAQAR_SIGNAL):
            found["password"] = self.password
            found["auth_url"] = getattr(self.context, "auth_url", None) or ""
            found["region_name"] = (
                getattr(self.context, "region_name", None) or ""
            )
        if self.user_id is not None:
            found.update(self._of_user())
        return found

    def _of_user(self) -> dict[str, Any]:
        """What is told of the user that logs in for a signal."""
        told = {
            "user_id": self.user_id,
            "username": self.user_name(),
            "project_id": self.stack_user_project_id(make=False),
            "domain_id": self.keystone().domain_id(),
            "auth_url": stack_domain.auth_url() or "",
        }
        if self.signal_transport() == self.TOKEN_SIGNAL:
            return {"project_id": told["project_id"]}
        return told

    # -- actions -----------------------------------------------------------

    def delete_user(self) -> None:
        """Nobody can signal it any more: its box goes, and its user."""
        signal_box.drop_queue(self)
        super().delete_user()
        if self.signal_transport() == self.TEMP_URL_SIGNAL:
            signal_box.drop(self)

    def handle_suspend(self) -> Any:
        """Take no signals."""
        signal_box.close(self)
        return super().handle_suspend()

    def handle_resume(self) -> Any:
        """Take signals again."""
        signal_box.open_(self)
        return super().handle_resume()
