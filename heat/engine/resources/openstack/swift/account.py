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

"""Requests to the object store, for one account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

from heat.engine.clients import errors

_SERVICE = "swift"
#: beginning of a header -> what its rest names
CONTAINER_META = "X-Container-Meta-"
ACCOUNT_META = "X-Account-Meta-"


class Account:
    """The containers of a project.

    Every method raises :class:`heat.engine.clients.errors.ServiceError` as
    the service answers.

    :param adapter: gives the keystoneauth adapter (made late: it asks for
        the catalogue)
    """

    def __init__(self, adapter: Callable[[], Any]) -> None:
        self._adapter = adapter

    def url(self) -> str:
        """The address of the account."""
        return str(self._adapter().get_endpoint()).rstrip("/")

    def set_meta(self, values: Mapping[str, Any]) -> None:
        """Set metadata of the account, beside those it has."""
        headers = {f"{ACCOUNT_META}{key}": values[key] for key in values}
        self._ask("post", "", headers)

    def show(self, name: str) -> dict[str, str]:
        """The headers of a container, as the service spells them."""
        return dict(self._ask("head", _path(name)).headers)

    def put(self, name: str, headers: Mapping[str, Any]) -> None:
        """Make a container, or set these headers of one that is there."""
        self._ask("put", _path(name), headers)

    def delete(self, name: str) -> None:
        """Delete a container, which must be empty."""
        self._ask("delete", _path(name))

    def some_objects(self, name: str, limit: int) -> list[tuple[str, str]]:
        """The first objects of a container, with all their versions.

        :returns: names, each with its version, "" where there are none
        """
        query = {"format": "json", "limit": limit, "versions": "true"}
        rows = self._ask(
            "get", f"{_path(name)}?{parse.urlencode(query)}"
        ).json()
        return [
            (str(row["name"]), _version(row)) for row in rows if "name" in row
        ]

    def delete_object(self, container: str, name: str, version: str) -> None:
        """Delete one object, or one version of it, unless it is gone."""
        path = f"{_path(container)}/{parse.quote(name)}"
        if version:
            path += f"?{parse.urlencode({'version-id': version})}"
        try:
            self._ask("delete", path)
        except errors.NotFound:
            pass

    def _ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, Any] | None = None,
    ) -> Any:
        sent = {key: _text(value) for key, value in (headers or {}).items()}
        return errors.call(
            _SERVICE,
            lambda: getattr(self._adapter(), method)(path, headers=sent),
            # Nothing here becomes another thing when it is done twice.
            idempotent=True,
        )


def _path(container: str) -> str:
    return "/" + parse.quote(container, safe="")


def _version(row: Mapping[str, Any]) -> str:
    found = row.get("version_id")
    return "" if found in (None, "null") else str(found)


def _text(value: Any) -> str:
    """A header's value: its UTF-8 bytes are what is sent."""
    return str(value).encode().decode("latin-1")
