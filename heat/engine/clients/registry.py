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

A client plug-in class is registered under a name (``nova``); the
:class:`OpenStackClients` of a context makes each at its first use and keeps
it for as long as the context lives. Knows no service by name.
"""

from __future__ import annotations

import weakref
from typing import Any

from heat.common import exception

_plugins: dict[str, Any] = {}
_sets: weakref.WeakKeyDictionary[Any, OpenStackClients] = (
    weakref.WeakKeyDictionary()
)


def register(name: str, plugin: Any) -> None:
    """Make a client plug-in class known, for the whole process.

    :param plugin: a sub-class of
        :class:`heat.engine.clients.client_plugin.ClientPlugin`
    """
    _plugins[name] = plugin


def has_client(name: str) -> bool:
    """Tell whether a client plug-in of that name is registered."""
    return name in _plugins


class OpenStackClients:
    """The clients of one user.

    :param context: a :class:`heat.common.context.RequestContext`
    """

    def __init__(self, context: Any) -> None:
        # The set lives in a table keyed weakly by the context, so it must
        # not keep the context alive itself.
        try:
            self._context: Any = weakref.ref(context)
        except TypeError:
            self._context = lambda: context
        self._made: dict[str, Any] = {}

    @property
    def context(self) -> Any:
        return self._context()

    def client_plugin(self, name: str) -> Any:
        """The plug-in of that name.

        :raises heat.common.exception.ClientNotAvailable: when there is none
        """
        if name not in self._made:
            plugin = _plugins.get(name)
            if plugin is None:
                raise exception.ClientNotAvailable(client_name=name)
            self._made[name] = plugin(self.context)
        return self._made[name]

    def client(self, name: str, version: str | None = None) -> Any:
        """The client object that the plug-in of that name makes."""
        plugin = self.client_plugin(name)
        return plugin.client(version) if version else plugin.client()


def of(context: Any) -> Any:
    """The clients of ``context``; its own ``clients`` when it has some."""
    own = getattr(context, "clients", None)
    if own is not None:
        return own
    try:
        found = _sets.get(context)
    except TypeError:
        return OpenStackClients(context)
    if found is None:
        found = _sets[context] = OpenStackClients(context)
    return found
