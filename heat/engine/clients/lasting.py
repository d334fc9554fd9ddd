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

"""A token that another takes the place of when it ends.

A user's token can't be renewed: the user has gone. What the stack has stored
can, so it is asked for a token when the user's is about to end, and when a
service (or Keystone) does not accept it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import keystoneauth1.exceptions
from keystoneauth1.identity import base

from heat.common import exception

LOG = logging.getLogger(__name__)

#: Seconds before its end at which a token is not begun with any more.
LAST_SECONDS = 60

_REFUSED = (
    keystoneauth1.exceptions.Unauthorized,
    # Keystone says so of a token that was revoked meanwhile.
    keystoneauth1.exceptions.NotFound,
)
_NO_OTHER = (
    keystoneauth1.exceptions.ClientException,
    exception.AuthorizationFailure,
)


class Lasting(base.BaseIdentityPlugin):
    """A keystoneauth plug-in that outlives the one it begins with.

    :param given: the plug-in of the user's token
    :param stored: makes the plug-in that takes its place; called once
    """

    def __init__(self, given: Any, stored: Callable[[], Any]) -> None:
        super().__init__(auth_url=given.auth_url)
        self._given = given
        self._stored = stored
        self._second: Any = None  # once it is used
        self._switching = threading.RLock()

    def get_auth_ref(self, session: Any) -> Any:
        return self.get_access(session)

    def get_access(self, session: Any, **kwargs: Any) -> Any:
        """What Keystone says of the token that counts now."""
        if self._second is not None:
            return self._second.get_access(session, **kwargs)
        try:
            access = self._given.get_access(session, **kwargs)
        except _REFUSED as refused:
            second = self._switch(f"is not accepted: {refused}")
            return second.get_access(session, **kwargs)
        if not access.will_expire_soon(LAST_SECONDS):
            return access
        return self._instead(session, access)

    def _instead(self, session: Any, ending: Any) -> Any:
        """Another in place of a token that is about to end, if there is."""
        with self._switching:
            if self._second is None:
                try:
                    second = self._stored()
                    second.get_access(session)
                except _NO_OTHER as error:
                    LOG.warning("a token ends, there is no other: %s", error)
                    return ending
                LOG.info("the token of the request is about to end")
                self._second = second
        return self._second.get_access(session)

    def _switch(self, why: str) -> Any:
        with self._switching:
            if self._second is None:
                LOG.info("the token of the request %s", why)
                self._second = self._stored()
            return self._second

    def invalidate(self) -> bool:
        """A service did not accept the token: there is another to try."""
        with self._switching:
            if self._second is None:
                self._switch("is not accepted by a service")
            else:
                # Perhaps it was the first one still, of another thread.
                self._second.invalidate()
        return True
