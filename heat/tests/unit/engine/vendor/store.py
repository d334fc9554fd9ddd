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

"""A vendor's types, written as vendors write them.

Nothing here but what plug-ins may rely on: the public names and signatures.
What the vendor's distribution brings besides is in installed.py.
"""

from oslo_log import log as logging

from heat.common import exception
from heat.common.i18n import _
from heat.engine import (
    attributes,
    constraints,
    properties,
    resource,
    scheduler,
    support,
    translation,
)

LOG = logging.getLogger(__name__)


class Room(resource.Resource):
    """A room; other types ask it for its keys."""

    PROPERTIES = (FLOOR,) = ("floor",)

    properties_schema = {
        FLOOR: properties.Schema(
            properties.Schema.INTEGER, _("Floor."), default=0
        ),
    }

    default_client_name = "store"
    entity = "rooms"

    def handle_create(self):
        made = self.client().rooms.create(floor=self.properties[self.FLOOR])
        self.resource_id_set(made.id)

    def get_keys(self):
        return "keys of floor " + str(self.properties[self.FLOOR])


class Shelf(resource.Resource):
    """A shelf in a room."""

    support_status = support.SupportStatus(
        version="3.0.0", previous_status=support.SupportStatus(version="2.0.0")
    )

    PROPERTIES = (
        ROOM,
        LABEL,
        SIZE,
        BOOKS,
        MATERIAL,
        OLD_LABEL,
        AFTER,
    ) = (
        "room",
        "label",
        "size",
        "books",
        "material",
        "title",
        "after",
    )
    ATTRIBUTES = (FREE, KEYS, NOTE) = ("free", "keys", "note")

    _BOOK = (NAME, PAGES) = ("name", "pages")

    properties_schema = {
        ROOM: properties.Schema(
            properties.Schema.STRING,
            _("Room, by name or id."),
            required=True,
            constraints=[constraints.CustomConstraint("store.room")],
        ),
        LABEL: properties.Schema(
            properties.Schema.STRING,
            _("Label."),
            update_allowed=True,
            constraints=[
                constraints.Length(max=20),
                constraints.AllowedPattern("[a-z ]*"),
            ],
        ),
        OLD_LABEL: properties.Schema(
            properties.Schema.STRING,
            support_status=support.SupportStatus(
                status=support.HIDDEN,
                previous_status=support.SupportStatus(
                    status=support.DEPRECATED
                ),
            ),
        ),
        SIZE: properties.Schema(
            properties.Schema.INTEGER,
            _("Size."),
            default=10,
            constraints=[constraints.Range(min=1)],
            update_allowed=True,
        ),
        MATERIAL: properties.Schema(
            properties.Schema.STRING,
            default="wood",
            constraints=[constraints.AllowedValues(["wood", "steel"])],
        ),
        BOOKS: properties.Schema(
            properties.Schema.LIST,
            _("Books."),
            default=[],
            update_allowed=True,
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    NAME: properties.Schema(
                        properties.Schema.STRING, required=True
                    ),
                    PAGES: properties.Schema(
                        properties.Schema.INTEGER, default=100
                    ),
                },
            ),
        ),
        AFTER: properties.Schema(
            properties.Schema.STRING, _("Name of a resource to follow.")
        ),
    }
    attributes_schema = {
        FREE: attributes.Schema(
            _("Free places."),
            type=attributes.Schema.INTEGER,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
        KEYS: attributes.Schema(
            _("Keys of the room."), type=attributes.Schema.STRING
        ),
        NOTE: attributes.Schema(
            _("What is noted in the metadata."),
            type=attributes.Schema.STRING,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    default_client_name = "store"
    entity = "shelves"
    physical_resource_name_limit = 30

    # -- declarations --------------------------------------------------------

    def translation_rules(self, props):
        return [
            translation.TranslationRule(
                props,
                translation.TranslationRule.REPLACE,
                [self.LABEL],
                value_path=[self.OLD_LABEL],
            ),
            translation.TranslationRule(
                props,
                translation.TranslationRule.RESOLVE,
                [self.ROOM],
                client_plugin=self.client_plugin(),
                finder="find_room",
            ),
        ]

    def add_explicit_dependencies(self, deps):
        super().add_explicit_dependencies(deps)
        for other in self.stack.values():
            if (
                other.has_interface("Vendor::Store::Shelf")
                and other.name == self.properties[self.AFTER]
            ):
                deps += (self, other)

    def validate(self):
        super().validate()
        if len(self.properties[self.BOOKS]) > self.properties[self.SIZE]:
            raise exception.StackValidationFailed(
                message=_("More books than places.")
            )

    # -- create --------------------------------------------------------------

    def handle_create(self):
        args = dict(
            (k, v)
            for k, v in self.properties.items()
            if v is not None and k not in (self.AFTER, self.OLD_LABEL)
        )
        args["name"] = self.physical_resource_name()
        shelf = self.client().shelves.create(**args)
        self.resource_id_set(shelf.id)
        self.data_set("secret", "s3cret", redact=True)
        self.metadata_set({"note": "made"})
        return shelf.id

    def check_create_complete(self, shelf_id):
        shelf = self.client().shelves.get(shelf_id)
        if shelf.status == "ERROR":
            raise exception.ResourceInError(
                resource_status=shelf.status, status_reason=_("it fell")
            )
        if shelf.status == "BUILDING":
            raise resource.PollDelay(2)
        if shelf.status != "READY":
            raise exception.ResourceUnknownStatus(
                resource_status=shelf.status, result=_("Strange shelf")
            )
        return True

    # -- update --------------------------------------------------------------

    def needs_replace_with_prop_diff(
        self, changed_properties_set, after_props, before_props
    ):
        if self.SIZE in changed_properties_set:
            return after_props[self.SIZE] < before_props[self.SIZE]
        return False

    def needs_replace_failed(self):
        if not self.resource_id:
            return True
        try:
            return self.client().shelves.get(self.resource_id).status in (
                "ERROR",
            )
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)
            return True

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if prop_diff.get(self.LABEL) == "magic":
            raise resource.UpdateReplace(self.name)
        if prop_diff:
            self.client().shelves.update(self.resource_id, **prop_diff)
        return prop_diff

    def check_update_complete(self, prop_diff):
        return not prop_diff or (
            self.client().shelves.get(self.resource_id).status == "READY"
        )

    # -- other actions -------------------------------------------------------

    def handle_suspend(self):
        return self.client().shelves.update(self.resource_id, covered=True)

    def check_suspend_complete(self, shelf):
        return shelf.covered

    def handle_resume(self):
        self.client().shelves.update(self.resource_id, covered=False)

    def handle_check(self):
        shelf = self.client().shelves.get(self.resource_id)
        self._verify_check_conditions(
            [
                {
                    "attr": "status",
                    "expected": "READY",
                    "current": shelf.status,
                },
            ]
        )

    def handle_snapshot(self):
        copy = self.client().copies.create(of=self.resource_id)
        self.data_set("copy", copy.id)
        return copy.id

    def check_snapshot_complete(self, copy_id):
        return self.client().copies.get(copy_id) is not None

    def handle_delete_snapshot(self, snapshot):
        copy = snapshot["resource_data"].get("copy")
        try:
            self.client().copies.delete(copy)
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)

    def handle_restore(self, defn, restore_data):
        props = dict(
            (k, v)
            for k, v in defn.properties(self.properties_schema).items()
            if v is not None
        )
        props[self.LABEL] = "restored"
        return defn.freeze(properties=props)

    def handle_signal(self, details=None):
        self.metadata_set({"note": details["note"]})

    # -- delete --------------------------------------------------------------

    def handle_delete(self):
        if self.resource_id is None:
            return None
        try:
            self.client().shelves.delete(self.resource_id)
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)
            return None
        task = scheduler.TaskRunner(self._confirm_delete)
        task.start()
        return task

    def _confirm_delete(self):
        while True:
            try:
                yield
                self._show_resource()
            except Exception as ex:
                self.client_plugin().ignore_not_found(ex)
                return

    def check_delete_complete(self, task):
        # A room can only be left while it is there.
        room = self.stack.resource_by_refid(self.properties[self.ROOM])
        if room is not None:
            LOG.info("left with the %s", room.get_keys())
        return task is None or task.step()

    # -- attributes ----------------------------------------------------------

    def _show_resource(self):
        return self.client().shelves.get(self.resource_id).to_dict()

    def _resolve_attribute(self, name):
        if self.resource_id is None:
            return None
        if name == self.FREE:
            return self.properties[self.SIZE] - len(
                self.properties[self.BOOKS]
            )
        if name == self.KEYS:
            room = self.stack.resource_by_refid(self.properties[self.ROOM])
            return room.get_keys()
        return self.metadata_get()["note"]

    def get_live_resource_data(self):
        try:
            return self._show_resource()
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)
            raise exception.EntityNotFound(
                entity="Resource", name=self.name
            ) from ex

    def parse_live_resource_data(self, resource_properties, resource_data):
        return {
            self.LABEL: resource_data.get("label"),
            self.SIZE: resource_data.get("size"),
        }


class RoomConstraint(constraints.BaseCustomConstraint):
    resource_client_name = "store"
    resource_getter_name = "find_room"


def resource_mapping():
    return {
        "Vendor::Store::Room": Room,
        "Vendor::Store::Shelf": Shelf,
    }


def constraint_mapping():
    return {"store.room": RoomConstraint}
