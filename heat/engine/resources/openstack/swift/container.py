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

"""OS::Swift::Container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib import parse

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors, object_store
from heat.engine.resource import link, notation, outcomes

_READ, _WRITE = "X-Container-Read", "X-Container-Write"
_META, _ACCOUNT_META = "X-Container-Meta", "X-Account-Meta"
_PURGE = "PurgeOnDelete"
#: Bytes of a container's name.
_MAX_NAME = 256
#: Tells of a container whose name a user chose which row has it: another
#: may take it over, as a replacement with the same name does.
_MARK = f"{object_store.META}Heat-Resource"
_MARKED = "mark"
#: Objects that are deleted between two looks at the clock.
_BATCH = 50
_CONFLICT_SECONDS = 2.0
_CONFLICT_TRIES = 15


class Container(link.Link):
    """A container of the object store. Its id is its name."""

    default_client_name = "swift"
    entity = "container"
    physical_resource_name_limit = _MAX_NAME
    properties_schema = notation.properties("""
        PurgeOnDelete boolean (=false) -- Delete the objects in it with the
            -- container; otherwise one that isn't empty is not deleted.
        X-Account-Meta map (={}) -- Metadata of the account, which stay when
            -- the container is deleted.
        X-Container-Meta map (={}) -- Metadata of the container.
        X-Container-Read string -- Who may read the objects.
        X-Container-Write string -- Who may write objects.
        name string -- What it is called; made up when left out.
    """)
    attributes_schema = notation.attributes("""
        BytesUsed integer -- How much it holds.
        DomainName string -- The host of its address.
        HeadContainer map -- All that the service tells of it.
        ObjectCount integer -- How many objects are in it.
        RootURL string -- The address of the account.
        WebsiteURL string -- Its address.
    """)

    def validate(self) -> None:
        super().validate()
        name = self.properties["name"]
        if name and ("/" in name or len(name.encode()) > _MAX_NAME):
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", "name"],
                message=_(
                    "A container's name has no slash and at most %d bytes"
                )
                % _MAX_NAME,
            )

    def at(self, name: str) -> object_store.Container:
        """The container of that name."""
        return object_store.Container(self.client(), name)

    def shown(self) -> dict[str, Any]:
        """The headers of the container.

        :raises heat.common.exception.EntityNotFound: it is gone
        """
        try:
            return self.at(self.resource_id or "").headers()
        except errors.NotFound:
            raise exception.EntityNotFound(
                entity="Container", name=self.resource_id
            ) from None

    # -- create --------------------------------------------------------------

    def connect(self, properties: Any) -> None:
        name = self.resource_id or self._wanted_name(properties)
        if properties[_ACCOUNT_META]:
            object_store.describe(self.client(), properties[_ACCOUNT_META])
        headers = self._headers(properties)
        if properties["name"]:
            headers[_MARK] = str(self.uuid)
            headers = {**self._leftovers(name), **headers}
        self.at(name).make(headers)
        self.resource_id_set(name)
        self._note(headers.get(_MARK))

    def _note(self, mark: Any) -> None:
        if mark:
            self.data_set(_MARKED, str(mark))

    def _wanted_name(self, properties: Any) -> str:
        return str(properties["name"] or self.physical_resource_name())

    @staticmethod
    def _headers(properties: Any) -> dict[str, Any]:
        found = {
            f"{object_store.META}{key}": value
            for key, value in (properties[_META] or {}).items()
        }
        for key in (_READ, _WRITE):
            if properties[key] is not None:
                found[key] = properties[key]
        return found

    def _leftovers(self, name: str) -> dict[str, str]:
        """What is to be taken off a container of another row of Heat's,
        which its replacement has the name and the objects of."""
        try:
            found = self.at(name).headers()
        except errors.NotFound:
            return {}
        if not _value(found, _MARK):
            # A user's: what is on it, is not ours.
            return {}
        return {
            key.title(): ""
            for key in found
            if key.title().startswith((object_store.META, _READ, _WRITE))
        }

    def find_made(self) -> str | None:
        """See the base: by the name made up, or by the mark."""
        tried = [self.physical_resource_name()]
        tried.append(self.properties.get_user_value("name"))
        for name in filter(None, tried):
            try:
                found = self.at(name).headers()
            except errors.NotFound:
                continue
            if _value(found, _MARK) == self.uuid or name == tried[0]:
                self._note(_value(found, _MARK))
                return str(name)
        return None

    def resume_create(self, found: bool) -> Any:
        # A container that is there has all of its headers.
        return None

    # -- replace -------------------------------------------------------------

    def prepare_for_replace(self) -> None:
        """Note that another may take the container over."""
        if self.resource_id is not None and _MARKED in self.data():
            self.data_set(self.given_up, "1")

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take it back."""
        self.connect(self.properties)

    # -- delete --------------------------------------------------------------

    def handle_delete(self) -> Any:
        return None if self.resource_id is None else {"tries": 0}

    def check_delete_complete(self, token: Any) -> bool:
        if token is None or self.resource_id is None:
            return True
        try:
            if not self._is_anothers():
                self.at(self.resource_id).delete_empty()
        except errors.NotFound:
            return True
        except errors.Conflict as exc:
            self._make_room(token, exc)
        return True

    def _is_anothers(self) -> bool:
        mark = _value(self.at(self.resource_id or "").headers(), _MARK)
        return bool(mark) and mark != self.data().get(_MARKED)

    def _make_room(self, token: Any, refusal: Exception) -> None:
        """Delete some of the objects.

        :raises PollDelay: the container may be empty by now
        :raises heat.common.exception.Error: it must not be emptied
        """
        name = self.resource_id or ""
        found = self.at(name).some(_BATCH)
        if not found:
            # The count may be behind what was deleted last.
            token["tries"] += 1
            if token["tries"] > _CONFLICT_TRIES:
                raise refusal
            raise outcomes.PollDelay(_CONFLICT_SECONDS)
        if not self.properties[_PURGE]:
            raise exception.Error(
                _(
                    'The container "%s" is not empty: delete the objects in '
                    "it, or set PurgeOnDelete to have it done, or "
                    "deletion_policy to retain it."
                )
                % name
            )
        for each, version in found:
            self.at(name).remove(each, version)
        raise outcomes.PollDelay(0)

    # -- look ----------------------------------------------------------------

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {}

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.resource_id}
        for key in (_READ, _WRITE):
            if resource_properties[key] is not None:
                found[key] = _value(resource_data, key)
        return found

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == "HeadContainer":
            return self.shown()
        if name in _COUNTS:
            return int(_value(self.shown(), _COUNTS[name]) or 0)
        root = object_store.root(self.client())
        return {
            "DomainName": parse.urlsplit(root).hostname,
            "RootURL": root,
            "WebsiteURL": f"{root}/{parse.quote(self.resource_id, safe='')}",
        }[name]


_COUNTS = {
    "BytesUsed": "X-Container-Bytes-Used",
    "ObjectCount": "X-Container-Object-Count",
}


def _value(headers: Mapping[str, Any], name: str) -> str:
    """A header's value, however it is spelt; "" when it isn't there."""
    for key, value in headers.items():
        if key.lower() == name.lower():
            return str(value)
    return ""


def resource_mapping() -> dict[str, Any]:
    return {"OS::Swift::Container": Container}
