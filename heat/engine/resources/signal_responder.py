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
sender needs. It keeps what it makes up in the resource's data.
"""

from __future__ import annotations

import secrets
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import resource

_PASSWORD = "password"  # noqa: S105 - the key, not the secret
_BYTES = 24


class SignalResponder(resource.Resource):
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

    #: transports that this release serves
    SERVED = frozenset((HEAT_SIGNAL, NO_SIGNAL, TOKEN_SIGNAL))

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
        if transport is None or transport in self.SERVED:
            return
        raise exception.StackValidationFailed(
            path=[
                *("resources", self.name, "properties"),
                self.SIGNAL_TRANSPORT,
            ],
            message=_(
                "The transport %(given)s is not available here; use one of "
                "%(known)s."
            )
            % {"given": transport, "known": ", ".join(sorted(self.SERVED))},
        )

    def handle_delete(self) -> Any:
        """Forget what a sender was given."""
        self.data_delete(_PASSWORD)
        return super().handle_delete()

    @property
    def password(self) -> str | None:
        """The password that a sender was given, if there is one."""
        return self.data().get(_PASSWORD)

    @password.setter
    def password(self, value: str | None) -> None:
        if value is None:
            self.data_delete(_PASSWORD)
        else:
            self.data_set(_PASSWORD, value, redact=True)

    # -- what a sender needs -----------------------------------------------

    def make_credentials(self) -> None:
        """Make up what the transport needs, once."""
        if self.signal_transport() == self.HEAT_SIGNAL and not self.password:
            self.password = secrets.token_urlsafe(_BYTES)

    def signal_path(self) -> str:
        """The path of the native API to which a signal is sent."""
        stack = self.stack
        return (
            f"/v1/{stack.tenant_id}/stacks/{stack.name}/{stack.id}"
            f"/resources/{self.name}/signal"
        )

    def signal_url(self) -> str:
        """Where a signal is sent, as far as the address is known.

        The address comes from option ``url`` of ``[clients_heat]``; without
        it there is the path alone.
        """
        base = ""
        conf = self.stack.conf
        group = getattr(conf, "clients_heat", None)
        if group is not None and group.url:
            base = str(group.url).partition("/v1")[0].rstrip("/")
        return base + self.signal_path()

    def signal_attribute(self) -> dict[str, Any]:
        """What somebody needs to send a signal as a user of the cloud."""
        transport = self.signal_transport()
        if transport in (None, self.NO_SIGNAL):
            return {}
        found: dict[str, Any] = {
            "alarm_url": self.signal_url(),
            "project_id": self.stack.tenant_id,
        }
        if transport == self.HEAT_SIGNAL:
            found["password"] = self.password
            found["auth_url"] = getattr(self.context, "auth_url", None) or ""
            found["region_name"] = (
                getattr(self.context, "region_name", None) or ""
            )
        return found
