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

"""Collections: objects of one kind in one service, whatever its library.

:class:`Rest` speaks JSON over a keystoneauth adapter (an openstacksdk
proxy); :class:`Managed` wraps a manager of novaclient or glanceclient. Both
give dictionaries, raise :class:`heat.engine.clients.errors.ServiceError`,
and repeat what may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from openstack import exceptions as sdk_exceptions

from heat.common import exception
from heat.engine.clients import errors

_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.I)


class Collection(Protocol):
    """Objects of one kind."""

    #: for people, such as ``network``
    what: str

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]: ...

    def get(self, ident: str) -> dict[str, Any]: ...

    def update(
        self, ident: str, body: Mapping[str, Any]
    ) -> dict[str, Any] | None: ...

    def delete(self, ident: str) -> None: ...

    def list(self, **filters: Any) -> list[dict[str, Any]]: ...


def looks_like_id(text: str) -> bool:
    """Whether a text has the form of an id that services make."""
    return _UUID.fullmatch(text) is not None


def find(collection: Collection, name: str) -> dict[str, Any]:
    """The object with this id or name.

    :raises heat.common.exception.EntityNotFound: there is none
    :raises heat.common.exception.PhysicalResourceNameAmbiguity: several
        objects have the name
    """
    try:
        return collection.get(name)
    except errors.ServiceError as ex:
        # A name in place of an id is a bad request to some services.
        if not isinstance(ex, errors.NotFound | errors.BadRequest):
            raise
    found = [
        each
        for each in ([] if looks_like_id(name) else collection.list(name=name))
        if each.get("name") == name
    ]
    if len(found) > 1:
        raise exception.PhysicalResourceNameAmbiguity(name=name)
    if not found:
        raise exception.EntityNotFound(
            entity=collection.what.capitalize(), name=name
        )
    return found[0]


class Rest:
    """Objects under one path of a service that speaks plain REST.

    :param service: as plug-ins name it, for messages
    :param adapter: gives the adapter (made late: it asks for the catalogue)
    :param key: the key around one object
    :param plural: the key around a list, and the path when ``path`` is not
        given
    :param update: the method that changes an object
    :param unheeded: what the service does not filter by when it lists, though
        its objects have it: it refuses, or finds nothing. Who asks has to
        look at what it shows
    """

    def __init__(
        self,
        service: str,
        adapter: Callable[[], Any],
        key: str,
        plural: str,
        *,
        path: str | None = None,
        update: str = "PUT",
        unheeded: Iterable[str] = (),
        what: str | None = None,
        microversion: str | None = None,
    ) -> None:
        self.what = what or key.replace("_", " ")
        self._service = service
        self._adapter = adapter
        self._key = key
        self._plural = plural
        self._path = path or f"/{plural}"
        self._update = update
        self._unheeded = frozenset(unheeded)
        self._microversion = microversion

    def request(
        self,
        method: str,
        path: str = "",
        *,
        json: Any = None,
        params: Mapping[str, Any] | None = None,
        idempotent: bool | None = None,
    ) -> Any:
        """Call a path below the collection's own.

        :param idempotent: None: all but POST are
        :returns: the decoded body, None when there is none
        :raises ServiceError: for every status of 400 and above
        """
        more: dict[str, Any] = {}
        if json is not None:
            more["json"] = json
        if params:
            more["params"] = dict(params)
        if self._microversion:
            more["microversion"] = self._microversion

        def send() -> Any:
            response = self._adapter().request(
                self._path + path, method, raise_exc=False, **more
            )
            sdk_exceptions.raise_from_response(response)
            return response.json() if response.content else None

        if idempotent is None:
            idempotent = method != "POST"
        return errors.call(self._service, send, idempotent=idempotent)

    def _inner(self, body: Any) -> dict[str, Any]:
        return dict(body.get(self._key, body)) if body else {}

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._inner(self.request("POST", json={self._key: dict(body)}))

    def get(self, ident: str) -> dict[str, Any]:
        return self._inner(self.request("GET", f"/{ident}"))

    def update(
        self, ident: str, body: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        sent = {self._key: dict(body)}
        return self._inner(self.request(self._update, f"/{ident}", json=sent))

    def delete(self, ident: str) -> None:
        self.request("DELETE", f"/{ident}")

    def list(self, **filters: Any) -> list[dict[str, Any]]:
        heeded = {k: filters[k] for k in filters if k not in self._unheeded}
        found = self.request("GET", params=heeded)
        return [dict(each) for each in (found or {}).get(self._plural, ())]

    def act(self, ident: str, action: str, body: Any = None) -> Any:
        """POST to an object's ``action``, as block storage does."""
        return self.request("POST", f"/{ident}/action", json={action: body})


class Bare(Rest):
    """Objects with nothing around them, with an id of another name."""

    def key_of_id(self) -> str:
        """The key of the id."""
        raise NotImplementedError

    def _inner(self, body: Any) -> dict[str, Any]:
        found = dict(body or {})
        ident = found.get(self.key_of_id())
        return {**found, "id": ident} if ident else found

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._inner(self.request("POST", json=dict(body)))


class Managed:
    """Objects that a manager of a client library looks after.

    :param manager: gives the manager (made late: it asks for the catalogue)
    :param plain: makes a dictionary of what the manager gives
    :param finder: replaces listing by name, where there is something better
    """

    def __init__(
        self,
        service: str,
        manager: Callable[[], Any],
        what: str,
        plain: Callable[[Any], dict[str, Any]] = lambda made: made.to_dict(),
        list_filters: Callable[
            [Mapping[str, Any]], Mapping[str, Any]
        ] = lambda filters: {},
    ) -> None:
        self.what = what
        self._service = service
        self._manager = manager
        self._plain = plain
        self._list_filters = list_filters

    def call(
        self,
        method: str,
        /,
        *args: Any,
        idempotent: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Call a method of the manager.

        :raises ServiceError: as the service refused it
        """
        return errors.call(
            self._service,
            lambda: getattr(self._manager(), method)(*args, **kwargs),
            idempotent=idempotent,
        )

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._plain(self.call("create", idempotent=False, **body))

    def get(self, ident: str) -> dict[str, Any]:
        return self._plain(self.call("get", ident))

    def update(
        self, ident: str, body: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        return self._plain(self.call("update", ident, **body))

    def delete(self, ident: str) -> None:
        self.call("delete", ident)

    def list(self, **filters: Any) -> list[dict[str, Any]]:
        found = self.call("list", **self._list_filters(filters))
        return [self._plain(each) for each in found]
