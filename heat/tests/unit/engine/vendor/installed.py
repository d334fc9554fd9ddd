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

"""What a vendor's distribution offers by entry points; no resource types
in themselves, so it is not in ``plugin_dirs``.

The service keeps everything in this process.
"""

import itertools

from heat.common import exception
from heat.engine import constraints, resource
from heat.engine.clients import client_plugin
from heat.engine.hot import template


class NotThere(Exception):
    pass


class Thing:
    def __init__(self, **values):
        self.covered = False
        self.status = "READY"
        self.__dict__.update(values)

    def to_dict(self):
        return dict(self.__dict__)


class Things:
    def __init__(self, kind):
        self.kind, self.stored = kind, {}
        self.numbers = itertools.count(1)
        self.built_after = 0

    def create(self, **values):
        thing = Thing(id=self.kind + "-" + str(next(self.numbers)), **values)
        if self.built_after:
            thing.status, thing.looks = "BUILDING", self.built_after
        self.stored[thing.id] = thing
        return thing

    def get(self, ident):
        if ident not in self.stored:
            raise NotThere(ident)
        thing = self.stored[ident]
        if thing.status == "BUILDING":
            thing.looks -= 1
            if not thing.looks:
                thing.status = "READY"
        return thing

    def update(self, ident, **values):
        thing = self.get(ident)
        thing.__dict__.update(values)
        return thing

    def delete(self, ident):
        self.get(ident)
        del self.stored[ident]


class Service:
    def __init__(self):
        self.rooms = Things("room")
        self.shelves = Things("shelf")
        self.copies = Things("copy")


SERVICE = Service()


class StoreClientPlugin(client_plugin.ClientPlugin):
    def _create(self, version=None):
        return SERVICE

    def is_not_found(self, ex):
        return isinstance(ex, NotThere)

    def find_room(self, value, entity=None):
        for room in self.client().rooms.stored.values():
            if value in (room.id, "ground"):
                return room.id
        raise exception.EntityNotFound(entity="Room", name=value)


class EvenConstraint(constraints.BaseCustomConstraint):
    def validate(self, value, context):
        self._error_message = "it is odd"
        return int(value) % 2 == 0


class Lamp(resource.Resource):
    """A type that an entry point names."""


class VendorTemplate(template.HOTemplate20180831):
    """HOT under another version name."""


class Sink:
    def __init__(self, target):
        self.target = target

    def consume(self, context, event):
        pass


class Lifecycle:
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        pass

    def do_post_op(
        self,
        cnxt,
        stack,
        current_stack=None,
        action=None,
        is_stack_failure=False,
    ):
        pass

    def get_ordinal(self):
        return 7
