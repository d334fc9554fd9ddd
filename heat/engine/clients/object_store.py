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
"""Containers of an object store, and small objects in them.

Signals and metadata travel in such objects. Whoever has the URL of one writes
it, so that what is read of it has a limit.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any
from urllib import parse

from heat.common import exception
from heat.engine.clients import errors, session, temp_urls

SERVICE = "swift"

#: Most bytes that are read of an object.
MAX_BYTES = 1024 * 1024

#: What metadata of a container, and of the account, begin with.
META, ACCOUNT_META = "X-Container-Meta-", "X-Account-Meta-"
#: Where a container has the key by which URLs into it are signed. An account
#: has one, too, but that is the user's.
KEY = f"{META}Temp-URL-Key"
#: Has it keep every version of its objects.
KEEPS = "X-Versions-Enabled"
#: Where older versions of its objects go, in stores of old.
VERSIONS = "X-Versions-Location"
#: When an object was written: seconds, as a text that sorts.
WRITTEN = "X-Timestamp"

_KEY_BYTES = 24


def write(url: str, text: str) -> None:
    """Write an object by its URL; nobody logs in for that.

    :raises ServiceError: the store refuses, or fails
    """
    made = session.session(None, SERVICE)
    headers = {"Content-Type": "application/json"}
    errors.call(
        SERVICE,
        lambda: made.put(
            url,
            data=text.encode(),
            headers=headers,
            authenticated=False,
            # Whoever has the URL may write.
            log=False,
        ),
        idempotent=True,
    )


class Container:
    """One container, as its project sees it.

    Every method asks the store, and raises
    :class:`heat.engine.clients.errors.ServiceError` when it refuses.

    :param client: what :meth:`.swift.SwiftPlugin.client` gives
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self.name = name

    def _url(self, name: str | None = None) -> str:
        path = "/" + parse.quote(self.name, safe="")
        return path if name is None else f"{path}/{parse.quote(name)}"

    def _do(self, method: str, path: str, **kwargs: Any) -> Any:
        return _ask(self._client, method, path, **kwargs)

    # -- the container -------------------------------------------------------

    def make(self, headers: Mapping[str, Any] | None = None) -> None:
        """Make it; where it is already, it gets the headers."""
        self._do("PUT", self._url(), headers=_encoded(headers or {}))

    def headers(self) -> dict[str, str]:
        """What the store tells of it.

        :raises NotFound: there is no such container
        """
        return dict(self._do("HEAD", self._url()).headers)

    def make_versioned(self, headers: Mapping[str, str]) -> None:
        """Make it, and have older versions of its objects kept.

        A store that keeps none is content with the last. One that keeps them
        beside it may lose some of those that are written at one instant.
        """
        if self._made({**headers, KEEPS: "true"}) and self.keeps():
            return
        beside = self.beside()
        beside.make()
        where = {VERSIONS: parse.quote(beside.name, safe="")}
        if not self._made({**headers, **where}):
            self.make(headers)

    def _made(self, headers: Mapping[str, str]) -> bool:
        """Whether the store knows what these headers ask for."""
        try:
            self.make(headers)
        except errors.ServiceError as exc:
            if exc.status_code not in (400, 412):
                raise
            return False
        return True

    def keeps(self) -> bool:
        """Whether every version of its objects is in it."""
        found = self._do("HEAD", self._url()).headers.get(KEEPS)
        return str(found).lower() == "true"

    def beside(self) -> Container:
        """Where older versions of its objects are."""
        return Container(self._client, f"{self.name}-before")

    def key(self) -> str | None:
        """The key by which URLs into it are signed, if it has one.

        :raises NotFound: there is no such container
        """
        found = self._do("HEAD", self._url()).headers.get(KEY)
        return str(found) if found else None

    def own_key(self) -> str:
        """That key; a container without gets one, and who is not there is
        made."""
        try:
            found = self.key()
        except errors.NotFound:
            found = None
        if found is None:
            found = new_key()
            self.make({KEY: found})
        return found

    def set_key(self, key: str | None) -> None:
        """Change the key; None: no signed URL is good any more."""
        self._do("POST", self._url(), headers={KEY: key or ""})

    def url(self, name: str, method: str, key: str) -> str:
        """A URL by which whoever has it does this with an object.

        :raises EntityNotFound: nothing says where the store is
        """
        base = root(self._client)
        if not base:
            raise exception.EntityNotFound(
                entity="Service endpoint", name="object-store"
            )
        url = f"{base}{self._url(name)}"
        return temp_urls.signed(url, method, key)

    def delete(self) -> None:
        """Delete it, with all that is in it; one that is gone is no error.

        Older versions go first: they would come back otherwise.
        """
        both = (self.beside(), self)
        for each in both:
            each.clear()
        for each in reversed(both):
            try:
                each._do("DELETE", each._url())
            except errors.NotFound:
                continue

    def delete_empty(self) -> None:
        """Delete it.

        :raises NotFound: there is no such container
        :raises Conflict: something is in it
        """
        self._do("DELETE", self._url())

    def clear(self) -> None:
        """Delete its objects, in all their versions."""
        for row in list(self._rows(versions="")):
            self.remove(str(row["name"]), _version(row))

    # -- its objects ---------------------------------------------------------

    def _page(self, **query: str) -> list[Mapping[str, Any]]:
        """What the store lists; nothing where there is no such container."""
        asked = parse.urlencode({"format": "json", **query})
        try:
            answer = self._do("GET", f"{self._url()}?{asked}")
        except errors.NotFound:
            return []
        return list(answer.json() if answer.content else ())

    def _rows(self, **query: str) -> Iterator[Mapping[str, Any]]:
        """The same, page by page."""
        marker: dict[str, str] = {}
        while page := self._page(**query, **marker):
            yield from page
            last = page[-1]
            marker = {"marker": str(last["name"])}
            if version := last.get("version_id"):
                marker["version_marker"] = str(version)

    def some(self, number: int) -> list[tuple[str, str | None]]:
        """Names and versions of its first objects.

        :param number: of how many at most
        """
        rows = self._page(versions="", limit=str(number))
        return [(str(row["name"]), _version(row)) for row in rows]

    def names(self, prefix: str) -> list[str]:
        """The objects whose names begin so, sorted."""
        return [str(row["name"]) for row in self._rows(prefix=prefix)]

    def versions(self, name: str) -> list[str]:
        """The versions of an object, where every one is kept; the oldest
        first. What was deleted is none."""
        return sorted(
            version
            for row in self._rows(versions="", prefix=name)
            if row["name"] == name
            and (version := _version(row))
            and "versions_deleted" not in str(row.get("content_type"))
        )

    def written(self, name: str) -> str | None:
        """When an object was written last; None: it was not."""
        try:
            answer = self._do("HEAD", self._url(name))
        except errors.NotFound:
            return None
        return str(answer.headers.get(WRITTEN))

    def read(
        self, name: str, version: str | None = None
    ) -> tuple[str, bytes] | None:
        """When an object was written, and what stands in it; None: nothing.

        Of what is too long only a part is read, one byte more than
        :data:`MAX_BYTES`.

        :param version: one of :meth:`versions`; None: the last
        """
        # A packed body could be of any size when unpacked.
        headers = {
            "Accept-Encoding": "identity",
            "Range": f"bytes=0-{MAX_BYTES}",
        }
        try:
            answer = self._do("GET", self._of(name, version), headers=headers)
        except errors.NotFound:
            return None
        except errors.ServiceError as exc:
            if exc.status_code != 416:
                raise
            # There is no part of what is empty.
            return self.written(name) or "", b""
        return str(answer.headers.get(WRITTEN)), bytes(answer.content)

    def remove(self, name: str, version: str | None = None) -> None:
        """Delete an object, or a version; one that is gone is no error."""
        try:
            self._do("DELETE", self._of(name, version))
        except errors.NotFound:
            return

    def _of(self, name: str, version: str | None) -> str:
        url = self._url(name)
        if version is None:
            return url
        return f"{url}?{parse.urlencode({'version-id': version})}"


def _version(row: Mapping[str, Any]) -> str | None:
    """The version that a row of a list is of; None: none is kept."""
    found = row.get("version_id")
    # So a store says of an object that is older than its versions.
    return None if found in (None, "null") else str(found)


def describe(client: Any, values: Mapping[str, Any]) -> None:
    """Set metadata of the account, beside those it has.

    :raises ServiceError: the store refuses, or fails
    """
    headers = {f"{ACCOUNT_META}{key}": values[key] for key in values}
    _ask(client, "POST", "", headers=_encoded(headers))


def root(client: Any) -> str:
    """The address of the account, without a slash at its end."""
    return str(client.get_endpoint() or "").rstrip("/")


def _ask(client: Any, method: str, path: str, **kwargs: Any) -> Any:
    return errors.call(
        SERVICE,
        lambda: client.request(
            path, method, raise_exc=True, log=False, **kwargs
        ),
        # Nothing here becomes another thing when it is done twice.
        idempotent=True,
    )


def _encoded(headers: Mapping[str, Any]) -> dict[str, str]:
    """Headers as they are sent: each value's UTF-8 bytes."""
    return {
        key: str(value).encode().decode("latin-1")
        for key, value in headers.items()
    }


def located(client: Any, url: str) -> tuple[Container, str] | None:
    """The container and the name of the object that a URL leads to; None:
    it leads out of the project's store."""
    base = parse.urlsplit(root(client)).path
    path = parse.urlsplit(url).path
    if not path.startswith(f"{base}/"):
        return None
    container, _slash, name = path[len(base) + 1 :].partition("/")
    if not (container and name):
        return None
    return Container(client, parse.unquote(container)), parse.unquote(name)


def new_key() -> str:
    """A key that nobody knows."""
    return secrets.token_hex(_KEY_BYTES)
