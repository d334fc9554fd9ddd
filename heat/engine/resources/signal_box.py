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

"""Where signals lie until somebody fetches them.

A server that can't reach the API of the engine puts its signals into an
object of an object store (transport ``TEMP_URL_SIGNAL``) or into a queue of a
messaging service (``ZAQAR_SIGNAL``). Who waits for them looks there. Each
signal has a *mark*, by which it is known when it is met again.

Either is a *box*, which this module makes, finds and drops for a resource.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from heat.common import template_format
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.clients import errors, message_queue, object_store
from heat.engine.resources import stack_user

#: Keys of a resource's data: its container, the key that signs URLs into it,
#: the object that signals are written to, the URL by which they are.
BOX, BOX_KEY = "signal_box", "signal_box_key"
OBJECT, URL = "signal_object", "signal_url"
#: Its queue, see :meth:`.message_queue.Place.text`.
QUEUE = "signal_queue"
#: The marks of signals that were taken out.
TAKEN = "signals_taken"

#: The object of who is signalled more than once.
SIGNAL = "signal"

# With what is put behind it the name of a container has 256 bytes at most.
_LONGEST = 60


@dataclasses.dataclass(frozen=True)
class Posted:
    """A signal that was put into a box.

    :ivar mark: nobody else in the box has it
    :ivar text: as it was sent
    :ivar body: what that says, where the service has read it
    """

    mark: str
    text: bytes = b""
    body: Any = None

    def details(self) -> Any:
        """What a sender gives with a signal: a map, None for nothing.

        :raises ValueError: it is no JSON, or too long
        """
        if self.body is not None:
            return self.body
        if len(self.text) > object_store.MAX_BYTES:
            raise ValueError(
                _("a signal has at most %d bytes") % object_store.MAX_BYTES
            )
        try:
            text = self.text.decode().strip()
        except UnicodeDecodeError:
            raise ValueError(_("a signal is UTF-8 text")) from None
        return template_format.load(text, "signal") if text else None


class Box(Protocol):
    """Where the signals of one resource lie."""

    def posted(self, taken: Collection[str]) -> Iterator[Posted]:
        """The signals, the oldest first, but for those with these marks."""

    def remove(self, posted: Posted) -> None:
        """A signal is not needed any more."""


class QueueBox:
    """A queue, in which each signal is a message."""

    def __init__(self, place: message_queue.Place) -> None:
        self.queue = message_queue.Queue(place)

    def posted(self, taken: Collection[str]) -> Iterator[Posted]:
        for mark, body in list(self.queue.messages()):
            if mark not in taken:
                yield Posted(mark, body=body)

    def remove(self, posted: Posted) -> None:
        self.queue.remove(posted.mark)


class ObjectBox:
    """An object that each signal writes anew; where the store keeps older
    versions, each is a signal.

    :param name: the object
    """

    def __init__(self, container: object_store.Container, name: str) -> None:
        self.container = container
        self._name = name

    def posted(self, taken: Collection[str]) -> Iterator[Posted]:
        newest = self.container.written(self._name)
        if newest is None:
            return
        kept = self.container.versions(self._name)
        if not kept:
            yield from self._moved(newest, taken)
        for mark in kept:
            if mark not in taken:
                found = self.container.read(self._name, mark)
                if found is not None:
                    yield Posted(mark, found[1])

    def _moved(self, newest: str, taken: Collection[str]) -> Iterator[Posted]:
        """The signals, where older versions are moved out of the way.

        :param newest: what takes its place meanwhile is found among the
            older ones, or at the next look
        """
        if newest in taken:
            return
        for mark, name in sorted(self._older().items()):
            if mark not in taken and mark != newest:
                found = self.container.beside().read(name)
                if found is not None:
                    yield Posted(mark, found[1])
        found = self.container.read(self._name)
        if found is not None and found[0] == newest:
            yield Posted(newest, found[1])

    def remove(self, posted: Posted) -> None:
        """It stays: what comes after it is told from it."""

    def _older(self) -> dict[str, str]:
        """When an older signal was written -> the object that it is now."""
        # Length and name, then when it was written: the store's own rule.
        prefix = f"{len(self._name.encode()):03x}{self._name}/"
        beside = self.container.beside()
        return {
            name.removeprefix(prefix): name for name in beside.names(prefix)
        }


def is_available(rsrc: resource.Resource) -> bool:
    """Whether the owner of the resource has an object store."""
    there, _why = rsrc.client_plugin(object_store.SERVICE).availability()
    return bool(there)


def container(
    rsrc: resource.Resource, name: str | None = None
) -> object_store.Container:
    """A container in the project of a resource.

    :param name: None: the resource's own
    """
    client = rsrc.client_plugin(object_store.SERVICE).client()
    return object_store.Container(client, name or _name_of(rsrc))


def _name_of(rsrc: resource.Resource) -> str:
    """The name of its container: nobody else in the project has it."""
    name = rsrc.physical_resource_name() or rsrc.name
    return rsrc.reduce_physical_resource_name(name, _LONGEST)


def make(rsrc: resource.Resource, name: str, *, versions: bool) -> str:
    """Make the box of a resource, or the next object in it.

    :param name: the object
    :param versions: every signal counts, not just the last
    :returns: the URL to which a signal is sent with PUT
    """
    data = rsrc.data()
    box = container(rsrc, data.get(BOX))
    key = data.get(BOX_KEY)
    if key is None:
        key = object_store.new_key()
        headers = {object_store.KEY: key}
        if versions:
            box.make_versioned(headers)
        else:
            box.make(headers)
        rsrc.data_set(BOX, box.name)
        rsrc.data_set(BOX_KEY, key, redact=True)
    if data.get(OBJECT, name) != name:
        box.remove(data[OBJECT])
    url = box.url(name, "PUT", key)
    rsrc.data_set(OBJECT, name)
    rsrc.data_set(URL, url, redact=True)
    return url


def make_queue(rsrc: stack_user.StackUser, suffix: str = "") -> str:
    """Make the box of a resource with a user, or the next one.

    :param suffix: of the name of the next one
    :returns: the name of the queue
    """
    room = message_queue.LONGEST_NAME - len(suffix)
    name = rsrc.reduce_physical_resource_name(_name_of(rsrc), room) + suffix
    if before := _queue_of(rsrc.data()):
        before.queue.delete()
    place = message_queue.Place(
        name,
        rsrc.stack_user_project_id() or "",
        rsrc.create_user(),
        rsrc.password or "",
    )
    message_queue.Queue(place).make()
    rsrc.data_set(QUEUE, place.text())
    return name


def _queue_of(data: Mapping[str, str], key: str = QUEUE) -> QueueBox | None:
    if key not in data:
        return None
    place = message_queue.Place.read(
        data[key],
        data.get(stack_user.StackUser.USER_ID),
        data.get(stack_user.StackUser.PASSWORD_KEY),
    )
    return None if place is None else QueueBox(place)


def queue_name(data: Mapping[str, str]) -> str | None:
    """The name of the queue that these data tell of."""
    name: str | None = json.loads(data.get(QUEUE) or "{}").get("name")
    return name


def _object_of(
    rsrc: resource.Resource, data: Mapping[str, str]
) -> ObjectBox | None:
    if BOX not in data:
        return None
    return ObjectBox(container(rsrc, data[BOX]), data.get(OBJECT, SIGNAL))


def of(rsrc: resource.Resource, data: Mapping[str, str]) -> Box | None:
    """The box that these data tell of, if they do.

    :param rsrc: whose project it is in
    """
    return _queue_of(data) or _object_of(rsrc, data)


def close(rsrc: resource.Resource) -> None:
    """Take no signals for a while; who logs in for them is kept out."""
    if box := _object_of(rsrc, rsrc.data()):
        box.container.set_key(None)


def open_(rsrc: resource.Resource) -> None:
    """Take signals again."""
    data = rsrc.data()
    if box := _object_of(rsrc, data):
        box.container.set_key(data[BOX_KEY])


def drop(rsrc: resource.Resource) -> None:
    """Delete the object box of a resource, with all that is in it.

    One that a create has made whose end nobody saw is found by its name;
    where there is no store, none was made.
    """
    known = rsrc.data().get(BOX)
    if known is None and not is_available(rsrc):
        return
    container(rsrc, known).delete()
    for key in (BOX, BOX_KEY, OBJECT, URL, TAKEN):
        rsrc.data_delete(key)


def drop_queue(rsrc: stack_user.StackUser, key: str = QUEUE) -> None:
    """Delete a queue of a resource, as its user, who may be kept out.

    :param key: of the data that tell of it
    """
    box = _queue_of(rsrc.data(), key)
    if box is None:
        return
    try:
        rsrc.keystone().enable_stack_domain_user(str(rsrc.user_id))
    except errors.NotFound:
        # Its project goes with the stack, and what is in it is nobody's.
        pass
    else:
        box.queue.delete()
    for each in (key, TAKEN):
        rsrc.data_delete(each)


def taken(data: Mapping[str, str]) -> list[str]:
    """The marks that a resource's data remember."""
    return list(json.loads(data.get(TAKEN) or "[]"))
