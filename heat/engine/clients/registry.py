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

"""Which cloud clients there are, and the set of one user.

A client plug-in class is known by a name (``nova``); the
:class:`OpenStackClients` of a context makes each at its first use and keeps
it for as long as the context lives. Ours are imported when they are first
used, as their libraries take a second or two; others are registered.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import session as sessions

#: name -> module and class
_OURS = {
    "aodh": "heat.engine.clients.aodh:AodhPlugin",
    "barbican": "heat.engine.clients.barbican:BarbicanPlugin",
    "cinder": "heat.engine.clients.cinder:CinderPlugin",
    "glance": "heat.engine.clients.glance:GlancePlugin",
    "heat": "heat.engine.clients.heat:HeatPlugin",
    "keystone": "heat.engine.clients.keystone:KeystonePlugin",
    "neutron": "heat.engine.clients.neutron:NeutronPlugin",
    "nova": "heat.engine.clients.nova:NovaPlugin",
    "octavia": "heat.engine.clients.octavia:OctaviaPlugin",
    "openstack": "heat.engine.clients.openstack:OpenStackPlugin",
    "swift": "heat.engine.clients.swift:SwiftPlugin",
    "zaqar": "heat.engine.clients.zaqar:ZaqarPlugin",
}
#: attribute of a context that holds its clients
_HELD = "_heat_clients"

_plugins: dict[str, Any] = {}
_holding = threading.Lock()


def register(name: str, plugin: Any) -> None:
    """Make a client plug-in class known, for the whole process.

    :param plugin: a sub-class of
        :class:`heat.engine.clients.client_plugin.ClientPlugin`
    """
    _plugins[name] = plugin


def has_client(name: str) -> bool:
    """Tell whether there is a client plug-in of that name."""
    return name in _plugins or name in _OURS


def _plugin_class(name: str) -> Any:
    if name not in _plugins and name in _OURS:
        module, _colon, cls = _OURS[name].partition(":")
        found = getattr(importlib.import_module(module), cls)
        _plugins.setdefault(name, found)
    return _plugins.get(name)


class OpenStackClients:
    """The clients of one user. Many threads may use them.

    :param context: a :class:`heat.common.context.RequestContext`
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        self._lock = threading.RLock()
        self._made: dict[str, Any] = {}
        self._sessions: dict[str, Any] = {}
        self._available: dict[str, tuple[bool, str | None]] = {}
        self._auth: Any = None

    def client_plugin(self, name: str) -> Any:
        """The plug-in of that name.

        :raises heat.common.exception.ClientNotAvailable: when there is none
        """
        with self._lock:
            if name not in self._made:
                plugin = _plugin_class(name)
                if plugin is None:
                    raise exception.ClientNotAvailable(client_name=name)
                self._made[name] = plugin(self.context)
            return self._made[name]

    def client(self, name: str, version: str | None = None) -> Any:
        """The client object that the plug-in of that name makes."""
        plugin = self.client_plugin(name)
        return plugin.client(version) if version else plugin.client()

    def session(self, service: str) -> Any:
        """The session for a service; all share one token.

        :param service: as in the options [clients_<service>]
        :raises heat.common.exception.AuthorizationFailure: when the request
            brought no credentials
        """
        with self._lock:
            if self._auth is None:
                self._auth = sessions.auth(self.context)
            if service not in self._sessions:
                made = sessions.session(self._auth, service)
                self._sessions[service] = made
            return self._sessions[service]

    def availability(self, name: str) -> tuple[bool, str | None]:
        """Tell whether the user can reach a service, and why not."""
        if not has_client(name):
            return False, _("there is no client for the service %s") % name
        with self._lock:
            known = self._available.get(name)
        if known is None:
            ask = getattr(self.client_plugin(name), "availability", None)
            known = ask() if callable(ask) else (True, None)
            with self._lock:
                self._available[name] = known
        return known


def of(context: Any) -> Any:
    """The clients of ``context``; its own ``clients`` when it has some."""
    own = getattr(context, "clients", None)
    if own is not None:
        return own
    found = getattr(context, _HELD, None)
    # The copy of a context holds the clients of the one it was made from.
    if found is None or found.context is not context:
        found = OpenStackClients(context)
        try:
            held = vars(context)
        except TypeError:
            return found
        with _holding:
            first = held.get(_HELD)
            if first is not None and first.context is context:
                return first
            held[_HELD] = found
    return found


def availability(context: Any, name: str) -> tuple[bool, str | None]:
    """Tell whether the user can reach a service, and why not.

    :param context: None: whether there is a plug-in at all
    """
    if context is None:
        if has_client(name):
            return True, None
        return False, _("there is no client for the service %s") % name
    ask = getattr(of(context), "availability", None)
    if ask is None:
        return True, None
    answer: tuple[bool, str | None] = ask(name)
    return answer
