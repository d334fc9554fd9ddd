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
"""The object store: containers of files, read over ReST.

A container belongs to the user, who may put anything into it, so that what
is read has limits: objects, bytes, seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar
from urllib import parse

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as keystone_exceptions

from heat.common import exception, template_format
from heat.common.i18n import _
from heat.engine.clients import client_plugin, errors

#: Most objects of a container, and most bytes of all of them.
MAX_OBJECTS = 5000
MAX_BYTES = 16 * 1024 * 1024
#: Longest time for the whole of a container, seconds.
MAX_SECONDS = 40.0

_PAGE = 1000
_CHUNK = 65536
_MAX_NAME = 256
# How clients mark what is shown as a folder and has no content.
_FOLDERS = ("application/directory", "application/x-directory")


class SwiftPlugin(client_plugin.ClientPlugin):
    """Containers and their objects."""

    exceptions_module: ClassVar[Any] = keystone_exceptions
    service_types: ClassVar[list[str]] = ["object-store"]
    service: ClassVar[str] = "swift"
    needs_credentials: ClassVar[bool] = True

    def _create(self, version: str | None = None) -> Any:
        return adapter.Adapter(
            self.keystone_session(),
            service_type=self.service_types[0],
            interface=self.interface(),
            region_name=self.region_name(),
        )

    def read_container(
        self, name: str, monotonic: Callable[[], float] = time.monotonic
    ) -> dict[str, str]:
        """The texts in a container, by the names of their objects.

        :raises ValueError: it is no container's name, or holds what is no
            UTF-8 text
        :raises DownloadLimitExceeded: it holds too much, or takes too long
        :raises ServiceError: the service refuses, or fails
        """
        if not name or "/" in name or len(name.encode()) > _MAX_NAME:
            raise ValueError(
                _("%(name)r is no name of a container") % {"name": name[:50]}
            )
        reading = _Reading(self.client(), name, monotonic)
        return {each: reading.text(each) for each in reading.names()}


class _Reading:
    """One container, while it is read."""

    def __init__(
        self, client: Any, container: str, monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._container = container
        self._path = "/" + parse.quote(container, safe="")
        self._monotonic = monotonic
        self._deadline = monotonic() + MAX_SECONDS
        self._left = MAX_BYTES

    def names(self) -> list[str]:
        """The objects that have a content, by name.

        The sizes that the list tells are checked before any is read.
        """
        found: list[str] = []
        size = 0
        for row in self._rows():
            name = row["name"]
            if name.endswith("/") or row.get("content_type") in _FOLDERS:
                continue
            found.append(name)
            size += int(row.get("bytes") or 0)
            if len(found) > MAX_OBJECTS:
                raise self._too_much(_("%d objects") % MAX_OBJECTS)
            if size > MAX_BYTES:
                raise self._too_much(_("%d bytes") % MAX_BYTES)
        return found

    def _rows(self) -> Iterator[dict[str, Any]]:
        marker = ""
        while True:
            query = {"format": "json", "limit": str(_PAGE)}
            if marker:
                query["marker"] = marker
            answer = self._get(f"{self._path}?{parse.urlencode(query)}")
            page = _parsed(self._body(answer, template_format.MAX_BYTES))
            yield from page
            if not page or page[-1]["name"] <= marker:
                return
            marker = page[-1]["name"]

    def text(self, name: str) -> str:
        """The content of one object."""
        answer = self._get(f"{self._path}/{parse.quote(name)}")
        content = self._body(answer, self._left)
        self._left -= len(content)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(
                _('the object "%s" is not UTF-8 text') % name
            ) from None

    def _get(self, path: str) -> Any:
        self._check_time()
        return errors.call(
            SwiftPlugin.service,
            lambda: self._client.get(
                path,
                stream=True,
                raise_exc=True,
                # What is logged is read whole first; it may be a secret, too.
                log=False,
                # A packed body could be of any size when unpacked.
                headers={"Accept-Encoding": "identity"},
            ),
            idempotent=True,
        )

    def _body(self, answer: Any, limit: int) -> bytes:
        parts: list[bytes] = []
        left = limit
        with answer:
            for chunk in answer.iter_content(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise self._too_much(_("%d bytes") % MAX_BYTES)
                self._check_time()
                parts.append(chunk)
        return b"".join(parts)

    def _check_time(self) -> None:
        if self._monotonic() > self._deadline:
            raise exception.DownloadLimitExceeded(
                message=_(
                    'the container "%(name)s" could not be read within '
                    "%(seconds)g seconds"
                )
                % {"name": self._container, "seconds": MAX_SECONDS}
            )

    def _too_much(self, limit: str) -> exception.DownloadLimitExceeded:
        return exception.DownloadLimitExceeded(
            message=_('the container "%(name)s" holds more than %(limit)s')
            % {"name": self._container, "limit": limit}
        )


def _parsed(text: bytes) -> list[dict[str, Any]]:
    """A page of the list of a container; an empty one has no text."""
    try:
        page = template_format.load(text.decode() or "[]", "list")
    except ValueError as exc:
        raise errors.ServiceFault(
            service=SwiftPlugin.service, words=str(exc)
        ) from exc
    if not isinstance(page, list) or not all(
        isinstance(row, dict) and isinstance(row.get("name"), str)
        for row in page
    ):
        raise errors.ServiceFault(
            service=SwiftPlugin.service,
            words=_("the list of the container is not one"),
        )
    return page
