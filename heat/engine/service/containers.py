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
"""Files that a request does not bring itself: those of a container.

The key ``files_container`` names a container of the object store. What is
in it counts as if it had been sent in ``files`` under the objects' names;
what was sent there is nearer, and wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.engine import clients
from heat.engine.clients import errors

_SERVICE = "swift"


def files_of(
    context: RequestContext,
    files: Mapping[str, str] | None,
    container: str | None,
) -> dict[str, str]:
    """The files of a request. Asks the cloud, in the caller's name.

    :param files: those that it brought
    :param container: where others are; None or empty: nowhere
    :raises ValueError: the container can't be read; 400 with the reason
    :raises DownloadLimitExceeded: it holds too much, or takes too long
    """
    found: dict[str, str] = {}
    if container:
        found = _read(context, container)
    found.update(files or {})
    return found


def _read(context: RequestContext, container: str) -> dict[str, str]:
    available, reason = clients.availability(context, _SERVICE)
    if not available:
        raise _unreadable(container, reason)
    plugin: Any = clients.of(context).client_plugin(_SERVICE)
    try:
        texts: dict[str, str] = plugin.read_container(container)
    except errors.NotFound:
        raise _unreadable(container, _("there is no such container")) from None
    except (errors.ServiceError, ValueError) as exc:
        raise _unreadable(container, exc) from exc
    return texts


def _unreadable(container: str, reason: object) -> ValueError:
    return ValueError(
        _('The files_container "%(name)s" can\'t be read: %(reason)s')
        % {"name": container[:256], "reason": reason}
    )
